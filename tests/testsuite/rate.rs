//! How often a client may ask, and what counts for whom.

use mcpress_runtime::auth::Token;

use super::{
    auth::{ping, serve, site},
    support::{Response, TestServer},
};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Nothing comes in again while a test runs.
const THREE: &str = "limits: { requests_per_minute: 1, burst: 3 }";

async fn from(server: &TestServer, forwarded: &[&str]) -> u16 {
    let headers: Vec<_> = forwarded.iter().map(|value| ("x-forwarded-for", *value)).collect();
    server.post("docs", &headers, PING).await.status
}

async fn batch(server: &TestServer, messages: usize) -> Response {
    let batch = vec![std::str::from_utf8(PING).unwrap(); messages].join(",");
    server.post("docs", &[], format!("[{batch}]").as_bytes()).await
}

#[tokio::test]
async fn who_asks_too_often_is_told_when_to_come_again() {
    let server = serve(site(THREE, &[]).unwrap(), &[]).await;
    let origin = ("origin", "http://localhost:5173");
    for _ in 0..3 {
        assert_eq!(server.post("docs", &[origin], PING).await.status, 200);
    }
    let refused = server.post("docs", &[origin], PING).await;
    let seconds: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{refused}");
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(&format!("(retry-after:|try again in) {seconds}"), "$1 [seconds]");
    settings.add_filter("content-length: .*", "content-length: [bytes]");
    settings.bind(|| {
        insta::assert_snapshot!(refused, @r#"
        429
        access-control-allow-origin: http://localhost:5173
        access-control-expose-headers: www-authenticate, retry-after, x-request-id
        content-length: [bytes]
        content-type: application/json
        retry-after: [seconds]
        vary: Origin, Accept-Encoding

        {"jsonrpc":"2.0","error":{"code":-32600,"message":"too many requests; try again in [seconds] s"}}
        "#);
    });
    assert_eq!(server.post("open", &[], PING).await.status, 200, "each server counts for itself");
    assert_eq!(server.send("GET", "/healthz", &[], b"").await.status, 200);
    assert_eq!(server.send("OPTIONS", "/mcp/docs", &[origin], b"").await.status, 204);
}

#[tokio::test]
async fn a_batch_counts_as_its_messages() {
    let server = serve(site(THREE, &[]).unwrap(), &[]).await;
    let too_large = batch(&server, 4).await;
    insta::assert_snapshot!(too_large, @r#"
    400
    content-length: 124
    content-type: application/json
    vary: Origin, Accept-Encoding

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"the batch has more messages than this server takes at once, which is 3"}}
    "#);
    assert_eq!(batch(&server, 2).await.status, 200);
    assert_eq!(batch(&server, 2).await.status, 429);

    let server = serve(site(THREE, &[]).unwrap(), &[]).await;
    assert_eq!(batch(&server, 3).await.status, 200);
    assert_eq!(server.post("docs", &[], PING).await.status, 429);
}

#[tokio::test]
async fn each_token_counts_for_itself_and_a_wrong_one_for_its_address() {
    let (one, other) = (Token::random().unwrap(), Token::random().unwrap());
    let settings = format!("auth: {{ bearer: {{ tokens_env: TOKENS }} }}\n{THREE}");
    let list = format!("{},{}", one.hash(), other.hash());
    let server = serve(site(&settings, &[("TOKENS", &list)]).unwrap(), &[]).await;
    for expected in [401, 401, 401, 429, 429] {
        assert_eq!(ping(&server, "wrong").await.status, expected);
    }
    assert_eq!(server.post("docs", &[], PING).await.status, 429);
    for expected in [200, 200, 200, 429] {
        assert_eq!(ping(&server, one.secret()).await.status, expected, "not what its address has used up");
    }
    assert_eq!(ping(&server, other.secret()).await.status, 200);
}

#[tokio::test]
async fn the_address_is_that_of_the_peer_or_what_a_trusted_proxy_says() {
    let server = serve(site(THREE, &[]).unwrap(), &[]).await;
    for (address, expected) in [("192.0.2.1", 200), ("192.0.2.2", 200), ("192.0.2.3", 200), ("192.0.2.4", 429)] {
        assert_eq!(from(&server, &[address]).await, expected, "nobody is trusted");
    }

    let server = serve(site(THREE, &[]).unwrap(), &["127.0.0.0/8", "10.0.0.1"]).await;
    for expected in [200, 200, 200, 429] {
        assert_eq!(from(&server, &["192.0.2.1"]).await, expected);
    }
    assert_eq!(from(&server, &["192.0.2.1, 192.0.2.2"]).await, 200);
    assert_eq!(from(&server, &["192.0.2.3, 192.0.2.1, 10.0.0.1"]).await, 429, "a client may say what it likes");
    assert_eq!(from(&server, &["192.0.2.3", "192.0.2.1"]).await, 429);
    for (address, expected) in [
        ("2001:db8::1", 200),
        ("2001:db8::2", 200),
        ("2001:db8::3", 200),
        ("2001:db8::4", 429),
        ("2001:db8:0:1::1", 200),
    ] {
        assert_eq!(from(&server, &[address]).await, expected, "{address}");
    }
}
