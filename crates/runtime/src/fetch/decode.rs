//! Text or binary, and which characters the bytes of a text stand for.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252, X_USER_DEFINED};
use mcpress_catalog::media_type;

/// Bytes at the start of a document in which it may say how it is encoded, by the
/// [HTML standard](https://html.spec.whatwg.org/#determining-the-character-encoding).
const PRESCAN: usize = 1024;

/// A `Content-Type` header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ContentType {
    /// Type and subtype in lower case; empty if it was not given.
    pub(crate) essence: String,
    charset: Option<String>,
}

impl ContentType {
    /// Reads a header leniently, as they are written in the wild.
    pub(crate) fn parse(header: &str) -> Self {
        let mut parts = header.split(';').map(str::trim);
        let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
        let charset =
            parts.filter_map(|part| part.split_once('=')).find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        let charset = charset.map(|(_, value)| value.trim().trim_matches(['"', '\'']).to_owned());
        // RFC 9110 section 5.6.2: what a type and a subtype are made of.
        let is_token = |part: &str| {
            let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            !part.is_empty() && part.bytes().all(is_part)
        };
        match essence.split_once('/') {
            Some((kind, subtype)) if is_token(kind) && is_token(subtype) => Self { essence, charset },
            _ => Self { essence: String::new(), charset },
        }
    }

    pub(crate) fn is_html(&self) -> bool {
        matches!(self.essence.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// The text that the bytes stand for, or `None` if they stand for none.
///
/// The encoding is that of the byte order mark, else that of the header, else what the document says of itself, else
/// UTF-8. What has no media type is text if it is valid UTF-8.
pub(crate) fn text(body: &[u8], content_type: &ContentType) -> Option<String> {
    let unknown = content_type.essence.is_empty();
    if !unknown && !media_type::is_text(&content_type.essence) {
        return None;
    }
    let (encoding, body) = match Encoding::for_bom(body) {
        Some((encoding, length)) => (encoding, &body[length..]),
        None => {
            let label = content_type.charset.as_deref().map(str::as_bytes);
            let declared = label.and_then(Encoding::for_label_no_replacement).or_else(|| prescan(body, content_type));
            (declared.unwrap_or(UTF_8), body)
        }
    };
    let (text, malformed) = encoding.decode_without_bom_handling(body);
    if text.contains('\0') || (unknown && malformed) { None } else { Some(text.into_owned()) }
}

/// What a document says of its own encoding: `<meta>` in HTML, the declaration in XML.
fn prescan(body: &[u8], content_type: &ContentType) -> Option<&'static Encoding> {
    let start = body[..body.len().min(PRESCAN)].to_ascii_lowercase();
    let essence = content_type.essence.as_str();
    let label = if content_type.is_html() {
        meta_charset(&start)
    } else if essence.ends_with("/xml") || essence.ends_with("+xml") {
        xml_encoding(&start)
    } else {
        None
    };
    match Encoding::for_label_no_replacement(label?)? {
        // Had it been so, the declaration could not have been read.
        encoding if !encoding.is_ascii_compatible() => Some(UTF_8),
        encoding if encoding == X_USER_DEFINED => Some(WINDOWS_1252),
        encoding => Some(encoding),
    }
}

/// The `charset` of the first `<meta>` that has one, as an attribute or inside `content`.
fn meta_charset(mut html: &[u8]) -> Option<&[u8]> {
    while let Some(at) = find(html, b"<") {
        html = &html[at..];
        if html.starts_with(b"<!--") {
            html = &html[4 + find(&html[4..], b"-->")?..];
            continue;
        }
        let end = find(html, b">").unwrap_or(html.len());
        let tag = &html[..end];
        if tag.starts_with(b"<meta")
            && let Some(at) = find(tag, b"charset")
            && let Some(label) = value(&tag[at + b"charset".len()..])
        {
            return Some(label);
        }
        html = &html[end..];
    }
    None
}

fn xml_encoding(xml: &[u8]) -> Option<&[u8]> {
    let declaration = xml.strip_prefix(b"<?xml")?;
    let declaration = &declaration[..find(declaration, b"?>")?];
    value(&declaration[find(declaration, b"encoding")? + b"encoding".len()..])
}

/// What follows a name: `= "value"`, in either quotes or none.
fn value(rest: &[u8]) -> Option<&[u8]> {
    let rest = rest.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let end =
        rest.iter().position(|byte| matches!(byte, b'"' | b'\'' | b';' | b'/' | b'>') || byte.is_ascii_whitespace());
    Some(&rest[..end.unwrap_or(rest.len())])
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decoded(header: &str, body: &[u8]) -> Option<String> {
        text(body, &ContentType::parse(header))
    }

    #[test]
    fn finds_the_encoding() {
        let late = [b"<p>".repeat(400).as_slice(), b"<meta charset=latin1>\xfc"].concat();
        for (header, body, expected) in [
            // The mark wins over the header, the header over the document.
            (
                "text/html; charset=latin1",
                &b"\xef\xbb\xbf<meta charset=latin1>\xc3\xbc"[..],
                Some("<meta charset=latin1>ü"),
            ),
            ("text/plain", b"\xff\xfeu\0\xfc\0", Some("uü")),
            ("text/plain; charset=utf-8", b"\xfe\xff\0u\0\xfc", Some("uü")),
            ("text/html;charset=ISO-8859-1", b"<meta charset=utf-8>\xfc", Some("<meta charset=utf-8>ü")),
            ("text/plain; CHARSET=\"Windows-1252\"", b"\x80", Some("€")),
            ("text/plain; charset='koi8-r'; x=y", b"\xc1", Some("а")),
            ("application/json; charset=shift_jis", b"\"\x82\xa0\"", Some("\"あ\"")),
            ("text/plain; charset=utf-16le", b"u\0\xfc\0", Some("uü")),
            // What is no encoding counts as not given.
            ("text/html; charset=nonsense", b"<meta charset=latin1>\xfc", Some("<meta charset=latin1>ü")),
            ("text/plain; charset=utf-7", b"a", Some("a")),
            (
                "text/html",
                b"<META HTTP-EQUIV=content-type CONTENT=\"text/html; CHARSET=latin1\">\xfc",
                Some("<META HTTP-EQUIV=content-type CONTENT=\"text/html; CHARSET=latin1\">ü"),
            ),
            (
                "text/html",
                b"<!-- <meta charset=koi8-r> --><meta charset = 'latin1'/>\xfc",
                Some("<!-- <meta charset=koi8-r> --><meta charset = 'latin1'/>ü"),
            ),
            ("text/html", b"<meta charset=utf-16>\xc3\xbc", Some("<meta charset=utf-16>ü")),
            ("text/html", b"<meta charset><meta name=charset>\xc3\xbc", Some("<meta charset><meta name=charset>ü")),
            (
                "application/rss+xml",
                b"<?xml version='1.0' encoding='ISO-8859-1'?>\xfc",
                Some("<?xml version='1.0' encoding='ISO-8859-1'?>ü"),
            ),
            ("text/plain", b"<meta charset=latin1>\xc3\xbc", Some("<meta charset=latin1>ü")),
            ("text/plain", b"\xfc", Some("\u{fffd}")),
            ("text/markdown", b"", Some("")),
            ("image/svg+xml", b"<svg/>", Some("<svg/>")),
            // Text without a media type, and what is no text.
            ("", b"\xc3\xbc", Some("ü")),
            ("", b"\xfc", None),
            ("nonsense", b"a", Some("a")),
            ("", b"a\0b", None),
            ("text/plain", b"a\0b", None),
            ("application/octet-stream", b"a", None),
            ("image/png", b"a", None),
            ("application/pdf; charset=utf-8", b"a", None),
        ] {
            assert_eq!(decoded(header, body).as_deref(), expected, "{header} {:?}", String::from_utf8_lossy(body));
        }
        assert!(decoded("text/html", &late).unwrap().ends_with('\u{fffd}'), "the first kilobyte only");
    }

    proptest! {
        #[test]
        fn any_bytes_are_text_or_not(header in "(text/html|text/xml|)(; ?charset=[a-z0-9-]{0,8})?|\\PC*", body: Vec<u8>, tail in "(<meta[ a-z=\"']{0,20}>?|<!-?-?|<\\?xml[ a-z=']*){0,3}") {
            let _ = decoded(&header, &body);
            let _ = decoded(&header, tail.as_bytes());
        }
    }
}
