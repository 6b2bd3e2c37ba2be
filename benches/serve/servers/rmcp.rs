//! The same resources as the Rust SDK serves them, stateless and with JSON answers.

use std::{collections::HashMap, convert::Infallible, io, sync::Arc};

use hyper::service::service_fn;
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto,
};
use mcpress_bench::{Content, LISTED, SIZES};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        ListResourcesResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use serde_json::json;
use tokio::net::TcpListener;

#[derive(Clone)]
struct Handler {
    texts: Arc<HashMap<String, String>>,
    list: Arc<Vec<Resource>>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_resources().build())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.list.to_vec()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(text) = self.texts.get(&request.uri) else {
            let message = format!("Resource not found: {}", request.uri);
            return Err(ErrorData::invalid_params(message, Some(json!({ "uri": request.uri }))));
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, request.uri)]).into())
    }
}

#[tokio::main]
pub(crate) async fn run() -> io::Result<()> {
    let texts = SIZES.map(|(name, size)| (Content::uri(name), Content::text(size)));
    let list = (0..LISTED).map(|number| {
        let mut resource = Resource::new(format!("list://page-{number}.txt"), format!("page-{number}.txt"));
        (resource.mime_type, resource.size) = (Some("text/plain".to_owned()), Some(200));
        resource
    });
    let handler = Handler { texts: Arc::new(HashMap::from(texts)), list: Arc::new(list.collect()) };
    let service = StreamableHttpService::new(
        move || Ok(handler.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default().with_legacy_session_mode(false).with_json_response(true),
    );
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let service = service.clone();
        let service = service_fn(move |request| {
            let service = service.clone();
            async move { Ok::<_, Infallible>(service.handle(request).await) }
        });
        tokio::spawn(async move {
            let _ = auto::Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
