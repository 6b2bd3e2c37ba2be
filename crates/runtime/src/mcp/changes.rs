//! What differs between a site and the one that takes its place: for those who are to be told, and for those who wait
//! for their content to be reloaded.

use std::collections::BTreeMap;

use mcpress_catalog::{
    Catalog, Span,
    access::{Access, Auth},
    source::{Definition, Source},
};

use serde_json::Value;

use super::{
    Server, Site,
    resources::{Found, find, rendered},
    site::Origin,
};

/// How many resources and templates differ between two sites.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Listed in the new one only.
    pub added: usize,
    /// Listed in the old one only.
    pub removed: usize,
    /// Listed in both, but in another way, or with other contents.
    pub changed: usize,
}

impl Changes {
    /// Compares two sites.
    pub fn between(old: &Site, new: &Site) -> Self {
        let (old, new) = (entries(old), entries(new));
        let kept = new.iter().filter_map(|(key, new)| Some((old.get(key)?, new)));
        Self {
            added: new.keys().filter(|key| !old.contains_key(key)).count(),
            removed: old.keys().filter(|key| !new.contains_key(key)).count(),
            changed: kept.filter(|(old, new)| !old.is_same(new)).count(),
        }
    }
}

/// Whether a client would get another list of resources, or of templates.
pub(super) fn is_list_changed(old: Server<'_>, new: Server<'_>) -> bool {
    fn items<'a>(server: Server<'a>) -> [&'a str; 2] {
        let resources = server.site.catalog.rows(server.entry.resources).iter().map(|resource| resource.item);
        let templates = server.site.catalog.rows(server.entry.templates).iter().map(|template| template.item);
        [slice(server, resources), slice(server, templates)]
    }
    items(old) != items(new)
}

/// Whether other tokens are asked for than before, or some where none were.
pub(super) fn is_auth_changed(old: Server<'_>, new: Server<'_>) -> bool {
    fn auth(server: Server<'_>) -> Option<Auth> {
        serde_json::from_str::<Access>(server.site.catalog.text(server.entry.access)).ok()?.auth
    }
    auth(old) != auth(new)
}

/// Whether a read of this URI may give something else.
pub(super) fn is_updated(old: Server<'_>, new: Server<'_>, uri: &str) -> bool {
    match (find(old, uri), find(new, uri)) {
        (None, None) => false,
        (Some((_, Found::Static(old_contents, _))), Some((_, Found::Static(new_contents, _)))) => {
            old.site.catalog.text(old_contents) != new.site.catalog.text(new_contents)
        }
        (Some((_, Found::Live(old_live, old_values))), Some((_, Found::Live(new_live, new_values)))) => {
            match (&old_live.origin, &new_live.origin) {
                (Origin::Template { context: old_context, name: old_name }, Origin::Template { context, name }) => {
                    let before = rendered(old, old_live, (old_context, old_name), uri, old_values).ok();
                    before != rendered(new, new_live, (context, name), uri, new_values).ok()
                }
                _ => {
                    let is_same = is_same(old.site, &old_live.definition, new.site, &new_live.definition);
                    old_values != new_values || !is_same
                }
            }
        }
        _ => true,
    }
}

/// Whether two definitions make the same contents of the same answers.
pub(super) fn is_same(old_site: &Site, old: &Definition, new_site: &Site, new: &Definition) -> bool {
    let has_template = match &new.source {
        Source::Static(_) => true,
        Source::Url(url) => url.template.is_some(),
        Source::WpQuery(query) => query.template.is_some(),
    };
    without_surroundings(old) == without_surroundings(new)
        && (!has_template || partials(&old_site.catalog) == partials(&new_site.catalog))
}

/// A definition without what changes around it: its place in the file, and, as far as templates are not expected to
/// show it, the server's version, which is a hash of all content.
fn without_surroundings(definition: &Definition) -> Definition {
    let mut definition = Definition { place: String::new(), ..definition.clone() };
    match definition.source {
        Source::Static(_) => {
            if let Some(server) = definition.context.get_mut("server").and_then(Value::as_object_mut) {
                server.remove("version");
            }
        }
        // All that the template of a fetched entry sees.
        Source::Url(_) | Source::WpQuery(_) => definition.context.retain(|name, _| name == "vars"),
    }
    definition
}

fn partials(catalog: &Catalog) -> Vec<[&str; 2]> {
    catalog
        .rows(catalog.partials)
        .iter()
        .map(|partial| [catalog.text(partial.name), catalog.text(partial.source)])
        .collect()
}

/// The items of a list, which follow each other in the blob.
fn slice<'a>(server: Server<'a>, mut items: impl Iterator<Item = Span>) -> &'a str {
    let first = items.next().unwrap_or_default();
    let last = items.last().unwrap_or(first);
    server.site.catalog.text(Span(first.0, last.1))
}

/// An entry of a list.
struct Entry<'a> {
    server: Server<'a>,
    item: &'a str,
    /// URI or template.
    name: &'a str,
    template: Option<&'a Definition>,
}

impl Entry<'_> {
    fn is_same(&self, new: &Self) -> bool {
        let same_contents = match (self.template, new.template) {
            (None, None) => !is_updated(self.server, new.server, self.name),
            (Some(old), Some(template)) => is_same(self.server.site, old, new.server.site, template),
            _ => false,
        };
        self.item == new.item && same_contents
    }
}

/// By slug, and URI or template.
fn entries(site: &Site) -> BTreeMap<(&str, &str), Entry<'_>> {
    let catalog = &site.catalog;
    let mut entries = BTreeMap::new();
    for server in catalog.servers.iter().filter_map(|server| site.server(catalog.text(server.slug))) {
        let resources =
            server.site.catalog.rows(server.entry.resources).iter().map(|resource| (resource.uri, resource.item, None));
        let prepared = server.prepared.templates.iter().map(|template| Some(&template.live.definition));
        let templates = server.site.catalog.rows(server.entry.templates).iter().zip(prepared);
        let templates = templates.map(|(template, live)| (template.uri_template, template.item, live));
        for (name, item, template) in resources.chain(templates) {
            let (name, item) = (catalog.text(name), catalog.text(item));
            entries.insert((catalog.text(server.entry.slug), name), Entry { server, item, name, template });
        }
    }
    entries
}
