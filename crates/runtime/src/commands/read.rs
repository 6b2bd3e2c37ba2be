//! `mcpress read`: the bytes of one resource.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{failure, unless_unread};
use crate::mcp::Site;

/// Writes what a client would read, as the bytes that it stands for.
pub(crate) async fn read(site: &Site, slug: &str, uri: &str) -> io::Result<ExitCode> {
    let contents = match site.read(slug, uri).await {
        Ok(contents) => contents,
        Err(message) => return Ok(failure(message)),
    };
    let contents: Vec<serde_json::Value> = serde_json::from_slice(&contents)?;
    unless_unread(write_contents(&contents))?;
    Ok(ExitCode::SUCCESS)
}

fn write_contents(contents: &[serde_json::Value]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for content in contents {
        match (content["text"].as_str(), content["blob"].as_str()) {
            (Some(text), _) => out.write_all(text.as_bytes())?,
            (None, blob) => out.write_all(&STANDARD.decode(blob.unwrap_or_default()).map_err(io::Error::other)?)?,
        }
    }
    out.flush()
}
