//! One HTTP exchange within its bounds: which addresses may be connected to, where redirects may lead and what goes
//! with them, how long it may take, and how much may come back.

use std::{
    collections::HashMap,
    error::Error,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use mcpress_catalog::source::{Fetch, StatusRange};
use reqwest::{
    Method, StatusCode, Url,
    header::{self, HeaderMap, HeaderValue},
    redirect::Policy,
};
use rustls::ClientConfig;
use tokio::time::timeout;

use super::{
    Config, ConfigError, Errand,
    address::NotPublic,
    error::{FetchError, Size, Time},
    redirect,
    resolver::Resolver,
    tls,
    turns::Turns,
};
use crate::metrics::Metrics;

/// Sends requests on somebody's errand. Cheap to clone; all clones share connections and limits.
#[derive(Clone)]
pub(crate) struct Client {
    shared: Arc<Shared>,
    errand: Errand,
}

/// What all fetches share.
struct Shared {
    tls: ClientConfig,
    proxy: Option<reqwest::Proxy>,
    hosts: Arc<HashMap<String, Vec<IpAddr>>>,
    idle_timeout: Duration,
    turns: Turns,
    /// A pool of connections for each way to connect, so that a request which may only go to public addresses never
    /// meets a connection that another one has opened.
    pools: Mutex<HashMap<Reach, reqwest::Client>>,
    metrics: Arc<Metrics>,
}

/// How a connection is opened.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Reach {
    allow_private_network: bool,
    connect_timeout: Duration,
}

/// What to ask.
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// For the origin of `url` only, and so is the body.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) limits: Limits,
    /// Any other status is an error.
    pub(crate) accept_status: Vec<StatusRange>,
    /// Of an answer that is known already: then status 304 is accepted too.
    pub(crate) validators: Validators,
}

/// Within which bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Limits {
    pub(crate) timeout: Duration,
    pub(crate) connect_timeout: Duration,
    /// Of the decoded body.
    pub(crate) max_bytes: u64,
    pub(crate) max_redirects: u32,
    pub(crate) allow_private_network: bool,
    /// Plain http is for this machine only, wherever redirects lead.
    pub(crate) only_safe: bool,
}

/// What an upstream may be asked about an answer: whether it is still the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Validators {
    etag: Option<HeaderValue>,
    last_modified: Option<HeaderValue>,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    /// Where the redirects led.
    pub(crate) url: Url,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Client {
    pub(super) fn new(config: &Config) -> Result<Self, ConfigError> {
        let proxy = match &config.proxy {
            Some(proxy) => Some(self::proxy(proxy)?),
            None => None,
        };
        let shared = Shared {
            tls: tls::config(config.ca_file.as_deref())?,
            proxy,
            hosts: Arc::new(config.hosts.clone()),
            idle_timeout: config.idle_timeout,
            turns: Turns::new(config.max_fetches, config.max_fetches_per_host, config.max_wait),
            pools: Mutex::default(),
            metrics: config.metrics.clone(),
        };
        Ok(Self { shared: Arc::new(shared), errand: Errand::default() })
    }

    /// The same, on an errand.
    pub(super) fn on(&self, errand: Errand) -> Self {
        Self { shared: self.shared.clone(), errand }
    }

    pub(super) fn metrics(&self) -> &Arc<Metrics> {
        &self.shared.metrics
    }

    /// For whom it asks.
    pub(super) fn errand(&self) -> &Errand {
        &self.errand
    }

    /// Waits for its turn, then asks. Dropping the future ends the exchange.
    pub(crate) async fn send(&self, mut request: Request) -> Result<Response, FetchError> {
        let asking = self.shared.metrics.asking(self.errand.server.clone());
        self.trace(&mut request.headers);
        let sent = self.send_in_turn(request).await;
        asking.done(match &sent {
            Ok(response) => match response.status.as_u16() {
                304 => "not_modified",
                400..500 => "denied",
                500.. => "failed",
                _ => "ok",
            },
            Err(error) => error.outcome(),
        });
        sent
    }

    /// Says to which request and trace this one belongs, unless the entry has such a header of its own. As all
    /// headers, these stay with the origin.
    fn trace(&self, headers: &mut HeaderMap) {
        let trace = &self.errand.trace;
        for (name, value) in [("x-request-id", trace.header()), ("traceparent", trace.traceparent().into())] {
            if let Ok(value) = HeaderValue::from_maybe_shared(value) {
                headers.entry(name).or_insert(value);
            }
        }
    }

    async fn send_in_turn(&self, request: Request) -> Result<Response, FetchError> {
        let host = host(&request.url);
        let limit = request.limits.timeout;
        let _turn = self.shared.turns.take(&host).await?;
        timeout(limit, self.follow(request)).await.unwrap_or_else(|_| Err(FetchError::timed_out(&host, limit)))
    }

    /// Asks, and asks again wherever the answer leads.
    async fn follow(&self, mut request: Request) -> Result<Response, FetchError> {
        let limits = request.limits;
        let pool = self.pool(limits)?;
        redirect::check_address(&request, None)?;
        for _ in 0..=limits.max_redirects {
            let host = host(&request.url);
            let response = ask(&pool, &request).await.map_err(|error| explain(&host, limits, error))?;
            let status = response.status();
            let unchanged = status == StatusCode::NOT_MODIFIED && request.validators.any();
            if unchanged || request.accept_status.iter().any(|range| range.contains(status.as_u16())) {
                return self.receive(response, &host, limits).await;
            }
            let Some(location) = redirect::location(&response) else {
                return Err(FetchError::status(&host, status.as_u16()));
            };
            redirect::follow(&mut request, status, location)?;
        }
        Err(FetchError::upstream(
            &host(&request.url),
            format_args!("is behind more than {} redirects", limits.max_redirects),
        ))
    }

    /// Takes in the body as it comes, and no more of it than may be.
    async fn receive(
        &self,
        mut response: reqwest::Response,
        host: &str,
        limits: Limits,
    ) -> Result<Response, FetchError> {
        let too_large = || FetchError::upstream(host, format_args!("sent more than {}", Size(limits.max_bytes)));
        // Whatever could be decoded has lost this header by now.
        if response.headers().get(header::CONTENT_ENCODING).is_some_and(|coding| coding != "identity") {
            return Err(FetchError::upstream(host, "sent its answer in a coding that nobody asked for"));
        }
        if response.content_length().is_some_and(|length| length > limits.max_bytes) {
            return Err(too_large());
        }
        let mut body = BytesMut::new();
        loop {
            let chunk = match timeout(self.shared.idle_timeout, response.chunk()).await {
                Ok(chunk) => chunk.map_err(|error| {
                    FetchError::upstream(host, "sent an answer that is broken").because(error.without_url())
                })?,
                Err(_) => {
                    let silence = Time(self.shared.idle_timeout);
                    return Err(FetchError::upstream(host, format_args!("sent nothing for {silence}")));
                }
            };
            let Some(chunk) = chunk else { break };
            if (body.len() + chunk.len()) as u64 > limits.max_bytes {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        Ok(Response {
            url: response.url().clone(),
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body: body.freeze(),
        })
    }

    fn pool(&self, limits: Limits) -> Result<reqwest::Client, FetchError> {
        let Limits { allow_private_network, connect_timeout, .. } = limits;
        let reach = Reach { allow_private_network, connect_timeout };
        let mut pools = self.shared.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&reach) {
            return Ok(pool.clone());
        }
        let pool = self.connect(reach).map_err(|error| FetchError::failed("no client").because(error))?;
        pools.insert(reach, pool.clone());
        Ok(pool)
    }

    fn connect(&self, reach: Reach) -> reqwest::Result<reqwest::Client> {
        // With a proxy, the only name that is resolved here is that of the proxy.
        let any_address = reach.allow_private_network || self.shared.proxy.is_some();
        let mut builder = reqwest::Client::builder()
            .tls_backend_preconfigured(self.shared.tls.clone())
            .user_agent(concat!("mcpress/", env!("CARGO_PKG_VERSION")))
            .redirect(Policy::none())
            .referer(false)
            .no_proxy()
            .connect_timeout(reach.connect_timeout)
            .dns_resolver(Resolver { hosts: self.shared.hosts.clone(), any_address });
        if let Some(proxy) = &self.shared.proxy {
            builder = builder.proxy(proxy.clone());
        }
        builder.build()
    }
}

fn proxy(address: &str) -> Result<reqwest::Proxy, ConfigError> {
    let http = Url::parse(address).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    // The address may hold a password.
    let unusable = || ConfigError("the proxy is no `http://` or `https://` address".to_owned());
    if http { reqwest::Proxy::all(address).map_err(|_| unusable()) } else { Err(unusable()) }
}

async fn ask(pool: &reqwest::Client, request: &Request) -> reqwest::Result<reqwest::Response> {
    let mut builder = pool.request(request.method.clone(), request.url.clone()).headers(request.headers.clone());
    if let Some(etag) = &request.validators.etag {
        builder = builder.header(header::IF_NONE_MATCH, etag);
    }
    if let Some(last_modified) = &request.validators.last_modified {
        builder = builder.header(header::IF_MODIFIED_SINCE, last_modified);
    }
    if let Some(body) = &request.body {
        builder = builder.body(body.clone());
    }
    builder.send().await
}

fn explain(host: &str, limits: Limits, error: reqwest::Error) -> FetchError {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(refused) = inner.downcast_ref::<NotPublic>() {
            return FetchError::refused(refused);
        }
        cause = inner.source();
    }
    let what = if error.is_connect() && error.is_timeout() {
        format!("could not be connected to within {}", Time(limits.connect_timeout))
    } else if error.is_connect() {
        "cannot be reached".to_owned()
    } else {
        "gave no valid answer".to_owned()
    };
    FetchError::upstream(host, what).because(error.without_url())
}

/// The host of a URL, with its port where it has one of its own.
pub(crate) fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

impl Limits {
    pub(crate) fn new(fetch: &Fetch) -> Self {
        Self {
            timeout: Duration::from_millis(fetch.timeout_ms),
            connect_timeout: Duration::from_millis(fetch.connect_timeout_ms),
            max_bytes: fetch.max_bytes,
            max_redirects: fetch.max_redirects,
            allow_private_network: fetch.allow_private_network,
            only_safe: false,
        }
    }
}

impl Validators {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        Self { etag: headers.get(header::ETAG).cloned(), last_modified: headers.get(header::LAST_MODIFIED).cloned() }
    }

    fn any(&self) -> bool {
        self.etag.is_some() || self.last_modified.is_some()
    }
}

impl Response {
    /// True if it says that the answer which the validators came from is still good.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.status == StatusCode::NOT_MODIFIED
    }
}
