//! The import rules of `docs/ARCHITECTURE.md`, read from the sources.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// A rule: only these files may hold one of these texts.
struct Rule {
    texts: &'static [&'static str],
    only: &'static [&'static str],
}

/// What only the fuzz targets compile reaches wherever it must.
const FUZZING: &[&str] = &["fuzzing.rs", "fetch/fuzzing.rs"];

const RULES: &[Rule] = &[
    // The compiler is for `check` and `dev`.
    Rule { texts: &["mcpress_compiler"], only: &["build.rs", "commands/"] },
    // The library takes a catalog, so that a test serves any tree.
    Rule { texts: &["mod content", "CATALOG"], only: &["src/main.rs"] },
    // Messages know nothing of the transport, and the transport nothing of content.
    Rule { texts: &["hyper"], only: &["http.rs", "connection.rs", "coding.rs", "gate.rs", "exporter.rs"] },
    Rule { texts: &["StatusCode"], only: &["http.rs", "gate.rs", "exporter.rs", "fetch/"] },
    Rule {
        texts: &["mcpress_catalog", "Catalog"],
        only: &["mcp/", "auth/", "rate.rs", "fetch/", "program.rs", "commands/", "src/content.rs"],
    },
    Rule { texts: &["crate::mcp", "mcp::"], only: &["mcp/", "http.rs", "gate.rs", "program.rs", "commands/"] },
    Rule { texts: &["regex::"], only: &["mcp/"] },
    Rule { texts: &["minijinja"], only: &["mcp/", "fetch/"] },
    // What comes from elsewhere comes through one module.
    Rule { texts: &["reqwest", "lookup_host", "rustls"], only: &["fetch/"] },
    // What serves writes nothing, anywhere; commands that make a tree do.
    Rule { texts: &["fs::write", "create_dir", "fs::rename", "remove_dir"], only: &["commands/", "build.rs"] },
    Rule { texts: &["serde_yaml"], only: &["commands/"] },
    Rule { texts: &["TcpListener"], only: &["server.rs", "exporter.rs", "commands/serve.rs"] },
    Rule { texts: &["TcpStream"], only: &["server.rs", "exporter.rs"] },
    // What is counted is counted in one place, and libraries are not heard.
    Rule { texts: &["prometheus_client"], only: &["metrics/"] },
    Rule { texts: &["tracing_subscriber"], only: &["program.rs"] },
    // Cryptography and its libraries stand in one place.
    Rule { texts: &["jsonwebtoken", "ring::signature", "sha2::"], only: &["auth/"] },
    Rule { texts: &["governor"], only: &["rate.rs"] },
    // Files are watched for `dev` only.
    Rule { texts: &["notify::"], only: &["commands/dev/"] },
    // One reader of the environment, one place that ends the program, one that speaks to cargo.
    Rule { texts: &["env = \"", "env::var", "std::env"], only: &["config.rs", "build.rs"] },
    Rule { texts: &["process::exit"], only: &[] },
    Rule { texts: &["cargo::"], only: &["build.rs"] },
    Rule { texts: &["#[tokio::main]"], only: &["program.rs"] },
];

/// Modules in order: each may use those after it only.
const ORDER: &[&str] = &[
    "program",
    "commands",
    "config",
    "exporter",
    "server",
    "connection",
    "http",
    "gate",
    "sse",
    "mcp",
    "stream",
    "activity",
    "body",
    "coding",
    "jsonrpc",
    "limits",
    "access",
    "forwarded",
    "rate",
    "auth",
    "fetch",
    "record",
    "metrics",
    "trace",
    "outcome",
    "throttle",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Where each file stands, from the sources of the runtime or else from the root, with `/`; and its code without comments.
fn code() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = vec![root.join("build.rs")];
    let runtime = root.join("crates/runtime/src");
    sources(&root.join("src"), &mut paths);
    sources(&runtime, &mut paths);
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
        let path = path.strip_prefix(&runtime).or_else(|_| path.strip_prefix(root)).unwrap();
        (path.to_str().unwrap().replace('\\', "/"), code)
    };
    paths.into_iter().map(read).filter(|(path, _)| !FUZZING.contains(&path.as_str())).collect()
}

#[test]
fn each_text_stands_only_where_it_may() {
    let code = code();
    assert!(code.len() > 10);
    for rule in RULES {
        for text in rule.texts {
            for (path, code) in &code {
                let may = rule.only.iter().any(|only| path == only || (only.ends_with('/') && path.starts_with(only)));
                assert!(may || !code.contains(text), "{path} must not use `{text}`");
            }
            let used =
                rule.only.is_empty() || code.iter().any(|(_, code)| rule.texts.iter().any(|text| code.contains(text)));
            assert!(used, "nothing uses `{text}`: the rule is out of date");
        }
    }
}

#[test]
fn modules_use_only_those_below_them() {
    for (path, code) in code() {
        let module = path.split(['/', '.']).next().unwrap();
        let Some(index) = ORDER.iter().position(|name| *name == module) else { continue };
        let imports = code.replace(char::is_whitespace, "");
        for above in &ORDER[..index] {
            let used = [format!("crate::{above}::"), format!("crate::{above};"), format!("crate::{{{above}::")];
            assert!(!used.iter().any(|text| imports.contains(text)), "{path} must not use `{above}`");
            let group =
                imports.split("usecrate::{").nth(1).and_then(|rest| rest.split("};").next()).unwrap_or_default();
            let in_group = group.split(',').any(|item| item.split("::").next() == Some(above));
            assert!(!in_group, "{path} must not use `{above}`");
        }
    }
}

#[test]
fn the_catalog_neither_waits_nor_reads() {
    let mut paths = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/catalog/src"), &mut paths);
    assert!(!paths.is_empty());
    for path in paths {
        let text = fs::read_to_string(&path).unwrap();
        for word in ["async fn", "std::fs", "std::net", "std::env", "tokio"] {
            assert!(!text.contains(word), "{} must not use `{word}`", path.display());
        }
    }
}
