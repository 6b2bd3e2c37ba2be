//! What differs between two catalogs: servers by their slugs, entries by their URIs. A renamed entry is one that was
//! removed and one that was added.

use std::{collections::BTreeMap, fmt};

use mcpress_catalog::{
    Catalog, Server, Source, Span,
    source::{Definition, Source as LiveSource},
};
use serde::Serialize;
use serde_json::{Map, Value};

/// All differences, sorted.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changes {
    /// The hashes of the two trees; that of the old one is empty if there was nothing to compare with.
    pub(super) hash: Pair<String>,
    /// The servers that differ.
    pub(super) servers: Vec<ServerChange>,
    /// The partials that differ and are rendered at reads.
    pub(super) partials: Vec<PartialChange>,
}

/// A server that was added, removed, or changed in itself or in its entries.
#[derive(Debug, Serialize)]
pub(super) struct ServerChange {
    pub(super) slug: String,
    pub(super) status: Status,
    /// What changed of the server itself, by MCP's names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<String>,
    pub(super) entries: Vec<EntryChange>,
}

/// A resource or template that was added, removed or changed.
#[derive(Debug, Serialize)]
pub(super) struct EntryChange {
    pub(super) status: Status,
    pub(super) kind: Kind,
    pub(super) uri: String,
    /// Its title, the newer one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    /// Where its contents come from.
    pub(super) source: Pair<Option<&'static str>>,
    /// Bytes of static contents.
    pub(super) size: Pair<Option<u64>>,
    /// What changed: members by MCP's names, `contents`, `source`, `definition`, `variables`, `ttl`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) changed: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct PartialChange {
    pub(super) status: Status,
    pub(super) name: String,
}

/// What something was and is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Pair<T> {
    pub(super) old: T,
    pub(super) new: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Status {
    Added,
    Removed,
    Changed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Resource,
    Template,
}

/// How many entries were added, removed and changed.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    added: usize,
    removed: usize,
    changed: usize,
}

impl Changes {
    pub(super) fn between(old: &Catalog, new: &Catalog) -> Self {
        let servers = |catalog: &'_ Catalog| -> BTreeMap<String, Server> {
            catalog.servers.iter().map(|server| (catalog.text(server.slug).to_owned(), server.clone())).collect()
        };
        let servers = matched(servers(old), servers(new)).into_iter().filter_map(|(slug, (was, is))| {
            let changed = match (&was, &is) {
                (Some(was), Some(is)) => server_members((old, was), (new, is)),
                _ => Vec::new(),
            };
            let status = status(was.is_some(), is.is_some());
            let entries = entries(old, was.as_ref(), new, is.as_ref());
            let differs = status != Status::Changed || !changed.is_empty() || !entries.is_empty();
            differs.then_some(ServerChange { slug, status, changed, entries })
        });
        let partials = |catalog: &'_ Catalog| -> BTreeMap<String, String> {
            let partials = catalog.rows(catalog.partials).iter();
            partials.map(|partial| (catalog.text(partial.name).into(), catalog.text(partial.source).into())).collect()
        };
        let partials = matched(partials(old), partials(new)).into_iter().filter(|(_, (was, is))| was != is);
        Self {
            hash: Pair { old: old.text(old.hash).to_owned(), new: new.text(new.hash).to_owned() },
            servers: servers.collect(),
            partials: partials
                .map(|(name, (was, is))| PartialChange { status: status(was.is_some(), is.is_some()), name })
                .collect(),
        }
    }

    /// True if clients would not see a difference.
    pub(super) fn is_empty(&self) -> bool {
        self.servers.is_empty() && self.partials.is_empty()
    }

    pub(super) fn counts(&self) -> Counts {
        Counts::of(self.servers.iter().flat_map(|server| &server.entries))
    }
}

impl ServerChange {
    pub(super) fn counts(&self) -> Counts {
        Counts::of(&self.entries)
    }
}

impl Counts {
    fn of<'a>(entries: impl IntoIterator<Item = &'a EntryChange>) -> Self {
        let mut counts = Self::default();
        for entry in entries {
            match entry.status {
                Status::Added => counts.added += 1,
                Status::Removed => counts.removed += 1,
                Status::Changed => counts.changed += 1,
            }
        }
        counts
    }
}

/// `2 added, 1 removed`; what is 0 is not named, unless all are.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.added, "added"), (self.removed, "removed"), (self.changed, "changed")];
        let named: Vec<_> = counts.iter().filter(|(count, _)| *count > 0).collect();
        if named.is_empty() {
            return f.write_str("no entry differs");
        }
        let named: Vec<String> = named.iter().map(|(count, name)| format!("{count} {name}")).collect();
        f.write_str(&named.join(", "))
    }
}

/// An entry of either list, to be compared.
struct Entry {
    item: Map<String, Value>,
    /// Without one, that of the server.
    ttl_ms: Option<u64>,
    source: Payload,
}

enum Payload {
    /// The text, or the base64 of the bytes.
    Static(Option<Value>),
    Live(Option<Box<Definition>>),
}

fn entries(old: &Catalog, was: Option<&Server>, new: &Catalog, is: Option<&Server>) -> Vec<EntryChange> {
    let listed = |catalog: &Catalog, server: Option<&Server>| server.map(|server| listed(catalog, server));
    let all = matched(listed(old, was).unwrap_or_default(), listed(new, is).unwrap_or_default());
    let changes = all.into_iter().filter_map(|((kind, uri), (was, is))| {
        let changed = match (&was, &is) {
            (Some(was), Some(is)) => entry_members(was, is),
            _ => Vec::new(),
        };
        let status = status(was.is_some(), is.is_some());
        if status == Status::Changed && changed.is_empty() {
            return None;
        }
        let newest = is.as_ref().or(was.as_ref())?;
        let title = newest.item.get("title").and_then(Value::as_str).map(str::to_owned);
        let size = |entry: &Option<Entry>| entry.as_ref()?.item.get("size")?.as_u64();
        let source = |entry: &Option<Entry>| entry.as_ref().map(Entry::source);
        Some(EntryChange {
            status,
            kind,
            uri,
            title,
            source: Pair { old: source(&was), new: source(&is) },
            size: Pair { old: size(&was), new: size(&is) },
            changed,
        })
    });
    changes.collect()
}

fn listed(catalog: &Catalog, server: &Server) -> BTreeMap<(Kind, String), Entry> {
    let own = |ttl_ms: u64| Some(ttl_ms).filter(|ttl_ms| *ttl_ms != server.ttl_ms);
    let resources = catalog.rows(server.resources).iter().map(|resource| {
        let source = match resource.source {
            Source::Static(contents) => Payload::Static(contained(catalog, contents)),
            Source::Live(definition) => Payload::Live(json(catalog, definition)),
        };
        let entry =
            Entry { item: json(catalog, resource.item).unwrap_or_default(), ttl_ms: own(resource.ttl_ms), source };
        ((Kind::Resource, catalog.text(resource.uri).to_owned()), entry)
    });
    let templates = catalog.rows(server.templates).iter().map(|template| {
        let source = Payload::Live(json(catalog, template.definition));
        let entry =
            Entry { item: json(catalog, template.item).unwrap_or_default(), ttl_ms: own(template.ttl_ms), source };
        ((Kind::Template, catalog.text(template.uri_template).to_owned()), entry)
    });
    resources.chain(templates).collect()
}

impl Entry {
    fn source(&self) -> &'static str {
        match &self.source {
            Payload::Static(_) => "static",
            Payload::Live(definition) => match definition.as_ref().map(|definition| &definition.source) {
                Some(LiveSource::Url(_)) => "url",
                Some(LiveSource::WpQuery(_)) => "wp_query",
                Some(LiveSource::Static(_)) | None => "static",
            },
        }
    }
}

fn entry_members(was: &Entry, is: &Entry) -> Vec<String> {
    let mut changed = Vec::new();
    // Where the contents differ, their size is no news.
    changed.extend(members(&was.item, &is.item).into_iter().filter(|name| name != "size"));
    if was.source() != is.source() {
        changed.push("source".to_owned());
    } else {
        match (&was.source, &is.source) {
            (Payload::Static(was), Payload::Static(is)) if was != is => changed.push("contents".to_owned()),
            (Payload::Live(Some(was)), Payload::Live(Some(is))) => {
                if was.source != is.source || was.arguments != is.arguments {
                    changed.push("definition".to_owned());
                }
                if uses_variables(is)
                    && ["vars", "page"].iter().any(|key| was.context.get(*key) != is.context.get(*key))
                {
                    changed.push("variables".to_owned());
                }
            }
            _ => {}
        }
    }
    if was.ttl_ms != is.ttl_ms {
        changed.push("ttl".to_owned());
    }
    changed
}

/// Whether a template is rendered, which alone sees variables.
fn uses_variables(definition: &Definition) -> bool {
    match &definition.source {
        LiveSource::Static(_) => true,
        LiveSource::Url(url) => url.template.is_some(),
        LiveSource::WpQuery(query) => query.template.is_some(),
    }
}

fn server_members((old, was): (&Catalog, &Server), (new, is): (&Catalog, &Server)) -> Vec<String> {
    let info = |catalog: &Catalog, server: &Server| -> Map<String, Value> {
        let mut info: Map<String, Value> = json(catalog, server.info).unwrap_or_default();
        // A version that is made of the hash of the tree changes with every file.
        let default = catalog.text(catalog.hash).get(..12);
        if info.get("version").and_then(Value::as_str) == default {
            info.shift_remove("version");
        }
        info
    };
    let mut changed = members(&info(old, was), &info(new, is));
    let rest = [
        ("instructions", old.text(was.instructions) != new.text(is.instructions)),
        ("ttl", was.ttl_ms != is.ttl_ms),
        ("page size", was.page_size != is.page_size),
    ];
    changed.extend(rest.iter().filter(|(_, differs)| *differs).map(|(name, _)| (*name).to_owned()));
    changed
}

/// The names of the members that differ, in their order.
fn members(was: &Map<String, Value>, is: &Map<String, Value>) -> Vec<String> {
    let names = is.keys().chain(was.keys().filter(|name| !is.contains_key(*name)));
    names.filter(|name| was.get(*name) != is.get(*name)).cloned().collect()
}

/// What is known by one name on both sides, or on one.
fn matched<K: Ord, V>(old: BTreeMap<K, V>, new: BTreeMap<K, V>) -> BTreeMap<K, (Option<V>, Option<V>)> {
    let mut all: BTreeMap<K, (Option<V>, Option<V>)> =
        old.into_iter().map(|(name, value)| (name, (Some(value), None))).collect();
    for (name, value) in new {
        all.entry(name).or_default().1 = Some(value);
    }
    all
}

fn status(was: bool, is: bool) -> Status {
    match (was, is) {
        (false, _) => Status::Added,
        (_, false) => Status::Removed,
        (true, true) => Status::Changed,
    }
}

/// The text or blob of finished contents.
fn contained(catalog: &Catalog, contents: Span) -> Option<Value> {
    let contents: Vec<Map<String, Value>> = json(catalog, contents)?;
    let first = contents.into_iter().next()?;
    first.get("text").or(first.get("blob")).cloned()
}

/// Finished JSON, which is sound: the compiler has written it a moment ago.
fn json<T: serde::de::DeserializeOwned>(catalog: &Catalog, span: Span) -> Option<T> {
    serde_json::from_str(catalog.text(span)).ok()
}
