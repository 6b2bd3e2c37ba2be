//! A rollout: replicas take turns at being replaced under load, and no request is lost.

use std::{
    panic::{AssertUnwindSafe, resume_unwind},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures_util::{FutureExt, future::join_all};
use http_body_util::{BodyExt, Full};
use hyper::{
    Request,
    client::conn::{http1, http2},
    header::{CONNECTION, HOST},
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    task::JoinHandle,
    time::timeout,
};

use crate::{
    process::{Process, connect},
    subscriptions::events,
    support::{PATIENCE, Response, modern, request},
};

/// Usually longer than it takes the test to withdraw an endpoint.
const DRAIN_DELAY: Duration = Duration::from_secs(2);
/// Longer than it takes on a machine that is very busy.
const LONG_DRAIN_DELAY: Duration = Duration::from_secs(20);
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// Starts a replica.
fn start(drain_delay: Duration) -> Process {
    let [drain_delay, shutdown_timeout] = [drain_delay, SHUTDOWN_TIMEOUT].map(|time| format!("{}s", time.as_secs()));
    Process::start(&["--drain-delay", &drain_delay, "--shutdown-timeout", &shutdown_timeout])
}

/// Sends SIGTERM, and returns once it is at work: an answer asks for a new connection.
async fn terminate(replica: &Process) {
    replica.terminate();
    let noticed = async {
        let mut stream = replica.connect().await;
        loop {
            stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
            let mut answer = [0; 4096];
            let count = stream.read(&mut answer).await.unwrap();
            if Response::parse(&answer[..count]).header("connection") == Some("close") {
                return;
            }
        }
    };
    timeout(PATIENCE, noticed).await.expect("the signal arrives");
}

/// Opens a subscription; what is given back are its messages, once it has ended as it should.
fn listen(port: u16) -> JoinHandle<Vec<Value>> {
    let (headers, message) = modern("subscriptions/listen", json!({ "notifications": {} }));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let message = request("POST", "/mcp/docs", &headers, message.as_bytes());
    tokio::spawn(async move {
        let mut stream = connect(port).await;
        stream.write_all(&message).await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.expect("a stream ends without a reset");
        assert!(text.ends_with("0\r\n\r\n"), "cut off: {text}");
        events(&text)
    })
}

/// What a Service of Kubernetes does: a new connection goes to one of the endpoints and stays there, also when it is
/// withdrawn.
#[derive(Default)]
struct Endpoints {
    ports: Mutex<Vec<u16>>,
    turn: AtomicUsize,
    answered: AtomicUsize,
}

impl Endpoints {
    fn add(&self, port: u16) {
        self.ports.lock().unwrap().push(port);
    }

    fn withdraw(&self, port: u16) {
        self.ports.lock().unwrap().retain(|known| *known != port);
    }

    async fn connect(&self) -> TcpStream {
        let port = {
            let ports = self.ports.lock().unwrap();
            ports[self.turn.fetch_add(1, Ordering::Relaxed) % ports.len()]
        };
        connect(port).await
    }

    /// Returns when so many more requests were answered.
    async fn answers(&self, count: usize) {
        let target = self.answered.load(Ordering::Relaxed) + count;
        let reached = async {
            while self.answered.load(Ordering::Relaxed) < target {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(PATIENCE, reached).await.expect("clients go on");
    }
}

/// What clients ask in turn; `cursor` is one that an early replica has given.
fn message(number: usize, cursor: &str) -> Request<Full<Bytes>> {
    let (slug, method, params) = match number % 4 {
        0 => ("docs", "resources/read", json!({ "uri": "docs://api-overview" })),
        1 => ("docs", "resources/read", json!({ "uri": "greeting://hello/World" })),
        2 => ("paged", "resources/list", json!({ "cursor": cursor })),
        _ => ("docs", "server/discover", json!({})),
    };
    let (headers, body) = modern(method, params);
    let mut request = Request::post(format!("http://localhost/mcp/{slug}"));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(body.into()).unwrap()
}

/// Checks an answer; true if it asks for a new connection.
async fn check(endpoints: &Endpoints, answer: hyper::Result<hyper::Response<hyper::body::Incoming>>) -> bool {
    let (head, body) = answer.expect("a request is answered").into_parts();
    let body = body.collect().await.expect("an answer is whole").to_bytes();
    let body: Value = serde_json::from_slice(&body).unwrap();
    assert!(head.status == 200 && body["result"].is_object(), "{body}");
    endpoints.answered.fetch_add(1, Ordering::Relaxed);
    head.headers.get(CONNECTION).is_some_and(|connection| connection == "close")
}

/// Asks on one connection until it is told to take another one. A connection that closes without that is a fault, since
/// a client might have sent a request at this moment.
async fn http1_client(endpoints: Arc<Endpoints>, stop: watch::Receiver<()>, cursor: String) {
    let mut number = 0;
    while stop.has_changed().is_ok() {
        let stream = TokioIo::new(endpoints.connect().await);
        let (mut sender, connection) = http1::handshake(stream).await.unwrap();
        tokio::spawn(connection);
        loop {
            number += 1;
            let mut message = message(number, &cursor);
            message.headers_mut().insert(HOST, "localhost".parse().unwrap());
            sender.ready().await.expect("a connection closes after it was announced");
            if check(&endpoints, sender.send_request(message).await).await || stop.has_changed().is_err() {
                break;
            }
        }
    }
}

/// Whether `GOAWAY` told that a request came after the last one that is answered, so that it may be sent again
/// ([RFC 9113 section 6.8](https://www.rfc-editor.org/rfc/rfc9113#section-6.8)).
fn is_left_out(error: &hyper::Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref::<h2::Error>());
    source.is_some_and(|error| error.is_go_away() && error.is_remote() && error.reason() == Some(h2::Reason::NO_ERROR))
}

/// Sends several requests at a time on one connection until it is told to take another one (`GOAWAY`).
async fn http2_client(endpoints: Arc<Endpoints>, stop: watch::Receiver<()>, cursor: String) {
    let mut number = 0;
    while stop.has_changed().is_ok() {
        let stream = TokioIo::new(endpoints.connect().await);
        let (mut sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
        let connection = tokio::spawn(connection);
        while sender.ready().await.is_ok() && stop.has_changed().is_ok() {
            let calls = (number..number + 4).map(|number| sender.try_send_request(message(number, &cursor)));
            for answer in join_all(calls.collect::<Vec<_>>()).await {
                // It was not sent, for the connection had been told to end; so it goes on the next one.
                let unsent = answer.as_ref().is_err_and(|error| error.message().is_some());
                let answer = answer.map_err(|error| error.into_error());
                if !unsent && !answer.as_ref().is_err_and(is_left_out) {
                    check(&endpoints, answer).await;
                    number += 1;
                }
            }
        }
        drop(sender);
        connection.await.unwrap().expect("a connection ends well");
    }
}

/// Probes come from elsewhere than clients, and name the address of the pod.
async fn probe(port: u16) {
    for path in ["/healthz", "/readyz"] {
        for method in ["GET", "HEAD"] {
            let mut stream = connect(port).await;
            stream.write_all(&request(method, path, &[("host", "10.1.2.3:8080")], b"")).await.unwrap();
            assert_eq!(Response::read(stream).await.status, 200, "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_is_lost_while_replicas_are_replaced() {
    if !replace_replicas(DRAIN_DELAY).await {
        assert!(replace_replicas(LONG_DRAIN_DELAY).await, "this machine is too slow");
    }
}

/// False if an endpoint could not be withdrawn within this time, so that requests may be lost for that reason.
async fn replace_replicas(drain_delay: Duration) -> bool {
    let mut replicas = [start(drain_delay), start(drain_delay)];
    let endpoints = Arc::new(Endpoints::default());
    replicas.iter().for_each(|replica| endpoints.add(replica.port));
    let cursor = replicas[0].call("paged", "resources/list", json!({})).await["result"]["nextCursor"].clone();
    let cursor = cursor.as_str().unwrap().to_owned();
    let (go_on, stop) = watch::channel(());
    let mut clients = Vec::new();
    for _ in 0..3 {
        clients.push(tokio::spawn(http1_client(endpoints.clone(), stop.clone(), cursor.clone())));
        clients.push(tokio::spawn(http2_client(endpoints.clone(), stop.clone(), cursor.clone())));
    }
    for slot in [0, 1, 0, 1] {
        endpoints.answers(50).await;
        let new = start(drain_delay);
        endpoints.add(new.port);
        let old = std::mem::replace(&mut replicas[slot], new);
        let subscription = listen(old.port);
        let begin = Instant::now();
        let withdrawn = async {
            terminate(&old).await;
            // Nobody knows yet that it goes: clients still come to it, and so do probes.
            probe(old.port).await;
            endpoints.answers(50).await;
            probe(old.port).await;
            endpoints.withdraw(old.port);
        };
        let withdrawn = AssertUnwindSafe(withdrawn).catch_unwind().await;
        if begin.elapsed() >= drain_delay {
            return false;
        }
        withdrawn.unwrap_or_else(|panic| resume_unwind(panic));
        let status = timeout(drain_delay + SHUTDOWN_TIMEOUT, old.ended()).await.expect("it ends in time");
        assert_eq!(status.code(), Some(0));
        let messages = subscription.await.unwrap();
        assert_eq!(messages.len(), 2, "{messages:?}");
        assert_eq!(messages[1]["result"]["resultType"], "complete");
    }
    drop(go_on);
    for client in join_all(clients).await {
        client.unwrap();
    }
    true
}

#[tokio::test]
async fn any_replica_answers_any_client() {
    let replicas = [start(DRAIN_DELAY), start(DRAIN_DELAY)];
    let (mut uris, mut params) = (Vec::new(), json!({}));
    // Each page from another one.
    for replica in replicas.iter().cycle() {
        let page = replica.call("paged", "resources/list", params).await;
        let resources = page["result"]["resources"].as_array().unwrap_or_else(|| panic!("{page}"));
        uris.extend(resources.iter().map(|resource| resource["uri"].as_str().unwrap().to_owned()));
        match page["result"].get("nextCursor") {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert_eq!(uris, ["a", "b", "c", "d", "e"].map(|name| format!("paged://{name}.txt")));
    for (method, params) in [
        ("server/discover", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "docs://api-overview" })),
        ("resources/read", json!({ "uri": "greeting://hallo/World" })),
        ("resources/read", json!({ "uri": "docs://nope" })),
    ] {
        let [first, second] = [&replicas[0], &replicas[1]].map(|replica| replica.call("docs", method, params.clone()));
        assert_eq!(first.await, second.await, "{method} {params}");
    }
    for replica in &replicas {
        let subscription = listen(replica.port);
        terminate(replica).await;
        assert_eq!(subscription.await.unwrap().len(), 2);
    }
}
