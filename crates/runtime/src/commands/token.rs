//! `mcpress token`: a new bearer token, and what stands for it in the environment of a server.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use super::unless_unread;
use crate::auth::Token;

/// Prints the token for its client and its hash for the server, a line each.
pub(crate) fn token() -> io::Result<ExitCode> {
    let token = Token::random().map_err(io::Error::other)?;
    let mut out = io::stdout().lock();
    unless_unread(writeln!(out, "{}\n{}", token.secret(), token.hash()).and_then(|()| out.flush()))?;
    Ok(ExitCode::SUCCESS)
}
