//! Why a fetch failed: one sentence for the client, and the cause for the log.

use std::{error::Error, fmt, sync::Arc, time::Duration};

/// Why a fetch failed.
///
/// What it displays names the upstream's host at most: no path but that of a refused redirect, no query, no header,
/// nothing of a body. The cause, if there is one, is its [`source`](Error::source).
#[derive(Clone, Debug)]
pub struct FetchError {
    kind: Kind,
    message: String,
    cause: Option<Arc<dyn Error + Send + Sync>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// There is no such resource.
    NotFound,
    /// It may not be had by our rules.
    Refused,
    /// It may not be had, says the upstream.
    Denied,
    /// It took too long.
    TimedOut,
    /// The upstream, or the way to it, failed.
    Failed,
}

impl FetchError {
    /// The arguments name nothing that exists.
    pub(crate) fn not_found() -> Self {
        Self { kind: Kind::NotFound, message: "there is no such resource".to_owned(), cause: None }
    }

    /// A request that our own rules forbid.
    pub(crate) fn refused(reason: impl fmt::Display) -> Self {
        Self { kind: Kind::Refused, message: format!("refused: {reason}"), cause: None }
    }

    /// A status that the definition does not accept.
    pub(crate) fn status(host: &str, status: u16) -> Self {
        // Of the statuses from 400, 408 and 429 speak of the moment, the others of the request.
        let denied = (400..500).contains(&status) && !matches!(status, 408 | 429);
        let kind = if denied { Kind::Denied } else { Kind::Failed };
        Self { kind, message: format!("upstream {host} answered {status}"), cause: None }
    }

    /// Anything else that an upstream did or failed to do.
    pub(crate) fn upstream(host: &str, what: impl fmt::Display) -> Self {
        Self::failed(format!("upstream {host} {what}"))
    }

    pub(crate) fn timed_out(host: &str, after: Duration) -> Self {
        Self { kind: Kind::TimedOut, ..Self::upstream(host, format_args!("timed out after {}", Time(after))) }
    }

    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { kind: Kind::Failed, message: message.into(), cause: None }
    }

    /// Adds the cause.
    pub(crate) fn because(self, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { cause: Some(cause.into().into()), ..self }
    }

    /// Says it in other words.
    pub(crate) fn reword(self, reword: impl FnOnce(&str) -> String) -> Self {
        Self { message: reword(&self.message), ..self }
    }

    /// True if there is no such resource, rather than one that cannot be had.
    pub fn is_not_found(&self) -> bool {
        self.kind == Kind::NotFound
    }

    /// True if an older answer may stand in. It may not hide that something is gone or forbidden.
    pub(crate) fn allows_stale(&self) -> bool {
        matches!(self.kind, Kind::Failed | Kind::TimedOut)
    }

    /// What metrics count it as.
    pub(crate) fn outcome(&self) -> &'static str {
        match self.kind {
            Kind::NotFound => "not_found",
            Kind::Refused => "refused",
            Kind::Denied => "denied",
            Kind::Failed => "failed",
            Kind::TimedOut => "timed_out",
        }
    }

    /// The causes on one line, for the log.
    pub(crate) fn cause(&self) -> Option<String> {
        let causes = std::iter::successors(Error::source(self), |cause| (*cause).source());
        causes.map(ToString::to_string).reduce(|causes, cause| format!("{causes}: {cause}"))
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for FetchError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as &(dyn Error + 'static))
    }
}

/// A duration for people: `10 s`, `250 ms`.
pub(crate) struct Time(pub(crate) Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            ms if ms % 1000 == 0 => write!(f, "{} s", ms / 1000),
            ms if ms < 1000 => write!(f, "{ms} ms"),
            _ => write!(f, "{} s", self.0.as_secs_f64()),
        }
    }
}

/// A number of bytes for people: `5 MiB`, `600 bytes`.
pub(crate) struct Size(pub(crate) u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => f.write_str("0 bytes"),
            bytes if bytes % (1 << 20) == 0 => write!(f, "{} MiB", bytes >> 20),
            bytes if bytes % (1 << 10) == 0 => write!(f, "{} KiB", bytes >> 10),
            bytes => write!(f, "{bytes} bytes"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speaks_in_one_sentence() {
        for (error, message) in [
            (FetchError::status("a.example", 503), "upstream a.example answered 503"),
            (FetchError::timed_out("a.example", Duration::from_secs(10)), "upstream a.example timed out after 10 s"),
            (FetchError::timed_out("a:8080", Duration::from_millis(250)), "upstream a:8080 timed out after 250 ms"),
            (FetchError::timed_out("a", Duration::from_millis(1500)), "upstream a timed out after 1.5 s"),
            (FetchError::refused("no"), "refused: no"),
        ] {
            assert_eq!(error.to_string(), message);
        }
        for (size, text) in
            [(0, "0 bytes"), (600, "600 bytes"), (2048, "2 KiB"), (5 << 20, "5 MiB"), (1025, "1025 bytes")]
        {
            assert_eq!(Size(size).to_string(), text);
        }
    }

    #[test]
    fn an_older_answer_hides_failures_only() {
        for (status, stale) in
            [(500, true), (503, true), (429, true), (408, true), (302, true), (404, false), (401, false)]
        {
            assert_eq!(FetchError::status("a", status).allows_stale(), stale, "{status}");
        }
        assert!(!FetchError::refused("x").allows_stale());
        assert!(!FetchError::not_found().allows_stale());
    }

    #[test]
    fn keeps_its_cause_for_the_log() {
        let error = FetchError::upstream("a", "cannot be reached").because(std::io::Error::other("secret"));
        assert_eq!(error.source().unwrap().to_string(), "secret");
        assert!(!error.to_string().contains("secret"));
    }
}
