//! The official Rust SDK as a client, in both lifecycles: it lists everything and reads what it listed.

use std::fs;

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::{
    ServiceError,
    model::{ProtocolVersion, ReadResourceRequestParams, ResourceContents},
    service::{ClientLifecycleMode, serve_client_with_lifecycle},
    transport::StreamableHttpClientTransport,
};

use crate::support::{TestServer, fixture};

async fn reads_everything(lifecycle: ClientLifecycleMode) {
    // Its HTTP client insists on a choice, although nothing here is encrypted. Only the first call makes it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = TestServer::start().await;
    let transport = StreamableHttpClientTransport::from_uri(server.url("docs"));
    let client = serve_client_with_lifecycle((), transport, lifecycle).await.unwrap();
    let info = client.peer_info().unwrap();
    assert_eq!(info.server_info.as_ref().map(|info| info.name.as_str()), Some("docs"));
    assert_eq!(info.instructions.as_deref(), Some("Begin with docs://api-overview."));

    let mut read = 0;
    for resource in client.list_all_resources().await.unwrap() {
        let contents = client.read_resource(ReadResourceRequestParams::new(&resource.uri)).await;
        if resource.uri.starts_with("live://") {
            assert!(matches!(contents, Err(ServiceError::McpError(error)) if error.code.0 == -32603));
            continue;
        }
        let bytes = match &contents.unwrap().contents[..] {
            [ResourceContents::TextResourceContents { text, .. }] => text.clone().into_bytes(),
            [ResourceContents::BlobResourceContents { blob, .. }] => STANDARD.decode(blob).unwrap(),
            contents => panic!("{}: {contents:?}", resource.uri),
        };
        assert_eq!(resource.size.map(|size| size as usize), Some(bytes.len()), "{}", resource.uri);
        if let Some(path) = resource.uri.strip_prefix("docs://") {
            let folder = fixture("site/docs/resources");
            let file = fs::read(folder.join(path)).or_else(|_| fs::read(folder.join(format!("{path}.md")))).unwrap();
            assert_eq!(bytes, file, "{path}");
        }
        read += 1;
    }
    assert_eq!(read, 8);
    assert_eq!(client.list_all_resource_templates().await.unwrap().len(), 3);
    let greeting = client.read_resource(ReadResourceRequestParams::new("greeting://hallo/Bob")).await.unwrap();
    assert!(matches!(
        &greeting.contents[0],
        ResourceContents::TextResourceContents { text, .. } if text == "hallo, Bob! -- the signature\n"
    ));
    assert!(client.list_all_tools().await.unwrap().is_empty());
    assert!(client.list_all_prompts().await.unwrap().is_empty());
    let unknown = client.read_resource(ReadResourceRequestParams::new("docs://nope")).await;
    assert!(matches!(unknown, Err(ServiceError::McpError(error)) if error.code.0 == -32602));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn with_a_handshake() {
    reads_everything(ClientLifecycleMode::Initialize).await;
}

#[tokio::test]
async fn without_a_handshake() {
    reads_everything(ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }).await;
}

#[tokio::test]
async fn probing_for_the_newer_one() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    reads_everything(ClientLifecycleMode::Auto { preferred_versions, legacy_version: None }).await;
}
