//! What an endpoint makes of HTTP: paths, methods, media types, and sizes.

use std::time::Duration;

use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use crate::support::{PATIENCE, Response, TestServer, app, fixture};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn both_spellings_of_a_path_are_served_alike() {
    let server = TestServer::start().await;
    let plain = server.send("POST", "/mcp/docs", &[], PING).await;
    let slashed = server.send("POST", "/mcp/docs/", &[], PING).await;
    assert_eq!(plain.status, 200);
    assert_eq!(plain.to_string(), slashed.to_string());
}

#[tokio::test]
async fn an_unknown_path_is_told_the_known_form() {
    let server = TestServer::start().await;
    for path in ["/mcp/nope", "/mcp/DOCS", "/mcp/docs//", "/mcp/docs/x", "/mcp", "/mcp/", "/mcp/%64ocs", "/x", "//"] {
        let response = server.send("POST", path, &[], PING).await;
        assert_eq!(response.status, 404, "{path}");
        assert!(response.text().contains("/mcp/{slug}"), "{response}");
        assert_eq!(response.header("content-type"), Some("text/plain; charset=utf-8"));
    }
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp/docs"] {
        let response = server.send("GET", path, &[], b"").await;
        assert_eq!((response.status, response.json()), (404, json!({ "error": "not_found" })));
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn other_methods_are_refused_at_once() {
    let server = TestServer::start().await;
    for method in ["GET", "HEAD", "DELETE", "PUT", "PATCH"] {
        let response = server.send(method, "/mcp/docs", &[("accept", "text/event-stream")], b"").await;
        assert_eq!(response.status, 405, "{method}");
        assert_eq!(response.header("allow"), Some("POST, OPTIONS"));
    }
    let response = server.send("POST", "/version", &[], b"").await;
    assert_eq!((response.status, response.header("allow")), (405, Some("GET, HEAD")));
}

#[tokio::test]
async fn accept_is_lenient() {
    let server = TestServer::start().await;
    for (accept, status) in [
        ("", 200),
        ("*/*", 200),
        ("application/json", 200),
        ("application/json, text/event-stream", 200),
        ("text/event-stream", 200),
        ("application/*;q=0.5", 200),
        ("Text/HTML, APPLICATION/JSON; q=0.1", 200),
        ("text/html", 406),
        ("text/html, application/json;q=0", 406),
        ("*/*;q=0.0", 406),
    ] {
        let response = server.post("docs", &[("accept", accept)], PING).await;
        assert_eq!(response.status, status, "{accept}");
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn content_type_is_json_or_absent() {
    let server = TestServer::start().await;
    for (content_type, status) in [
        ("application/json", 200),
        ("application/json; charset=utf-8", 200),
        ("Application/JSON;charset=UTF-8", 200),
        ("application/mcp+json", 200),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data; boundary=application/json", 415),
        ("", 415),
    ] {
        let response = server.post("docs", &[("content-type", content_type)], PING).await;
        assert_eq!(response.status, status, "{content_type}");
    }
    let mut request =
        b"POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 40\r\n\r\n".to_vec();
    request.extend(PING);
    assert_eq!(server.raw(request).await.status, 200);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_while_it_is_sent() {
    let server = TestServer::start().await;
    let body = vec![b' '; 5 << 20];
    let declared = server.post("docs", &[], &body).await;
    let mut chunked =
        b"POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
            .to_vec();
    for chunk in body.chunks(64 << 10) {
        chunked.extend(format!("{:x}\r\n", chunk.len()).bytes().chain(chunk.iter().copied()).chain(*b"\r\n"));
    }
    chunked.extend(b"0\r\n\r\n");
    let chunked = server.raw(chunked).await;
    for response in [declared, chunked] {
        assert_eq!((response.status, response.error_code()), (413, -32600));
        assert_eq!(response.header("content-type"), Some("application/json"));
    }
    // The largest body that is not too large.
    let mut largest = PING.to_vec();
    largest.resize(1 << 20, b' ');
    assert_eq!(server.post("docs", &[], &largest).await.status, 200);
    largest.push(b' ');
    assert_eq!(server.post("docs", &[], &largest).await.status, 413);
}

#[tokio::test]
async fn every_refusal_reaches_who_is_still_sending() {
    let server = TestServer::start().await;
    let body = vec![b' '; 8 << 20];
    for (status, method, path, headers) in [
        (403, "POST", "/mcp/docs", [("host", "evil.example")]),
        (404, "POST", "/mcp/nope", [("x", "")]),
        (405, "PUT", "/mcp/docs", [("x", "")]),
        (405, "POST", "/version", [("x", "")]),
        (406, "POST", "/mcp/docs", [("accept", "text/html")]),
        (415, "POST", "/mcp/docs", [("content-type", "text/plain")]),
    ] {
        let mut stream = server.connect().await;
        let request = crate::support::request(method, path, &headers, &body);
        // All of it can be sent, and then the answer is there: the connection was not reset meanwhile.
        timeout(PATIENCE, stream.write_all(&request))
            .await
            .unwrap()
            .unwrap_or_else(|error| panic!("{status}: {error}"));
        assert_eq!(Response::read(stream).await.status, status);
    }
}

#[tokio::test]
async fn who_asks_before_sending_is_refused_without_sending() {
    let server = TestServer::start().await;
    let head = "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 9999999\r\n\r\n";
    assert_eq!(server.raw(head).await.status, 413);
}

#[tokio::test]
async fn a_body_that_does_not_come_is_refused_in_time() {
    let mut app = app(&fixture("site"));
    app.limits.body_timeout = Duration::from_millis(50);
    let server = TestServer::with(app).await;
    let head = "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 40\r\n\r\n{\"json";
    let response = server.raw(head).await;
    assert_eq!((response.status, response.error_code()), (408, -32600));
}

#[tokio::test]
async fn the_version_of_a_message_may_be_escaped() {
    let server = TestServer::start().await;
    let message = br#"{"jsonrpc":"2\u002e0","id":1,"method":"ping"}"#;
    assert_eq!(server.post("docs", &[], message).await.status, 200);
    for version in ["2.0 ", "2", "1.0"] {
        let message = json!({ "jsonrpc": version, "id": 1, "method": "ping" }).to_string();
        assert_eq!(server.post("docs", &[], message.as_bytes()).await.status, 400, "{version}");
    }
}

/// Opens a connection on which a body has been sent but for its last byte.
async fn begin(server: &TestServer, body: &[u8]) -> TcpStream {
    let head = format!(
        "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = server.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut goes_on = [0; 25];
    timeout(PATIENCE, stream.read_exact(&mut goes_on)).await.unwrap().unwrap();
    stream.write_all(&body[..body.len() - 1]).await.unwrap();
    // Nothing tells from outside when the server has read them, but it runs on this thread, and reads what is there
    // before it answers who comes later. Small bodies are not kept out.
    for _ in 0..20 {
        assert_eq!(server.post("docs", &[], PING).await.status, 200);
    }
    stream
}

#[tokio::test]
async fn bodies_are_bounded_together() {
    let mut large = PING.to_vec();
    large.resize(100 << 10, b' ');
    for (seconds, is_given_up) in [(3600, false), (3, true)] {
        let mut app = app(&fixture("site"));
        app.limits.body = 128 << 10;
        app.limits.bodies = 128 << 10;
        app.limits.body_timeout = Duration::from_secs(seconds);
        let server = TestServer::with(app).await;
        let first = begin(&server, &large).await;
        if is_given_up {
            assert_eq!(Response::read(first).await.status, 408);
        } else {
            let second = server.post("docs", &[], &large);
            tokio::pin!(second);
            assert!(timeout(Duration::from_millis(200), &mut second).await.is_err(), "there was no room for it yet");
            drop(first);
            assert_eq!(timeout(PATIENCE, second).await.unwrap().status, 200);
        }
        // What was held is free again.
        assert_eq!(server.post("docs", &[], &large).await.status, 200);
    }
}

#[tokio::test]
async fn headers_are_bounded() {
    let server = TestServer::start().await;
    let many: String = (0..200).map(|index| format!("x-{index}: 1\r\n")).collect();
    let long = format!("x: {}\r\n", "x".repeat(100_000));
    for headers in [many, long] {
        let mut stream = server.connect().await;
        let head = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
        let _ = stream.write_all(head.as_bytes()).await;
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
        assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    }
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let server = TestServer::start().await;
    let mut stream = server.connect().await;
    let one = format!("POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", PING.len());
    let one = [one.as_bytes(), PING].concat();
    let last = crate::support::request("POST", "/mcp/docs", &[], PING);
    // Also without waiting for the answers.
    stream.write_all(&[&one[..], &one, &one, &last].concat()).await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 4, "{answers}");
    assert_eq!(answers.matches(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).count(), 4, "{answers}");
}

#[tokio::test]
async fn two_processes_answer_as_one() {
    let (first, second) = (TestServer::start().await, TestServer::start().await);
    let initialized = first.rpc("docs", "initialize", json!({ "protocolVersion": "2025-11-25" })).await;
    assert_eq!(initialized["result"]["protocolVersion"], "2025-11-25");
    let headers = [("mcp-session-id", "invented"), ("mcp-protocol-version", "2025-11-25")];
    let message = br#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#;
    assert_eq!(second.post("docs", &headers, message).await.status, 200);
}

#[tokio::test]
async fn pages_tell_what_is_served() {
    let server = TestServer::start().await;
    let get = async |path| -> Response { server.send("GET", path, &[], b"").await };
    let index = get("/").await;
    assert_eq!(index.header("content-type"), Some("text/plain; charset=utf-8"));
    for line in ["POST /mcp/bare  bare\n", "POST /mcp/docs  Docs\n", "POST /mcp/paged  paged\n"] {
        assert!(index.text().contains(line), "{index}");
    }
    let version = get("/version").await.json();
    let compiled = mcpress_compiler::compile(&fixture("site")).unwrap_or_else(|_| panic!());
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(version["contentHash"], compiled.catalog.text(compiled.catalog.hash));
    assert_eq!(version["contentHash"].as_str().unwrap().len(), 64);
    assert_eq!(
        version["servers"][1],
        json!({ "slug": "docs", "name": "docs", "version": "1.10", "resources": 10, "templates": 3 })
    );
    assert_eq!(get("/healthz").await.text(), "ok\n");
    assert_eq!(get("/readyz").await.text(), "ok\n");
    let head = server.send("HEAD", "/version", &[], b"").await;
    assert_eq!((head.status, head.body.len()), (200, 0));
}
