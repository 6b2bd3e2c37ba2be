//! A server on a free port, and a client that sends what it is told to.

use std::{
    collections::HashMap,
    fmt,
    ops::Deref,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};

use mcpress_catalog::Catalog;
use mcpress_runtime::{
    access::Access,
    fetch::{self, Fetcher},
    forwarded::TrustedProxies,
    http::App,
    limits::Limits,
    mcp::{Site, Surroundings},
    server,
};
use serde_json::{Value, json, value::RawValue};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{oneshot, watch},
    task::JoinHandle,
    time::timeout,
};

/// No answer takes longer, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct TestServer {
    client: Client,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

/// Asks what listens on a port of this machine.
pub(crate) struct Client {
    pub(crate) port: u16,
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// A folder of `tests/fixtures`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The program itself, in an environment that says nothing to it.
pub(crate) fn mcpress(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpress"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MCPRESS_")) {
        command.env_remove(name);
    }
    command
}

pub(crate) fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

pub(crate) fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

/// The parts of a server, to be changed before it starts.
pub(crate) fn app(tree: &Path) -> App {
    let limits = Limits::default();
    let compiled = mcpress_compiler::compile(tree).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(|error| format!("{error}\n")).collect::<String>());
    });
    App {
        site: published(site(compiled.catalog, limits.subscriptions)),
        access: Access::default(),
        proxies: TrustedProxies::default(),
        limits,
        metrics: Arc::default(),
    }
}

/// A site that stays as it is.
pub(crate) fn published(site: Site) -> watch::Receiver<Arc<Site>> {
    watch::channel(Arc::new(site)).1
}

/// A site that fetches without a proxy, in an environment without variables.
pub(crate) fn site(catalog: Catalog, subscriptions: usize) -> Site {
    let fetcher = Fetcher::new(&fetch::Config::default()).unwrap();
    Site::new(catalog, Surroundings { fetcher, environment: HashMap::new(), subscriptions, reloads: false }).unwrap()
}

impl TestServer {
    /// Serves `tests/fixtures/site`.
    pub(crate) async fn start() -> Self {
        Self::with(app(&fixture("site"))).await
    }

    pub(crate) async fn with(app: App) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server::run(listener, app, async {
            let _ = stopped.await;
        }));
        Self { client: Client { port }, stop, running }
    }

    /// Asks it to stop; what is given back ends when it has.
    pub(crate) fn stop(self) -> JoinHandle<()> {
        let _ = self.stop.send(());
        self.running
    }
}

impl Client {
    pub(crate) fn url(&self, slug: &str) -> String {
        format!("http://127.0.0.1:{}/mcp/{slug}", self.port)
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()
    }

    /// Sends bytes as they are, and reads what comes until the server closes.
    pub(crate) async fn raw(&self, request: impl AsRef<[u8]>) -> Response {
        let mut stream = self.connect().await;
        // A server that has heard enough may close before everything is sent.
        let _ = stream.write_all(request.as_ref()).await;
        Response::read(stream).await
    }

    /// Sends one request. `Host` is a loopback name unless it is among the headers.
    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        self.raw(request(method, path, headers, body)).await
    }

    /// Posts a message as a client of the older revisions does.
    pub(crate) async fn post(&self, slug: &str, headers: &[(&str, &str)], body: &[u8]) -> Response {
        self.send("POST", &format!("/mcp/{slug}"), headers, body).await
    }

    /// Calls a method as a client of the older revisions does, and gives back the whole response.
    pub(crate) async fn rpc(&self, slug: &str, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let response = self.post(slug, &[], message.as_bytes()).await;
        assert_eq!(response.status, 200, "{response}");
        response.json()
    }

    /// Calls a method as a client of 2026-07-28 does.
    pub(crate) async fn modern(&self, slug: &str, method: &str, params: Value) -> Response {
        let (headers, message) = modern(method, params);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.post(slug, &headers, message.as_bytes()).await
    }
}

/// A request of 2026-07-28 with all that it needs: headers and body.
pub(crate) fn modern(method: &str, mut params: Value) -> (Vec<(&'static str, String)>, String) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let mut headers = vec![("mcp-protocol-version", "2026-07-28".to_owned()), ("mcp-method", method.to_owned())];
    if let Some(name) = params["uri"].as_str().or(params["name"].as_str()) {
        headers.push(("mcp-name", name.to_owned()));
    }
    (headers, json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string())
}

/// The bytes of a request after which the connection closes.
pub(crate) fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
    let given = |name: &str| headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
    if !given("host") {
        text.push_str("host: localhost\r\n");
    }
    if !given("content-type") && !body.is_empty() {
        text.push_str("content-type: application/json\r\n");
    }
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    [text.as_bytes(), b"\r\n", body].concat()
}

pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case, in the order in which they came.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Reads until the other side closes. A connection that is reset after the answer counts as closed.
    pub(crate) async fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("the server closes the connection");
        Self::parse(&bytes)
    }

    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let end = end.unwrap_or_else(|| panic!("no response: {:?}", String::from_utf8_lossy(bytes)));
        let mut lines = std::str::from_utf8(&bytes[..end]).unwrap().split("\r\n");
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        let response = Self {
            status,
            headers: lines.map(|line| header(line).unwrap()).collect(),
            body: bytes[end + 4..].to_vec(),
        };
        response.check();
        response
    }

    /// What holds for every answer of this server.
    fn check(&self) {
        assert_ne!(self.status / 100, 3, "there are no redirects");
        assert_ne!(self.status, 500, "nothing fails without being named");
        assert_eq!(self.header("mcp-session-id"), None, "there are no sessions");
        assert_eq!(self.header("vary"), Some("Origin, Accept-Encoding"));
        assert!(self.header("x-request-id").is_some_and(|id| !id.is_empty()), "each answer can be found in the log");
        if let Some(length) = self.header("content-length") {
            let length: usize = length.parse().unwrap();
            assert!(length == self.body.len() || self.body.is_empty(), "{self}");
        }
        match self.header("content-type") {
            Some("application/json") if !self.body.is_empty() && self.header("content-encoding").is_none() => {
                serde_json::from_slice::<&RawValue>(&self.body).unwrap();
            }
            _ => {}
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self}"))
    }

    pub(crate) fn error_code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self}"))
    }
}

/// The answer as it came, without what differs from one run to the next.
impl fmt::Display for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.status)?;
        let mut headers: Vec<_> = self
            .headers
            .iter()
            .filter(|(name, _)| name != "date" && name != "connection" && name != "x-request-id")
            .collect();
        headers.sort();
        for (name, value) in headers {
            writeln!(f, "{name}: {value}")?;
        }
        write!(f, "\n{}", String::from_utf8_lossy(&self.body))
    }
}
