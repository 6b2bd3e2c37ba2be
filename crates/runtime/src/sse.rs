//! Server-sent events: a stream that says something at its start and at its end, and in between what news there is, or
//! that it is alive.

use std::{pin::pin, time::Duration};

use futures_util::{Stream, StreamExt};
use tokio::{
    sync::{mpsc, watch},
    time::{Instant, interval_at},
};

use crate::body::Body;

/// Proxies cut connections on which nothing moves, most of them after a minute.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A stream of `first`, then of `news` with comments between, then of `last` when there will be no more news or
/// `closing` closes. It ends early when the client goes away. Until then it holds what there is one of for each stream.
pub(crate) fn stream(
    first: &str,
    news: impl Stream<Item = Vec<String>> + Send + 'static,
    last: String,
    mut closing: watch::Receiver<()>,
    held: impl Send + 'static,
) -> Body {
    let (events, body) = mpsc::channel(2);
    let first = event(first);
    tokio::spawn(async move {
        let _held = held;
        let mut news = pin!(news);
        let mut message = first;
        let mut keep_alive = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        while events.send(message.into()).await.is_ok() {
            let more = tokio::select! {
                _ = keep_alive.tick() => Some(":\n\n".to_owned()),
                messages = news.next() => messages.map(|messages| messages.iter().map(|data| event(data)).collect()),
                _ = closing.changed() => None,
                () = events.closed() => return,
            };
            match more {
                Some(more) => message = more,
                None => {
                    let _ = events.send(event(&last).into()).await;
                    return;
                }
            }
        }
    });
    Body::Events(body)
}

/// One event; JSON on one line has no line ends to care for.
fn event(data: &str) -> String {
    format!("data: {data}\n\n")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use futures_util::stream::{iter, pending};
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
        let permit = permits.clone().acquire_owned().await.unwrap();
        let mut body = stream("1", pending(), "2".to_owned(), closing, permit);
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
    #[tokio::test(start_paused = true)]
    async fn tells_what_is_new_and_ends_with_the_news() {
        let permits = Arc::new(Semaphore::new(1));
        let (_open, closing) = watch::channel(());
        let news = iter([vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]]);
        let permit = permits.clone().acquire_owned().await.unwrap();
        let mut body = stream("1", news, "2".to_owned(), closing, permit);
        for expected in ["data: 1\n\n", "data: a\n\ndata: b\n\n", "data: c\n\n", "data: 2\n\n"] {
            assert_eq!(next(&mut body).await.unwrap(), expected);
        }
        assert_eq!(next(&mut body).await, None);
        assert_eq!(permits.available_permits(), 1);
    }
}
