//! Content trees, from files to tables: YAML, front matter, definitions, templates. The input is the files, each behind a
//! line `=== PATH`; what stands before the first is `docs/server.yaml`.
//!
//! A tree that compiles can be served: what it lists is JSON, every static entry reads, and the table is the Rust that it
//! should be. A fault has a place in a file.

#![no_main]

use std::{collections::BTreeMap, sync::LazyLock};

use libfuzzer_sys::fuzz_target;
use mcpress_runtime::{
    fetch::{Config, Fetcher},
    mcp::{Site, Surroundings},
};
use mcpress_catalog::{Catalog, Source, Span};
use mcpress_compiler::{Compiled, Diagnostic, Severity, compile_files, emit};
use serde_json::Value;

static FETCHER: LazyLock<Fetcher> = LazyLock::new(|| Fetcher::new(&Config::default()).unwrap());

fuzz_target!(|input: &[u8]| {
    let files = files(input);
    match compile_files(files.clone()) {
        Ok(Compiled { catalog, warnings }) => {
            check_diagnostics(&files, &warnings);
            check_catalog(&catalog);
            check_rust(&emit(&catalog));
            let surroundings = Surroundings {
                fetcher: FETCHER.clone(),
                environment: Default::default(),
                subscriptions: 1,
                reloads: false,
            };
            if let Err(error) = Site::new(catalog, surroundings) {
                panic!("it compiled, and cannot be served: {error}");
            }
        }
        Err(diagnostics) => {
            check_diagnostics(&files, &diagnostics);
            assert!(diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error));
        }
    }
});

fn files(input: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let (mut path, mut content) = ("docs/server.yaml".to_owned(), Vec::new());
    for line in input.split_inclusive(|byte| *byte == b'\n') {
        let next = line.strip_prefix(b"=== ").and_then(|next| std::str::from_utf8(next.trim_ascii()).ok());
        match next.filter(|next| is_path(next)) {
            Some(next) => {
                files.insert(std::mem::replace(&mut path, next.to_owned()), std::mem::take(&mut content));
            }
            None => content.extend_from_slice(line),
        }
    }
    files.insert(path, content);
    files
}

/// What a folder can hold.
fn is_path(path: &str) -> bool {
    path.split('/').all(|part| !part.is_empty() && !part.starts_with('.') && !part.contains('\0'))
}

fn check_diagnostics(files: &BTreeMap<String, Vec<u8>>, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty());
        let Some(position) = diagnostic.position else { continue };
        let content = files.get(&diagnostic.path).unwrap_or_else(|| panic!("in no file: {diagnostic}"));
        let lines = content.iter().filter(|byte| **byte == b'\n' || **byte == b'\r').count() + 1;
        assert!((1..=lines).contains(&position.line) && position.column > 0, "of {lines} lines: {diagnostic}");
    }
}

fn check_catalog(catalog: &Catalog) {
    let json = |span: Span| -> Value { serde_json::from_str(catalog.text(span)).expect("a table holds JSON") };
    for server in catalog.servers.iter() {
        assert!(json(server.info)["name"].is_string() && json(server.brief_info)["name"].is_string());
        for resource in catalog.rows(server.resources).iter() {
            let uri = catalog.text(resource.uri);
            let item = json(resource.item);
            assert!(item["uri"] == uri && item["name"].is_string(), "{item}");
            let found = catalog.resource(server, uri).expect("what is listed is found");
            assert_eq!(catalog.text(found.uri), uri);
            match resource.source {
                Source::Static(contents) => assert_eq!(json(contents)[0]["uri"], uri),
                Source::Live(definition) => assert!(json(definition).is_object()),
            }
        }
        for template in catalog.rows(server.templates).iter() {
            assert_eq!(json(template.item)["uriTemplate"], catalog.text(template.uri_template));
        }
    }
}

/// Texts of authors stand in comments only.
fn check_rust(rust: &str) {
    for line in rust.lines() {
        let code = line.trim_start();
        let starts = ["//", "static ", "pub(crate) static ", "];", "};", "}", "Server {", "Resource {", "Alias {"];
        let more = ["Template {", "Partial {", "hash:", "servers:", "partials:", "blob:", "use ", "#"];
        assert!(
            code.is_empty() || starts.iter().chain(&more).any(|start| code.starts_with(start)),
            "{line:?} is no line of the table"
        );
        assert!(!line.contains(char::is_control), "{line:?}");
    }
}
