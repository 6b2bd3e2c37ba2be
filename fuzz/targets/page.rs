//! What becomes of an answer from elsewhere: bytes to text, HTML to Markdown and plain text. The input is a
//! `Content-Type` on a line and the body.

#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpress_runtime::fetch::fuzzing::{convert, text};
use mcpress_catalog::source::Html;

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let content_type = String::from_utf8_lossy(&input[..end]);
    let body = input.get(end + 1..).unwrap_or_default();
    let Some(text) = text(body, &content_type) else { return };
    assert!(!text.contains('\0'));
    assert!(text.len() <= 3 * body.len(), "a byte stands for one character of at most three bytes");
    for format in [Html::Markdown, Html::Text] {
        // What is more control characters than text is refused.
        let Ok(converted) = convert(format, &text, "https://example.com/a/b") else { continue };
        // The address stands before each relative link, and a cell has its bars.
        assert!(converted.len() <= 64 * text.len() + 1024, "{} bytes of {}", converted.len(), text.len());
    }
});
