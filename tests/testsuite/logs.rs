//! The id of a request, from its client to upstreams and back, and what the log says of it and does not.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    process::{Command, Stdio},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::{
    support::{Response, TestServer, request},
    upstream::{Upstream, ok, status},
};

const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

fn traceparent() -> String {
    format!("00-{TRACE_ID}-00f067aa0ba902b7-01")
}

#[tokio::test]
async fn an_answer_carries_the_id_of_its_request() {
    let server = TestServer::start().await;
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let id = async |headers: &[(&str, &str)]| {
        server.post("docs", headers, ping).await.header("x-request-id").unwrap().to_owned()
    };
    let traceparent = traceparent();
    assert_eq!(id(&[("x-request-id", "a-1"), ("traceparent", &traceparent)]).await, "a-1");
    assert_eq!(id(&[("traceparent", &traceparent)]).await, TRACE_ID);
    assert_eq!(id(&[("x-request-id", "a b"), ("traceparent", &traceparent)]).await, TRACE_ID);
    for headers in [
        &[("x-request-id", "a"), ("x-request-id", "b")][..],
        &[("x-request-id", "a b")],
        &[("traceparent", "00-x-y-01")],
        &[("traceparent", traceparent.as_str()), ("traceparent", traceparent.as_str())],
        &[],
    ] {
        let made_up = id(headers).await;
        assert!(made_up.len() == 32 && made_up.bytes().all(|byte| byte.is_ascii_hexdigit()), "{made_up}");
        assert_ne!(made_up, TRACE_ID);
    }
    let refused = server.send("GET", "/", &[("host", "evil.example"), ("x-request-id", "a-2")], b"").await;
    assert_eq!((refused.status, refused.header("x-request-id")), (403, Some("a-2")));
}

/// The program with one live entry, in a folder of its own, and all that it wrote to stderr.
struct Program {
    child: std::process::Child,
    port: u16,
    _tree: tempfile::TempDir,
}

impl Program {
    fn start(entry: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Self {
        let tree = tempfile::tempdir().unwrap();
        fs::create_dir_all(tree.path().join("live/resources")).unwrap();
        fs::write(tree.path().join("live/server.yaml"), "fetch: {allow_private_network: true}\n").unwrap();
        fs::write(tree.path().join("live/resources/page.yaml"), entry).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpress"));
        command.arg("dev").arg(tree.path()).args(["--listen", "127.0.0.1:0"]).args(arguments);
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("http://127.0.0.1:").and_then(|rest| rest.strip_suffix("/mcp/live"));
        Self { port: port.unwrap().parse().unwrap(), child, _tree: tree }
    }

    async fn send(&self, bytes: &[u8]) -> Response {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        Response::read(stream).await
    }

    /// Ends it.
    fn log(mut self) -> String {
        self.child.kill().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        self.child.wait().unwrap();
        log
    }
}

fn read(uri: &str, meta: &Value) -> String {
    let params = json!({ "uri": uri, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": params }).to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_id_leads_from_the_client_to_the_upstream_and_to_the_log() {
    let upstream = Upstream::start(|_| status("503 Busy")).await;
    let entry = format!("{{uri: 'live://page', url: '{}'}}", upstream.url("/"));
    let program = Program::start(&entry, &[], &["--log-format", "json"]);
    let traceparent = traceparent();
    let headers = [("x-request-id", "a-1"), ("traceparent", traceparent.as_str())];
    let body = read("live://page", &json!({}));
    let answer = program.send(&request("POST", "/mcp/live", &headers, body.as_bytes())).await;
    assert_eq!(answer.header("x-request-id"), Some("a-1"));
    assert_eq!(answer.json()["error"]["data"], json!({ "requestId": "a-1" }));
    // A client of 2026-07-28 may name the trace in the message.
    let body = read("live://page", &json!({ "traceparent": traceparent }));
    let answer = program.send(&request("POST", "/mcp/live", &[], body.as_bytes())).await;
    let made_up = answer.header("x-request-id").unwrap();

    let asked = upstream.requests();
    assert_eq!(asked.len(), 2);
    for (asked, id) in asked.iter().zip(["a-1", made_up]) {
        assert_eq!(asked.header("x-request-id"), Some(id));
        let child = asked.header("traceparent").unwrap();
        assert!(child.starts_with(&format!("00-{TRACE_ID}-")) && child.ends_with("-01"), "{child}");
        assert_ne!(child, traceparent);
    }
    let log = program.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failed: Vec<_> = lines.iter().filter(|line| line["message"] == "fetch failed").collect();
    assert_eq!(failed.len(), 2, "{log}");
    for (line, id) in failed.iter().zip(["a-1", made_up]) {
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["request_id"], id);
        assert_eq!(line["server"], "live");
        assert_eq!(line["uri"], "live://page");
        assert_eq!(line["defined"], "live/resources/page.yaml:1");
        assert_eq!(line["error"], format!("upstream 127.0.0.1:{} answered 503", upstream.port));
    }
}

#[tokio::test]
async fn a_trace_of_one_message_is_not_that_of_the_next_in_its_batch() {
    let upstream = Upstream::start(|_| ok("text/plain", "x")).await;
    let program = Program::start(&format!("{{uri: 'live://page', url: '{}'}}", upstream.url("/")), &[], &[]);
    let (first, second) =
        (read("live://page", &json!({ "traceparent": traceparent() })), read("live://page", &json!({})));
    let headers = [("mcp-protocol-version", "2025-03-26")];
    let answer = program.send(&request("POST", "/mcp/live", &headers, format!("[{first},{second}]").as_bytes())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let asked = upstream.requests();
    let traces: Vec<_> = asked.iter().map(|asked| asked.header("traceparent").unwrap().contains(TRACE_ID)).collect();
    assert_eq!(traces, [true, false]);
}

#[tokio::test]
async fn a_header_of_the_entry_goes_before_ours() {
    let upstream = Upstream::start(|_| ok("text/plain", "x")).await;
    let entry =
        format!("{{uri: 'live://page', url: {{href: '{}', headers: {{X-Request-Id: fixed}}}}}}", upstream.url("/"));
    let program = Program::start(&entry, &[], &[]);
    let body = read("live://page", &json!({}));
    program.send(&request("POST", "/mcp/live", &[("x-request-id", "a-1")], body.as_bytes())).await;
    assert_eq!(upstream.requests()[0].header("x-request-id"), Some("fixed"));
    program.log();
}

#[tokio::test(flavor = "multi_thread")]
async fn no_level_and_no_format_tells_a_secret_or_what_was_read() {
    let answers = |asked: &super::upstream::Request| match asked.target.as_str() {
        target if target.contains("fail") => status("500 Broken"),
        _ => ok("text/plain", "SECRET of an answer"),
    };
    let upstream = Upstream::start(answers).await;
    let variables =
        [("KEY", "SECRET-key"), ("BODY", "SECRET-body"), ("QUERY", "SECRET-query"), ("USER", "SECRET-user")];
    let url = |target: &str, port: u16| {
        format!(
            "url: {{href: 'http://127.0.0.1:{port}/{target}?q=${{QUERY}}', method: POST, body: '${{BODY}}', \
             headers: {{X-Api-Key: '${{KEY}}', Authorization: 'Bearer ${{USER}}'}}}}"
        )
    };
    // A port that nobody listens at.
    let closed = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let entries = [("page", "page", upstream.port), ("fail", "fail", upstream.port), ("gone", "page", closed)];
    let mut definitions = String::new();
    for (name, target, port) in entries {
        definitions.push_str(&format!("- {{uri: 'live://{name}', {}}}\n", url(target, port)));
    }
    definitions.push_str(&format!(
        "- {{uri_template: 'live://any{{?token}}', arguments: {{token: {{}}}}, url: '{}?t={{token}}'}}\n",
        upstream.url("/fail")
    ));
    for arguments in [
        ["--log-level", "trace", "--log-format", "json"],
        ["--log-level", "trace", "--log-format", "text"],
        ["--log-level", "debug", "--log-format", "json"],
        ["--log-level", "warn", "--log-format", "text"],
    ] {
        let program = Program::start(&definitions, &variables, &arguments);
        let headers = [
            ("authorization", "Bearer SECRET-token"),
            ("cookie", "SECRET-cookie"),
            ("mcp-session-id", "SECRET-session"),
            ("x-request-id", "not sound: SECRET-id"),
            ("traceparent", "SECRET-trace"),
        ];
        let uris = [
            "live://page",
            "live://fail",
            "live://gone",
            "live://any?token=SECRET-argument",
            "live://user:SECRET-password@host/none?SECRET-query#SECRET-fragment",
        ];
        for uri in uris {
            let body = read(uri, &json!({ "SECRET-meta": "SECRET-value" }));
            program.send(&request("POST", "/mcp/live?token=SECRET-query", &headers, body.as_bytes())).await;
        }
        let target = "http://user:SECRET-password@localhost/mcp/live?SECRET-query";
        program.send(&request("POST", target, &headers, read("live://page", &json!({})).as_bytes())).await;
        program.send(&request("POST", "/mcp/live", &headers, b"{\"SECRET-broken\":")).await;
        let unknown = br#"{"jsonrpc":"2.0","id":"SECRET-id","method":"SECRET-method"}"#;
        program.send(&request("POST", "/mcp/live", &headers, unknown)).await;
        let mut stream = TcpStream::connect(("127.0.0.1", program.port)).await.unwrap();
        stream.write_all(b"SECRET-noise\r\n\r\n").await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await.unwrap();
        let log = program.log();
        assert!(!log.contains("SECRET"), "{arguments:?}: {log}");
        assert_eq!(log.matches("fetch failed").count(), 3, "{arguments:?}: {log}");
        let reads = if arguments[1] == "warn" { 0 } else { uris.len() };
        assert_eq!(log.matches("resources/read").count(), reads, "{arguments:?}: {log}");
        assert!(log.lines().all(|line| line.len() < 1000), "{arguments:?}: {log}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_fails_again_and_again_fills_no_disk() {
    let upstream = Upstream::start(|_| status("503 Busy")).await;
    let entry = format!("{{uri: 'live://page', url: '{}'}}", upstream.url("/"));
    let program = Program::start(&entry, &[], &["--log-format", "json"]);
    let body = read("live://page", &json!({}));
    let start = std::time::Instant::now();
    for _ in 0..100 {
        program.send(&request("POST", "/mcp/live", &[], body.as_bytes())).await;
    }
    let seconds = start.elapsed().as_secs() as usize + 1;
    let lines = program.log().matches("fetch failed").count();
    assert!((10..=10 * (seconds + 1)).contains(&lines) || seconds > 10, "{lines} lines in {seconds} s");
}
