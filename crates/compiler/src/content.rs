//! What a file holds: text or binary, its media type, its front matter and its first heading.

use std::borrow::Cow;

use mime_guess::mime;
use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// Bytes of a file or of an inline text, with the media type they are served as.
#[derive(Clone, Debug)]
pub(crate) struct Content<'a> {
    pub(crate) mime_type: String,
    pub(crate) payload: Payload<'a>,
}

#[derive(Clone, Debug)]
pub(crate) enum Payload<'a> {
    Text(Cow<'a, str>),
    Blob(Cow<'a, [u8]>),
}

/// The text of a file: UTF-8 without NUL, its byte order mark removed.
pub(crate) fn as_text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))?;
    Some(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// The media type that goes with a file's name.
pub(crate) fn guess_mime_type(path: &str) -> Option<&'static str> {
    mime_guess::from_path(path).first_raw()
}

/// The first line (from 1) whose end is of another kind than that of the lines before it.
pub(crate) fn first_odd_line_end(text: &str) -> Option<usize> {
    let mut ends = text.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(|line| line.ends_with("\r\n"));
    let first = ends.next()?;
    ends.position(|end| end != first).map(|index| index + 2)
}

/// The text of the first level-one heading of a Markdown text.
pub(crate) fn first_heading(markdown: &str) -> Option<String> {
    let mut heading: Option<String> = None;
    for event in Parser::new(markdown) {
        match (&mut heading, event) {
            (None, Event::Start(Tag::Heading { level: HeadingLevel::H1, .. })) => heading = Some(String::new()),
            (Some(text), Event::Text(part) | Event::Code(part)) => text.push_str(&part),
            (Some(text), Event::SoftBreak | Event::HardBreak) => text.push(' '),
            (Some(text), Event::End(TagEnd::Heading(_))) => {
                let text = text.trim();
                if !text.is_empty() {
                    return Some(text.to_owned());
                }
                heading = None;
            }
            _ => {}
        }
    }
    None
}

/// True for `text/markdown`, with parameters or without.
pub(crate) fn is_markdown(mime_type: &str) -> bool {
    mime_type.parse::<mime::Mime>().is_ok_and(|mime_type| mime_type.essence_str() == "text/markdown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_utf_8_without_nul() {
        assert_eq!(as_text(b"\xef\xbb\xbfa"), Some("a"));
        assert_eq!(as_text(b"a\0"), None);
        assert_eq!(as_text(b"\xff"), None);
    }

    #[test]
    fn finds_the_first_heading() {
        let cases = [
            ("# A `b` *c*\n", Some("A b c")),
            ("Title\n=====\n", Some("Title")),
            ("```\n# no\n```\n## no\n# yes\n", Some("yes")),
            ("#\n\n# yes\n", Some("yes")),
            ("plain", None),
        ];
        for (markdown, title) in cases {
            assert_eq!(first_heading(markdown).as_deref(), title, "{markdown:?}");
        }
    }

    #[test]
    fn sees_mixed_line_ends() {
        assert_eq!(first_odd_line_end("a\r\nb\r\nc\n"), Some(3));
        assert_eq!(first_odd_line_end("a\n\r\n"), Some(2));
        assert_eq!(first_odd_line_end("a\r\nb"), None);
        assert_eq!(first_odd_line_end("a\nb\n"), None);
    }
}
