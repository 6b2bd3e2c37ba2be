//! Any id comes back, and whatever is sent, what comes back is JSON-RPC.

use proptest::prelude::*;
use serde_json::{Value, value::RawValue};
use tokio::runtime::Runtime;

use crate::support::TestServer;

#[tokio::test]
async fn ids_come_back_byte_for_byte() {
    let server = TestServer::start().await;
    let long = format!("\"{}\"", "x".repeat(10_000));
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "123456789012345678901234567890",
        r#""""#,
        r#""\u0041\/\n""#,
        r#""ü🎉""#,
        r#""\ud800""#,
        long.as_str(),
    ] {
        for method in ["ping", "no/such", "resources/read"] {
            let message = format!(r#"{{"method":"{method}","jsonrpc":"2.0", "id" : {id} }}"#);
            let response = server.post("docs", &[], message.as_bytes()).await;
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
            assert!(response.text().starts_with(&start), "{message}: {response}");
        }
    }
}

#[tokio::test]
async fn what_is_no_id_is_refused() {
    let server = TestServer::start().await;
    for id in ["null", "true", "1.5", "1e3", "1.0", "[]", "{}", "[1]"] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let response = server.post("docs", &[], message.as_bytes()).await;
        assert_eq!((response.status, response.error_code()), (400, -32600), "{id}: {response}");
        assert!(response.json().get("id").is_none(), "{id}: {response}");
    }
}

#[tokio::test]
async fn deep_nesting_is_skipped() {
    let server = TestServer::start().await;
    let deep = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let nested = deep(100_000);
    for (message, status) in [
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{nested}}}}}"#), 200),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{{"x":{nested}}}}}}}"#), 200),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{{"uri":{nested}}}}}"#), 200),
        (format!(r#"{{"jsonrpc":"2.0","id":{nested},"method":"ping"}}"#), 400),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":{nested}}}"#), 400),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{nested}}}"#), 400),
        (nested.clone(), 200),
        ("[".repeat(100_000), 400),
        (r#"{"a":"#.repeat(100_000), 400),
    ] {
        let response = server.post("docs", &[], message.as_bytes()).await;
        assert_eq!(response.status, status, "{}: {response}", &message[..60]);
    }
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(key(), inner, 0..6).prop_map(|map| map.into_iter().collect::<Value>()),
        ]
    })
}

/// Mostly names that mean something.
fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        9 => prop::sample::select(vec!["jsonrpc", "id", "method", "params", "result", "error", "_meta", "uri", "cursor"])
            .prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

/// A message in which anything may be wrong.
fn message() -> impl Strategy<Value = Value> {
    let methods = vec![
        "initialize",
        "ping",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "tools/call",
        "prompts/get",
        "server/discover",
        "logging/setLevel",
        "resources/subscribe",
        "completion/complete",
        "notifications/initialized",
    ];
    let method = prop_oneof![prop::sample::select(methods).prop_map(Value::from), json()];
    (json(), method, json(), json(), 0..16u8).prop_map(|(id, method, params, other, keep)| {
        let mut message = serde_json::Map::new();
        message.insert("jsonrpc".to_owned(), if keep == 15 { other.clone() } else { "2.0".into() });
        for (bit, (name, value)) in [("id", id), ("method", method), ("params", params)].into_iter().enumerate() {
            if keep & (1 << bit) != 0 {
                message.insert(name.to_owned(), value);
            }
        }
        if keep == 0 {
            message.insert("result".to_owned(), other);
        }
        Value::Object(message)
    })
}

fn check_response(response: &Value) {
    let members = response.as_object().unwrap();
    assert_eq!(members["jsonrpc"], "2.0");
    assert!(members.contains_key("result") != members.contains_key("error"), "{response}");
    if let Some(error) = members.get("error") {
        assert!(error["code"].is_i64() && error["message"].is_string(), "{response}");
    }
    if let Some(id) = members.get("id") {
        assert!(id.is_string() || id.is_i64() || id.is_u64(), "{response}");
    }
}

#[test]
fn any_json_gives_json_rpc() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(TestServer::start());
    let strategy = prop_oneof![json(), message(), prop::collection::vec(message(), 0..4).prop_map(Value::from),];
    let versions = prop::option::of(prop::sample::select(vec!["2026-07-28", "2025-11-25", "2025-03-26", "1999-01-01"]));
    proptest!(ProptestConfig::with_cases(400), |(value in strategy, version in versions)| {
        let headers: Vec<_> = version.map(|version| ("mcp-protocol-version", version)).into_iter().collect();
        let response = runtime.block_on(server.post("docs", &headers, value.to_string().as_bytes()));
        match response.status {
            202 => prop_assert!(response.body.is_empty()),
            200 | 400 | 404 => match response.json() {
                Value::Array(responses) => responses.iter().for_each(check_response),
                response => check_response(&response),
            },
            _ => prop_assert!(false, "{}", response),
        }
    });
}

#[test]
fn any_id_survives() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(TestServer::start());
    let id = prop_oneof!["-?(0|[1-9][0-9]{0,40})", ".{0,40}".prop_map(|text| Value::from(text).to_string())];
    proptest!(ProptestConfig::with_cases(100), |(id in id)| {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"resources/list"}}"#);
        let response = runtime.block_on(server.post("docs", &[], message.as_bytes()));
        let members: std::collections::HashMap<String, Box<RawValue>> = serde_json::from_slice(&response.body).unwrap();
        prop_assert_eq!(members["id"].get(), id);
    });
}
