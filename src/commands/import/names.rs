//! Names of folders and files, made of texts that may hold anything. They are of lower-case letters, digits and hyphens,
//! so that they lead nowhere, and mean the same on every file system.

use std::collections::BTreeSet;

/// Names that Windows keeps for itself, whatever extension follows.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];
const LONGEST_FILE: usize = 80;
const LONGEST_SLUG: usize = 63;

/// The slug that is nearest to a text; `None` where nothing of it can be part of one.
pub(super) fn slug(text: &str) -> Option<String> {
    Some(hyphenated(text, LONGEST_SLUG)).filter(|slug| !slug.is_empty())
}

/// The name of a file for the contents of a URI, another one than those that are taken.
pub(super) fn file(uri: &str, extension: &str, taken: &mut BTreeSet<String>) -> String {
    let path = uri.split_once(':').map_or(uri, |(_, path)| path);
    let path = path.strip_suffix(extension).and_then(|path| path.strip_suffix('.')).unwrap_or(path);
    let mut stem = hyphenated(path, LONGEST_FILE);
    let port =
        |name: &str| stem.len() == 4 && stem.starts_with(name) && stem.ends_with(|last: char| last.is_ascii_digit());
    if stem.is_empty() {
        "resource".clone_into(&mut stem);
    } else if RESERVED.contains(&stem.as_str()) || port("com") || port("lpt") {
        stem.insert_str(0, "resource-");
    }
    let mut name = format!("{stem}.{extension}");
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{stem}-{number}.{extension}");
        number += 1;
    }
    name
}

/// The extension of a file that holds a text of this media type. Never that of a definition.
pub(super) fn extension(mime_type: Option<&str>) -> &'static str {
    let essence = mime_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "text/markdown" => "md",
        "application/json" => "json",
        "text/html" => "html",
        "text/css" => "css",
        "text/csv" => "csv",
        "application/xml" | "text/xml" => "xml",
        "image/svg+xml" => "svg",
        _ => "txt",
    }
}

fn hyphenated(text: &str, longest: usize) -> String {
    let mut name = String::new();
    for character in text.chars() {
        if name.len() == longest {
            break;
        }
        match character.to_ascii_lowercase() {
            character if character.is_ascii_alphanumeric() => name.push(character),
            _ if name.is_empty() || name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere_and_are_never_taken() {
        let taken = &mut BTreeSet::new();
        for (uri, name) in [
            ("docs://guides/Intro", "guides-intro.md"),
            ("docs://guides/intro", "guides-intro-2.md"),
            ("docs://guides-intro.md", "guides-intro-3.md"),
            ("x:../../etc/passwd", "etc-passwd.md"),
            ("x:..", "resource.md"),
            ("x:\u{0}\u{202e}ü", "resource-2.md"),
            ("x:NUL", "resource-nul.md"),
            ("x:com1", "resource-com1.md"),
            ("x:_private", "private.md"),
            ("", "resource-3.md"),
        ] {
            assert_eq!(file(uri, "md", taken), name, "{uri:?}");
        }
        assert!(file(&format!("x:{}", "a".repeat(500)), "md", taken).len() < 100);
    }

    #[test]
    fn slugs_are_made_of_anything_that_holds_a_letter() {
        for (text, name) in [
            ("my-docs", Some("my-docs")),
            ("../Über uns/", Some("ber-uns")),
            ("日本", None),
            ("-", None),
            ("C:\\Docs", Some("c-docs")),
        ] {
            assert_eq!(slug(text).as_deref(), name, "{text}");
        }
        assert_eq!(slug(&"a-".repeat(100)).map(|slug| slug.len()), Some(63));
    }
}
