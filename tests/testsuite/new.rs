//! `mcpress new` and `mcpress schema`: starters that compile as they are, and what is never done to what is there.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

use crate::{
    command_line::run,
    support::{stderr, stdout},
};

/// A tree that is not there yet, in a folder of its own.
fn tree() -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("content").to_str().unwrap().to_owned();
    (folder, tree)
}

/// What a command says, without the way to the tree.
fn said(arguments: &[&str], folder: &TempDir) -> (Option<i32>, String) {
    let output = run(arguments);
    let text = format!("{}{}", stdout(&output), stderr(&output));
    (output.status.code(), text.replace(&format!("{}/", folder.path().display()), ""))
}

/// A server and a resource of each kind.
fn starters() -> (TempDir, String) {
    let (folder, tree) = tree();
    for slug in ["shop", "2024"] {
        assert_eq!(said(&["new", "server", slug, "--dir", &tree], &folder).0, Some(0));
    }
    for (path, kind) in [
        ("guides/getting-started", "static"),
        ("über uns.md", "static"),
        ("terms.yaml", "static"),
        ("stock.yml", "url"),
        ("news/latest", "wp_query"),
    ] {
        for slug in ["shop", "2024"] {
            let (code, text) = said(&["new", "resource", slug, path, "--kind", kind, "--dir", &tree], &folder);
            assert_eq!(code, Some(0), "{path}: {text}");
        }
    }
    (folder, tree)
}

#[test]
fn every_starter_compiles_without_a_warning() {
    let (folder, tree) = starters();
    let (code, text) = said(&["check", &tree, "--deny-warnings"], &folder);
    assert!(code == Some(0) && text.starts_with("content ") && text.lines().count() == 1, "{text}");
}

#[test]
fn an_empty_folder_is_where_a_tree_begins() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpress"));
    let output = command.args(["new", "server", "shop"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(folder.path().join("content/shop/server.yaml").exists());
}

#[test]
fn it_says_what_it_wrote_and_what_comes_next() {
    let (folder, tree) = tree();
    let (code, text) = said(&["new", "server", "shop", "--dir", &tree], &folder);
    assert_eq!(
        (code, text.as_str()),
        (
            Some(0),
            "wrote content/shop/server.yaml\n\
             wrote content/shop/resources/index.md\n\
             next: edit it, then look at it with: mcpress dev content\n\
             for completion in your editor: mcpress schema --out schema\n"
        )
    );
    let (code, text) = said(&["schema", "--out", folder.path().join("schema").to_str().unwrap()], &folder);
    assert_eq!(
        (code, text.as_str()),
        (
            Some(0),
            "wrote schema/server.schema.json\nwrote schema/site.schema.json\nwrote schema/resource.schema.json\n"
        )
    );
    let (code, text) = said(&["new", "resource", "shop", "a/b", "--kind", "url", "--dir", &tree], &folder);
    assert_eq!(
        (code, text.as_str()),
        (Some(0), "wrote content/shop/resources/a/b.yaml\nnext: edit it, then look at it with: mcpress dev content\n")
    );
}

#[test]
fn a_starter_names_a_schema_that_is_there() {
    let (folder, _tree) = starters();
    run(&["schema", "--out", folder.path().join("schema").to_str().unwrap()]);
    let mut count = 0;
    for file in files(folder.path()).iter().filter(|file| file.extension().is_some_and(|extension| extension != "json"))
    {
        let text = fs::read_to_string(file).unwrap();
        let Some(path) = text.lines().next().unwrap().strip_prefix("# yaml-language-server: $schema=") else {
            assert_eq!(file.extension().unwrap(), "md", "{}", file.display());
            continue;
        };
        assert!(file.parent().unwrap().join(path).is_file(), "{}: {path}", file.display());
        count += 1;
    }
    assert_eq!(count, 8);
}

#[test]
fn what_a_starter_shows_in_comments_is_right() {
    let (folder, tree) = starters();
    let mut count = 0;
    for file in files(Path::new(&tree)) {
        let text = fs::read_to_string(&file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for first in 0..lines.len() {
            let Some(last) = commented(&lines[first..]) else { continue };
            let uncomment = |(index, line): (usize, &&str)| match (first..=first + last).contains(&index) {
                true => line.replacen("# ", "", 1),
                false => (*line).to_owned(),
            };
            let variant: Vec<String> = lines.iter().enumerate().map(uncomment).collect();
            fs::write(&file, variant.join("\n")).unwrap();
            let (_, text) = said(&["check", &tree], &folder);
            for word in ["unknown key", "expected", "not YAML", "missing"] {
                // A template needs its arguments, which are a comment of their own.
                assert!(!text.contains(word) || text.contains(": missing for"), "{}\n{text}", variant.join("\n"));
            }
            count += 1;
        }
        fs::write(&file, text).unwrap();
    }
    assert!(count > 80, "{count}");
}

/// If the first line is a key in a comment: how many of the lines after it belong to it.
fn commented(lines: &[&str]) -> Option<usize> {
    let indent = lines[0].len() - lines[0].trim_start().len();
    let key = lines[0].trim_start().strip_prefix("# ")?.split_once(':')?.0;
    if key.is_empty() || key.contains(|character: char| !(character.is_ascii_lowercase() || character == '_')) {
        return None;
    }
    let deeper = format!("{}#  ", " ".repeat(indent));
    Some(lines[1..].iter().take_while(|line| line.starts_with(&deeper)).count())
}

#[test]
fn nothing_is_overwritten() {
    let (folder, tree) = tree();
    run(&["new", "server", "shop", "--dir", &tree]);
    for name in ["shop/server.yaml", "shop/resources/index.md", "shop/resources/a.yaml"] {
        fs::write(folder.path().join("content").join(name), "mine").unwrap();
    }
    let there =
        |name: &str| (Some(1), format!("error: `content/shop/{name}` is there already, and nothing was written\n"));
    assert_eq!(said(&["new", "server", "shop", "--dir", &tree], &folder), there("server.yaml"));
    fs::remove_file(folder.path().join("content/shop/server.yaml")).unwrap();
    assert_eq!(said(&["new", "server", "shop", "--dir", &tree], &folder), there("resources/index.md"));
    assert!(!folder.path().join("content/shop/server.yaml").exists());
    fs::write(folder.path().join("content/shop/server.yaml"), "").unwrap();
    let again = ["new", "resource", "shop", "a", "--kind", "url", "--dir", &tree];
    assert_eq!(said(&again, &folder), there("resources/a.yaml"));
    assert_eq!(fs::read_to_string(folder.path().join("content/shop/resources/a.yaml")).unwrap(), "mine");
}

#[test]
fn what_would_not_compile_is_not_left_there() {
    let (folder, tree) = tree();
    run(&["new", "server", "shop", "--dir", &tree]);
    run(&["new", "resource", "shop", "news", "--kind", "static", "--dir", &tree]);
    let (code, text) = said(&["new", "resource", "shop", "news", "--kind", "url", "--dir", &tree], &folder);
    assert_eq!(code, Some(1));
    assert!(text.contains("`shop://news` is defined twice"), "{text}");
    assert!(text.ends_with("error: nothing was written, for the tree would not compile\n"), "{text}");
    assert!(!folder.path().join("content/shop/resources/news.yaml").exists());
}

#[test]
fn what_is_refused_leaves_everything_as_it_was() {
    let (folder, tree) = tree();
    let content = folder.path().join("content");
    let refused = |arguments: &[&str], message: &str| {
        let before = entries(folder.path());
        let (code, text) = said(&[&["new"], arguments, &["--dir", &tree]].concat(), &folder);
        assert!(code == Some(1) && text.contains(message), "{text}");
        assert_eq!(entries(folder.path()), before);
    };
    // Its folder is a file, so that the first of two files can be written, and the second cannot.
    fs::create_dir_all(content.join("foo")).unwrap();
    fs::write(content.join("foo/resources"), "mine").unwrap();
    refused(&["server", "foo"], "cannot write `content/foo/resources/index.md`: ");
    fs::remove_dir_all(&content).unwrap();
    // Neither the tree nor any folder of it is left, nor a folder above it.
    fs::write(&content, "mine").unwrap();
    refused(&["server", "foo"], "cannot write `content/foo/server.yaml`: ");
    fs::remove_file(&content).unwrap();

    run(&["new", "server", "shop", "--dir", &tree]);
    fs::write(content.join("shop/resources/taken.yaml"), "{uri: 'shop://a/b/c', static: {text: x}}").unwrap();
    fs::create_dir(content.join("shop/resources/empty")).unwrap();
    refused(&["resource", "shop", "a/b/c", "--kind", "url"], "`shop://a/b/c` is defined twice");
    fs::write(content.join("shop/resources/taken.yaml"), "{uri: 'shop://empty/x', static: {text: x}}").unwrap();
    refused(&["resource", "shop", "empty/x", "--kind", "static"], "`shop://empty/x` is defined twice");
    fs::write(content.join("shop/resources/a"), "mine").unwrap();
    refused(&["resource", "shop", "a/b/c", "--kind", "url"], "cannot write `content/shop/resources/a/b/c.yaml`: ");
}

#[test]
fn a_definition_begins_its_uri_as_the_server_says() {
    let (folder, tree) = tree();
    run(&["new", "server", "shop", "--dir", &tree]);
    fs::write(folder.path().join("content/shop/server.yaml"), "uri_prefix: https://example.com/x/\n").unwrap();
    run(&["new", "resource", "shop", "a b", "--kind", "url", "--dir", &tree]);
    let text = fs::read_to_string(folder.path().join("content/shop/resources/a b.yaml")).unwrap();
    assert!(text.contains("\nuri: https://example.com/x/a%20b\n"), "{text}");
}

#[test]
fn slugs_and_paths_are_checked() {
    let (folder, tree) = tree();
    run(&["new", "server", "shop", "--dir", &tree]);
    let before = files(folder.path());
    for slug in ["", "Shop", "-a", "a/b", "..", "a b"] {
        let (code, text) = said(&["new", "server", "--dir", &tree, "--", slug], &folder);
        assert!(code == Some(1) && text.contains("is no slug"), "{slug}: {text}");
    }
    for (path, kind, message) in [
        ("../x", "static", "is no path of a resource"),
        ("a/../../x", "static", "is no path of a resource"),
        ("/etc/x", "static", "is no path of a resource"),
        ("", "static", "is no path of a resource"),
        ("a//b", "static", "is no path of a resource"),
        ("a/", "url", "is no path of a resource"),
        ("_draft", "static", "is no path of a resource"),
        (".hidden/a", "static", "is no path of a resource"),
        ("a\\b", "static", "not every system allows"),
        ("a: b", "static", "not every system allows"),
        ("a.png", "static", "ends with neither `.md` nor `.yaml`"),
        ("a.md", "url", "does not end with `.yaml`"),
        ("a.json", "wp_query", "does not end with `.yaml`"),
    ] {
        let (code, text) = said(&["new", "resource", "shop", "--kind", kind, "--dir", &tree, "--", path], &folder);
        assert!(code == Some(1) && text.contains(message), "{path}: {text}");
    }
    let (code, text) = said(&["new", "resource", "nope", "a", "--kind", "url", "--dir", &tree], &folder);
    assert_eq!(code, Some(1));
    assert!(text.contains("there is no `content/nope/server.yaml`\n  hint: make the server first: "), "{text}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn a_schema_is_printed_as_it_is_committed() {
    for name in ["server", "site", "resource"] {
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("schema/{name}.schema.json"));
        assert_eq!(stdout(&run(&["schema", name])), fs::read_to_string(committed).unwrap());
    }
    let (folder, _) = tree();
    let taken = folder.path().join("taken");
    fs::write(&taken, "mine").unwrap();
    let (code, text) = said(&["schema", "--out", taken.to_str().unwrap()], &folder);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("error: cannot make the folder `taken`: "), "{text}");
    for arguments in [&["schema"][..], &["schema", "nope"], &["schema", "site", "--out", "x"]] {
        assert_eq!(run(arguments).status.code(), Some(2), "{arguments:?}");
    }
}

/// Every folder, and every file with what it holds.
fn entries(folder: &Path) -> Vec<(PathBuf, Option<String>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).ok();
        if path.is_dir() {
            found.extend(entries(&path));
        }
        found.push((path, text));
    }
    found.sort();
    found
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
