//! A server in a process of its own, as it is run.

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, ExitStatus, Stdio},
};

use serde_json::Value;
use tokio::{io::AsyncWriteExt, net::TcpStream, task::spawn_blocking};

use crate::support::{Response, fixture, modern, request};

/// A process that serves `tests/fixtures/site`, and ends with this value.
pub(crate) struct Process {
    child: Child,
    pub(crate) port: u16,
}

impl Process {
    pub(crate) fn start(flags: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mcpress"));
        command.arg("dev").arg(fixture("site")).args(["--listen", "127.0.0.1:0"]).args(flags);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("MCPRESS_")) {
            command.env_remove(name);
        }
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut address).unwrap();
        let port = address.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next()?.parse().ok());
        Self { child, port: port.unwrap_or_else(|| panic!("no address: {address}")) }
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        connect(self.port).await
    }

    /// Sends SIGTERM.
    pub(crate) fn terminate(&self) {
        assert!(Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap().success());
    }

    pub(crate) async fn ended(mut self) -> ExitStatus {
        spawn_blocking(move || self.child.wait().unwrap()).await.unwrap()
    }

    /// Calls a method of 2026-07-28 on a connection of its own.
    pub(crate) async fn call(&self, slug: &str, method: &str, params: Value) -> Value {
        let (headers, message) = modern(method, params);
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut stream = self.connect().await;
        stream.write_all(&request("POST", &format!("/mcp/{slug}"), &headers, message.as_bytes())).await.unwrap();
        Response::read(stream).await.json()
    }

    /// Bytes of memory that it has.
    #[cfg(target_os = "linux")]
    pub(crate) fn memory(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) async fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).await.expect("a server takes connections")
}
