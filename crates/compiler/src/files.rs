//! `static.files`: the files of the tree that a glob matches.

use globset::GlobBuilder;

use crate::{
    scope::Scope,
    tree::{self, Tree},
    yaml::Mark,
};

/// A file that a glob matched.
pub(crate) struct Match<'a> {
    /// Path in the tree.
    pub(crate) path: String,
    /// Path below the glob's fixed prefix.
    pub(crate) below: String,
    pub(crate) bytes: &'a [u8],
}

/// The files that `glob` matches from the folder of the definition, sorted by path. Names that begin with `_` are
/// passed over. Matching nothing is an error, like a glob that cannot be read.
pub(crate) fn matching<'a>(tree: &'a Tree, glob: &str, mark: Mark, scope: &mut Scope<'_>) -> Option<Vec<Match<'a>>> {
    let (prefix, pattern) = split(glob);
    let folder = match tree::resolve(scope.path, prefix) {
        Ok(folder) if folder.is_empty() => folder,
        Ok(folder) => folder + "/",
        Err((message, hint)) => {
            scope.error(mark, "static.files", message).with_hint(&hint);
            return None;
        }
    };
    if folder.split('/').any(|part| part.starts_with('_')) {
        scope
            .error(mark, "static.files", format!("the files in `{prefix}` are never content"))
            .with_hint("a file or folder whose name begins with `_` is never content; move or rename it");
        return None;
    }
    let matcher = match GlobBuilder::new(pattern).literal_separator(true).build() {
        Ok(glob) => glob.compile_matcher(),
        Err(error) => {
            scope
                .error(mark, "static.files", format!("not a glob: {}", error.kind()))
                .with_hint("`*` stands for a part of a name, `**` for folders, `{a,b}` for either");
            return None;
        }
    };
    let matches: Vec<Match<'a>> = tree
        .below(&folder)
        .filter(|(below, _)| matcher.is_match(below) && !below.split('/').any(|part| part.starts_with('_')))
        .map(|(below, bytes)| Match { path: format!("{folder}{below}"), below: below.to_owned(), bytes })
        .collect();
    for found in &matches {
        tree.get(&found.path);
    }
    if matches.is_empty() {
        let hint = "the glob is relative to the file that holds it; `**` crosses folders, `*` does not";
        scope.error(mark, "static.files", format!("no file matches `{glob}`")).with_hint(hint);
        return None;
    }
    Some(matches)
}

/// The folders before the first part that holds a wildcard, and the rest.
fn split(glob: &str) -> (&str, &str) {
    let wild = glob.find(['*', '?', '[', '{']).unwrap_or(glob.len());
    let slash = glob[..wild].rfind('/').map_or(0, |slash| slash + 1);
    glob.split_at(slash)
}

#[cfg(test)]
mod tests {
    #[test]
    fn splits_the_fixed_prefix() {
        for (glob, parts) in [
            ("../handbook/**/*.md", ("../handbook/", "**/*.md")),
            ("*.md", ("", "*.md")),
            ("a/b.md", ("a/", "b.md")),
            ("a/{b,c}/d", ("a/", "{b,c}/d")),
        ] {
            assert_eq!(super::split(glob), parts);
        }
    }
}
