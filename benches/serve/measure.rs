//! One round of one case at one server.

use std::{
    fs, io,
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use mcpress_bench::Case;

use crate::{
    load::{Load, Outcome},
    servers::{self, Server},
};

/// What was seen of the server in one round.
pub(crate) struct Sample {
    pub(crate) outcome: Outcome,
    /// Seconds of a processor that the server took in all, its own and the system's.
    pub(crate) cpu: f64,
    /// Bytes of memory that are its own or that it touched.
    pub(crate) resident: f64,
}

pub(crate) fn sample(
    server: &Server,
    number: usize,
    case: &Case,
    time: Duration,
    scratch: &Path,
) -> io::Result<Sample> {
    let question = server.request(number, case);
    let (connections, http2) = (case.connections, case.http2);
    let load = Load { address: server.address, question, connections, http2, time };
    let file = scratch.join("load.json");
    fs::write(&file, serde_json::to_vec(&load)?)?;
    let before = server.cpu()?;
    let mut command = servers::pinned(&std::env::current_exe()?, servers::LOAD_PROCESSOR);
    let output = command.arg("load").arg(&file).stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        return Err(io::Error::other(format!("no load on {:?} in `{}`", server.kind, case.name)));
    }
    let outcome = serde_json::from_slice(&output.stdout)?;
    Ok(Sample { outcome, cpu: server.cpu()? - before, resident: server.resident()? })
}

/// The output of a command on one line, or nothing.
pub(crate) fn output_of(command: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(command).args(arguments).stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|text| !text.is_empty())
}
