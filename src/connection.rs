//! Serves one connection: as long as something happens on it, and to a clean end when the program stops.

use std::{convert::Infallible, net::Ipv4Addr, pin::pin, sync::Arc, time::Duration};

use hyper::{
    Version,
    header::{CONNECTION, HeaderValue},
    service::service_fn,
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{
    net::TcpStream,
    sync::{Semaphore, watch},
};
use tracing::debug;

use crate::{
    activity::{Activity, Watched, Work},
    http::{self, App},
    limits::Limits,
    stream::Stream,
};

/// Headers of a request, and their bytes in all.
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: u32 = 32 << 10;

/// Requests that one HTTP/2 connection may have in flight.
const MAX_STREAMS: u32 = 128;

/// How often an HTTP/2 connection is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// How long an idle connection may last when the program stops: what a client had sent by then is still read.
const LAST_CHANCE: Duration = Duration::from_millis(500);

/// What connections share.
pub(crate) struct Shared {
    app: App,
    http: auto::Builder<TokioExecutor>,
    /// One permit for each byte of a body in flight.
    memory: Semaphore,
}

impl Shared {
    pub(crate) fn new(app: App) -> Self {
        let http = protocols(&app.limits);
        // The largest body must fit.
        let memory = Semaphore::new(app.limits.bodies.max(app.limits.body).min(Semaphore::MAX_PERMITS));
        Self { app, http, memory }
    }
}

/// HTTP/1.1 and HTTP/2 with prior knowledge, told apart by the first bytes of a connection.
fn protocols(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut http = auto::Builder::new(TokioExecutor::new());
    http.http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEADER_BYTES as usize);
    http.http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_INTERVAL)
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(MAX_HEADER_BYTES);
    http
}

/// Serves one connection; `closing` closes when the program stops.
pub(crate) async fn serve(shared: Arc<Shared>, tcp: TcpStream, mut closing: watch::Receiver<()>) {
    // Answers are written whole; waiting for more to fill a packet would only delay them.
    let _ = tcp.set_nodelay(true);
    let _open = shared.app.metrics.connection();
    // Without one it is gone already.
    let peer = tcp.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
    let Limits { header_timeout, write_timeout, .. } = shared.app.limits;
    let activity = Arc::new(Activity::default());
    let stream = Stream::new(tcp, Arc::clone(&activity), write_timeout);
    let streams_closing = closing.clone();
    let service = service_fn(|request| {
        let work = Work::begin(&activity);
        let (shared, activity, closing) = (Arc::clone(&shared), Arc::clone(&activity), streams_closing.clone());
        async move {
            let version = request.version();
            let mut response = http::respond(&shared.app, &shared.memory, peer, request, closing.clone()).await;
            // An answer to who came last. Those on connections that hyper shuts down say so by themselves.
            if closing.has_changed().is_err() && version < Version::HTTP_2 {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            drop(work);
            Ok::<_, Infallible>(response.map(|body| Watched::new(body, activity)))
        }
    });
    let mut connection = pin!(shared.http.serve_connection(TokioIo::new(stream), service));
    let mut patience = header_timeout;
    let (mut is_closing, mut is_ending) = (false, false);
    loop {
        tokio::select! {
            biased;
            served = &mut connection => {
                if let Err(error) = served {
                    debug!(%error, "connection failed");
                }
                return;
            }
            _ = closing.changed(), if !is_closing => {
                is_closing = true;
                patience = LAST_CHANCE;
            }
            () = activity.idle(patience) => {
                if is_ending || !activity.has_asked() {
                    debug!("dropped an idle connection");
                    return;
                }
                if !is_closing {
                    patience = write_timeout;
                }
            }
        }
        // Who has not asked yet may just be about to.
        if activity.has_asked() {
            is_ending = true;
            connection.as_mut().graceful_shutdown();
        }
    }
}
