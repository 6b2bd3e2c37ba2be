//! How many instructions the program takes for a request, without sockets, as Valgrind counts them: the same number in
//! every run, whatever else the machine does.
//!
//! A connection runs over a pipe in one thread, and its other end asks. What an answer costs is the difference of two
//! runs that ask a different number of times; the little that the asking end does is part of it. A number that is more
//! than 3 % over its budget fails.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "figures and what is wrong with them are printed")]

use std::{
    collections::BTreeMap,
    fs, io,
    process::{Command, ExitCode},
    sync::Arc,
};

use clap::{Parser, Subcommand};
use mcpress_bench::{Case, Content};
use mcpress_runtime::{
    fetch::{self, Fetcher},
    http::App,
    mcp::{Site, Surroundings},
    server,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    runtime::Runtime,
    sync::watch,
};

/// Counts instructions, and compares them with the budget.
#[derive(Parser)]
struct Flags {
    #[command(subcommand)]
    role: Option<Role>,
    /// Write what was counted as the new budget
    #[arg(long)]
    write: bool,
}

#[derive(Subcommand)]
enum Role {
    /// Ask so many times; this is what runs in Valgrind
    Ask { case: String, times: usize },
}

const BUDGET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/budget.json");

/// As a share of the budget.
const TOLERANCE: f64 = 0.03;

/// How often a run asks, and how often a longer one.
const TIMES: [usize; 2] = [50, 250];

/// Entries of the list of which a page is asked for.
const LISTED: usize = 100;

/// Name in the budget, and bytes of a request.
fn cases() -> BTreeMap<String, Vec<u8>> {
    let host = "127.0.0.1";
    let all = Case::all();
    let named = |name: &str| all.iter().find(|case| case.name.starts_with(name)).map(Case::question);
    let mut refused = named("read 10 kB");
    if let Some(refused) = &mut refused {
        refused.headers.retain(|(name, _)| name != "mcp-name");
        refused.headers.push(("mcp-name".to_owned(), "sizes://other".to_owned()));
    }
    let cases = [
        ("read 10 kB", named("read 10 kB")),
        ("read 10 kB, 2025-06-18", named("read 10 kB, 2025-06-18")),
        ("read 10 kB, gzip", named("read 10 kB, gzip")),
        ("list of 100", named("list of")),
        ("read of an unknown URI", named("read of an unknown URI")),
        ("a header that does not match", refused),
    ];
    cases.into_iter().filter_map(|(name, question)| Some((name.to_owned(), question?.bytes(host)))).collect()
}

fn main() -> ExitCode {
    let flags = Flags::parse();
    let done = match &flags.role {
        None => compare(flags.write),
        Some(Role::Ask { case, times }) => match cases().get(case) {
            Some(request) => ask(request, *times),
            None => Err(io::Error::other("no such case")),
        },
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(writes: bool) -> io::Result<()> {
    let old: BTreeMap<String, u64> = match fs::read(BUDGET) {
        Ok(budget) => serde_json::from_slice(&budget)?,
        Err(_) => BTreeMap::new(),
    };
    let mut counted = BTreeMap::new();
    let mut is_over = false;
    println!("{:<34}{:>14}{:>10}{:>9}", "instructions for", "counted", "budget", "change");
    for name in cases().into_keys() {
        let [few, many] = TIMES.map(|times| count(&name, times));
        let each = (many? - few?) / (TIMES[1] - TIMES[0]) as u64;
        let budget = old.get(&name).copied();
        let change = budget.map_or(0.0, |budget| each as f64 / budget as f64 - 1.0);
        is_over |= budget.is_none() || change > TOLERANCE;
        println!("{name:<34}{each:>14}{:>10}{:>8.1}%", budget.unwrap_or_default(), change * 100.0);
        counted.insert(name, each);
    }
    if writes {
        fs::write(BUDGET, serde_json::to_string_pretty(&counted)? + "\n")
    } else if is_over {
        let message = "a count is more than 3 % over its budget; if that is as it should be, \
                       `cargo run --release --package mcpress-instructions -- --write` makes it the new one";
        Err(io::Error::other(message))
    } else {
        Ok(())
    }
}

/// Instructions of a whole run.
fn count(case: &str, times: usize) -> io::Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*mcpress_instructions::counted"])
        .arg(std::env::current_exe()?)
        .args(["ask", case, &times.to_string()])
        .output()
        .map_err(|error| io::Error::other(format!("cannot run valgrind: {error}")))?;
    let report = String::from_utf8_lossy(&output.stderr);
    let collected = report.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    match collected {
        Some(collected) if output.status.success() => Ok(collected),
        _ => Err(io::Error::other(format!("no count for `{case}`: {report}"))),
    }
}

fn ask(request: &[u8], times: usize) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    // Another thread has a heap of its own: what was freed there has no part in what is counted.
    let app = std::thread::scope(|scope| {
        let made = scope.spawn(|| {
            let _inside = runtime.enter();
            app()
        });
        made.join().unwrap_or_else(|_| Err(io::Error::other("no content")))
    })?;
    counted(&runtime, app, request, times)
}

/// What is counted; to make the content ready is not.
#[inline(never)]
fn counted(runtime: &Runtime, app: App, request: &[u8], times: usize) -> io::Result<()> {
    runtime.block_on(converse(app, request, times))
}

/// Asks over a pipe; every answer must be as long as the first.
async fn converse(app: App, request: &[u8], times: usize) -> io::Result<()> {
    let (mut client, stream) = tokio::io::duplex(64 << 10);
    let conversation = async {
        let mut buffer = vec![0; 64 << 10];
        let mut length = None;
        for _ in 0..times {
            client.write_all(request).await?;
            let mut filled = 0;
            while length.is_none_or(|length| filled < length) {
                filled += client.read(&mut buffer[filled..]).await?;
                length = length.or_else(|| length_of(&buffer[..filled]));
            }
            if Some(filled) != length || !buffer.starts_with(b"HTTP/1.1 ") {
                return Err(io::Error::other("an answer other than the first"));
            }
        }
        Ok(())
    };
    tokio::select! {
        biased;
        result = conversation => result,
        () = server::serve_one(app, stream) => Err(io::Error::other("the connection was closed")),
    }
}

/// Bytes of an answer, as soon as its head is there.
fn length_of(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let text = std::str::from_utf8(&answer[..head]).ok()?.to_ascii_lowercase();
    let body = text.lines().find_map(|line| line.strip_prefix("content-length:"))?;
    Some(head + body.trim().parse::<usize>().ok()?)
}

fn app() -> io::Result<App> {
    let compiled = mcpress_compiler::compile_files(Content::files(LISTED))
        .map_err(|errors| io::Error::other(format!("{errors:?}")))?;
    let catalog = mcpress_compiler::encode(compiled.catalog, &mut mcpress_compiler::Cache::default());
    let fetcher = Fetcher::new(&fetch::Config::default()).map_err(io::Error::other)?;
    let surroundings = Surroundings { fetcher, environment: Default::default(), subscriptions: 1, reloads: false };
    let site = Site::new(catalog.map_err(io::Error::other)?, surroundings).map_err(io::Error::other)?;
    Ok(App {
        site: watch::channel(Arc::new(site)).1,
        access: Default::default(),
        limits: Default::default(),
        metrics: Default::default(),
        proxies: Default::default(),
    })
}
