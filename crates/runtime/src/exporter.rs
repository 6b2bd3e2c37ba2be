//! Gives out the metrics at `/metrics`, on an address of its own: what they say is for operators, so it is not where
//! clients are. Whoever reaches the address may read them.

use std::{convert::Infallible, future::ready, io, sync::Arc, time::Duration};

use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{sleep, timeout},
};
use tracing::{debug, warn};

use crate::{
    body::Body,
    metrics::{self, Metrics},
};

/// Connections at a time; further ones wait. A Prometheus needs one.
const MAX_CONNECTIONS: usize = 16;

/// Bytes of the head of a request.
const MAX_HEAD: usize = 16 << 10;

/// Time for a whole connection, which has one request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait after a failure to accept.
const PAUSE: Duration = Duration::from_secs(1);

/// Answers until it is dropped.
pub async fn run(listener: TcpListener, metrics: Arc<Metrics>) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    // Nobody closes it.
    while let Ok(slot) = slots.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let metrics = metrics.clone();
                tokio::spawn(async move {
                    let _slot = slot;
                    serve(stream, &metrics).await;
                });
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                warn!(%error, "cannot accept connections for metrics; trying again");
                sleep(PAUSE).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, metrics: &Metrics) {
    let service = service_fn(|request| ready(Ok::<_, Infallible>(respond(&request, metrics))));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(TIMEOUT).keep_alive(false).max_buf_size(MAX_HEAD);
    match timeout(TIMEOUT, http.serve_connection(TokioIo::new(stream), service)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => debug!(%error, "connection for metrics failed"),
        Err(_) => debug!("dropped a slow connection for metrics"),
    }
}

fn respond(request: &Request<Incoming>, metrics: &Metrics) -> Response<Body> {
    let is_get = matches!(*request.method(), Method::GET | Method::HEAD);
    let (status, content_type, text) = match request.uri().path() {
        "/metrics" if is_get => (StatusCode::OK, metrics::CONTENT_TYPE, metrics.text()),
        "/metrics" => (StatusCode::METHOD_NOT_ALLOWED, PLAIN, "method not allowed\n".to_owned()),
        _ => (StatusCode::NOT_FOUND, PLAIN, "not found: there is /metrics\n".to_owned()),
    };
    let mut response = Response::new(Body::from(bytes::Bytes::from(text)));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    response
}

const PLAIN: &str = "text/plain; charset=utf-8";
