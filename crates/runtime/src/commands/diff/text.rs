//! Differences as text for a terminal: one line for each entry.

use super::changes::{Changes, EntryChange, Kind, Pair, Status};
use crate::commands::printable;

pub(super) fn write(changes: &Changes) -> String {
    if changes.is_empty() {
        return "no difference\n".to_owned();
    }
    let mut out =
        format!("content {} → {}: {}\n", short(&changes.hash.old), short(&changes.hash.new), changes.counts());
    for server in &changes.servers {
        let of_itself = match server.status {
            Status::Added => " (added)".to_owned(),
            Status::Removed => " (removed)".to_owned(),
            Status::Changed if server.changed.is_empty() => String::new(),
            Status::Changed => format!(" ({})", server.changed.join(", ")),
        };
        out.push_str(&format!("\n{}{of_itself}: {}\n", server.slug, server.counts()));
        for entry in &server.entries {
            let (sign, uri) = (sign(entry.status), printable(&entry.uri));
            out.push_str(&format!("  {sign} {uri}: {}\n", details(entry).join(", ")));
        }
    }
    if !changes.partials.is_empty() {
        out.push_str("\npartials:\n");
        for partial in &changes.partials {
            out.push_str(&format!("  {} {}\n", sign(partial.status), printable(&partial.name)));
        }
    }
    out
}

/// What there is to say of an entry beside its URI.
pub(super) fn details(entry: &EntryChange) -> Vec<String> {
    let mut details = entry.changed.clone();
    if let Some(changed) = details.iter_mut().find(|changed| *changed == "source")
        && let Pair { old: Some(old), new: Some(new) } = entry.source
    {
        *changed = format!("source ({old} → {new})");
    }
    if entry.status != Status::Changed {
        details.extend(entry.source.new.or(entry.source.old).map(str::to_owned));
    }
    if entry.kind == Kind::Template {
        details.insert(0, "template".to_owned());
    }
    details.extend(size(entry));
    details
}

/// Bytes before and after, where they are known and not the same.
pub(super) fn size(entry: &EntryChange) -> Option<String> {
    let bytes = |size: Option<u64>| match size {
        None => "–".to_owned(),
        Some(1) => "1 byte".to_owned(),
        Some(size) => format!("{size} bytes"),
    };
    match (entry.size.old, entry.size.new) {
        (old, new) if old == new => None,
        (Some(old), Some(new)) => Some(format!("{old} → {}", bytes(Some(new)))),
        (old, new) if entry.status == Status::Changed => Some(format!("{} → {}", bytes(old), bytes(new))),
        (old, new) => Some(bytes(old.or(new))),
    }
}

/// The beginning of a hash, as long as the version that is made of it; without a hash there was nothing.
pub(super) fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or("nothing")
}

fn sign(status: Status) -> char {
    match status {
        Status::Added => '+',
        Status::Removed => '-',
        Status::Changed => '~',
    }
}
