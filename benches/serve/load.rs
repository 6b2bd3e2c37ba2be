//! Asks one question over and over from one processor, as cheaply as it can: over HTTP/1.1 it looks at the head of an
//! answer and counts its bytes, for all answers to one question are of one length.

use std::{
    fs, io,
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use bytes::Bytes;
use hdrhistogram::Histogram;
use http_body_util::{BodyExt, Full};
use hyper::{Request, StatusCode, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use mcpress_bench::Question;
use serde::{Deserialize, Serialize};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    task::JoinSet,
};

/// How often, and for how long.
#[derive(Deserialize, Serialize)]
pub(crate) struct Load {
    pub(crate) address: SocketAddr,
    pub(crate) question: Question,
    pub(crate) connections: usize,
    pub(crate) http2: bool,
    pub(crate) time: Duration,
}

/// What came of it. Times are in microseconds.
#[derive(Deserialize, Serialize)]
pub(crate) struct Outcome {
    pub(crate) requests: u64,
    pub(crate) seconds: f64,
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    /// Bytes of one answer's body as sent.
    pub(crate) bytes: usize,
}

type Failed = Box<dyn std::error::Error + Send + Sync>;

/// Requests before those that count.
const WARM_UP: usize = 50;

/// Prints the outcome as JSON.
pub(crate) fn run(file: &Path) -> io::Result<()> {
    let load: Load = serde_json::from_slice(&fs::read(file)?)?;
    let outcome = runtime()?.block_on(ask(load)).map_err(io::Error::other)?;
    println!("{}", serde_json::to_string(&outcome)?);
    Ok(())
}

/// The body of one answer.
pub(crate) fn once(address: SocketAddr, question: &Question) -> io::Result<Vec<u8>> {
    let asked = async {
        let mut connection = Connection::open(address).await?;
        let length = connection.first(&question.bytes(&address.to_string())).await?;
        Ok::<_, Failed>(connection.buffer[connection.head..length].to_vec())
    };
    runtime()?.block_on(asked).map_err(io::Error::other)
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}

async fn ask(load: Load) -> Result<Outcome, Failed> {
    let load = std::sync::Arc::new(load);
    let ready = std::sync::Arc::new(tokio::sync::Barrier::new(load.connections));
    let mut tasks = JoinSet::new();
    let shared = if load.http2 { Some(http2(load.address).await?) } else { None };
    for _ in 0..load.connections {
        let (load, ready, shared) = (load.clone(), ready.clone(), shared.clone());
        tasks.spawn(async move {
            match shared {
                Some(sender) => streams(&load, sender, &ready).await,
                None => keep_alive(&load, &ready).await,
            }
        });
    }
    let mut all: Option<Asked> = None;
    while let Some(asked) = tasks.join_next().await {
        let asked = asked??;
        match &mut all {
            None => all = Some(asked),
            Some(all) => {
                all.times.add(asked.times)?;
                all.end = all.end.max(asked.end);
                all.start = all.start.min(asked.start);
            }
        }
    }
    let Asked { start, end, bytes, times } = all.ok_or("nobody asked")?;
    let microseconds = |quantile| times.value_at_quantile(quantile) as f64 / 1000.0;
    Ok(Outcome {
        requests: times.len(),
        seconds: (end - start).as_secs_f64(),
        p50: microseconds(0.5),
        p99: microseconds(0.99),
        p999: microseconds(0.999),
        bytes,
    })
}

/// What one client saw.
struct Asked {
    start: Instant,
    end: Instant,
    bytes: usize,
    /// In nanoseconds.
    times: Histogram<u64>,
}

impl Asked {
    fn new(bytes: usize) -> Result<Self, Failed> {
        let now = Instant::now();
        Ok(Self { start: now, end: now, bytes, times: Histogram::new(3)? })
    }

    /// Notes an answer, and says whether there is time for another question.
    fn answered(&mut self, since: Instant, time: Duration) -> Result<bool, Failed> {
        self.end = Instant::now();
        self.times.record((self.end - since).as_nanos().try_into()?)?;
        Ok(self.end - self.start < time)
    }
}

async fn keep_alive(load: &Load, ready: &tokio::sync::Barrier) -> Result<Asked, Failed> {
    let request = load.question.bytes(&load.address.to_string());
    let mut connection = Connection::open(load.address).await?;
    let length = connection.first(&request).await?;
    for _ in 0..WARM_UP {
        connection.next(&request, length).await?;
    }
    ready.wait().await;
    let mut asked = Asked::new(length - connection.head)?;
    loop {
        let since = Instant::now();
        connection.next(&request, length).await?;
        if !asked.answered(since, load.time)? {
            return Ok(asked);
        }
    }
}

/// One connection of HTTP/1.1.
struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Bytes of an answer before its body.
    head: usize,
}

impl Connection {
    async fn open(address: SocketAddr) -> Result<Self, Failed> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; 64 << 10], head: 0 })
    }

    /// Bytes of an answer, head and body.
    async fn first(&mut self, request: &[u8]) -> Result<usize, Failed> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        loop {
            if filled == self.buffer.len() {
                self.buffer.resize(2 * filled, 0);
            }
            match self.stream.read(&mut self.buffer[filled..]).await? {
                0 => return Err("the server closed the connection".into()),
                read => filled += read,
            }
            let Some(end) = self.buffer[..filled].windows(4).position(|window| window == b"\r\n\r\n") else { continue };
            self.head = end + 4;
            let head = std::str::from_utf8(&self.buffer[..end])?.to_ascii_lowercase();
            if !head.starts_with("http/1.1 200 ") {
                return Err(format!("the server answered `{}`", head.lines().next().unwrap_or_default()).into());
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
            let length: usize = length.ok_or("an answer without `Content-Length`")?.trim().parse()?;
            if filled >= self.head + length {
                return Ok(self.head + length);
            }
        }
    }

    async fn next(&mut self, request: &[u8], length: usize) -> Result<(), Failed> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        while filled < length {
            match self.stream.read(&mut self.buffer).await? {
                0 => return Err("the server closed the connection".into()),
                read if filled == 0 && !self.buffer[..read].starts_with(b"HTTP/1.1 200 ") => {
                    return Err("an answer other than the first".into());
                }
                read => filled += read,
            }
        }
        if filled == length { Ok(()) } else { Err("an answer longer than the first".into()) }
    }
}

async fn http2(address: SocketAddr) -> Result<http2::SendRequest<Full<Bytes>>, Failed> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(4 << 20)
        .initial_connection_window_size(64 << 20)
        .handshake(TokioIo::new(stream))
        .await?;
    tokio::spawn(connection);
    Ok(sender)
}

async fn streams(
    load: &Load,
    mut sender: http2::SendRequest<Full<Bytes>>,
    ready: &tokio::sync::Barrier,
) -> Result<Asked, Failed> {
    let Question { method, path, headers, body } = &load.question;
    let mut builder = Request::builder().method(method.as_str()).uri(format!("http://{}{path}", load.address));
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    let request = builder.body(Full::new(Bytes::from(body.clone())))?;
    let mut asked = None;
    for number in 0.. {
        if number == WARM_UP {
            ready.wait().await;
            asked = Some(Asked::new(0)?);
        }
        let since = Instant::now();
        let answer = sender.send_request(request.clone()).await?;
        if answer.status() != StatusCode::OK {
            return Err(format!("the server answered {}", answer.status()).into());
        }
        let mut body = answer.into_body();
        let mut bytes = 0;
        while let Some(frame) = body.frame().await {
            bytes += frame?.data_ref().map_or(0, Bytes::len);
        }
        if let Some(asked) = &mut asked {
            asked.bytes = bytes;
            if !asked.answered(since, load.time)? {
                break;
            }
        }
    }
    asked.ok_or_else(|| "nothing was asked".into())
}
