//! Names of files that not every system can hold, and of files that were hardly meant to be content.

use std::collections::BTreeMap;

use unicode_normalization::UnicodeNormalization;

use crate::{
    diagnostic::{Diagnostic, Position},
    tree::Tree,
};

/// Warns of files that are lost where the tree is checked out on another system.
pub(crate) fn check(tree: &Tree, diagnostics: &mut Vec<Diagnostic>) {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (path, _) in tree.files() {
        if let Some(name) = path.split('/').find(|name| is_reserved(name)) {
            let message =
                format!("`{name}` is a name that Windows keeps for itself, so no checkout there has this file");
            diagnostics.push(Diagnostic::warning(path, Position::START, message).hint("rename it"));
        }
        let composed = |path: &str| path.nfc().collect::<String>();
        // Lowering the case may take a letter apart again.
        let Some(first) = seen.insert(composed(&composed(path).to_lowercase()), path) else { continue };
        let differ = match composed(first) == composed(path) {
            true => "in how Unicode composes a letter",
            false => "in the case of letters",
        };
        let first = tree.shown(first);
        let message = format!(
            "its path and that of `{first}` differ only {differ}, so a checkout on macOS or Windows loses one of them"
        );
        diagnostics.push(Diagnostic::warning(path, Position::START, message).hint("rename one of them"));
    }
}

/// True for a name that Windows keeps for its devices, whatever extension follows.
pub fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let is_port = matches!(stem.strip_suffix(|last: char| last.is_ascii_digit()), Some("com" | "lpt"));
    is_port || ["con", "prn", "aux", "nul"].contains(&stem.as_str())
}

/// What a file seems to be, by its name, that editors, tools or desktops leave beside others.
pub(crate) fn leftover(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    match name {
        "Thumbs.db" | "ehthumbs.db" | "desktop.ini" | "Icon\r" => Some("what a desktop keeps about a folder"),
        _ if name.ends_with('~') => Some("the backup copy of an editor"),
        _ if name.len() > 2 && name.starts_with('#') && name.ends_with('#') => Some("what an editor saves by itself"),
        _ if name.starts_with("~$") => Some("the lock of an office program"),
        _ => match extension {
            "swp" | "swo" => Some("the swap file of an editor"),
            "orig" | "rej" => Some("what a merge leaves behind"),
            "bak" => Some("a backup copy"),
            _ => None,
        },
    }
}

/// True for a name that would be one of a definition, were it in small letters.
pub(crate) fn is_definition_in_capitals(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, extension)| extension).unwrap_or_default();
    ["yaml", "yml"].iter().any(|small| extension != *small && extension.eq_ignore_ascii_case(small))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_reserved_names() {
        for name in ["con", "NUL", "aux.md", "Com1.tar.gz", "lpt9", "prn .txt"] {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["", "console", "com", "com10", "a.con", "null.md", "auxiliary"] {
            assert!(!is_reserved(name), "{name}");
        }
    }

    #[test]
    fn files_of_authors_are_no_leftovers() {
        for name in ["a/b.md", "#1.md", "#", "##", "~.md", "bak", "orig.md", "thumbs.png", "a.BAK.md", "c#"] {
            assert_eq!(leftover(name), None, "{name}");
        }
    }
}
