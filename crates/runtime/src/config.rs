//! Flags and the environment, read and checked once.

use std::{collections::HashMap, env, ffi::OsString, num::IntErrorKind, path::PathBuf, time::Duration};

use clap::{
    Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::{FalseyValueParser, Resettable},
    error::ErrorKind,
};

use crate::{access::Access, fetch, forwarded::TrustedProxies, limits::Limits};

/// Serves the content that was compiled into it over the Model Context Protocol.
///
/// Each folder of the content is a server of its own at /mcp/{slug}, for clients of every revision of MCP from
/// 2024-11-05 to 2026-07-28. Without a command it serves; the addresses are printed on stdout, logs go to stderr.
#[derive(Parser)]
#[command(name = "mcpress")]
pub(crate) struct Config {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) log: Log,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Serve the compiled content (the default)
    Serve(Serve),
    /// List the resources and templates of the compiled content
    List {
        /// Only those of this server
        slug: Option<String>,
        /// Print a JSON array of servers, each item as a client gets it
        #[arg(long)]
        json: bool,
    },
    /// Write the content of one resource to stdout, byte for byte
    Read {
        /// The server's slug
        slug: String,
        /// The resource's URI
        uri: String,
        #[command(flatten)]
        fetch: Fetch,
    },
    /// Check a content tree, as the build does
    Check {
        /// The content tree
        #[arg(default_value = "content")]
        dir: PathBuf,
        /// How to print what is found: text on stderr, or a JSON array on stdout
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
        /// Fail on warnings too
        #[arg(long, env = "MCPRESS_DENY_WARNINGS", value_parser = FalseyValueParser::new())]
        deny_warnings: bool,
        /// Then read each `url` and `wp_query` entry once, and say what came of it
        #[arg(long)]
        live: bool,
        #[command(flatten)]
        fetch: Fetch,
    },
    /// Show what differs between two content trees, as clients would see it
    Diff {
        /// The tree as it was
        old: PathBuf,
        /// The tree as it is
        new: PathBuf,
        /// How to show it: for a terminal, for programs, or for a comment on a merge request
        #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
        format: DiffFormat,
        /// End with 3 if there is a difference
        #[arg(long)]
        exit_code: bool,
    },
    /// Make a content tree of what another program exported
    Import {
        #[command(subcommand)]
        from: Import,
    },
    /// Make a bearer token for `auth` of a server
    Token,
    /// Serve a content tree from disk, without compiling it in, and reload it when it changes
    Dev {
        /// The content tree
        #[arg(default_value = "content")]
        dir: PathBuf,
        /// Look for changes twice a second, where the system does not tell of them: network drives, some containers
        #[arg(long, env = "MCPRESS_POLL", value_parser = FalseyValueParser::new())]
        poll: bool,
        #[command(flatten)]
        serve: Serve,
    },
    /// Write a commented starter that compiles as it is; nothing is overwritten
    New {
        #[command(subcommand)]
        starter: Starter,
    },
    /// Print the JSON Schema of a file, for editors
    Schema {
        /// `server` for server.yaml, `site` for site.yaml, `resource` for definitions
        #[arg(value_parser = ["server", "site", "resource"], required_unless_present = "out", conflicts_with = "out")]
        name: Option<String>,
        /// Write all of them into this folder instead
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

/// What `new` writes.
#[derive(Subcommand)]
pub(crate) enum Starter {
    /// A folder with a `server.yaml` and a first page
    Server {
        /// The folder's name, and the server's in /mcp/{slug}
        slug: String,
        /// The content tree
        #[arg(long, default_value = "content")]
        dir: PathBuf,
    },
    /// A file below the `resources/` of a server
    Resource {
        /// The server's slug
        slug: String,
        /// The file's path below `resources/`; the extension may be left out
        path: String,
        /// What the content comes from
        #[arg(long, value_enum)]
        kind: Kind,
        /// The content tree
        #[arg(long, default_value = "content")]
        dir: PathBuf,
    },
}

/// What a resource's content comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Content that is compiled in: a Markdown page, or a definition if PATH ends with `.yaml`
    Static,
    /// A definition of content that is fetched anew on each read
    Url,
    /// A definition of a WordPress query that is run anew on each read
    WpQuery,
}

/// What to import.
#[derive(Subcommand)]
pub(crate) enum Import {
    /// The export of the WordPress plugin GetMCP, a JSON file
    ///
    /// It becomes one folder in the content tree, which must not be there yet. What cannot be carried over is printed
    /// with the reason, and kept as comments; the exit code is then 3.
    Getmcp {
        /// The exported file
        file: PathBuf,
        /// The content tree to put the server's folder into
        #[arg(long, default_value = "content", value_name = "DIR")]
        out: PathBuf,
        /// Where queries for posts are asked: the address of the site's home page
        #[arg(long, value_name = "URL")]
        site: Option<String>,
    },
}

/// How to serve.
#[derive(Args)]
pub(crate) struct Serve {
    /// Address and port; port 0 takes a free one
    #[arg(long, env = "MCPRESS_LISTEN", default_value = "127.0.0.1:8080", value_name = "ADDRESS")]
    pub(crate) listen: String,
    /// Address and port for Prometheus, at /metrics; without it there are no metrics
    #[arg(long, env = "MCPRESS_METRICS_LISTEN", value_name = "ADDRESS")]
    pub(crate) metrics_listen: Option<String>,
    /// Hosts that requests may name besides the loopback names, comma separated: `name`, `name:port`, or `*`
    #[arg(long, env = "MCPRESS_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOSTS")]
    allowed_hosts: Vec<String>,
    /// Origins of browsers besides those of allowed hosts, comma separated: `https://name[:port]`, or `*`
    #[arg(long, env = "MCPRESS_ALLOWED_ORIGINS", value_delimiter = ',', value_name = "ORIGINS")]
    allowed_origins: Vec<String>,
    /// Proxies whose `X-Forwarded-For` says who asks, comma separated: addresses, or networks such as `10.0.0.0/8`
    #[arg(long, env = "MCPRESS_TRUSTED_PROXIES", value_delimiter = ',', value_name = "ADDRESSES")]
    trusted_proxies: Vec<String>,
    /// How long to go on accepting after SIGTERM, while load balancers take note
    #[arg(long, env = "MCPRESS_DRAIN_DELAY", default_value = "0s", value_parser = drain_delay, value_name = "TIME")]
    drain_delay: Duration,
    /// How long requests in flight may then take
    #[arg(long, env = "MCPRESS_SHUTDOWN_TIMEOUT", default_value = "10s", value_parser = duration, value_name = "TIME")]
    shutdown_timeout: Duration,
    /// Largest body of a request: bytes, or with KiB or MiB
    #[arg(long, env = "MCPRESS_MAX_BODY", default_value = "1MiB", value_parser = size, value_name = "SIZE")]
    max_body: usize,
    /// How long a body may take to arrive
    #[arg(long, env = "MCPRESS_BODY_TIMEOUT", default_value = "30s", value_parser = some_time, value_name = "TIME")]
    body_timeout: Duration,
    /// How long the head of a request may take to arrive, and a connection may lie idle
    #[arg(long, env = "MCPRESS_HEADER_TIMEOUT", default_value = "30s", value_parser = some_time, value_name = "TIME")]
    header_timeout: Duration,
    /// How long a client may leave unread what was sent to it
    #[arg(long, env = "MCPRESS_WRITE_TIMEOUT", default_value = "30s", value_parser = some_time, value_name = "TIME")]
    write_timeout: Duration,
    /// Connections at a time; further ones wait
    #[arg(long, env = "MCPRESS_MAX_CONNECTIONS", default_value = "1000", value_parser = positive, value_name = "COUNT")]
    max_connections: usize,
    /// Streams of `subscriptions/listen` at a time
    #[arg(long, env = "MCPRESS_MAX_SUBSCRIPTIONS", default_value = "200", value_name = "COUNT")]
    max_subscriptions: usize,
    #[command(flatten)]
    pub(crate) fetch: Fetch,
}

/// How to fetch what is not in the content.
#[derive(Args)]
pub(crate) struct Fetch {
    /// A file with certificates to trust beside the usual ones, as PEM
    #[arg(long, env = "MCPRESS_CA_FILE", value_name = "FILE")]
    ca_file: Option<PathBuf>,
    /// Fetch by way of this proxy; that of the system is never used
    #[arg(long, env = "MCPRESS_PROXY", value_name = "URL")]
    proxy: Option<String>,
    /// Fetches at a time
    #[arg(long, env = "MCPRESS_MAX_FETCHES", default_value = "128", value_parser = positive, value_name = "COUNT")]
    max_fetches: usize,
    /// Fetches at a time that ask one host
    #[arg(long, env = "MCPRESS_MAX_FETCHES_PER_HOST", default_value = "32", value_parser = positive, value_name = "COUNT")]
    max_fetches_per_host: usize,
}

impl Fetch {
    pub(crate) fn config(&self) -> fetch::Config {
        fetch::Config {
            ca_file: self.ca_file.clone(),
            proxy: self.proxy.clone(),
            max_fetches: self.max_fetches,
            max_fetches_per_host: self.max_fetches_per_host,
            ..fetch::Config::default()
        }
    }
}

/// The environment, for `${NAME}` in the content; what is not UTF-8 counts as missing.
pub(crate) fn environment() -> HashMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

/// What to log.
#[derive(Args)]
pub(crate) struct Log {
    /// How to write logs
    #[arg(long, global = true, env = "MCPRESS_LOG_FORMAT", value_enum, default_value_t = Format::Text)]
    pub(crate) log_format: Format,
    /// Least severe level to log; `debug` has one line for each request
    #[arg(long, global = true, env = "MCPRESS_LOG_LEVEL", value_enum, default_value_t = Level::Info)]
    pub(crate) log_level: Level,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    Text,
    Json,
    Markdown,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

impl Config {
    /// Reads flags and environment; `version` is what `--version` says after the program's name.
    ///
    /// # Errors
    /// What cannot be read, or the text that was asked for; both print themselves. What was given is shown as `escape`
    /// shows it.
    pub(crate) fn read(version: String, escape: fn(&str) -> String) -> Result<Self, clap::Error> {
        let mut arguments: Vec<OsString> = env::args_os().collect();
        let mut command = <Self as CommandFactory>::command().version(version);
        match first_own(&arguments).as_deref() {
            // The flags of `serve` are those of the program too. They are only known here where they are only shown:
            // what the environment says of them is nothing to other commands.
            Some("-h" | "--help" | "help") => {
                let about = command.get_about().cloned().unwrap_or_default();
                let long_about = command.get_long_about().cloned().unwrap_or_default();
                // It also takes over what `Serve` says of itself.
                command = Serve::augment_args(command).about(about).long_about(long_about);
            }
            Some("-V" | "--version") => {}
            Some(argument) if !argument.starts_with('-') => {}
            _ => arguments.insert(arguments.len().min(1), "serve".into()),
        }
        let mut command = without_empty_variables(command);
        match command.try_get_matches_from_mut(&arguments) {
            Ok(matches) => Self::from_arg_matches(&matches),
            Err(error) if !error.use_stderr() => Err(error),
            // The same fault again, found in arguments that hold nothing which could move what stands around it.
            Err(_) => {
                let shown = |argument: &OsString| {
                    argument.to_str().map_or_else(|| argument.clone(), |text| escape(text).into())
                };
                match command.try_get_matches_from_mut(arguments.iter().map(shown)) {
                    Err(error) => Err(error),
                    Ok(_) => Err(command.error(ErrorKind::InvalidValue, "an argument holds a control character")),
                }
            }
        }
    }
}

/// The first argument that is none of the flags which every command takes, if there is one.
fn first_own(arguments: &[OsString]) -> Option<String> {
    let mut arguments = arguments.iter().skip(1).map(|argument| argument.to_string_lossy());
    while let Some(argument) = arguments.next() {
        match argument.split('=').next() {
            Some("--log-format" | "--log-level") if argument.contains('=') => {}
            Some("--log-format" | "--log-level") => drop(arguments.next()),
            _ => return Some(argument.into_owned()),
        }
    }
    None
}

/// A variable that is set to nothing counts as not set.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let is_empty = |arg: &Arg| arg.get_env().and_then(env::var_os).is_some_and(|value| value.is_empty());
    command
        .mut_args(|arg| if is_empty(&arg) { arg.env(Resettable::Reset) } else { arg })
        .mut_subcommands(without_empty_variables)
}

impl Serve {
    /// Who may ask.
    ///
    /// # Errors
    /// An entry that is no host or origin.
    pub(crate) fn access(&self) -> Result<Access, String> {
        Access::new(&self.allowed_hosts, &self.allowed_origins)
    }

    /// Who speaks for others.
    ///
    /// # Errors
    /// An entry that is no address and no network.
    pub(crate) fn trusted_proxies(&self) -> Result<TrustedProxies, String> {
        TrustedProxies::new(&self.trusted_proxies)
    }

    pub(crate) fn limits(&self) -> Limits {
        Limits {
            body: self.max_body,
            body_timeout: self.body_timeout,
            header_timeout: self.header_timeout,
            write_timeout: self.write_timeout,
            connections: self.max_connections,
            subscriptions: self.max_subscriptions,
            drain_delay: self.drain_delay,
            shutdown_timeout: self.shutdown_timeout,
            ..Limits::default()
        }
    }
}

impl From<Level> for tracing::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::ERROR,
            Level::Warn => Self::WARN,
            Level::Info => Self::INFO,
            Level::Debug => Self::DEBUG,
            Level::Trace => Self::TRACE,
        }
    }
}

/// No time that this program waits is longer.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

/// Orchestrators kill what takes longer to stop, so more than this is a slip.
const MAX_DRAIN_DELAY: Duration = Duration::from_secs(60 * 60);

/// `250ms`, `10s`, `5m` or `2h`.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let milliseconds = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err("write it as `250ms`, `10s`, `5m` or `2h`".to_owned()),
    };
    match Duration::from_millis(scaled(number, milliseconds)?) {
        time if time > MAX_TIME => Err("it is longer than `24h`".to_owned()),
        time => Ok(time),
    }
}

/// A time within which something can happen.
fn some_time(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be longer than 0".to_owned()),
        time => Ok(time),
    }
}

fn drain_delay(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        time if time > MAX_DRAIN_DELAY => Err("it is longer than `1h`".to_owned()),
        time => Ok(time),
    }
}

/// Bytes, `512KiB` or `5MiB`; more than none.
fn size(text: &str) -> Result<usize, String> {
    let (number, unit) = split_unit(text);
    let bytes = match unit {
        "" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        _ => return Err("write it as bytes, `512KiB` or `5MiB`".to_owned()),
    };
    match scaled(number, bytes)? {
        0 => Err("it must be larger than 0".to_owned()),
        bytes => usize::try_from(bytes).map_err(|_| TOO_LARGE.to_owned()),
    }
}

fn positive(text: &str) -> Result<usize, String> {
    match scaled(text, 1)? {
        0 => Err("it must be a number above 0".to_owned()),
        number => usize::try_from(number).map_err(|_| TOO_LARGE.to_owned()),
    }
}

const TOO_LARGE: &str = "it is too large";

fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

fn scaled(number: &str, unit: u64) -> Result<u64, String> {
    let number = number.parse::<u64>().map_err(|error| match error.kind() {
        IntErrorKind::PosOverflow => TOO_LARGE.to_owned(),
        _ => "it must be a number, or begin with one".to_owned(),
    })?;
    number.checked_mul(unit).ok_or_else(|| TOO_LARGE.to_owned())
}
