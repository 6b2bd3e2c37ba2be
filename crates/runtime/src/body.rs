//! The body of a response: frames that are there already, or events that are still to come.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::mpsc;

use crate::{coding::Compressing, jsonrpc::Frames};

/// The body of a response.
pub(crate) enum Body {
    /// One JSON-RPC response. Each frame goes to the socket uncopied; those that were sent are empty.
    Response(Frames),
    /// Any number of frames.
    Frames(VecDeque<Bytes>),
    /// Frames that are compressed as they are sent.
    Compressed(Box<Compressing>),
    /// Frames as they come, until the sender is dropped.
    Events(mpsc::Receiver<Bytes>),
}

impl Body {
    pub(crate) fn empty() -> Self {
        Self::Response(Default::default())
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Response([bytes, Bytes::new(), Bytes::new()])
    }
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let frame = match self.get_mut() {
            Self::Response(frames) => frames.iter_mut().find(|frame| !frame.is_empty()).map(std::mem::take),
            Self::Frames(frames) => frames.pop_front(),
            Self::Compressed(compressing) => compressing.next(),
            Self::Events(events) => ready!(events.poll_recv(cx)),
        };
        Poll::Ready(frame.map(|frame| Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Response(frames) => frames.iter().all(Bytes::is_empty),
            Self::Frames(frames) => frames.is_empty(),
            Self::Compressed(compressing) => compressing.is_done(),
            Self::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        let size = |frame: &Bytes| frame.len() as u64;
        match self {
            Self::Response(frames) => SizeHint::with_exact(frames.iter().map(size).sum()),
            Self::Frames(frames) => SizeHint::with_exact(frames.iter().map(size).sum()),
            Self::Compressed(_) | Self::Events(_) => SizeHint::default(),
        }
    }
}
