//! `mcpress new`: commented starters of a server and of its resources, which compile as they are.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use mcpress_compiler::{Diagnostic, Severity, compile, is_slug, uri_of};

use super::{FAILED, escape, failure, print, schema, shown, unless_unread};
use crate::config::Kind;

/// Writes `server.yaml` and a first page.
pub(crate) fn new_server(dir: &Path, slug: &str) -> io::Result<ExitCode> {
    if let Err(message) = check_slug(slug) {
        return Ok(failure(message));
    }
    let folder = dir.join(slug);
    // A slug is the scheme of its URIs, and a scheme begins with a letter.
    let (comment, prefix) = match slug.starts_with(|first: char| first.is_ascii_digit()) {
        true => ("", format!("x-{slug}://")),
        false => ("# ", format!("{slug}://")),
    };
    let server = include_str!("starters/server.yaml")
        .replace("{schema}", &schema_path(1, "server"))
        .replace("{slug}", slug)
        .replace("{comment}", comment)
        .replace("{prefix}", &prefix);
    let page = page(slug, "What this server offers, and where to begin.");
    let files = [(folder.join("server.yaml"), server), (folder.join("resources").join("index.md"), page)];
    write_checked(dir, &files)
}

/// Writes one file below `resources/`.
pub(crate) fn new_resource(dir: &Path, slug: &str, path: &str, kind: Kind) -> io::Result<ExitCode> {
    let (name, extension) = match check_slug(slug).and_then(|()| check_path(path, kind)) {
        Ok(split) => split,
        Err(message) => return Ok(failure(message)),
    };
    let server = dir.join(slug).join("server.yaml");
    if !server.is_file() {
        let hint = format!("make the server first: mcpress new server {slug}{}", dir_flag(dir));
        return Ok(failure(format_args!("there is no `{}`\n  hint: {hint}", server.display())));
    }
    let starter = match (kind, extension) {
        (Kind::Static, "md") => page(name, "What this page says, and when to read it."),
        _ => {
            let uri = match uri_of(dir, slug, name) {
                Ok(uri) => uri,
                Err(diagnostics) => {
                    print(&diagnostics);
                    return Ok(FAILED.into());
                }
            };
            let starter = match kind {
                Kind::Static => include_str!("starters/static.yaml"),
                Kind::Url => include_str!("starters/url.yaml"),
                Kind::WpQuery => include_str!("starters/wp_query.yaml"),
            };
            let depth = 2 + name.matches('/').count();
            starter.replace("{schema}", &schema_path(depth, "resource")).replace("{uri}", &uri)
        }
    };
    let file = dir.join(slug).join("resources").join(format!("{name}.{extension}"));
    write_checked(dir, &[(file, starter)])
}

/// Writes files that are not there yet, and takes them away again if the tree has a fault that it had not before.
fn write_checked(dir: &Path, files: &[(PathBuf, String)]) -> io::Result<ExitCode> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Ok(failure(format_args!("`{}` is there already, and nothing was written", path.display())));
    }
    let before = diagnostics(dir);
    let mut written = Written::default();
    for (path, text) in files {
        if let Err(error) = written.add(path, text) {
            written.take_back()?;
            return Ok(failure(format_args!("cannot write `{}`: {error}", path.display())));
        }
    }
    let found: Vec<Diagnostic> = diagnostics(dir).difference(&before).cloned().collect();
    print(&found);
    if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        written.take_back()?;
        return Ok(failure("nothing was written, for the tree would not compile"));
    }
    unless_unread(say(dir, files))?;
    Ok(ExitCode::SUCCESS)
}

/// What this command made, in its order, and nothing that was there.
#[derive(Default)]
struct Written {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Written {
    /// Makes a file, and the folders that it needs.
    fn add(&mut self, path: &Path, text: &str) -> io::Result<()> {
        // The last ancestor of a relative path is the current folder, as an empty path.
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && folder.symlink_metadata().is_err();
        let missing: Vec<&Path> = path.ancestors().skip(1).take_while(is_missing).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.folders.push(folder.to_owned());
        }
        let mut file = File::create_new(path)?;
        self.files.push(path.to_owned());
        file.write_all(text.as_bytes())
    }

    /// Leaves everything as it was. A folder that somebody else has put something into by now stays.
    fn take_back(&self) -> io::Result<()> {
        for file in self.files.iter().rev() {
            fs::remove_file(file)?;
        }
        for folder in self.folders.iter().rev() {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn diagnostics(dir: &Path) -> BTreeSet<Diagnostic> {
    compile(dir).map_or_else(|all| all, |compiled| compiled.warnings).into_iter().collect()
}

/// What was written, and what to do next.
fn say(dir: &Path, files: &[(PathBuf, String)]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for (path, _) in files {
        writeln!(out, "wrote {}", shown(path))?;
    }
    writeln!(out, "next: edit it, then look at it with: mcpress dev{}", escape(&dir_argument(dir)))?;
    let schemas = schema_folder(dir);
    if !schemas.join(schema::file_name("server")).exists() {
        writeln!(out, "for completion in your editor: mcpress schema --out {}", shown(&schemas))?;
    }
    out.flush()
}

fn check_slug(slug: &str) -> Result<(), String> {
    if is_slug(slug) {
        return Ok(());
    }
    Err(format!(
        "`{slug}` is no slug\n  hint: a slug is 1 to 63 lower-case letters, digits and inner hyphens, such as `docs`"
    ))
}

/// The path without its extension, and the extension, which may be left out.
fn check_path(path: &str, kind: Kind) -> Result<(&str, &'static str), String> {
    let refuse = |reason: &str, hint: &str| Err(format!("`{path}` {reason}\n  hint: {hint}"));
    if path.split('/').any(|part| part.is_empty() || part.starts_with(['.', '_'])) {
        let hint = "give a path below `resources/`, such as `guides/intro`; names that begin with `.` or `_` are never \
                    content";
        return refuse("is no path of a resource", hint);
    }
    if path.contains(|character: char| character.is_control() || r#"\:*?"<>|{}#"#.contains(character)) {
        return refuse(
            "holds a character that not every system allows in names of files",
            "use letters, digits and `-`",
        );
    }
    let last = path.rsplit('/').next().unwrap_or(path);
    let (name, extension) = match last.rsplit_once('.') {
        Some((_, extension)) => (&path[..path.len() - extension.len() - 1], extension),
        None => (path, if kind == Kind::Static { "md" } else { "yaml" }),
    };
    match (kind, extension) {
        (Kind::Static, "md") => Ok((name, "md")),
        (_, "yaml") => Ok((name, "yaml")),
        (_, "yml") => Ok((name, "yml")),
        (Kind::Static, _) => {
            refuse("ends with neither `.md` nor `.yaml`", "any other file is a resource as it is: copy it there")
        }
        _ => refuse("does not end with `.yaml`", "only a definition can say that content is fetched"),
    }
}

fn page(name: &str, description: &str) -> String {
    let words = name.rsplit('/').next().unwrap_or(name).replace(['-', '_'], " ");
    let mut letters = words.chars();
    let title: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    include_str!("starters/page.md").replace("{title}", &title).replace("{description}", description)
}

/// The way to a schema from a file that lies so many folders below the tree: `schema/` stands beside the tree.
fn schema_path(depth: usize, name: &str) -> String {
    format!("{}schema/{}", "../".repeat(depth + 1), schema::file_name(name))
}

/// The folder beside the tree that editors are told to find schemas in.
fn schema_folder(dir: &Path) -> PathBuf {
    match (dir.parent(), dir.file_name()) {
        (Some(parent), Some(_)) => parent.join("schema"),
        _ => dir.join("..").join("schema"),
    }
}

fn dir_argument(dir: &Path) -> String {
    if dir.as_os_str() == OsStr::new("content") { String::new() } else { format!(" {}", dir.display()) }
}

fn dir_flag(dir: &Path) -> String {
    if dir.as_os_str() == OsStr::new("content") { String::new() } else { format!(" --dir {}", dir.display()) }
}
