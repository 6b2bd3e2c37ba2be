//! The path of a request from its body and its MCP headers to the answer. The input is four lines (slug,
//! `MCP-Protocol-Version`, `Mcp-Method`, `Mcp-Name`; an empty one is not sent) and the body.
//!
//! Every answer is JSON-RPC, and one to a request carries the request's `id` byte for byte.

#![no_main]

use std::{path::Path, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use mcpress_runtime::{
    fetch::{Config, Fetcher},
    fuzzing,
    mcp::{Site, Surroundings},
};
use serde::de::IgnoredAny;
use serde_json::{Value, value::RawValue};
use tokio::runtime::{Builder, Runtime};

static SITE: LazyLock<Site> = LazyLock::new(|| {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/site");
    let catalog = mcpress_compiler::compile(&tree).unwrap().catalog;
    let fetcher = Fetcher::new(&Config::default()).unwrap();
    Site::new(catalog, Surroundings { fetcher, environment: Default::default(), subscriptions: 10, reloads: false })
        .unwrap()
});

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_all().build().unwrap());

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(5, |byte| *byte == b'\n');
    let mut line = || parts.next().unwrap_or_default();
    let (slug, values, body) = (line(), [line(), line(), line()], line());
    let values = values.map(|value| (!value.is_empty()).then_some(value));
    let slug = std::str::from_utf8(slug).unwrap_or_default();
    let answer = RUNTIME.block_on(fuzzing::answer(&SITE, slug, values, body));
    let Some(answer) = answer else { return };
    let request = std::str::from_utf8(body).ok().and_then(Request::parse);
    if answer.body.is_empty() {
        assert!(request.is_none() || !answer.is_ok, "a request got no answer");
        return;
    }
    let text = std::str::from_utf8(&answer.body).expect("an answer is UTF-8");
    let _: IgnoredAny = serde_json::from_str(text).expect("an answer is JSON");
    // An `id` comes back as it came, also half a surrogate pair, which is JSON and no text.
    if let Ok(json) = serde_json::from_str::<Value>(text) {
        json.as_array().map_or(std::slice::from_ref(&json), Vec::as_slice).iter().for_each(check);
    }
    if let Some(Request { id }) = request {
        let echoed = format!(r#""id":{id},"#);
        assert!(text.contains(&echoed), "{id} did not come back: {text}");
    }
});

/// What holds for every message that this server sends.
fn check(message: &Value) {
    assert_eq!(message["jsonrpc"], "2.0");
    let kinds = ["result", "error", "method"].map(|member| message.get(member).is_some());
    assert_eq!(kinds.iter().filter(|is_there| **is_there).count(), 1, "{message}");
    if let Some(error) = message.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string(), "{message}");
    }
    if let Some(result) = message.get("result") {
        assert!(result.is_object() && message.get("id").is_some(), "{message}");
        assert_ne!(result.get("nextCursor"), Some(&Value::String(String::new())));
    }
}

/// A body that is certainly one request.
struct Request<'a> {
    id: &'a str,
}

impl<'a> Request<'a> {
    fn parse(body: &'a str) -> Option<Self> {
        // A member that stands there twice is refused.
        let members: Vec<(String, &RawValue)> = Members::parse(body)?;
        let find = |name: &str| {
            let mut found = members.iter().filter(|(known, _)| known == name).map(|(_, value)| value.get());
            found.next().filter(|_| found.next().is_none())
        };
        let text = |name: &str| serde_json::from_str::<String>(find(name)?).ok();
        let id = find("id")?;
        let is_id = id.starts_with('"') || id.strip_prefix('-').unwrap_or(id).bytes().all(|byte| byte.is_ascii_digit());
        let once = ["params", "result", "error"]
            .iter()
            .all(|name| members.iter().filter(|(known, _)| known == name).count() <= 1);
        let params = find("params").is_none_or(|params| params.starts_with('{'));
        (text("jsonrpc")? == "2.0" && text("method").is_some() && is_id && once && params).then_some(Self { id })
    }
}

/// All members of an object, in order, with those that stand there twice.
struct Members;

impl Members {
    fn parse(body: &str) -> Option<Vec<(String, &RawValue)>> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        let mut json = serde_json::Deserializer::from_str(body);
        let members = serde::Deserializer::deserialize_map(&mut json, Visitor).ok()?;
        json.end().ok().map(|()| members)
    }
}
