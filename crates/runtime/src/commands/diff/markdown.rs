//! Differences as Markdown for a comment on a merge request: GitHub's and GitLab's dialect, whose comments are limited.
//!
//! Whatever an author chose stands in code, where it is neither HTML nor a mention nor a link, and cannot end a cell.

use super::{
    changes::{Changes, EntryChange, Kind, ServerChange, Status},
    text::{short, size},
};
use crate::commands::printable;

/// Bytes that are written at most. A comment may have 65,536 characters on GitHub.
const LONGEST: usize = 60_000;
/// Rows that are shown before a table is folded.
const UNFOLDED: usize = 15;
/// Characters of one text that are shown.
const LONGEST_TEXT: usize = 200;

pub(super) fn write(changes: &Changes) -> String {
    let (old, new) = (short(&changes.hash.old), short(&changes.hash.new));
    if changes.is_empty() {
        return format!("### Content: no difference\n\nContent hash `{old}` → `{new}`\n");
    }
    let mut out = format!("### Content: {}\n\nContent hash `{old}` → `{new}`\n", changes.counts());
    let mut left_out = 0;
    for server in &changes.servers {
        left_out += usize::from(!section(server, &mut out));
    }
    if !changes.partials.is_empty() {
        let (mut shown, mut hidden) = (String::from("\n#### Partials\n\n"), 0);
        for partial in &changes.partials {
            let line = format!("- {} {}\n", word(partial.status), code(&partial.name));
            if out.len() + shown.len() + line.len() < LONGEST { shown.push_str(&line) } else { hidden += 1 }
        }
        out.push_str(&shown);
        if hidden > 0 {
            out.push_str(&format!("- and {hidden} more\n"));
        }
    }
    if left_out > 0 {
        out.push_str(&format!("\nServers that differ and are not shown, for want of space: {left_out}\n"));
    }
    out
}

/// Writes what there is space for; false if there is none at all.
fn section(server: &ServerChange, out: &mut String) -> bool {
    if out.len() + 1000 > LONGEST {
        return false;
    }
    let status = match server.status {
        Status::Changed => String::new(),
        status => format!(" {}", word(status)),
    };
    out.push_str(&format!("\n#### Server {}{status}: {}\n", code(&server.slug), server.counts()));
    if !server.changed.is_empty() {
        out.push_str(&format!("\nOf the server itself: {}\n", codes(&server.changed)));
    }
    if server.entries.is_empty() {
        return true;
    }
    let folded = server.entries.len() > UNFOLDED;
    if folded {
        out.push_str(&format!("\n<details>\n<summary>{} entries</summary>\n", server.entries.len()));
    }
    out.push_str("\n| | entry | what | size |\n| --- | --- | --- | --- |\n");
    let mut shown = 0;
    for entry in &server.entries {
        let row = row(entry);
        if out.len() + row.len() + 500 > LONGEST {
            break;
        }
        out.push_str(&row);
        shown += 1;
    }
    if shown < server.entries.len() {
        out.push_str(&format!("\nand {} more\n", server.entries.len() - shown));
    }
    if folded {
        out.push_str("\n</details>\n");
    }
    true
}

fn row(entry: &EntryChange) -> String {
    let title = entry.title.as_ref().map(|title| format!("<br>{}", code(title))).unwrap_or_default();
    let mut what = codes(&entry.changed);
    match (entry.source.old, entry.source.new) {
        (Some(old), Some(new)) if old == new => {}
        (Some(old), Some(new)) => what.push_str(&format!(" (`{old}` → `{new}`)")),
        (source, None) | (None, source) => {
            what.push_str(&source.map(|source| format!("`{source}`")).unwrap_or_default())
        }
    }
    let kind = if entry.kind == Kind::Template { " template" } else { "" };
    let size = size(entry).unwrap_or_default();
    format!("| {}{kind} | {}{title} | {what} | {size} |\n", word(entry.status), code(&entry.uri))
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Added => "added",
        Status::Removed => "removed",
        Status::Changed => "changed",
    }
}

fn codes(names: &[String]) -> String {
    names.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ")
}

/// A text as code, cut off where it is long.
fn code(text: &str) -> String {
    let mut text = printable(text);
    if let Some((end, _)) = text.char_indices().nth(LONGEST_TEXT) {
        text.truncate(end);
        text.push('…');
    }
    // Between backticks everything means itself, but for a backtick, and in a table for a `|` and the `\` before it.
    if !text.contains(['`', '|', '\\']) && !text.trim().is_empty() {
        return format!("`{text}`");
    }
    let escaped = text.chars().map(|character| match character {
        character if character.is_ascii_punctuation() => format!("&#{};", u32::from(character)),
        character => character.to_string(),
    });
    format!("<code>{}</code>", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_cannot_be_left() {
        assert_eq!(code("docs://a?b=@team&c=<b>"), "`docs://a?b=@team&c=<b>`");
        assert_eq!(code("a|b"), "<code>a&#124;b</code>");
        assert_eq!(code("`a` \\| </code>"), "<code>&#96;a&#96; &#92;&#124; &#60;&#47;code&#62;</code>");
        assert_eq!(code("a\nb"), "<code>a&#92;nb</code>");
        assert!(code(&"x".repeat(1000)).len() < 210);
    }
}
