//! Accepts connections, bounds how many there are and how long they may idle, and lets them finish at the end.

use std::{
    convert::Infallible,
    future::pending,
    io,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{
        conn::auto,
        graceful::{GracefulShutdown, Watcher},
    },
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use crate::{
    http::{self, App},
    limits::Limits,
};

/// Headers of a request, and their bytes in all.
const MAX_HEADERS: usize = 64;
const MAX_HEADER_BYTES: u32 = 32 << 10;

/// Requests that one HTTP/2 connection may have in flight.
const MAX_STREAMS: u32 = 128;

/// How often an HTTP/2 connection is asked whether it is still there, and how long it may take to say so.
const PING_INTERVAL: Duration = Duration::from_secs(20);

/// How long to wait after the first failure to accept, such as for want of file descriptors.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Serves until `shutdown` is there, then takes no new connection, ends streams, and returns when all requests in
/// flight are answered, or when that takes too long.
pub async fn run(listener: TcpListener, app: App, shutdown: impl Future<Output = ()>) {
    let http = protocols(&app.limits);
    let slots = Arc::new(Semaphore::new(app.limits.connections.min(Semaphore::MAX_PERMITS)));
    let shutdown_timeout = app.limits.shutdown_timeout;
    // The largest body must fit.
    let memory = Semaphore::new(app.limits.bodies.max(app.limits.body).min(Semaphore::MAX_PERMITS));
    let shared = Arc::new(Shared { app, http, memory });
    let connections = GracefulShutdown::new();
    let (open, closing) = watch::channel(());

    let mut shutdown = pin!(shutdown);
    let mut pause = FIRST_PAUSE;
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        match accepted {
            Ok((stream, slot)) => {
                pause = FIRST_PAUSE;
                let (shared, closing, watcher) = (Arc::clone(&shared), closing.clone(), connections.watcher());
                tokio::spawn(async move {
                    serve(shared, stream, closing, watcher).await;
                    drop(slot);
                });
            }
            // The connection that was to be accepted is gone, which says nothing of the next one.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                warn!(%error, "cannot accept connections; trying again");
                tokio::select! {
                    () = &mut shutdown => break,
                    () = sleep(pause) => pause = (pause * 2).min(Duration::from_secs(1)),
                }
            }
        }
    }
    drop(listener);
    drop(open);
    if timeout(shutdown_timeout, connections.shutdown()).await.is_err() {
        warn!("some requests did not finish in time");
    }
}

/// Waits for a free slot, then for a connection.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
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

/// What connections share.
struct Shared {
    app: App,
    http: auto::Builder<TokioExecutor>,
    /// One permit for each byte of a body in flight.
    memory: Semaphore,
}

/// Serves one connection.
async fn serve(shared: Arc<Shared>, stream: TcpStream, closing: watch::Receiver<()>, watcher: Watcher) {
    // Answers are written whole; waiting for more to fill a packet would only delay them.
    let _ = stream.set_nodelay(true);
    let has_asked = AtomicBool::new(false);
    let service = service_fn(|request| {
        has_asked.store(true, Ordering::Relaxed);
        let (shared, closing) = (Arc::clone(&shared), closing.clone());
        async move { Ok::<_, Infallible>(http::respond(&shared.app, &shared.memory, request, closing).await) }
    });
    let connection = watcher.watch(shared.http.serve_connection(TokioIo::new(stream), service));
    // Hyper's own timeout begins with the first bytes of HTTP/1.1.
    let overdue = async {
        sleep(shared.app.limits.header_timeout).await;
        if has_asked.load(Ordering::Relaxed) {
            pending::<()>().await;
        }
    };
    tokio::select! {
        served = connection => {
            if let Err(error) = served {
                debug!(%error, "connection failed");
            }
        }
        () = overdue => debug!("connection without a request"),
    }
}
