//! The whole tree, lowered: `site.yaml`, the partials, and every server with its entries.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
};

use mcpress_catalog::template;
use minijinja::Environment;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::{
    content,
    definition::{ServerDefinition, SiteDefinition},
    diagnostic::{Diagnostic, Position, nearest},
    front_matter,
    identity::Uri,
    names, protected,
    resource::{Entry, Lowering},
    scope::{Located, Scope, template_error},
    server::{Server, Site, is_slug},
    tree::Tree,
    yaml,
};

pub(crate) const SITE_FILE: &str = "site.yaml";
const SERVER_FILE: &str = "server.yaml";
const RESOURCES: &str = "resources/";
const PARTIALS: &str = "_partials/";

/// What a tree holds, everything checked.
pub(crate) struct Lowered<'a> {
    pub(crate) hash: String,
    /// Whether answers may go out compressed.
    pub(crate) compression: bool,
    /// Sorted by slug.
    pub(crate) servers: Vec<(Server, Vec<Entry<'a>>)>,
    /// Name and source, sorted by name.
    pub(crate) partials: Vec<(&'a str, &'a str)>,
}

/// Lowers everything in the tree. What is wrong is reported and left out.
pub(crate) fn lower<'a>(tree: &'a Tree, diagnostics: &mut Vec<Diagnostic>) -> Lowered<'a> {
    let hash = tree.hash();
    let (partials, environment) = partials(tree, diagnostics);
    let site = site(tree, &environment, diagnostics);
    let mut servers = Vec::new();
    for slug in slugs(tree, diagnostics) {
        servers.extend(server(slug, tree, &site, &hash, &environment, diagnostics));
    }
    if servers.is_empty() && diagnostics.is_empty() {
        let hint = "make a folder with a `server.yaml` in it; its name is the server's slug";
        diagnostics.push(Diagnostic::error("", None, "", "the content tree holds no server").hint(hint));
    }
    protected::check(servers.iter().map(|(server, _): &(Server, _)| server), tree, diagnostics);
    let read = servers.iter().map(|(server, _): &(Server, _)| server.slug.as_str()).collect();
    unused(tree, &read, diagnostics);
    names::check(tree, diagnostics);
    Lowered { hash, compression: site.compression, servers, partials }
}

/// The URI of a plain file of a server, whose `server.yaml` is read for it.
pub(crate) fn uri_of(tree: &Tree, slug: &str, path: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    let server_path = format!("{slug}/{SERVER_FILE}");
    let definition: ServerDefinition = read_file(tree, &server_path, diagnostics)?;
    let scope = &mut Scope {
        tree,
        path: &server_path,
        prefix: "",
        arguments: &[],
        variables: &Map::new(),
        environment: &Environment::new(),
        diagnostics,
    };
    Some(Server::lower(slug, definition, &Site::default(), "", scope).uri_of(path))
}

fn partials<'a>(tree: &'a Tree, diagnostics: &mut Vec<Diagnostic>) -> (Vec<(&'a str, &'a str)>, Environment<'static>) {
    let mut partials = Vec::new();
    for (name, bytes) in tree.below(PARTIALS) {
        let path = format!("{PARTIALS}{name}");
        let Some(text) = content::as_text(bytes) else {
            diagnostics.push(Diagnostic::error(&path, Position::START, "", "a partial must be a UTF-8 text"));
            continue;
        };
        match template::environment([(name, text)]) {
            Ok(_) => partials.push((name, text)),
            Err(error) => {
                let body = front_matter::Part { text, first_line: 1 };
                let located = Located::file(name.to_owned(), body);
                diagnostics.push(Diagnostic { path, ..template_error(&error, &located, &Value::Null, tree) });
            }
        }
    }
    // Each of them has just compiled, so all of them do.
    let environment = template::environment(partials.iter().copied()).unwrap_or_default();
    (partials, environment)
}

fn site(tree: &Tree, environment: &Environment<'static>, diagnostics: &mut Vec<Diagnostic>) -> Site {
    let definition: SiteDefinition = read_file(tree, SITE_FILE, diagnostics).unwrap_or_default();
    let scope = &mut Scope {
        tree,
        path: SITE_FILE,
        prefix: "",
        arguments: &[],
        variables: &Map::new(),
        environment,
        diagnostics,
    };
    Site::lower(definition, scope)
}

/// The names of the folders that are servers.
fn slugs<'a>(tree: &'a Tree, diagnostics: &mut Vec<Diagnostic>) -> BTreeSet<&'a str> {
    let folders = tree.files().filter_map(|(path, _)| Some(path.split_once('/')?.0));
    let (slugs, others): (BTreeSet<&str>, BTreeSet<&str>) =
        folders.filter(|name| !name.starts_with('_')).partition(|name| is_slug(name));
    for name in others {
        let message = format!("`{name}` is no slug");
        let hint = "a server's folder has a name of lower-case letters, digits and inner hyphens, at most 63; \
                    a folder that is no server has a name that begins with `_`";
        diagnostics.push(Diagnostic::error(name, None, "", message).hint(hint));
    }
    slugs
}

fn server<'a>(
    slug: &str,
    tree: &'a Tree,
    site: &Site,
    hash: &str,
    environment: &Environment<'static>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<(Server, Vec<Entry<'a>>)> {
    let folder = format!("{slug}/");
    let path = format!("{slug}/{SERVER_FILE}");
    if tree.get(&path).is_none() {
        let present: Vec<&str> = tree.below(&folder).map(|(name, _)| name).collect();
        let hint = match nearest(SERVER_FILE, present.iter().copied().filter(|name| !name.contains('/'))) {
            Some(near) => format!("rename `{near}`"),
            None => "an empty one will do; a folder that is no server has a name that begins with `_`".to_owned(),
        };
        diagnostics.push(Diagnostic::error(slug, None, "", format!("no `{SERVER_FILE}` in this folder")).hint(hint));
        return None;
    }
    // Without its settings, half of what its entries say would seem wrong.
    let definition: ServerDefinition = read_file(tree, &path, diagnostics)?;
    let scope = &mut Scope {
        tree,
        path: &path,
        prefix: "",
        arguments: &[],
        variables: &site.variables,
        environment,
        diagnostics,
    };
    let server = Server::lower(slug, definition, site, &hash[..12], scope);
    let mut lowering = Lowering { tree, server: &server, environment, diagnostics, entries: Vec::new() };
    let folder = format!("{slug}/{RESOURCES}");
    // Borrowed from the tree's own keys, so that entries may outlive this call.
    for (path, bytes) in tree.files() {
        let Some(below) = path.strip_prefix(&folder) else { continue };
        if below.split('/').any(|part| part.starts_with('_')) {
            continue;
        }
        tree.get(path);
        if path.ends_with(".yaml") || path.ends_with(".yml") {
            lowering.definition_file(path, bytes);
        } else {
            lowering.plain_file(path, below, bytes);
        }
    }
    let entries = unique(tree, lowering.entries, diagnostics);
    let faulty = diagnostics.iter().any(|diagnostic| diagnostic.path.starts_with(&format!("{slug}/")));
    if entries.is_empty() && !faulty {
        let hint = format!("put files or definitions below `{slug}/{RESOURCES}`");
        diagnostics.push(Diagnostic::warning(&path, Position::START, "the server has no resources").hint(hint));
    }
    Some((server, entries))
}

/// Reports entries of one URI and keeps the first of them.
fn unique<'a>(tree: &Tree, entries: Vec<Entry<'a>>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Entry<'a>> {
    let mut first: HashMap<Uri, String> = HashMap::new();
    let mut kept = Vec::with_capacity(entries.len());
    for entry in entries {
        if let Some(place) = first.get(&entry.uri) {
            let (Uri::Resource(uri) | Uri::Template(uri)) = &entry.uri;
            let field = match &entry.uri {
                _ if entry.position == Position::START => "",
                Uri::Resource(_) => "uri",
                Uri::Template(_) => "uri_template",
            };
            let of_file = match entry.file == entry.path {
                true => String::new(),
                false => format!(", here by `{}`", tree.shown(&entry.file)),
            };
            let message = format!("`{uri}` is defined twice{of_file}; first in `{place}`");
            let hint = "a URI belongs to one resource of a server; rename one of them or give it another `uri`";
            diagnostics.push(Diagnostic::error(&entry.path, entry.position, field, message).hint(hint));
            continue;
        }
        let place = match entry.file == entry.path {
            true => format!("{}:{}", tree.shown(&entry.path), entry.position.line),
            false => tree.shown(&entry.file),
        };
        first.insert(entry.uri.clone(), place);
        kept.push(entry);
    }
    kept
}

/// Warns of files that nothing uses.
fn unused(tree: &Tree, servers: &BTreeSet<&str>, diagnostics: &mut Vec<Diagnostic>) {
    for (path, _) in tree.files() {
        if tree.is_used(path) || path.split('/').any(|part| part.starts_with('_')) {
            continue;
        }
        let hint: Cow<'_, str> = match path.split_once('/') {
            None => match nearest(path, [SITE_FILE]) {
                Some(near) => format!("did you mean `{near}`?").into(),
                None => "servers are folders; a name that begins with `_` or `.` is passed over".into(),
            },
            // Its folder is no server, or one whose settings cannot be read, which is reported already.
            Some((slug, _)) if !servers.contains(slug) => continue,
            Some((_, below)) => match below.split_once('/') {
                Some((folder, _)) if nearest(folder, ["resources"]).is_some() => "did you mean `resources/`?".into(),
                _ => "content lies below `resources/`; elsewhere a file is content if a definition names it".into(),
            },
        };
        diagnostics.push(Diagnostic::warning(path, Position::START, "nothing uses this file").hint(hint));
    }
}

/// A settings file, empty where there is none. What is wrong with it is reported; `None` if nothing of it can be read.
fn read_file<T: for<'de> Deserialize<'de> + Default>(
    tree: &Tree,
    path: &str,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<T> {
    let Some(bytes) = tree.get(path) else { return Some(T::default()) };
    let Some(text) = content::as_text(bytes) else {
        diagnostics.push(Diagnostic::error(path, Position::START, "", "not a UTF-8 text"));
        return None;
    };
    match yaml::parse(path, text, 1, diagnostics).ok()? {
        Some(node) => yaml::read(path, "", &node, diagnostics),
        None => Some(T::default()),
    }
}
