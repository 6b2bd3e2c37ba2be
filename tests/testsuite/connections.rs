//! HTTP/2, slow clients, and the cap on connections.

use std::{
    fs,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::timeout,
};

use crate::support::{PATIENCE, Response, TestServer, app, fixture, modern, request};

async fn http2(server: &TestServer) -> http2::SendRequest<Full<Bytes>> {
    let stream = TokioIo::new(server.connect().await);
    let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn read(authority: &str, uri: &str) -> Request<Full<Bytes>> {
    let message = json!({ "jsonrpc": "2.0", "id": uri, "method": "resources/read", "params": { "uri": uri } });
    Request::post(format!("http://{authority}/mcp/docs")).body(message.to_string().into()).unwrap()
}

#[tokio::test]
async fn http2_with_prior_knowledge_is_served_on_the_same_port() {
    let server = TestServer::start().await;
    let mut sender = http2(&server).await;
    let calls = ["docs://api-overview", "docs://bytes.bin", "docs://nope"]
        .map(|uri| sender.send_request(read("localhost", uri)));
    for (call, member) in calls.into_iter().zip(["result", "result", "error"]) {
        let response = timeout(PATIENCE, call).await.unwrap().unwrap();
        assert_eq!(response.status(), 200);
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert!(body.get(member).is_some(), "{body}");
    }
    let response = timeout(PATIENCE, sender.send_request(read("evil.example", "docs://api-overview"))).await.unwrap();
    assert_eq!(response.unwrap().status(), 403);
    let response = sender.send_request(Request::get("http://localhost/mcp/docs").body(Full::default()).unwrap());
    assert_eq!(timeout(PATIENCE, response).await.unwrap().unwrap().status(), 405);
}

#[tokio::test]
async fn the_answer_to_head_has_no_body() {
    let server = TestServer::start().await;
    let mut sender = http2(&server).await;
    for (url, path, host) in [
        ("http://localhost/healthz", "/healthz", "localhost"),
        ("http://localhost/version", "/version", "localhost"),
        ("http://localhost/mcp/docs", "/mcp/docs", "localhost"),
        ("http://localhost/nope", "/nope", "localhost"),
        ("http://evil.example/", "/", "evil.example"),
    ] {
        let mut ask = async |method: &str| {
            let request = Request::builder().method(method).uri(url).body(Full::default()).unwrap();
            let response = timeout(PATIENCE, sender.send_request(request)).await.unwrap().unwrap();
            let (head, body) = response.into_parts();
            (head.status, head.headers["content-length"].clone(), body.collect().await.unwrap().to_bytes().len())
        };
        let (get, head) = (ask("GET").await, ask("HEAD").await);
        assert_eq!((&get.0, &get.1), (&head.0, &head.1), "{url}");
        assert_eq!((get.1.to_str().unwrap(), head.2), (get.2.to_string().as_str(), 0), "{url}");
        let plain = server.send("HEAD", path, &[("host", host)], b"").await;
        assert_eq!((plain.status, plain.body.len()), (get.0.as_u16(), 0), "{url}");
        assert_eq!(plain.header("content-length"), get.1.to_str().ok(), "{url}");
    }
}

#[tokio::test]
async fn who_sends_nothing_or_half_a_request_is_dropped() {
    let mut app = app(&fixture("site"));
    app.limits.header_timeout = Duration::from_millis(100);
    let server = TestServer::with(app).await;
    for start in ["", "PRI * HTTP/2.0\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "POST /mcp/docs HTTP/1.1\r\nhost: loc"]
    {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let closed = timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        assert!(closed.is_ok(), "still open after {start:?}");
    }
}

#[tokio::test]
async fn who_goes_on_slowly_is_dropped() {
    let mut app = app(&fixture("site"));
    app.limits.header_timeout = Duration::from_millis(200);
    let server = TestServer::with(app).await;
    let mut stream = server.connect().await;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n").await.unwrap();
    let dropped = async {
        // A header line now and then, without an end.
        while stream.write_all(b"x: y\r\n").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, dropped).await.expect("the connection is dropped");
}

#[tokio::test]
async fn connections_beyond_the_cap_wait() {
    let mut app = app(&fixture("site"));
    app.limits.connections = 1;
    let server = TestServer::with(app).await;
    let mut first = server.connect().await;
    first.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    let second = server.send("GET", "/healthz", &[], b"");
    tokio::pin!(second);
    assert!(timeout(Duration::from_millis(200), &mut second).await.is_err(), "the second was not to be served yet");
    drop(first);
    assert_eq!(timeout(PATIENCE, second).await.unwrap().status, 200);
}

/// A server that has so much patience with an idle connection and with who does not read, and a text that fits no buffer at `any://large.txt`.
async fn impatient(patience: Duration) -> TestServer {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("any/resources")).unwrap();
    fs::write(tree.path().join("any/server.yaml"), "").unwrap();
    fs::write(tree.path().join("any/resources/large.txt"), "x".repeat(16 << 20)).unwrap();
    let mut app = app(tree.path());
    app.limits.header_timeout = patience;
    app.limits.write_timeout = patience;
    TestServer::with(app).await
}

const LARGE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"any://large.txt"}}"#;

#[tokio::test]
async fn an_idle_http2_connection_ends() {
    let server = impatient(Duration::from_secs(1)).await;
    let (mut sender, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(server.connect().await)).await.unwrap();
    let connection = tokio::spawn(connection);
    let page = Request::get("http://localhost/healthz").body(Full::<Bytes>::default()).unwrap();
    assert_eq!(timeout(PATIENCE, sender.send_request(page)).await.unwrap().unwrap().status(), 200);
    // It is told to go, rather than cut off.
    timeout(PATIENCE, connection).await.expect("the connection ends").unwrap().unwrap();
}

#[tokio::test]
async fn who_does_not_read_is_dropped() {
    let server = impatient(Duration::from_millis(100)).await;
    let mut stream = server.connect().await;
    stream.write_all(&request("POST", "/mcp/any", &[], LARGE.as_bytes())).await.unwrap();
    // Nothing is read; that the other side has closed shows in writing.
    let dropped = async {
        while stream.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(PATIENCE, dropped).await.expect("the connection is dropped");
}

#[tokio::test]
async fn who_does_not_read_a_stream_of_http2_is_dropped() {
    let server = impatient(Duration::from_secs(1)).await;
    for window in [0, 100] {
        let stream = TokioIo::new(server.connect().await);
        let mut builder = http2::Builder::new(TokioExecutor::new());
        let (mut sender, connection) =
            builder.initial_stream_window_size(window).handshake::<_, Full<Bytes>>(stream).await.unwrap();
        let connection = tokio::spawn(connection);
        let call = Request::post("http://localhost/mcp/any").body(LARGE.into()).unwrap();
        let answer = timeout(PATIENCE, sender.send_request(call)).await.unwrap().unwrap();
        assert!(timeout(PATIENCE, connection).await.is_ok(), "still open with a window of {window}");
        drop(answer);
    }
}

#[tokio::test]
async fn who_reads_slowly_gets_it_all() {
    let patience = Duration::from_secs(2);
    let server = impatient(patience).await;
    let mut stream = server.connect().await;
    stream.write_all(&request("POST", "/mcp/any", &[], LARGE.as_bytes())).await.unwrap();
    let mut answer = Vec::new();
    let mut chunk = vec![0; 1 << 16];
    let start = Instant::now();
    loop {
        match timeout(PATIENCE, stream.read(&mut chunk)).await.unwrap().unwrap() {
            0 => break,
            count => answer.extend_from_slice(&chunk[..count]),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(start.elapsed() > patience, "that was not slow");
    let response = Response::parse(&answer);
    assert_eq!(response.header("content-length"), Some(response.body.len().to_string().as_str()));
    assert!(response.body.len() > 16 << 20);
}

#[tokio::test]
async fn streams_are_not_idle() {
    let server = impatient(Duration::from_millis(500)).await;
    let (mut plain, _) = crate::subscriptions::listen_at(&server, "any").await;
    let mut sender = http2(&server).await;
    let (headers, message) = modern("subscriptions/listen", json!({ "notifications": {} }));
    let mut call = Request::post("http://localhost/mcp/any");
    for (name, value) in headers {
        call = call.header(name, value);
    }
    let answer = timeout(PATIENCE, sender.send_request(call.body(message.into()).unwrap())).await.unwrap().unwrap();
    let mut body = answer.into_body();
    assert!(timeout(PATIENCE, body.frame()).await.unwrap().unwrap().is_ok());
    // Several times as long as either may lie idle.
    assert!(timeout(Duration::from_secs(2), body.frame()).await.is_err());
    assert!(timeout(Duration::from_millis(1), plain.read(&mut [0; 1])).await.is_err());
    let stopped = server.stop();
    assert!(timeout(PATIENCE, body.frame()).await.unwrap().unwrap().is_ok());
    timeout(PATIENCE, stopped).await.unwrap().unwrap();
}
