//! [`Catalog`] → Rust source: the table that the binary is built from.

use std::fmt::{self, Write};

use mcpress_catalog::{Catalog, Server, Source, Span};

/// A catalog as the Rust source of an expression-free table, to be `include!`d beside the blob it describes.
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
    for (index, server) in catalog.servers.iter().enumerate() {
        write_tables(rust, catalog, index, server)?;
    }
    writeln!(rust, "static SERVERS: &[Server] = &[")?;
    for (index, server) in catalog.servers.iter().enumerate() {
        writeln!(rust, "    // {}", catalog.text(server.slug))?;
        writeln!(
            rust,
            "    Server {{ slug: {}, info: {}, brief_info: {}, instructions: {}, access: {}, ttl_ms: {}, \
             page_size: {}, resources: Cow::Borrowed(RESOURCES_{index}), aliases: Cow::Borrowed(ALIASES_{index}), \
             templates: Cow::Borrowed(TEMPLATES_{index}) }},",
            Range(server.slug),
            Range(server.info),
            Range(server.brief_info),
            Range(server.instructions),
            Range(server.access),
            server.ttl_ms,
            server.page_size,
        )?;
    }
    writeln!(rust, "];\nstatic PARTIALS: &[Partial] = &[")?;
    for partial in catalog.partials.iter() {
        let (name, source) = (Range(partial.name), Range(partial.source));
        writeln!(
            rust,
            "    Partial {{ name: {name}, source: {source} }}, // {}",
            catalog.text(partial.name).escape_debug()
        )?;
    }
    writeln!(
        rust,
        "];\n/// The compiled content.\npub(crate) static CATALOG: Catalog = Catalog {{ hash: {}, \
         servers: Cow::Borrowed(SERVERS), partials: Cow::Borrowed(PARTIALS), \
         blob: Bytes::from_static(include_bytes!(concat!(env!(\"OUT_DIR\"), \"/content.bin\"))) }};",
        Range(catalog.hash)
    )
}

fn write_tables(rust: &mut String, catalog: &Catalog, index: usize, server: &Server) -> fmt::Result {
    writeln!(rust, "static RESOURCES_{index}: &[Resource] = &[")?;
    for resource in server.resources.iter() {
        let (uri, item, ttl_ms) = (Range(resource.uri), Range(resource.item), resource.ttl_ms);
        let (kind, source) = match resource.source {
            Source::Static(span) => ("Static", Range(span)),
            Source::Live(span) => ("Live", Range(span)),
        };
        writeln!(
            rust,
            "    Resource {{ uri: {uri}, item: {item}, ttl_ms: {ttl_ms}, source: Source::{kind}({source}) }}, // {}",
            catalog.text(resource.uri).escape_debug()
        )?;
    }
    writeln!(rust, "];\nstatic ALIASES_{index}: &[Alias] = &[")?;
    for alias in server.aliases.iter() {
        let (normal, resource) = (Range(alias.normal), alias.resource);
        writeln!(
            rust,
            "    Alias {{ normal: {normal}, resource: {resource} }}, // {}",
            catalog.text(alias.normal).escape_debug()
        )?;
    }
    writeln!(rust, "];\nstatic TEMPLATES_{index}: &[Template] = &[")?;
    for template in server.templates.iter() {
        let (uri_template, item) = (Range(template.uri_template), Range(template.item));
        let (definition, ttl_ms) = (Range(template.definition), template.ttl_ms);
        writeln!(
            rust,
            "    Template {{ uri_template: {uri_template}, item: {item}, ttl_ms: {ttl_ms}, \
             definition: {definition} }}, // {}",
            catalog.text(template.uri_template).escape_debug()
        )?;
    }
    writeln!(rust, "];")
}

/// A range as Rust source.
struct Range(Span);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Span({}, {})", self.0.0, self.0.1)
    }
}
