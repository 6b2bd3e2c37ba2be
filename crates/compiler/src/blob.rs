//! Entries → [`Catalog`]: everything as finished JSON in one blob, and tables of ranges.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use mcpress_catalog::{
    Alias, Catalog, Encoded, Partial, Resource, Server, Source, Span, Template, protocol, result,
    table::{self, Row, Table},
    uri, uri_template,
};

use crate::{
    content::Payload,
    identity::Uri,
    resource::{Body, Entry},
    server,
    site::Lowered,
};

/// The blob is larger than 4 GiB, which ranges of 32 bits cannot name.
#[derive(Debug)]
pub struct TooLarge;

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the compiled content is larger than 4 GiB")
    }
}

impl std::error::Error for TooLarge {}

/// Writes the blob and the tables.
pub(crate) fn write(lowered: Lowered<'_>) -> Result<Catalog, TooLarge> {
    write_within(u32::MAX as usize, lowered)
}

fn write_within(limit: usize, lowered: Lowered<'_>) -> Result<Catalog, TooLarge> {
    let mut blob = Blob::default();
    let hash = blob.text(&lowered.hash);
    let mut servers = Vec::with_capacity(lowered.servers.len());
    let mut rendered_at_run_time = false;
    for (server, entries) in lowered.servers {
        rendered_at_run_time |= entries.iter().any(|entry| matches!(entry.body, Body::Live(_)));
        servers.push(write_server(&mut blob, &server, entries));
    }
    let mut partials = Vec::new();
    if rendered_at_run_time {
        for (name, source) in lowered.partials {
            partials.push(Partial { name: blob.text(name), source: blob.text(source) });
        }
    }
    let partials = blob.table(partials);
    if blob.bytes.len() > limit {
        return Err(TooLarge);
    }
    Ok(Catalog {
        hash,
        servers: Cow::Owned(servers),
        partials,
        compression: lowered.compression,
        blob: Bytes::from(blob.bytes),
    })
}

fn write_server(blob: &mut Blob, server: &server::Server, entries: Vec<Entry<'_>>) -> Server {
    let brief = protocol::Implementation {
        name: &server.name,
        title: server.title.as_deref(),
        version: &server.version,
        description: None,
        website_url: None,
        icons: &[],
    };
    let info = protocol::Implementation {
        description: server.description.as_deref(),
        website_url: server.website_url.as_deref(),
        icons: &server.icons,
        ..brief
    };
    let instructions = server.instructions.as_deref().map(result::to_json).unwrap_or_default();
    let access = server.access.as_ref().map(result::to_json).unwrap_or_default();
    let (mut resources, mut templates): (Vec<_>, Vec<_>) =
        entries.into_iter().partition(|entry| matches!(entry.uri, Uri::Resource(_)));
    resources.sort_by(|a, b| uri_of(a).cmp(uri_of(b)));
    templates.sort_by_key(|entry| {
        let literal = uri_template::Template::parse(uri_of(entry)).map_or(0, |template| template.literal_len());
        (std::cmp::Reverse(literal), uri_of(entry).to_owned())
    });
    Server {
        slug: blob.text(&server.slug),
        info: blob.bytes(&result::to_json(&info)),
        brief_info: blob.bytes(&result::to_json(&brief)),
        instructions: blob.bytes(&instructions),
        access: blob.bytes(&access),
        ttl_ms: server.ttl_ms,
        page_size: server.page_size,
        aliases: aliases(blob, &resources),
        resources: write_resources(blob, &resources),
        templates: write_templates(blob, &templates),
        resource_pages: Table::default(),
        template_pages: Table::default(),
    }
}

fn uri_of<'a>(entry: &'a Entry<'_>) -> &'a str {
    let (Uri::Resource(uri) | Uri::Template(uri)) = &entry.uri;
    uri
}

fn write_resources(blob: &mut Blob, entries: &[Entry<'_>]) -> Table<Resource> {
    let mut items = Vec::with_capacity(entries.len());
    for entry in entries {
        let size = match &entry.body {
            Body::Static(content) => Some(match &content.payload {
                Payload::Text(text) => text.len() as u64,
                Payload::Blob(bytes) => bytes.len() as u64,
            }),
            Body::Live(_) => None,
        };
        let item = protocol::Resource { uri: uri_of(entry), described: described(entry), size };
        items.push(blob.item(&result::to_json(&item), items.is_empty()));
    }
    let mut resources = Vec::with_capacity(entries.len());
    for (entry, item) in entries.iter().zip(items) {
        // A URI holds nothing that JSON escapes, so it stands in the item as it is, behind `{"uri":"`.
        let start = item.0 + r#"{"uri":""#.len() as u32;
        let uri = Span(start, start + uri_of(entry).len() as u32);
        let source = match &entry.body {
            Body::Static(content) => {
                let contents = result::ResourceContents {
                    uri: uri_of(entry),
                    mime_type: Some(&content.mime_type),
                    payload: match &content.payload {
                        Payload::Text(text) => result::Payload::Text(text),
                        Payload::Blob(bytes) => result::Payload::Blob(bytes),
                    },
                    meta: entry.described.meta.as_ref(),
                };
                Source::Static(blob.bytes(&result::contents(&contents)))
            }
            Body::Live(definition) => Source::Live(blob.bytes(&result::to_json(definition))),
        };
        resources.push(Resource { uri, item, ttl_ms: entry.ttl_ms, source, encoded: Encoded::default() });
    }
    blob.table(resources)
}

fn write_templates(blob: &mut Blob, entries: &[Entry<'_>]) -> Table<Template> {
    let mut items = Vec::with_capacity(entries.len());
    for entry in entries {
        let item = protocol::ResourceTemplate { uri_template: uri_of(entry), described: described(entry) };
        items.push(blob.item(&result::to_json(&item), items.is_empty()));
    }
    let mut templates = Vec::with_capacity(entries.len());
    for (entry, item) in entries.iter().zip(items) {
        let Body::Live(definition) = &entry.body else { continue };
        templates.push(Template {
            uri_template: blob.text(uri_of(entry)),
            item,
            ttl_ms: entry.ttl_ms,
            definition: blob.bytes(&result::to_json(definition)),
        });
    }
    blob.table(templates)
}

/// The normal forms of those URIs that are not in normal form. `entries` is sorted by URI.
fn aliases(blob: &mut Blob, entries: &[Entry<'_>]) -> Table<Alias> {
    let listed = |uri: &str| entries.binary_search_by(|entry| uri_of(entry).cmp(uri)).is_ok();
    let mut forms: Vec<(String, u32)> = (0..)
        .zip(entries)
        .filter_map(|(index, entry)| Some((uri::normalize(uri_of(entry))?, index)))
        // Also leaves out the URIs that are their own normal form.
        .filter(|(normal, _)| !listed(normal))
        .collect();
    forms.sort();
    forms.dedup_by(|later, first| later.0 == first.0);
    let aliases: Vec<Alias> =
        forms.into_iter().map(|(normal, resource)| Alias { normal: blob.text(&normal), resource }).collect();
    blob.table(aliases)
}

fn described<'a>(entry: &'a Entry<'_>) -> protocol::Described<'a> {
    let described = &entry.described;
    protocol::Described {
        name: &entry.name,
        title: described.title.as_deref(),
        description: described.description.as_deref(),
        mime_type: described.mime_type.as_deref(),
        annotations: described.annotations.as_ref(),
        icons: described.icons.as_deref().unwrap_or_default(),
        meta: described.meta.as_ref(),
    }
}

#[derive(Default)]
struct Blob {
    bytes: Vec<u8>,
}

impl Blob {
    fn bytes(&mut self, bytes: &[u8]) -> Span {
        // Offsets that do not fit are found once, by the size of the whole.
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        Span(start, self.bytes.len() as u32)
    }

    fn table<R: Row>(&mut self, rows: impl IntoIterator<Item = R>) -> Table<R> {
        Table::new(self.bytes(&table::to_bytes(rows)))
    }

    fn text(&mut self, text: &str) -> Span {
        self.bytes(text.as_bytes())
    }

    /// An item of a list: all but the first have a comma before them, which is not part of the range.
    fn item(&mut self, json: &[u8], first: bool) -> Span {
        if !first {
            self.bytes(b",");
        }
        self.bytes(json)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_beyond_the_limit_is_refused() {
        let lowered = || Lowered { hash: "0".repeat(64), compression: true, servers: Vec::new(), partials: Vec::new() };
        assert_eq!(write_within(64, lowered()).unwrap().blob.len(), 64);
        assert!(matches!(write_within(63, lowered()), Err(TooLarge)));
    }
}
