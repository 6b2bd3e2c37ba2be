//! The program: reads its flags, then serves or runs a command. The only place that knows the compiled content.

mod commands;
mod config;
mod content;

use std::{
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
};

use mcpress::{
    fetch::Fetcher,
    http::App,
    mcp::{Missing, Site, Surroundings},
    server,
};
use mcpress_catalog::Catalog;
use tokio::net::TcpListener;
use tracing::info;

use crate::{
    commands::{FAILED, UNUSABLE},
    config::{Command, Config, Fetch, Format, Log, Serve},
    content::CATALOG,
};

#[tokio::main]
async fn main() -> ExitCode {
    let hash = CATALOG.text(CATALOG.hash);
    let config = match Config::read(format!("{} (content {hash})", env!("CARGO_PKG_VERSION"))) {
        Ok(config) => config,
        Err(error) => {
            // Help and version come this way too. If nobody reads them, nobody misses them.
            let _ = error.print();
            return if error.use_stderr() { UNUSABLE.into() } else { ExitCode::SUCCESS };
        }
    };
    start_logging(&config.log);
    match run(config.command).await {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: {error}");
            FAILED.into()
        }
    }
}

async fn run(command: Command) -> io::Result<ExitCode> {
    match command {
        Command::Serve(flags) => serve(CATALOG.clone(), &flags).await,
        Command::Dev { dir, serve: flags } => match commands::load(&dir) {
            Some(catalog) => serve(catalog, &flags).await,
            None => Ok(FAILED.into()),
        },
        Command::List { slug, json } => commands::list(&CATALOG, slug.as_deref(), json),
        Command::Read { slug, uri, fetch } => {
            let site = Site::new(CATALOG.clone(), surroundings(&fetch, 0)?).map_err(io::Error::other)?;
            commands::read(&site, &slug, &uri).await
        }
        Command::Check { dir, format, deny_warnings, live, fetch } => {
            let code = commands::check(&dir, format, deny_warnings)?;
            if !live || code != ExitCode::SUCCESS {
                return Ok(code);
            }
            let Some(catalog) = commands::compiled(&dir) else { return Ok(FAILED.into()) };
            let site = Site::new(catalog, surroundings(&fetch, 0)?).map_err(io::Error::other)?;
            commands::check_live(&site).await
        }
    }
}

/// Serves until a signal says to stop; a second one stops at once.
async fn serve(catalog: Catalog, flags: &Serve) -> io::Result<ExitCode> {
    let (listener, address, app) = match prepare(catalog, flags).await {
        Ok(prepared) => prepared,
        Err(message) => {
            let _ = writeln!(io::stderr(), "error: {message}");
            return Ok(UNUSABLE.into());
        }
    };
    let mut signals = Signals::install()?;
    print_addresses(address, &app.site)?;

    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let mut serving = std::pin::pin!(server::run(listener, app, async {
        let _ = stopped.await;
    }));
    tokio::select! {
        () = &mut serving => return Ok(ExitCode::SUCCESS),
        () = signals.next() => info!("stopping"),
    }
    let _ = stop.send(());
    tokio::select! {
        () = serving => Ok(ExitCode::SUCCESS),
        () = signals.next() => Ok(FAILED.into()),
    }
}

async fn prepare(catalog: Catalog, flags: &Serve) -> Result<(TcpListener, SocketAddr, App), String> {
    let access = flags.access()?;
    let limits = flags.limits();
    let surroundings = surroundings(&flags.fetch, limits.subscriptions).map_err(|error| error.to_string())?;
    let site = Site::new(catalog, surroundings).map_err(|error| error.to_string())?;
    if !site.missing().is_empty() {
        let lines = site.missing().iter().map(|Missing { name, place }| format!("\n  {name}, needed by {place}"));
        return Err(format!("variables are missing in the environment:{}", lines.collect::<String>()));
    }
    let unusable = |error: io::Error| format!("cannot listen on `{}`: {error}", flags.listen);
    let listener = TcpListener::bind(&flags.listen).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    if !address.ip().is_loopback() && access.is_loopback_only() {
        return Err(format!(
            "`{address}` can be reached from elsewhere, but only loopback names are allowed as `Host`\n  \
             hint: set --allowed-hosts or MCPRESS_ALLOWED_HOSTS to the names that clients use, such as \
             `mcp.example.com`, or to `*` where something in front of it checks them"
        ));
    }
    Ok((listener, address, App { site, access, limits }))
}

fn surroundings(flags: &Fetch, subscriptions: usize) -> io::Result<Surroundings> {
    let fetcher = Fetcher::new(&flags.config()).map_err(io::Error::other)?;
    Ok(Surroundings { fetcher, environment: config::environment(), subscriptions })
}

/// One line for each server. That nobody reads them is no reason not to serve.
fn print_addresses(address: SocketAddr, site: &Site) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let lines = site.servers().map(|(slug, _)| format!("http://{address}/mcp/{slug}\n")).collect::<String>();
    commands::unless_unread(out.write_all(lines.as_bytes()).and_then(|()| out.flush()))
}

fn start_logging(log: &Log) {
    // That a line of the log cannot be written is reported on stderr too, and there it panics.
    let logs = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::from(log.log_level))
        .with_writer(io::stderr)
        .log_internal_errors(false);
    match log.log_format {
        Format::Text => logs.with_ansi(false).init(),
        Format::Json => logs.json().init(),
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
