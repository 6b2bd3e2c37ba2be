//! [`Catalog`] → Rust source: the table of servers that the binary is built from.

use std::fmt::{self, Write};

use mcpress_catalog::{Catalog, Server, Span};

/// A catalog as the Rust source of a table of numbers, to be `include!`d beside the blob it describes.
///
/// Defines `pub(crate) static CATALOG: Catalog`, whose blob is `include_bytes!` of `content.bin` in `OUT_DIR`.
pub fn emit(catalog: &Catalog) -> String {
    let mut rust = String::new();
    // Writing to a `String` cannot fail.
    let _ = write_catalog(&mut rust, catalog);
    rust
}

fn write_catalog(rust: &mut String, catalog: &Catalog) -> fmt::Result {
    writeln!(rust, "// Content {}.", catalog.text(catalog.hash))?;
    writeln!(rust, "static SERVERS: &[Server] = &[")?;
    for server in catalog.servers.iter() {
        writeln!(rust, "    // {}: {} resources", catalog.text(server.slug), catalog.rows(server.resources).len())?;
        write_server(rust, server)?;
    }
    let compression = catalog.compression;
    let (hash, partials) = (Range(catalog.hash), Range(catalog.partials.span()));
    writeln!(
        rust,
        "];\n/// The compiled content.\npub(crate) static CATALOG: Catalog = Catalog {{ hash: {hash}, \
         servers: Cow::Borrowed(SERVERS), partials: Table::new({partials}), \
         compression: {compression}, \
         blob: Bytes::from_static(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/content.bin\"))) }};"
    )
}

fn write_server(rust: &mut String, server: &Server) -> fmt::Result {
    let (slug, info, brief_info) = (Range(server.slug), Range(server.info), Range(server.brief_info));
    let (instructions, access) = (Range(server.instructions), Range(server.access));
    let (ttl_ms, page_size) = (server.ttl_ms, server.page_size);
    let (resources, aliases, templates) =
        (Range(server.resources.span()), Range(server.aliases.span()), Range(server.templates.span()));
    let (resource_pages, template_pages) = (Range(server.resource_pages.span()), Range(server.template_pages.span()));
    writeln!(
        rust,
        "    Server {{ slug: {slug}, info: {info}, brief_info: {brief_info}, instructions: {instructions}, \
         access: {access}, ttl_ms: {ttl_ms}, page_size: {page_size}, resources: Table::new({resources}), \
         aliases: Table::new({aliases}), templates: Table::new({templates}), \
         resource_pages: Table::new({resource_pages}), template_pages: Table::new({template_pages}) }},"
    )
}

/// A range as Rust source.
struct Range(Span);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Span({}, {})", self.0.0, self.0.1)
    }
}
