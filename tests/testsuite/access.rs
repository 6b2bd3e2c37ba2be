//! `Host` and `Origin`, and what browsers are told.

use mcpress_runtime::access::Access;

use crate::support::{Response, TestServer, app, fixture};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

async fn with(hosts: &[&str], origins: &[&str]) -> TestServer {
    let owned = |list: &[&str]| list.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>();
    let mut app = app(&fixture("site"));
    app.access = Access::new(&owned(hosts), &owned(origins)).unwrap();
    TestServer::with(app).await
}

#[tokio::test]
async fn only_loopback_names_by_default() {
    let server = TestServer::start().await;
    let status = async |headers: &[(&str, &str)]| server.post("docs", headers, PING).await.status;
    assert_eq!(status(&[("host", "localhost:1234")]).await, 200);
    assert_eq!(status(&[("host", "[::1]")]).await, 200);
    assert_eq!(status(&[("host", "127.0.0.1"), ("origin", "http://localhost:5173")]).await, 200);
    assert_eq!(status(&[("host", "evil.example")]).await, 403);
    assert_eq!(status(&[("host", "localhost"), ("origin", "https://evil.example")]).await, 403);
    assert_eq!(status(&[("host", "localhost"), ("origin", "null")]).await, 403);
    assert_eq!(status(&[("host", "evil.example"), ("origin", "http://evil.example")]).await, 403);
    assert_eq!(status(&[("host", "localhost"), ("host", "evil.example")]).await, 400);
}

#[tokio::test]
async fn every_method_and_page_is_guarded_but_probes() {
    let server = TestServer::start().await;
    let evil = [("host", "evil.example")];
    for (method, path, status) in [
        ("GET", "/", 403),
        ("GET", "/version", 403),
        ("GET", "/mcp/docs", 403),
        ("OPTIONS", "/mcp/docs", 403),
        ("DELETE", "/mcp/docs", 403),
        ("GET", "/nope", 403),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
        ("HEAD", "/healthz", 200),
        ("HEAD", "/readyz", 200),
    ] {
        let response = server.send(method, path, &evil, b"").await;
        assert_eq!(response.status, status, "{method} {path}");
    }
    assert_eq!(server.raw("POST /mcp/docs HTTP/1.1\r\nconnection: close\r\n\r\n").await.status, 400);
    let absolute = "GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    assert_eq!(server.raw(absolute).await.status, 403);
}

#[tokio::test]
async fn allowed_hosts_match_with_and_without_port() {
    let server = with(&["mcp.internal"], &[]).await;
    let status = async |headers: &[(&str, &str)]| server.post("docs", headers, PING).await.status;
    assert_eq!(status(&[("host", "mcp.internal:8080")]).await, 200);
    assert_eq!(status(&[("host", "mcp.internal"), ("origin", "https://mcp.internal")]).await, 200);
    assert_eq!(status(&[("host", "other.internal")]).await, 403);
}

#[tokio::test]
async fn hosts_and_origins_are_compared_by_what_they_mean() {
    let server = with(&["mcp.example:443", "[2001:DB8::0:1]"], &["HTTPS://app.example:443"]).await;
    let status = async |headers: &[(&str, &str)]| server.post("docs", headers, PING).await.status;
    for host in ["mcp.example", "mcp.example:443", "[2001:db8:0::1]:8080", "localhost:", "[0:0:0:0:0:0:0:1]"] {
        assert_eq!(status(&[("host", host)]).await, 200, "{host}");
    }
    assert_eq!(status(&[("host", "mcp.example:8443")]).await, 403);
    assert_eq!(status(&[("origin", "https://app.example")]).await, 200);
    assert_eq!(status(&[("origin", "https://mcp.example")]).await, 200);
    assert_eq!(status(&[("origin", "http://mcp.example")]).await, 403);
    for entry in ["*.example.com", "*:80"] {
        assert!(Access::new(&[entry.to_owned()], &[]).is_err(), "{entry}");
    }
    for entry in ["https://*.example.com", "ht tp://a"] {
        assert!(Access::new(&[], &[entry.to_owned()]).is_err(), "{entry}");
    }
}

#[tokio::test]
async fn a_browser_on_an_allowed_origin_may_ask_first() {
    let server = with(&[], &["https://app.example"]).await;
    let preflight = async |origin: &str| -> Response {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "content-type,mcp-method"),
        ];
        server.send("OPTIONS", "/mcp/docs", &headers, b"").await
    };
    let response = preflight("https://app.example").await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), Some("https://app.example"));
    assert_eq!(response.header("access-control-allow-methods"), Some("POST"));
    let allowed: Vec<_> = response.header("access-control-allow-headers").unwrap().split(", ").collect();
    for header in
        ["content-type", "authorization", "accept", "mcp-protocol-version", "mcp-method", "mcp-name", "mcp-session-id"]
    {
        assert!(allowed.contains(&header), "{header}");
    }
    let response = preflight("https://evil.example").await;
    assert_eq!(response.status, 403);
    assert_eq!(response.header("access-control-allow-origin"), None);

    // Neither does one that comes with another that is not allowed.
    let both = [("origin", "https://app.example"), ("origin", "https://evil.example")];
    let response = server.post("docs", &both, PING).await;
    assert_eq!((response.status, response.header("access-control-allow-origin")), (403, None));

    let response = server.post("docs", &[("origin", "https://app.example")], PING).await;
    assert_eq!(response.header("access-control-allow-origin"), Some("https://app.example"));
    let exposed = Some("www-authenticate, retry-after, x-request-id");
    assert_eq!(response.header("access-control-expose-headers"), exposed);
    assert_eq!(server.post("docs", &[], PING).await.header("access-control-allow-origin"), None);
}
