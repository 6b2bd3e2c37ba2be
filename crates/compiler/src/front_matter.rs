//! Splits front matter from the text below it.

use crate::diagnostic::{Diagnostic, Position};

/// The YAML between the fences, and the line it begins in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) text: &'a str,
    /// The line of the file in which the part begins, from 1.
    pub(crate) first_line: usize,
}

/// The front matter (if there is any) and the text below it: neither the fences nor one empty line after them.
///
/// It stands between a first line `---` and the next line `---` or `...`.
pub(crate) fn split<'a>(path: &str, text: &'a str) -> (Option<Part<'a>>, Part<'a>) {
    if !is_markdown(path) {
        return (None, Part { text, first_line: 1 });
    }
    let Some((yaml, rest, lines)) = fenced(text) else { return (None, Part { text, first_line: 1 }) };
    let (text, first_line) = match rest.strip_prefix('\n').or_else(|| rest.strip_prefix("\r\n")) {
        Some(text) => (text, lines + 2),
        None => (rest, lines + 1),
    };
    (Some(Part { text: yaml, first_line: 2 }), Part { text, first_line })
}

/// A warning for a text that begins like front matter which never ends.
pub(crate) fn unclosed(path: &str, text: &str) -> Option<Diagnostic> {
    let opens = text.lines().next().is_some_and(|line| line.trim_end() == "---");
    (is_markdown(path) && opens && fenced(text).is_none()).then(|| {
        Diagnostic::warning(path, Position::START, "front matter begins here and never ends, so it is served as text")
            .hint("close it with a line `---`, or write `***` for a rule")
    })
}

fn is_markdown(path: &str) -> bool {
    let extension = path.rsplit('.').next().unwrap_or_default();
    extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
}

/// What stands between the fences, what follows them, and the number of lines up to the second fence.
fn fenced(text: &str) -> Option<(&str, &str, usize)> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| line.trim_end() == "---")?;
    let mut end = first.len();
    for (index, line) in lines.enumerate() {
        if matches!(line.trim_end(), "---" | "...") {
            return Some((&text[first.len()..end], &text[end + line.len()..], index + 2));
        }
        end += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_the_fences() {
        let cases = [
            ("---\na: 1\n---\n\n# T\n", Some("a: 1\n"), "# T\n", 5),
            ("---\r\na: 1\r\n---\r\n\r\nx", Some("a: 1\r\n"), "x", 5),
            ("---\n---\nx", Some(""), "x", 3),
            ("---\na: 1\n...\nx\n---\n", Some("a: 1\n"), "x\n---\n", 4),
            ("---\na: 1", None, "---\na: 1", 1),
            ("--- x\n---\n", None, "--- x\n---\n", 1),
            ("", None, "", 1),
        ];
        for (source, yaml, text, first_line) in cases {
            let (front, body) = split("a.md", source);
            assert_eq!(front.map(|part| part.text), yaml, "{source:?}");
            assert_eq!(body, Part { text, first_line }, "{source:?}");
        }
        assert_eq!(split("a.txt", "---\n---\n").0, None);
        assert!(unclosed("a.md", "---\na: 1").is_some() && unclosed("a.md", "---\n---").is_none());
    }
}
