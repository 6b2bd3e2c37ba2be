//! Clients that mean harm, against the program in a process of its own: it refuses them promptly, keeps its memory, and
//! answers the others meanwhile. `connections` and `transport` have the slow and the large ones that need no process.

use std::{
    env, fs,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

use crate::{
    process::{Process, connect},
    support::{PATIENCE, Response, request},
};

const MIB: usize = 1 << 20;

/// What a debug build may take for one attack, including what the allocator keeps.
const ROOM: usize = 24 * MIB;

/// For each idle connection, of whichever kind. A release build takes about half of what a debug build does.
const PER_CONNECTION: usize = 24 << 10;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// A server that was asked once, so that what it needs anyway is there, and its memory.
async fn start(flags: &[&str]) -> (Process, usize) {
    let server = Process::start(flags);
    is_well(&server).await;
    let memory = server.memory();
    (server, memory)
}

/// Others are answered.
async fn is_well(server: &Process) {
    assert_eq!(post(server, PING.as_bytes()).await.json()["result"], json!({}));
}

async fn post(server: &Process, body: &[u8]) -> Response {
    let mut stream = server.connect().await;
    stream.write_all(&request("POST", "/mcp/docs", &[], body)).await.unwrap();
    Response::read(stream).await
}

/// How much more memory it has than before; said, for whoever wants to see figures.
#[expect(clippy::print_stdout, reason = "figures for who asks for them with --nocapture")]
fn check_memory(server: &Process, before: usize, what: &str) {
    let grown = server.memory().saturating_sub(before);
    println!("{what}: {} KiB more", grown >> 10);
    assert!(grown < ROOM, "{what}: {} MiB more", grown / MIB);
}

/// Sends pieces until there are no more or the server has had enough; true in the latter case.
async fn flood(stream: &mut TcpStream, pieces: impl Iterator<Item = Vec<u8>>) -> bool {
    for piece in pieces {
        match timeout(PATIENCE, stream.write_all(&piece)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return true,
            Err(_) => panic!("the server neither reads nor closes"),
        }
    }
    false
}

/// A connection on which little fits that nobody reads.
async fn narrow(server: &Process) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(([127, 0, 0, 1], server.port).into()).await.unwrap()
}

/// Reads whatever comes until the server closes.
async fn drain(stream: &mut TcpStream) -> Vec<u8> {
    let mut read = Vec::new();
    let _ = timeout(PATIENCE, stream.read_to_end(&mut read)).await.expect("the server closes");
    read
}

/// The last word of a server on HTTP/2: the code of its `GOAWAY`.
fn goaway(mut frames: &[u8]) -> Option<u32> {
    let mut code = None;
    while let [a, b, c, kind, _, _, _, _, _, rest @ ..] = frames {
        let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
        let Some(payload) = rest.get(..length) else { break };
        if let (7, [_, _, _, _, code_bytes @ ..]) = (kind, payload) {
            code = code_bytes.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
        }
        frames = &rest[length..];
    }
    code
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING_FRAME: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
const ENHANCE_YOUR_CALM: u32 = 11;

/// `GET /` of `localhost` over http, as HPACK has it.
const GET: &[u8] = b"\x82\x86\x84\x41\x09localhost";
/// `POST`, of which more is to come.
const POST: &[u8] = b"\x83\x86\x84\x41\x09localhost";

async fn http2(server: &Process) -> TcpStream {
    begin_http2(server.connect().await).await
}

async fn begin_http2(mut stream: TcpStream) -> TcpStream {
    stream.write_all(&[&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])].concat()).await.unwrap();
    stream
}

#[tokio::test]
async fn large_batches_and_texts_are_refused_at_once() {
    let (server, memory) = start(&[]).await;
    let batch = format!("[{}]", [PING; 10_000].join(","));
    let refused = post(&server, batch.as_bytes()).await;
    assert_eq!((refused.status, refused.error_code()), (400, -32600));
    let (long, deep) = ("x".repeat(900_000), format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)));
    let call = |id: &str, method: &str, params: Value| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    for (message, code) in [
        (call(&format!("\"{long}\""), "ping", json!({})), None),
        (call(&"9".repeat(900_000), "ping", json!({})), None),
        (call("1", &long, json!({})), Some(-32601)),
        (call("1", "resources/read", json!({ "uri": long })), Some(-32602)),
        (call("1", "resources/read", json!({ "uri": format!("greeting://hello/{long}") })), Some(-32602)),
        (call("1", "resources/read", json!({ "uri": "%".repeat(900_000) })), Some(-32602)),
        (call("1", "resources/list", json!({ "cursor": long })), Some(-32602)),
        (call("1", "tools/call", json!({ "name": long })), Some(-32602)),
        (call("1", "initialize", json!({ "protocolVersion": long })), None),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"x":{deep}}}}}"#), None),
        (format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"ping"}}"#), Some(-32600)),
    ] {
        let start = Instant::now();
        let answer = post(&server, message.as_bytes()).await;
        println!("{} of {} bytes: {:?}", answer.body.len(), message.len(), start.elapsed());
        match code {
            Some(code) => assert_eq!(answer.error_code(), code, "{}", &message[..60]),
            None => assert!(answer.text().contains(r#","result":{"#), "{}", &message[..60]),
        }
        // What was asked for stands in the message, and again as data.
        assert!(answer.body.len() < 2 * message.len() + 1000, "{} bytes for {}", answer.body.len(), &message[..60]);
    }
    check_memory(&server, memory, "large batches and texts");
}

#[tokio::test]
async fn ten_megabytes_of_headers_are_not_read() {
    let (server, memory) = start(&[]).await;
    let line = format!("x-long: {}\r\n", "x".repeat(1000)).into_bytes();
    for head in ["GET /healthz HTTP/1.1\r\nhost: localhost\r\n", "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut stream = server.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        assert!(flood(&mut stream, std::iter::repeat_n(line.clone(), 10_000)).await, "10 MB were read");
    }
    // One line without an end.
    let mut stream = server.connect().await;
    assert!(flood(&mut stream, std::iter::repeat_n(vec![b'x'; 1000], 10_000)).await, "10 MB were read");
    check_memory(&server, memory, "10 MB of headers");
    is_well(&server).await;
}

#[tokio::test]
async fn headers_that_never_end_close_an_http2_connection() {
    let (server, memory) = start(&[]).await;
    let mut stream = http2(&server).await;
    stream.write_all(&frame(HEADERS, END_STREAM, 1, GET)).await.unwrap();
    // A literal header without indexing, `x: xxx…`, over and over.
    let fields = [&b"\x00\x01x\x7f\x81\x07"[..], &[b'x'; 256]].concat().repeat(60);
    let continuation = frame(CONTINUATION, 0, 1, &fields);
    assert!(flood(&mut stream, std::iter::repeat_n(continuation, 10_000)).await, "10,000 frames were read");
    check_memory(&server, memory, "CONTINUATION without end");
    // Empty ones, which add up to nothing.
    let mut stream = http2(&server).await;
    stream.write_all(&frame(HEADERS, END_STREAM, 1, GET)).await.unwrap();
    let empty = frame(CONTINUATION, 0, 1, &[]).repeat(1000);
    assert!(flood(&mut stream, std::iter::repeat_n(empty, 10_000)).await, "10,000,000 empty frames were read");
    check_memory(&server, memory, "empty CONTINUATION without end");
    is_well(&server).await;
}

/// CVE-2023-44487.
#[tokio::test]
async fn rapid_resets_end_the_connection() {
    let (server, memory) = start(&[]).await;
    let mut stream = http2(&server).await;
    let (mut read, mut write) = stream.split();
    let resets = (0..100_000).map(|number| {
        let id = 2 * number + 1;
        [frame(HEADERS, END_STREAM | END_HEADERS, id, GET), frame(RST_STREAM, 0, id, &8_u32.to_be_bytes())].concat()
    });
    let sent = async {
        let mut count = 0;
        for reset in resets {
            if write.write_all(&reset).await.is_err() {
                break;
            }
            count += 1;
        }
        count
    };
    let mut answer = Vec::new();
    let (sent, _) = timeout(PATIENCE, async { tokio::join!(sent, read.read_to_end(&mut answer)) }).await.unwrap();
    assert!(sent < 100_000, "all of them were taken");
    assert_eq!(goaway(&answer).unwrap_or(ENHANCE_YOUR_CALM), ENHANCE_YOUR_CALM);
    println!("resets until the end: {sent}");
    check_memory(&server, memory, "rapid resets");
    is_well(&server).await;
}

#[tokio::test]
async fn streams_beyond_the_limit_are_refused() {
    let (server, memory) = start(&["--body-timeout", "1s"]).await;
    let mut stream = http2(&server).await;
    // Requests whose bodies never come.
    let opened = (0..5000).map(|number| frame(HEADERS, END_HEADERS, 2 * number + 1, POST));
    flood(&mut stream, opened).await;
    check_memory(&server, memory, "5,000 streams on a connection");
    is_well(&server).await;
}

#[tokio::test]
async fn pings_that_nobody_hears_answered_end_the_connection() {
    let (server, memory) = start(&["--write-timeout", "500ms"]).await;
    for frames in [frame(PING_FRAME, 0, 0, &[0; 8]), frame(SETTINGS, 0, 0, &[])] {
        let mut stream = begin_http2(narrow(&server).await).await;
        let frames = frames.repeat(1000);
        assert!(flood(&mut stream, std::iter::repeat_n(frames, 100_000)).await, "a hundred million were taken");
        check_memory(&server, memory, "pings and settings without reading");
    }
    is_well(&server).await;
}

#[tokio::test]
async fn who_pipelines_without_reading_is_dropped() {
    let (server, memory) = start(&["--write-timeout", "500ms"]).await;
    let mut stream = narrow(&server).await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#;
    let head = format!("POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", list.len());
    let one = [&head, list].concat();
    let many = one.repeat(1000).into_bytes();
    assert!(flood(&mut stream, std::iter::repeat_n(many, 10_000)).await, "ten million were taken");
    check_memory(&server, memory, "pipelining without reading");
    is_well(&server).await;
}

#[tokio::test]
async fn many_tiny_chunks_are_one_body() {
    let (server, memory) = start(&[]).await;
    let send = async |extension: &str| {
        let mut stream = server.connect().await;
        let head =
            "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
        let body = format!("{}{PING}", " ".repeat(100_000));
        let chunks: String = body.chars().map(|byte| format!("1{extension}\r\n{byte}\r\n")).collect();
        // Who has heard enough closes.
        let _ = stream.write_all([head, &chunks, "0\r\n\r\n"].concat().as_bytes()).await;
        drain(&mut stream).await
    };
    assert_eq!(Response::parse(&send("").await).json()["result"], json!({}));
    // Extensions, which would be read and thrown away without end.
    let answer = send(";x=yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy").await;
    assert!(!answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    check_memory(&server, memory, "tiny chunks");
    is_well(&server).await;
}

#[tokio::test]
async fn a_body_that_drips_has_its_time() {
    let (server, _) = start(&["--body-timeout", "500ms"]).await;
    let mut stream = server.connect().await;
    stream.write_all(b"POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100000\r\n\r\n").await.unwrap();
    let (mut read, mut write) = stream.split();
    let mut answer = [0; 12];
    let dripping = async {
        while write.write_all(b" ").await.is_ok() {
            sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! {
        () = dripping => panic!("closed without an answer"),
        read = timeout(PATIENCE, read.read_exact(&mut answer)) => assert_eq!(read.unwrap().unwrap(), 12),
    }
    assert_eq!(&answer, b"HTTP/1.1 408");
}

/// Runs itself again where more files may be open.
#[tokio::test]
async fn ten_thousand_idle_connections_are_cheap() {
    const COUNT: usize = 10_000;
    let limits = fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    if files.split_whitespace().next().unwrap().parse().unwrap_or(usize::MAX) < COUNT + 100 {
        let mut again = Command::new("sh");
        again
            .args(["-c", r#"ulimit -n "$0" && exec "$@""#, &(COUNT + 1000).to_string()])
            .arg(env::current_exe().unwrap());
        again.args(["--exact", "hostile::ten_thousand_idle_connections_are_cheap", "--nocapture"]);
        assert!(tokio::task::spawn_blocking(move || again.status()).await.unwrap().unwrap().success());
        return;
    }
    let (server, memory) = start(&["--max-connections", "10100", "--header-timeout", "10m"]).await;
    let mut idle = Vec::new();
    for number in 0..COUNT {
        let mut stream = connect(server.port).await;
        match number % 4 {
            // Nothing at all.
            0 => {}
            1 => stream.write_all(b"POST /mcp/docs HTTP/1.1\r\nhost: loc").await.unwrap(),
            // One that is kept alive.
            2 => {
                stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").await.unwrap();
                stream.read_exact(&mut [0; 12]).await.unwrap();
            }
            _ => {
                let opening = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, &[])];
                stream.write_all(&opening.concat()).await.unwrap();
                stream.read_exact(&mut [0; 9]).await.unwrap();
            }
        }
        idle.push(stream);
    }
    is_well(&server).await;
    let each = (server.memory() - memory) / COUNT;
    println!("an idle connection: {each} bytes");
    assert!(each < PER_CONNECTION, "{each} bytes for each idle connection");
    drop(idle);
    is_well(&server).await;
    server.terminate();
    assert_eq!(timeout(PATIENCE, server.ended()).await.unwrap().code(), Some(0));
}
