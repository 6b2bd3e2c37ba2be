//! The end: what is in flight is answered, and nothing new is taken.

use std::{
    io::{Read, Write},
    time::Duration,
};

use tokio::{io::AsyncReadExt, io::AsyncWriteExt, net::TcpStream, time::timeout};

use crate::support::{PATIENCE, Response, TestServer, app, fixture, request};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Opens a connection on which a request has begun: the server waits for the rest of its body.
async fn begin(server: &TestServer) -> TcpStream {
    let mut stream = server.connect().await;
    let head = format!(
        "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: {}\r\n\r\n",
        PING.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server asks for the body once the request is in its hands.
    let mut goes_on = [0; 25];
    timeout(PATIENCE, stream.read_exact(&mut goes_on)).await.unwrap().unwrap();
    assert_eq!(&goes_on, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[tokio::test]
async fn a_request_in_flight_is_answered() {
    let server = TestServer::start().await;
    let mut in_flight = begin(&server).await;
    let mut idle = server.connect().await;
    let port = server.port;
    let stopped = server.stop();
    // An idle connection closes, and nobody is let in any more.
    assert_eq!(timeout(PATIENCE, idle.read(&mut [0; 1])).await.unwrap().unwrap_or(0), 0);
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
    assert!(!stopped.is_finished());
    in_flight.write_all(PING).await.unwrap();
    let response = Response::read(in_flight).await;
    assert_eq!(response.text(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    timeout(PATIENCE, stopped).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_request_that_never_ends_does_not_hold_up_the_end() {
    let mut app = app(&fixture("site"));
    app.limits.shutdown_timeout = Duration::from_millis(100);
    let server = TestServer::with(app).await;
    let _in_flight = begin(&server).await;
    timeout(PATIENCE, server.stop()).await.unwrap().unwrap();
}

#[tokio::test]
async fn half_a_request_does_not_hold_up_the_end() {
    let mut app = app(&fixture("site"));
    // As long as requests in flight may take.
    app.limits.shutdown_timeout = Duration::from_secs(3600);
    let server = TestServer::with(app).await;
    let mut asked = server.connect().await;
    asked.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
    timeout(PATIENCE, asked.read_exact(&mut [0; 12])).await.unwrap().unwrap();
    let mut half = Vec::new();
    for start in ["", "POST /mcp/docs HTTP/1.1\r\nhost: loc", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] {
        let mut stream = server.connect().await;
        stream.write_all(start.as_bytes()).await.unwrap();
        half.push(stream);
    }
    asked.write_all(b"GET /healthz HTTP/1.1\r\nhost: loc").await.unwrap();
    timeout(PATIENCE, server.stop()).await.unwrap().unwrap();
}

#[tokio::test]
async fn who_has_connected_is_answered() {
    let server = TestServer::start().await;
    // The server has no turn until this test waits for something.
    let address = ("127.0.0.1", server.port);
    let waiting: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            // Without `Connection: close`.
            let ping = String::from_utf8(request("POST", "/mcp/docs", &[], PING)).unwrap();
            stream.write_all(ping.replace("connection: close\r\n", "").as_bytes()).unwrap();
            stream
        })
        .collect();
    timeout(PATIENCE, server.stop()).await.unwrap().unwrap();
    for mut stream in waiting {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let response = Response::parse(&answer);
        assert_eq!((response.status, response.header("connection")), (200, Some("close")));
    }
}
