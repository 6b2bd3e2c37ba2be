//! Server-sent events: a stream that says something at its start and at its end, and in between only that it is alive.

use std::time::Duration;

use bytes::Bytes;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, watch},
    time::{Instant, interval_at},
};

use crate::body::Body;

/// Proxies cut connections on which nothing moves, most of them after a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of `first`, then comments, then `last` when `closing` closes. It ends early when the client goes away.
pub(crate) fn stream(
    first: &str,
    last: String,
    mut closing: watch::Receiver<()>,
    permit: OwnedSemaphorePermit,
) -> Body {
    let (events, body) = mpsc::channel(2);
    let first = event(first);
    tokio::spawn(async move {
        let _permit = permit;
        let mut message = first;
        let mut keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        while events.send(message).await.is_ok() {
            tokio::select! {
                _ = keep_alive.tick() => message = Bytes::from_static(b":\n\n"),
                _ = closing.changed() => {
                    let _ = events.send(event(&last)).await;
                    return;
                }
                () = events.closed() => return,
            }
        }
    });
    Body::Events(body)
}

/// One event; JSON on one line has no line ends to care for.
fn event(data: &str) -> Bytes {
    format!("data: {data}\n\n").into()
}
