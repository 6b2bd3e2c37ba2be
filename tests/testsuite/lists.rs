//! Lists: one page by default, and cursors that fit one list of one server only.

use std::{collections::BTreeSet, fs};

use serde_json::{Value, json};

use crate::support::{TestServer, app, fixture};

fn uris(response: &Value) -> Vec<String> {
    let items = response["result"]["resources"].as_array().unwrap();
    items.iter().map(|item| item["uri"].as_str().unwrap().to_owned()).collect()
}

/// A tree with one server of 500 resources.
fn large(server: &str) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("large/resources")).unwrap();
    fs::write(tree.path().join("large/server.yaml"), server).unwrap();
    for index in 0..500 {
        fs::write(tree.path().join(format!("large/resources/{index}.txt")), "x").unwrap();
    }
    tree
}

#[tokio::test]
async fn everything_is_in_one_page_by_default() {
    let server = TestServer::with(app(large("").path())).await;
    let response = server.rpc("large", "resources/list", json!({})).await;
    assert_eq!(uris(&response).len(), 500);
    assert!(response["result"].get("nextCursor").is_none());
}

#[tokio::test]
async fn cursors_lead_through_every_page_once() {
    let server = TestServer::with(app(large("page_size: 100").path())).await;
    let (mut seen, mut params) = (BTreeSet::new(), json!({}));
    for page in 1..=5 {
        let response = server.rpc("large", "resources/list", params.clone()).await;
        let uris = uris(&response);
        assert_eq!(uris.len(), 100);
        assert!(uris.is_sorted());
        seen.extend(uris);
        match response["result"].get("nextCursor") {
            Some(cursor) => {
                assert!(page < 5);
                assert_ne!(cursor, "");
                params = json!({ "cursor": cursor });
            }
            None => assert_eq!(page, 5),
        }
    }
    assert_eq!(seen.len(), 500);
}

#[tokio::test]
async fn a_cursor_that_does_not_belong_here_is_refused() {
    let server = TestServer::start().await;
    let first = server.rpc("paged", "resources/list", json!({ "cursor": null })).await;
    let cursor = first["result"]["nextCursor"].as_str().unwrap();
    assert_eq!(uris(&server.rpc("paged", "resources/list", json!({ "cursor": cursor })).await).len(), 2);
    let mut forged = cursor.to_owned();
    forged.replace_range(..1, if cursor.starts_with('B') { "C" } else { "B" });
    for (slug, method, cursor) in [
        ("paged", "resources/list", json!("garbage")),
        ("paged", "resources/list", json!("")),
        ("paged", "resources/list", json!(forged)),
        ("paged", "resources/list", json!(format!("{cursor}A"))),
        ("paged", "resources/list", json!(format!("{cursor}="))),
        ("paged", "resources/list", json!(7)),
        ("paged", "resources/templates/list", json!(cursor)),
        ("docs", "resources/list", json!(cursor)),
        ("docs", "tools/list", json!(cursor)),
        ("docs", "prompts/list", json!(cursor)),
    ] {
        let response = server.rpc(slug, method, json!({ "cursor": cursor })).await;
        assert_eq!(response["error"]["code"], -32602, "{slug} {method} {cursor}: {response}");
    }
}

#[tokio::test]
async fn a_cursor_does_not_outlive_its_content() {
    let tree = large("page_size: 100");
    let before = TestServer::with(app(tree.path())).await;
    let first = before.rpc("large", "resources/list", json!({})).await;
    let params = json!({ "cursor": first["result"]["nextCursor"] });
    // Another process with the same content takes it.
    let other = TestServer::with(app(tree.path())).await;
    assert!(other.rpc("large", "resources/list", params.clone()).await.get("result").is_some());
    fs::write(tree.path().join("large/resources/0.txt"), "y").unwrap();
    let after = TestServer::with(app(tree.path())).await;
    assert_eq!(after.rpc("large", "resources/list", params).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_server_without_resources_lists_none() {
    let server = TestServer::with(app(&fixture("site"))).await;
    for (method, member) in [
        ("resources/list", "resources"),
        ("resources/templates/list", "resourceTemplates"),
        ("tools/list", "tools"),
        ("prompts/list", "prompts"),
    ] {
        let response = server.rpc("bare", method, json!({})).await;
        assert_eq!(response["result"], json!({ member: [] }), "{method}");
    }
}
