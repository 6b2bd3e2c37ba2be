//! What is prepared once at the start: the parts of a catalog that are not finished JSON are parsed, their templates
//! and patterns compiled.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use bytes::Bytes;
use mcpress_catalog::{
    self as catalog, Catalog, Source, Span, access, source, source::Definition, template, uri_template,
};
use minijinja::{Environment, Value, value::Serde};
use regex::Regex;
use serde_json::json;
use tokio::sync::Semaphore;

use super::{changes, resources};
use crate::{
    auth::{Auth, Issuers},
    fetch::{self, EntryError, Fetcher},
    metrics::{Metrics, Slug},
    rate::Rate,
    throttle::Throttle,
    trace::Trace,
};

/// What one rendering may cost, in minijinja instructions: less than a tenth of a second, for meanwhile its thread
/// serves nobody else. That is less than what a template may cost at the build.
const FUEL: u64 = 500_000;

/// All servers of a catalog, ready to answer.
pub struct Site {
    pub(super) catalog: Catalog,
    /// By slug.
    servers: HashMap<String, Prepared>,
    pub(super) templates: Environment<'static>,
    missing: Vec<Missing>,
    pub(super) shared: Arc<Shared>,
}

/// What a site leaves to the one that takes its place.
pub(super) struct Shared {
    pub(super) fetcher: Fetcher,
    issuers: Issuers,
    environment: HashMap<String, String>,
    /// One permit for each subscription that may be open at a time.
    pub(super) subscriptions: Arc<Semaphore>,
    /// Whether another site may take the place of this one.
    pub(super) reloads: bool,
    /// Lines of the log on reads that failed.
    pub(super) failures: Throttle,
}

/// What a catalog needs beside itself.
pub struct Surroundings {
    /// Fetches what is not in the catalog.
    pub fetcher: Fetcher,
    /// The values of `${NAME}`.
    pub environment: HashMap<String, String>,
    /// Subscriptions that may be open at a time.
    pub subscriptions: usize,
    /// Whether it may be replaced while it is served, so that changes are announced, and clients keep nothing.
    pub reloads: bool,
}

/// A variable that an entry needs and the environment does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The variable.
    pub name: String,
    /// Where the entry is defined, as `path:line`.
    pub place: String,
}

/// A catalog that this program cannot serve; no catalog that its own compiler wrote is one.
#[derive(Debug)]
pub struct SiteError {
    /// Where what it concerns is defined, as `path:line`.
    pub(crate) place: String,
    pub(crate) message: String,
}

/// One server, ready to answer.
#[derive(Clone, Copy)]
pub(crate) struct Server<'a> {
    pub(super) site: &'a Site,
    pub(super) entry: &'a catalog::Server,
    pub(super) prepared: &'a Prepared,
}

/// What a server has beside its tables.
pub(super) struct Prepared {
    index: usize,
    slug: Slug,
    /// Resources that are not static, by where their definition begins in the blob.
    live: HashMap<u32, Live>,
    /// In the order in which they are tried.
    pub(super) templates: Vec<ResourceTemplate>,
    /// Which tokens open it; without it, it is open.
    auth: Option<Auth>,
    rate: Option<Rate>,
}

/// An entry of `resources/templates/list`.
pub(super) struct ResourceTemplate {
    pub(super) uri_template: uri_template::Template,
    pub(super) ttl_ms: u64,
    pub(super) live: Live,
}

/// An entry whose contents are made at each read.
pub(super) struct Live {
    pub(super) definition: Definition,
    /// By the name of the argument.
    pub(super) patterns: HashMap<String, Regex>,
    pub(super) origin: Origin,
}

/// Where the contents of such an entry come from.
pub(super) enum Origin {
    /// A template that was compiled in: what it sees, and its name among all templates.
    Template { context: Value, name: String },
    /// An HTTP request.
    Url(Arc<fetch::Url>),
    /// A WordPress query.
    WpQuery(Arc<fetch::WpQuery>),
    /// Nowhere, for these variables are missing.
    Missing(Vec<String>),
}

impl Site {
    /// Prepares a catalog.
    ///
    /// # Errors
    /// A definition, template or pattern that cannot be used, or not with this environment. Variables that are missing
    /// are no error yet, but [`missing`](Self::missing).
    pub fn new(catalog: Catalog, surroundings: Surroundings) -> Result<Self, SiteError> {
        let Surroundings { fetcher, environment, subscriptions, reloads } = surroundings;
        let subscriptions = Arc::new(Semaphore::new(subscriptions.min(Semaphore::MAX_PERMITS)));
        let issuers = Issuers::new(fetcher.clone());
        let shared = Shared { fetcher, issuers, environment, subscriptions, reloads, failures: Throttle::default() };
        Self::with(catalog, Arc::new(shared), None)
    }

    /// Prepares the catalog that takes the place of this one. What has been fetched is kept where the entry is still
    /// the same.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn reload(&self, catalog: Catalog) -> Result<Self, SiteError> {
        Self::with(catalog, Arc::clone(&self.shared), Some(self))
    }

    fn with(catalog: Catalog, shared: Arc<Shared>, previous: Option<&Self>) -> Result<Self, SiteError> {
        let partials = catalog
            .rows(catalog.partials)
            .iter()
            .map(|partial| (catalog.text(partial.name), catalog.text(partial.source)));
        let mut templates = template::environment(partials).map_err(|error| SiteError::new("_partials", &error))?;
        templates.set_fuel(Some(FUEL));
        let mut site = Self { catalog, servers: HashMap::new(), templates, missing: Vec::new(), shared };
        for index in 0..site.catalog.servers.len() {
            let server = site.catalog.servers[index].clone();
            let previous = previous.and_then(|previous| previous.server(site.catalog.text(server.slug)));
            let prepared = site.prepare(index, &server, previous)?;
            site.servers.insert(site.catalog.text(server.slug).to_owned(), prepared);
        }
        site.missing.sort();
        site.missing.dedup();
        Ok(site)
    }

    /// The server of a slug.
    pub(crate) fn server(&self, slug: &str) -> Option<Server<'_>> {
        let prepared = self.servers.get(slug)?;
        Some(Server { site: self, entry: self.catalog.servers.get(prepared.index)?, prepared })
    }

    /// The metadata of a protected resource (RFC 9728) at a path, as JSON.
    pub(crate) fn resource_metadata(&self, path: &str) -> Option<Bytes> {
        let mut slugs = self.catalog.servers.iter().map(|server| self.catalog.text(server.slug));
        slugs.find_map(|slug| self.servers.get(slug)?.auth.as_ref()?.metadata(path))
    }

    /// Variables that entries need and the environment does not have, sorted by name.
    pub fn missing(&self) -> &[Missing] {
        &self.missing
    }

    /// Slug and URI of each entry that is fetched; of a template that lists all values of its arguments, the first.
    pub fn fetched(&self) -> Vec<(&str, String)> {
        let mut found = Vec::new();
        for (slug, prepared) in &self.servers {
            let fetched = |live: &&Live| !matches!(live.origin, Origin::Template { .. });
            for live in prepared.live.values().filter(fetched) {
                found.push((slug.as_str(), live.definition.uri.clone()));
            }
            for template in prepared.templates.iter().filter(|template| fetched(&&template.live)) {
                let arguments = &template.live.definition.arguments;
                let first = |argument: &source::Argument| argument.values.first().cloned();
                let values = arguments.iter().map(|(name, argument)| Some((name.clone(), first(argument)?)));
                if let Some(values) = values.collect::<Option<BTreeMap<_, _>>>() {
                    found.push((slug.as_str(), template.uri_template.expand(&values)));
                }
            }
        }
        found.sort();
        found
    }

    /// Where what it fetches is counted.
    pub fn metrics(&self) -> &Arc<Metrics> {
        self.shared.fetcher.metrics()
    }

    /// The tables it was made from.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Slug and name (or title) of each server, sorted by slug; of one that asks for a token only that.
    pub fn servers(&self) -> impl Iterator<Item = (&str, String)> {
        self.catalog.servers.iter().map(|server| {
            if self.is_protected(server) {
                return (self.catalog.text(server.slug), "(needs a bearer token)".to_owned());
            }
            let info = self.info(server);
            let name = info["title"].as_str().or(info["name"].as_str()).unwrap_or_default();
            (self.catalog.text(server.slug), name.to_owned())
        })
    }

    fn is_protected(&self, server: &catalog::Server) -> bool {
        self.server(self.catalog.text(server.slug)).is_some_and(|server| server.auth().is_some())
    }

    /// What is served, as JSON: the program's version, the hash of the content, and each server; of one that asks for
    /// a token only that.
    pub fn version(&self) -> String {
        let servers = self.catalog.servers.iter().map(|server| {
            if self.is_protected(server) {
                return json!({ "slug": self.catalog.text(server.slug), "protected": true });
            }
            let info = self.info(server);
            json!({
                "slug": self.catalog.text(server.slug),
                "name": info["name"],
                "version": info["version"],
                "resources": self.catalog.rows(server.resources).len(),
                "templates": self.catalog.rows(server.templates).len(),
            })
        });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "contentHash": self.catalog.text(self.catalog.hash),
            "servers": servers.collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// The `contents` of a resource, as JSON; as for a client, that of a resource which is not static is made now.
    ///
    /// # Errors
    /// What a client would be told.
    pub async fn read(&self, slug: &str, uri: &str) -> Result<Bytes, String> {
        let server = self.server(slug).ok_or_else(|| format!("there is no server `{slug}`"))?;
        let contents = resources::contents(server, uri, &Trace::default()).await;
        contents.map(|contents| contents.json).map_err(|error| error.message.into_owned())
    }

    fn info(&self, server: &catalog::Server) -> serde_json::Value {
        serde_json::from_str(self.catalog.text(server.brief_info)).unwrap_or_default()
    }

    fn prepare(
        &mut self,
        index: usize,
        server: &catalog::Server,
        previous: Option<Server<'_>>,
    ) -> Result<Prepared, SiteError> {
        let catalog = self.catalog.clone();
        let mut live = HashMap::new();
        for resource in catalog.rows(server.resources).iter() {
            if let Source::Live(definition) = resource.source {
                live.insert(definition.0, self.prepare_live(definition, previous)?);
            }
        }
        let mut templates = Vec::new();
        for entry in catalog.rows(server.templates).iter() {
            let live = self.prepare_live(entry.definition, previous)?;
            let uri_template = uri_template::Template::parse(self.catalog.text(entry.uri_template))
                .map_err(|error| SiteError::new(&live.definition.place, &error))?;
            templates.push(ResourceTemplate { uri_template, ttl_ms: entry.ttl_ms, live });
        }
        let slug = Slug(Some(self.catalog.text(server.slug).into()));
        let (auth, rate) = self.prepare_access(server)?;
        Ok(Prepared { index, slug, live, templates, auth, rate })
    }

    fn prepare_access(&mut self, server: &catalog::Server) -> Result<(Option<Auth>, Option<Rate>), SiteError> {
        if server.access.is_empty() {
            return Ok((None, None));
        }
        let text = self.catalog.text(server.access);
        let access: access::Access = serde_json::from_str(text).map_err(|error| SiteError::new(text, &error))?;
        let slug = self.catalog.text(server.slug);
        let lookup = |name: &str| self.shared.environment.get(name).cloned();
        let auth = match access.auth.map(|auth| Auth::new(slug, &auth, &self.shared.issuers, lookup)).transpose() {
            Ok(auth) => auth,
            Err(EntryError::Missing(names)) => {
                let closed = Auth::closed(slug);
                let place = access.place;
                self.missing.extend(names.into_iter().map(|name| Missing { name, place: place.clone() }));
                Some(closed)
            }
            Err(EntryError::Invalid(message)) => return Err(SiteError::new(&access.place, &message)),
        };
        Ok((auth, access.limits.map(Rate::new)))
    }

    fn prepare_live(&mut self, definition: Span, previous: Option<Server<'_>>) -> Result<Live, SiteError> {
        let text = self.catalog.text(definition);
        let definition: Definition = serde_json::from_str(text).map_err(|error| SiteError::new(text, &error))?;
        let place = definition.place.clone();
        let error = |error: &dyn fmt::Display| SiteError::new(&place, error);
        let mut patterns = HashMap::new();
        for (name, argument) in &definition.arguments {
            if let Some(pattern) = &argument.pattern {
                let whole = Regex::new(&format!("^(?:{pattern})$")).map_err(|cause| error(&cause))?;
                patterns.insert(name.clone(), whole);
            }
        }
        let lookup = |name: &str| self.shared.environment.get(name).cloned();
        let kept = previous.and_then(|previous| {
            let live = previous.live(&definition.uri)?;
            changes::is_same(previous.site, &live.definition, self, &definition).then_some(&live.origin)
        });
        let fetcher = &self.shared.fetcher;
        let fetched = match (&definition.source, kept) {
            (_, Some(Origin::Url(url))) => Ok(Origin::Url(Arc::clone(url))),
            (_, Some(Origin::WpQuery(query))) => Ok(Origin::WpQuery(Arc::clone(query))),
            (source::Source::Static(template), _) => {
                let name = self.add_template(template, &definition.uri).map_err(|cause| error(&cause))?;
                Ok(Origin::Template { context: Value::from(Serde(&definition.context)), name })
            }
            (source::Source::Url(url), _) => fetcher.url(&definition, url, &self.templates, lookup).map(Origin::Url),
            (source::Source::WpQuery(query), _) => {
                fetcher.wp_query(&definition, query, &self.templates, lookup).map(Origin::WpQuery)
            }
        };
        let origin = match fetched {
            Ok(origin) => origin,
            Err(EntryError::Missing(names)) => {
                let missing = |name: &String| Missing { name: name.clone(), place: place.clone() };
                self.missing.extend(names.iter().map(missing));
                Origin::Missing(names)
            }
            Err(EntryError::Invalid(message)) => return Err(error(&message)),
        };
        Ok(Live { definition, patterns, origin })
    }

    /// Adds a template under the name of its file, or, where several stand in one file, under a name of its own.
    fn add_template(&mut self, template: &source::Template, uri: &str) -> Result<String, minijinja::Error> {
        let name = match self.templates.get_template(&template.name) {
            Ok(other) if other.source() != template.source => format!("{} ({uri})", template.name),
            _ => template.name.clone(),
        };
        self.templates.add_template_owned(name.clone(), template.source.clone())?;
        Ok(name)
    }
}

impl<'a> Server<'a> {
    /// By which metrics and the log know it.
    pub(crate) fn slug(self) -> Slug {
        self.prepared.slug.clone()
    }

    /// Which tokens open it, if it asks for one.
    pub(crate) fn auth(self) -> Option<&'a Auth> {
        self.prepared.auth.as_ref()
    }

    /// How often each client may ask, if that is bounded.
    pub(crate) fn rate(self) -> Option<&'a Rate> {
        self.prepared.rate.as_ref()
    }

    /// The entry that is made at each read and listed under this URI or template.
    fn live(self, uri: &str) -> Option<&'a Live> {
        let mut templates = self.prepared.templates.iter().map(|template| &template.live);
        templates.find(|live| live.definition.uri == uri).or_else(|| {
            match self.site.catalog.resource(self.entry, uri)?.source {
                Source::Live(definition) => self.prepared.live(definition),
                Source::Static(_) => None,
            }
        })
    }
}

impl Prepared {
    pub(super) fn live(&self, definition: Span) -> Option<&Live> {
        self.live.get(&definition.0)
    }
}

impl SiteError {
    fn new(place: &str, error: &dyn fmt::Display) -> Self {
        Self { place: place.to_owned(), message: error.to_string() }
    }
}

impl fmt::Display for SiteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for SiteError {}
