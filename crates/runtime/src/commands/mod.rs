//! The commands, a module for each. What they give out goes to stdout, what they have to say about it
//! to stderr.

mod check;
mod dev;
mod diff;
mod import;
mod list;
mod new;
mod read;
mod schema;
mod serve;
mod token;

use std::{
    fmt::Display,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use mcpress_catalog::Catalog;
pub(crate) use mcpress_compiler::escape;
use mcpress_compiler::{Compiled, Diagnostic, compile};

use crate::{
    config::{Fetch, environment},
    fetch::Fetcher,
    mcp::Surroundings,
};

pub(crate) use self::{
    check::{check, check_live, compiled},
    dev::dev,
    diff::diff,
    import::getmcp,
    list::list,
    new::{new_resource, new_server},
    read::read,
    schema::{print_schema, write_schemas},
    serve::serve_compiled,
    token::token,
};

/// A failed command ends with 1; bad usage, and what stops the start, with 2.
pub(crate) const FAILED: u8 = 1;
pub(crate) const UNUSABLE: u8 = 2;
/// What was asked for is done, and there is something to look at: `import` left something out, `diff` was asked to tell.
pub(crate) const DIFFERENT: u8 = 3;

/// What stands between a message and its hint.
const HINT: &str = "\n  hint: ";

/// The catalog of a tree; nothing if it has errors. Either way it says what it found.
fn load(dir: &Path) -> Option<Catalog> {
    let (catalog, diagnostics) = match compile(dir) {
        Ok(Compiled { catalog, warnings }) => (Some(catalog), warnings),
        Err(diagnostics) => (None, diagnostics),
    };
    print(&diagnostics);
    catalog
}

/// What a site needs beside its catalog.
pub(crate) fn surroundings(flags: &Fetch, subscriptions: usize) -> io::Result<Surroundings> {
    let fetcher = Fetcher::new(&flags.config()).map_err(io::Error::other)?;
    Ok(Surroundings { fetcher, environment: environment(), subscriptions, reloads: false })
}

/// That whoever read the output has had enough of it is no failure, and hides none.
pub(crate) fn unless_unread(written: io::Result<()>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Messages that cannot be written are lost; the exit code still says what they would have.
fn print(diagnostics: &[Diagnostic]) {
    let mut err = io::stderr().lock();
    let _ = diagnostics.iter().try_for_each(|diagnostic| writeln!(err, "{}: {diagnostic}", diagnostic.severity));
}

/// A text that somebody else chose, on one line and cut off where it is long: nothing in it moves what stands around it.
fn printable(text: &str) -> String {
    const LONGEST: usize = 500;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => escape(&text[..end]) + "…",
        None => escape(text),
    }
}

/// A path that was given, on one line.
fn shown(path: &Path) -> String {
    escape(&path.to_string_lossy())
}

fn failure(message: impl Display) -> ExitCode {
    error(message);
    FAILED.into()
}

fn unusable(message: impl Display) -> ExitCode {
    error(message);
    UNUSABLE.into()
}

/// Messages name what was given to the program, which may hold line ends; only the hint has a line of its own.
pub(crate) fn error(message: impl Display) {
    let message = message.to_string();
    let lines: Vec<String> = message.split(HINT).map(escape).collect();
    let _ = writeln!(io::stderr(), "error: {}", lines.join(HINT));
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn what_others_chose_stays_on_its_line() {
        assert_eq!(printable("a\nb\r\u{1b}[31m\u{202e}é"), r"a\nb\r\u{1b}[31m\u{202e}é");
        assert_eq!(printable(&"x".repeat(600)).chars().count(), 501);
    }
}
