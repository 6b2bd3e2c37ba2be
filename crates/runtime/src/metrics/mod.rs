//! What the program counts, for [Prometheus](https://prometheus.io/docs/instrumenting/exposition_formats/).
//!
//! A label has either the slug of a server of the content or a word of the source (`&'static str`) as its value, so
//! nothing that a client sends can make a new series. Nothing here is global: who counts is given a [`Metrics`].

mod process;

use std::{
    collections::HashMap,
    fmt::{self, Write},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder, prometheus_text},
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};

/// The media type of [`Metrics::text`].
pub(crate) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// Seconds: from a slice of the binary to the slowest upstream.
const REQUEST_BUCKETS: [f64; 16] =
    [25e-6, 50e-6, 1e-4, 25e-5, 5e-4, 1e-3, 25e-4, 0.01, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
const UPSTREAM_BUCKETS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// All metrics of the program. One is shared by everything that counts.
pub struct Metrics {
    registry: Registry,
    /// So that one look-up finds all that counts a request.
    kinds: RwLock<HashMap<Answered, Kind>>,
    requests: Family<Answered, Counter>,
    request_duration: Family<Called, Histogram, fn() -> Histogram>,
    response_bytes: Family<Of, Counter>,
    connections: Gauge,
    max_connections: Gauge,
    streams: Gauge,
    upstream_requests: Family<Asked, Counter>,
    upstream_duration: Family<Of, Histogram, fn() -> Histogram>,
    upstream_in_flight: Gauge,
    cache_reads: Family<Cached, Counter>,
    content: Family<Content, Gauge>,
}

/// What a request was, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct Answered {
    pub(crate) server: Slug,
    pub(crate) method: &'static str,
    pub(crate) revision: &'static str,
    pub(crate) outcome: &'static str,
}

/// What counts requests that are alike.
struct Kind {
    requests: Counter,
    duration: Histogram,
    response_bytes: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Called {
    server: Slug,
    method: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Of {
    server: Slug,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Asked {
    server: Slug,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Cached {
    server: Slug,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Content {
    hash: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Build {
    version: &'static str,
}

/// A server of the content; none if there is no such server, or no server was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Slug(pub(crate) Option<Arc<str>>);

/// Something that is open, until it is dropped.
pub(crate) struct Open(Gauge);

/// A request to an upstream that is on its way. Dropped before it is done, it was cancelled.
pub(crate) struct Asking<'a> {
    metrics: &'a Metrics,
    server: Slug,
    outcome: &'static str,
    start: Instant,
    _open: Open,
}

impl Metrics {
    /// The metrics in Prometheus's text format.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to memory does not fail.
        let _ = prometheus_text::encode(&mut text, &self.registry);
        text
    }

    /// Says which content is served from now on; while that is none, its hash is empty.
    pub fn serves(&self, hash: &str) {
        self.content.clear();
        if hash.is_empty() {
            return;
        }
        self.content.get_or_create(&Content { hash: hash.to_owned() }).set(1);
    }

    /// Counts a request that is answered. After the first of its kind it allocates nothing.
    pub(crate) fn answered(&self, request: &Answered, bytes: u64, duration: Duration) {
        if let Some(kind) = self.kinds.read().unwrap_or_else(PoisonError::into_inner).get(request) {
            return kind.count(bytes, duration);
        }
        let kind = self.kind(request);
        kind.count(bytes, duration);
        self.kinds.write().unwrap_or_else(PoisonError::into_inner).insert(request.clone(), kind);
    }

    fn kind(&self, request: &Answered) -> Kind {
        let Answered { server, method, .. } = request;
        Kind {
            requests: self.requests.get_or_create_owned(request),
            duration: self.request_duration.get_or_create_owned(&Called { server: server.clone(), method }),
            response_bytes: self.response_bytes.get_or_create_owned(&Of { server: server.clone() }),
        }
    }

    /// Notes how many connections there may be.
    pub(crate) fn allows_connections(&self, count: usize) {
        self.max_connections.set(i64::try_from(count).unwrap_or(i64::MAX));
    }

    /// A connection of a client.
    pub(crate) fn connection(&self) -> Open {
        Open::new(&self.connections)
    }

    /// A stream of `subscriptions/listen`.
    pub(crate) fn stream(&self) -> Open {
        Open::new(&self.streams)
    }

    /// A request to an upstream that begins now.
    pub(crate) fn asking(&self, server: Slug) -> Asking<'_> {
        let open = Open::new(&self.upstream_in_flight);
        Asking { metrics: self, server, outcome: "cancelled", start: Instant::now(), _open: open }
    }

    /// Counts a read of what may be cached.
    pub(crate) fn read_cache(&self, server: Slug, result: &'static str) {
        self.cache_reads.get_or_create(&Cached { server, result }).inc();
    }
}

impl Default for Metrics {
    fn default() -> Self {
        let mut root = Registry::default();
        root.register_collector(Box::new(process::Process));
        let registry = root.sub_registry_with_prefix("mcpress");
        let request_duration: fn() -> Histogram = || Histogram::new(REQUEST_BUCKETS);
        let upstream_duration: fn() -> Histogram = || Histogram::new(UPSTREAM_BUCKETS);
        let metrics = Self {
            registry: Registry::default(),
            kinds: RwLock::default(),
            requests: Family::default(),
            request_duration: Family::new_with_constructor(request_duration),
            response_bytes: Family::default(),
            connections: Gauge::default(),
            max_connections: Gauge::default(),
            streams: Gauge::default(),
            upstream_requests: Family::default(),
            upstream_duration: Family::new_with_constructor(upstream_duration),
            upstream_in_flight: Gauge::default(),
            cache_reads: Family::default(),
            content: Family::default(),
        };
        let build = Family::<Build, Gauge>::default();
        build.get_or_create(&Build { version: env!("CARGO_PKG_VERSION") }).set(1);
        registry.register("build_info", "The version of the program", build);
        registry.register("content_info", "The hash of the content that is served", metrics.content.clone());
        registry.register(
            "requests",
            "HTTP requests, by what they asked and what came of it",
            metrics.requests.clone(),
        );
        let help = "Time from the head of a request to that of its answer";
        registry.register("request_duration_seconds", help, metrics.request_duration.clone());
        let help = "Bytes of the bodies of answers, without those of streams";
        registry.register("response_bytes", help, metrics.response_bytes.clone());
        registry.register("connections", "Connections of clients that are open", metrics.connections.clone());
        let help = "Connections that may be open at a time";
        registry.register("connections_limit", help, metrics.max_connections.clone());
        registry.register("streams", "Streams of subscriptions that are open", metrics.streams.clone());
        let help = "Requests to upstreams, by what came of them";
        registry.register("upstream_requests", help, metrics.upstream_requests.clone());
        let help = "Time that requests to upstreams took, with the wait for their turn and with redirects";
        registry.register("upstream_request_duration_seconds", help, metrics.upstream_duration.clone());
        let help = "Requests to upstreams that wait or are on their way";
        registry.register("upstream_requests_in_flight", help, metrics.upstream_in_flight.clone());
        let help = "Reads of entries with a cache, by where the answer came from";
        registry.register("cache_reads", help, metrics.cache_reads.clone());
        Self { registry: root, ..metrics }
    }
}

impl Kind {
    fn count(&self, bytes: u64, duration: Duration) {
        self.requests.inc();
        self.duration.observe(duration.as_secs_f64());
        self.response_bytes.inc_by(bytes);
    }
}

impl Open {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Asking<'_> {
    /// Ends it.
    pub(crate) fn done(mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let (server, outcome) = (self.server.clone(), self.outcome);
        self.metrics.upstream_requests.get_or_create(&Asked { server: server.clone(), outcome }).inc();
        self.metrics.upstream_duration.get_or_create(&Of { server }).observe(self.start.elapsed().as_secs_f64());
    }
}

impl EncodeLabelValue for Slug {
    fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> fmt::Result {
        encoder.write_str(self.0.as_deref().unwrap_or_default())
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}
