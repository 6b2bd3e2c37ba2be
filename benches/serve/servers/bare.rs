//! The least that a hyper server can do: read the body, answer with bytes that it has.

use std::{convert::Infallible, fs, io, io::Write, path::Path, sync::Arc};

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, body::Incoming, header, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use tokio::net::TcpListener;

/// Serves the files of a folder, which are named 0, 1, 2, …
#[tokio::main]
pub(crate) async fn run(folder: &Path, gzip: Option<u32>) -> io::Result<()> {
    let mut bodies = Vec::new();
    while let Ok(body) = fs::read(folder.join(bodies.len().to_string())) {
        bodies.push(Bytes::from(body));
    }
    let bodies = Arc::new(bodies);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let bodies = Arc::clone(&bodies);
        let service = service_fn(move |request| answer(Arc::clone(&bodies), gzip, request));
        tokio::spawn(async move {
            let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

async fn answer(
    bodies: Arc<Vec<Bytes>>,
    gzip: Option<u32>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let number: usize = request.uri().path().trim_start_matches('/').parse().unwrap_or_default();
    let _ = request.into_body().collect().await;
    let mut body = bodies[number].clone();
    let mut response = Response::builder().header(header::CONTENT_TYPE, "application/json");
    if let Some(level) = gzip {
        let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 2), Compression::new(level));
        let _ = encoder.write_all(&body);
        body = encoder.finish().unwrap_or_default().into();
        response = response.header(header::CONTENT_ENCODING, "gzip");
    }
    Ok(response.body(Full::new(body)).unwrap_or_default())
}
