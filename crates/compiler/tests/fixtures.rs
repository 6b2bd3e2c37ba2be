//! Every folder of `fixtures/` is a content tree; what its compilation gives is a snapshot beside it.
//!
//! To add a case, add a folder and run `INSTA_UPDATE=always cargo test -p mcpress-compiler`, then read the new snapshot.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fmt::Write, fs, path::Path};

use mcpress_catalog::{Catalog, Source};
use mcpress_compiler::{Compiled, Diagnostic, compile};

const FIXTURES: &str = "tests/fixtures";

#[test]
fn every_tree_gives_what_its_snapshot_says() {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(FIXTURES).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.insert(entry.file_name().into_string().unwrap());
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("fixtures");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for name in &names {
        let printed = print(compile(&Path::new(FIXTURES).join(name)));
        settings.bind(|| insta::assert_snapshot!(name.as_str(), printed));
    }
    for entry in fs::read_dir(FIXTURES).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if let Some(name) = file.strip_suffix(".snap") {
            assert!(names.contains(name), "the snapshot {file} belongs to no tree");
        }
    }
}

fn print(result: Result<Compiled, Vec<Diagnostic>>) -> String {
    let (catalog, diagnostics) = match result {
        Ok(compiled) => (Some(compiled.catalog), compiled.warnings),
        Err(diagnostics) => (None, diagnostics),
    };
    let mut printed = String::new();
    for diagnostic in diagnostics {
        writeln!(printed, "{}: {diagnostic}", diagnostic.severity).unwrap();
    }
    if let Some(catalog) = catalog {
        print_catalog(&mut printed, &catalog);
    }
    printed
}

fn print_catalog(printed: &mut String, catalog: &Catalog) {
    for server in catalog.servers.iter() {
        writeln!(printed, "server {} {}", catalog.text(server.slug), catalog.text(server.info)).unwrap();
        writeln!(printed, "  ttl {} page {}", server.ttl_ms, server.page_size).unwrap();
        writeln!(printed, "  instructions {}", catalog.text(server.instructions)).unwrap();
        if !server.access.is_empty() {
            writeln!(printed, "  access {}", catalog.text(server.access)).unwrap();
        }
        for resource in catalog.rows(server.resources).iter() {
            let (kind, span) = match resource.source {
                Source::Static(span) => ("static", span),
                Source::Live(span) => ("live", span),
            };
            writeln!(printed, "  resource {}", catalog.text(resource.item)).unwrap();
            writeln!(printed, "    ttl {} {kind} {}", resource.ttl_ms, catalog.text(span)).unwrap();
        }
        for template in catalog.rows(server.templates).iter() {
            writeln!(printed, "  template {}", catalog.text(template.item)).unwrap();
            writeln!(printed, "    ttl {} {}", template.ttl_ms, catalog.text(template.definition)).unwrap();
        }
        for alias in catalog.rows(server.aliases).iter() {
            writeln!(printed, "  alias {} -> {}", catalog.text(alias.normal), alias.resource).unwrap();
        }
    }
}
