//! What one client may cost.

use std::time::Duration;

/// Limits on connections and requests.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body: usize,
    /// Bytes of the bodies of all requests in flight; further bytes wait to be read.
    pub bodies: usize,
    /// Time for a request's body to arrive.
    pub body_timeout: Duration,
    /// Time for the head of a request to arrive, and for a connection to lie idle; a check that comes at intervals of
    /// this length may let it lie for up to twice as long.
    pub header_timeout: Duration,
    /// Time for which a client may leave unread what was sent to it.
    pub write_timeout: Duration,
    /// Connections open at a time; further ones wait to be accepted.
    pub connections: usize,
    /// `subscriptions/listen` streams open at a time.
    pub subscriptions: usize,
    /// Time to go on accepting when the program stops, while load balancers take note.
    pub drain_delay: Duration,
    /// Time for requests in flight to finish after that.
    pub shutdown_timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            bodies: 64 << 20,
            body_timeout: Duration::from_secs(30),
            header_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            connections: 1000,
            subscriptions: 200,
            drain_delay: Duration::ZERO,
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}
