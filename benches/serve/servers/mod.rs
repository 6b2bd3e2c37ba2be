//! The servers that are compared, each a process of its own on one processor.

pub(crate) mod bare;
pub(crate) mod rmcp;

use std::{
    fs,
    io::{self, BufRead, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use mcpress_bench::{Case, Question};
use serde::{Deserialize, Serialize};

/// Which server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// hyper with fixed answers.
    Bare,
    Mcpress,
    Nginx,
    /// The Rust SDK, stateless, with JSON answers.
    Rmcp,
    /// hyper that compresses its fixed answers at each request.
    GzipPerRequest,
}

impl Kind {
    pub(crate) fn answers(self, case: &Case) -> bool {
        match self {
            Self::Bare | Self::Mcpress => true,
            // It speaks HTTP/2 only where it was built so, and answers nothing but what is there.
            Self::Nginx | Self::Rmcp => !case.http2 && !case.gzip,
            Self::GzipPerRequest => case.gzip,
        }
    }
}

pub(crate) const SERVER_PROCESSOR: usize = 1;
pub(crate) const LOAD_PROCESSOR: usize = 0;

/// A running server; it ends when it is dropped.
pub(crate) struct Server {
    pub(crate) kind: Kind,
    pub(crate) address: SocketAddr,
    child: Child,
    /// The process that answers.
    worker: u32,
}

impl Server {
    pub(crate) fn mcpress(program: &Path) -> io::Result<Self> {
        let mut command = pinned(program, SERVER_PROCESSOR);
        command.args(["--listen", "127.0.0.1:0"]).env("MCPRESS_LOG_LEVEL", "warn");
        Self::start(Kind::Mcpress, command)
    }

    /// `gzip`: the level at which it compresses each answer.
    pub(crate) fn bare(bodies: &Path, gzip: Option<u32>) -> io::Result<Self> {
        let mut command = pinned(&std::env::current_exe()?, SERVER_PROCESSOR);
        command.arg("bare").arg(bodies);
        match gzip {
            None => Self::start(Kind::Bare, command),
            Some(level) => {
                command.args(["--gzip", &level.to_string()]);
                Self::start(Kind::GzipPerRequest, command)
            }
        }
    }

    pub(crate) fn rmcp() -> io::Result<Self> {
        let mut command = pinned(&std::env::current_exe()?, SERVER_PROCESSOR);
        command.arg("rmcp");
        Self::start(Kind::Rmcp, command)
    }

    /// Where nginx is installed.
    pub(crate) fn nginx(bodies: &Path, scratch: &Path) -> io::Result<Option<Self>> {
        let Some(program) = ["/usr/sbin/nginx", "/usr/bin/nginx"].map(Path::new).into_iter().find(|path| path.exists())
        else {
            return Ok(None);
        };
        // A port that was free a moment ago; nginx does not say which it took.
        let address = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let configuration = scratch.join("nginx.conf");
        let (bodies, folder) = (bodies.display(), scratch.display());
        fs::write(
            &configuration,
            format!(
                "daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr crit;\n\
                 events {{ worker_connections 2048; }}\n\
                 http {{\n\
                 access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; open_file_cache max=100;\n\
                 default_type application/json; client_body_temp_path {folder}/nginx; proxy_temp_path {folder}/nginx;\n\
                 fastcgi_temp_path {folder}/nginx; uwsgi_temp_path {folder}/nginx; scgi_temp_path {folder}/nginx;\n\
                 server {{ listen {address}; root {bodies}; }}\n\
                 }}\n"
            ),
        )?;
        let mut command = pinned(program, SERVER_PROCESSOR);
        let child = command.arg("-c").arg(&configuration).spawn()?;
        let worker = child.id();
        let server = Self { kind: Kind::Nginx, address, child, worker };
        let start = Instant::now();
        while std::net::TcpStream::connect(address).is_err() {
            if start.elapsed() > Duration::from_secs(10) {
                return Err(io::Error::other("nginx does not listen"));
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(Some(server))
    }

    /// Its first line on stdout has its address.
    fn start(kind: Kind, mut command: Command) -> io::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("no stdout"))?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let address = line.trim().trim_start_matches("http://").split('/').next().unwrap_or_default();
        let address = address.parse().map_err(|_| io::Error::other(format!("{kind:?} printed `{line}`")))?;
        let worker = child.id();
        Ok(Self { kind, address, child, worker })
    }

    /// The question of the case with this number, as this server wants it.
    pub(crate) fn request(&self, number: usize, case: &Case) -> Question {
        let question = case.question();
        let path = format!("/{number}");
        match self.kind {
            Kind::Mcpress | Kind::Rmcp => question,
            Kind::Bare | Kind::GzipPerRequest => Question { path, ..question },
            // A static file is not posted to.
            Kind::Nginx => Question { method: "GET".to_owned(), path, body: String::new(), ..question },
        }
    }

    /// Seconds of a processor so far, of threads that have ended too, in steps of a hundredth.
    pub(crate) fn cpu(&self) -> io::Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.worker))?;
        // The name of the program may hold spaces; behind it come the state and ten numbers before those of time.
        let numbers = stat.rsplit_once(") ").map_or("", |(_, numbers)| numbers).split(' ').skip(11);
        Ok(numbers.take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0)
    }

    /// Bytes of memory.
    pub(crate) fn resident(&self) -> io::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.worker))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<f64>().ok());
        Ok(kib.unwrap_or_default() * 1024.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command on one processor, where there is a second one.
pub(crate) fn pinned(program: &Path, processor: usize) -> Command {
    if std::thread::available_parallelism().map_or(1, usize::from) <= processor.max(1) {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.args(["--cpu-list", &processor.to_string()]).arg(program);
    command
}
