//! `subscriptions/listen`.

use std::{collections::HashMap, fs, io::ErrorKind::WouldBlock, sync::Arc};

use mcpress_catalog::Catalog;
use mcpress_runtime::{
    fetch::{Config, Fetcher},
    mcp::{Site, Surroundings},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime,
    sync::watch,
    task::spawn_blocking,
    time::{Duration, timeout},
};

use crate::support::{PATIENCE, Response, TestServer, app, fixture, modern, published, request, site};

/// Opens a stream and reads until its first event is there.
async fn listen(server: &TestServer) -> (TcpStream, String) {
    listen_at(server, "docs").await
}

pub(crate) async fn listen_at(server: &TestServer, slug: &str) -> (TcpStream, String) {
    let (headers, message) =
        modern("subscriptions/listen", json!({ "notifications": { "resourcesListChanged": true } }));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut stream = server.connect().await;
    stream.write_all(&request("POST", &format!("/mcp/{slug}"), &headers, message.as_bytes())).await.unwrap();
    let mut read = String::new();
    while !read.contains("\n\n") {
        let mut buffer = [0; 4096];
        let count = timeout(PATIENCE, stream.read(&mut buffer)).await.unwrap().unwrap();
        assert_ne!(count, 0, "{read}");
        read.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    (stream, read)
}

/// The JSON of the events in what was read, whatever the transfer encoding put between them.
pub(crate) fn events(text: &str) -> Vec<Value> {
    text.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[tokio::test]
async fn a_subscription_is_acknowledged_and_ends_with_the_server() {
    let server = TestServer::start().await;
    let (mut stream, opened) = listen(&server).await;
    let response = Response::parse(opened.as_bytes());
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert_eq!(response.header("cache-control"), Some("no-cache"));
    assert_eq!(response.header("x-accel-buffering"), Some("no"));
    let id = json!({ "io.modelcontextprotocol/subscriptionId": 1 });
    let acknowledged = json!({
        "jsonrpc": "2.0",
        "method": "notifications/subscriptions/acknowledged",
        "params": { "notifications": {}, "_meta": id },
    });
    assert_eq!(events(&opened), [acknowledged]);

    let stopped = server.stop();
    let mut rest = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut rest)).await.unwrap().unwrap();
    let events = events(&rest);
    assert_eq!(events.len(), 1, "{rest}");
    assert_eq!(events[0]["id"], 1);
    assert_eq!(events[0]["result"]["resultType"], "complete");
    assert_eq!(events[0]["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
    // The chunk of length zero: the stream is whole.
    assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
    timeout(PATIENCE, stopped).await.unwrap().unwrap();
}

#[tokio::test]
async fn subscriptions_are_bounded_and_freed_when_the_client_goes() {
    let mut app = app(&fixture("site"));
    let catalog = app.site.borrow().catalog().clone();
    app.site = published(site(catalog, 1));
    let server = TestServer::with(app).await;
    let (first, _) = listen(&server).await;
    let refused = server.modern("docs", "subscriptions/listen", json!({ "notifications": {} })).await;
    assert_eq!((refused.status, refused.error_code()), (429, -32603));
    assert_eq!(refused.json()["id"], 1);
    drop(first);
    let again = async {
        let (headers, message) = modern("subscriptions/listen", json!({ "notifications": {} }));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        loop {
            let mut stream = server.connect().await;
            stream.write_all(&request("POST", "/mcp/docs", &headers, message.as_bytes())).await.unwrap();
            let mut status = [0; 12];
            stream.read_exact(&mut status).await.unwrap();
            match &status {
                b"HTTP/1.1 200" => return,
                _ => tokio::time::sleep(Duration::from_millis(5)).await,
            }
        }
    };
    timeout(PATIENCE, again).await.expect("the place is free again");
}

#[tokio::test]
async fn a_client_that_takes_no_events_cannot_subscribe() {
    let server = TestServer::start().await;
    let (headers, message) = modern("subscriptions/listen", json!({ "notifications": {} }));
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.push(("accept", "application/json"));
    assert_eq!(server.post("docs", &headers, message.as_bytes()).await.status, 406);
}

#[tokio::test]
async fn what_to_announce_must_be_said() {
    let server = TestServer::start().await;
    for params in [
        json!({}),
        json!({ "notifications": null }),
        json!({ "notifications": [] }),
        json!({ "notifications": "all" }),
        json!({ "notifications": { "resourcesListChanged": "yes" } }),
        json!({ "notifications": { "toolsListChanged": null } }),
        json!({ "notifications": { "resourceSubscriptions": "docs://a" } }),
        json!({ "notifications": { "resourceSubscriptions": ["docs://a", 1] } }),
    ] {
        let refused = server.modern("docs", "subscriptions/listen", params.clone()).await;
        assert_eq!((refused.status, refused.error_code()), (200, -32602), "{params}");
        assert_eq!(refused.json()["id"], 1);
    }
    let too_many: Vec<_> = (0..=1000).map(|index| format!("docs://{index}")).collect();
    let params = json!({ "notifications": { "resourceSubscriptions": too_many } });
    let refused = server.modern("docs", "subscriptions/listen", params).await;
    assert_eq!((refused.status, refused.error_code()), (200, -32602));
    let all = json!({
        "resourcesListChanged": true,
        "promptsListChanged": false,
        "resourceSubscriptions": ["docs://a"],
        "com.example/other": 1,
    });
    let (headers, message) = modern("subscriptions/listen", json!({ "notifications": all }));
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut stream = server.connect().await;
    stream.write_all(&request("POST", "/mcp/docs", &headers, message.as_bytes())).await.unwrap();
    let mut status = [0; 12];
    timeout(PATIENCE, stream.read_exact(&mut status)).await.unwrap().unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
}

/// There is one thread for what takes long, and it is taken; what would compare on the thread that answers needs none.
#[test]
fn what_a_stream_compares_holds_up_no_answer() {
    let runtime = runtime::Builder::new_current_thread().enable_all().max_blocking_threads(1).build().unwrap();
    runtime.block_on(async {
        let mut app = app(&fixture("site"));
        let (other, catalog) = (another_catalog(), app.site.borrow().catalog().clone());
        let (publish, site) = watch::channel(Arc::new(reloading(catalog)));
        app.site = site;
        let server = TestServer::with(app).await;
        let (mut stream, opened) = listen(&server).await;
        assert!(opened.contains(r#""resourcesListChanged":true"#), "{opened}");

        let (release, released) = std::sync::mpsc::channel::<()>();
        let taken = spawn_blocking(move || released.recv().is_err());
        publish.send(Arc::new(reloading(other))).unwrap();
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        for _ in 0..20 {
            assert_eq!(server.post("docs", &[], ping).await.status, 200);
        }
        let told = stream.try_read(&mut [0; 4096]);
        assert!(told.as_ref().is_err_and(|error| error.kind() == WouldBlock), "compared meanwhile: {told:?}");

        drop(release);
        assert!(taken.await.unwrap());
        let mut told = [0; 4096];
        let count = timeout(PATIENCE, stream.read(&mut told)).await.unwrap().unwrap();
        let told = String::from_utf8_lossy(&told[..count]);
        assert!(told.contains("notifications/resources/list_changed"), "{told}");
    });
}

/// The catalog of a server `docs` with one resource.
fn another_catalog() -> Catalog {
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("docs/resources")).unwrap();
    fs::write(tree.path().join("docs/server.yaml"), "").unwrap();
    fs::write(tree.path().join("docs/resources/only.txt"), "this").unwrap();
    app(tree.path()).site.borrow().catalog().clone()
}

/// A site that may change.
fn reloading(catalog: Catalog) -> Site {
    let fetcher = Fetcher::new(&Config::default()).unwrap();
    Site::new(catalog, Surroundings { fetcher, environment: HashMap::new(), subscriptions: 1, reloads: true }).unwrap()
}
