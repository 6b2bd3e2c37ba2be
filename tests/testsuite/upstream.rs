//! An upstream on a real socket that does what upstreams do: answers, and every way not to.

use std::{
    io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_compression::tokio::bufread::{BrotliEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, repeat},
    net::{TcpListener, TcpStream},
    sync::Notify,
    time::sleep,
};
use tokio_rustls::TlsAcceptor;

pub(crate) struct Upstream {
    pub(crate) port: u16,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    requests: Mutex<Vec<Request>>,
    /// A client went away before it had everything.
    hung_up: Notify,
}

/// A request as it came; names of headers in lower case.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// What an upstream does with a request.
pub(crate) enum Reply {
    /// Sends these bytes and closes.
    Bytes(Vec<u8>),
    /// Sends these bytes and waits for the next request.
    KeepAlive(Vec<u8>),
    /// Sends these bytes, then says no more.
    Stall(Vec<u8>),
    /// Sends these bytes, then one byte each time.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes, then resets the connection.
    Reset(Vec<u8>),
    /// Sends zeros without end, packed in this coding.
    Bomb(&'static str),
}

/// Any response with a length.
pub(crate) fn response(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

pub(crate) fn ok(content_type: &str, body: impl AsRef<[u8]>) -> Reply {
    Reply::Bytes(response("200 OK", &[("content-type", content_type)], body))
}

pub(crate) fn status(status: &str) -> Reply {
    Reply::Bytes(response(status, &[], ""))
}

pub(crate) fn redirect(status: &str, location: &str) -> Reply {
    Reply::Bytes(response(status, &[("location", location)], ""))
}

impl Upstream {
    pub(crate) async fn start(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(None, answer).await
    }

    pub(crate) async fn with_tls(tls: TlsAcceptor, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::serve(Some(tls), answer).await
    }

    async fn serve(tls: Option<TlsAcceptor>, answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let seen = Arc::new(Seen::default());
        let (answer, shared) = (Arc::new(answer), seen.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (tls, answer, seen) = (tls.clone(), answer.clone(), shared.clone());
                tokio::spawn(async move {
                    // Clients may go away at any time.
                    let _ = match tls {
                        Some(tls) => match tls.accept(stream).await {
                            Ok(stream) => connection(stream, |_| {}, &*answer, &seen).await,
                            Err(error) => Err(error),
                        },
                        None => connection(stream, reset, &*answer, &seen).await,
                    };
                });
            }
        });
        Self { port, seen }
    }

    pub(crate) fn url(&self, target: &str) -> String {
        format!("http://127.0.0.1:{}{target}", self.port)
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Waits for the first request.
    pub(crate) async fn asked(&self) {
        while self.requests().is_empty() {
            sleep(Duration::from_millis(1)).await;
        }
    }

    /// Waits until a client has gone away before it had everything.
    pub(crate) async fn hung_up(&self) {
        self.seen.hung_up.notified().await;
    }
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

#[expect(deprecated, reason = "a linger of no time at all never blocks, and it is what makes a close a reset")]
fn reset(stream: &TcpStream) {
    stream.set_linger(Some(Duration::ZERO)).unwrap();
}

async fn connection<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    reset: impl Fn(&S),
    answer: &(impl Fn(&Request) -> Reply + ?Sized),
    seen: &Seen,
) -> io::Result<()> {
    while let Some(request) = receive(&mut stream).await? {
        let reply = answer(&request);
        seen.requests.lock().unwrap().push(request);
        match reply {
            Reply::Bytes(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            Reply::KeepAlive(bytes) => stream.write_all(&bytes).await?,
            Reply::Stall(bytes) => {
                stream.write_all(&bytes).await?;
                let _ = stream.read(&mut [0]).await;
                seen.hung_up.notify_one();
                return Ok(());
            }
            Reply::Drip(bytes, pause) => {
                stream.write_all(&bytes).await?;
                while stream.write_all(b".").await.is_ok() {
                    sleep(pause).await;
                }
                seen.hung_up.notify_one();
                return Ok(());
            }
            Reply::Reset(bytes) => {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
                reset(&stream);
                return Ok(());
            }
            Reply::Bomb(coding) => {
                let _ = bomb(&mut stream, coding).await;
                seen.hung_up.notify_one();
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Writes a bomb as it is packed, until the client has had enough.
async fn bomb(stream: &mut (impl AsyncWrite + Unpin), coding: &str) -> io::Result<()> {
    let zeros = BufReader::new(repeat(0));
    let mut packed: Box<dyn AsyncRead + Send + Unpin> = match coding {
        "gzip" => Box::new(GzipEncoder::new(zeros)),
        "deflate" => Box::new(ZlibEncoder::new(zeros)),
        "br" => Box::new(BrotliEncoder::with_quality(zeros, async_compression::Level::Fastest)),
        "zstd" => Box::new(ZstdEncoder::new(zeros)),
        other => panic!("{other}"),
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: {coding}\r\ntransfer-encoding: chunked\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await?;
    let mut chunk = vec![0; 1 << 14];
    loop {
        let length = packed.read(&mut chunk).await?;
        let frame = [format!("{length:x}\r\n").as_bytes(), &chunk[..length], b"\r\n"].concat();
        stream.write_all(&frame).await?;
    }
}

/// Reads one request; `None` if the client has no more.
async fn receive(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Request>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut body = bytes.split_off(end + 4);
    let mut lines = head.split("\r\n");
    let mut start = lines.next().unwrap().split(' ');
    let headers: Vec<(String, String)> = lines
        .map(|line| line.split_once(": ").unwrap())
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    while body.len() < length {
        if stream.read_buf(&mut body).await? == 0 {
            return Ok(None);
        }
    }
    let method = start.next().unwrap().to_owned();
    let target = start.next().unwrap().to_owned();
    Ok(Some(Request { method, target, headers, body: String::from_utf8_lossy(&body).into_owned() }))
}
