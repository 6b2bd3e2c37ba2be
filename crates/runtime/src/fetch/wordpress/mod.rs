//! `wp_query` entries: WordPress's own meaning of a query, by way of its REST API.
//!
//! - `arguments`: the query with the arguments of a read filled in
//! - `plan`: what has to be asked for it, and `selection` of one post type; `terms`, `dates`, `path` and `slug` know the
//!   details
//! - `posts`: asks, and puts the answers in order; `sticky` puts some of them in front, and `relevance` is an order
//! - `output`: what becomes of the posts, by way of `fields` and `markdown`
//! - `site`: lists of a site; `root` and `lookup` are what is `known` of it for a minute, and `api` is one request

mod api;
mod arguments;
mod dates;
mod fields;
mod known;
mod lookup;
mod markdown;
mod output;
mod path;
mod plan;
mod posts;
mod relevance;
mod root;
mod selection;
mod site;
mod slug;
mod sticky;
mod terms;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
};

use mcpress_catalog::source::{self, Cache, Definition, Query, check_site};
use minijinja::Environment;
use reqwest::header::HeaderMap;
use tokio::time::timeout;

use self::{
    api::Api,
    arguments::Arguments,
    output::{Material, Output},
    plan::Plan,
    site::Site,
};
use super::{
    EntryError, Fetched,
    client::{Client, Limits},
    error::FetchError,
    url::fill,
};

/// A `wp_query` entry that is ready to be read: the environment is filled in, and its template compiled.
pub struct WpQuery {
    /// By which the cache knows it.
    pub(super) number: u64,
    pub(super) limits: Limits,
    pub(super) cache: Option<Cache>,
    site: Arc<Site>,
    query: Query,
    max_items: u64,
    output: Output,
}

/// What a query has found, before contents are made of it.
pub(super) struct Posts(Material);

impl WpQuery {
    pub(super) fn new(
        number: u64,
        sites: &Sites,
        definition: &Definition,
        query: &source::WpQuery,
        environment: &Environment<'static>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EntryError> {
        let mut missing = Vec::new();
        let mut fill = |text: &str| fill(text, &lookup, &mut missing);
        let site = fill(&query.site)?;
        let auth = match &query.auth {
            Some(auth) => Some((fill(&auth.username)?, fill(&auth.application_password)?)),
            None => None,
        };
        let mut headers = Vec::new();
        for (name, value) in &query.fetch.headers {
            headers.push((name.clone(), fill(value)?));
        }
        if !missing.is_empty() {
            return Err(EntryError::Missing(missing));
        }
        check_site(&site).map_err(|error| match query.site.contains('$') {
            // No error may quote what the environment holds.
            true => EntryError::Invalid("`site` is no address of a site once the environment is filled in".to_owned()),
            false => EntryError::Invalid(format!("`site`: {error}")),
        })?;
        let limits = Limits::new(&query.fetch);
        Ok(Self {
            number,
            limits,
            cache: query.fetch.cache,
            site: sites.get(Key { site, auth, headers, limits })?,
            query: query.query.clone(),
            max_items: query.max_items.into(),
            output: Output::new(definition, query, environment)?,
        })
    }

    /// Asks the site.
    pub(super) async fn posts(
        &self,
        client: &Client,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Posts, FetchError> {
        let arguments = Arguments::new(&self.query, arguments)?;
        let limit = self.limits.timeout;
        timeout(limit, Box::pin(self.ask(client, &arguments)))
            .await
            .unwrap_or_else(|_| Err(FetchError::timed_out(&self.site.api.host(), limit)))
    }

    async fn ask(&self, client: &Client, arguments: &Arguments) -> Result<Posts, FetchError> {
        let plan = Plan::new(&self.site, client, arguments, self.max_items).await?;
        let found = posts::find(&self.site, client, &plan, &self.output.parameters()).await?;
        if found.posts.is_empty() && arguments.is_singular() {
            return Err(FetchError::not_found());
        }
        self.output.complete(&self.site, client, found).await.map(Posts)
    }

    /// Makes the contents. May take long: it reads what anybody wrote.
    pub(super) fn contents(&self, posts: &Posts, arguments: &BTreeMap<String, String>) -> Result<Fetched, FetchError> {
        self.output.contents(&posts.0, arguments)
    }
}

/// The sites of all entries, so that those who ask the same one know the same of it.
#[derive(Default)]
pub(super) struct Sites(Mutex<HashMap<Key, Arc<Site>>>);

/// Who asks which site, and how.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    site: String,
    auth: Option<(String, String)>,
    headers: Vec<(String, String)>,
    limits: Limits,
}

impl Sites {
    fn get(&self, key: Key) -> Result<Arc<Site>, EntryError> {
        let mut sites = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(site) = sites.get(&key) {
            return Ok(site.clone());
        }
        let invalid = |name: &str| EntryError::Invalid(format!("the header `{name}` holds what no header may"));
        let mut headers = HeaderMap::new();
        for (name, value) in &key.headers {
            let (name, value) = api::header(name, value).ok_or_else(|| invalid(name))?;
            headers.append(name, value);
        }
        let auth = key
            .auth
            .as_ref()
            .map(|(username, password)| api::authorization(username, password).ok_or_else(|| invalid("authorization")));
        let api = Api {
            site: key.site.parse().map_err(|error| EntryError::Invalid(format!("`site`: {error}")))?,
            headers,
            authorization: auth.transpose()?,
            limits: key.limits,
        };
        let site = Arc::new(Site::new(api));
        sites.insert(key, site.clone());
        Ok(site)
    }
}
