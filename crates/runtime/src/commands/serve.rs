//! `mcpress serve`: from flags to a listening socket, and from signals to its end. `dev` serves in the same way.

use std::{
    collections::BTreeSet,
    future::pending,
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    sync::Arc,
};

use mcpress_catalog::Catalog;
use mcpress_compiler::escape;
use tokio::{net::TcpListener, sync::watch};
use tracing::info;

use super::{FAILED, surroundings, unless_unread, unusable};
use crate::{
    config::Serve,
    exporter,
    http::App,
    mcp::{Missing, Site},
    server,
};

/// Serves a catalog that stays as it is.
pub(crate) async fn serve_compiled(catalog: Catalog, flags: &Serve) -> io::Result<ExitCode> {
    let site = match surroundings(&flags.fetch, flags.limits().subscriptions).map(|all| Site::new(catalog, all)) {
        Ok(Ok(site)) => site,
        Ok(Err(error)) => return Ok(unusable(error)),
        Err(error) => return Ok(unusable(error)),
    };
    if !site.missing().is_empty() {
        let code = unusable("variables are missing in the environment:");
        for Missing { name, place } in site.missing() {
            let _ = writeln!(io::stderr(), "  {name}, needed by {}", escape(place));
        }
        return Ok(code);
    }
    // Nothing else is ever published.
    let (_, site) = watch::channel(Arc::new(site));
    serve(site, flags).await
}

/// Serves what was published last, until a signal says to stop; a second one stops at once.
pub(crate) async fn serve(site: watch::Receiver<Arc<Site>>, flags: &Serve) -> io::Result<ExitCode> {
    let (listener, metrics_listener, app) = match prepare(site.clone(), flags).await {
        Ok(prepared) => prepared,
        Err(message) => return Ok(unusable(message)),
    };
    let mut signals = Signals::install()?;
    let addresses = Addresses::of(&listener, metrics_listener.as_ref())?;
    if let Some(listener) = metrics_listener {
        // Until the program ends, so that the end is seen too.
        tokio::spawn(exporter::run(listener, app.metrics.clone()));
    }
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut serving = std::pin::pin!(server::run(listener, app, async {
        let _ = stopped.await;
    }));
    tokio::select! {
        biased;
        error = addresses.print(site) => return Err(error),
        () = &mut serving => return Ok(ExitCode::SUCCESS),
        () = signals.next() => info!("stopping"),
    }
    let _ = stop.send(());
    tokio::select! {
        () = serving => Ok(ExitCode::SUCCESS),
        () = signals.next() => Ok(FAILED.into()),
    }
}

async fn prepare(
    site: watch::Receiver<Arc<Site>>,
    flags: &Serve,
) -> Result<(TcpListener, Option<TcpListener>, App), String> {
    let (access, proxies) = (flags.access()?, flags.trusted_proxies()?);
    let (listener, address) = listen(&flags.listen).await?;
    if !address.ip().is_loopback() && access.is_loopback_only() {
        return Err(format!(
            "`{address}` can be reached from elsewhere, but only loopback names are allowed as `Host`\n  \
             hint: set --allowed-hosts or MCPRESS_ALLOWED_HOSTS to the names that clients use, such as \
             `mcp.example.com`, or to `*` where something in front of it checks them"
        ));
    }
    let metrics_listener = match &flags.metrics_listen {
        Some(address) => Some(listen(address).await?.0),
        None => None,
    };
    let metrics = Arc::clone(site.borrow().metrics());
    Ok((listener, metrics_listener, App { site, access, proxies, limits: flags.limits(), metrics }))
}

async fn listen(address: &str) -> Result<(TcpListener, SocketAddr), String> {
    let unusable = |error: io::Error| format!("cannot listen on `{address}`: {error}");
    let listener = TcpListener::bind(address).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    Ok((listener, address))
}

/// Where the program can be asked.
struct Addresses {
    servers: SocketAddr,
    metrics: Option<SocketAddr>,
}

impl Addresses {
    fn of(servers: &TcpListener, metrics: Option<&TcpListener>) -> io::Result<Self> {
        Ok(Self { servers: servers.local_addr()?, metrics: metrics.map(TcpListener::local_addr).transpose()? })
    }

    /// Prints one line for each server, when it is first there, and one for the metrics behind the first of them. That
    /// nobody reads them is no reason not to serve. Ends only if they cannot be written.
    async fn print(self, mut site: watch::Receiver<Arc<Site>>) -> io::Error {
        let Self { servers: address, mut metrics } = self;
        let mut printed = BTreeSet::new();
        loop {
            let now = Arc::clone(&site.borrow_and_update());
            now.metrics().serves(now.catalog().text(now.catalog().hash));
            let new = now.servers().filter(|(slug, _)| printed.insert((*slug).to_owned()));
            let mut lines = new.map(|(slug, _)| format!("http://{address}/mcp/{slug}\n")).collect::<String>();
            if let Some(address) = metrics.take() {
                lines.push_str(&format!("http://{address}/metrics\n"));
            }
            let mut out = io::stdout().lock();
            if let Err(error) = unless_unread(out.write_all(lines.as_bytes()).and_then(|()| out.flush())) {
                return error;
            }
            drop(out);
            if site.changed().await.is_err() {
                // Nothing will be published any more.
                pending::<()>().await;
            }
        }
    }
}

/// What asks the program to stop.
struct Signals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Signals {
    #[cfg(unix)]
    fn install() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
