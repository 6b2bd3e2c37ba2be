//! What the benchmarks ask, and of which content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

/// One thing to ask, over and over.
#[derive(Clone)]
pub struct Case {
    /// What it is called in the results, such as `read 10 kB`.
    pub name: String,
    slug: &'static str,
    method: &'static str,
    uri: Option<String>,
    is_modern: bool,
    /// How many ask at once.
    pub connections: usize,
    /// Whether they are streams of one connection.
    pub http2: bool,
    /// Whether the client takes gzip.
    pub gzip: bool,
}

/// A request, but for the host.
#[derive(Deserialize, Serialize)]
pub struct Question {
    /// The method of HTTP.
    pub method: String,
    /// The path, from its first slash.
    pub path: String,
    /// All headers but `Host` and `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// A message of JSON-RPC.
    pub body: String,
}

/// The content that all cases are about.
pub struct Content;

/// Bytes of the texts.
pub const SIZES: [(&str, usize); 4] = [("200 B", 200), ("10 kB", 10_000), ("100 kB", 100_000), ("1 MB", 1_000_000)];

/// Entries of the long list.
pub const LISTED: usize = 10_000;

const SENTENCE: &str = "A page of a manual says \"this\" and `that`, and it is written in sentences of many kinds; ";

impl Case {
    /// All of them. The first four are reads of each size.
    pub fn all() -> Vec<Self> {
        let read = |size: &str| Self {
            name: format!("read {size}"),
            slug: "sizes",
            method: "resources/read",
            uri: Some(Content::uri(size)),
            is_modern: true,
            connections: 16,
            http2: false,
            gzip: false,
        };
        let named = |case: Self, suffix: &str| Self { name: format!("{}, {suffix}", case.name), ..case };
        let mut all: Vec<Self> = SIZES.iter().map(|(size, _)| read(size)).collect();
        all.push(Self { is_modern: false, ..named(read("10 kB"), "2025-06-18") });
        all.push(Self { connections: 1, ..named(read("10 kB"), "1 connection") });
        all.push(Self { connections: 256, ..named(read("10 kB"), "256 connections") });
        all.push(Self { http2: true, ..named(read("10 kB"), "HTTP/2") });
        all.extend(["10 kB", "100 kB"].map(|size| Self { gzip: true, ..named(read(size), "gzip") }));
        all.push(Self {
            name: format!("list of {LISTED}"),
            slug: "list",
            method: "resources/list",
            uri: None,
            ..read("")
        });
        all.push(Self {
            name: "read of an unknown URI".to_owned(),
            uri: Some("sizes://unknown".to_owned()),
            ..read("")
        });
        all
    }

    /// The same question of a client that takes no compression.
    pub fn plain(&self) -> Self {
        Self { gzip: false, ..self.clone() }
    }

    /// What is sent to the program.
    pub fn question(&self) -> Question {
        Question {
            method: "POST".to_owned(),
            path: format!("/mcp/{}", self.slug),
            headers: self.headers(),
            body: self.body(),
        }
    }

    fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("accept", "application/json, text/event-stream".to_owned()),
            ("content-type", "application/json".to_owned()),
        ];
        if self.is_modern {
            headers.push(("mcp-protocol-version", "2026-07-28".to_owned()));
            headers.push(("mcp-method", self.method.to_owned()));
            headers.extend(self.uri.clone().map(|uri| ("mcp-name", uri)));
        } else {
            headers.push(("mcp-protocol-version", "2025-06-18".to_owned()));
        }
        if self.gzip {
            headers.push(("accept-encoding", "gzip".to_owned()));
        }
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    fn body(&self) -> String {
        let mut params = json!({});
        if let Some(uri) = &self.uri {
            params["uri"] = uri.as_str().into();
        }
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        json!({ "jsonrpc": "2.0", "id": 1, "method": self.method, "params": params }).to_string()
    }
}

impl Question {
    /// As it is sent over HTTP/1.1.
    pub fn bytes(&self, host: &str) -> Vec<u8> {
        let Self { method, path, headers, body } = self;
        let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        text.push_str("\r\n");
        text.push_str(body);
        text.into_bytes()
    }
}

impl Content {
    /// Paths and bytes of a content tree of two servers: a text of each size, and so many entries in a list.
    pub fn files(listed: usize) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::from([
            ("sizes/server.yaml".to_owned(), b"title: Sizes\n".to_vec()),
            ("list/server.yaml".to_owned(), b"title: List\n".to_vec()),
        ]);
        files.extend(SIZES.map(|(name, size)| {
            (format!("sizes/resources/{}.txt", name.replace(' ', "-")), Self::text(size).into_bytes())
        }));
        files.extend(
            (0..listed).map(|number| (format!("list/resources/page-{number}.txt"), Self::text(200).into_bytes())),
        );
        files
    }

    /// The address of the text of this size.
    pub fn uri(size: &str) -> String {
        format!("sizes://{}.txt", size.replace(' ', "-"))
    }

    /// Sentences that a compressor finds about as repetitive as prose.
    pub fn text(size: usize) -> String {
        let mut state = size as u64;
        let mut text = String::with_capacity(size + SENTENCE.len());
        while text.len() < size {
            for word in SENTENCE.split_inclusive(' ') {
                // A linear congruential generator: the same text in every run.
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                match state >> 61 {
                    0 => text.push_str(&format!("{:x} ", state >> 40)),
                    1 => {}
                    2 if state >> 60 & 1 == 0 => text.push('\n'),
                    _ => text.push_str(word),
                }
            }
        }
        text.truncate(size);
        text
    }
}
