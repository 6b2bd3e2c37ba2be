//! `mcpress diff`: what differs between two content trees, as clients would see it. They are compared as catalogs, so
//! a file that moved without changing what is served is no difference.

mod changes;
mod markdown;
mod text;

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use mcpress_catalog::Catalog;
use mcpress_compiler::{Severity, compile};

use self::changes::Changes;
use super::{DIFFERENT, FAILED, print, printable, unless_unread};
use crate::config::DiffFormat;

/// Compares two trees. Ends with 0 whether they differ or not, unless the exit code is to tell.
pub(crate) fn diff(old: &Path, new: &Path, format: DiffFormat, exit_code: bool) -> io::Result<ExitCode> {
    let (old, new) = (before(old), catalog(new));
    let Some(new) = new else { return Ok(FAILED.into()) };
    let changes = Changes::between(&old, &new);
    let text = match format {
        DiffFormat::Text => text::write(&changes),
        DiffFormat::Markdown => markdown::write(&changes),
        DiffFormat::Json => format!("{}\n", serde_json::to_string_pretty(&changes)?),
    };
    unless_unread(io::stdout().lock().write_all(text.as_bytes()))?;
    Ok(if exit_code && !changes.is_empty() { DIFFERENT.into() } else { ExitCode::SUCCESS })
}

/// The catalog of the tree that there was. The first tree follows none, and one may mend another that does not compile,
/// so then there is nothing to compare with, and all that is new was added.
fn before(dir: &Path) -> Catalog {
    let before = if dir.exists() { catalog(dir) } else { None };
    before.unwrap_or_else(|| {
        let _ = writeln!(
            io::stderr(),
            "nothing to compare with: there is no tree `{}` that compiles",
            printable(&dir.to_string_lossy())
        );
        Catalog::default()
    })
}

/// The catalog of a tree; without one if it has errors, which are printed. Its warnings are no matter of a comparison.
fn catalog(dir: &Path) -> Option<Catalog> {
    match compile(dir) {
        Ok(compiled) => Some(compiled.catalog),
        Err(mut diagnostics) => {
            diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
            print(&diagnostics);
            None
        }
    }
}
