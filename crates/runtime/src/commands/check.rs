//! `mcpress check`: what is wrong with a tree, and with `--live` which of its entries cannot be fetched.

use std::{
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use mcpress_catalog::Catalog;
use mcpress_compiler::{Compiled, Diagnostic, Severity, compile};

use super::{FAILED, print, printable, unless_unread};
use crate::{config::Format, mcp::Site};

/// Compiles a tree only to say what is wrong with it, or which content it is.
pub(crate) fn check(dir: &Path, format: Format, deny_warnings: bool) -> io::Result<ExitCode> {
    let (hash, diagnostics) = match compile(dir) {
        Ok(Compiled { catalog, warnings }) => (Some(catalog.text(catalog.hash).to_owned()), warnings),
        Err(diagnostics) => (None, diagnostics),
    };
    let fails = |diagnostic: &Diagnostic| deny_warnings || diagnostic.severity == Severity::Error;
    let failed = diagnostics.iter().any(fails);
    match format {
        Format::Text => {
            print(&diagnostics);
            if let Some(hash) = hash.filter(|_| !failed) {
                unless_unread(writeln!(io::stdout(), "content {hash}"))?;
            }
        }
        Format::Json => {
            let mut out = io::stdout().lock();
            let written = serde_json::to_writer_pretty(&mut out, &diagnostics).map_err(io::Error::from);
            unless_unread(written.and_then(|()| writeln!(out)))?;
        }
    }
    Ok(if failed { FAILED.into() } else { ExitCode::SUCCESS })
}

/// The catalog of a tree that was checked.
pub(crate) fn compiled(dir: &Path) -> Option<Catalog> {
    compile(dir).ok().map(|compiled| compiled.catalog)
}

/// Reads each fetched entry once.
pub(crate) async fn check_live(site: &Site) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let (mut tried, mut failed) = (0, 0);
    for (slug, uri) in site.fetched() {
        tried += 1;
        match site.read(slug, &uri).await {
            Ok(contents) => unless_unread(writeln!(out, "ok      {uri} ({} bytes)", contents.len()))?,
            Err(message) => {
                failed += 1;
                unless_unread(writeln!(out, "failed  {uri}: {}", printable(&message)))?;
            }
        }
    }
    unless_unread(writeln!(out, "{} of {tried} entries can be read", tried - failed))?;
    Ok(if failed > 0 { FAILED.into() } else { ExitCode::SUCCESS })
}
