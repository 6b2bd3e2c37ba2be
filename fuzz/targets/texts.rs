//! The small texts: `${NAME}`, dates, media types, `Accept`, `Content-Type`, `Host` and `Origin`. Each reads the whole
//! input.
//!
//! What is read can be written again; and who is let in by default would be taken for this machine by a browser too.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcpress_runtime::{access::Access, fetch, fuzzing};
use mcpress_catalog::{
    env::{self, Piece},
    media_type,
    source::{Date, DateTime},
};
use url::{Host, Url};

static LOOPBACK: LazyLock<Access> = LazyLock::new(Access::default);
static LISTED: LazyLock<Access> =
    LazyLock::new(|| Access::new(&["mcp.example:8443".to_owned()], &["https://app.example".to_owned()]).unwrap());

fuzz_target!(|input: &[u8]| {
    check_headers(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    check_env(text);
    check_date(text);
    check_access(text);
    let _ = media_type::is_text(text);
    let _ = fetch::fuzzing::text(b"text", text);
});

fn check_env(text: &str) {
    let Ok(pieces) = env::parse(text) else { return };
    let written = pieces.iter().map(|piece| match *piece {
        Piece::Text("$") => "$$".to_owned(),
        Piece::Text(text) => text.to_owned(),
        Piece::Variable { name, default: None } => format!("${{{name}}}"),
        Piece::Variable { name, default: Some(default) } => format!("${{{name}:-{default}}}"),
    });
    assert_eq!(written.collect::<String>(), text);
    assert!(env::fill(&pieces, |_| Some("value".to_owned())).is_ok());
}

fn check_date(text: &str) {
    let Ok(date @ Date::At(DateTime { year, month, day, hour, minute, second })) = text.parse() else { return };
    let part = |before: &str, value: Option<u8>| value.map_or(String::new(), |value| format!("{before}{value:02}"));
    let day = [part("-", month), part("-", day)].concat();
    let time = [part(" ", hour), part(":", minute), part(":", second)].concat();
    assert_eq!(format!("{year:04}{day}{time}").parse(), Ok(date), "{text}");
}

fn check_headers(value: &[u8]) {
    // Who takes everything takes this too, whatever else is asked for.
    assert_eq!(fuzzing::accept(&[value, b"*/*"]), [true, true]);
    let _ = fuzzing::accept(&[value]);
    if fuzzing::content_type_is_json(value) {
        assert!(value.to_ascii_lowercase().windows(4).any(|window| window == b"json"));
    }
}

fn check_access(text: &str) {
    if LOOPBACK.allows_host(text) {
        assert!(is_loopback(&format!("http://{text}")), "{text}");
    }
    if LOOPBACK.allows_origin(text) {
        assert!(is_loopback(text), "{text}");
    }
    if LISTED.allows_host(text) && !LOOPBACK.allows_host(text) {
        let url = Url::parse(&format!("http://{text}")).unwrap();
        assert_eq!((url.host_str(), url.port()), (Some("mcp.example"), Some(8443)), "{text}");
    }
    if LISTED.allows_origin(text) && !LOOPBACK.allows_origin(text) {
        let origin = Url::parse(text).unwrap().origin().ascii_serialization();
        assert!(origin == "https://app.example" || origin.ends_with("://mcp.example:8443"), "{text}");
    }
}

/// What a browser would take this address for.
fn is_loopback(url: &str) -> bool {
    match Url::parse(url).unwrap().host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}
