//! Trees that git cannot hold, and what must not depend on where and when a tree is compiled.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    ffi::OsStr,
    fs,
    os::unix::{ffi::OsStrExt, fs::symlink},
    path::Path,
    sync::LazyLock,
    time::{Duration, SystemTime},
};

use mcpress_compiler::{compile, compile_files, emit, schema};
use proptest::prelude::*;
use tempfile::TempDir;

fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = TempDir::new().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

/// The diagnostics without the way to the tree.
fn faults(root: &Path) -> Vec<String> {
    let prefix = format!("{}/", root.display());
    let diagnostics = compile(root).map(|compiled| compiled.warnings).unwrap_or_else(|diagnostics| diagnostics);
    diagnostics.iter().map(|diagnostic| diagnostic.to_string().replace(&prefix, "")).collect()
}

const SERVER: (&str, &str) = ("docs/server.yaml", "");
const PAGE: (&str, &str) = ("docs/resources/a.md", "# A\n");

#[test]
fn a_link_that_leads_out_of_the_tree_is_refused() {
    let root = tree(&[SERVER, PAGE]);
    let outside = tree(&[("secret.txt", "s")]);
    symlink("/etc/passwd", root.path().join("docs/resources/passwd")).unwrap();
    symlink(outside.path(), root.path().join("docs/resources/folder")).unwrap();
    assert_eq!(
        faults(root.path()),
        [
            "docs/resources/folder:1:1: a symbolic link that leads out of the content tree\n  \
             hint: copy what it points to into the tree",
            "docs/resources/passwd:1:1: a symbolic link that leads out of the content tree\n  \
             hint: copy what it points to into the tree",
        ]
    );
}

/// What is said of a tree that not every system could hold.
fn faults_of_files(paths: &[&str]) -> Vec<String> {
    let files = paths.iter().map(|path| ((*path).to_owned(), b"x\n".to_vec()));
    let server = ("docs/server.yaml".to_owned(), Vec::new());
    compile_files(files.chain([server]).collect()).unwrap().warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn paths_that_a_checkout_elsewhere_loses_are_warned_of() {
    let alike = "so a checkout on macOS or Windows loses one of them\n  hint: rename one of them";
    assert_eq!(
        faults_of_files(&[
            "_partials/X.txt",
            "_partials/x.txt",
            "docs/resources/A/b.md",
            "docs/resources/a/B.md",
            "docs/resources/a/c.md",
            "docs/resources/caf\u{e9}.md",
            "docs/resources/cafe\u{301}.md",
            "docs/resources/CAFE\u{301}.md",
            "docs/resources/aux/Com1.tar.gz",
            "docs/resources/auxiliary.md",
        ]),
        [
            format!("_partials/x.txt:1:1: its path and that of `_partials/X.txt` differ only in the case of letters, {alike}"),
            format!("docs/resources/a/B.md:1:1: its path and that of `docs/resources/A/b.md` differ only in the case of letters, {alike}"),
            "docs/resources/aux/Com1.tar.gz:1:1: `aux` is a name that Windows keeps for itself, so no checkout there has \
             this file\n  hint: rename it".to_owned(),
            format!("docs/resources/cafe\u{301}.md:1:1: its path and that of `docs/resources/CAFE\u{301}.md` differ only in the case of letters, {alike}"),
            format!("docs/resources/caf\u{e9}.md:1:1: its path and that of `docs/resources/cafe\u{301}.md` differ only in how Unicode composes a letter, {alike}"),
        ]
    );
}

#[test]
fn a_link_inside_the_tree_is_followed_and_a_loop_is_refused() {
    let root = tree(&[SERVER, PAGE]);
    symlink("a.md", root.path().join("docs/resources/b.md")).unwrap();
    let compiled = compile(root.path()).unwrap();
    assert_eq!(compiled.catalog.rows(compiled.catalog.servers[0].resources).len(), 2);
    symlink("..", root.path().join("docs/resources/loop")).unwrap();
    assert_eq!(
        faults(root.path()),
        [
            "docs/resources/loop:1:1: a symbolic link to a folder that contains it\n  hint: remove it, or point it to a file of the tree"
        ]
    );
}

#[test]
fn what_a_link_leads_to_counts_as_used() {
    let root = tree(&[SERVER, ("docs/pages/b.md", "# B\n")]);
    fs::create_dir(root.path().join("docs/resources")).unwrap();
    symlink("../pages", root.path().join("docs/resources/linked")).unwrap();
    assert_eq!(faults(root.path()), [""; 0]);
}

#[test]
fn an_empty_folder_is_no_content_tree() {
    let root = TempDir::new().unwrap();
    fs::create_dir(root.path().join("docs")).unwrap();
    assert!(faults(root.path())[0].contains("the content tree holds no server"));
}

#[test]
fn a_dangling_link_is_reported() {
    let root = tree(&[SERVER, PAGE]);
    symlink("nowhere", root.path().join("docs/resources/b.md")).unwrap();
    assert_eq!(
        faults(root.path()),
        [
            "docs/resources/b.md:1:1: cannot be read: no such file or directory\n  hint: remove it, or point it to a file of the tree"
        ]
    );
}

#[test]
fn names_that_are_not_utf8_are_refused() {
    let root = tree(&[SERVER, PAGE]);
    fs::write(root.path().join("docs/resources").join(OsStr::from_bytes(b"caf\xe9.md")), "c").unwrap();
    assert_eq!(faults(root.path()), ["docs/resources/caf\u{fffd}.md:1:1: the name is not UTF-8\n  hint: rename it"]);
}

#[test]
fn what_is_no_file_is_refused() {
    let root = tree(&[SERVER, PAGE]);
    let _listener = std::os::unix::net::UnixListener::bind(root.path().join("docs/resources/socket")).unwrap();
    assert_eq!(faults(root.path()), ["docs/resources/socket:1:1: neither a file nor a folder"]);
}

#[test]
fn a_missing_tree_says_what_to_set() {
    let root = TempDir::new().unwrap();
    let missing = root.path().join("none");
    let faults = faults(&missing);
    assert!(faults[0].contains("cannot read the content tree: no such file or directory"), "{faults:?}");
    assert!(faults[0].contains("MCPRESS_CONTENT"), "{faults:?}");
}

#[test]
fn hidden_files_are_neither_content_nor_part_of_the_hash() {
    let root = tree(&[SERVER, PAGE]);
    let before = compile(root.path()).unwrap().catalog;
    fs::write(root.path().join("docs/resources/.a.md.swp"), "x").unwrap();
    fs::create_dir(root.path().join(".git")).unwrap();
    fs::write(root.path().join(".git/HEAD"), "x").unwrap();
    let after = compile(root.path()).unwrap();
    assert!(after.warnings.is_empty());
    assert_eq!(before.blob, after.catalog.blob);
}

#[test]
fn the_same_tree_in_another_place_and_time_gives_the_same_bytes() {
    let good = Path::new("tests/fixtures/good");
    let copy = TempDir::new().unwrap();
    let mut paths: Vec<_> = walkdir::WalkDir::new(good).into_iter().map(|entry| entry.unwrap()).collect();
    // Made in another order, with other times.
    paths.reverse();
    paths.sort_by_key(walkdir::DirEntry::depth);
    for (index, entry) in paths.iter().enumerate() {
        let target = copy.path().join(entry.path().strip_prefix(good).unwrap());
        if entry.file_type().is_dir() {
            fs::create_dir_all(&target).unwrap();
        } else {
            fs::copy(entry.path(), &target).unwrap();
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * index as u64);
            fs::File::options().write(true).open(&target).unwrap().set_modified(time).unwrap();
        }
    }
    let (here, there) = (compile(good).unwrap().catalog, compile(copy.path()).unwrap().catalog);
    assert_eq!(here.blob, there.blob);
    assert_eq!(emit(&here), emit(&there));
}

#[test]
fn the_hash_is_that_of_the_documented_form() {
    use sha2::{Digest, Sha256};
    let root = tree(&[("_partials/p.md", "p"), PAGE, SERVER]);
    let catalog = compile(root.path()).unwrap().catalog;
    let expected =
        Sha256::digest(b"_partials/p.md\x001\x00pdocs/resources/a.md\x004\x00# A\ndocs/server.yaml\x000\x00");
    let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(catalog.text(catalog.hash), expected);
}

#[test]
fn tables_are_sorted_and_every_listed_uri_is_found() {
    let catalog = compile(Path::new("tests/fixtures/good")).unwrap().catalog;
    for server in catalog.servers.iter() {
        let uris: Vec<&str> =
            catalog.rows(server.resources).iter().map(|resource| catalog.text(resource.uri)).collect();
        assert!(uris.is_sorted_by(|a, b| a < b));
        for uri in uris {
            let item: serde_json::Value =
                serde_json::from_str(catalog.text(catalog.resource(server, uri).unwrap().item)).unwrap();
            assert_eq!(item["uri"], uri);
        }
        let items: Vec<_> = catalog.rows(server.resources).iter().map(|resource| resource.item).collect();
        for pair in items.windows(2) {
            assert_eq!(pair[0].1 + 1, pair[1].0, "items stand next to each other");
        }
    }
    let docs = catalog.server("docs").unwrap();
    for (written, listed) in [("docs://api", "docs://API"), ("docs://%c3%bcber%20uns", "docs://%C3%BCber%20uns")] {
        assert_eq!(catalog.text(catalog.resource(docs, written).unwrap().uri), listed);
    }
    assert!(catalog.resource(docs, "docs://guides/Intro").is_none());
}

/// Texts that are nearly definitions: keys and values of the content format in any order and nesting.
fn nearly_yaml() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "uri",
        "uri_template",
        "name",
        "title",
        "mime_type",
        "annotations",
        "icons",
        "meta",
        "ttl",
        "static",
        "url",
        "wp_query",
        "arguments",
        "text",
        "file",
        "files",
        "render",
        "href",
        "headers",
        "site",
        "query",
        "fields",
        "id",
        "values",
        "pattern",
        "src",
        "template",
        "cache",
        "tax_query",
        "date_query",
        "posts_per_page",
        "variables",
    ]);
    let value = prop::sample::select(vec![
        "docs://a",
        "docs://{id}",
        "docs://{path}",
        "a.md",
        "../a.md",
        "*.md",
        "{}",
        "[]",
        "5m",
        "1",
        "true",
        "~",
        "''",
        "\"\\u2028\"",
        "|\n  {{ args.id }}\n",
        "{{ vars.x }}",
        "[a, b]",
        "{id: {}}",
        "{text: a}",
        "{file: a.md}",
        "${X}",
        "https://example.com/{id}",
        "!x y",
        "&a b",
        "*a",
        "é",
        "- a",
        "text/plain",
        "[",
        "{a: b, a: c}",
    ]);
    let line =
        (0usize..4, key, value).prop_map(|(depth, key, value)| format!("{}{key}: {value}\n", "  ".repeat(depth)));
    let list = prop::collection::vec((any::<bool>(), line), 0..8);
    list.prop_map(|lines| {
        lines.into_iter().map(|(item, line)| if item { format!("- {}", line.trim_start()) } else { line }).collect()
    })
}

static DEFINITION_SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema = serde_json::from_str(&schema("resource").unwrap()).unwrap();
    jsonschema::draft7::new(&schema).unwrap()
});

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_definition_compiles_or_is_refused_at_a_place_in_it(text in prop_oneof![nearly_yaml(), "\\PC{0,80}"]) {
        let page = format!("---\n{text}---\n\n# A\n");
        let root = tree(&[SERVER, ("docs/resources/a.yaml", &text), ("docs/resources/b.md", &page)]);
        match compile(root.path()) {
            Ok(compiled) => {
                let definition = serde_yaml::from_str::<serde_json::Value>(&text).unwrap();
                prop_assert!(DEFINITION_SCHEMA.is_valid(&definition), "the schema refuses {}", text);
                for server in compiled.catalog.servers.iter() {
                    for resource in compiled.catalog.rows(server.resources).iter() {
                        let item = compiled.catalog.text(resource.item);
                        prop_assert!(serde_json::from_str::<serde_json::Value>(item).is_ok(), "{}", item);
                    }
                }
            }
            Err(diagnostics) => {
                for diagnostic in &diagnostics {
                    let lines = if diagnostic.path.ends_with(".md") { page.lines().count() } else { text.lines().count() };
                    let line = diagnostic.position.map_or(1, |position| position.line);
                    prop_assert!((1..=lines + 1).contains(&line), "{}", diagnostic);
                }
            }
        }
    }
}
