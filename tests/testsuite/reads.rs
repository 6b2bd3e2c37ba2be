//! What is listed can be read, byte for byte, and what is not listed cannot.

use std::{collections::BTreeMap, fs, path::Path};

use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::{collection::btree_map, prelude::*};
use serde_json::{Value, json};

use crate::support::{TestServer, app, fixture};

/// The bytes that a `resources/read` stands for.
fn content(response: &Value) -> Vec<u8> {
    let content = &response["result"]["contents"][0];
    match (content["text"].as_str(), content["blob"].as_str()) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(blob)) => STANDARD.decode(blob).unwrap(),
        _ => panic!("no content: {response}"),
    }
}

#[tokio::test]
async fn reads_files_byte_for_byte() {
    let server = TestServer::start().await;
    for (uri, file, mime_type) in [
        ("docs://api-overview", "api-overview.md", "text/markdown"),
        ("docs://guides/intro", "guides/intro.md", "text/markdown"),
        ("docs://empty.txt", "empty.txt", "text/plain"),
        ("docs://pixel.png", "pixel.png", "image/png"),
        ("docs://bytes.bin", "bytes.bin", "application/octet-stream"),
    ] {
        let bytes = fs::read(fixture("site/docs/resources").join(file)).unwrap();
        let response = server.rpc("docs", "resources/read", json!({ "uri": uri })).await;
        assert_eq!(content(&response), bytes, "{uri}");
        assert_eq!(response["result"]["contents"][0]["uri"], uri);
        assert_eq!(response["result"]["contents"][0]["mimeType"], mime_type);
        let list = server.rpc("docs", "resources/list", json!({})).await;
        let item = list["result"]["resources"].as_array().unwrap().iter().find(|item| item["uri"] == uri).unwrap();
        assert_eq!(item["size"], bytes.len(), "{uri}");
    }
}

#[tokio::test]
async fn an_empty_file_is_an_empty_text() {
    let server = TestServer::start().await;
    let response = server.rpc("docs", "resources/read", json!({ "uri": "docs://empty.txt" })).await;
    assert_eq!(response["result"]["contents"][0]["text"], "");
}

#[tokio::test]
async fn a_live_resource_has_no_size() {
    let server = TestServer::start().await;
    let list = server.rpc("docs", "resources/list", json!({})).await;
    let item =
        list["result"]["resources"].as_array().unwrap().iter().find(|item| item["uri"] == "live://feed").unwrap();
    assert!(item.get("size").is_none());
}

#[tokio::test]
async fn the_uri_of_one_server_is_not_found_on_another() {
    let server = TestServer::start().await;
    let read = |slug| server.rpc(slug, "resources/read", json!({ "uri": "paged://a.txt" }));
    assert_eq!(content(&read("paged").await), b"entry a\n");
    let response = read("docs").await;
    assert_eq!(response["error"]["code"], -32602);
    assert_eq!(response["error"]["data"], json!({ "uri": "paged://a.txt" }));
    assert!(response.get("result").is_none());
}

#[tokio::test]
async fn arguments_that_do_not_pass_are_not_found() {
    let server = TestServer::start().await;
    let long = format!("greeting://hallo/{}", "a".repeat(257));
    let longest = format!("greeting://hallo/{}", "a".repeat(256));
    let read = |uri: String| {
        let server = &server;
        async move { server.rpc("docs", "resources/read", json!({ "uri": uri })).await }
    };
    assert!(read(longest).await.get("result").is_some());
    for uri in [
        long.as_str(),
        "greeting://moin/Bob",
        "greeting://hallo/B0b",
        "greeting://hallo/Bob%0A",
        "greeting://hallo/Bob%00",
        "greeting://hallo/",
        "greeting://hallo/Bob/Ann",
        "greeting://hello/a%00b",
        "greeting://hallo/..%2F..%2Fetc%2Fpasswd",
        "greeting://hello/..",
        "greeting://hello/a%2F..%2Fb",
        "greeting://hello/..%2Fb",
        "greeting://hello/a%5Cb",
        "greeting://hallo/{{7*7}}",
    ] {
        let response = read(uri.to_owned()).await;
        assert_eq!(response["error"]["message"], format!("Resource not found: {uri}"));
        assert_eq!(response["error"]["data"], json!({ "uri": uri }));
    }
}

#[tokio::test]
async fn values_are_decoded_once_and_never_rendered() {
    let server = TestServer::start().await;
    let read = |uri: &'static str| server.rpc("docs", "resources/read", json!({ "uri": uri }));
    let response = read("greeting://hello/%2541%7B%7B7*7%7D%7D").await;
    let text = response["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("{{7*7}}"), "{text}");
    assert!(!text.contains("49"), "{text}");
}

#[tokio::test]
async fn a_template_that_takes_too_long_fails() {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("any/resources")).unwrap();
    fs::write(tree.path().join("any/server.yaml"), "").unwrap();
    let text = "{% for a in range(args.count | int) %}{% for b in range(1000) %}{% endfor %}{% endfor %}done";
    let entry = format!(
        "- uri_template: loop://{{count}}\n  name: loop\n  arguments: {{count: {{}}}}\n  static: {{text: \"{text}\"}}\n"
    );
    fs::write(tree.path().join("any/resources/loop.yaml"), entry).unwrap();
    let server = TestServer::with(app(tree.path())).await;
    let read = |uri: &'static str| server.rpc("any", "resources/read", json!({ "uri": uri }));
    assert_eq!(content(&read("loop://20").await), b"done");
    for uri in ["loop://400", "loop://90000"] {
        assert_eq!(read(uri).await["error"]["code"], -32603, "{uri}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever the files are called and whatever is in them.
    #[test]
    fn every_listed_uri_reads_back_its_file(
        files in btree_map("[a-zA-Z0-9 %?#&+ü日🎉'(){}~=;:@,!$-]{1,12}\\.(txt|md|png|bin|C)", any::<Vec<u8>>(), 1..8),
        is_text in any::<bool>(),
    ) {
        let tree = tempfile::tempdir().unwrap();
        let resources = tree.path().join("any/resources/in a folder");
        fs::create_dir_all(&resources).unwrap();
        fs::write(tree.path().join("any/server.yaml"), "").unwrap();
        let files: BTreeMap<String, Vec<u8>> = files
            .into_iter()
            .map(|(name, bytes)| (name, if is_text { String::from_utf8_lossy(&bytes).into_owned().into() } else { bytes }))
            .collect();
        for (name, bytes) in &files {
            fs::write(resources.join(name), bytes).unwrap();
        }
        // Two names that lead to one URI (`a.md` beside `a`) are refused when the tree is compiled.
        if mcpress_compiler::compile(tree.path()).is_ok() {
            let read = tokio::runtime::Runtime::new().unwrap().block_on(read_all(tree.path()));
            let mut expected: Vec<Vec<u8>> = files.into_values().map(served).collect();
            expected.sort();
            prop_assert_eq!(read, expected);
        }
    }
}

/// A byte order mark is not part of the text that it marks.
fn served(bytes: Vec<u8>) -> Vec<u8> {
    match bytes.strip_prefix("\u{feff}".as_bytes()) {
        Some(rest) => rest.to_vec(),
        None => bytes,
    }
}

async fn read_all(tree: &Path) -> Vec<Vec<u8>> {
    let server = TestServer::with(app(tree)).await;
    let list = server.rpc("any", "resources/list", json!({})).await;
    let mut contents = Vec::new();
    for item in list["result"]["resources"].as_array().unwrap() {
        let response = server.rpc("any", "resources/read", json!({ "uri": item["uri"] })).await;
        contents.push(content(&response));
    }
    contents.sort();
    contents
}

#[tokio::test]
async fn front_matter_is_metadata_and_what_a_definition_says_wins() {
    let tree = tempfile::tempdir().unwrap();
    let resources = tree.path().join("docs/resources");
    fs::create_dir_all(&resources).unwrap();
    fs::write(tree.path().join("docs/server.yaml"), "").unwrap();
    let page = "---\ntitle: Of the page\ndescription: Said by the page.\n---\n\n# Heading\n";
    fs::write(resources.join("page.md"), page).unwrap();
    fs::write(tree.path().join("docs/page.md"), page).unwrap();
    let definition = "uri: docs://defined\ntitle: Of the definition\nstatic: {file: ../page.md}\n";
    fs::write(resources.join("defined.yaml"), definition).unwrap();
    let server = TestServer::with(app(tree.path())).await;
    let list = server.rpc("docs", "resources/list", json!({})).await;
    for (index, uri, title) in [(0, "docs://defined", "Of the definition"), (1, "docs://page", "Of the page")] {
        let item = &list["result"]["resources"][index];
        assert_eq!((&item["uri"], &item["title"]), (&json!(uri), &json!(title)));
        assert_eq!((&item["description"], &item["size"]), (&json!("Said by the page."), &json!(10)));
        assert_eq!(
            content(&server.rpc("docs", "resources/read", json!({ "uri": uri })).await),
            b"# Heading\n",
            "{uri}"
        );
    }
}
