//! What happens on a connection, which tells whether it lies idle.

use std::{
    convert::Infallible,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::sleep;

use crate::body::Body;

/// Bytes that must be written for it to count. HTTP/2 sends a few now and then only to hear that the other side is
/// still there.
const MIN_WRITTEN: u64 = 1 << 10;

/// What happens on one connection.
#[derive(Default)]
pub(crate) struct Activity {
    /// Requests that are worked on, and streams that have nothing to say at the moment.
    at_work: AtomicUsize,
    /// Whether a write waits for the client, for which there is a limit of its own.
    is_blocked: AtomicBool,
    /// Goes up with each beginning and end of work.
    steps: AtomicU64,
    written: AtomicU64,
}

/// Something that the server is at work on.
pub(crate) struct Work(Arc<Activity>);

/// The body of an answer. While it has nothing to send, the server is at work on it; while the client does not take
/// what there is to send, it is not.
pub(crate) struct Watched {
    body: Body,
    activity: Arc<Activity>,
    work: Option<Work>,
}

impl Activity {
    /// Whether there ever was a request.
    pub(crate) fn has_asked(&self) -> bool {
        self.steps.load(Ordering::Relaxed) > 0
    }

    /// Returns when nothing has happened for this time, or up to as much again.
    pub(crate) async fn idle(&self, time: Duration) {
        let now = || (self.steps.load(Ordering::Relaxed), self.written.load(Ordering::Relaxed));
        let (mut steps, mut written) = now();
        loop {
            sleep(time).await;
            let (steps_before, written_before) = (steps, written);
            (steps, written) = now();
            let moves = steps != steps_before || written - written_before >= MIN_WRITTEN;
            let is_at_work = self.at_work.load(Ordering::Relaxed) > 0 || self.is_blocked.load(Ordering::Relaxed);
            if !moves && !is_at_work {
                return;
            }
        }
    }

    /// Notes what was written.
    pub(crate) fn wrote(&self, bytes: usize) {
        self.is_blocked.store(false, Ordering::Relaxed);
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Notes that nothing more can be written; true if until now it could.
    pub(crate) fn block(&self) -> bool {
        !self.is_blocked.swap(true, Ordering::Relaxed)
    }
}

impl Work {
    pub(crate) fn begin(activity: &Arc<Activity>) -> Self {
        activity.at_work.fetch_add(1, Ordering::Relaxed);
        activity.steps.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(activity))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.steps.fetch_add(1, Ordering::Relaxed);
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Watched {
    pub(crate) fn new(body: Body, activity: Arc<Activity>) -> Self {
        Self { body, activity, work: None }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let watched = self.get_mut();
        let polled = Pin::new(&mut watched.body).poll_frame(cx);
        if polled.is_ready() {
            watched.work = None;
        } else if watched.work.is_none() {
            watched.work = Some(Work::begin(&watched.activity));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
