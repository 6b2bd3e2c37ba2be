//! Which revision of the protocol speaks: decided from a request's body first and its headers second, because older
//! clients send no headers and proxies drop them. Pure: nothing is remembered between two requests.
//!
//! A request whose `_meta` names a revision is held to that revision's rules, in the order of [`classify`]; every
//! other one is from before 2026-07-28.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{json, value::RawValue};

use super::{Status, params::Params};
use crate::jsonrpc::{self, Error, INVALID_PARAMS, INVALID_REQUEST};

const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;

/// A revision of the protocol, the oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Revision {
    V20241105,
    V20250326,
    V20250618,
    V20251125,
    V20260728,
}

/// The headers that MCP defines.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Headers<'a> {
    /// `MCP-Protocol-Version`.
    pub(crate) protocol_version: Header<'a>,
    /// `Mcp-Method`.
    pub(crate) method: Header<'a>,
    /// `Mcp-Name`.
    pub(crate) name: Header<'a>,
}

/// The value of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header<'a> {
    /// There is none.
    Absent,
    /// Visible ASCII and blanks, without blanks around it.
    Value(&'a str),
    /// Something else, or more than one value.
    Invalid,
}

/// A message that is refused.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) status: Status,
    pub(super) error: Error,
}

/// Which revision a request is to be answered by; the first rule that it breaks, if it breaks one.
pub(super) fn classify(headers: Headers<'_>, method: &str, params: &Params<'_>) -> Result<Revision, Rejection> {
    let Some(meta) = params.meta.filter(|meta| meta.claims_modern()) else {
        return classify_without_claim(headers, method);
    };
    let claimed = meta.protocol_version.ok_or_else(|| missing("protocolVersion"))?;
    let claimed = jsonrpc::string(claimed).ok_or_else(|| missing("protocolVersion"))?;
    meta.client_capabilities
        .filter(|capabilities| jsonrpc::is_object(capabilities))
        .ok_or_else(|| missing("clientCapabilities"))?;
    headers.protocol_version.check("MCP-Protocol-Version", &claimed)?;
    let revision = Revision::parse(&claimed).ok_or_else(|| unsupported(&claimed))?;
    // What an older revision is asked for in the newer form gets that revision's answer, which knows no such header.
    if revision.is_modern() {
        headers.method.check("Mcp-Method", method)?;
    }
    Ok(revision)
}

fn classify_without_claim(headers: Headers<'_>, method: &str) -> Result<Revision, Rejection> {
    let named = headers.revision()?;
    match method {
        "initialize" if named.is_some_and(Revision::is_modern) => Err(Rejection::bad_request(
            HEADER_MISMATCH,
            "Header mismatch: MCP-Protocol-Version names a revision without `initialize`",
        )),
        "server/discover" | "subscriptions/listen" => Err(missing("protocolVersion")),
        _ if named.is_some_and(Revision::is_modern) => Err(missing("protocolVersion")),
        // The first revision over this transport, which has no header for it.
        _ => Ok(named.unwrap_or(Revision::V20250326)),
    }
}

/// 2026-07-28 leaves the headers of notifications open.
pub(super) fn check_notification(headers: Headers<'_>) -> Result<(), Rejection> {
    headers.revision().map(|_| ())
}

/// Clients of the older revisions may answer a server's requests, of which this one sends none.
pub(super) fn check_response(headers: Headers<'_>) -> Result<(), Rejection> {
    match headers.revision()? {
        Some(revision) if revision.is_modern() => Err(Rejection::bad_request(
            INVALID_REQUEST,
            "Invalid Request: a client of this revision sends no responses",
        )),
        _ => Ok(()),
    }
}

/// Whether the revision has batches.
pub(super) fn check_batch(headers: Headers<'_>) -> Result<(), Rejection> {
    match headers.revision()? {
        Some(revision) if revision >= Revision::V20250618 => {
            Err(Rejection::bad_request(INVALID_REQUEST, "Invalid Request: this revision has no batches"))
        }
        _ => Ok(()),
    }
}

/// `Mcp-Name` against the member of `params` that it repeats. A member that is no string is left to the method.
pub(super) fn check_name(revision: Revision, header: Header<'_>, member: Option<&RawValue>) -> Result<(), Rejection> {
    if !revision.is_modern() {
        return Ok(());
    }
    let Header::Value(value) = header else { return header.check("Mcp-Name", "") };
    let decoded = decode(value)
        .ok_or_else(|| Rejection::bad_request(HEADER_MISMATCH, "Header mismatch: Mcp-Name cannot be decoded"))?;
    match member.and_then(jsonrpc::string) {
        Some(expected) => Header::Value(&decoded).check("Mcp-Name", &expected),
        None => Ok(()),
    }
}

/// Undoes `=?base64?…?=`, in which clients wrap what a header cannot hold.
fn decode(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix("=?base64?").and_then(|value| value.strip_suffix("?=")) {
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok().map(Cow::Owned),
        None => Some(Cow::Borrowed(value)),
    }
}

fn missing(key: &str) -> Rejection {
    let key = format!("io.modelcontextprotocol/{key}");
    let message = format!("Invalid params: missing _meta[\"{key}\"]");
    let error = Error::new(INVALID_PARAMS, message).with_data(json!({ "missing": key }));
    Rejection { status: Status::BadRequest, error }
}

fn unsupported(requested: &str) -> Rejection {
    let supported = Revision::NEWEST_FIRST.map(Revision::name);
    let error = Error::new(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version")
        .with_data(json!({ "supported": supported, "requested": requested }));
    Rejection { status: Status::BadRequest, error }
}

impl Headers<'_> {
    /// The revision that the header names, if there is such a header.
    fn revision(self) -> Result<Option<Revision>, Rejection> {
        match self.protocol_version {
            Header::Absent => Ok(None),
            Header::Value(version) => Revision::parse(version).map(Some).ok_or_else(|| unsupported(version)),
            Header::Invalid => Err(unsupported("")),
        }
    }
}

impl Header<'_> {
    fn check(self, name: &str, expected: &str) -> Result<(), Rejection> {
        let problem = match self {
            Header::Value(value) if value == expected => return Ok(()),
            Header::Value(value) => format!("{name} header value '{value}' does not match body value '{expected}'"),
            Header::Absent => format!("{name} header is missing"),
            Header::Invalid => format!("{name} header is not one value in ASCII"),
        };
        Err(Rejection::bad_request(HEADER_MISMATCH, format!("Header mismatch: {problem}")))
    }
}

impl Revision {
    pub(super) const NEWEST_FIRST: [Self; 5] =
        [Self::V20260728, Self::V20251125, Self::V20250618, Self::V20250326, Self::V20241105];

    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::NEWEST_FIRST.into_iter().find(|revision| revision.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::V20241105 => "2024-11-05",
            Self::V20250326 => "2025-03-26",
            Self::V20250618 => "2025-06-18",
            Self::V20251125 => "2025-11-25",
            Self::V20260728 => "2026-07-28",
        }
    }

    /// True for the revisions in which each request stands alone.
    pub(super) fn is_modern(self) -> bool {
        self >= Self::V20260728
    }
}

impl Rejection {
    pub(super) fn bad_request(code: i32, message: impl Into<Cow<'static, str>>) -> Self {
        Self { status: Status::BadRequest, error: Error::new(code, message) }
    }
}

/// Errors in what was asked for travel as any other response.
impl From<Error> for Rejection {
    fn from(error: Error) -> Self {
        Self { status: Status::Ok, error }
    }
}
