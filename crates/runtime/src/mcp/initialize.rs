//! How a client gets to know a server: `initialize` before 2026-07-28, `server/discover` since.

use std::fmt::Write;

use super::{Server, Success, era::Rejection, era::Revision, params::Params};
use crate::jsonrpc::{self, Error};

/// Hosts ask for tools and prompts whether or not they are declared, and an undeclared one would have to be an error;
/// so both are declared, and their lists are empty. Compiled content does not change while the program runs, so nothing
/// is declared that announces changes.
const CAPABILITIES: &str = r#"{"resources":{},"tools":{},"prompts":{}}"#;

/// Those of content that is reloaded, for the revision that asks for news with `subscriptions/listen`. The older ones
/// would wait for it on a stream that they open with `GET`, which this server does not have.
const RELOADING: &str = r#"{"resources":{"subscribe":true,"listChanged":true},"tools":{},"prompts":{}}"#;

const LOG_LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// `initialize`: the client's version if it is one that has this method, else the newest that has it.
pub(super) fn initialize(server: Server<'_>, params: &Params<'_>) -> Result<Success, Rejection> {
    let requested = params
        .protocol_version
        .and_then(jsonrpc::string)
        .ok_or_else(|| Error::invalid_params("Invalid params: `protocolVersion` is not a string"))?;
    let requested = Revision::parse(&requested).filter(|revision| !revision.is_modern());
    let version = requested.unwrap_or(Revision::V20251125).name();
    let info = server.site.catalog.text(server.entry.info);
    let mut members = format!(r#""protocolVersion":"{version}","capabilities":{CAPABILITIES},"serverInfo":{info}"#);
    add_instructions(&mut members, server);
    Ok(Success::members(0, members))
}

/// `server/discover`. Every version listed is served, the older ones also to a client that names them in `_meta`.
pub(super) fn discover(server: Server<'_>) -> Success {
    let versions = Revision::NEWEST_FIRST.map(|revision| format!(r#""{}""#, revision.name())).join(",");
    let capabilities = if server.site.shared.reloads { RELOADING } else { CAPABILITIES };
    let mut members = format!(r#""supportedVersions":[{versions}],"capabilities":{capabilities}"#);
    add_instructions(&mut members, server);
    Success::members(server.entry.ttl_ms, members)
}

fn add_instructions(members: &mut String, server: Server<'_>) {
    if !server.entry.instructions.is_empty() {
        // Writing to a `String` cannot fail.
        let _ = write!(members, r#","instructions":{}"#, server.site.catalog.text(server.entry.instructions));
    }
}

/// `logging/setLevel`: there are no log messages of any level, so none of this level.
pub(super) fn set_level(params: &Params<'_>) -> Result<Success, Rejection> {
    match params.level.and_then(jsonrpc::string) {
        Some(level) if LOG_LEVELS.contains(&&*level) => Ok(Success::empty()),
        _ => Err(Error::invalid_params("Invalid params: `level` is no log level").into()),
    }
}
