//! Bearer tokens: who is let in, what the others are told, and when an authorization server is asked for its keys.

use std::{
    collections::HashMap,
    fs,
    net::Ipv4Addr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use futures_util::stream::{FuturesUnordered, StreamExt};
use mcpress_runtime::{
    access::Access,
    auth::Token,
    fetch::{Config, Fetcher},
    forwarded::TrustedProxies,
    http::App,
    limits::Limits,
    mcp::{Missing, Site, SiteError, Surroundings},
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{
    support::{Response, TestServer, modern, published},
    upstream::{Reply, Upstream, ok, redirect, status},
};

const PING: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const ISSUER: &str = "https://id.example.com";
const RESOURCE: &str = "https://mcp.example.com/mcp/docs";

/// A site of two servers: `docs` with these settings, and `open` without any.
pub(crate) fn site(settings: &str, variables: &[(&str, &str)]) -> Result<Site, SiteError> {
    site_that_fetches(&Config::default(), settings, variables)
}

fn site_that_fetches(config: &Config, settings: &str, variables: &[(&str, &str)]) -> Result<Site, SiteError> {
    let tree = tempfile::tempdir().unwrap();
    for (slug, settings) in [("docs", format!("title: Secret plans\n{settings}\n")), ("open", String::new())] {
        fs::create_dir_all(tree.path().join(slug).join("resources")).unwrap();
        fs::write(tree.path().join(slug).join("server.yaml"), settings).unwrap();
        fs::write(tree.path().join(slug).join("resources/a.txt"), "here\n").unwrap();
    }
    let compiled = mcpress_compiler::compile(tree.path()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let environment: HashMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let fetcher = Fetcher::new(config).unwrap();
    Site::new(compiled.catalog, Surroundings { fetcher, environment, subscriptions: 1, reloads: false })
}

pub(crate) async fn serve(site: Site, proxies: &[&str]) -> TestServer {
    TestServer::with(app(site, proxies)).await
}

fn app(site: Site, proxies: &[&str]) -> App {
    let proxies = TrustedProxies::new(&proxies.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>()).unwrap();
    App {
        site: published(site),
        access: Access::default(),
        proxies,
        limits: Limits::default(),
        metrics: Default::default(),
    }
}

/// A server with one token, and that token.
async fn with_token(settings: &str) -> (TestServer, String) {
    let token = Token::random().unwrap();
    let settings = format!("auth: {{ bearer: {{ tokens_env: DOCS_TOKENS }} }}\n{settings}");
    let site = site(&settings, &[("DOCS_TOKENS", &token.hash())]).unwrap();
    (serve(site, &[]).await, token.secret().to_owned())
}

pub(crate) async fn ping(server: &TestServer, token: &str) -> Response {
    server.post("docs", &[("authorization", &format!("Bearer {token}"))], PING).await
}

#[tokio::test]
async fn a_token_of_the_list_opens_its_server() {
    let (server, token) = with_token("").await;
    assert_eq!(ping(&server, &token).await.status, 200);
    let lower = server.post("docs", &[("authorization", &format!("bearer  {token}"))], PING).await;
    assert_eq!(lower.status, 200, "{lower}");
    assert_eq!(server.post("open", &[], PING).await.status, 200);
    assert_eq!(server.post("nothing", &[], PING).await.status, 404);
}

#[tokio::test]
async fn without_a_token_there_is_a_challenge() {
    let (server, token) = with_token("").await;
    let none = server.post("docs", &[], PING).await;
    insta::assert_snapshot!(none, @r#"
    401
    content-length: 107
    content-type: application/json
    vary: Origin, Accept-Encoding
    www-authenticate: Bearer realm="docs"

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"a bearer token is needed: `Authorization: Bearer …`"}}
    "#);
    let wrong = ping(&server, &token[1..]).await;
    insta::assert_snapshot!(wrong, @r#"
    401
    content-length: 76
    content-type: application/json
    vary: Origin, Accept-Encoding
    www-authenticate: Bearer realm="docs", error="invalid_token", error_description="the token is not known"

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"the token is not known"}}
    "#);
    let basic = server.post("docs", &[("authorization", "Basic YTpi")], PING).await;
    assert_eq!(basic.to_string(), none.to_string());
    for headers in
        [&[("authorization", "Bearer "); 1][..], &[("authorization", "Bearer a"); 2], &[("authorization", "Bearer ü")]]
    {
        let malformed = server.post("docs", headers, PING).await;
        assert_eq!(malformed.status, 400, "{malformed}");
        assert_eq!(malformed.header("www-authenticate"), Some(r#"Bearer realm="docs", error="invalid_request""#));
    }
    let in_the_query = server.send("POST", &format!("/mcp/docs?access_token={token}"), &[], PING).await;
    assert_eq!(in_the_query.status, 401, "{in_the_query}");
}

#[tokio::test]
async fn nobody_reads_the_body_of_who_has_no_token() {
    let (server, _) = with_token("").await;
    let mut stream = server.connect().await;
    let head = "POST /mcp/docs HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 900000\r\n\r\n";
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"HTTP/1.1 401");
}

#[tokio::test]
async fn a_browser_may_ask_first_and_sees_the_challenge() {
    let (server, token) = with_token("").await;
    let origin = ("origin", "http://localhost:5173");
    let preflight = server.send("OPTIONS", "/mcp/docs", &[origin], b"").await;
    assert_eq!(preflight.status, 204, "{preflight}");
    let refused = server.post("docs", &[origin], PING).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), Some(origin.1));
    assert_eq!(refused.header("access-control-expose-headers"), Some("www-authenticate, retry-after, x-request-id"));
    let foreign = [("origin", "https://evil.example"), ("authorization", &format!("Bearer {token}"))];
    assert_eq!(server.post("docs", &foreign, PING).await.status, 403);
    assert_eq!(server.send("GET", "/mcp/docs", &[], b"").await.status, 405);
}

#[tokio::test]
async fn what_is_protected_is_private_and_not_described() {
    let (server, token) = with_token("").await;
    let (headers, message) = modern("resources/read", json!({ "uri": "docs://a.txt" }));
    let bearer = format!("Bearer {token}");
    let mut headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    headers.push(("authorization", &bearer));
    let read = server.post("docs", &headers, message.as_bytes()).await.json();
    assert_eq!(read["result"]["cacheScope"], "private");
    assert_eq!(read["result"]["contents"][0]["text"], "here\n");
    let open = server.modern("open", "resources/read", json!({ "uri": "open://a.txt" })).await.json();
    assert_eq!(open["result"]["cacheScope"], "public");

    let index = server.send("GET", "/", &[], b"").await;
    assert!(index.text().ends_with("\n\nPOST /mcp/docs  (needs a bearer token)\nPOST /mcp/open  open\n"), "{index}");
    let version = server.send("GET", "/version", &[], b"").await.json();
    assert_eq!(version["servers"][0], json!({ "slug": "docs", "protected": true }));
    assert_eq!(version["servers"][1]["resources"], 1);
    assert_eq!(server.send("GET", "/.well-known/oauth-protected-resource/mcp/docs", &[], b"").await.status, 404);
}

#[test]
fn a_list_that_is_missing_or_wrong_stops_the_start() {
    let settings = "auth: { bearer: { tokens_env: DOCS_TOKENS } }";
    let missing = site(settings, &[]).unwrap();
    let expected = Missing { name: "DOCS_TOKENS".to_owned(), place: "docs/server.yaml:2".to_owned() };
    assert_eq!(missing.missing(), [expected]);
    for (list, message) in [
        (
            "hunter2hunter2",
            "docs/server.yaml:2: `DOCS_TOKENS`: entry 1 is shorter than 32 characters; `mcpress token` makes one that is long enough",
        ),
        ("", "docs/server.yaml:2: `DOCS_TOKENS`: it lists no token; `mcpress token` makes one"),
    ] {
        assert_eq!(site(settings, &[("DOCS_TOKENS", list)]).err().unwrap().to_string(), message);
    }
    let settings = "auth: { authorization_servers: [\"${ID}\"], resource: \"${ORIGIN}/mcp/docs\" }";
    let names: Vec<String> =
        site(settings, &[]).unwrap().missing().iter().map(|missing| missing.name.clone()).collect();
    assert_eq!(names, ["ID", "ORIGIN"]);
    let error = site(settings, &[("ID", "http://id.example.com"), ("ORIGIN", "https://a")]).err().unwrap();
    assert_eq!(
        error.to_string(),
        "docs/server.yaml:2: `authorization_servers` with the environment filled in: expected https"
    );
}

#[tokio::test]
async fn a_server_whose_list_is_missing_lets_nobody_in() {
    let server = serve(site("auth: { bearer: { tokens_env: DOCS_TOKENS } }", &[]).unwrap(), &[]).await;
    assert_eq!(ping(&server, "").await.status, 400);
    assert_eq!(ping(&server, "a").await.status, 401);
    assert_eq!(server.post("docs", &[], PING).await.status, 401);
}

/// An authorization server: what signs its tokens.
struct Issuer {
    key: EcdsaKeyPair,
    id: &'static str,
}

impl Issuer {
    fn new(id: &'static str) -> Self {
        let random = SystemRandom::new();
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), &random).unwrap();
        Self { key, id }
    }

    fn jwk(&self) -> Value {
        let point = self.key.public_key().as_ref();
        let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
        json!({ "kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": x, "y": y })
    }

    fn token(&self, claims: &Value) -> String {
        self.with_header(json!({ "alg": "ES256", "typ": "at+jwt", "kid": self.id }), claims)
    }

    fn with_header(&self, header: impl Into<Value>, claims: &Value) -> String {
        let message = message(&header.into(), claims);
        let signature = self.key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

fn message(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    format!("{}.{}", part(header), part(claims))
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The claims of a good token, and what is to be changed in them; `null` takes one out.
fn claims(changes: &Value) -> Value {
    let mut claims = json!({ "iss": ISSUER, "aud": RESOURCE, "sub": "ada", "exp": now() + 600, "scope": "docs.read" });
    for (name, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(claims.as_object_mut().unwrap().shift_remove(name)),
            value => claims[name] = value.clone(),
        }
    }
    claims
}

fn jwks(keys: &[Value]) -> Reply {
    ok("application/json", json!({ "keys": keys }).to_string())
}

/// A server that takes tokens of `ISSUER`, whose keys are where `upstream` says.
async fn with_keys(upstream: &Upstream) -> TestServer {
    serve(site(&settings_with_keys(upstream), &[]).unwrap(), &[]).await
}

fn settings_with_keys(upstream: &Upstream) -> String {
    format!(
        "auth:\n  authorization_servers: [{ISSUER}]\n  resource: {RESOURCE}\n  jwks: {}\n  \
         scopes: [docs.read]\n  allow_private_network: true",
        upstream.url("/keys")
    )
}

fn challenge(response: &Response) -> &str {
    response.header("www-authenticate").unwrap_or_default()
}

#[tokio::test]
async fn an_access_token_opens_its_server() {
    let issuer = Issuer::new("k1");
    let jwk = issuer.jwk();
    let upstream = Upstream::start(move |_| jwks(std::slice::from_ref(&jwk))).await;
    let server = with_keys(&upstream).await;
    assert_eq!(server.post("docs", &[], PING).await.status, 401);
    assert_eq!(upstream.connections(), 0, "nothing is fetched before a token needs it");
    let good = [
        issuer.token(&claims(&json!({}))),
        issuer.token(&claims(&json!({ "aud": ["https://other.example.com", RESOURCE] }))),
        issuer.token(&claims(&json!({ "aud": format!("{RESOURCE}/") }))),
        issuer.token(&claims(&json!({ "scope": "a docs.read b" }))),
        issuer.token(&claims(&json!({ "scope": null, "scp": ["docs.read"] }))),
        issuer.token(&claims(&json!({ "scope": null, "scp": "docs.read" }))),
        issuer.token(&claims(&json!({ "exp": now() - 10, "nbf": now() + 10 }))),
        issuer.with_header(json!({ "alg": "ES256", "kid": "k1" }), &claims(&json!({}))),
        issuer.with_header(json!({ "alg": "ES256", "typ": "JWT" }), &claims(&json!({}))),
    ];
    for token in &good {
        let response = ping(&server, token).await;
        assert_eq!(response.status, 200, "{response}\n{}", challenge(&response));
    }
    assert_eq!(upstream.requests().len(), 1, "the keys are kept");
}

#[tokio::test]
async fn servers_of_one_issuer_share_its_keys_and_a_reload_keeps_them() {
    let issuer = Issuer::new("k1");
    let jwk = issuer.jwk();
    let upstream = Upstream::start(move |_| jwks(std::slice::from_ref(&jwk))).await;
    let first = site(&settings_with_keys(&upstream), &[]).unwrap();
    let tree = tempfile::tempdir().unwrap();
    let other = "https://mcp.example.com/mcp/more";
    for (slug, resource) in [("docs", RESOURCE), ("more", other)] {
        fs::create_dir_all(tree.path().join(slug)).unwrap();
        let settings = settings_with_keys(&upstream).replace(RESOURCE, resource);
        let settings = settings + "\nlimits: { requests_per_minute: 60 }\n";
        fs::write(tree.path().join(slug).join("server.yaml"), settings).unwrap();
    }
    let second = first.reload(mcpress_compiler::compile(tree.path()).unwrap().catalog).unwrap();
    let (first, second) = (serve(first, &[]).await, serve(second, &[]).await);
    let token = issuer.token(&claims(&json!({ "aud": [RESOURCE, other] })));
    assert_eq!(ping(&first, &token).await.status, 200);
    assert_eq!(ping(&second, &token).await.status, 200);
    let more = second.post("more", &[("authorization", &format!("Bearer {token}"))], PING).await;
    assert_eq!(more.status, 200, "{more}");
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn any_other_token_is_refused_with_the_reason() {
    let (issuer, other) = (Issuer::new("k1"), Issuer::new("k1"));
    let jwk = issuer.jwk();
    let secret = URL_SAFE_NO_PAD.encode(jwk["x"].as_str().unwrap());
    let upstream = Upstream::start(move |_| jwks(std::slice::from_ref(&jwk))).await;
    let server = with_keys(&upstream).await;
    let header = |header: Value| issuer.with_header(header, &claims(&json!({})));
    let unsigned = format!("{}.", message(&json!({ "alg": "none" }), &claims(&json!({}))));
    let good = issuer.token(&claims(&json!({})));
    let forged = format!("{}A{}", &good[..good.len() - 2], &good[good.len() - 1..]);
    for (token, reason) in [
        ("abc".to_owned(), "the token is no JWT of a kind that is accepted"),
        ("a.b.c".to_owned(), "the token is no JWT of a kind that is accepted"),
        (unsigned, "the token is no JWT of a kind that is accepted"),
        (
            format!("{}.{secret}", message(&json!({ "alg": "HS256", "kid": "k1" }), &claims(&json!({})))),
            "the algorithm of the token is not accepted",
        ),
        (header(json!({ "alg": "ES256", "kid": "k1", "typ": "logout+jwt" })), "the token is no access token"),
        (
            header(json!({ "alg": "ES256", "kid": "k1", "crit": ["x"], "x": 1 })),
            "the claims of the token cannot be read",
        ),
        (header(json!({ "alg": "ES384", "kid": "k1" })), "the key of the token is not known"),
        (header(json!({ "alg": "EdDSA", "kid": "k1" })), "the key of the token is not known"),
        (other.token(&claims(&json!({}))), "the signature of the token is wrong"),
        (forged, "the signature of the token is wrong"),
        (issuer.token(&claims(&json!({ "iss": "https://evil.example.com" }))), "the token is of another issuer"),
        (issuer.token(&claims(&json!({ "iss": format!("{ISSUER}/") }))), "the token is of another issuer"),
        (issuer.token(&claims(&json!({ "iss": [ISSUER] }))), "the token is no JWT of a kind that is accepted"),
        (issuer.token(&claims(&json!({ "iss": null }))), "the token is no JWT of a kind that is accepted"),
        (
            issuer.token(&claims(&json!({ "aud": "https://mcp.example.com/mcp/open" }))),
            "the token is for another audience",
        ),
        (issuer.token(&claims(&json!({ "aud": [] }))), "the token is for another audience"),
        (issuer.token(&claims(&json!({ "aud": null }))), "the token lacks `exp`, `iss` or `aud`"),
        (issuer.token(&claims(&json!({ "exp": null }))), "the token lacks `exp`, `iss` or `aud`"),
        (issuer.token(&claims(&json!({ "exp": "never" }))), "the token lacks `exp`, `iss` or `aud`"),
        (issuer.token(&claims(&json!({ "exp": now() - 60 }))), "the token has expired"),
        (issuer.token(&claims(&json!({ "nbf": now() + 60 }))), "the token is not valid yet"),
    ] {
        let response = ping(&server, &token).await;
        assert_eq!(response.status, 401, "{reason}: {response}");
        let expected = format!(
            "Bearer realm=\"docs\", error=\"invalid_token\", error_description=\"{reason}\", scope=\"docs.read\", \
             resource_metadata=\"https://mcp.example.com/.well-known/oauth-protected-resource/mcp/docs\""
        );
        assert_eq!(challenge(&response), expected);
    }
    let narrow = ping(&server, &issuer.token(&claims(&json!({ "scope": "docs.reader docs" })))).await;
    insta::assert_snapshot!(narrow, @r#"
    403
    content-length: 103
    content-type: application/json
    vary: Origin, Accept-Encoding
    www-authenticate: Bearer realm="docs", error="insufficient_scope", scope="docs.read", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp/docs"

    {"jsonrpc":"2.0","error":{"code":-32600,"message":"the token lacks a scope that this server asks for"}}
    "#);
    let origin = ("origin", "http://localhost:5173");
    let bearer = format!("Bearer {}", issuer.token(&claims(&json!({ "scope": null }))));
    let in_a_browser = server.post("docs", &[origin, ("authorization", &bearer)], PING).await;
    assert_eq!((in_a_browser.status, in_a_browser.header("access-control-allow-origin")), (403, Some(origin.1)));
}

#[tokio::test]
async fn takes_signatures_of_every_kind_that_it_says() {
    let ed25519 = Ed25519KeyPair::from_pkcs8(Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap().as_ref());
    let ed25519 = ed25519.unwrap();
    let x = URL_SAFE_NO_PAD.encode(ed25519.public_key());
    let keys = [
        json!({ "kty": "RSA", "kid": "rsa", "n": RSA_MODULUS, "e": "AQAB" }),
        json!({ "kty": "OKP", "crv": "Ed25519", "kid": "ed", "x": x }),
        // What nobody can check with is passed over.
        json!({ "kty": "OKP", "crv": "X25519", "kid": "rsa", "x": x }),
        json!({ "kty": "oct", "kid": "rsa", "k": x }),
        json!({ "kty": "RSA", "kid": "rsa", "use": "enc", "n": RSA_MODULUS, "e": "AQAB" }),
        json!({ "kty": "new", "kid": "rsa" }),
        json!("no key"),
    ];
    let upstream = Upstream::start(move |_| jwks(&keys)).await;
    let settings = format!(
        "auth: {{ authorization_servers: [{ISSUER}], resource: {RESOURCE}, jwks: \"{}\", allow_private_network: true }}",
        upstream.url("/keys")
    );
    let server = serve(site(&settings, &[]).unwrap(), &[]).await;
    let message = message(&json!({ "alg": "EdDSA", "kid": "ed" }), &claims(&json!({})));
    let signature = URL_SAFE_NO_PAD.encode(ed25519.sign(message.as_bytes()));
    let tokens = [RS256, RS512, PS256].map(|signature| signature.concat());
    for token in tokens.into_iter().chain([format!("{message}.{signature}")]) {
        let response = ping(&server, &token).await;
        assert_eq!(response.status, 200, "{}", challenge(&response));
    }
    let swapped = [PS256[0], RSA_CLAIMS, RS256[2]].concat();
    assert!(challenge(&ping(&server, &swapped).await).contains("the signature of the token is wrong"));
}

#[tokio::test]
async fn the_metadata_of_the_resource_says_where_tokens_come_from() {
    let upstream = Upstream::start(|_| status("500 No")).await;
    let server = with_keys(&upstream).await;
    let origin = ("origin", "http://localhost:5173");
    let path = "/.well-known/oauth-protected-resource/mcp/docs";
    let metadata = server.send("GET", path, &[origin], b"").await;
    insta::assert_snapshot!(metadata, @r#"
    200
    access-control-allow-origin: http://localhost:5173
    access-control-expose-headers: www-authenticate, retry-after, x-request-id
    content-length: 169
    content-type: application/json
    vary: Origin, Accept-Encoding

    {"resource":"https://mcp.example.com/mcp/docs","authorization_servers":["https://id.example.com"],"bearer_methods_supported":["header"],"scopes_supported":["docs.read"]}
    "#);
    assert_eq!(server.send("OPTIONS", path, &[origin], b"").await.status, 204);
    assert_eq!(server.send("POST", path, &[], b"").await.status, 405);
    for other in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp/open"] {
        let response = server.send("GET", other, &[], b"").await;
        assert_eq!((response.status, response.text()), (404, r#"{"error":"not_found"}"#));
    }
    assert_eq!(upstream.connections(), 0);

    let behind_a_gateway =
        "auth: { authorization_servers: [https://id.example.com], resource: https://docs.example.com/ }";
    let server = serve(site(behind_a_gateway, &[]).unwrap(), &[]).await;
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp/docs"] {
        let metadata = server.send("GET", path, &[], b"").await.json();
        assert_eq!(metadata["resource"], "https://docs.example.com/");
        assert_eq!(metadata.get("scopes_supported"), None, "no scopes are no list");
    }
    let refused = server.post("docs", &[], PING).await;
    let expected =
        r#"Bearer realm="docs", resource_metadata="https://docs.example.com/.well-known/oauth-protected-resource""#;
    assert_eq!(challenge(&refused), expected);
}

#[tokio::test]
async fn the_metadata_of_the_issuer_says_where_its_keys_are() {
    for place in [
        "/.well-known/oauth-authorization-server/realms/x",
        "/.well-known/openid-configuration/realms/x",
        "/realms/x/.well-known/openid-configuration",
    ] {
        let issuer = Issuer::new("k1");
        let jwk = issuer.jwk();
        let upstream = Upstream::start(move |request| {
            let origin = format!("http://{}", request.header("host").unwrap());
            match request.target.as_str() {
                "/keys" => jwks(std::slice::from_ref(&jwk)),
                target if target == place => ok(
                    "application/json",
                    json!({ "issuer": format!("{origin}/realms/x"), "jwks_uri": format!("{origin}/keys") }).to_string(),
                ),
                _ => status("404 Not Found"),
            }
        })
        .await;
        let name = upstream.url("/realms/x");
        let settings = format!(
            "auth: {{ authorization_servers: [\"{name}\"], resource: {RESOURCE}, allow_private_network: true }}"
        );
        let server = serve(site(&settings, &[]).unwrap(), &[]).await;
        let response = ping(&server, &issuer.token(&claims(&json!({ "iss": name })))).await;
        assert_eq!(response.status, 200, "{place}: {}", challenge(&response));
        assert_eq!(
            ping(&server, &issuer.token(&claims(&json!({})))).await.status,
            401,
            "the other issuer is no longer one"
        );
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_or_keys_over_http_are_not_taken() {
    for metadata in [
        json!({ "issuer": "https://evil.example.com", "jwks_uri": "https://evil.example.com/keys" }),
        json!({ "issuer": "ISSUER", "jwks_uri": "http://evil.example.com/keys" }),
        json!({ "issuer": "ISSUER" }),
    ] {
        let upstream = Upstream::start(move |request| {
            let issuer = format!("http://{}", request.header("host").unwrap());
            ok("application/json", metadata.to_string().replace("ISSUER", &issuer))
        })
        .await;
        let name = upstream.url("");
        let settings = format!(
            "auth: {{ authorization_servers: [\"{name}\"], resource: {RESOURCE}, allow_private_network: true }}"
        );
        let server = serve(site(&settings, &[]).unwrap(), &[]).await;
        let token = Issuer::new("k1").token(&claims(&json!({ "iss": name })));
        assert_eq!(ping(&server, &token).await.status, 503);
    }
}

/// The other machine is at the same socket, where it would answer.
#[tokio::test]
async fn redirects_lead_to_keys_over_http_on_this_machine_only() {
    let issuer = Issuer::new("k1");
    for (host, expected) in [("localhost", 200), ("keys.example.com", 503)] {
        for moved in ["/.well-known/oauth-authorization-server", "/keys"] {
            let jwk = issuer.jwk();
            let upstream = Upstream::start(move |request| {
                let (_, port) = request.header("host").unwrap().split_once(':').unwrap();
                let origin = format!("http://127.0.0.1:{port}");
                let metadata = json!({ "issuer": origin, "jwks_uri": format!("{origin}/keys") });
                match request.target.strip_prefix("/moved").unwrap_or(&request.target) {
                    _ if request.target == moved => {
                        redirect("302 Found", &format!("http://{host}:{port}/moved{moved}"))
                    }
                    "/.well-known/oauth-authorization-server" => ok("application/json", metadata.to_string()),
                    "/keys" => jwks(std::slice::from_ref(&jwk)),
                    _ => status("404 Not Found"),
                }
            })
            .await;
            let name = upstream.url("");
            let settings = format!(
                "auth: {{ authorization_servers: [\"{name}\"], resource: {RESOURCE}, allow_private_network: true }}"
            );
            let local = vec![Ipv4Addr::LOCALHOST.into()];
            let config = Config { hosts: HashMap::from([(host.to_owned(), local)]), ..Config::default() };
            let server = serve(site_that_fetches(&config, &settings, &[]).unwrap(), &[]).await;
            let answer = ping(&server, &issuer.token(&claims(&json!({ "iss": name })))).await;
            assert_eq!(answer.status, expected, "{moved} at {host}: {answer}");
            let came = upstream.requests().iter().any(|request| request.target.starts_with("/moved"));
            assert_eq!(came, expected == 200, "{moved} at {host}");
        }
    }
}

#[tokio::test]
async fn keys_at_a_private_address_are_asked_for_only_where_that_is_allowed() {
    let issuer = Issuer::new("k1");
    let jwk = issuer.jwk();
    let upstream = Upstream::start(move |_| jwks(std::slice::from_ref(&jwk))).await;
    let settings = format!(
        "auth: {{ authorization_servers: [{ISSUER}], resource: {RESOURCE}, jwks: \"{}\" }}",
        upstream.url("/keys")
    );
    let server = serve(site(&settings, &[]).unwrap(), &[]).await;
    assert_eq!(ping(&server, &issuer.token(&claims(&json!({})))).await.status, 503);
    assert_eq!(upstream.connections(), 0);
}

/// As the page on metrics says.
#[tokio::test]
async fn metrics_tell_who_may_not_from_who_cannot_be_checked() {
    let issuer = Issuer::new("k1");
    let jwk = issuer.jwk();
    let upstream = Upstream::start(move |_| jwks(std::slice::from_ref(&jwk))).await;
    let app = app(site(&settings_with_keys(&upstream), &[]).unwrap(), &[]);
    let metrics = app.metrics.clone();
    let server = TestServer::with(app).await;
    let unknown = Issuer::new("k2").token(&claims(&json!({})));
    for (token, status, outcome) in [
        (issuer.token(&claims(&json!({ "scope": "other" }))), 403, "forbidden"),
        (unknown, 503, "busy"),
        ("abc".to_owned(), 401, "unauthorized"),
    ] {
        assert_eq!(ping(&server, &token).await.status, status);
        let text = metrics.text();
        let counted = text.lines().find(|line| line.ends_with(&format!(r#"outcome="{outcome}"}} 1"#)));
        assert!(counted.is_some_and(|line| line.contains(r#"server="docs""#)), "{outcome}: {text}");
    }
}

#[tokio::test]
async fn an_issuer_that_is_down_is_no_fault_of_the_token() {
    let issuer = Issuer::new("k1");
    let jwk = issuer.jwk();
    let is_up = Arc::new(AtomicBool::new(false));
    let up = is_up.clone();
    let upstream = Upstream::start(move |_| match up.load(Ordering::SeqCst) {
        true => jwks(std::slice::from_ref(&jwk)),
        false => status("500 Internal Server Error"),
    })
    .await;
    let server = with_keys(&upstream).await;
    let token = issuer.token(&claims(&json!({})));
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"retry-after: \d+", "retry-after: [seconds]");
    settings.add_filter(r"in \d+ s", "in [seconds] s");
    settings.add_filter(r"content-length: \d+", "content-length: [bytes]");
    let response = ping(&server, &token).await;
    settings.bind(|| {
        insta::assert_snapshot!(response, @r#"
        503
        content-length: [bytes]
        content-type: application/json
        retry-after: [seconds]
        vary: Origin, Accept-Encoding

        {"jsonrpc":"2.0","error":{"code":-32600,"message":"the authorization server cannot be reached, so no token can be checked; try again in [seconds] s"}}
        "#);
    });
    is_up.store(true, Ordering::SeqCst);
    assert_eq!(ping(&server, &token).await.status, 503, "not asked again at once");
    assert_eq!(upstream.requests().len(), 1);
    pass(Duration::from_secs(11)).await;
    assert_eq!(ping(&server, &token).await.status, 200);

    // The keys outlive their time while the issuer is down.
    is_up.store(false, Ordering::SeqCst);
    pass(Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!(ping(&server, &token).await.status, 200);
    while upstream.requests().len() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ping(&server, &token).await.status, 200);
}

#[tokio::test]
async fn a_new_key_is_found_and_made_up_ones_are_not_asked_for_again_and_again() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let (first, second) = (old.jwk(), new.jwk());
    let is_rotated = Arc::new(AtomicBool::new(false));
    let rotated = is_rotated.clone();
    let upstream = Upstream::start(move |_| match rotated.load(Ordering::SeqCst) {
        true => jwks(std::slice::from_ref(&second)),
        false => jwks(std::slice::from_ref(&first)),
    })
    .await;
    let server = with_keys(&upstream).await;
    assert_eq!(ping(&server, &old.token(&claims(&json!({})))).await.status, 200);
    is_rotated.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        let made_up = new.with_header(json!({ "alg": "ES256", "kid": "made-up" }), &claims(&json!({})));
        let response = ping(&server, &made_up).await;
        assert_eq!(response.status, 503, "it may be a new key: {response}");
        assert!((1..=10).contains(&response.header("retry-after").unwrap().parse::<u64>().unwrap()), "{response}");
    }
    assert_eq!(upstream.requests().len(), 1);
    pass(Duration::from_secs(11)).await;
    let tokens: Vec<String> = (0..8).map(|_| new.token(&claims(&json!({})))).collect();
    let pings = futures_util::future::join_all(tokens.iter().map(|token| ping(&server, token)));
    assert!(pings.await.iter().all(|response| response.status == 200));
    assert_eq!(upstream.requests().len(), 2, "one fetch for all who wait");
    let withdrawn = old.token(&claims(&json!({})));
    assert_eq!(ping(&server, &withdrawn).await.status, 503, "nobody knows yet that it is no new one");
    pass(Duration::from_secs(11)).await;
    assert_eq!(ping(&server, &withdrawn).await.status, 401, "a key that was withdrawn is not good");
}

/// An upstream whose keys can be changed.
async fn with_changing_keys(first: &[Value]) -> (Upstream, Arc<Mutex<Vec<Value>>>) {
    let keys = Arc::new(Mutex::new(first.to_vec()));
    let current = keys.clone();
    (Upstream::start(move |_| jwks(&current.lock().unwrap())).await, keys)
}

#[tokio::test]
async fn a_key_may_be_replaced_under_its_name() {
    for header in [json!({ "alg": "ES256", "kid": "k1" }), json!({ "alg": "ES256" })] {
        let (old, new) = (Issuer::new("k1"), Issuer::new("k1"));
        let (upstream, keys) = with_changing_keys(&[old.jwk()]).await;
        let server = with_keys(&upstream).await;
        let [before, after] = [&old, &new].map(|issuer| issuer.with_header(header.clone(), &claims(&json!({}))));
        assert_eq!(ping(&server, &before).await.status, 200);
        *keys.lock().unwrap() = vec![new.jwk()];
        assert_eq!(ping(&server, &after).await.status, 401);
        assert_eq!(upstream.requests().len(), 1, "not asked again at once");
        pass(Duration::from_secs(11)).await;
        assert_eq!(ping(&server, &after).await.status, 200);
        assert_eq!(ping(&server, &before).await.status, 401);
        assert_eq!(upstream.requests().len(), 2);
    }
}

#[tokio::test]
async fn an_issuer_without_keys_has_withdrawn_them() {
    let (issuer, other) = (Issuer::new("k1"), Issuer::new("k2"));
    let (upstream, keys) = with_changing_keys(&[issuer.jwk()]).await;
    let server = with_keys(&upstream).await;
    let token = issuer.token(&claims(&json!({})));
    assert_eq!(ping(&server, &token).await.status, 200);
    keys.lock().unwrap().clear();
    pass(Duration::from_secs(11)).await;
    assert_eq!(ping(&server, &other.token(&claims(&json!({})))).await.status, 503);
    assert_eq!(ping(&server, &token).await.status, 503);
    assert_eq!(upstream.requests().len(), 2);
}

#[tokio::test]
async fn old_keys_are_not_good_before_the_issuer_was_asked() {
    let (old, new) = (Issuer::new("old"), Issuer::new("new"));
    let (upstream, keys) = with_changing_keys(&[old.jwk()]).await;
    let server = with_keys(&upstream).await;
    let token = old.token(&claims(&json!({})));
    assert_eq!(ping(&server, &token).await.status, 200);
    *keys.lock().unwrap() = vec![new.jwk()];
    pass(Duration::from_secs(2 * 60 * 60)).await;
    assert_eq!(ping(&server, &token).await.status, 401);
}

/// Pings with a token of an issuer whose server takes every request and says nothing.
async fn pings_that_wait(limits: &str, count: usize) -> (Upstream, FuturesUnordered<impl Future<Output = Response>>) {
    let upstream = Upstream::start(|_| Reply::Stall(Vec::new())).await;
    let name = upstream.url("");
    let settings = format!(
        "auth: {{ authorization_servers: [\"{name}\"], resource: {RESOURCE}, allow_private_network: true }}\n{limits}"
    );
    let server = Arc::new(serve(site(&settings, &[]).unwrap(), &[]).await);
    let token = Issuer::new("k1").token(&claims(&json!({ "iss": name })));
    let pings = (0..count).map(|_| {
        let (server, token) = (server.clone(), token.clone());
        async move { ping(&server, &token).await }
    });
    (upstream, pings.collect())
}

#[tokio::test]
async fn who_waits_for_keys_is_counted_and_does_not_wait_for_long() {
    let (upstream, mut pings) = pings_that_wait("limits: { requests_per_minute: 1, burst: 3 }", 4).await;
    assert_eq!(pings.next().await.unwrap().status, 429);
    upstream.asked().await;
    pass(Duration::from_secs(11)).await;
    let rest = tokio::time::timeout(Duration::from_secs(5), pings.collect::<Vec<_>>()).await;
    let rest = rest.expect("one deadline for all addresses");
    assert!(rest.len() == 3 && rest.iter().all(|response| response.status == 503));
}

#[tokio::test]
async fn only_so_many_wait_for_keys() {
    let (_upstream, mut pings) = pings_that_wait("", 257).await;
    let refused = pings.next().await.unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{refused}");
}

/// Lets the clock of the program run ahead.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// A key of RSA, and tokens that were signed with it once: header, claims, signature.
const RSA_MODULUS: &str = "6kgMFrUu9ImWBbCJ6uxajACj7BgpKDairTGrMb7CrDPqcqAD04GQsTT09Ctias59MTGACepO7xTEAcprwgV5vI-s3qgtdAqZHDr0JqPFRuri\
    qvmi5LPmgIkBQA2gKe_AZVyT-joOmsR7u98rUoS_7AByzyGzbKVNyd_Anlu37SZZ-nDQxEeoMo9AZNab_JDIpjX9HF834ALsRJckRAHxYY0x\
    bGWpAFl5mX2dhVTOdqniP_zU7Nh0BsvAk1U3hrQg0gPRfmyPwY_uaH4Sn-U0vAwArJt7wYlxfcieB4ZyHFl_IswzKvrTvbMFRznwoMQMuhqI\
    8nOcZd7l0dd7pbV3YQ";
const RSA_CLAIMS: &str = ".eyJpc3MiOiJodHRwczovL2lkLmV4YW1wbGUuY29tIiwiYXVkIjoiaHR0cHM6Ly9tY3AuZXhhbXBsZS5jb20vbWNwL2RvY3MiLCJleHAiOjQ\
    xMDI0NDQ4MDAsInN1YiI6ImFkYSJ9.";
const RS256: [&str; 3] = [
    "eyJhbGciOiJSUzI1NiIsImtpZCI6InJzYSJ9",
    RSA_CLAIMS,
    "bTUqbXDDgLwhNXimiSYnosBMmLn9GEIXhe5yuhd_XUdl1ai9c6pUsjCtx_ozT0omQmWsNu3LKLV-Wp1AhgFbbZzy2SmkZYD6XzFuc7xwI_90\
    1gUrK4rD_QcfMmLL3M4Wz-Vn42nUabq_CRTziXmLQxeBaS83fScamXOiBMSOgKljK6y0ZKr6W-T3TyQP4flG81KTjYctxvpk_HBy50SA7Hkr\
    l8EpALphQn9Zy71Xq-4AIpmV_X4F2_V4uGqfEflxQsr_-NSyv3maKSOwTadFL7597Aeb_AOlLupqBV-qRrcTQVjCqZNmh8VwjJriqf3PZ_8T\
    wyZ4tPBMnJpjsEOiUg",
];
const RS512: [&str; 3] = [
    "eyJhbGciOiJSUzUxMiIsImtpZCI6InJzYSJ9",
    RSA_CLAIMS,
    "m2PWxET338zzBiyZAkdYuH54PsNtSa4RwPypNIbEe_jPSicKAjGeFvTY7b1eFBglpHuFQZLtVsFCBSZfLYkMgcW9W3kCD_k6ZlT7D7FAnFz1\
    z8ftKl-V7K1zqg0WdGKyKqhk2kX6j1H7tJF_R2KairTThljIficjcqH4_l7Ez7TySuyP7xExWErJyEz16zZ1GIFb9Ph7qY6qoQQ7lRYzyNqR\
    RNl-GtYLqJv7X86mnRauxqWpvbIW7LYbSVnl52pYHMCemJbxFzXypTIOWt8gYhMAj1HovNRPC8huobrzupRlLpmAOJtcKOK_gm8YDsaKl-Uq\
    itfrG2c96lEccvaMfA",
];
const PS256: [&str; 3] = [
    "eyJhbGciOiJQUzI1NiIsImtpZCI6InJzYSJ9",
    RSA_CLAIMS,
    "0zP61VR_H40AIjmVvh_mmAAo85_G6_NLpERF7lnRvRLHeK_4b-UsoUCZ0VnWe3CrqR0O_8AY0Lx-1VjV5xJB8Rx0iRXFtGAYK7irgUDP8HzH\
    TQivpZOHG0Hsbmcc3bIeJWrhxr-1Df-WqQzxmULjq_QmQKJXTYUM60p-t3ZpB2wz6H0q6vE3TKPG4wO4MuydDuwuQ29qeyjjowZ6et3V10fc\
    yDRdZKOqPyb_RBPZJSoCl6lCxD7GBo8dHTX99SNIm9OJ0DNniSEg8-IZmzbahqZRDOgVCcfJvFGbM2Vb-7ljCrgqZWHNC6-lZIUsiJmmh0Hu\
    ApQrRK4ZvMA0VoUDLA",
];
