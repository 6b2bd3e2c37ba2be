//! Names of folders and files, made of texts that may hold anything. They are of lower-case letters, digits and hyphens,
//! so that they lead nowhere, and mean the same on every file system.

use std::collections::{BTreeMap, BTreeSet};

use mcpress_compiler::is_reserved;

const LONGEST_FILE: usize = 80;
const LONGEST_SLUG: usize = 63;

/// The slug that is nearest to a text; `None` where nothing of it can be part of one.
pub(super) fn slug(text: &str) -> Option<String> {
    let slug = hyphenated(text, LONGEST_SLUG);
    if is_reserved(&slug) {
        return Some(format!("server-{slug}"));
    }
    Some(slug).filter(|slug| !slug.is_empty())
}

/// The names of files that were given away.
#[derive(Default)]
pub(super) struct Files {
    taken: BTreeSet<String>,
    /// The number that was tried last, by stem.
    numbers: BTreeMap<String, usize>,
}

impl Files {
    /// The name of a file for the contents of a URI, another one than those that are taken.
    pub(super) fn name(&mut self, uri: &str, extension: &str) -> String {
        let path = uri.split_once(':').map_or(uri, |(_, path)| path);
        let path = path.strip_suffix(extension).and_then(|path| path.strip_suffix('.')).unwrap_or(path);
        let mut stem = hyphenated(path, LONGEST_FILE);
        if stem.is_empty() {
            "resource".clone_into(&mut stem);
        } else if is_reserved(&stem) {
            stem.insert_str(0, "resource-");
        }
        let mut name = format!("{stem}.{extension}");
        while !self.taken.insert(name.clone()) {
            let number = self.numbers.entry(stem.clone()).or_insert(1);
            *number += 1;
            name = format!("{stem}-{number}.{extension}");
        }
        name
    }
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
        let mut files = Files::default();
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
            assert_eq!(files.name(uri, "md"), name, "{uri:?}");
        }
        assert!(files.name(&format!("x:{}", "a".repeat(500)), "md").len() < 100);
    }

    #[test]
    fn slugs_are_made_of_anything_that_holds_a_letter() {
        for (text, name) in [
            ("my-docs", Some("my-docs")),
            ("../Über uns/", Some("ber-uns")),
            ("日本", None),
            ("-", None),
            ("C:\\Docs", Some("c-docs")),
            ("Con", Some("server-con")),
            ("lpt1", Some("server-lpt1")),
            ("con-1", Some("con-1")),
        ] {
            assert_eq!(slug(text).as_deref(), name, "{text}");
        }
        assert_eq!(slug(&"a-".repeat(100)).map(|slug| slug.len()), Some(63));
    }
}
