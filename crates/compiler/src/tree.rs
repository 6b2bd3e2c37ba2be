//! The files of a content tree, read once, and the paths between them.

use std::{
    borrow::Cow,
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    fs, io,
    ops::Bound,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use walkdir::{DirEntry, WalkDir};

use crate::diagnostic::{Diagnostic, Position, shown};

/// The first line of what Git LFS leaves in the place of a file that was not fetched.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// All files of a content tree that are not hidden.
pub(crate) struct Tree {
    /// By path below the root, with `/` on every platform, sorted by its bytes.
    files: BTreeMap<String, Vec<u8>>,
    /// The real paths of files that were reached through a symbolic link.
    links: BTreeMap<String, String>,
    root: PathBuf,
    used: RefCell<BTreeSet<String>>,
}

impl Tree {
    /// Reads the tree at `root`. What cannot be read, or must not be, is reported and left out.
    pub(crate) fn load(root: &Path, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut tree =
            Self { files: BTreeMap::new(), links: BTreeMap::new(), root: root.to_owned(), used: RefCell::default() };
        match root
            .canonicalize()
            .and_then(|real| real.is_dir().then_some(real).ok_or(io::ErrorKind::NotADirectory.into()))
        {
            Ok(real_root) => tree.walk(&real_root, diagnostics),
            Err(error) => diagnostics.push(
                Diagnostic::error("", None, "", format!("cannot read the content tree: {}", reason(&error)))
                    .hint("name the folder that holds it, for a build in MCPRESS_CONTENT"),
            ),
        }
        tree
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A tree of files that are not on disk.
    pub(crate) fn of_files(files: BTreeMap<String, Vec<u8>>) -> Self {
        Self { files, links: BTreeMap::new(), root: PathBuf::new(), used: RefCell::default() }
    }

    fn walk(&mut self, root: &Path, diagnostics: &mut Vec<Diagnostic>) {
        let refused = RefCell::new(Vec::new());
        let walk = WalkDir::new(root).follow_links(true).sort_by_file_name().into_iter().filter_entry(|entry| {
            let hidden = entry.depth() > 0 && entry.file_name().as_encoded_bytes().starts_with(b".");
            !hidden && admit(root, entry).map_err(|diagnostic| refused.borrow_mut().push(*diagnostic)).is_ok()
        });
        for entry in walk {
            let read = match entry {
                Ok(entry) if entry.file_type().is_dir() => continue,
                Ok(entry) => read(root, &entry),
                Err(error) => Err(unwalkable(root, &error)),
            };
            match read {
                Ok(File { path, real, bytes }) => {
                    if real != path {
                        self.links.insert(path.clone(), real);
                    }
                    self.files.insert(path, bytes);
                }
                Err(diagnostic) => diagnostics.push(*diagnostic),
            }
        }
        diagnostics.append(&mut refused.into_inner());
    }

    /// Path and bytes of every file, sorted by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// Path below `folder` (which ends in `/`, or is empty) and bytes of every file in it, sorted by path.
    pub(crate) fn below(&self, folder: &str) -> impl Iterator<Item = (&str, &[u8])> {
        let files = self.files.range::<str, _>((Bound::Included(folder), Bound::Unbounded));
        let depth = folder.len();
        files
            .take_while(move |(path, _)| path.starts_with(folder))
            .map(move |(path, bytes)| (&path[depth..], bytes.as_slice()))
    }

    /// The bytes of a file, which then counts as used.
    pub(crate) fn get(&self, path: &str) -> Option<&[u8]> {
        let bytes = self.files.get(path)?;
        let mut used = self.used.borrow_mut();
        used.insert(path.to_owned());
        used.extend(self.links.get(path).cloned());
        Some(bytes)
    }

    /// The file that `path` leads to from the folder of the file `from`.
    ///
    /// # Errors
    /// A message that says why there is none, and a hint.
    pub(crate) fn find(&self, from: &str, path: &str) -> Result<(String, &[u8]), (String, String)> {
        let resolved = resolve(from, path)?;
        if let Some(bytes) = self.get(&resolved) {
            return Ok((resolved, bytes));
        }
        let folder = self.below(&format!("{resolved}/")).next().is_some();
        let hidden = resolved.split('/').any(|part| part.starts_with('.'));
        let message = if folder { format!("`{path}` is a folder") } else { format!("there is no file `{path}`") };
        let near = crate::diagnostic::nearest(&resolved, self.files.keys().map(String::as_str));
        let hint = match near {
            Some(near) => format!("did you mean `{}`?", relative(from, near)),
            None if hidden => "files whose name begins with `.` are not part of the tree".to_owned(),
            None if folder => "name one file, or use `files` for all of them".to_owned(),
            None => "paths are relative to the file that holds them".to_owned(),
        };
        Err((message, hint))
    }

    pub(crate) fn is_used(&self, path: &str) -> bool {
        self.used.borrow().contains(path)
    }

    /// How a file of the tree is named in messages: as diagnostics name it.
    pub(crate) fn shown(&self, path: &str) -> String {
        shown(&self.root, path)
    }

    /// SHA-256 over path, NUL, length in decimal, NUL and bytes of every file, as 64 hex digits.
    pub(crate) fn hash(&self) -> String {
        let mut sha = Sha256::new();
        for (path, bytes) in self.files() {
            sha.update(path);
            sha.update([0]);
            sha.update(bytes.len().to_string());
            sha.update([0]);
            sha.update(bytes);
        }
        sha.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// How the file `from` names the file `path`.
fn relative(from: &str, path: &str) -> String {
    let folder: Vec<&str> = from.split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev().collect();
    let parts: Vec<&str> = path.split('/').collect();
    let shared = folder.iter().zip(&parts).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", folder.len() - shared);
    up.chain(parts[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// The path inside the tree that `path` leads to from the folder of the file `from`.
///
/// # Errors
/// A message and a hint, if the path is absolute or leads out of the tree.
pub(crate) fn resolve(from: &str, path: &str) -> Result<String, (String, String)> {
    let stays_inside = || "paths are relative to the file that holds them and stay inside the content tree".to_owned();
    if path.starts_with('/') {
        return Err((format!("`{path}` is an absolute path"), stays_inside()));
    }
    if path.contains('\\') {
        return Err((format!("`{path}` holds a backslash"), "write `/` on every platform".to_owned()));
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop().ok_or_else(|| (format!("`{path}` leads out of the content tree"), stays_inside()))?;
            }
            part => parts.push(part),
        }
    }
    Ok(parts.join("/"))
}

/// Refuses what a tree may not hold before it is opened.
fn admit(root: &Path, entry: &DirEntry) -> Result<(), Box<Diagnostic>> {
    let (path, exact) = tree_path(root, entry.path());
    if !exact {
        return Err(Diagnostic::error(&path, Position::START, "", "the name is not UTF-8").hint("rename it").into());
    }
    if entry.path_is_symlink() && entry.path().canonicalize().is_ok_and(|target| !target.starts_with(root)) {
        return Err(Diagnostic::error(
            &path,
            Position::START,
            "",
            "a symbolic link that leads out of the content tree",
        )
        .hint("copy what it points to into the tree")
        .into());
    }
    Ok(())
}

/// A file as it was read; `real` is its path without symbolic links.
struct File {
    path: String,
    real: String,
    bytes: Vec<u8>,
}

fn read(root: &Path, entry: &DirEntry) -> Result<File, Box<Diagnostic>> {
    let (path, _) = tree_path(root, entry.path());
    if !entry.file_type().is_file() {
        return Err(Diagnostic::error(&path, Position::START, "", "neither a file nor a folder").into());
    }
    let bytes = fs::read(entry.path()).map_err(|error| unreadable(&path, false, entry.path_is_symlink(), &error))?;
    let oid = bytes.len() < 1024 && bytes.windows(b"\noid sha256:".len()).any(|window| window == b"\noid sha256:");
    if oid && bytes.starts_with(LFS_POINTER) {
        return Err(Diagnostic::error(&path, Position::START, "", "a Git LFS pointer stands in the place of the file")
            .hint("fetch the files with `git lfs pull`; in a pipeline, check out with LFS enabled")
            .into());
    }
    let real = match entry.path().canonicalize() {
        Ok(real) => tree_path(root, &real).0,
        Err(_) => path.clone(),
    };
    Ok(File { path, real, bytes })
}

fn unwalkable(root: &Path, error: &walkdir::Error) -> Box<Diagnostic> {
    let at = error.path().unwrap_or(root);
    let (path, _) = tree_path(root, at);
    let message = match (error.loop_ancestor(), error.io_error()) {
        (Some(_), _) => "a symbolic link to a folder that contains it".to_owned(),
        (None, Some(error)) => return unreadable(&path, at.is_dir(), at.is_symlink(), error),
        (None, None) => "cannot be read".to_owned(),
    };
    Diagnostic::error(&path, Position::START, "", message).hint(MEND_LINK).into()
}

const MEND_LINK: &str = "remove it, or point it to a file of the tree";

/// A file or folder that the system does not let this program read.
fn unreadable(path: &str, is_folder: bool, is_link: bool, error: &io::Error) -> Box<Diagnostic> {
    // A folder has no lines.
    let position = (!is_folder).then_some(Position::START);
    let diagnostic = Diagnostic::error(path, position, "", format!("cannot be read: {}", reason(error)));
    let hint = match error.kind() {
        io::ErrorKind::PermissionDenied => "let the user who compiles the tree read it",
        _ if is_link => MEND_LINK,
        _ => return diagnostic.into(),
    };
    diagnostic.hint(hint).into()
}

/// The path below the root with `/` between its parts, and whether it is exact (all of it UTF-8).
fn tree_path(root: &Path, path: &Path) -> (String, bool) {
    let parts: Vec<_> = path.strip_prefix(root).unwrap_or(path).iter().map(OsStr::to_string_lossy).collect();
    let exact = parts.iter().all(|part| matches!(part, Cow::Borrowed(_)));
    (parts.join("/"), exact)
}

/// What went wrong, without the error number.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_named_as_what_it_is() {
        let denied = io::Error::from(io::ErrorKind::PermissionDenied);
        let lost = io::Error::from(io::ErrorKind::NotFound);
        for (is_folder, is_link, error, expected) in [
            (
                true,
                false,
                &denied,
                "docs/a: cannot be read: permission denied\n  hint: let the user who compiles the tree read it",
            ),
            (
                false,
                false,
                &denied,
                "docs/a:1:1: cannot be read: permission denied\n  hint: let the user who compiles the tree read it",
            ),
            (
                false,
                true,
                &lost,
                "docs/a:1:1: cannot be read: entity not found\n  hint: remove it, or point it to a file of the tree",
            ),
            (false, false, &lost, "docs/a:1:1: cannot be read: entity not found"),
        ] {
            assert_eq!(unreadable("docs/a", is_folder, is_link, error).to_string(), expected);
        }
    }
}
