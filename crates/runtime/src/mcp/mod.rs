//! The Model Context Protocol: what a server answers to a message. Nothing in here knows of HTTP, apart from the three
//! headers that MCP defines and a `Status` of its own.
//!
//! `answer` tells messages from batches and asks `era` which revision speaks; `call` has the one `match` from
//! method to answer. The revisions before 2026-07-28 share one shape, that one has another: its results carry
//! `resultType`, `ttlMs`, `cacheScope` and who the server is.

mod changes;
mod era;
mod initialize;
mod pagination;
mod params;
mod resources;
mod site;
mod subscriptions;

use bytes::Bytes;
pub use changes::Changes;
pub(crate) use era::{Header, Headers};
use era::{Rejection, Revision};
use mcpress_catalog::Span;
use params::Params;
use serde_json::{json, value::RawValue};
pub(crate) use site::Server;
pub use site::{Missing, Site, SiteError, Surroundings};
pub(crate) use subscriptions::Subscription;

use crate::{
    coding::Coded,
    jsonrpc::{self, Error, Frames, Message, Payload, Request},
    outcome::Outcome,
    record::Record,
};

/// Messages in one batch.
const MAX_BATCH: usize = 100;

/// The methods that any revision has, by which requests are counted; any other is one of the `other` ones.
const METHODS: [&str; 15] = [
    "resources/read",
    "resources/list",
    "resources/templates/list",
    "initialize",
    "ping",
    "server/discover",
    "subscriptions/listen",
    "tools/list",
    "prompts/list",
    "tools/call",
    "prompts/get",
    "resources/subscribe",
    "resources/unsubscribe",
    "logging/setLevel",
    "completion/complete",
];

/// What kind of answer it is, for the transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// A result, or an error that concerns only what was asked for.
    Ok,
    /// The message itself is at fault.
    BadRequest,
    /// The revision that speaks wants an unknown method to be told from a known one.
    NotFound,
    /// Too much is open at the moment.
    Busy,
}

/// The answer to a body.
pub(crate) enum Reply {
    /// Nothing to say.
    Accepted,
    /// One response.
    Response(Status, Frames, Coded),
    /// The responses to a batch, as a JSON array.
    Batch(Vec<Bytes>),
    /// A stream of messages.
    Subscription(Subscription),
}

/// The members of a result, apart from those that all results of a revision have.
struct Success {
    /// How long a client may keep it.
    ttl_ms: u64,
    /// Members of `_meta` as JSON, or nothing.
    meta: String,
    /// What opens the content, such as `"contents":`.
    member: &'static str,
    /// JSON.
    content: Bytes,
    /// What there is of it in other codings.
    coded: Coded,
    /// What closes the content, the result and the response.
    end: Bytes,
}

/// Answers one body of a client, and notes what it was.
pub(crate) async fn answer(server: Server<'_>, headers: Headers<'_>, body: &[u8], record: &mut Record<'_>) -> Reply {
    match jsonrpc::parse(body) {
        Ok(Payload::Single(text)) => message(server, headers, text, record).await,
        Ok(Payload::Batch(elements)) => batch(server, headers, &elements, record).await,
        Err(error) => failure(record, Status::BadRequest, None, &error),
    }
}

async fn message(server: Server<'_>, headers: Headers<'_>, text: &str, record: &mut Record<'_>) -> Reply {
    let request = match jsonrpc::parse_message(text) {
        Ok(Message::Request(request)) => request,
        Ok(Message::Notification) => {
            record.rpc = "notification";
            return rejected_or_accepted(record, era::check_notification(headers));
        }
        Ok(Message::Response) => {
            record.rpc = "response";
            return rejected_or_accepted(record, era::check_response(headers));
        }
        Err(invalid) => return failure(record, Status::BadRequest, invalid.id, &invalid.error),
    };
    record.rpc = METHODS.into_iter().find(|method| *method == request.method).unwrap_or("other");
    let called = async {
        let params = Params::parse(request.params)?;
        if let Some(traceparent) = params.meta.and_then(|meta| jsonrpc::string(meta.traceparent?)) {
            record.trace.join(&traceparent);
        }
        let revision = era::classify(headers, &request.method, &params)?;
        record.revision = revision.name();
        if revision.is_modern() && request.method == "subscriptions/listen" {
            return server.subscribe(request.id, params.notifications()?).map(Reply::Subscription);
        }
        let success = call(server, headers, revision, &request.method, &params, record).await?;
        let info = if request.method == "server/discover" { server.entry.info } else { server.entry.brief_info };
        Ok(success.response(server, revision, request.id, info))
    };
    match called.await {
        Ok(reply) => reply,
        Err(Rejection { status, error }) => failure(record, status, Some(request.id), &error),
    }
}

fn rejected_or_accepted(record: &mut Record<'_>, checked: Result<(), Rejection>) -> Reply {
    match checked {
        Ok(()) => Reply::Accepted,
        Err(Rejection { status, error }) => failure(record, status, None, &error),
    }
}

fn failure(record: &mut Record<'_>, status: Status, id: Option<&RawValue>, error: &Error) -> Reply {
    record.outcome = Some(error.outcome);
    Reply::Response(status, jsonrpc::failure(id, error), Coded::No)
}

/// The one place that knows which methods there are.
async fn call(
    server: Server<'_>,
    headers: Headers<'_>,
    revision: Revision,
    method: &str,
    params: &Params<'_>,
    record: &mut Record<'_>,
) -> Result<Success, Rejection> {
    let is_modern = revision.is_modern();
    match method {
        "resources/read" => {
            era::check_name(revision, headers.name, params.uri)?;
            resources::read(server, params, record).await
        }
        "resources/list" => resources::list(server, params),
        "resources/templates/list" => resources::list_templates(server, params),
        "tools/list" | "prompts/list" => nothing_listed(server, method, params),
        "tools/call" | "prompts/get" => {
            era::check_name(revision, headers.name, params.name)?;
            Err(unknown_name(method, params).into())
        }
        "server/discover" if is_modern => Ok(initialize::discover(server)),
        "initialize" if !is_modern => initialize::initialize(server, params),
        "ping" if !is_modern => Ok(Success::empty()),
        "logging/setLevel" if !is_modern => initialize::set_level(params),
        "resources/subscribe" | "resources/unsubscribe" if !is_modern => resources::subscribe(server, params),
        _ => Err(Rejection {
            status: if is_modern { Status::NotFound } else { Status::Ok },
            error: Error::new(jsonrpc::METHOD_NOT_FOUND, "Method not found").with_data(json!({ "method": method })),
        }),
    }
}

/// A batch, as revisions before 2025-06-18 have it. Its responses are joined without copying them. It counts as one
/// request, of which came what came of the last message that failed.
async fn batch(server: Server<'_>, headers: Headers<'_>, elements: &[&RawValue], record: &mut Record<'_>) -> Reply {
    record.rpc = "batch";
    if let Err(Rejection { status, error }) = check_batch(headers, elements) {
        return failure(record, status, None, &error);
    }
    let mut frames = Vec::new();
    let trace = record.trace.clone();
    for element in elements {
        // A message may name a trace of its own, which is not that of the next one.
        record.trace = trace.clone();
        match message(server, headers, element.get(), record).await {
            Reply::Response(_, response, _) => {
                frames.push(Bytes::from_static(if frames.is_empty() { b"[" } else { b"," }));
                frames.extend(response.into_iter().filter(|frame| !frame.is_empty()));
            }
            Reply::Accepted | Reply::Batch(_) | Reply::Subscription(_) => {}
        }
    }
    record.rpc = "batch";
    if frames.is_empty() {
        return Reply::Accepted;
    }
    frames.push(Bytes::from_static(b"]"));
    Reply::Batch(frames)
}

/// A batch is refused as a whole where the revision has none, or where it holds what must come alone.
fn check_batch(headers: Headers<'_>, elements: &[&RawValue]) -> Result<(), Rejection> {
    era::check_batch(headers)?;
    let refuse = |message: &'static str| Err(Rejection::bad_request(jsonrpc::INVALID_REQUEST, message));
    if elements.is_empty() {
        return refuse("Invalid Request: the batch is empty");
    }
    if elements.len() > MAX_BATCH {
        return refuse("Invalid Request: the batch has more than 100 messages");
    }
    for element in elements {
        if let Ok(Message::Request(Request { method, params, .. })) = jsonrpc::parse_message(element.get()) {
            let claims = |params: Params<'_>| params.meta.is_some_and(|meta| meta.claims_modern());
            if method == "initialize" || Params::parse(params).is_ok_and(claims) {
                return refuse("Invalid Request: this message must not stand in a batch");
            }
        }
    }
    Ok(())
}

fn nothing_listed(server: Server<'_>, method: &str, params: &Params<'_>) -> Result<Success, Rejection> {
    if params.cursor()?.is_some() {
        return Err(pagination::unknown_cursor().into());
    }
    let member = if method == "tools/list" { r#""tools":["# } else { r#""prompts":["# };
    let end = Bytes::from_static(b"]}}");
    Ok(Success {
        ttl_ms: server.entry.ttl_ms,
        meta: String::new(),
        member,
        content: Bytes::new(),
        coded: Coded::No,
        end,
    })
}

fn unknown_name(method: &str, params: &Params<'_>) -> Error {
    let kind = if method == "tools/call" { "tool" } else { "prompt" };
    match params.name.and_then(jsonrpc::string) {
        Some(name) => Error::invalid_params(format!("Unknown {kind}: {name}")).counts_as(Outcome::NotFound),
        None => Error::invalid_params("Invalid params: `name` is not a string"),
    }
}

impl Success {
    /// A result without members, which only the older revisions have.
    fn empty() -> Self {
        Self::members(0, Bytes::new())
    }

    /// Members that are the same for every request of a kind.
    fn members(ttl_ms: u64, members: impl Into<Bytes>) -> Self {
        Self {
            ttl_ms,
            meta: String::new(),
            member: "",
            content: members.into(),
            coded: Coded::No,
            end: Bytes::from_static(b"}}"),
        }
    }

    /// The response; `info` is what it says of the server.
    fn response(self, server: Server<'_>, revision: Revision, id: &RawValue, info: Span) -> Reply {
        let Self { ttl_ms, meta, member, content, coded, end } = self;
        let reply = |members: &[&str]| Reply::Response(Status::Ok, jsonrpc::success(id, members, content, end), coded);
        match (revision.is_modern(), meta.as_str()) {
            (true, _) => {}
            (false, "") => return reply(&[member]),
            (false, meta) => return reply(&[r#""_meta":{"#, meta, "},", member]),
        }
        let mut digits = itoa::Buffer::new();
        let members = [
            r#""resultType":"complete","ttlMs":"#,
            // What may change at any moment is not to be kept.
            digits.format(if server.site.shared.reloads { 0 } else { ttl_ms }),
            r#","cacheScope":""#,
            if server.auth().is_some() { "private" } else { "public" },
            r#"","_meta":{"io.modelcontextprotocol/serverInfo":"#,
            server.site.catalog.text(info),
            if meta.is_empty() { "" } else { "," },
            &meta,
            "},",
            member,
        ];
        reply(&members)
    }
}
