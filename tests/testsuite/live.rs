//! Live entries over the real server: what a client is told, and that they hold up nobody else.

use std::{
    fs,
    io::ErrorKind::WouldBlock,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use mcpress_runtime::{
    access::Access,
    fetch::{Config, Fetcher},
    forwarded::TrustedProxies,
    http::App,
    limits::Limits,
    mcp::{Missing, Site, Surroundings},
};
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::{
    support::{PATIENCE, TestServer, published, request},
    upstream::{Reply, Upstream, ok, response, status},
};

const HOUR: Duration = Duration::from_secs(3600);

/// Serves these definitions in an environment that has these variables.
fn site(definitions: &str, variables: &[(&str, &str)]) -> Site {
    site_that_fetches(&Config::default(), definitions, variables)
}

fn site_that_fetches(config: &Config, definitions: &str, variables: &[(&str, &str)]) -> Site {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("live/resources")).unwrap();
    fs::write(tree.path().join("live/server.yaml"), "fetch: {allow_private_network: true}\n").unwrap();
    fs::write(tree.path().join("live/resources/static.txt"), "here\n").unwrap();
    fs::write(tree.path().join("live/resources/entries.yaml"), definitions).unwrap();
    let compiled = mcpress_compiler::compile(tree.path()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let fetcher = Fetcher::new(config).unwrap();
    Site::new(compiled.catalog, Surroundings { fetcher, environment, subscriptions: 1, reloads: false }).unwrap()
}

async fn serve(site: Site) -> TestServer {
    TestServer::with(App {
        site: published(site),
        access: Access::default(),
        proxies: TrustedProxies::default(),
        limits: Limits::default(),
        metrics: Default::default(),
    })
    .await
}

async fn read(server: &TestServer, uri: &str) -> Value {
    server.rpc("live", "resources/read", json!({ "uri": uri })).await
}

#[tokio::test]
async fn an_entry_is_fetched_anew_at_each_read() {
    let count = AtomicUsize::new(0);
    let upstream =
        Upstream::start(move |_| ok("text/plain", format!("read {}", count.fetch_add(1, Ordering::SeqCst) + 1))).await;
    let definitions = format!(
        "- {{uri: 'live://page', url: 'http://127.0.0.1:{0}/'}}\n\
         - uri_template: live://users/{{id}}\n  arguments: {{id: {{pattern: '[a-z/.]+'}}}}\n  \
         url: http://127.0.0.1:{0}/users/{{id}}?x={{id}}\n",
        upstream.port
    );
    let server = serve(site(&definitions, &[])).await;
    for text in ["read 1", "read 2"] {
        let answer = read(&server, "live://page").await;
        let expected = json!([{ "uri": "live://page", "mimeType": "text/plain", "text": text }]);
        assert_eq!(answer["result"], json!({ "contents": expected }));
    }
    assert_eq!(read(&server, "live://users/ada").await["result"]["contents"][0]["text"], "read 3");
    // What an argument holds stays one part of the path and one value of the query.
    assert_eq!(read(&server, "live://users/a%2Fb").await["result"]["contents"][0]["text"], "read 4");
    assert!(read(&server, "live://users/..").await["error"]["message"].as_str().unwrap().contains("not found"));
    let targets: Vec<String> = upstream.requests().into_iter().map(|request| request.target).collect();
    assert_eq!(targets, ["/", "/", "/users/ada?x=ada", "/users/a%2Fb?x=a%2Fb"]);
}

#[tokio::test]
async fn a_failed_fetch_is_one_sentence_and_has_a_name() {
    let upstream = Upstream::start(|_| status("503 Busy")).await;
    let href = format!("http://127.0.0.1:{}/secret-path?token=${{TOKEN}}", upstream.port);
    let server = serve(site(&format!("{{uri: 'live://page', url: '{href}'}}"), &[("TOKEN", "s3cret")])).await;
    let answer = read(&server, "live://page").await;
    let message = format!("upstream 127.0.0.1:{} answered 503", upstream.port);
    let id = answer["error"]["data"]["requestId"].clone();
    assert_eq!(answer["error"], json!({ "code": -32603, "message": message, "data": { "requestId": id } }));
    assert_ne!(read(&server, "live://page").await["error"]["data"]["requestId"], id);
    assert!(upstream.requests()[0].target.ends_with("token=s3cret"));
}

#[tokio::test]
async fn an_older_answer_stands_in_and_says_so() {
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => ok("text/plain", "good"),
        _ => status("500 Broken"),
    })
    .await;
    let definition = format!(
        "{{uri: 'live://page', url: {{href: 'http://127.0.0.1:{}/', cache: {{ttl: 0s, stale_if_error: 1h}}}}}}",
        upstream.port
    );
    let server = serve(site(&definition, &[])).await;
    assert!(read(&server, "live://page").await["result"].get("_meta").is_none());
    let answer = read(&server, "live://page").await;
    assert_eq!(answer["result"]["contents"][0]["text"], "good");
    let stale = &answer["result"]["_meta"]["mcpress/stale"];
    assert_eq!(stale["reason"], format!("upstream 127.0.0.1:{} answered 500", upstream.port));
    assert!(stale["ageSeconds"].is_u64());
}

#[tokio::test]
async fn a_client_that_goes_away_ends_the_fetch() {
    let upstream = Upstream::start(|_| Reply::Stall(response("200 OK", &[], "never all of it")[..40].to_vec())).await;
    let definition = format!("{{uri: 'live://page', url: 'http://127.0.0.1:{}/'}}", upstream.port);
    let server = serve(site(&definition, &[])).await;
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "live://page" } });
    let mut stream = server.connect().await;
    let bytes = request("POST", "/mcp/live", &[], body.to_string().as_bytes());
    tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await.unwrap();
    upstream.asked().await;
    drop(stream);
    upstream.hung_up().await;
}

#[test]
fn missing_variables_are_listed_with_who_needs_them() {
    let definitions = "- {uri: 'live://a', url: {href: 'https://a.example/', headers: {X-Key: '${KEY}'}}}\n\
                       - {uri: 'live://b', url: 'https://${HOST}/${KEY}'}\n\
                       - {uri: 'live://c', url: 'https://${HOST:-b.example}/'}\n";
    let missing =
        |name: &str, line: u8| Missing { name: name.to_owned(), place: format!("live/resources/entries.yaml:{line}") };
    assert_eq!(site(definitions, &[]).missing(), [missing("HOST", 2), missing("KEY", 1), missing("KEY", 2)]);
    assert_eq!(site(definitions, &[("KEY", "x"), ("HOST", "h.example")]).missing(), []);
}

/// The upstream says nothing at all, so whoever waits for one of its answers waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_upstreams_do_not_hold_up_static_reads() {
    let upstream = Upstream::start(|_| Reply::Stall(Vec::new())).await;
    let definition =
        format!("{{uri: 'live://page', url: {{href: 'http://127.0.0.1:{}/', timeout: 1h}}}}", upstream.port);
    let config = Config { max_wait: HOUR, ..Config::default() };
    let server = serve(site_that_fetches(&config, &definition, &[])).await;
    let mut sockets = Vec::new();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": { "uri": "live://page" } });
    for _ in 0..500 {
        let mut stream = server.connect().await;
        let bytes = request("POST", "/mcp/live", &[], body.to_string().as_bytes());
        tokio::io::AsyncWriteExt::write_all(&mut stream, &bytes).await.unwrap();
        sockets.push(stream);
    }
    let all_ask = async {
        while upstream.requests().len() < config.max_fetches_per_host {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, all_ask).await.expect("as many ask as may");
    let static_reads = async {
        for _ in 0..100 {
            assert_eq!(read(&server, "live://static.txt").await["result"]["contents"][0]["text"], "here\n");
        }
    };
    timeout(PATIENCE, static_reads).await.expect("static reads do not wait for live ones");
    let is_waiting = |stream: &TcpStream| stream.try_read(&mut [0]).is_err_and(|error| error.kind() == WouldBlock);
    assert!(sockets.iter().all(is_waiting), "a live read is answered");
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_fetches_leak_nothing() {
    // A port on which nobody listens.
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let site = std::sync::Arc::new(site(&format!("{{uri: 'live://page', url: 'http://127.0.0.1:{port}/'}}"), &[]));
    let fail = async |count: usize| {
        let mut reads = tokio::task::JoinSet::new();
        for _ in 0..20 {
            let site = site.clone();
            reads.spawn(async move {
                for _ in 0..count / 20 {
                    assert!(site.read("live", "live://page").await.is_err());
                }
            });
        }
        while let Some(done) = reads.join_next().await {
            done.unwrap();
        }
    };
    let files = || fs::read_dir("/proc/self/fd").unwrap().count();
    let memory = || {
        let pages = fs::read_to_string("/proc/self/statm").unwrap();
        pages.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    fail(1000).await;
    let (files_before, memory_before) = (files(), memory());
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let tasks_before = tasks();
    fail(10_000).await;
    assert!(tasks() <= tasks_before + 2, "{} tasks, {tasks_before} before", tasks());
    // Other tests run beside this one and hold files of their own.
    assert!(files() < files_before + 500, "{} files, {files_before} before", files());
    assert!(memory() < memory_before + (64 << 20), "{} bytes, {memory_before} before", memory());
}
