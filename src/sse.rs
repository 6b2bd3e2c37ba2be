//! Server-sent events: a stream that says something at its start and at its end, and in between only that it is alive.

use std::time::Duration;

use bytes::Bytes;
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, interval_at},
};

use crate::body::Body;

/// Proxies cut connections on which nothing moves, most of them after a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of `first`, then comments, then `last` when `closing` closes. It ends early when the client goes away.
/// Until then it holds what there is one of for each stream.
pub(crate) fn stream(first: &str, last: String, mut closing: watch::Receiver<()>, held: impl Send + 'static) -> Body {
    let (events, body) = mpsc::channel(2);
    let first = event(first);
    tokio::spawn(async move {
        let _held = held;
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use http_body_util::BodyExt;
    use tokio::sync::Semaphore;

    use super::*;

    async fn next(body: &mut Body) -> Option<Bytes> {
        body.frame().await.map(|frame| frame.unwrap().into_data().unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_alive_until_it_closes() {
        let permits = Arc::new(Semaphore::new(1));
        let (open, closing) = watch::channel(());
        let mut body = stream("1", "2".to_owned(), closing, permits.clone().acquire_owned().await.unwrap());
        let start = Instant::now();
        assert_eq!(next(&mut body).await.unwrap(), "data: 1\n\n");
        assert_eq!(start.elapsed(), Duration::ZERO);
        for count in 1..4 {
            assert_eq!(next(&mut body).await.unwrap(), ":\n\n");
            assert_eq!(start.elapsed().as_secs(), KEEP_ALIVE.as_secs() * count);
        }
        assert_eq!(permits.available_permits(), 0);
        drop(open);
        assert_eq!(next(&mut body).await.unwrap(), "data: 2\n\n");
        assert_eq!(next(&mut body).await, None);
        assert_eq!(permits.available_permits(), 1);
    }
}
