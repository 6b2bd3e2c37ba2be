//! What came of a request, in a word that metrics and the log share.

/// What came of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// A result, or a page.
    Ok,
    /// There is no such resource, tool, prompt, server or page.
    NotFound,
    /// The message, or what it asks with, is wrong.
    Invalid,
    /// There is no such method of MCP.
    UnknownMethod,
    /// An upstream, or the way to it.
    FetchFailed,
    /// A template, or anything else of our own.
    Failed,
    /// Too much is going on.
    Busy,
    Unauthorized,
    /// This `Host` or `Origin`, or this token, may not.
    Forbidden,
    RateLimited,
    /// The body did not arrive in time.
    TimedOut,
    /// Any other fault in the HTTP request.
    Rejected,
    /// The client went away before there was an answer.
    Cancelled,
}

impl Outcome {
    /// As metrics and the log have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotFound => "not_found",
            Self::Invalid => "invalid",
            Self::UnknownMethod => "unknown_method",
            Self::FetchFailed => "fetch_failed",
            Self::Failed => "failed",
            Self::Busy => "busy",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate_limited",
            Self::TimedOut => "timed_out",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
        }
    }

    /// What an HTTP status says, where nothing else has said it.
    pub(crate) fn of_status(status: u16) -> Self {
        match status {
            ..400 => Self::Ok,
            401 => Self::Unauthorized,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            408 => Self::TimedOut,
            429 => Self::RateLimited,
            503 => Self::Busy,
            400..500 => Self::Rejected,
            500.. => Self::Failed,
        }
    }
}
