//! The commands that print and end: `list`, `read` and `check`. What they give out goes to stdout, what they have to
//! say about it to stderr.

use std::{
    fmt::Display,
    io::{self, Write},
    path::Path,
    process::ExitCode,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use mcpress::mcp::Site;
use mcpress_catalog::{Catalog, Server, Span};
use mcpress_compiler::{Compiled, Diagnostic, Severity, compile};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::config::Format;

/// A failed command ends with 1; bad usage, and what stops the start, with 2.
pub(crate) const FAILED: u8 = 1;
pub(crate) const UNUSABLE: u8 = 2;

/// Lists the entries of one server, or of all.
pub(crate) fn list(catalog: &Catalog, slug: Option<&str>, json: bool) -> io::Result<ExitCode> {
    let servers: Vec<&Server> = match slug {
        None => catalog.servers.iter().collect(),
        Some(slug) => match catalog.server(slug) {
            Some(server) => vec![server],
            None => return Ok(failure(format_args!("there is no server `{slug}`"))),
        },
    };
    unless_unread(if json { print_json(catalog, &servers) } else { print_uris(catalog, &servers) })?;
    Ok(ExitCode::SUCCESS)
}

fn print_json(catalog: &Catalog, servers: &[&Server]) -> io::Result<()> {
    let servers = servers.iter().map(|server| Listed::new(catalog, server)).collect::<Result<Vec<_>, _>>()?;
    let mut out = io::stdout().lock();
    serde_json::to_writer_pretty(&mut out, &servers)?;
    writeln!(out)?;
    out.flush()
}

fn print_uris(catalog: &Catalog, servers: &[&Server]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for server in servers {
        writeln!(out, "/mcp/{}", catalog.text(server.slug))?;
        let uris = server.resources.iter().map(|resource| resource.uri);
        let templates = server.templates.iter().map(|template| template.uri_template);
        for uri in uris.chain(templates) {
            writeln!(out, "  {}", catalog.text(uri))?;
        }
    }
    out.flush()
}

/// A server as `list --json` prints it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    slug: &'a str,
    resources: Vec<&'a RawValue>,
    resource_templates: Vec<&'a RawValue>,
}

impl<'a> Listed<'a> {
    fn new(catalog: &'a Catalog, server: &Server) -> serde_json::Result<Self> {
        let item = |item: Span| serde_json::from_str(catalog.text(item));
        Ok(Self {
            slug: catalog.text(server.slug),
            resources: server.resources.iter().map(|resource| item(resource.item)).collect::<Result<_, _>>()?,
            resource_templates: server
                .templates
                .iter()
                .map(|template| item(template.item))
                .collect::<Result<_, _>>()?,
        })
    }
}

/// Writes what a client would read, as the bytes that it stands for.
pub(crate) async fn read(site: &Site, slug: &str, uri: &str) -> io::Result<ExitCode> {
    let contents = match site.read(slug, uri).await {
        Ok(contents) => contents,
        Err(message) => return Ok(failure(message)),
    };
    let contents: Vec<serde_json::Value> = serde_json::from_slice(&contents)?;
    unless_unread(write_contents(&contents))?;
    Ok(ExitCode::SUCCESS)
}

fn write_contents(contents: &[serde_json::Value]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for content in contents {
        match (content["text"].as_str(), content["blob"].as_str()) {
            (Some(text), _) => out.write_all(text.as_bytes())?,
            (None, blob) => out.write_all(&STANDARD.decode(blob.unwrap_or_default()).map_err(io::Error::other)?)?,
        }
    }
    out.flush()
}

/// Compiles a tree only to say what is wrong with it.
pub(crate) fn check(dir: &Path, format: Format, deny_warnings: bool) -> io::Result<ExitCode> {
    let diagnostics = match compile(dir) {
        Ok(compiled) => compiled.warnings,
        Err(diagnostics) => diagnostics,
    };
    match format {
        Format::Text => print(&diagnostics),
        Format::Json => {
            let mut out = io::stdout().lock();
            let written = serde_json::to_writer_pretty(&mut out, &diagnostics).map_err(io::Error::from);
            unless_unread(written.and_then(|()| writeln!(out)))?;
        }
    }
    let fails = |diagnostic: &Diagnostic| deny_warnings || diagnostic.severity == Severity::Error;
    Ok(if diagnostics.iter().any(fails) { FAILED.into() } else { ExitCode::SUCCESS })
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
                unless_unread(writeln!(out, "failed  {uri}: {message}"))?;
            }
        }
    }
    unless_unread(writeln!(out, "{} of {tried} entries can be read", tried - failed))?;
    Ok(if failed > 0 { FAILED.into() } else { ExitCode::SUCCESS })
}

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
