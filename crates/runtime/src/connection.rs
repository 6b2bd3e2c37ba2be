//! Serves one connection: as long as something happens on it, and to a clean end when the program stops.

use std::{convert::Infallible, net::IpAddr, pin::pin, sync::Arc, time::Duration};

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
    io::{AsyncRead, AsyncWrite},
    sync::{Semaphore, watch},
    time::sleep,
};
use tracing::debug;

use crate::{
    activity::{Activity, Watched, Work},
    http::{self, App, Connection},
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

/// How long a connection may last without a request in flight when the program stops: what a client sends meanwhile is
/// answered.
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

/// How far the end of the program has come; each closes when its time has come.
pub(crate) struct Ending {
    /// New connections are still accepted, but clients had better go elsewhere.
    pub(crate) draining: watch::Receiver<()>,
    /// Whatever is open ends.
    pub(crate) closing: watch::Receiver<()>,
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

/// Serves one connection.
///
/// A client that keeps a connection of HTTP/1.1 may send its next request at the moment in which the connection closes,
/// and then cannot know whether it was taken. So each answer in the drain delay says `Connection: close`, after which
/// the client sends nothing more. A connection of HTTP/2 can say at any time up to which request it answers, which is
/// done at the end, so that clients do not come back to a program that is about to go.
pub(crate) async fn serve(
    shared: Arc<Shared>,
    stream: impl AsyncRead + AsyncWrite + Unpin + 'static,
    peer: IpAddr,
    ending: Ending,
) {
    let _open = shared.app.metrics.connection();
    let Ending { draining, closing } = ending;
    let Limits { header_timeout, write_timeout, .. } = shared.app.limits;
    let activity = Arc::new(Activity::default());
    let stream = Stream::new(stream, Arc::clone(&activity), write_timeout);
    let mut connection_closing = closing.clone();
    let service = service_fn(|request| {
        let work = Work::begin(&activity);
        let (shared, activity) = (Arc::clone(&shared), Arc::clone(&activity));
        let (draining, closing) = (draining.clone(), closing.clone());
        async move {
            let version = request.version();
            let connection = Connection { peer, closing };
            let mut response = http::respond(&shared.app, &shared.memory, connection, request).await;
            if draining.has_changed().is_err() && version < Version::HTTP_2 {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            drop(work);
            Ok::<_, Infallible>(response.map(|body| Watched::new(body, activity)))
        }
    });
    let mut connection = pin!(shared.http.serve_connection(TokioIo::new(stream), service));
    let mut last_chance = pin!(async {
        let _ = connection_closing.changed().await;
        sleep(LAST_CHANCE).await;
    });
    let (mut patience, mut is_last, mut is_ending) = (header_timeout, false, false);
    loop {
        tokio::select! {
            biased;
            served = &mut connection => {
                if let Err(error) = served {
                    debug!(%error, "connection failed");
                }
                return;
            }
            () = &mut last_chance, if !is_last => {
                is_last = true;
                patience = LAST_CHANCE;
            }
            () = activity.idle(patience) => {
                if is_ending {
                    debug!("dropped an idle connection");
                    return;
                }
                if !is_last {
                    patience = write_timeout;
                }
            }
        }
        if !activity.has_asked() {
            debug!("dropped a connection without a request");
            return;
        }
        is_ending = true;
        connection.as_mut().graceful_shutdown();
    }
}
