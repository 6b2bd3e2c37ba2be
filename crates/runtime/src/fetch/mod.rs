//! Content from elsewhere: the only module that opens outgoing connections. It knows nothing of MCP.
//!
//! - [`Fetcher`]: one for the whole program; turns an entry and its arguments into contents
//! - `client`: one HTTP exchange within its bounds, which are in `address`, `resolver`, `redirect`, `tls` and `turns`
//! - `cache`: answers that are kept, and one request for all who want the same
//! - `url`: what a `url` entry asks, and what its answer becomes; `decode` and `html` help it
//! - `wordpress`: the same for `wp_query` entries
//! - `template`: the template of either

mod address;
mod cache;
mod client;
mod decode;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod html;
mod redirect;
mod resolver;
mod template;
mod tls;
mod turns;
mod url;
mod wordpress;

use std::{
    collections::{BTreeMap, HashMap},
    error::Error,
    fmt,
    net::IpAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::available_parallelism,
    time::Duration,
};

use bytes::Bytes;
use mcpress_catalog::source::{self, Definition, StatusRange};
use minijinja::Environment;
use reqwest::header::HeaderMap;
use tokio::{sync::Semaphore, task::spawn_blocking, time::timeout};

use self::{
    cache::{Answer, Cache, NOTHING_KEPT},
    client::{Client, Limits, Request, Validators},
    error::Time,
    wordpress::Sites,
};
pub use self::{error::FetchError, url::Url, wordpress::WpQuery};
use crate::{
    metrics::{Metrics, Slug},
    trace::Trace,
};

/// Bytes of a document that belongs to no entry.
const MAX_DOCUMENT: u64 = 1 << 20;

/// What may be set for all fetches.
#[derive(Clone, Debug)]
pub struct Config {
    /// A file with certificates that are trusted beside the usual ones, as PEM.
    pub ca_file: Option<PathBuf>,
    /// The `http://` or `https://` address of a proxy. Names are resolved by it, so it is up to the proxy to which
    /// addresses they may lead. That of the system is never used.
    pub proxy: Option<String>,
    /// Fetches at a time.
    pub max_fetches: usize,
    /// Fetches at a time that ask one host.
    pub max_fetches_per_host: usize,
    /// How long a fetch waits for its turn.
    pub max_wait: Duration,
    /// How long an upstream may fall silent in the middle of an answer.
    pub idle_timeout: Duration,
    /// Memory for answers that are kept.
    pub cache_bytes: u64,
    /// Addresses of names for which the system is not asked.
    pub hosts: HashMap<String, Vec<IpAddr>>,
    /// Where fetches are counted.
    pub metrics: Arc<Metrics>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            ca_file: None,
            proxy: None,
            max_fetches: 128,
            max_fetches_per_host: 32,
            max_wait: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(10),
            cache_bytes: 64 << 20,
            hosts: HashMap::new(),
            metrics: Arc::default(),
        }
    }
}

/// Fetches entries. Cheap to clone; all clones share connections, limits and the cache.
#[derive(Clone)]
pub struct Fetcher {
    client: Client,
    cache: Arc<Cache>,
    /// As many as there are processors: what is made of answers leaves some of them to the rest of the program.
    workers: Arc<Semaphore>,
    entries: Arc<AtomicU64>,
    sites: Arc<Sites>,
}

/// For whom something is fetched. A fetch that several wait for is on the errand of the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Errand {
    pub(crate) server: Slug,
    pub(crate) trace: Trace,
}

/// What a fetch has given.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The contents.
    pub payload: Payload,
    /// Their media type.
    pub mime_type: String,
    /// Set if they are not what the upstream has now.
    pub stale: Option<Stale>,
    /// How many posts a `wp_query` has found and not given, because there is a limit; 1 where the site does not say how
    /// many there are.
    pub left_out: Option<u64>,
}

/// Contents, cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// Text.
    Text(Arc<str>),
    /// Anything else.
    Blob(Bytes),
}

/// An older answer stands in for one that could not be had.
#[derive(Clone, Debug)]
pub struct Stale {
    /// How long ago the upstream last stood by it.
    pub age: Duration,
    /// Why there is none that is newer.
    pub error: FetchError,
}

/// A setting that cannot be used.
#[derive(Debug)]
pub struct ConfigError(pub(crate) String);

/// Why an entry cannot be fetched at all.
#[derive(Debug, PartialEq, Eq)]
pub enum EntryError {
    /// These variables are missing in the environment.
    Missing(Vec<String>),
    /// With the environment filled in, something is wrong with it.
    Invalid(String),
}

impl Fetcher {
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// A proxy or a file of certificates that cannot be used.
    pub fn new(config: &Config) -> Result<Self, ConfigError> {
        Ok(Self {
            client: Client::new(config)?,
            cache: Arc::new(Cache::new(config.cache_bytes, config.metrics.clone())),
            workers: Arc::new(Semaphore::new(available_parallelism().map_or(1, usize::from))),
            entries: Arc::default(),
            sites: Arc::default(),
        })
    }

    /// Where it counts.
    pub fn metrics(&self) -> &Arc<Metrics> {
        self.client.metrics()
    }

    /// The same, for a request.
    pub(crate) fn on(&self, errand: Errand) -> Self {
        Self { client: self.client.on(errand), ..self.clone() }
    }

    /// Makes a `url` entry ready. `environment` holds the partials that its template may include, and `lookup` gives
    /// the values of `${NAME}`.
    ///
    /// # Errors
    /// Variables that are missing, or with which the entry is no longer valid.
    pub fn url(
        &self,
        definition: &Definition,
        url: &source::Url,
        environment: &Environment<'static>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Arc<Url>, EntryError> {
        let number = self.entries.fetch_add(1, Ordering::Relaxed);
        Url::new(number, definition, url, environment, lookup).map(Arc::new)
    }

    /// Fetches an entry, or takes its answer from the cache if it has one. Dropping the future ends the fetch, unless
    /// somebody else waits for the same.
    ///
    /// # Errors
    /// Why there is nothing to give.
    pub async fn fetch(&self, url: &Arc<Url>, arguments: &BTreeMap<String, String>) -> Result<Fetched, FetchError> {
        let fetch = |validators| {
            let (fetcher, url, arguments) = (self.clone(), url.clone(), arguments.clone());
            async move { fetcher.ask(url, arguments, validators).await }
        };
        let answer = match url.cache {
            Some(policy) => {
                return self
                    .cache
                    .get((url.number, arguments.clone()), policy, self.client.errand().clone(), fetch)
                    .await;
            }
            None => fetch(Validators::default()).await?,
        };
        match answer {
            Answer::New(fetched, _) => Ok(fetched),
            Answer::Unchanged => Err(FetchError::failed(NOTHING_KEPT)),
        }
    }

    /// Makes a `wp_query` entry ready, as [`url`](Self::url) does.
    ///
    /// # Errors
    /// Variables that are missing, or with which the entry is no longer valid.
    pub fn wp_query(
        &self,
        definition: &Definition,
        query: &source::WpQuery,
        environment: &Environment<'static>,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Arc<WpQuery>, EntryError> {
        let number = self.entries.fetch_add(1, Ordering::Relaxed);
        WpQuery::new(number, &self.sites, definition, query, environment, lookup).map(Arc::new)
    }

    /// Runs the query of an entry, as [`fetch`](Self::fetch) fetches one.
    ///
    /// # Errors
    /// Why there is nothing to give.
    pub async fn query(
        &self,
        query: &Arc<WpQuery>,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Fetched, FetchError> {
        let run = || {
            let (fetcher, query, arguments) = (self.clone(), query.clone(), arguments.clone());
            async move {
                let posts = query.posts(&fetcher.client, &arguments).await?;
                fetcher.work(query.limits.timeout, move || query.contents(&posts, &arguments)).await
            }
        };
        match query.cache {
            Some(policy) => {
                // WordPress says of no answer whether it is still the same.
                let fetch = |_| {
                    let fetched = run();
                    async move { Ok(Answer::New(fetched.await?, Validators::default())) }
                };
                self.cache.get((query.number, arguments.clone()), policy, self.client.errand().clone(), fetch).await
            }
            None => run().await,
        }
    }

    /// Fetches a small document of an authorization server. Who could change it on its way would be let in.
    ///
    /// # Errors
    /// Why there is nothing to give.
    pub(crate) async fn document(&self, url: &str, allow_private_network: bool) -> Result<Bytes, FetchError> {
        let url = reqwest::Url::parse(url).map_err(|error| FetchError::failed("no address").because(error))?;
        let limits = Limits {
            max_bytes: MAX_DOCUMENT,
            allow_private_network,
            only_safe: true,
            ..Limits::new(&source::Fetch::default())
        };
        let request = Request {
            method: reqwest::Method::GET,
            url,
            headers: HeaderMap::new(),
            body: None,
            limits,
            accept_status: vec![StatusRange { first: 200, last: 200 }],
            validators: Validators::default(),
        };
        Ok(self.client.send(request).await?.body)
    }

    async fn ask(
        &self,
        url: Arc<Url>,
        arguments: BTreeMap<String, String>,
        validators: Validators,
    ) -> Result<Answer, FetchError> {
        let response = self.client.send(url.request(&arguments, validators)?).await?;
        if response.is_unchanged() {
            return Ok(Answer::Unchanged);
        }
        let validators = Validators::of(&response.headers);
        let fetched = self.work(url.limits.timeout, move || url.contents(&response, &arguments)).await?;
        Ok(Answer::New(fetched, validators))
    }

    /// Runs what keeps a processor busy where it holds up nobody.
    async fn work(
        &self,
        limit: Duration,
        work: impl FnOnce() -> Result<Fetched, FetchError> + Send + 'static,
    ) -> Result<Fetched, FetchError> {
        let worked = async {
            let worker = self
                .workers
                .clone()
                .acquire_owned()
                .await
                .map_err(|closed| FetchError::failed("stopped").because(closed))?;
            let work = move || {
                // Held until the work is done, even if nobody waits for it any more.
                let _worker = worker;
                work()
            };
            spawn_blocking(work).await.unwrap_or_else(|error| {
                Err(FetchError::failed("the answer could not be made into contents").because(error))
            })
        };
        let too_long =
            || FetchError::failed(format!("the answer took more than {} to be made into contents", Time(limit)));
        timeout(limit, worked).await.unwrap_or_else(|_| Err(too_long()))
    }
}

impl Payload {
    /// Bytes of the contents.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Blob(bytes) => bytes.len(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for ConfigError {}

impl fmt::Display for EntryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(names) => write!(f, "missing in the environment: {}", names.join(", ")),
            Self::Invalid(message) => f.write_str(message),
        }
    }
}

impl Error for EntryError {}
