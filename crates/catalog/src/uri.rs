//! RFC 3986 URIs: percent-encoding for paths, and the normal form.

use std::fmt::Write;

use fluent_uri::Uri;

/// Appends `path` to `out` with everything percent-encoded (in upper case) that is neither unreserved nor one of
/// `!$&'()*+,;=:@/`.
pub fn encode_path(out: &mut String, path: &str) {
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            push_encoded(out, byte);
        }
    }
}

/// Appends one byte as `%XX`.
pub(crate) fn push_encoded(out: &mut String, byte: u8) {
    // Writing to a `String` cannot fail.
    let _ = write!(out, "%{byte:02X}");
}

/// The normal form of a URI after RFC 3986 section 6.2.2: scheme and host in lower case, percent-encoding in upper
/// case and only where it is needed, no dot segments. Characters that no URI may hold (a space, `ü`) are taken as if
/// they had been percent-encoded.
///
/// `None` if it still is no URI.
pub fn normalize(uri: &str) -> Option<String> {
    let mut encoded = String::with_capacity(uri.len());
    for byte in uri.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            push_encoded(&mut encoded, byte);
        }
    }
    Some(Uri::parse(encoded.as_str()).ok()?.normalize().into_string())
}

/// Says what is wrong with a text that should be a URI (with a scheme), if anything is.
pub fn check(uri: &str) -> Result<(), String> {
    Uri::parse(uri).map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_what_a_path_may_not_hold() {
        let mut out = String::new();
        encode_path(&mut out, "über uns/a%20b?x#y.md");
        assert_eq!(out, "%C3%BCber%20uns/a%2520b%3Fx%23y.md");
    }

    #[test]
    fn normalizes_what_clients_change() {
        assert_eq!(normalize("Docs://API-Overview").as_deref(), Some("docs://api-overview"));
        assert_eq!(normalize("docs://x/%c3%bc%41").as_deref(), Some("docs://x/%C3%BCA"));
        assert_eq!(normalize("docs://x/ü b").as_deref(), Some("docs://x/%C3%BC%20b"));
        assert_eq!(normalize("docs://x/y").as_deref(), Some("docs://x/y"));
        assert_eq!(normalize("no uri at all"), None);
    }
}
