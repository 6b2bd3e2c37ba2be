//! Where redirects lead. The input is a line with the status, the method and whether private addresses are allowed, the
//! address that was asked, and the `Location`.
//!
//! Secrets stay with their origin, https never becomes http, and no address that is not public is asked unless that is
//! allowed.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpress_runtime::fetch::fuzzing::{Followed, follow, is_public};
use url::{Host, Url};

fuzz_target!(|input: &[u8]| {
    let mut parts = input.splitn(3, |byte| *byte == b'\n');
    let mut line = || parts.next().unwrap_or_default();
    let (how, from, location) = (String::from_utf8_lossy(line()), String::from_utf8_lossy(line()), line());
    let mut words = how.split(' ');
    let status = words.next().and_then(|word| word.parse().ok()).unwrap_or(302);
    let method = if words.next() == Some("POST") { "POST" } else { "GET" }.parse().unwrap();
    let allow_private_network = words.next() == Some("private");
    let Ok(from) = from.parse::<Url>() else { return };
    if !matches!(from.scheme(), "http" | "https") {
        return;
    }
    if is_public(&from) {
        check_public(&from);
    }
    let Some(followed) = follow(from.clone(), method, status, location, allow_private_network) else { return };
    let Followed { url, method, has_secrets, has_body } = followed;
    assert!(matches!(url.scheme(), "http" | "https"), "{url}");
    assert!(from.scheme() == "http" || url.scheme() == "https", "{from} {url}");
    assert!(from.origin() == url.origin() || !(has_secrets || has_body), "{from} {url}");
    assert!(method == "POST" || !has_body);
    if !allow_private_network {
        check_public(&url);
    }
});

/// The standard library's idea of what is not public is a part of ours.
fn check_public(url: &Url) {
    let is_private = match url.host() {
        Some(Host::Ipv4(address)) => {
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_broadcast()
                || address.is_documentation()
        }
        Some(Host::Ipv6(address)) => {
            let v4 = address.to_ipv4_mapped();
            v4.is_some_and(|address| address.is_loopback() || address.is_private() || address.is_link_local())
                || address.is_loopback()
                || address.is_unspecified()
                || address.is_multicast()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
        Some(Host::Domain(name)) => name.strip_suffix('.').unwrap_or(name) == "localhost",
        None => false,
    };
    assert!(!is_private, "{url}");
}
