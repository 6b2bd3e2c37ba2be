//! From an HTTP request to the bytes of a message, and back. Every request takes these steps, and the first that
//! fails answers:
//!
//! 1. `/healthz` and `/readyz` answer whoever asks
//! 2. `Host` and `Origin` are allowed
//! 3. the path is an endpoint, or one of the pages about them
//! 4. the method is `POST`, or `OPTIONS` for a browser that asks first
//! 5. the server lets the client in (`gate`)
//! 6. `Accept` and `Content-Type` are those of JSON
//! 7. the body arrives in time and is not too large
//! 8. [`mcp`] answers
//!
//! There are no redirects, since clients lose the body of a `POST` on the way.

use std::{net::IpAddr, sync::Arc};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Body as _, Incoming},
    header::{self, HeaderName, HeaderValue},
    http::{request::Parts, uri::Authority},
};
use tokio::{
    sync::{Semaphore, SemaphorePermit, watch},
    time,
};
use tracing::debug;

use crate::{
    access::Access,
    body::Body,
    coding::{self, Answer, Coding},
    forwarded::TrustedProxies,
    gate::{self, Refusal},
    jsonrpc::{self, Error},
    limits::Limits,
    mcp::{self, Header, Headers, Reply, Server, Site, Status, Subscription},
    metrics::Metrics,
    record::{Http, Record},
    sse,
    trace::Trace,
};

/// Everything that requests share.
pub struct App {
    /// What is served. A request takes it once, and uses what it took to its end.
    pub site: watch::Receiver<Arc<Site>>,
    /// To whom.
    pub access: Access,
    /// How much of it.
    pub limits: Limits,
    /// Where it is counted.
    pub metrics: Arc<Metrics>,
    /// Who speaks for others.
    pub proxies: TrustedProxies,
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// MCP's headers: the revision, the method, and the URI or name that is asked for.
pub(crate) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// What an endpoint answers to.
const ENDPOINT_METHODS: &str = "POST, OPTIONS";

const CORS_REQUEST_HEADERS: &str = "content-type, accept, authorization, mcp-protocol-version, mcp-method, mcp-name, \
     mcp-session-id, last-event-id, x-request-id, traceparent, tracestate";

const CORS_RESPONSE_HEADERS: &str = "www-authenticate, retry-after, x-request-id";

/// Bytes of a body that count for nothing, so that large bodies do not keep out the usual ones.
const MAX_FREE: usize = 16 << 10;

/// Bytes of a body that is not wanted which are read all the same: a client that is still sending when its connection
/// closes never sees the answer.
const MAX_DRAINED: usize = 16 << 20;
const MAX_DRAIN_TIME: time::Duration = time::Duration::from_secs(5);

/// Characters of a host or an origin in the log.
const MAX_LOGGED: usize = 100;

/// What a request has of the connection on which it came.
pub(crate) struct Connection {
    /// The address of the other side.
    pub(crate) peer: IpAddr,
    /// Closes when streams are to end.
    pub(crate) closing: watch::Receiver<()>,
}

/// Answers one request. `memory` has a permit for each byte of a body that may be held.
pub(crate) async fn respond(
    app: &App,
    memory: &Semaphore,
    connection: Connection,
    request: Request<Incoming>,
) -> Response<Body> {
    let (head, body) = request.into_parts();
    let mut upload = Upload { body, is_begun: false, memory };
    let http = Http { method: head.method.as_str(), path: head.uri.path() };
    let mut record = Record::new(trace(&head.headers), http, &app.metrics);
    let mut response = route(app, connection, &head, &mut upload, &mut record).await;
    if is_refused(response.status()) && upload.goes_on(&head.headers) {
        drain(upload.body);
    }
    add_cors(&app.access, &head.headers, &mut response);
    if let Ok(id) = HeaderValue::from_maybe_shared(record.trace.header()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    if head.method == Method::HEAD {
        empty(&mut response);
    }
    record.answered(response.status().as_u16(), response.body().size_hint().exact());
    response
}

/// The id and the trace that a client sends, if it sends one of each.
fn trace(headers: &HeaderMap) -> Trace {
    let only = |name: HeaderName| {
        let mut values = headers.get_all(name).iter();
        values.next().map(HeaderValue::as_bytes).filter(|_| values.next().is_none())
    };
    Trace::new(only(REQUEST_ID), only(TRACEPARENT))
}

/// The body of a request.
struct Upload<'a> {
    body: Incoming,
    /// Whether it was read from, which tells a client that waits to go on.
    is_begun: bool,
    memory: &'a Semaphore,
}

impl Upload<'_> {
    /// Whether the client is still sending.
    fn goes_on(&self, headers: &HeaderMap) -> bool {
        !self.body.is_end_stream() && (self.is_begun || !headers.contains_key(header::EXPECT))
    }
}

async fn route(
    app: &App,
    connection: Connection,
    head: &Parts,
    upload: &mut Upload<'_>,
    record: &mut Record<'_>,
) -> Response<Body> {
    let path = head.uri.path();
    if matches!(path, "/healthz" | "/readyz") {
        return page(head, "text/plain", "ok\n");
    }
    if let Some(refusal) = refuse(&app.access, head) {
        return refusal;
    }
    let site = Arc::clone(&app.site.borrow());
    match path {
        "/" => page(head, "text/plain; charset=utf-8", index(&site)),
        "/version" => page(head, "application/json", site.version()),
        // Where clients look for an authorization server before they ask without a token. They expect JSON.
        _ if path.starts_with("/.well-known/") => match site.resource_metadata(path) {
            Some(_) if head.method == Method::OPTIONS => preflight("GET"),
            Some(metadata) => page(head, "application/json", metadata),
            None => json(StatusCode::NOT_FOUND, Bytes::from_static(br#"{"error":"not_found"}"#).into()),
        },
        _ => match path.strip_prefix("/mcp/").and_then(|slug| site.server(slug.strip_suffix('/').unwrap_or(slug))) {
            Some(server) => endpoint(app, (&site, server), connection, head, upload, record).await,
            None => text(StatusCode::NOT_FOUND, "not found: the endpoints are /mcp/{slug}, and / lists them\n"),
        },
    }
}

/// The answer to who may not ask, or not from there.
fn refuse(access: &Access, head: &Parts) -> Option<Response<Body>> {
    let mut hosts = head.headers.get_all(header::HOST).iter();
    let (host, authority) = (hosts.next(), head.uri.authority());
    if hosts.next().is_some() || (host.is_none() && authority.is_none()) {
        return Some(reject(StatusCode::BAD_REQUEST, "a request needs one `Host`"));
    }
    let host = host.map(HeaderValue::to_str).transpose().unwrap_or(Some(""));
    // HTTP/2 has `:authority` in place of `Host`; where both are there, both count.
    for name in host.into_iter().chain(authority.map(Authority::as_str)) {
        if !access.allows_host(name) {
            debug!(host = loggable(name), "refused a host; --allowed-hosts sets which are allowed");
            return Some(reject(StatusCode::FORBIDDEN, "this `Host` is not allowed"));
        }
    }
    for origin in head.headers.get_all(header::ORIGIN) {
        if !origin.to_str().is_ok_and(|origin| access.allows_origin(origin)) {
            let origin = loggable(origin.to_str().unwrap_or("not in ASCII"));
            debug!(origin, "refused an origin; --allowed-origins sets which are allowed");
            return Some(reject(StatusCode::FORBIDDEN, "this `Origin` is not allowed"));
        }
    }
    None
}

/// What may be logged of a host or an origin: a name of a sensible length, no user and no password.
fn loggable(text: &str) -> &str {
    let text = text.rsplit_once('@').map_or(text, |(_, host)| host);
    text.char_indices().nth(MAX_LOGGED).map_or(text, |(end, _)| &text[..end])
}

async fn endpoint(
    app: &App,
    (site, server): (&Arc<Site>, Server<'_>),
    Connection { peer, closing }: Connection,
    head: &Parts,
    upload: &mut Upload<'_>,
    record: &mut Record<'_>,
) -> Response<Body> {
    record.server = server.slug();
    match head.method {
        Method::POST => {}
        Method::OPTIONS => return preflight("POST"),
        _ => return method_not_allowed(ENDPOINT_METHODS),
    }
    let address = || {
        let lines = head.headers.get_all(FORWARDED_FOR).iter();
        app.proxies.client(peer, lines.map(HeaderValue::as_bytes))
    };
    let admitted = match gate::admit(server, &head.headers, address).await {
        Ok(admitted) => admitted,
        Err(refusal) => return turn_away(refusal),
    };
    let wants_events = || accepts(&head.headers, "text", "event-stream");
    if !accepts(&head.headers, "application", "json") && !wants_events() {
        return reject(StatusCode::NOT_ACCEPTABLE, "`Accept` must allow `application/json`");
    }
    if !is_json(&head.headers) {
        return reject(StatusCode::UNSUPPORTED_MEDIA_TYPE, "`Content-Type` must be `application/json`");
    }
    let (body, _held) = match receive(&app.limits, upload).await {
        Ok(body) => body,
        Err(refusal) => return refusal,
    };
    if let Err(refusal) = admitted.count(|| jsonrpc::messages(&body)) {
        return turn_away(refusal);
    }
    let headers = Headers {
        protocol_version: mcp_header(&head.headers, PROTOCOL_VERSION),
        method: mcp_header(&head.headers, METHOD),
        name: mcp_header(&head.headers, NAME),
    };
    match mcp::answer(server, headers, &body, record).await {
        Reply::Accepted => response(StatusCode::ACCEPTED, Body::empty()),
        Reply::Response(status, frames, coded) => {
            encoded(status.into(), coding::encode(frames, coded, coding::wanted(&head.headers)))
        }
        Reply::Batch(frames) => json(StatusCode::OK, Body::Frames(frames.into())),
        Reply::Subscription(_) if !wants_events() => {
            reject(StatusCode::NOT_ACCEPTABLE, "`Accept` must allow `text/event-stream`")
        }
        Reply::Subscription(Subscription { acknowledged, response, permit, watched }) => {
            let news = watched.news(Arc::clone(site), app.site.clone());
            events(sse::stream(&acknowledged, news, response, closing, (permit, app.metrics.stream())))
        }
    }
}

/// Reads the body, in one piece where it came in one. What it takes is to be held as long as the body is.
async fn receive<'a>(
    limits: &Limits,
    upload: &mut Upload<'a>,
) -> Result<(Bytes, Option<SemaphorePermit<'a>>), Response<Body>> {
    let too_large = || {
        let message = format!("the body is larger than {} bytes", limits.body);
        reject(StatusCode::PAYLOAD_TOO_LARGE, message)
    };
    if upload.body.size_hint().lower() > limits.body as u64 {
        return Err(too_large());
    }
    upload.is_begun = true;
    let memory = upload.memory;
    let mut waits = false;
    let received = time::timeout(limits.body_timeout, async {
        let (mut first, mut all) = (Bytes::new(), BytesMut::new());
        let (mut size, mut held) = (0, None);
        while let Some(frame) = upload.body.frame().await {
            let Ok(data) = frame.map_err(|_| StatusCode::BAD_REQUEST)?.into_data() else { continue };
            size += data.len();
            if size > limits.body {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            if size > MAX_FREE {
                waits = true;
                hold(memory, &mut held, data.len()).await?;
                waits = false;
            }
            if first.is_empty() && all.is_empty() {
                first = data;
            } else {
                all.extend_from_slice(&std::mem::take(&mut first));
                all.extend_from_slice(&data);
            }
        }
        Ok((if all.is_empty() { first } else { all.freeze() }, held))
    });
    match received.await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(StatusCode::PAYLOAD_TOO_LARGE)) => Err(too_large()),
        Ok(Err(status)) => Err(reject(status, "the body did not arrive whole")),
        Err(_) if waits => Err(reject(StatusCode::SERVICE_UNAVAILABLE, "too many large bodies are being sent")),
        Err(_) => Err(reject(StatusCode::REQUEST_TIMEOUT, "the body did not arrive in time")),
    }
}

fn encoded(status: StatusCode, answer: Answer) -> Response<Body> {
    let (coding, body) = match answer {
        Answer::Plain(frames) => return json(status, Body::Response(frames)),
        Answer::Coded(coding, frames) => (coding, Body::Response(frames)),
        Answer::Streamed(compressing) => (Coding::Gzip, Body::Compressed(Box::new(compressing))),
    };
    let mut response = json(status, body);
    response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    response
}

/// Waits until that many more bytes may be held.
async fn hold<'a>(
    memory: &'a Semaphore,
    held: &mut Option<SemaphorePermit<'a>>,
    bytes: usize,
) -> Result<(), StatusCode> {
    let bytes = u32::try_from(bytes).map_err(|_| StatusCode::PAYLOAD_TOO_LARGE)?;
    // Nobody closes it.
    let permit = memory.acquire_many(bytes).await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
    match held {
        Some(held) => held.merge(permit),
        None => *held = Some(permit),
    }
    Ok(())
}

/// Whether a body is not wanted. One that did not arrive in time has had its time.
fn is_refused(status: StatusCode) -> bool {
    (status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT) || status == StatusCode::SERVICE_UNAVAILABLE
}

/// Goes on reading what is not wanted, while the answer is on its way.
fn drain(mut body: Incoming) {
    tokio::spawn(time::timeout(MAX_DRAIN_TIME, async move {
        let mut drained = 0;
        while let Some(Ok(frame)) = body.frame().await {
            drained += frame.data_ref().map_or(0, Bytes::len);
            if drained > MAX_DRAINED {
                break;
            }
        }
    }));
}

/// One of MCP's headers.
pub(crate) fn mcp_header(headers: &HeaderMap, name: HeaderName) -> Header<'_> {
    let mut values = headers.get_all(name).iter();
    match (values.next().map(HeaderValue::to_str), values.next()) {
        (None, _) => Header::Absent,
        (Some(Ok(value)), None) => Header::Value(value.trim_matches([' ', '\t'])),
        _ => Header::Invalid,
    }
}

/// Whether a client takes this media type. Who does not say, or says nothing, takes everything.
pub(crate) fn accepts(headers: &HeaderMap, kind: &str, subtype: &str) -> bool {
    let values = headers.get_all(header::ACCEPT);
    values.iter().all(|value| value.as_bytes().trim_ascii().is_empty())
        || values.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')).any(|range| {
            let (range, parameters) = range.split_once(';').unwrap_or((range, ""));
            let Some((range_kind, range_subtype)) = range.trim().split_once('/') else { return false };
            let is_excluded = parameters.split(';').any(|parameter| {
                let parameter = parameter.trim().to_ascii_lowercase();
                parameter.strip_prefix("q=").is_some_and(|weight| weight.parse() == Ok(0.0))
            });
            let is_same = |range: &str, part: &str| range == "*" || range.eq_ignore_ascii_case(part);
            !is_excluded && is_same(range_kind, kind) && is_same(range_subtype, subtype)
        })
}

/// Whether the body is said to be JSON, or not said to be anything.
pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return true };
    let media_type = value.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    let Some((kind, subtype)) = media_type.trim().split_once('/') else { return false };
    let suffix = subtype.rsplit_once('+').map_or(subtype, |(_, suffix)| suffix);
    kind.eq_ignore_ascii_case("application") && suffix.eq_ignore_ascii_case("json")
}

/// An allowed origin may read every answer; what it may not, was refused.
fn add_cors(access: &Access, request: &HeaderMap, response: &mut Response<Body>) {
    let is_challenge = response.headers().contains_key(header::WWW_AUTHENTICATE);
    let is_refused = response.status() == StatusCode::FORBIDDEN && !is_challenge;
    let response = response.headers_mut();
    response.insert(header::VARY, HeaderValue::from_static("Origin, Accept-Encoding"));
    if let Some(origin) = request.get(header::ORIGIN)
        && !is_refused
        && origin.to_str().is_ok_and(|origin| access.allows_origin(origin))
    {
        response.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        response.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(CORS_RESPONSE_HEADERS));
    }
}

/// Tells a browser that it may send this method from the page that asks.
fn preflight(method: &'static str) -> Response<Body> {
    let mut response = response(StatusCode::NO_CONTENT, Body::empty());
    let mut insert = |name: HeaderName, value| response.headers_mut().insert(name, HeaderValue::from_static(value));
    insert(header::ALLOW, if method == "POST" { ENDPOINT_METHODS } else { "GET, HEAD, OPTIONS" });
    insert(header::ACCESS_CONTROL_ALLOW_METHODS, method);
    insert(header::ACCESS_CONTROL_ALLOW_HEADERS, CORS_REQUEST_HEADERS);
    insert(header::ACCESS_CONTROL_MAX_AGE, "86400");
    response
}

fn index(site: &Site) -> String {
    let endpoints = site.servers().map(|(slug, name)| format!("POST /mcp/{slug}  {name}\n"));
    format!("mcpress {}\n\n{}", env!("CARGO_PKG_VERSION"), endpoints.collect::<String>())
}

/// Leaves only the head of what a `GET` would get.
fn empty(response: &mut Response<Body>) {
    let body = std::mem::replace(response.body_mut(), Body::empty());
    if let Some(length) = body.size_hint().exact() {
        response.headers_mut().insert(header::CONTENT_LENGTH, length.into());
    }
}

/// A page for people and probes.
fn page(head: &Parts, content_type: &'static str, content: impl Into<Bytes>) -> Response<Body> {
    match head.method {
        Method::GET | Method::HEAD => with_content_type(response(StatusCode::OK, content.into().into()), content_type),
        _ => method_not_allowed("GET, HEAD"),
    }
}

fn method_not_allowed(allowed: &'static str) -> Response<Body> {
    let mut response = text(StatusCode::METHOD_NOT_ALLOWED, "method not allowed\n");
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

fn events(body: Body) -> Response<Body> {
    let mut response = with_content_type(response(StatusCode::OK, body), "text/event-stream");
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// An answer to what is wrong with a request before its message is looked at.
fn reject(status: StatusCode, message: impl Into<std::borrow::Cow<'static, str>>) -> Response<Body> {
    json(status, Body::Response(jsonrpc::failure(None, &Error::new(jsonrpc::INVALID_REQUEST, message))))
}

/// An answer to who may not come in at a server.
fn turn_away(Refusal { status, header, message }: Refusal) -> Response<Body> {
    let mut response = reject(status, message);
    response.headers_mut().extend(header);
    response
}

fn json(status: StatusCode, body: Body) -> Response<Body> {
    with_content_type(response(status, body), "application/json")
}

fn text(status: StatusCode, content: &'static str) -> Response<Body> {
    with_content_type(response(status, Bytes::from_static(content.as_bytes()).into()), "text/plain; charset=utf-8")
}

fn with_content_type(mut response: Response<Body>, content_type: &'static str) -> Response<Body> {
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

fn response(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

impl From<Status> for StatusCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::OK,
            Status::BadRequest => Self::BAD_REQUEST,
            Status::NotFound => Self::NOT_FOUND,
            Status::Busy => Self::TOO_MANY_REQUESTS,
        }
    }
}
