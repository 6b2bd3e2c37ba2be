//! `/healthz` and `/readyz`: for whoever asks, whatever else fails.

use std::fs;

use serde_json::json;
use tokio::net::TcpListener;

use crate::support::{TestServer, app};

#[tokio::test]
async fn probes_do_not_depend_on_upstreams() {
    // Nobody listens here any more.
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let tree = tempfile::tempdir().unwrap();
    fs::create_dir_all(tree.path().join("live/resources")).unwrap();
    fs::write(tree.path().join("live/server.yaml"), "").unwrap();
    let entries = json!([
        { "uri": "live://page", "url": { "href": format!("http://{gone}/"), "allow_private_network": true } },
        { "uri": "live://posts", "wp_query": { "site": format!("http://{gone}"), "allow_private_network": true } },
    ]);
    fs::write(tree.path().join("live/resources/entries.yaml"), entries.to_string()).unwrap();
    let server = TestServer::with(app(tree.path())).await;
    for uri in ["live://page", "live://posts"] {
        let read = server.rpc("live", "resources/read", json!({ "uri": uri })).await;
        assert_eq!(read["error"]["code"], -32603, "{read}");
    }
    for path in ["/healthz", "/readyz"] {
        for headers in
            [&[("host", "10.1.2.3:8080")][..], &[("host", "evil.example"), ("origin", "https://evil.example")]]
        {
            let get = server.send("GET", path, headers, b"").await;
            assert_eq!((get.status, get.text()), (200, "ok\n"), "{path}");
            let head = server.send("HEAD", path, headers, b"").await;
            assert_eq!((head.status, head.text(), head.header("content-length")), (200, "", Some("3")), "{path}");
        }
    }
}
