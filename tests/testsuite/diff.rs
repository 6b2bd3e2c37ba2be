//! `mcpress diff`: what differs between two trees, in each format.

use std::{fs, path::Path, process::Output};

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{mcpress, stderr, stdout};

/// A folder with the trees `old` and `new`.
fn trees(old: &[(&str, &str)], new: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in [("old", old), ("new", new)] {
        for (path, text) in files {
            let path = folder.path().join(name).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    folder
}

fn diff(folder: &Path, arguments: &[&str]) -> Output {
    mcpress(&["diff", "old", "new"]).args(arguments).current_dir(folder).output().unwrap()
}

const OLD: &[(&str, &str)] = &[
    ("_partials/footer.txt", "Bye\n"),
    ("docs/server.yaml", "title: Docs\nvariables: { team: A }\n"),
    ("docs/resources/same.md", "# Same\n"),
    ("docs/resources/contents.md", "# Contents\n\nold\n"),
    ("docs/resources/described.yaml", "uri: docs://described\ntitle: Old\nstatic: { text: x }\n"),
    ("docs/resources/removed.md", "# Removed\n"),
    ("docs/resources/before.txt", "moved to another URI\n"),
    ("docs/resources/kind.yaml", "uri: docs://kind\nmime_type: text/plain\nstatic: { text: xyz }\n"),
    ("docs/resources/live.yaml", "uri: docs://live\nurl: { href: 'https://example.com/1', cache: { ttl: 5m } }\n"),
    (
        "docs/resources/template.yaml",
        "uri_template: docs://t/{id}\narguments: { id: {} }\nstatic: { text: '{{ vars.team }} {{ args.id }}' }\n",
    ),
    ("docs/resources/moved.yaml", "uri: docs://moved\nstatic: { text: 'as it was' }\n"),
    ("gone/server.yaml", ""),
    ("gone/resources/a.txt", "a"),
    ("still/server.yaml", ""),
    ("still/resources/a.txt", "a"),
];

const NEW: &[(&str, &str)] = &[
    ("_partials/footer.txt", "Good bye\n"),
    ("docs/server.yaml", "title: Docs\ninstructions: Read.\nttl: 1m\nvariables: { team: B }\n"),
    ("docs/resources/same.md", "# Same\n"),
    ("docs/resources/contents.md", "# Contents\n\nnew and longer\n"),
    (
        "docs/resources/described.yaml",
        "uri: docs://described\ntitle: New\nannotations: { priority: 1 }\nttl: 5m\nstatic: { text: x }\n",
    ),
    ("docs/resources/added.md", "# Added\n"),
    ("docs/resources/after.txt", "moved to another URI\n"),
    ("docs/resources/kind.yaml", "uri: docs://kind\nmime_type: text/plain\nurl: https://example.com/kind\n"),
    ("docs/resources/live.yaml", "uri: docs://live\nurl: { href: 'https://example.com/2', cache: { ttl: 10m } }\n"),
    (
        "docs/resources/template.yaml",
        "uri_template: docs://t/{id}\narguments: { id: {} }\nstatic: { text: '{{ vars.team }} {{ args.id }}' }\n",
    ),
    ("docs/resources/elsewhere.yaml", "- uri: docs://moved\n  static: { file: ../files/moved.txt }\n"),
    ("docs/files/moved.txt", "as it was"),
    ("fresh/server.yaml", "title: Fresh\n"),
    ("fresh/resources/a.txt", "a"),
    ("still/server.yaml", ""),
    ("still/resources/a.txt", "a"),
];

#[test]
fn each_format_says_what_differs() {
    let folder = trees(OLD, NEW);
    for format in ["text", "json", "markdown"] {
        let output = diff(folder.path(), &["--format", format]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), ""), "{format}");
        insta::assert_snapshot!(format!("diff_{format}"), stdout(&output));
    }
    assert_eq!(diff(folder.path(), &["--exit-code"]).status.code(), Some(3));
}

#[test]
fn a_file_that_moved_is_no_difference() {
    let new = &[
        ("docs/server.yaml", ""),
        ("docs/resources/x.yaml", "uri: docs://a\nname: a\nmime_type: text/plain\nstatic: { text: \"A\" }\n"),
        ("_notes/a.txt", "the tree has another hash"),
    ];
    let folder = trees(&[("docs/server.yaml", ""), ("docs/resources/a.yaml", new[1].1)], new);
    let output = diff(folder.path(), &["--exit-code"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), "no difference\n"));
    let markdown = diff(folder.path(), &["--format", "markdown"]);
    assert!(stdout(&markdown).starts_with("### Content: no difference\n\nContent hash `"), "{}", stdout(&markdown));
    let json: Value = serde_json::from_str(stdout(&diff(folder.path(), &["--format", "json"]))).unwrap();
    assert_eq!((&json["servers"], json["hash"]["old"] == json["hash"]["new"]), (&serde_json::json!([]), false));
}

#[test]
fn trees_that_do_not_compile_are_not_compared() {
    let folder =
        trees(&[("docs/server.yaml", "titel: x\n")], &[("docs/server.yaml", ""), ("docs/resources/a.yaml", "{}")]);
    let output = diff(folder.path(), &["--exit-code"]);
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""));
    insta::assert_snapshot!(stderr(&output));
}

#[test]
fn a_long_list_is_folded_and_fits_a_comment() {
    let definitions: String = (0..5000)
        .map(|index| format!("- uri: docs://{index:05}\n  title: Page {index}\n  static: {{ text: x }}\n"))
        .collect();
    let folder = trees(
        &[("docs/server.yaml", ""), ("docs/resources/a.txt", "a")],
        &[("docs/server.yaml", ""), ("docs/resources/a.txt", "a"), ("docs/resources/all.yaml", &definitions)],
    );
    let output = diff(folder.path(), &["--format", "markdown"]);
    let text = stdout(&output);
    assert!(text.len() < 65_536 && text.len() > 50_000, "{}", text.len());
    let rows = text.lines().filter(|line| line.starts_with("| added")).count();
    assert!(text.contains("<summary>5000 entries</summary>") && text.ends_with("</details>\n"), "{text}");
    assert!(text.contains(&format!("\nand {} more\n", 5000 - rows)), "{rows}");
}

/// What the comment shows: its HTML, and the cells of each row, of which only code is an author's.
fn rendered(markdown: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let (mut html, mut rows, mut in_cell) = (Vec::new(), Vec::new(), false);
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
        match event {
            Event::Start(Tag::TableRow) => rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                in_cell = true;
                if let Some(row) = rows.last_mut() {
                    row.push(String::new());
                }
            }
            Event::End(TagEnd::TableCell) => in_cell = false,
            Event::Html(text) | Event::InlineHtml(text) => html.push(text.to_string()),
            Event::Text(text) | Event::Code(text) if in_cell => {
                if let Some(cell) = rows.last_mut().and_then(|row: &mut Vec<String>| row.last_mut()) {
                    cell.push_str(&text);
                }
            }
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong) => {
                panic!("a text was taken for markup: {markdown}")
            }
            _ => {}
        }
    }
    (html, rows)
}

/// The number in the URI that a cell begins with.
fn index(cell: &str) -> Option<u32> {
    cell.strip_prefix("docs://")?.split('@').next()?.parse().ok()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_title_can_leave_its_cell(
        titles in proptest::collection::vec("[|`<>@#!\\\\*_~\\[\\]()&;:/a-c \n-]{1,20}|@team|<img src=x>|a\\|b", 1..14),
    ) {
        let titles: Vec<_> = titles.iter().filter(|title| !title.trim().is_empty()).collect();
        let definitions: Vec<_> = titles.iter().enumerate().map(|(index, title)| serde_json::json!({
            "uri": format!("docs://{index}@team?a=<{index}>|*b*").replace(['<', '>', '|'], "'"),
            "title": title,
            "static": { "text": "x" },
        })).collect();
        prop_assume!(!definitions.is_empty());
        let definitions = Value::from(definitions).to_string();
        let base = ("docs/server.yaml", "");
        let folder = trees(&[base], &[base, ("docs/resources/all.yaml", &definitions)]);
        let output = diff(folder.path(), &["--format", "markdown"]);
        prop_assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let (html, mut rows) = rendered(stdout(&output));
        prop_assert!(html.iter().all(|tag| ["<br>", "<code>", "</code>"].contains(&tag.as_str())), "{:?}", html);
        prop_assert_eq!(rows.len(), titles.len());
        rows.sort_by_key(|cells| index(&cells[1]));
        for (title, cells) in titles.iter().zip(&rows) {
            prop_assert_eq!(cells.len(), 4);
            let shown = title.replace('\n', "\\n");
            prop_assert!(cells[1].trim_end().ends_with(shown.trim()), "{:?} {:?}", cells, title);
        }
    }
}

#[test]
fn without_an_old_tree_that_compiles_all_was_added() {
    let folder = tempfile::tempdir().unwrap();
    let server = folder.path().join("new/docs");
    fs::create_dir_all(server.join("resources")).unwrap();
    fs::write(server.join("server.yaml"), "").unwrap();
    fs::write(server.join("resources/a.md"), "# A\n").unwrap();
    for is_there in [false, true] {
        if is_there {
            fs::create_dir_all(folder.path().join("old/docs")).unwrap();
            fs::write(folder.path().join("old/docs/server.yaml"), "titel: Docs\n").unwrap();
        }
        let output = diff(folder.path(), &["--format", "markdown"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(
            stdout(&output).starts_with("### Content: 1 added\n\nContent hash `nothing` → `"),
            "{}",
            stdout(&output)
        );
        assert_eq!(stderr(&output).contains("old/docs/server.yaml:1:1: titel: unknown key"), is_there);
        assert!(stderr(&output).contains("nothing to compare with: there is no tree `old` that compiles"));
    }
    // What is wrong with the new tree is what counts.
    fs::rename(folder.path().join("old"), folder.path().join("faulty")).unwrap();
    fs::rename(folder.path().join("new"), folder.path().join("old")).unwrap();
    fs::rename(folder.path().join("faulty"), folder.path().join("new")).unwrap();
    assert_eq!(diff(folder.path(), &[]).status.code(), Some(1));
}
