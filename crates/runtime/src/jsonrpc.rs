//! JSON-RPC 2.0: parses messages as shallowly as it can, and writes responses.
//!
//! An `id` is never interpreted, so it comes back byte for byte, also above 2^53. `params` are not parsed here either;
//! what is skipped costs no recursion, however deep it nests.

use std::borrow::Cow;

use bytes::Bytes;
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};

use crate::outcome::Outcome;

pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;
pub(crate) const METHOD_NOT_FOUND: i32 = -32601;
pub(crate) const INVALID_PARAMS: i32 = -32602;
pub(crate) const INTERNAL_ERROR: i32 = -32603;

/// What a client may send in one body.
pub(crate) enum Payload<'a> {
    /// One message, for [`parse_message`].
    Single(&'a str),
    /// The elements of an array, which revisions before 2025-06-18 take for a batch of messages.
    Batch(Vec<&'a RawValue>),
}

/// One message of a client.
pub(crate) enum Message<'a> {
    Request(Request<'a>),
    Notification,
    Response,
}

/// A message that wants an answer.
pub(crate) struct Request<'a> {
    /// A JSON string or integer, as sent.
    pub(crate) id: &'a RawValue,
    pub(crate) method: Cow<'a, str>,
    /// A JSON object, as sent.
    pub(crate) params: Option<&'a RawValue>,
}

/// A message that is none, and its `id` if that at least could be read.
pub(crate) struct Invalid<'a> {
    pub(crate) id: Option<&'a RawValue>,
    pub(crate) error: Error,
}

/// `error` of a response.
#[derive(Debug, Serialize)]
pub(crate) struct Error {
    pub(crate) code: i32,
    pub(crate) message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
    /// What to count it as.
    #[serde(skip)]
    pub(crate) outcome: Outcome,
}

/// The bytes of one response in order. The long part stands alone, so that it need not be copied.
pub(crate) type Frames = [Bytes; 3];

/// Reads a body as far as to tell a message from a batch.
pub(crate) fn parse(body: &[u8]) -> Result<Payload<'_>, Error> {
    let text = std::str::from_utf8(body).map_err(|_| Error::new(PARSE_ERROR, "Parse error: the body is not UTF-8"))?;
    let syntax = |error| Error::new(PARSE_ERROR, format!("Parse error: {error}"));
    match text.trim_ascii_start().as_bytes().first() {
        Some(b'{') => Ok(Payload::Single(text)),
        Some(b'[') => serde_json::from_str(text).map(Payload::Batch).map_err(syntax),
        _ => {
            let _: &RawValue = serde_json::from_str(text).map_err(syntax)?;
            Err(Error::new(INVALID_REQUEST, "Invalid Request: a message is a JSON object"))
        }
    }
}

/// How many messages a body holds: one, unless it is a batch.
pub(crate) fn messages(body: &[u8]) -> usize {
    match body.trim_ascii_start().first() {
        Some(b'[') => serde_json::from_slice::<Vec<IgnoredAny>>(body).map_or(1, |elements| elements.len()),
        _ => 1,
    }
}

/// Reads one message.
pub(crate) fn parse_message(text: &str) -> Result<Message<'_>, Invalid<'_>> {
    let invalid = |id, message: &'static str| Invalid { id, error: Error::new(INVALID_REQUEST, message) };
    if !text.trim_ascii_start().starts_with('{') {
        return Err(invalid(None, "Invalid Request: a message is a JSON object"));
    }
    let members: Members<'_> = serde_json::from_str(text).map_err(|error| Invalid {
        id: None,
        error: if error.is_data() {
            Error::new(INVALID_REQUEST, format!("Invalid Request: {error}"))
        } else {
            Error::new(PARSE_ERROR, format!("Parse error: {error}"))
        },
    })?;
    let id = members.id.filter(|id| is_id(id));
    if members.jsonrpc.and_then(string).as_deref() != Some("2.0") {
        return Err(invalid(id, "Invalid Request: `jsonrpc` is not \"2.0\""));
    }
    let Some(method) = members.method else {
        if members.result.is_some() || members.error.is_some() {
            return Ok(Message::Response);
        }
        return Err(invalid(id, "Invalid Request: there is no `method`"));
    };
    let Some(method) = string(method) else {
        return Err(invalid(id, "Invalid Request: `method` is not a string"));
    };
    if members.params.is_some_and(|params| !is_object(params)) {
        return Err(invalid(id, "Invalid Request: `params` is not an object"));
    }
    match (members.id, id) {
        (None, _) => Ok(Message::Notification),
        (Some(_), Some(id)) => Ok(Message::Request(Request { id, method, params: members.params })),
        (Some(_), None) => Err(invalid(None, "Invalid Request: `id` is neither a string nor an integer")),
    }
}

/// The members of a message, not yet looked into.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// For members of which `null` is not the same as their absence.
pub(crate) fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The text of a JSON string.
pub(crate) fn string(value: &RawValue) -> Option<Cow<'_, str>> {
    // Where nothing is escaped it stands between the quotes as it is.
    if let Some(text) = value.get().strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        && !text.contains('\\')
    {
        return Some(Cow::Borrowed(text));
    }
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'_>>(value.get()).ok().map(|text| text.0)
}

/// True for a JSON object.
pub(crate) fn is_object(value: &RawValue) -> bool {
    value.get().starts_with('{')
}

fn is_id(value: &RawValue) -> bool {
    let text = value.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    text.starts_with('"') || digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A response with a result: `members` one after the other, then `content`, then `end`, which closes the result and
/// the response.
pub(crate) fn success(id: &RawValue, members: &[&str], content: Bytes, end: Bytes) -> Frames {
    let start = [r#"{"jsonrpc":"2.0","id":"#, id.get(), r#","result":{"#];
    let parts = || start.iter().chain(members);
    let mut head = String::with_capacity(parts().map(|part| part.len()).sum());
    parts().for_each(|part| head.push_str(part));
    [head.into(), content, end]
}

/// A response with an error; without an `id` if the request had none that could be read.
pub(crate) fn failure(id: Option<&RawValue>, error: &Error) -> Frames {
    #[derive(Serialize)]
    struct Response<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a RawValue>,
        error: &'a Error,
    }
    // Writing to memory does not fail, and all keys are text.
    let response = serde_json::to_vec(&Response { jsonrpc: "2.0", id, error }).unwrap_or_default();
    [response.into(), Bytes::new(), Bytes::new()]
}

impl Error {
    pub(crate) fn new(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        let outcome = match code {
            METHOD_NOT_FOUND => Outcome::UnknownMethod,
            INTERNAL_ERROR => Outcome::Failed,
            _ => Outcome::Invalid,
        };
        Self { code, message: message.into(), data: None, outcome }
    }

    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(crate) fn with_data(self, data: Value) -> Self {
        Self { data: Some(data), ..self }
    }

    pub(crate) fn counts_as(self, outcome: Outcome) -> Self {
        Self { outcome, ..self }
    }
}
