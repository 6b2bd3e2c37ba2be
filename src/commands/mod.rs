//! The commands, a module for each. What they give out goes to stdout, what they have to say about it
//! to stderr.

mod check;
mod dev;
mod list;
mod read;
mod serve;

use std::{
    fmt::Display,
    io::{self, Write},
    process::ExitCode,
};

use mcpress::{fetch::Fetcher, mcp::Surroundings};
use mcpress_compiler::Diagnostic;

use crate::config::{Fetch, environment};

pub(crate) use self::{
    check::{check, check_live, compiled},
    dev::dev,
    list::list,
    read::read,
    serve::serve_compiled,
};

/// A failed command ends with 1; bad usage, and what stops the start, with 2.
pub(crate) const FAILED: u8 = 1;
pub(crate) const UNUSABLE: u8 = 2;

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

fn failure(message: impl Display) -> ExitCode {
    error(message);
    FAILED.into()
}

fn unusable(message: impl Display) -> ExitCode {
    error(message);
    UNUSABLE.into()
}

fn error(message: impl Display) {
    let _ = writeln!(io::stderr(), "error: {message}");
}
