//! `wp_query` entries: WordPress's own meaning of a query, by way of its REST API.
//!
//! - `arguments`: the query with the arguments of a read filled in
//! - `plan`: what has to be asked for it; `terms`, `dates`, `path` and `slug` know the details
//! - `posts`: asks, and puts the answers in order; `sticky` puts some of them in front
//! - `output`: what becomes of the posts
//! - `site`: what is known of a site; `api`: one request to it

mod api;
mod arguments;
mod dates;
mod output;
mod path;
mod plan;
mod posts;
mod site;
mod slug;
mod sticky;
mod terms;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

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
    site: Site,
    query: Query,
    max_items: u64,
    output: Output,
}

/// What a query has found, before contents are made of it.
pub(super) struct Posts(Material);

impl WpQuery {
    pub(super) fn new(
        number: u64,
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
        let invalid = |name: &str| EntryError::Invalid(format!("the header `{name}` holds what no header may"));
        let mut headers = HeaderMap::new();
        for (name, value) in &query.fetch.headers {
            let (header, value) = api::header(name, &fill(value)?).ok_or_else(|| invalid(name))?;
            headers.append(header, value);
        }
        if !missing.is_empty() {
            return Err(EntryError::Missing(missing));
        }
        check_site(&site).map_err(|error| EntryError::Invalid(format!("`site`: {error}")))?;
        let authorization = match auth {
            Some((username, password)) => {
                Some(api::authorization(&username, &password).ok_or_else(|| invalid("authorization"))?)
            }
            None => None,
        };
        let api = Api {
            site: site.parse().map_err(|error| EntryError::Invalid(format!("`site`: {error}")))?,
            headers,
            authorization,
            limits: Limits::new(&query.fetch),
        };
        Ok(Self {
            number,
            limits: api.limits,
            cache: query.fetch.cache,
            site: Site::new(api),
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
        timeout(limit, self.ask(client, &arguments))
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
    pub(super) fn contents(
        &self,
        posts: &Posts,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Fetched, FetchError> {
        self.output.contents(&posts.0, arguments)
    }
}
