//! Accepts connections, bounds how many there are, and lets them finish at the end.

use std::{convert::Infallible, io, net::Ipv4Addr, pin::pin, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::{sleep, timeout},
};
use tracing::warn;

use crate::{
    connection::{self, Ending, Shared},
    http::App,
    limits::Limits,
};

/// How long to wait after the first failure to accept, such as for want of file descriptors.
const FIRST_PAUSE: Duration = Duration::from_millis(10);

/// Serves until `shutdown` is there, and for the drain delay asks clients to connect anew, elsewhere if they can. Then
/// takes no new connection, ends streams, and returns when all requests in flight are answered, or when that takes too
/// long.
pub async fn run(listener: TcpListener, app: App, shutdown: impl Future<Output = ()>) {
    let slots = Arc::new(Semaphore::new(app.limits.connections.min(Semaphore::MAX_PERMITS)));
    app.metrics.allows_connections(app.limits.connections);
    let Limits { drain_delay, shutdown_timeout, .. } = app.limits;
    let shared = Arc::new(Shared::new(app));
    let (stay, draining) = watch::channel(());
    let (open, closing) = watch::channel(());
    // Closes when the last connection has ended.
    let (alive, mut ended) = mpsc::channel::<Infallible>(1);
    let serve = |stream: TcpStream, slot| {
        let (shared, alive) = (Arc::clone(&shared), alive.clone());
        let ending = Ending { draining: draining.clone(), closing: closing.clone() };
        // Answers are written whole; waiting for more to fill a packet would only delay them.
        let _ = stream.set_nodelay(true);
        // Without one it is gone already.
        let peer = stream.peer_addr().map_or(Ipv4Addr::UNSPECIFIED.into(), |peer| peer.ip());
        tokio::spawn(async move {
            connection::serve(shared, stream, peer, ending).await;
            drop((slot, alive));
        });
    };

    let mut shutdown = pin!(async {
        shutdown.await;
        drop(stay);
        sleep(drain_delay).await;
    });
    let mut pause = FIRST_PAUSE;
    loop {
        let accepted = tokio::select! {
            () = &mut shutdown => break,
            accepted = accept(&listener, &slots) => accepted,
        };
        match accepted {
            Ok((stream, slot)) => {
                pause = FIRST_PAUSE;
                serve(stream, slot);
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
    drop(open);
    // Who had connected by now is answered; closing the listener would reset them.
    if let Err(error) = accept_rest(listener, &slots, serve) {
        warn!(%error, "cannot accept the last connections");
    }
    drop(alive);
    if timeout(shutdown_timeout, ended.recv()).await.is_err() {
        warn!("some requests did not finish in time");
    }
}

/// Serves one connection that runs over something else than a socket, such as a pipe to measure with, until it ends.
pub async fn serve_one(app: App, stream: impl AsyncRead + AsyncWrite + Unpin + 'static) {
    let (_stay, draining) = watch::channel(());
    let (_open, closing) = watch::channel(());
    let ending = Ending { draining, closing };
    connection::serve(Arc::new(Shared::new(app)), stream, Ipv4Addr::LOCALHOST.into(), ending).await;
}

/// Waits for a free slot, then for a connection.
async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.map_err(io::Error::other)?;
    let (stream, _) = listener.accept().await?;
    Ok((stream, slot))
}

/// Accepts what is there already, as far as there are slots, and closes the listener.
fn accept_rest(
    listener: TcpListener,
    slots: &Arc<Semaphore>,
    serve: impl Fn(TcpStream, OwnedSemaphorePermit),
) -> io::Result<()> {
    let listener = listener.into_std()?;
    while let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                serve(TcpStream::from_std(stream)?, slot);
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
