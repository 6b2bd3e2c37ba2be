//! `url` entries, against an upstream that does what upstreams do. No upstream is ever asked for what it must not see.

use std::{
    collections::BTreeMap,
    error::Error,
    io::Write,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcpress_catalog::{
    source::{self, Cache, Definition, Fetch, Html, Method, StatusRange, Template},
    template,
};
use mcpress_runtime::fetch::{Config, EntryError, FetchError, Fetched, Fetcher, Payload, Url};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::json;
use tokio::{
    net::{TcpSocket, TcpStream},
    sync::Barrier,
    time::timeout,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

use super::upstream::{Reply, Request, Upstream, ok, redirect, response, status};

/// No fetch of these tests takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(20);

/// An entry whose keys are those that a definition has where it gives none, apart from where it may connect to.
fn url(href: impl Into<String>) -> source::Url {
    source::Url {
        href: href.into(),
        method: Method::Get,
        body: None,
        fetch: Fetch { allow_private_network: true, ..Fetch::default() },
        accept_status: vec![StatusRange::SUCCESS],
        select: None,
        html: Html::Raw,
        template: None,
    }
}

fn definition(url: &source::Url) -> Definition {
    Definition {
        uri: "test://entry".to_owned(),
        place: "entry.yaml:1".to_owned(),
        mime_type: None,
        meta: None,
        arguments: [("id".to_owned(), source::Argument::default())].into(),
        context: serde_json::from_value(json!({ "vars": { "site": "Example" } })).unwrap(),
        source: source::Source::Url(Box::new(url.clone())),
    }
}

fn fetcher() -> Fetcher {
    Fetcher::new(&Config::default()).unwrap()
}

fn entry(fetcher: &Fetcher, url: &source::Url) -> Arc<Url> {
    prepare(fetcher, url).unwrap()
}

fn prepare(fetcher: &Fetcher, url: &source::Url) -> Result<Arc<Url>, EntryError> {
    let environment = template::environment([]).unwrap();
    let lookup = |name: &str| (name == "TOKEN").then(|| "s3cret".to_owned());
    fetcher.url(&definition(url), url, &environment, lookup)
}

async fn fetch(url: &source::Url) -> Result<Fetched, FetchError> {
    read(&fetcher(), url).await
}

async fn read(fetcher: &Fetcher, url: &source::Url) -> Result<Fetched, FetchError> {
    fetcher.fetch(&entry(fetcher, url), &BTreeMap::new()).await
}

fn text(fetched: Result<Fetched, FetchError>) -> String {
    match fetched {
        Ok(Fetched { payload: Payload::Text(text), stale: None, .. }) => text.to_string(),
        other => panic!("{other:?}"),
    }
}

fn message(fetched: Result<Fetched, FetchError>) -> String {
    fetched.expect_err("a fetch that cannot succeed").to_string()
}

/// All that is known of an error, for people who read the log.
fn log(error: &FetchError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    text
}

#[tokio::test]
async fn takes_text_and_binary_as_they_come() {
    let upstream = Upstream::start(|request| match request.target.as_str() {
        "/text" => ok("text/markdown; charset=utf-8", "# Ü\n"),
        "/latin" => ok("text/plain; charset=iso-8859-1", b"\xfc"),
        "/wrong" => ok("text/plain; charset=utf-8", b"a\xfc"),
        "/meta" => ok("text/html", b"<meta charset=windows-1252>\x80"),
        "/bom" => ok("application/json", "\u{feff}{}"),
        "/png" => ok("image/png", b"\x89PNG\0"),
        "/empty" => Reply::Bytes(response("204 No Content", &[], "")),
        "/untyped" => Reply::Bytes(response("200 OK", &[], "plain")),
        _ => status("404 Not Found"),
    })
    .await;
    for (target, mime_type, payload) in [
        ("/text", "text/markdown", Payload::Text("# Ü\n".into())),
        ("/latin", "text/plain", Payload::Text("ü".into())),
        ("/wrong", "text/plain", Payload::Text("a\u{fffd}".into())),
        ("/meta", "text/html", Payload::Text("<meta charset=windows-1252>€".into())),
        ("/bom", "application/json", Payload::Text("{}".into())),
        ("/png", "image/png", Payload::Blob(b"\x89PNG\0"[..].into())),
        ("/empty", "text/plain", Payload::Text("".into())),
        ("/untyped", "text/plain", Payload::Text("plain".into())),
    ] {
        let fetched = fetch(&url(upstream.url(target))).await.unwrap();
        assert_eq!((fetched.mime_type.as_str(), fetched.payload), (mime_type, payload), "{target}");
    }
    let first = &upstream.requests()[0];
    assert_eq!(first.method, "GET");
    assert_eq!(first.header("user-agent"), Some(concat!("mcpress/", env!("CARGO_PKG_VERSION"))));
}

#[tokio::test]
async fn sends_what_the_definition_says() {
    let upstream = Upstream::start(|_| ok("text/plain", "done")).await;
    let mut url = url(upstream.url("/?q=$$1"));
    url.method = Method::Post;
    url.body = Some("{\"token\":\"${TOKEN}\"}".to_owned());
    url.fetch.headers = [("authorization", "Bearer ${TOKEN}"), ("x-mode", "${MODE:-fast}")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    assert_eq!(text(fetch(&url).await), "done");
    let requests = upstream.requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!((request.method.as_str(), request.target.as_str()), ("POST", "/?q=$1"));
    assert_eq!(request.body, "{\"token\":\"s3cret\"}");
    assert_eq!(request.header("authorization"), Some("Bearer s3cret"));
    assert_eq!(request.header("x-mode"), Some("fast"));
}

#[test]
fn what_the_environment_holds_is_no_template_and_never_quoted() {
    let fetcher = fetcher();
    let environment = template::environment([]).unwrap();
    for (href, value) in [("https://a.example/?k=${K}", "tok{id}x"), ("https://a.example/?k=${K}", "{SECRETPART}")] {
        let url = url(href);
        let entry = fetcher.url(&definition(&url), &url, &environment, |_| Some(value.to_owned()));
        assert!(entry.is_ok(), "{value}");
    }
    let url = url("${K}/x");
    let entry = fetcher.url(&definition(&url), &url, &environment, |_| Some("SECRET:xyz".to_owned()));
    let message = entry.err().unwrap().to_string();
    assert_eq!(message, "`href` is no address once the environment is filled in");
}

#[test]
fn lists_all_that_is_missing_in_the_environment() {
    let mut url = url("https://${HOST}/");
    url.fetch.headers = [("a".to_owned(), "${KEY} ${TOKEN}".to_owned())].into();
    url.body = Some("${BODY}".to_owned());
    let missing = ["HOST", "BODY", "KEY"].map(str::to_owned).to_vec();
    assert_eq!(prepare(&fetcher(), &url).err(), Some(EntryError::Missing(missing)));
    url.href = "${TOKEN}".to_owned();
    url.fetch.headers.clear();
    url.body = None;
    let invalid = prepare(&fetcher(), &url).err().unwrap().to_string();
    assert!(invalid.starts_with("`href` is no address") && !invalid.contains("s3cret"), "{invalid}");
}

#[tokio::test]
async fn names_the_status_that_is_not_accepted() {
    let upstream = Upstream::start(|request| match request.target.as_str() {
        "/gone" => Reply::Bytes(response("404 Not Found", &[("content-type", "text/plain")], "nothing here")),
        _ => Reply::Bytes(response("503 Service Unavailable", &[], "internal: password=hunter2")),
    })
    .await;
    let host = format!("127.0.0.1:{}", upstream.port);
    assert_eq!(message(fetch(&url(upstream.url("/x?token=y"))).await), format!("upstream {host} answered 503"));
    assert_eq!(message(fetch(&url(upstream.url("/gone"))).await), format!("upstream {host} answered 404"));
    let mut lenient = url(upstream.url("/gone"));
    lenient.accept_status = vec![StatusRange { first: 404, last: 404 }];
    assert_eq!(text(fetch(&lenient).await), "nothing here");
}

#[tokio::test]
async fn every_way_to_fail_is_one_sentence() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n";
    let short = format!("{head}content-length: 100\r\n\r\nabc");
    let upstream = Upstream::start(move |request| match request.target.split('?').next().unwrap() {
        "/silent" => Reply::Stall(Vec::new()),
        "/half" => Reply::Stall(short.clone().into()),
        "/drip" => Reply::Drip(format!("{head}content-length: 999\r\n\r\n").into(), Duration::from_millis(20)),
        "/reset" => Reply::Reset(Vec::new()),
        "/reset-half" => Reply::Reset(short.clone().into()),
        "/short" => Reply::Bytes(short.clone().into()),
        "/chunks" => Reply::Bytes(format!("{head}transfer-encoding: chunked\r\n\r\n5\r\nab").into()),
        "/gzip" => Reply::Bytes(response("200 OK", &[("content-encoding", "gzip")], "no gzip at all")),
        "/coding" => Reply::Bytes(response("200 OK", &[("content-encoding", "compress")], "x")),
        "/twice" => Reply::Bytes(response("200 OK", &[("content-encoding", "gzip, gzip")], "x")),
        "/junk" => Reply::Bytes(b"SSH-2.0-OpenSSH_9.6\r\n\r\n".into()),
        "/long" => Reply::Bytes(response("200 OK", &[], "x".repeat(2000))),
        "/unbounded" => Reply::Drip(format!("{head}\r\n{}", "x".repeat(2000)).into(), Duration::from_secs(1)),
        other => panic!("{other}"),
    })
    .await;
    // Where a time matters, the other one is so long that no machine is too slow for it; only what drips has to be in
    // time, with a byte in each four seconds.
    const LONG: u64 = 3_600_000;
    let check = async |target: &str, timeout_ms: u64, idle_ms: u64, expected: &str| {
        let config = Config { idle_timeout: Duration::from_millis(idle_ms), ..Config::default() };
        let mut url = url(upstream.url(&format!("/{target}?key=s3cret")));
        url.fetch = Fetch { timeout_ms, max_bytes: 1024, ..url.fetch };
        let error = timeout(PATIENCE, read(&Fetcher::new(&config).unwrap(), &url)).await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), format!("upstream 127.0.0.1:{} {expected}", upstream.port), "{target}");
        assert!(!log(&error).contains("s3cret"), "{}", log(&error));
    };
    tokio::join!(
        check("silent", 1_000, LONG, "timed out after 1 s"),
        check("half", LONG, 200, "sent nothing for 200 ms"),
        check("drip", 5_000, 4_000, "timed out after 5 s"),
    );
    for (target, expected) in [
        ("reset", "gave no valid answer"),
        ("reset-half", "sent an answer that is broken"),
        ("short", "sent an answer that is broken"),
        ("chunks", "sent an answer that is broken"),
        ("gzip", "sent an answer that is broken"),
        ("coding", "sent its answer in a coding that nobody asked for"),
        ("twice", "sent its answer in a coding that nobody asked for"),
        ("junk", "gave no valid answer"),
        ("long", "sent more than 1 KiB"),
        ("unbounded", "sent more than 1 KiB"),
    ] {
        check(target, LONG, LONG, expected).await;
    }
}

#[tokio::test]
async fn says_that_nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    drop(listener);
    let error = fetch(&url(format!("http://{host}/?key=s3cret"))).await.unwrap_err();
    assert_eq!(error.to_string(), format!("upstream {host} cannot be reached"));
    assert!(log(&error).contains("onnection refused") && !log(&error).contains("s3cret"), "{}", log(&error));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn gives_up_connecting_to_a_host_that_takes_no_more() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let host = listener.local_addr().unwrap();
    // Nobody accepts, so the queue fills up.
    let mut queued = Vec::new();
    while let Ok(Ok(stream)) = timeout(Duration::from_millis(200), TcpStream::connect(host)).await {
        queued.push(stream);
        assert!(queued.len() < 100, "the queue never fills up");
    }
    let mut url = url(format!("http://{host}/"));
    url.fetch.connect_timeout_ms = 100;
    assert_eq!(message(fetch(&url).await), format!("upstream {host} could not be connected to within 100 ms"));
}

#[tokio::test]
async fn stops_at_a_bomb() {
    let upstream = Upstream::start(|request| {
        Reply::Bomb(match request.target.as_str() {
            "/gzip" => "gzip",
            "/deflate" => "deflate",
            "/br" => "br",
            _ => "zstd",
        })
    })
    .await;
    for coding in ["gzip", "deflate", "br", "zstd"] {
        let fetched = timeout(PATIENCE, fetch(&url(upstream.url(&format!("/{coding}"))))).await.unwrap();
        assert_eq!(message(fetched), format!("upstream 127.0.0.1:{} sent more than 5 MiB", upstream.port), "{coding}");
    }
}

#[tokio::test]
async fn follows_redirects_as_browsers_do() {
    let upstream = Upstream::start(|request| match request.target.as_str() {
        "/end" => ok("text/plain", "there"),
        path => redirect(&format!("{} Moved", &path[1..4]), "end"),
    })
    .await;
    for (code, method, then) in [
        (301, Method::Get, "GET"),
        (302, Method::Get, "GET"),
        (303, Method::Get, "GET"),
        (307, Method::Get, "GET"),
        (308, Method::Get, "GET"),
        (301, Method::Post, "GET"),
        (302, Method::Post, "GET"),
        (303, Method::Post, "GET"),
        (307, Method::Post, "POST"),
        (308, Method::Post, "POST"),
    ] {
        let mut url = url(upstream.url(&format!("/{code}")));
        url.method = method;
        url.body = (method == Method::Post).then(|| "body".to_owned());
        url.fetch.headers = [("content-type", "text/x"), ("x-api-key", "k")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
        assert_eq!(text(fetch(&url).await), "there", "{code}");
        let last = upstream.requests().pop().unwrap();
        let (body, content_type) = if then == "POST" { ("body", Some("text/x")) } else { ("", None) };
        assert_eq!((last.method.as_str(), last.body.as_str()), (then, body), "{code} {method:?}");
        assert_eq!(last.header("x-api-key"), Some("k"), "within its origin");
        if method == Method::Post {
            assert_eq!(last.header("content-type"), content_type, "{code}");
        }
    }
    let none = Upstream::start(|request| match request.target.as_str() {
        "/no-location" => status("302 Found"),
        "/not-modified" => status("304 Not Modified"),
        _ => Reply::Bytes(response("300 Multiple Choices", &[("location", "/x")], "")),
    })
    .await;
    for (target, code) in [("/no-location", 302), ("/not-modified", 304), ("/choices", 300)] {
        let expected = format!("upstream 127.0.0.1:{} answered {code}", none.port);
        assert_eq!(message(fetch(&url(none.url(target))).await), expected);
    }
}

#[tokio::test]
async fn ends_where_redirects_do_not() {
    let upstream = Upstream::start(|request| {
        let hops: usize = request.target.trim_start_matches('/').parse().unwrap();
        redirect("302 Found", &format!("/{}", hops + 1))
    })
    .await;
    let host = format!("127.0.0.1:{}", upstream.port);
    assert_eq!(
        message(fetch(&url(upstream.url("/0"))).await),
        format!("upstream {host} is behind more than 5 redirects")
    );
    assert_eq!(upstream.requests().len(), 6);
    let mut none = url(upstream.url("/0"));
    none.fetch.max_redirects = 0;
    assert_eq!(message(fetch(&none).await), format!("upstream {host} is behind more than 0 redirects"));
    assert_eq!(upstream.requests().len(), 7);
}

#[tokio::test]
async fn keeps_secrets_with_their_origin() {
    let other = Upstream::start(|_| ok("text/plain", "other")).await;
    let target = other.url("/landing");
    let back_to = target.clone();
    let upstream = Upstream::start(move |request| match request.target.as_str() {
        "/away" => redirect("302 Found", &target),
        "/keep" => redirect("307 Temporary Redirect", &target),
        _ => ok("text/plain", "back"),
    })
    .await;
    let mut url = url(upstream.url("/away"));
    url.fetch.headers = ["authorization", "cookie", "x-api-key", "proxy-authorization", "x-anything"]
        .map(|name| (name.to_owned(), "${TOKEN}".to_owned()))
        .into();
    assert_eq!(text(fetch(&url).await), "other");
    url.method = Method::Post;
    url.body = Some("${TOKEN}".to_owned());
    assert_eq!(text(fetch(&url).await), "other", "as a GET without the body");
    assert!(upstream.requests().iter().all(|request| request.header("x-api-key") == Some("s3cret")));
    url.href = upstream.url("/keep");
    assert_eq!(
        message(fetch(&url).await),
        format!(
            "refused: 127.0.0.1:{} redirects to {back_to}: the body of the request stays with its origin",
            upstream.port
        )
    );
    let requests = other.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        assert!(!format!("{request:?}").contains("s3cret"), "{request:?}");
    }
}

#[tokio::test]
async fn secrets_do_not_come_back_from_another_origin() {
    let home = Arc::new(std::sync::OnceLock::<String>::new());
    let known = home.clone();
    let other = Upstream::start(move |_| redirect("302 Found", known.get().unwrap())).await;
    let away = other.url("/");
    let upstream = Upstream::start(move |request| match request.target.as_str() {
        "/start" => redirect("302 Found", &away),
        _ => ok("text/plain", "end"),
    })
    .await;
    home.set(upstream.url("/end")).unwrap();
    let mut url = url(upstream.url("/start"));
    url.fetch.headers = [("x-api-key".to_owned(), "${TOKEN}".to_owned())].into();
    assert_eq!(text(fetch(&url).await), "end");
    let requests = upstream.requests();
    assert_eq!(requests[0].header("x-api-key"), Some("s3cret"));
    assert_eq!(requests[1].header("x-api-key"), None);
}

#[tokio::test]
async fn names_a_refused_hop_without_its_query() {
    let upstream = Upstream::start(|request| match request.target.as_str() {
        "/file" => redirect("302 Found", "file:///etc/passwd?s3cret"),
        "/data" => redirect("302 Found", "data:text/plain,s3cret"),
        "/ftp" => redirect("302 Found", "ftp://user:s3cret@example.com/x?s3cret"),
        _ => redirect("302 Found", "http://[s3cret"),
    })
    .await;
    let host = format!("127.0.0.1:{}", upstream.port);
    for (target, expected) in [
        ("/file", format!("upstream {host} redirects to what is no address")),
        ("/data", format!("upstream {host} redirects to what is no address")),
        ("/ftp", format!("refused: {host} redirects to ftp://example.com/x: it is neither http nor https")),
        ("/bad", format!("upstream {host} redirects to what is no address")),
    ] {
        let error = fetch(&url(upstream.url(target))).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(!log(&error).contains("s3cret"), "{}", log(&error));
    }
}

#[tokio::test]
async fn connects_to_no_address_that_is_not_public() {
    let upstream = Upstream::start(|_| ok("text/plain", "secret")).await;
    let hosts = [("inside.test", [127, 0, 0, 1]), ("meta.test", [169, 254, 169, 254])];
    let hosts = hosts.map(|(name, address)| (name.to_owned(), vec![IpAddr::from(address)])).into();
    let fetcher = Fetcher::new(&Config { hosts, ..Config::default() }).unwrap();
    let note = "(allow_private_network is false)";
    for (host, what) in [
        ("127.0.0.1", "127.0.0.1 is a loopback address"),
        ("127.0.0.1.", "127.0.0.1 is a loopback address"),
        ("127.1", "127.0.0.1 is a loopback address"),
        ("2130706433", "127.0.0.1 is a loopback address"),
        ("0x7f.1", "127.0.0.1 is a loopback address"),
        ("0177.0.0.1", "127.0.0.1 is a loopback address"),
        ("0", "0.0.0.0 is a reserved address"),
        ("[::1]", "::1 is a loopback address"),
        ("[::]", ":: is a reserved address"),
        ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1 is a loopback address"),
        ("[::ffff:7f00:1]", "::ffff:127.0.0.1 is a loopback address"),
        ("[64:ff9b::127.0.0.1]", "64:ff9b::7f00:1 is a NAT64 address"),
        ("169.254.169.254", "169.254.169.254 is a link-local address"),
        ("10.0.0.5", "10.0.0.5 is a private address"),
        ("localhost", "localhost resolves to 127.0.0.1, a loopback address"),
        ("localhost.", "localhost. resolves to 127.0.0.1, a loopback address"),
        ("inside.test", "inside.test resolves to 127.0.0.1, a loopback address"),
        ("meta.test", "meta.test resolves to 169.254.169.254, a link-local address"),
    ] {
        let mut url = url(format!("http://{host}:{}/?key=s3cret", upstream.port));
        url.fetch.allow_private_network = false;
        assert_eq!(message(read(&fetcher, &url).await), format!("refused: {what} {note}"), "{host}");
    }
    assert_eq!(upstream.connections(), 0);
}

#[tokio::test]
async fn a_connection_is_not_shared_with_those_who_may_not_open_it() {
    let upstream = Upstream::start(|_| Reply::KeepAlive(response("200 OK", &[], "inside"))).await;
    let hosts = [("inside.test".to_owned(), vec![IpAddr::from(Ipv4Addr::LOCALHOST)])].into();
    let fetcher = Fetcher::new(&Config { hosts, ..Config::default() }).unwrap();
    let mut url = url(format!("http://inside.test:{}/", upstream.port));
    for _ in 0..3 {
        assert_eq!(text(read(&fetcher, &url).await), "inside");
    }
    assert_eq!(upstream.connections(), 1, "those who may share it");
    url.fetch.allow_private_network = false;
    assert!(message(read(&fetcher, &url).await).starts_with("refused: inside.test resolves to 127.0.0.1"));
    assert_eq!(upstream.requests().len(), 3);
}

#[tokio::test]
async fn a_redirect_leads_to_no_address_that_is_not_public() {
    let trap = Upstream::start(|_| ok("text/plain", "secret")).await;
    let targets = [
        trap.url("/x?key=s3cret"),
        format!("http://2130706433:{}/", trap.port),
        format!("http://localhost:{}/", trap.port),
    ];
    // Through a proxy, which may have any address, a public name is reached without a network.
    let proxy = Upstream::start(move |request| match request.target.as_str() {
        "http://public.test/0" => redirect("302 Found", &targets[0]),
        "http://public.test/1" => redirect("302 Found", &targets[1]),
        "http://public.test/2" => redirect("302 Found", &targets[2]),
        "http://public.test/3" => redirect("302 Found", "http://other.test/4"),
        "http://other.test/4" => ok("text/plain", "public"),
        other => panic!("{other}"),
    })
    .await;
    let fetcher = Fetcher::new(&Config { proxy: Some(proxy.url("")), ..Config::default() }).unwrap();
    let at = trap.port;
    for (target, expected) in [
        ("0", format!("refused: public.test redirects to http://127.0.0.1:{at}/x: 127.0.0.1 is a loopback address")),
        ("1", format!("refused: public.test redirects to http://127.0.0.1:{at}/: 127.0.0.1 is a loopback address")),
        (
            "2",
            format!(
                "refused: public.test redirects to http://localhost:{at}/: localhost resolves to 127.0.0.1, a loopback address"
            ),
        ),
    ] {
        let mut url = url(format!("http://public.test/{target}"));
        url.fetch.allow_private_network = false;
        assert_eq!(message(read(&fetcher, &url).await), format!("{expected} (allow_private_network is false)"));
    }
    let mut public = url("http://public.test/3");
    public.fetch.allow_private_network = false;
    assert_eq!(text(read(&fetcher, &public).await), "public");
    assert_eq!(trap.connections(), 0);
}

#[tokio::test]
async fn uses_no_proxy_that_it_was_not_given() {
    let proxy = Upstream::start(|_| ok("text/plain", "from the proxy")).await;
    let test = "fetch::takes_text_and_binary_as_they_come";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        command.env(name, proxy.url(""));
    }
    command.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    assert_eq!(proxy.connections(), 0);
}

#[test]
fn refuses_settings_that_cannot_be_used() {
    for proxy in ["", "proxy:3128", "socks5://proxy", "ftp://user:s3cret@proxy"] {
        let error = Fetcher::new(&Config { proxy: Some(proxy.to_owned()), ..Config::default() }).err().unwrap();
        assert_eq!(error.to_string(), "the proxy is no `http://` or `https://` address");
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let with = |path: &std::path::Path| Fetcher::new(&Config { ca_file: Some(path.to_owned()), ..Config::default() });
    assert!(with(file.path()).err().unwrap().to_string().ends_with("it holds no certificate in PEM form"));
    file.write_all(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").unwrap();
    assert!(with(file.path()).is_err());
    assert!(with("/nowhere/ca.pem".as_ref()).is_err());
}

/// A certificate for `secure.test`, and the authority that vouches for it, as PEM.
fn tls() -> (TlsAcceptor, String) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(["secure.test".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = builder.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
    (TlsAcceptor::from(Arc::new(config)), authority.pem())
}

#[tokio::test]
async fn trusts_one_more_authority_and_never_steps_down_from_https() {
    let (acceptor, pem) = tls();
    let plain = Upstream::start(|_| ok("text/plain", "plain")).await;
    let down = format!("http://secure.test:{}/x?key=s3cret", plain.port);
    let upstream = Upstream::with_tls(acceptor, move |request| match request.target.as_str() {
        "/down" => redirect("301 Moved Permanently", &down),
        _ => ok("text/plain", "secure"),
    })
    .await;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(pem.as_bytes()).unwrap();
    let hosts = ["secure.test", "other.test"].map(|name| (name.to_owned(), vec![IpAddr::from(Ipv4Addr::LOCALHOST)]));
    let config = Config { hosts: hosts.into(), ..Config::default() };
    let trusting = Fetcher::new(&Config { ca_file: Some(file.path().to_owned()), ..config.clone() }).unwrap();

    let secure = url(format!("https://secure.test:{}/", upstream.port));
    assert_eq!(text(read(&trusting, &secure).await), "secure");
    let error = read(&Fetcher::new(&config).unwrap(), &secure).await.unwrap_err();
    assert_eq!(error.to_string(), format!("upstream secure.test:{} cannot be reached", upstream.port));
    assert!(log(&error).contains("UnknownIssuer"), "{}", log(&error));
    let other = url(format!("https://other.test:{}/", upstream.port));
    assert!(read(&trusting, &other).await.is_err(), "it is not its name");

    let down = url(format!("https://secure.test:{}/down", upstream.port));
    assert_eq!(
        message(read(&trusting, &down).await),
        format!(
            "refused: secure.test:{} redirects to http://secure.test:{}/x: https never becomes http",
            upstream.port, plain.port
        )
    );
    assert_eq!(plain.connections(), 0);
}

#[tokio::test]
async fn asks_anew_at_each_read_unless_there_is_a_cache() {
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |_| ok("text/plain", count.fetch_add(1, Ordering::SeqCst).to_string())).await;
    let fetcher = fetcher();
    let fresh = entry(&fetcher, &url(upstream.url("/")));
    for expected in ["0", "1", "2"] {
        assert_eq!(text(fetcher.fetch(&fresh, &BTreeMap::new()).await), expected);
    }
    let mut cached = url(upstream.url("/{?id}"));
    cached.fetch.cache = Some(Cache { ttl_ms: 3_600_000, stale_if_error_ms: 0 });
    let cached = entry(&fetcher, &cached);
    for (id, expected) in [("a", "3"), ("a", "3"), ("b", "4"), ("a", "3")] {
        let arguments = [("id".to_owned(), id.to_owned())].into();
        assert_eq!(text(fetcher.fetch(&cached, &arguments).await), expected);
    }
}

#[tokio::test]
async fn asks_whether_it_has_changed_and_stands_in_when_it_cannot() {
    let count = AtomicUsize::new(0);
    let upstream = Upstream::start(move |request| match count.fetch_add(1, Ordering::SeqCst) {
        0 => Reply::Bytes(response(
            "200 OK",
            &[("etag", "W/\"1\""), ("last-modified", "Mon, 30 Nov 2026 00:00:00 GMT")],
            "one",
        )),
        1 | 2 if request.header("if-none-match") == Some("W/\"1\"") => status("304 Not Modified"),
        3 => status("503 Service Unavailable"),
        _ => status("500 Internal Server Error"),
    })
    .await;
    let fetcher = fetcher();
    let mut url = url(upstream.url("/"));
    url.fetch.cache = Some(Cache { ttl_ms: 0, stale_if_error_ms: 3_600_000 });
    let entry = entry(&fetcher, &url);
    for _ in 0..3 {
        assert_eq!(text(fetcher.fetch(&entry, &BTreeMap::new()).await), "one");
    }
    let requests = upstream.requests();
    assert_eq!(requests[0].header("if-none-match"), None);
    assert_eq!(requests[2].header("if-modified-since"), Some("Mon, 30 Nov 2026 00:00:00 GMT"));
    let fetched = fetcher.fetch(&entry, &BTreeMap::new()).await.unwrap();
    assert_eq!(fetched.payload, Payload::Text("one".into()));
    let stale = fetched.stale.expect("the upstream has failed");
    assert!(stale.error.to_string().ends_with("answered 503") && stale.age < PATIENCE);
    let fetched = fetcher.fetch(&entry, &BTreeMap::new()).await.unwrap();
    assert!(
        fetched.stale.is_some() && upstream.requests().len() == 4,
        "an upstream that failed is left alone for a while"
    );
}

#[tokio::test]
async fn many_readers_are_one_request() {
    let upstream = Upstream::start(|_| ok("text/plain", "one")).await;
    let fetcher = fetcher();
    let mut url = url(upstream.url("/"));
    url.fetch.cache = Some(Cache { ttl_ms: 3_600_000, stale_if_error_ms: 0 });
    let entry = entry(&fetcher, &url);
    let barrier = Arc::new(Barrier::new(50));
    let reads: Vec<_> = (0..50)
        .map(|_| {
            let (fetcher, entry, barrier) = (fetcher.clone(), entry.clone(), barrier.clone());
            tokio::spawn(async move {
                barrier.wait().await;
                text(fetcher.fetch(&entry, &BTreeMap::new()).await)
            })
        })
        .collect();
    for read in reads {
        assert_eq!(read.await.unwrap(), "one");
    }
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn a_reader_who_goes_away_ends_the_fetch() {
    let upstream = Upstream::start(|_| Reply::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n".into())).await;
    for cache in [None, Some(Cache { ttl_ms: 1_000, stale_if_error_ms: 0 })] {
        let mut url = url(upstream.url("/"));
        url.fetch = Fetch { timeout_ms: 3_600_000, cache, ..url.fetch };
        let (fetcher, before) = (fetcher(), upstream.requests().len());
        let entry = entry(&fetcher, &url);
        let reading = tokio::spawn(async move { fetcher.fetch(&entry, &BTreeMap::new()).await.is_ok() });
        while upstream.requests().len() == before {
            tokio::task::yield_now().await;
        }
        reading.abort();
        timeout(PATIENCE, upstream.hung_up()).await.expect("the connection is closed");
    }
}

#[tokio::test]
async fn only_so_many_ask_at_once() {
    let upstream = Upstream::start(|request| match request.target.as_str() {
        "/stall" => Reply::Stall(Vec::new()),
        _ => ok("text/plain", "quick"),
    })
    .await;
    let config = Config { max_fetches_per_host: 2, max_wait: Duration::from_millis(100), ..Config::default() };
    let fetcher = Fetcher::new(&config).unwrap();
    let stalled = entry(&fetcher, &url(upstream.url("/stall")));
    let stalling: Vec<_> = (0..2)
        .map(|_| {
            let (fetcher, entry) = (fetcher.clone(), stalled.clone());
            tokio::spawn(async move { fetcher.fetch(&entry, &BTreeMap::new()).await.is_ok() })
        })
        .collect();
    while upstream.requests().len() < 2 {
        tokio::task::yield_now().await;
    }
    let quick = url(upstream.url("/quick"));
    let expected = format!("too many fetches at once: waited 100 ms for a turn at 127.0.0.1:{}", upstream.port);
    assert_eq!(message(read(&fetcher, &quick).await), expected);
    assert_eq!(upstream.requests().len(), 2);
    stalling.into_iter().for_each(|stalling| stalling.abort());
    timeout(PATIENCE, upstream.hung_up()).await.unwrap();
    assert_eq!(text(read(&fetcher, &quick).await), "quick");
}

fn inline(source: &str) -> Option<Template> {
    Some(Template { name: "entry.yaml".to_owned(), source: source.to_owned() })
}

#[tokio::test]
async fn makes_of_the_answer_what_the_definition_says() {
    let upstream = Upstream::start(|request| match request.target.split('?').next().unwrap() {
        "/json" => Reply::Bytes(response(
            "200 OK",
            &[("content-type", "application/json"), ("x-total", "2")],
            r#"{"a/b":[{"name":"\u00dc","n":1.50,"id":123456789012345678901234567890,"tags":[ "x" ]}],"text":"plain","~":null}"#,
        )),
        "/html" => ok("text/html", "<h1>T</h1><p>a <b>b</b> <a href='/c'>d</a> <a href='#e'>f</a></p>"),
        "/png" => ok("image/png", b"\0"),
        target => ok("text/plain", target),
    })
    .await;
    let host = format!("127.0.0.1:{}", upstream.port);
    let select = |pointer: &str| source::Url { select: Some(pointer.to_owned()), ..url(upstream.url("/json")) };
    let html = |html| source::Url { html, ..url(upstream.url("/html?key=${TOKEN}")) };
    let with = |target: &str, source: &str| source::Url { template: inline(source), ..url(upstream.url(target)) };
    let link = format!("# T\n\na **b** [d](http://{host}/c) [f](http://{host}/html#e)\n");
    for (url, mime_type, expected) in [
        (select("/a~1b/0/tags"), "application/json", r#"[ "x" ]"#),
        (select("/a~1b/0/n"), "application/json", "1.50"),
        (select("/a~1b/0/id"), "application/json", "123456789012345678901234567890"),
        (select("/~0"), "application/json", "null"),
        (select("/a~1b/0/name"), "text/plain", "Ü"),
        (select("/text"), "text/plain", "plain"),
        (html(Html::Raw), "text/html", "<h1>T</h1><p>a <b>b</b> <a href='/c'>d</a> <a href='#e'>f</a></p>"),
        (html(Html::Markdown), "text/markdown", link.as_str()),
        (html(Html::Text), "text/plain", "T\n\na b d f\n"),
        (source::Url { html: Html::Markdown, ..url(upstream.url("/plain")) }, "text/plain", "/plain"),
        (
            with("/json", "{{ status }} {{ headers['x-total'] }} {{ json['a/b'][0].name }} {{ vars.site }}\n"),
            "text/plain",
            "200 2 Ü Example\n",
        ),
        (
            source::Url { template: inline("{{ json.name }}|{{ text }}"), ..select("/a~1b/0") },
            "text/plain",
            r#"Ü|{"name":"\u00dc","n":1.50,"id":123456789012345678901234567890,"tags":[ "x" ]}"#,
        ),
        (source::Url { template: inline("{{ text }}!"), ..html(Html::Text) }, "text/plain", "T\n\na b d f\n!"),
    ] {
        let fetched = fetch(&url).await.unwrap();
        assert_eq!((fetched.mime_type.as_str(), &fetched.payload), (mime_type, &Payload::Text(expected.into())));
    }
    for (url, expected) in [
        (select("/none"), format!("upstream {host} sent JSON without `/none`")),
        (select("/a~1b/00"), format!("upstream {host} sent JSON without `/a~1b/00`")),
        (select("/text/0"), format!("upstream {host} sent JSON without `/text/0`")),
        (
            source::Url { select: Some(String::new()), ..html(Html::Raw) },
            format!("upstream {host} did not answer with JSON"),
        ),
        (with("/png", "{{ text }}"), format!("upstream {host} did not answer with text")),
        (with("/json", "{{ json.none.x }}"), "the template of this resource failed".to_owned()),
        (with("/html", "{{ json.x }}"), "the template of this resource failed".to_owned()),
    ] {
        assert_eq!(message(fetch(&url).await), expected);
    }
    let error = fetch(&with("/json", "\n{{ json.none.x }}")).await.unwrap_err();
    assert!(log(&error).contains("entry.yaml:2"), "{}", log(&error));
}

#[tokio::test]
async fn the_media_type_of_the_definition_wins() {
    let upstream = Upstream::start(|_| ok("text/plain", "a: 1")).await;
    let (fetcher, url) = (fetcher(), url(upstream.url("/")));
    let definition = Definition { mime_type: Some("application/yaml; x=y".to_owned()), ..definition(&url) };
    let entry = fetcher.url(&definition, &url, &template::environment([]).unwrap(), |_| None).unwrap();
    assert_eq!(fetcher.fetch(&entry, &BTreeMap::new()).await.unwrap().mime_type, "application/yaml; x=y");
}

#[tokio::test]
async fn an_argument_stays_where_it_is_put() {
    let upstream = Upstream::start(|request: &Request| ok("text/plain", request.target.clone())).await;
    let fetcher = fetcher();
    let path = entry(&fetcher, &url(upstream.url("/a/{id}/c?x=1")));
    let query = entry(&fetcher, &url(upstream.url("/a?x=1{&id}")));
    for (value, in_path, in_query) in [
        ("b", Some("/a/b/c?x=1"), "/a?x=1&id=b"),
        ("b/../d", Some("/a/b%2F..%2Fd/c?x=1"), "/a?x=1&id=b%2F..%2Fd"),
        ("?y=2#z", Some("/a/%3Fy%3D2%23z/c?x=1"), "/a?x=1&id=%3Fy%3D2%23z"),
        ("&x=2", Some("/a/%26x%3D2/c?x=1"), "/a?x=1&id=%26x%3D2"),
        ("@evil.test:1", Some("/a/%40evil.test%3A1/c?x=1"), "/a?x=1&id=%40evil.test%3A1"),
        ("\\\\x", Some("/a/%5C%5Cx/c?x=1"), "/a?x=1&id=%5C%5Cx"),
        ("%2e%2e", Some("/a/%252e%252e/c?x=1"), "/a?x=1&id=%252e%252e"),
        ("\r\nx: y", Some("/a/%0D%0Ax%3A%20y/c?x=1"), "/a?x=1&id=%0D%0Ax%3A%20y"),
        ("..", None, "/a?x=1&id=.."),
        (".", None, "/a?x=1&id=."),
    ] {
        let arguments = [("id".to_owned(), value.to_owned())].into();
        assert_eq!(text(fetcher.fetch(&query, &arguments).await), in_query);
        let fetched = fetcher.fetch(&path, &arguments).await;
        match in_path {
            Some(expected) => assert_eq!(text(fetched), expected),
            None => assert!(fetched.unwrap_err().is_not_found(), "{value}"),
        }
    }
}
