//! Content codings: whatever a client takes, what it decodes is what another gets as it is.

use std::{
    fs,
    io::{Read, Write},
    path::Path,
};

use flate2::bufread::{GzDecoder, MultiGzDecoder};
use mcpress_compiler::{Cache, compile, encode};
use mcpress_runtime::http::App;
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    support::{self, Response, TestServer, app, published},
    upstream::{Upstream, ok},
};

const CODINGS: [&str; 2] = ["gzip", "zstd"];

/// A server of a tree as a build makes it.
async fn built(tree: &Path) -> TestServer {
    let catalog = encode(compile(tree).unwrap().catalog, &mut Cache::default()).unwrap();
    TestServer::with(App { site: published(support::site(catalog, 1)), ..app(tree) }).await
}

/// Pages that pay to compress, one that is too short, and one that does not pay.
fn tree(site: &str) -> TempDir {
    let tree = tempfile::tempdir().unwrap();
    let resources = tree.path().join("docs/resources");
    fs::create_dir_all(&resources).unwrap();
    fs::write(tree.path().join("site.yaml"), site).unwrap();
    fs::write(tree.path().join("docs/server.yaml"), "").unwrap();
    for number in 0..50 {
        let line = format!("Page {number} says \"ü\" and \\ in line\n");
        fs::write(resources.join(format!("{number}.md")), line.repeat(number * 40)).unwrap();
    }
    fs::write(resources.join("large.txt"), "0123456789 a line of a large page\n".repeat(40_000)).unwrap();
    fs::write(resources.join("picture.bin"), random(100_000)).unwrap();
    tree
}

fn random(len: usize) -> Vec<u8> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// The body, decoded as its header says. Nothing may follow the one gzip member or the one zstd frame.
fn decoded(response: &Response) -> Vec<u8> {
    let mut body = Vec::new();
    match response.header("content-encoding") {
        None => body.extend_from_slice(&response.body),
        Some("gzip") => {
            let mut decoder = GzDecoder::new(&response.body[..]);
            decoder.read_to_end(&mut body).unwrap();
            assert_eq!(decoder.into_inner(), b"", "one member");
        }
        Some("zstd") => {
            let mut decoder = zstd::stream::read::Decoder::with_buffer(&response.body[..]).unwrap().single_frame();
            decoder.read_to_end(&mut body).unwrap();
            assert_eq!(decoder.finish(), b"", "one frame");
        }
        Some(other) => panic!("unknown coding {other}"),
    }
    body
}

async fn ask(server: &TestServer, coding: Option<&str>, message: &Value) -> Response {
    let headers: Vec<_> = coding.map(|coding| ("accept-encoding", coding)).into_iter().collect();
    server.post("docs", &headers, message.to_string().as_bytes()).await
}

fn read(id: &Value, uri: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "resources/read", "params": { "uri": uri } })
}

#[tokio::test]
async fn every_answer_is_the_same_in_every_coding() {
    let tree = tree("");
    let server = built(tree.path()).await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/list" });
    let mut messages = vec![list.clone(), json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })];
    let listed = ask(&server, None, &list).await.json();
    for item in listed["result"]["resources"].as_array().unwrap() {
        messages.push(read(&json!("an \"id\""), item["uri"].as_str().unwrap()));
    }
    assert!(messages.len() > 50);
    let mut coded = 0;
    for message in &messages {
        let plain = ask(&server, None, message).await;
        assert_eq!(plain.header("content-encoding"), None);
        for coding in CODINGS {
            let response = ask(&server, Some(coding), message).await;
            assert_eq!(decoded(&response), plain.body, "{message} in {coding}");
            assert_eq!(response.header("content-length"), Some(response.body.len().to_string().as_str()));
            if response.header("content-encoding") == Some(coding) {
                coded += 1;
                assert!(response.body.len() * 10 < plain.body.len() * 9, "{message} in {coding} pays");
            } else {
                assert!(plain.body.len() < 1200 || message.to_string().contains("picture"), "{message} in {coding}");
            }
        }
    }
    assert!(coded > 90, "{coded}");
}

#[tokio::test]
async fn the_page_of_a_list_is_compressed_with_its_cursor() {
    let tree = tree("page_size: 26\n");
    let server = built(tree.path()).await;
    let (mut params, mut pages) = (json!({}), 0);
    loop {
        let message = json!({ "jsonrpc": "2.0", "id": 7, "method": "resources/list", "params": params });
        let plain = ask(&server, None, &message).await;
        for coding in CODINGS {
            let response = ask(&server, Some(coding), &message).await;
            assert_eq!(response.header("content-encoding"), Some(coding));
            assert_eq!(decoded(&response), plain.body);
        }
        pages += 1;
        match plain.json()["result"]["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    assert_eq!(pages, 2);
}

#[tokio::test]
async fn the_coding_is_the_best_of_those_that_the_client_takes() {
    let tree = tree("");
    let server = built(tree.path()).await;
    let message = read(&json!(1), "docs://49");
    for (accepted, coding) in [
        ("gzip", Some("gzip")),
        ("GZIP", Some("gzip")),
        ("x-gzip", Some("gzip")),
        ("gzip, deflate, br, zstd", Some("zstd")),
        ("gzip;q=1.0, zstd;q=0.5", Some("gzip")),
        ("zstd;q=0, gzip;q=0.001", Some("gzip")),
        ("gzip;q=0", None),
        ("gzip; Q=0", None),
        ("gzip;q=nonsense", None),
        ("br, deflate", None),
        ("identity", None),
        ("*", None),
        ("", None),
        (", ,;q=,", None),
    ] {
        let response = ask(&server, Some(accepted), &message).await;
        assert_eq!(response.header("content-encoding"), coding, "{accepted}");
        assert!(decoded(&response).ends_with(b"\"}]}}"), "{accepted}");
    }
    let twice = [("accept-encoding", "br"), ("accept-encoding", "gzip")];
    let response = server.post("docs", &twice, message.to_string().as_bytes()).await;
    assert_eq!(response.header("content-encoding"), Some("gzip"));
}

#[tokio::test]
async fn an_id_that_is_longer_than_a_block_leaves_the_answer_as_it_is() {
    let tree = tree("");
    let server = built(tree.path()).await;
    for (len, coding) in [(60_000, Some("gzip")), (70_000, None)] {
        let id = json!("i".repeat(len));
        let response = ask(&server, Some("gzip"), &read(&id, "docs://49")).await;
        assert_eq!(response.header("content-encoding"), coding);
        let answer: Value = serde_json::from_slice(&decoded(&response)).unwrap();
        assert_eq!(answer["id"], id);
    }
}

#[tokio::test]
async fn a_site_may_want_no_compression() {
    let tree = tree("compression: false\n");
    let server = built(tree.path()).await;
    for coding in CODINGS {
        let response = ask(&server, Some(coding), &read(&json!(1), "docs://49")).await;
        assert_eq!(response.header("content-encoding"), None);
    }
}

#[tokio::test]
async fn what_is_fetched_is_compressed_while_it_is_sent() {
    let text = "a line of what was fetched\n".repeat(20_000);
    let long = text.clone();
    let upstream = Upstream::start(move |request| {
        ok("text/plain", if request.target == "/long" { long.clone() } else { "short".to_owned() })
    })
    .await;
    let tree = tree("");
    let entry = |name: &str| {
        format!(
            "- uri: docs://fetched-{name}\n  url: {{href: \"{}\", allow_private_network: true}}\n",
            upstream.url(&format!("/{name}"))
        )
    };
    fs::write(tree.path().join("docs/resources/fetched.yaml"), entry("long") + &entry("short")).unwrap();
    let server = built(tree.path()).await;
    let long = ask(&server, Some("gzip"), &read(&json!(1), "docs://fetched-long")).await;
    assert_eq!((long.header("content-encoding"), long.header("content-length")), (Some("gzip"), None));
    let answer: Value = serde_json::from_slice(&inflated(&dechunked(&long.body))).unwrap();
    assert_eq!(answer["result"]["contents"][0]["text"], text);
    for (coding, uri) in [("zstd", "docs://fetched-long"), ("gzip", "docs://fetched-short")] {
        assert_eq!(ask(&server, Some(coding), &read(&json!(1), uri)).await.header("content-encoding"), None);
    }
}

fn inflated(bytes: &[u8]) -> Vec<u8> {
    let mut inflated = Vec::new();
    MultiGzDecoder::new(bytes).read_to_end(&mut inflated).unwrap();
    inflated
}

/// The bytes of a chunked body.
fn dechunked(mut body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let end = body.windows(2).position(|window| window == b"\r\n").unwrap();
        let len = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if len == 0 {
            return bytes;
        }
        bytes.write_all(&body[end + 2..end + 2 + len]).unwrap();
        body = &body[end + 4 + len..];
    }
}

#[test]
fn what_was_compressed_before_is_taken_from_the_cache() {
    let tree = tree("");
    let compiled = || compile(tree.path()).unwrap().catalog;
    let mut cache = Cache::default();
    let first = encode(compiled(), &mut cache).unwrap();
    let bytes = cache.to_bytes();
    let mut cache = Cache::from_bytes(bytes.clone());
    assert_eq!(encode(compiled(), &mut cache).unwrap().blob, first.blob);
    assert_eq!(cache.to_bytes(), bytes, "the same pieces are the same bytes");
    // What cannot be read is as good as nothing.
    for broken in [&bytes[..bytes.len() - 1], b"mcpress encoded 0\n", b""] {
        assert_eq!(encode(compiled(), &mut Cache::from_bytes(broken.to_vec())).unwrap().blob, first.blob);
    }
    // What is gone from the tree is gone from the cache.
    fs::remove_file(tree.path().join("docs/resources/large.txt")).unwrap();
    encode(compiled(), &mut cache).unwrap();
    assert!(cache.to_bytes().len() < bytes.len());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn any_content_comes_back(parts in prop::collection::vec(("[a-c]{0,40}|\\PC{0,40}", 1..400_usize), 1..8)) {
        let text: String = parts.iter().map(|(part, times)| part.repeat(*times)).collect();
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("docs/resources")).unwrap();
        fs::write(tree.path().join("docs/server.yaml"), "").unwrap();
        fs::write(tree.path().join("docs/resources/page.txt"), &text).unwrap();
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let server = built(tree.path()).await;
            let plain = ask(&server, None, &read(&json!(1), "docs://page.txt")).await;
            for coding in CODINGS {
                let response = ask(&server, Some(coding), &read(&json!(1), "docs://page.txt")).await;
                assert_eq!(decoded(&response), plain.body);
            }
        });
    }
}
