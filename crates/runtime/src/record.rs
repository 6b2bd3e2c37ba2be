//! What is noted of one request while it is answered. When it is dropped, metrics and the log get it, also if the
//! client went away before there was an answer.

use std::time::{Duration, Instant};

use tracing::{Level, debug, enabled};

use crate::{
    metrics::{Answered, Metrics, Slug},
    outcome::Outcome,
    trace::Trace,
};

/// Characters of what a client chose in a line of the log.
const MAX_LOGGED: usize = 200;

/// What is noted of one request.
pub(crate) struct Record<'a> {
    pub(crate) trace: Trace,
    /// None until it is known.
    pub(crate) server: Slug,
    /// One of MCP's methods, or what the message is.
    pub(crate) rpc: &'static str,
    pub(crate) revision: &'static str,
    /// Says more than the status, where it is known.
    pub(crate) outcome: Option<Outcome>,
    uri: Option<String>,
    http: Http<'a>,
    answer: Option<(u16, Option<u64>)>,
    start: Instant,
    metrics: &'a Metrics,
}

/// The head of the request.
pub(crate) struct Http<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
}

impl<'a> Record<'a> {
    pub(crate) fn new(trace: Trace, http: Http<'a>, metrics: &'a Metrics) -> Self {
        Self {
            trace,
            server: Slug::default(),
            rpc: "",
            revision: "",
            outcome: None,
            uri: None,
            http,
            answer: None,
            start: Instant::now(),
            metrics,
        }
    }

    /// Notes which resource is asked for, if that is logged.
    pub(crate) fn reads(&mut self, uri: &str) {
        if enabled!(Level::DEBUG) {
            self.uri = Some(loggable(uri));
        }
    }

    /// Notes the answer; its bytes are not known of a stream.
    pub(crate) fn answered(&mut self, status: u16, bytes: Option<u64>) {
        self.answer = Some((status, bytes));
    }

    fn outcome(&self) -> Outcome {
        match (self.outcome, self.answer) {
            (_, None) => Outcome::Cancelled,
            (Some(outcome), _) => outcome,
            (None, Some((status, _))) => Outcome::of_status(status),
        }
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        let duration = self.start.elapsed();
        let outcome = self.outcome().name();
        let (status, bytes) = self.answer.unzip();
        let bytes = bytes.flatten();
        let Self { rpc, revision, .. } = *self;
        debug!(
            request_id = self.trace.request_id(),
            method = short(self.http.method),
            path = short(self.http.path),
            server = self.server.0.as_deref(),
            rpc = said(rpc),
            revision = said(revision),
            uri = self.uri.as_deref(),
            status,
            outcome,
            bytes,
            duration_ms = milliseconds(duration),
            "request"
        );
        let request = Answered { server: std::mem::take(&mut self.server), method: rpc, revision, outcome };
        self.metrics.answered(&request, bytes.unwrap_or_default(), duration);
    }
}

/// What may be logged of a URI: no user and no password, no query, no fragment, and no more than fits on a line.
pub(crate) fn loggable(uri: &str) -> String {
    let uri = uri.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = uri.split_once("://") else { return short(uri).to_owned() };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    short(&format!("{scheme}://{host}{path}")).to_owned()
}

fn short(text: &str) -> &str {
    text.char_indices().nth(MAX_LOGGED).map_or(text, |(end, _)| &text[..end])
}

/// What is not known is left out of the line.
fn said(text: &'static str) -> Option<&'static str> {
    Some(text).filter(|text| !text.is_empty())
}

/// With microseconds.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_no_secret_of_a_uri() {
        for (uri, logged) in [
            ("docs://guides/start", "docs://guides/start"),
            ("live://a/b?token=x", "live://a/b"),
            ("live://a/b#x", "live://a/b"),
            ("live://user:pass@host:1/a@b", "live://host:1/a@b"),
            ("live://user:p@ss@host", "live://host"),
            ("live://user:pass@host?x", "live://host"),
            ("urn:isbn:1", "urn:isbn:1"),
            ("", ""),
        ] {
            assert_eq!(loggable(uri), logged);
        }
        assert_eq!(loggable(&"ü".repeat(1000)), "ü".repeat(MAX_LOGGED));
    }
}
