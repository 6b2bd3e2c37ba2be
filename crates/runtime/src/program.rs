//! The program: reads its flags, then serves or runs a command.

use std::{io, process::ExitCode};

use mcpress_catalog::Catalog;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    commands::{self, FAILED, UNUSABLE, surroundings},
    config::{Command, Config, Format, Import, Log, Starter},
    mcp::Site,
};

/// Runs the program with the content that was compiled into it, until it ends; a binary's `main` does nothing else.
///
/// # Panics
///
/// If the system does not let it start threads.
#[tokio::main]
pub async fn run(catalog: &Catalog) -> ExitCode {
    let hash = catalog.text(catalog.hash);
    let config = match Config::read(format!("{} (content {hash})", env!("CARGO_PKG_VERSION")), commands::escape) {
        Ok(config) => config,
        Err(error) => {
            // Help and version come this way too. If nobody reads them, nobody misses them.
            let _ = error.print();
            return if error.use_stderr() { UNUSABLE.into() } else { ExitCode::SUCCESS };
        }
    };
    start_logging(&config.log);
    match run_command(config.command, catalog).await {
        Ok(code) => code,
        Err(error) => {
            commands::error(error);
            FAILED.into()
        }
    }
}

async fn run_command(command: Command, content: &Catalog) -> io::Result<ExitCode> {
    match command {
        Command::Serve(flags) => commands::serve_compiled(content.clone(), &flags).await,
        Command::Dev { dir, poll, serve: flags } => commands::dev(&dir, poll, &flags).await,
        Command::List { slug, json } => commands::list(content, slug.as_deref(), json),
        Command::Read { slug, uri, fetch } => {
            let site = Site::new(content.clone(), surroundings(&fetch, 0)?).map_err(io::Error::other)?;
            commands::read(&site, &slug, &uri).await
        }
        Command::Token => commands::token(),
        Command::Check { dir, format, deny_warnings, live, fetch } => {
            let code = commands::check(&dir, format, deny_warnings)?;
            if !live || code != ExitCode::SUCCESS {
                return Ok(code);
            }
            let Some(catalog) = commands::compiled(&dir) else { return Ok(FAILED.into()) };
            let site = Site::new(catalog, surroundings(&fetch, 0)?).map_err(io::Error::other)?;
            commands::check_live(&site).await
        }
        Command::Diff { old, new, format, exit_code } => commands::diff(&old, &new, format, exit_code),
        Command::Import { from: Import::Getmcp { file, out, site } } => commands::getmcp(&file, &out, site.as_deref()),
        Command::New { starter: Starter::Server { slug, dir } } => commands::new_server(&dir, &slug),
        Command::New { starter: Starter::Resource { slug, path, kind, dir } } => {
            commands::new_resource(&dir, &slug, &path, kind)
        }
        Command::Schema { out: Some(out), .. } => commands::write_schemas(&out),
        Command::Schema { name, .. } => commands::print_schema(&name.unwrap_or_default()),
    }
}

fn start_logging(log: &Log) {
    // Libraries say nothing: they know paths and headers, and what matters of their errors is in our own lines.
    let own = Targets::new().with_target("mcpress_runtime", tracing::Level::from(log.log_level));
    // That a line of the log cannot be written is reported on stderr too, and there it panics.
    let lines = tracing_subscriber::fmt::layer().with_target(false).with_writer(io::stderr).log_internal_errors(false);
    let logs = tracing_subscriber::registry().with(own);
    match log.log_format {
        Format::Text => logs.with(lines.with_ansi(false)).init(),
        Format::Json => logs.with(lines.json().flatten_event(true).with_current_span(false)).init(),
    }
}
