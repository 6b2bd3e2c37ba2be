//! `mcpress list`: what the program serves.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use mcpress_catalog::{Catalog, Server, Span};
use serde::Serialize;
use serde_json::value::RawValue;

use super::{failure, unless_unread};

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
        let uris = catalog.rows(server.resources).iter().map(|resource| resource.uri);
        let templates = catalog.rows(server.templates).iter().map(|template| template.uri_template);
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
            resources: catalog
                .rows(server.resources)
                .iter()
                .map(|resource| item(resource.item))
                .collect::<Result<_, _>>()?,
            resource_templates: catalog
                .rows(server.templates)
                .iter()
                .map(|template| item(template.item))
                .collect::<Result<_, _>>()?,
        })
    }
}
