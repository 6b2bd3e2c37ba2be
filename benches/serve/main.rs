//! How fast the program serves, beside a bare hyper, nginx and an SDK that serve the same, in one run on one machine.
//!
//! Servers are processes pinned to one processor, the load comes from another, and rounds alternate between the
//! servers, so that what else happens on the machine happens to all of them. Nothing here passes or fails.

#![expect(clippy::print_stdout, reason = "figures go to stdout")]

mod load;
mod measure;
mod plot;
mod report;
mod servers;

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use clap::{Parser, Subcommand};
use mcpress_bench::{Case, Content, LISTED};

use crate::{
    measure::Sample,
    report::Report,
    servers::{Kind, Server},
};

/// Serves and asks, and prints how long it took.
#[derive(Parser)]
struct Flags {
    #[command(subcommand)]
    role: Option<Role>,
    /// Rounds of which the median counts
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Milliseconds of load in each round
    #[arg(long, default_value_t = 1000)]
    milliseconds: u64,
    /// Only cases whose name holds this text
    #[arg(long, default_value = "")]
    only: String,
    /// Write the figures here, as JSON
    #[arg(long)]
    json: Option<PathBuf>,
    /// What cargo gives to every benchmark
    #[arg(long, hide = true, global = true)]
    bench: bool,
}

/// What a process of a run does; without one it runs the benchmark.
#[derive(Subcommand)]
enum Role {
    /// Answer `POST /{n}` with the n-th file of a folder
    Bare {
        folder: PathBuf,
        /// Compress each answer anew, at this level
        #[arg(long)]
        gzip: Option<u32>,
    },
    /// Serve the resources with the SDK
    Rmcp,
    /// Ask as the file says, and print what came of it
    Load { file: PathBuf },
    /// Draw a plot of the figures in a JSON file, as SVG
    Plot { json: PathBuf },
}

fn main() -> io::Result<()> {
    let flags = Flags::parse();
    match &flags.role {
        None => run(&flags),
        Some(Role::Bare { folder, gzip }) => servers::bare::run(folder, *gzip),
        Some(Role::Rmcp) => servers::rmcp::run(),
        Some(Role::Load { file }) => load::run(file),
        Some(Role::Plot { json }) => {
            print!("{}", plot::draw(&Report::read(json)?).map_err(io::Error::other)?);
            Ok(())
        }
    }
}

fn run(flags: &Flags) -> io::Result<()> {
    let scratch = tempfile::tempdir()?;
    let tree = scratch.path().join("tree");
    for (path, bytes) in Content::files(LISTED) {
        let path = tree.join(path);
        fs::create_dir_all(path.parent().unwrap_or(&tree))?;
        fs::write(path, bytes)?;
    }
    let mcpress = Server::mcpress(&build(&tree, scratch.path())?)?;
    let cases: Vec<Case> = Case::all().into_iter().filter(|case| case.name.contains(&flags.only)).collect();

    // What the program answers is what the others serve.
    let bodies = scratch.path().join("bodies");
    fs::create_dir(&bodies)?;
    for (number, case) in cases.iter().enumerate() {
        fs::write(bodies.join(number.to_string()), load::once(mcpress.address, &case.plain().question())?)?;
    }
    let mut servers = vec![Server::bare(&bodies, None)?, mcpress];
    servers.extend(Server::nginx(&bodies, scratch.path())?);
    servers.push(Server::rmcp()?);
    if cases.iter().any(|case| case.gzip) {
        servers.push(Server::bare(&bodies, Some(6))?);
    }

    let mut report = Report::new(flags.rounds, flags.milliseconds)?;
    for (number, case) in cases.iter().enumerate() {
        let asked: Vec<&Server> = servers.iter().filter(|server| server.kind.answers(case)).collect();
        let mut samples: Vec<(Kind, Vec<Sample>)> = asked.iter().map(|server| (server.kind, Vec::new())).collect();
        for _ in 0..flags.rounds {
            for (server, (_, samples)) in asked.iter().zip(&mut samples) {
                let time = Duration::from_millis(flags.milliseconds);
                samples.push(measure::sample(server, number, case, time, scratch.path())?);
            }
        }
        report.add(case, &samples);
        report.print_last();
    }
    if let Some(path) = &flags.json {
        report.write(path)?;
    }
    Ok(())
}

/// The program with this tree compiled in, as a release has it.
fn build(tree: &Path, scratch: &Path) -> io::Result<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut cargo = Command::new(env!("CARGO"));
    // What cargo says to a benchmark of its package would have build scripts run again.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix)) {
            cargo.env_remove(&*name);
        }
    }
    let built = cargo
        .args(["build", "--release", "--locked", "--package", "mcpress", "--message-format", "json"])
        .current_dir(root)
        .env("MCPRESS_CONTENT", tree)
        .stderr(Stdio::inherit())
        .output()?;
    let messages = serde_json::Deserializer::from_slice(&built.stdout).into_iter::<serde_json::Value>();
    let program = messages.flatten().find_map(|message| message["executable"].as_str().map(PathBuf::from));
    // The next build puts other content in its place.
    let copy = scratch.join("mcpress");
    fs::copy(program.ok_or_else(|| io::Error::other("the program was not built"))?, &copy)?;
    Ok(copy)
}
