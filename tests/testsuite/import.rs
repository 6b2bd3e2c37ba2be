//! `mcpress import getmcp`: what becomes of an export, and that its texts come back byte for byte.

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{TestServer, app, fixture, mcpress, site, stderr, stdout};

/// Runs an import in `folder`, where it makes `out`.
fn import(folder: &Path, export: &Path, arguments: &[&str]) -> Output {
    let mut command = mcpress(&["import", "getmcp", export.to_str().unwrap(), "--out", "out"]);
    command.args(arguments).current_dir(folder).output().unwrap()
}

/// Imports an export that is written for it.
fn import_value(folder: &Path, export: &Value, arguments: &[&str]) -> Output {
    let file = folder.join("export.json");
    fs::write(&file, export.to_string()).unwrap();
    import(folder, &file, arguments)
}

/// Every file below a folder, by its path there, with `/` between the parts.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    found
}

fn export(resources: &Value) -> Value {
    json!({ "format": "getmcp/server-v1", "server": { "slug": "shop" }, "resources": resources })
}

fn static_resource(uri: &str, mime_type: Option<&str>, text: &str) -> Value {
    let config = json!({ "content": text });
    json!({ "uri": uri, "name": uri, "mime_type": mime_type, "data_source_type": "static", "data_source_config": config })
}

#[test]
fn an_export_becomes_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    let output = import(folder.path(), &fixture("getmcp/export.json"), &["--site", "https://shop.example.com"]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let mut text = format!("{}\n== stderr ==\n{}", stdout(&output), stderr(&output));
    for (path, bytes) in files(&folder.path().join("out")) {
        text.push_str(&format!("\n== {path} ==\n{}", String::from_utf8(bytes).unwrap()));
    }
    insta::assert_snapshot!(text);
    let check = mcpress(&["check", "out"]).current_dir(folder.path()).output().unwrap();
    assert_eq!((check.status.code(), stderr(&check)), (Some(0), ""));
}

#[test]
fn what_is_carried_over_whole_ends_with_0() {
    let folder = tempfile::tempdir().unwrap();
    let resources = json!([static_resource("docs://a", Some("text/plain"), "A")]);
    let output = import_value(folder.path(), &export(&resources), &[]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    insta::assert_snapshot!(stdout(&output), @r"
    out/shop: 1 of 1 definitions carried over

    carried over:
      `docs://a` (resources[0]): static, files/a.txt
    ");
}

#[test]
fn what_is_missing_is_no_fault_of_the_file() {
    for (export, code, carried) in [
        (json!({ "server": { "name": "My Shop" } }), 0, "out/my-shop: 0 of 0"),
        (json!({ "server": { "slug": "x" }, "resources": null, "prompts": null }), 0, "out/x: 0 of 0"),
        (json!({ "server": { "slug": "7eleven" }, "resources": {} }), 0, "out/7eleven: 0 of 0"),
        (json!({ "server": { "slug": "../../Etc/" }, "resources": [] }), 0, "out/etc: 0 of 0"),
        (json!({ "server": { "slug": "x", "version": 1.5, "name": ["x"] } }), 3, "out/x: 0 of 0"),
        (
            json!({ "server": { "slug": "x" }, "resources": { "3": static_resource("a:b", None, "") } }),
            0,
            "out/x: 1 of 1",
        ),
        (json!({ "server": { "slug": "x" }, "resources": [{}, 7, "x", [], { "uri": "a:b" }] }), 3, "out/x: 0 of 5"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let output = import_value(folder.path(), &export, &[]);
        assert_eq!(output.status.code(), Some(code), "{export}: {}{}", stdout(&output), stderr(&output));
        assert!(stdout(&output).starts_with(carried), "{export}: {}", stdout(&output));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{export}: something was written elsewhere");
        assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 1);
    }
}

#[test]
fn nothing_is_written_where_an_import_fails() {
    let query = json!([{ "uri": "a:b", "data_source_type": "wp_query", "data_source_config": { "p": 1 } }]);
    let cases: [(&str, Vec<u8>, &[&str]); 9] = [
        ("not JSON", b"{".to_vec(), &[]),
        ("no object", b"[]".to_vec(), &[]),
        ("nothing of an export", b"{\"a\":1}".to_vec(), &[]),
        ("another format", b"{\"format\":\"getmcp/server-v2\",\"server\":{}}".to_vec(), &[]),
        ("no slug", export(&json!([])).to_string().replace("shop", "日本").into_bytes(), &[]),
        ("no list", b"{\"server\":{\"slug\":\"a\"},\"resources\":7}".to_vec(), &[]),
        ("no site", export(&query).to_string().into_bytes(), &[]),
        ("a wrong site that nothing needs", export(&json!([])).to_string().into_bytes(), &["--site", "ftp://x"]),
        ("a wrong site", export(&query).to_string().into_bytes(), &["--site", "shop.example.com"]),
    ];
    let mut messages = String::new();
    for (name, bytes, arguments) in cases {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("export.json");
        fs::write(&file, bytes).unwrap();
        let output = import(folder.path(), Path::new("export.json"), arguments);
        assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""), "{name}");
        assert!(!folder.path().join("out").exists(), "{name}");
        messages.push_str(&format!("{name}: {}", stderr(&output)));
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn members_that_are_given_twice_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    let config = r#"{\"content\": \"A\", \"content\": \"B\"}"#;
    let export = format!(
        r#"{{"server": {{"slug": "con", "title": "One", "title": "Two"}}, "resources": [{{
            "uri": "docs://a", "data_source_type": "static", "data_source_config": "{config}", "uri": "docs://b"
        }}]}}"#
    );
    fs::write(folder.path().join("export.json"), export).unwrap();
    let output = import(folder.path(), Path::new("export.json"), &[]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    insta::assert_snapshot!(stdout(&output), @r"
    out/server-con: 1 of 1 definitions carried over

    carried over:
      `docs://b` (resources[0]): static, files/b.txt

    not carried over:
      resources[0].data_source_config.content: given more than once, and the last one counts
      server.title: given more than once, and the last one counts
      resources[0].uri: given more than once, and the last one counts

    to know:
      `con` is a name that Windows keeps for itself, so the server is `server-con`
    ");
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let there = folder.path().join("out/shop/server.yaml");
    fs::create_dir_all(there.parent().unwrap()).unwrap();
    fs::write(&there, "title: Mine\n").unwrap();
    let output = import_value(folder.path(), &export(&json!([])), &[]);
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(stderr(&output), @r"
    error: `out/shop` exists already, and nothing is overwritten
      hint: move it away, or give another folder with --out
    ");
    assert_eq!(files(&folder.path().join("out")).len(), 1);
    assert_eq!(fs::read_to_string(there).unwrap(), "title: Mine\n");
}

#[cfg(unix)]
#[test]
fn a_link_in_the_way_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("out")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", folder.path().join("out/shop")).unwrap();
    let output = import_value(folder.path(), &export(&json!([])), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(!folder.path().join("elsewhere").exists());
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let long = static_resource("docs://long", None, &"x".repeat(100_000));
    let file = folder.path().join("export.json");
    fs::write(&file, export(&json!([static_resource("docs://a", None, "A"), long])).to_string()).unwrap();
    let mut bash = Command::new("bash");
    // Files may have 8 KiB, and what goes beyond is an error to the program.
    bash.args(["-c", r#"trap '' XFSZ; ulimit -f 8; exec "$0" import getmcp export.json --out out"#]);
    let output = bash.arg(env!("CARGO_BIN_EXE_mcpress")).current_dir(folder.path()).output().unwrap();
    assert_eq!((output.status.code(), stdout(&output)), (Some(1), ""));
    assert!(stderr(&output).contains("cannot write `out/.shop.unfinished/files/long.txt`"), "{}", stderr(&output));
    assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 0);
}

/// Texts that files, front matter, YAML or JSON could change.
const HOSTILE: &[&str] = &[
    "",
    "\n",
    "\n\n\n",
    " ",
    "\t",
    "---",
    "---\n",
    "---\ntitle: x\n---\n\ntext\n",
    "--- \r\ntitle: x\r\n...\r\ntext",
    "\u{feff}---\ntitle: x\n---\n",
    "\u{feff}with a mark",
    "a\0b",
    "a\r\nb\nc\rd",
    "\r",
    "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "no",
    "1.10",
    "0123",
    "~",
    "null",
    "# comment\n",
    "- a\n- b\n",
    "key: value # not a comment\n",
    "  indented\n more\n",
    "\ttab\n\n  \n trailing \n\n\n",
    "{{ args.x }} {% include 'x' %} ${HOME} $$",
    "\u{85}\u{2028}\u{2029}\n\u{2028}x\n",
    "\u{7f}\u{1b}[31m\u{9f}\u{fffe}\u{ffff}\n",
    "naïve – 日本語 – 🎉\n",
    "| > ' \" \\ \\n %TAG ! & * @ `\n...\n---\n",
];

/// The text of a read, however it was given.
fn payload(contents: &Value) -> Vec<u8> {
    match contents["text"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => STANDARD.decode(contents["blob"].as_str().unwrap()).unwrap(),
    }
}

const TYPES: [Option<&str>; 6] = [
    None,
    Some("text/markdown"),
    Some("text/plain; charset=utf-8"),
    Some("application/json"),
    Some("application/x-yaml"),
    Some("application/octet-stream"),
];

#[tokio::test]
async fn hostile_texts_are_read_as_they_were_stored() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<(String, Option<&str>, &str)> = HOSTILE
        .iter()
        .flat_map(|text| TYPES.iter().map(move |mime_type| (*mime_type, *text)))
        .enumerate()
        .map(|(index, (mime_type, text))| (format!("docs://{index}"), mime_type, text))
        .collect();
    let resources: Vec<_> = cases.iter().map(|(uri, mime_type, text)| static_resource(uri, *mime_type, text)).collect();
    let output = import_value(folder.path(), &export(&resources.into()), &[]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let server = TestServer::with(app(&folder.path().join("out"))).await;
    for (uri, mime_type, text) in &cases {
        let answer = server.rpc("shop", "resources/read", json!({ "uri": uri })).await;
        let contents = &answer["result"]["contents"][0];
        assert_eq!(payload(contents), text.as_bytes(), "{mime_type:?} {text:?}");
        assert_eq!(contents["mimeType"], mime_type.unwrap_or("text/plain"));
    }
}

#[tokio::test]
async fn a_text_behind_a_template_is_read_as_it_was_stored() {
    let folder = tempfile::tempdir().unwrap();
    let texts = ["Hello!\r\n", "a\n\n\n", "{name} and { { %} }}", "---\nx: y\n---\nz"];
    let resources = texts.iter().enumerate().map(|(index, text)| {
        let mut resource = static_resource("", Some("text/markdown"), text);
        resource["template_uri"] = format!("docs://{index}/{{name}}{{?x}}").into();
        resource
    });
    let output = import_value(folder.path(), &export(&resources.collect()), &[]);
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    let server = TestServer::with(app(&folder.path().join("out"))).await;
    for (index, text) in texts.iter().enumerate() {
        let answer = server.rpc("shop", "resources/read", json!({ "uri": format!("docs://{index}/anna") })).await;
        assert_eq!(answer["result"]["contents"][0]["text"], *text, "{answer}");
    }
}

/// A text of characters that mean something somewhere.
fn text() -> impl Strategy<Value = String> {
    let character = proptest::sample::select(
        "\0\t\n\r \u{1b}\u{7f}\u{85}\u{a0}\u{2028}\u{2029}\u{feff}\u{fffe}\u{10ffff}aé0-.:#'\"\\|>{}[]!&*%@`~$,?=<"
            .chars()
            .collect::<Vec<_>>(),
    );
    prop_oneof![
        proptest::collection::vec(character, 0..24).prop_map(|characters| characters.into_iter().collect()),
        "(---|\\.\\.\\.|version https://git-lfs.github.com/spec/v1|a: b|  x|\t)?(\n|\r\n)(---|a|  b\n|# c| \n){0,3}\n{0,2}",
        "\\PC{0,40}",
        proptest::sample::select(HOSTILE).prop_map(str::to_owned),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]

    /// Each case imports many, since each starts the program.
    #[test]
    fn any_text_is_read_as_it_was_stored(
        texts in proptest::collection::vec((text(), text(), proptest::sample::select(&TYPES[..])), 1..40),
        name in text(), instructions in text(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let resources: Vec<_> = texts.iter().enumerate().map(|(index, (text, described, mime_type))| {
            let mut resource = static_resource(&format!("docs://{index}"), *mime_type, text);
            resource["name"] = described.as_str().into();
            resource["description"] = described.as_str().into();
            resource
        }).collect();
        let mut export = export(&resources.into());
        export["server"]["name"] = name.as_str().into();
        export["server"]["instructions"] = instructions.as_str().into();
        let output = import_value(folder.path(), &export, &[]);
        prop_assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
        let compiled = mcpress_compiler::compile(&folder.path().join("out")).unwrap();
        let server = compiled.catalog.server("shop").unwrap();
        let info: Value = serde_json::from_str(compiled.catalog.text(server.info)).unwrap();
        prop_assert_eq!(&info["name"], if name.trim().is_empty() { "shop" } else { &name });
        if !instructions.trim().is_empty() {
            let given: String = serde_json::from_str(compiled.catalog.text(server.instructions)).unwrap();
            prop_assert_eq!(&given, &instructions);
        }
        for (index, (_, described, _)) in texts.iter().enumerate().filter(|(_, (_, text, _))| !text.trim().is_empty()) {
            let resource = compiled.catalog.resource(server, &format!("docs://{index}")).unwrap();
            let item: Value = serde_json::from_str(compiled.catalog.text(resource.item)).unwrap();
            prop_assert_eq!(&item["name"], described);
            prop_assert_eq!(&item["description"], described);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let site = site(compiled.catalog.clone(), 0);
        for (index, (text, _, mime_type)) in texts.iter().enumerate() {
            let contents = runtime.block_on(site.read("shop", &format!("docs://{index}"))).unwrap();
            let contents: Value = serde_json::from_slice(&contents).unwrap();
            prop_assert_eq!(payload(&contents[0]), text.as_bytes(), "{:?} {:?}", mime_type, text);
        }
    }

    /// Whatever stands where in an export, an import ends well or says why not, and writes into one folder.
    #[test]
    fn any_export_is_imported_or_refused(
        members in proptest::collection::vec(
            (text(), text(), proptest::sample::select(&["static", "url", "wp_query", "callback", ""][..]), text(), text()),
            0..12,
        ),
        slug in text(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let resources: Vec<_> = members.iter().map(|(uri, template, kind, key, value)| json!({
            "uri": uri,
            "template_uri": template,
            "name": value,
            "mime_type": key,
            "data_source_type": kind,
            "data_source_config": { "content": value, "url": value, "cache_ttl": key, key: value },
            value: key,
        })).collect();
        let export = json!({ "server": { "slug": slug, slug.clone(): members.len() }, "resources": resources });
        let output = import_value(folder.path(), &export, &["--site", "https://example.com"]);
        let code = output.status.code();
        prop_assert!(matches!(code, Some(0 | 3)) || (code == Some(1) && stderr(&output).contains("slug")),
            "{:?} {}{}", code, stdout(&output), stderr(&output));
        prop_assert!(fs::read_dir(folder.path()).unwrap().count() <= 2);
        if code != Some(1) {
            prop_assert_eq!(fs::read_dir(folder.path().join("out")).unwrap().count(), 1);
        }
    }
}
