//! The commands beside `serve`, a module for each. What they give out goes to stdout, what they have to say about it
//! to stderr.

mod check;
mod list;
mod read;
mod token;

use std::{
    fmt::Display,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use mcpress_catalog::Catalog;
use mcpress_compiler::{Compiled, Diagnostic, compile};

pub(crate) use self::{
    check::{check, check_live, compiled},
    list::list,
    read::read,
    token::token,
};

/// A failed command ends with 1; bad usage, and what stops the start, with 2.
pub(crate) const FAILED: u8 = 1;
pub(crate) const UNUSABLE: u8 = 2;

/// Compiles a tree to serve it; without one if it has errors. Either way it says what it found.
pub(crate) fn load(dir: &Path) -> Option<Catalog> {
    let (catalog, diagnostics) = match compile(dir) {
        Ok(Compiled { catalog, warnings }) => (Some(catalog), warnings),
        Err(diagnostics) => (None, diagnostics),
    };
    print(&diagnostics);
    catalog
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

fn failure(message: impl Display) -> ExitCode {
    let _ = writeln!(io::stderr(), "error: {message}");
    FAILED.into()
}
