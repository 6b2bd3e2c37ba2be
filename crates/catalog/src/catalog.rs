//! The catalog. Text and tables stand in one blob and are named by their range, so a catalog is small, has no lifetime,
//! and is the same whether it was compiled into the binary or read from disk a moment ago.

use std::borrow::Cow;

use bytes::Bytes;

use crate::table::{Row, Rows, Table};

/// A range of the blob: first byte and the one after the last.
///
/// Always 32 bits, because the machine that compiles and the machine that serves need not be of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span(pub u32, pub u32);

impl Span {
    /// True if the range holds nothing, which stands for "not given" wherever a text is optional.
    pub fn is_empty(self) -> bool {
        self.0 == self.1
    }
}

/// All servers of one content tree.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// SHA-256 of the content tree, 64 hex digits.
    pub hash: Span,
    /// Sorted by slug.
    pub servers: Cow<'static, [Server]>,
    /// The files below `_partials/`, sorted by name; empty unless some template is rendered at run time.
    pub partials: Table<Partial>,
    /// Whether answers may go out compressed.
    pub compression: bool,
    /// All text, in UTF-8 and most of it finished JSON; and all tables.
    pub blob: Bytes,
}

/// One MCP server, served at `/mcp/{slug}`.
#[derive(Clone, Debug)]
pub struct Server {
    /// The folder's name.
    pub slug: Span,
    /// `Implementation` as JSON, with all its members.
    pub info: Span,
    /// `Implementation` as JSON with `name`, `title` and `version` only: it rides on every result of 2026-07-28.
    pub brief_info: Span,
    /// `instructions` as a JSON string; empty if there are none.
    pub instructions: Span,
    /// A [`crate::access::Access`] as JSON; empty if everybody may ask, as often as they like.
    pub access: Span,
    /// How long a list may be kept by a client, in milliseconds.
    pub ttl_ms: u64,
    /// Entries in one page of a list; 0: all of them.
    pub page_size: u32,
    /// Sorted by the bytes of their URIs. Their `item` ranges follow each other in the blob with one comma between,
    /// so that any page of the list is one slice of it.
    pub resources: Table<Resource>,
    /// The resources whose URI is not in RFC 3986 normal form, sorted by that form.
    pub aliases: Table<Alias>,
    /// The more literal first, which is the order in which they are tried. Their `item` ranges follow each other as
    /// those of `resources` do.
    pub templates: Table<Template>,
    /// The pages of `resources/list` in other codings, in their order; no row at all if nothing was encoded.
    pub resource_pages: Table<Encoded>,
    /// The pages of `resources/templates/list`, likewise.
    pub template_pages: Table<Encoded>,
}

impl Server {
    /// Entries in one page of a list that has `len`.
    pub fn page_len(&self, len: usize) -> usize {
        match self.page_size {
            0 => len.max(1),
            size => size as usize,
        }
    }
}

/// An entry of `resources/list`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The URI, as listed.
    pub uri: Span,
    /// The `Resource` object of the list, as JSON.
    pub item: Span,
    /// How long a client may keep what it read, in milliseconds.
    pub ttl_ms: u64,
    /// Where the contents come from.
    pub source: Source,
    /// The contents in other codings, if they are static.
    pub encoded: Encoded,
}

/// Where the contents of a resource come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The finished `contents` array of the result, as JSON.
    Static(Span),
    /// A [`crate::source::Definition`] as JSON, resolved at each read.
    Live(Span),
}

/// A piece of JSON in other content codings, ready to be put between what is made for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Blocks of a deflate stream ([RFC 1951](https://www.rfc-editor.org/rfc/rfc1951)) none of which is the last, up to
    /// a whole byte; empty where that would not pay.
    pub deflate: Span,
    /// Blocks of a zstd frame ([RFC 8878](https://www.rfc-editor.org/rfc/rfc8878)) none of which is the last; empty
    /// where that would not pay.
    pub zstd: Span,
    /// The CRC-32 of the JSON, as gzip has it.
    pub crc32: u32,
}

/// A URI that is not in normal form, and the resource it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct Alias {
    /// The normal form of the URI.
    pub normal: Span,
    /// Index into [`Server::resources`].
    pub resource: u32,
}

/// An entry of `resources/templates/list`.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// The RFC 6570 template.
    pub uri_template: Span,
    /// The `ResourceTemplate` object of the list, as JSON.
    pub item: Span,
    /// How long a client may keep what it read, in milliseconds.
    pub ttl_ms: u64,
    /// A [`crate::source::Definition`] as JSON.
    pub definition: Span,
}

/// A minijinja file that other templates may include.
#[derive(Clone, Copy, Debug)]
pub struct Partial {
    /// Path below `_partials/`, with `/` on every platform.
    pub name: Span,
    /// Its text.
    pub source: Span,
}

impl Catalog {
    /// The bytes of a range, sharing the blob's memory.
    pub fn bytes(&self, span: Span) -> Bytes {
        self.blob.slice(span.0 as usize..span.1 as usize)
    }

    /// The text of a range.
    pub fn text(&self, span: Span) -> &str {
        std::str::from_utf8(self.raw(span)).unwrap_or_default()
    }

    /// The server of a slug.
    pub fn server(&self, slug: &str) -> Option<&Server> {
        let index = self.servers.binary_search_by(|server| self.raw(server.slug).cmp(slug.as_bytes()));
        index.ok().map(|index| &self.servers[index])
    }

    /// The rows of a table.
    pub fn rows<R: Row>(&self, table: Table<R>) -> Rows<'_, R> {
        Rows::new(self.raw(table.span()))
    }

    /// The resource of a URI: the one listed with exactly this URI, else the one that is the same by
    /// [RFC 3986 section 6.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2) (clients that parse URIs lower
    /// the case of the host and rewrite percent-encoding before they send them back).
    pub fn resource(&self, server: &Server, uri: &str) -> Option<Resource> {
        self.listed(server, uri).or_else(|| {
            let normal = crate::uri::normalize(uri)?;
            self.listed(server, &normal).or_else(|| self.alias(server, &normal))
        })
    }

    fn listed(&self, server: &Server, uri: &str) -> Option<Resource> {
        self.rows(server.resources).search(|resource| self.raw(resource.uri).cmp(uri.as_bytes()))
    }

    fn alias(&self, server: &Server, normal: &str) -> Option<Resource> {
        let alias = self.rows(server.aliases).search(|alias| self.raw(alias.normal).cmp(normal.as_bytes()))?;
        self.rows(server.resources).get(alias.resource as usize)
    }

    fn raw(&self, span: Span) -> &[u8] {
        &self.blob[span.0 as usize..span.1 as usize]
    }
}
