//! Whole answers: each file of `requests/` is sent as it stands there, and its answer is compared with a snapshot.
//!
//! A file has headers, an empty line, and a body; a first line that begins with `/` is the path.

use crate::support::{TestServer, request};

#[test]
fn every_request_has_its_answer() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(TestServer::start());
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r#""nextCursor":"[\w-]{16}""#, r#""nextCursor":"[cursor]""#);
    settings.add_filter(r#""requestId":"[0-9a-f]{32}""#, r#""requestId":"[id]""#);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let _settings = settings.bind_to_scope();
    insta::glob!("requests/**/*.http", |file| {
        let text = std::fs::read_to_string(file).unwrap();
        let (path, text) = match text.starts_with('/') {
            true => text.split_once('\n').unwrap(),
            false => ("/mcp/docs", text.as_str()),
        };
        let (head, body) = match text.strip_prefix('\n') {
            Some(body) => ("", body),
            None => text.split_once("\n\n").unwrap(),
        };
        let headers: Vec<_> = head.lines().map(|line| line.split_once(": ").unwrap()).collect();
        let answer = runtime.block_on(server.raw(request("POST", path, &headers, body.trim_end().as_bytes())));
        insta::assert_snapshot!(answer.to_string());
    });
}
