//! What the fuzz targets reach into: an answer to a body, and what headers say, without sockets. Compiled for them only.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};

use crate::{
    body::Body,
    http::{METHOD, NAME, PROTOCOL_VERSION, accepts, is_json, mcp_header},
    mcp::{self, Headers, Reply, Site, Status, Subscription},
    metrics::Metrics,
    record::{Http, Record},
    trace::Trace,
};

/// What a client gets.
#[derive(Debug)]
pub struct Answer {
    /// Whether the message was taken for what it is.
    pub is_ok: bool,
    /// The body, or the messages of a stream as a JSON array; empty if there is nothing to say.
    pub body: Bytes,
}

/// Answers a body that comes with these values of `MCP-Protocol-Version`, `Mcp-Method` and `Mcp-Name`; `None` if there
/// is no such server.
pub async fn answer(site: &Site, slug: &str, values: [Option<&[u8]>; 3], body: &[u8]) -> Option<Answer> {
    let server = site.server(slug)?;
    let names = [PROTOCOL_VERSION, METHOD, NAME];
    let mut headers = HeaderMap::new();
    for (name, value) in names.clone().into_iter().zip(values) {
        if let Some(Ok(value)) = value.map(HeaderValue::from_bytes) {
            headers.append(name, value);
        }
    }
    let [protocol_version, method, name] = names.map(|name| mcp_header(&headers, name));
    let metrics = Metrics::default();
    let mut record = Record::new(Trace::new(None, None), Http { method: "POST", path: "/" }, &metrics);
    let reply = mcp::answer(server, Headers { protocol_version, method, name }, body, &mut record).await;
    let (is_ok, body) = match reply {
        Reply::Accepted => (true, Body::empty()),
        Reply::Response(status, frames, _) => (status == Status::Ok, Body::Response(frames)),
        Reply::Batch(frames) => (true, Body::Frames(frames.into())),
        Reply::Subscription(Subscription { acknowledged, response, .. }) => {
            (true, Bytes::from(format!("[{acknowledged},{response}]")).into())
        }
    };
    Some(Answer { is_ok, body: body.collect().await.unwrap_or_else(|never| match never {}).to_bytes() })
}

/// Whether values of `Accept` allow JSON, and whether they allow events.
pub fn accept(values: &[&[u8]]) -> [bool; 2] {
    let headers = headers(ACCEPT, values);
    [accepts(&headers, "application", "json"), accepts(&headers, "text", "event-stream")]
}

/// Whether a value of `Content-Type` says that the body is JSON.
pub fn content_type_is_json(value: &[u8]) -> bool {
    let headers = headers(CONTENT_TYPE, &[value]);
    !headers.is_empty() && is_json(&headers)
}

fn headers(name: HeaderName, values: &[&[u8]]) -> HeaderMap {
    let values = values.iter().filter_map(|value| HeaderValue::from_bytes(value).ok());
    values.map(|value| (name.clone(), value)).collect()
}
