//! What is counted, and that nobody can make more of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcpress_runtime::{
    access::Access,
    fetch::{Config, Fetcher},
    http::App,
    limits::Limits,
    mcp::{Site, Surroundings},
    metrics::Metrics,
};
use serde_json::json;
use tokio::{io::AsyncWriteExt, time::timeout};

use super::{
    subscriptions::listen_at,
    support::{PATIENCE, TestServer, app, fixture, published, request},
    upstream::{Reply, Upstream, response, status},
};

/// The values by name and labels, without the buckets.
fn values(metrics: &Metrics) -> BTreeMap<String, f64> {
    let text = metrics.text();
    let samples = text.lines().filter(|line| !line.starts_with('#') && !line.contains("_bucket{"));
    samples
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.to_owned(), value.parse().unwrap()))
        .collect()
}

/// The value of the one sample that begins so.
fn value(metrics: &Metrics, name: &str) -> f64 {
    let values = values(metrics);
    let is_it = |known: &str| known.starts_with(name) && (name.contains('{') || known.split('{').next() == Some(name));
    let mut found = values.iter().filter(|(known, _)| is_it(known));
    let (_, value) = found.next().unwrap_or_else(|| panic!("no {name} in {values:#?}"));
    assert!(found.next().is_none(), "{name} in {values:#?}");
    *value
}

/// Waits until it has this value: what ends a connection ends a moment after the client knows.
async fn becomes(metrics: &Metrics, name: &str, expected: f64) {
    let reached = async {
        while value(metrics, name) != expected {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, reached).await.unwrap_or_else(|_| panic!("{name} is {}", value(metrics, name)));
}

async fn serve() -> (TestServer, Arc<Metrics>) {
    let app = app(&fixture("site"));
    let metrics = app.metrics.clone();
    (TestServer::with(app).await, metrics)
}

#[tokio::test]
async fn a_request_counts_once_by_what_came_of_it() {
    let (server, metrics) = serve().await;
    let uri = json!({ "uri": "docs://api-overview" });
    let read = server.rpc("docs", "resources/read", uri.clone()).await;
    assert!(read.get("result").is_some(), "{read}");
    server.modern("docs", "resources/read", uri).await;
    server.rpc("docs", "resources/read", json!({ "uri": "docs://none" })).await;
    server.rpc("docs", "resources/read", json!({})).await;
    server.rpc("docs", "tools/call", json!({ "name": "none" })).await;
    server.rpc("docs", "no/such", json!({})).await;
    server.modern("docs", "no/such", json!({})).await;
    server.post("docs", &[], b"[").await;
    server.post("docs", &[], br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    server.post("docs", &[], format!("[{ping},{ping}]").as_bytes()).await;
    server.post("docs", &[], format!("[{ping},{}]", ping.replace("ping", "pong")).as_bytes()).await;
    server.post("docs", &[("content-type", "text/plain")], b"x").await;
    server.post("none", &[], b"{}").await;
    server.send("GET", "/healthz", &[], b"").await;
    server.send("GET", "/", &[("host", "evil.example")], b"").await;
    let counted: Vec<_> = values(&metrics)
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{} {value}", name.strip_prefix("mcpress_requests_total")?)))
        .collect();
    insta::assert_snapshot!(counted.join("\n"), @r#"
    {server="",method="",revision="",outcome="forbidden"} 1
    {server="",method="",revision="",outcome="not_found"} 1
    {server="",method="",revision="",outcome="ok"} 1
    {server="docs",method="",revision="",outcome="invalid"} 1
    {server="docs",method="",revision="",outcome="rejected"} 1
    {server="docs",method="batch",revision="2025-03-26",outcome="ok"} 1
    {server="docs",method="batch",revision="2025-03-26",outcome="unknown_method"} 1
    {server="docs",method="notification",revision="",outcome="ok"} 1
    {server="docs",method="other",revision="2025-03-26",outcome="unknown_method"} 1
    {server="docs",method="other",revision="2026-07-28",outcome="unknown_method"} 1
    {server="docs",method="resources/read",revision="2025-03-26",outcome="invalid"} 1
    {server="docs",method="resources/read",revision="2025-03-26",outcome="not_found"} 1
    {server="docs",method="resources/read",revision="2025-03-26",outcome="ok"} 1
    {server="docs",method="resources/read",revision="2026-07-28",outcome="ok"} 1
    {server="docs",method="tools/call",revision="2025-03-26",outcome="not_found"} 1
    "#);
    assert_eq!(
        value(&metrics, r#"mcpress_request_duration_seconds_count{server="docs",method="resources/read"}"#),
        4.0
    );
    assert!(value(&metrics, r#"mcpress_response_bytes_total{server="docs"}"#) > 1000.0);
}

#[test]
fn the_manual_names_each_outcome_and_no_other() {
    let text = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let source = text("crates/runtime/src/outcome.rs");
    let outcomes: BTreeSet<&str> = source.split("=> \"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(outcomes.contains("ok") && outcomes.contains("cancelled"), "{outcomes:?}");
    let page = text("content/docs/resources/reference/metrics-and-logs.md");
    let (_, table) = page.split_once("\n| `outcome` | what it means |").unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = rows.map(|row| row.split('|').nth(1).unwrap());
    let named: Vec<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert_eq!(named.len(), outcomes.len(), "{named:?}");
    assert_eq!(BTreeSet::from_iter(named), outcomes);
}

#[tokio::test]
async fn nothing_a_client_sends_makes_a_series() {
    let (server, metrics) = serve().await;
    let series = |metrics: &Metrics| values(metrics).into_keys().collect::<BTreeSet<_>>();
    let mut before = BTreeSet::new();
    for round in 0..3 {
        let hostile = format!("x{round}\"}}\\n{{\u{fc}");
        let ascii = format!("x{round}\"}}");
        for method in [hostile.as_str(), "resources/read", "tools/call", "subscriptions/listen"] {
            let params = json!({ "uri": hostile, "name": hostile, "cursor": hostile });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
            server.post("docs", &[], message.as_bytes()).await;
            server.modern("docs", method, json!({ "uri": ascii, "name": ascii, "cursor": ascii })).await;
        }
        let slug = format!("x{round}%22%7D");
        server.post(&slug, &[], b"{}").await;
        server.send(&format!("X{round}"), "/mcp/docs", &[], b"").await;
        server.send("GET", &format!("/{slug}?{slug}"), &[], b"").await;
        for header in ["mcp-protocol-version", "mcp-method", "x-request-id", "traceparent", "host", "origin", "accept"]
        {
            server.post("docs", &[(header, &ascii)], br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
        }
        let version = json!({ "protocolVersion": hostile, "capabilities": {}, "clientInfo": { "name": hostile } });
        server.rpc("docs", "initialize", version).await;
        let now = series(&metrics);
        assert!(!metrics.text().contains(&format!("x{round}")), "{now:#?}");
        if round > 0 {
            assert_eq!(now, before);
        }
        before = now;
    }
}

#[tokio::test]
async fn what_is_open_is_counted_until_it_ends() {
    let (server, metrics) = serve().await;
    let (stream, _) = listen_at(&server, "docs").await;
    assert_eq!(value(&metrics, "mcpress_connections_limit"), 1000.0);
    assert_eq!(value(&metrics, "mcpress_streams"), 1.0);
    assert_eq!(value(&metrics, "mcpress_connections"), 1.0);
    drop(stream);
    becomes(&metrics, "mcpress_streams", 0.0).await;
}

/// A server with one live entry, and its metrics.
async fn live(upstream: &Upstream, cache: &str) -> (TestServer, Arc<Metrics>) {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("live/resources")).unwrap();
    fs::write(tree.path().join("live/server.yaml"), "fetch: {allow_private_network: true}\n").unwrap();
    let entry = format!("{{uri: 'live://page', url: {{href: '{}'{cache}}}}}", upstream.url("/"));
    fs::write(tree.path().join("live/resources/page.yaml"), entry).unwrap();
    let compiled = mcpress_compiler::compile(tree.path()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let fetcher = Fetcher::new(&Config::default()).unwrap();
    let metrics = fetcher.metrics().clone();
    let surroundings = Surroundings { fetcher, environment: Default::default(), subscriptions: 1, reloads: false };
    let site = Site::new(compiled.catalog, surroundings).unwrap();
    let app = App {
        site: published(site),
        access: Access::default(),
        proxies: Default::default(),
        limits: Limits::default(),
        metrics: metrics.clone(),
    };
    (TestServer::with(app).await, metrics)
}

#[tokio::test]
async fn fetches_and_what_the_cache_did_are_counted() {
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Bytes(response("200 OK", &[("etag", "\"1\""), ("content-type", "text/plain")], "x")),
        1 => status("304 Not Modified"),
        2 => status("500 Broken"),
        _ => status("404 Gone"),
    })
    .await;
    let (server, metrics) = live(&upstream, ", cache: {ttl: 0s, stale_if_error: 1h}").await;
    let read = || server.rpc("live", "resources/read", json!({ "uri": "live://page" }));
    for _ in 0..4 {
        assert!(read().await.get("result").is_some());
    }
    let counts = |name: &str| {
        let prefix = format!("mcpress_{name}_total{{server=\"live\",");
        let values = values(&metrics).into_iter();
        values.filter_map(|(name, value)| Some((name.strip_prefix(&prefix)?.to_owned(), value))).collect::<Vec<_>>()
    };
    let of = |label: &str, value: f64| (label.to_owned(), value);
    assert_eq!(
        counts("upstream_requests"),
        [of("outcome=\"failed\"}", 1.0), of("outcome=\"not_modified\"}", 1.0), of("outcome=\"ok\"}", 1.0)]
    );
    // The last read came so soon after the failure that nobody was asked.
    assert_eq!(
        counts("cache_reads"),
        [of("result=\"miss\"}", 1.0), of("result=\"revalidated\"}", 1.0), of("result=\"stale\"}", 2.0)]
    );
    assert_eq!(value(&metrics, "mcpress_upstream_request_duration_seconds_count"), 3.0);
    assert_eq!(value(&metrics, "mcpress_upstream_requests_in_flight"), 0.0);
}

#[tokio::test]
async fn who_goes_away_is_counted_too() {
    let upstream = Upstream::start(|_| Reply::Stall(Vec::new())).await;
    let (server, metrics) = live(&upstream, "").await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "live://page" } });
    let mut stream = server.connect().await;
    stream.write_all(&request("POST", "/mcp/live", &[], body.to_string().as_bytes())).await.unwrap();
    upstream.asked().await;
    assert_eq!(value(&metrics, "mcpress_upstream_requests_in_flight"), 1.0);
    drop(stream);
    becomes(&metrics, "mcpress_upstream_requests_in_flight", 0.0).await;
    becomes(&metrics, "mcpress_connections", 0.0).await;
    let request =
        r#"mcpress_requests_total{server="live",method="resources/read",revision="2025-03-26",outcome="cancelled"}"#;
    assert_eq!(value(&metrics, request), 1.0);
    assert_eq!(value(&metrics, r#"mcpress_upstream_requests_total{server="live",outcome="cancelled"}"#), 1.0);
}

#[test]
fn no_content_is_named_while_none_is_served() {
    let metrics = Metrics::default();
    metrics.serves("");
    assert!(!metrics.text().contains("mcpress_content_info{"), "{}", metrics.text());
    metrics.serves("a");
    assert!(metrics.text().contains("mcpress_content_info{hash=\"a\"} 1"), "{}", metrics.text());
}
