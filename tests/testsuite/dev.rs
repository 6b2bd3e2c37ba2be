//! `mcpress dev`: what is served while the tree changes, and what is said of it.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::Child,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Instant,
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    task::yield_now,
    time::timeout,
};

use crate::{
    support::{Client, PATIENCE, mcpress, modern, request},
    upstream::{Upstream, ok},
};

/// A tree whose server `docs` has these files.
fn tree(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "server.yaml", "title: Docs\n");
    for (path, content) in files {
        write(folder.path(), path, content);
    }
    folder
}

/// Where the tree of a test is: in a folder of its own, so that it may be replaced.
fn content(folder: &Path) -> PathBuf {
    folder.join("content")
}

/// Writes a file of the server `docs` at one stroke, so that nothing is ever read of it but the whole.
fn write(folder: &Path, path: &str, content: &str) {
    let path = self::content(folder).join("docs").join(path);
    let temporary = path.with_file_name(".new");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&temporary, content).unwrap();
    fs::rename(temporary, path).unwrap();
}

/// A running `mcpress dev`.
struct Dev {
    child: Child,
    addresses: mpsc::UnboundedReceiver<String>,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Dev {
    fn spawn(folder: &Path, arguments: &[&str]) -> Self {
        Self::spawn_at(&content(folder), arguments)
    }

    fn spawn_at(tree: &Path, arguments: &[&str]) -> Self {
        let mut command = mcpress(&["dev", tree.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
        Self::of(command.args(arguments).spawn().unwrap())
    }

    fn of(mut child: Child) -> Self {
        let (addresses, lines) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        Self { child, addresses, lines }
    }

    /// With a client of the server whose address it prints first.
    async fn start(folder: &Path, arguments: &[&str]) -> (Self, Client) {
        let mut dev = Self::spawn(folder, arguments);
        let (client, _) = dev.address().await;
        (dev, client)
    }

    /// The next address that it prints, and its slug.
    async fn address(&mut self) -> (Client, String) {
        let line = timeout(PATIENCE, self.addresses.recv()).await.unwrap().expect("it prints an address");
        let (port, slug) = line.strip_prefix("http://127.0.0.1:").unwrap().split_once("/mcp/").unwrap();
        (Client { port: port.parse().unwrap() }, slug.to_owned())
    }

    /// What it says on stderr until it says this.
    async fn says(&mut self, text: &str) -> String {
        let mut said = String::new();
        while !said.contains(text) {
            let line = timeout(PATIENCE, self.lines.recv()).await.unwrap_or_else(|_| panic!("not `{text}`: {said}"));
            said.push_str(&line.unwrap_or_else(|| panic!("ended without `{text}`: {said}")));
            said.push('\n');
        }
        said
    }
}

impl Drop for Dev {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(output: impl Read + Send + 'static) -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let _ = sender.send(line);
        }
    });
    receiver
}

/// The text of a resource of `docs`, or the code of the error.
async fn read(client: &Client, uri: &str) -> Result<String, i64> {
    let answer = client.rpc("docs", "resources/read", json!({ "uri": uri })).await;
    let text = answer["result"]["contents"][0]["text"].as_str();
    text.map(str::to_owned).ok_or_else(|| answer["error"]["code"].as_i64().unwrap())
}

/// Reads until this is the answer.
async fn becomes(client: &Client, uri: &str, expected: Result<&str, i64>) {
    let start = Instant::now();
    loop {
        let found = read(client, uri).await;
        if found.as_ref().map(String::as_str).map_err(|code| *code) == expected {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{uri} is still {found:?}");
        yield_now().await;
    }
}

/// A stream of `subscriptions/listen`.
struct Listening {
    stream: TcpStream,
    read: String,
    given: usize,
}

impl Listening {
    /// Opens one, and gives what is acknowledged.
    async fn to(client: &Client, slug: &str, notifications: Value) -> (Self, Value) {
        let (headers, message) = modern("subscriptions/listen", json!({ "notifications": notifications }));
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut stream = client.connect().await;
        stream.write_all(&request("POST", &format!("/mcp/{slug}"), &headers, message.as_bytes())).await.unwrap();
        let mut listening = Self { stream, read: String::new(), given: 0 };
        let acknowledged = listening.next().await.unwrap();
        assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
        (listening, acknowledged["params"]["notifications"].clone())
    }

    /// The next message; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        loop {
            let mut events = self.read.split("data: ").skip(1).filter_map(|event| event.split_once("\n\n"));
            if let Some((event, _)) = events.nth(self.given) {
                self.given += 1;
                return Some(serde_json::from_str(event).unwrap());
            }
            let mut buffer = [0; 4096];
            match timeout(PATIENCE, self.stream.read(&mut buffer)).await.expect("something comes").unwrap() {
                0 => return None,
                count => self.read.push_str(std::str::from_utf8(&buffer[..count]).unwrap()),
            }
        }
    }
}

fn list_changed() -> Option<Value> {
    let params = json!({ "_meta": { "io.modelcontextprotocol/subscriptionId": 1 } });
    Some(json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed", "params": params }))
}

fn updated(uri: &str) -> Option<Value> {
    let params = json!({ "uri": uri, "_meta": { "io.modelcontextprotocol/subscriptionId": 1 } });
    Some(json!({ "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": params }))
}

#[tokio::test]
async fn the_next_read_gives_what_was_written_however_it_was_saved() {
    let folder = tree(&[("resources/a.md", "one")]);
    let (_dev, client) = Dev::start(folder.path(), &[]).await;
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");

    // Truncated and written, as some editors do.
    let file = content(folder.path()).join("docs/resources/a.md");
    fs::write(&file, "two").unwrap();
    becomes(&client, "docs://a", Ok("two")).await;

    // Written beside it and moved over it, as most do, here with the time of the old one.
    for (text, temporary) in [("three", ".a.md.swp"), ("four", "a.md~")] {
        let temporary = file.with_file_name(temporary);
        fs::write(&temporary, text).unwrap();
        fs::File::open(&temporary).unwrap().set_modified(fs::metadata(&file).unwrap().modified().unwrap()).unwrap();
        fs::rename(&temporary, &file).unwrap();
        becomes(&client, "docs://a", Ok(text)).await;
    }

    // The old one moved away before the new one is written, as others do.
    fs::rename(&file, file.with_file_name(".a.md.bak")).unwrap();
    fs::write(&file, "five").unwrap();
    becomes(&client, "docs://a", Ok("five")).await;

    // In a folder that was not there, and where that folder is moved to.
    write(folder.path(), "resources/deep/er/b.md", "six");
    becomes(&client, "docs://deep/er/b", Ok("six")).await;
    fs::rename(file.with_file_name("deep"), file.with_file_name("moved")).unwrap();
    becomes(&client, "docs://moved/er/b", Ok("six")).await;
    write(folder.path(), "resources/moved/er/b.md", "seven");
    becomes(&client, "docs://moved/er/b", Ok("seven")).await;
    assert_eq!(read(&client, "docs://deep/er/b").await, Err(-32602));

    fs::remove_file(&file).unwrap();
    becomes(&client, "docs://a", Err(-32602)).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_gives_what_it_leads_to() {
    let folder = tree(&[("_shared/a.md", "one")]);
    fs::create_dir_all(content(folder.path()).join("docs/resources")).unwrap();
    std::os::unix::fs::symlink("../_shared/a.md", content(folder.path()).join("docs/resources/a.md")).unwrap();
    let (_dev, client) = Dev::start(folder.path(), &[]).await;
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");
    write(folder.path(), "_shared/a.md", "two");
    becomes(&client, "docs://a", Ok("two")).await;
}

#[tokio::test]
async fn what_does_not_compile_is_reported_and_what_compiled_last_stays() {
    let folder = tree(&[("resources/a.md", "one"), ("resources/b.md", "b")]);
    let (mut dev, client) = Dev::start(folder.path(), &[]).await;
    write(folder.path(), "resources/c.yaml", "uri: docs://c\nstatic: {text: c}\nmime_typ: text/plain\n");
    let said = dev.says("not reloaded").await;
    assert!(said.contains("error: ") && said.contains("docs/resources/c.yaml:3:1: mime_typ: unknown key"), "{said}");
    assert!(said.ends_with("not reloaded: what compiled last is still served\n"), "{said}");
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");

    // Still broken, in another way: the fault is new, that it is broken is not.
    write(folder.path(), "resources/a.md", "two");
    write(folder.path(), "resources/c.yaml", "uri: docs://c\n  static: {text: c}\n");
    let said = dev.says("docs/resources/c.yaml:2:").await;
    assert!(!said.contains("not reloaded"), "{said}");
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");

    fs::remove_file(content(folder.path()).join("docs/resources/b.md")).unwrap();
    write(folder.path(), "resources/c.yaml", "uri: docs://c\nname: c\nstatic: {text: c}\n");
    let said = dev.says("reloaded: ").await;
    assert!(said.ends_with("reloaded: 1 added, 1 removed, 1 changed\n"), "{said}");
    assert_eq!(read(&client, "docs://a").await.unwrap(), "two");
    assert_eq!(read(&client, "docs://c").await.unwrap(), "c");
}

#[tokio::test]
async fn a_tree_that_is_broken_at_the_start_is_waited_for() {
    let folder = tree(&[("resources/a.md", "one")]);
    write(folder.path(), "server.yaml", "titel: Docs\n");
    let mut dev = Dev::spawn(folder.path(), &[]);
    let said = dev.says("nothing is served until the tree compiles").await;
    assert!(said.contains("docs/server.yaml:1:1: titel: unknown key"), "{said}");
    write(folder.path(), "server.yaml", "title: Docs\n");
    let (client, slug) = dev.address().await;
    assert_eq!(slug, "docs");
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");
    dev.says("reloaded: 1 added, 0 removed, 0 changed").await;

    // The address of a server that is added is printed too.
    let other = content(folder.path()).join("other");
    fs::create_dir_all(other.join("resources")).unwrap();
    fs::write(other.join("resources/x.md"), "x").unwrap();
    fs::write(other.join("server.yaml"), "title: Other\n").unwrap();
    assert_eq!(dev.address().await.1, "other");
}

#[tokio::test]
async fn a_variable_that_is_missing_keeps_what_was_served() {
    let folder = tree(&[("resources/a.md", "one")]);
    let (mut dev, client) = Dev::start(folder.path(), &[]).await;
    write(folder.path(), "resources/b.yaml", "# B\nuri: docs://b\nurl: https://${NOWHERE_TO_BE_FOUND}/\n");
    let said = dev.says("not reloaded").await;
    let file = content(folder.path()).join("docs/resources/b.yaml");
    let expected =
        format!("error: {}:2: the variable `NOWHERE_TO_BE_FOUND` is missing in the environment", file.display());
    assert!(said.contains(&expected), "{said}");
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");
    assert_eq!(read(&client, "docs://b").await, Err(-32602));
}

#[tokio::test]
async fn who_listens_is_told_of_what_changes_and_of_nothing_else() {
    let template = "uri_template: docs://t/{x}\nname: t\narguments: {x: {}}\nstatic: {text: 'one {{ args.x }}'}\n";
    let folder = tree(&[
        ("resources/a.md", "a1"),
        ("resources/b.md", "b1"),
        ("resources/c.md", "c1"),
        ("resources/t.yaml", template),
        ("resources/u.yaml", "uri: docs://u\nname: u\nurl: https://example.com/\n"),
    ]);
    let (mut dev, client) = Dev::start(folder.path(), &[]).await;
    let uris = json!(["docs://a", "docs://t/1", "docs://later", "docs://c", "docs://u", "docs://a"]);
    let (mut all, acknowledged) = Listening::to(
        &client,
        "docs",
        json!({ "resourcesListChanged": true, "toolsListChanged": true, "resourceSubscriptions": uris }),
    )
    .await;
    let uris = json!(["docs://a", "docs://t/1", "docs://later", "docs://c", "docs://u"]);
    assert_eq!(acknowledged, json!({ "resourcesListChanged": true, "resourceSubscriptions": uris }));
    let (mut list, acknowledged) = Listening::to(&client, "docs", json!({ "resourcesListChanged": true })).await;
    assert_eq!(acknowledged, json!({ "resourcesListChanged": true }));
    let (mut none, acknowledged) = Listening::to(&client, "docs", json!({ "promptsListChanged": true })).await;
    assert_eq!(acknowledged, json!({}));

    // Nobody subscribed to `b`, and it is listed as before.
    write(folder.path(), "resources/b.md", "b2");
    dev.says("reloaded: 0 added, 0 removed, 1 changed").await;
    // Definitions only move down in their file.
    write(folder.path(), "resources/u.yaml", "# U\nuri: docs://u\nname: u\nurl: https://example.com/\n");
    dev.says("reloaded: 0 added, 0 removed, 0 changed").await;
    write(folder.path(), "resources/a.md", "a2");
    assert_eq!(all.next().await, updated("docs://a"));
    dev.says("reloaded: 0 added, 0 removed, 1 changed").await;
    write(folder.path(), "resources/t.yaml", &template.replace("one", "two"));
    assert_eq!(all.next().await, updated("docs://t/1"));
    dev.says("reloaded: 0 added, 0 removed, 1 changed").await;
    write(folder.path(), "resources/u.yaml", "uri: docs://u\nname: u\nurl: https://example.com/other\n");
    assert_eq!(all.next().await, updated("docs://u"));
    dev.says("reloaded: 0 added, 0 removed, 1 changed").await;

    write(folder.path(), "resources/later.md", "here");
    assert_eq!(list.next().await, list_changed());
    assert_eq!([all.next().await, all.next().await], [list_changed(), updated("docs://later")]);
    fs::remove_file(content(folder.path()).join("docs/resources/c.md")).unwrap();
    assert_eq!(list.next().await, list_changed());
    assert_eq!([all.next().await, all.next().await], [list_changed(), updated("docs://c")]);

    // The server itself goes: every stream ends as it should.
    fs::rename(content(folder.path()).join("docs"), content(folder.path()).join("new")).unwrap();
    for stream in [&mut all, &mut list, &mut none] {
        let last = stream.next().await.unwrap();
        assert_eq!(last["id"], 1);
        assert_eq!(last["result"]["resultType"], "complete");
        assert_eq!(last["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1);
        assert_eq!(stream.next().await, None);
        assert!(stream.read.ends_with("0\r\n\r\n"), "{}", stream.read);
    }
    assert_eq!(dev.address().await.1, "new");
}

#[tokio::test]
async fn a_partial_is_a_part_of_what_includes_it() {
    let folder = tree(&[
        ("../_partials/sign.txt", "one"),
        ("../_partials/other.txt", "one"),
        (
            "resources/t.yaml",
            "uri_template: docs://t/{x}\narguments: {x: {}}\nstatic: {text: \"{{ args.x }} {% include 'sign.txt' %}\"}\n",
        ),
        ("resources/plain.yaml", "uri: docs://plain\nurl: https://example.com/\n"),
        (
            "resources/made.yaml",
            "uri: docs://made\nurl: {href: https://example.com/, template: \"{% include 'sign.txt' %}\"}\n",
        ),
    ]);
    let (mut dev, client) = Dev::start(folder.path(), &[]).await;
    let uris = json!(["docs://plain", "docs://t/1", "docs://made"]);
    let (mut listening, _) = Listening::to(&client, "docs", json!({ "resourceSubscriptions": uris })).await;
    // What it renders is the same; of what is fetched nobody knows without fetching it.
    write(folder.path(), "../_partials/other.txt", "two");
    assert_eq!(listening.next().await, updated("docs://made"));
    dev.says("reloaded: 0 added, 0 removed, 2 changed").await;
    write(folder.path(), "../_partials/sign.txt", "two");
    assert_eq!([listening.next().await, listening.next().await], [updated("docs://t/1"), updated("docs://made")]);
    assert_eq!(read(&client, "docs://t/1").await.unwrap(), "1 two");
}

#[tokio::test]
async fn changes_are_declared_where_they_are_announced() {
    let folder = tree(&[("resources/a.md", "one")]);
    let (_dev, client) = Dev::start(folder.path(), &[]).await;
    let discovered = client.modern("docs", "server/discover", json!({})).await.json();
    let capabilities = &discovered["result"]["capabilities"];
    assert_eq!(
        *capabilities,
        json!({ "resources": { "subscribe": true, "listChanged": true }, "tools": {}, "prompts": {} })
    );
    // The older revisions have no stream on which they could be announced.
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "x", "version": "1" } });
    let initialized = client.rpc("docs", "initialize", params).await;
    assert_eq!(initialized["result"]["capabilities"], json!({ "resources": {}, "tools": {}, "prompts": {} }));
    // Clients are to keep nothing.
    for (method, params) in [("resources/list", json!({})), ("resources/read", json!({ "uri": "docs://a" }))] {
        assert_eq!(client.modern("docs", method, params).await.json()["result"]["ttlMs"], 0, "{method}");
    }
}

#[tokio::test]
async fn a_cursor_of_another_list_is_refused() {
    let folder = tree(&[("resources/a.md", "a"), ("resources/b.md", "b"), ("server.yaml", "page_size: 1\n")]);
    let (mut dev, client) = Dev::start(folder.path(), &[]).await;
    let cursor = client.rpc("docs", "resources/list", json!({})).await["result"]["nextCursor"].clone();
    write(folder.path(), "resources/c.md", "c");
    dev.says("reloaded: 1 added").await;
    let refused = client.rpc("docs", "resources/list", json!({ "cursor": cursor })).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn what_was_fetched_is_kept_until_its_definition_changes() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let upstream =
        Upstream::start(move |_| ok("text/plain", format!("{}", counted.fetch_add(1, Ordering::SeqCst) + 1))).await;
    let definition = |path: &str| {
        let port = upstream.port;
        format!("uri: docs://u\nurl: {{href: 'http://127.0.0.1:{port}/{path}', cache: {{ttl: 1h}}}}\n")
    };
    let folder = tree(&[
        ("resources/u.yaml", &definition("")),
        ("server.yaml", "fetch: {allow_private_network: true}\n"),
        ("resources/a.md", "one"),
    ]);
    let (_dev, client) = Dev::start(folder.path(), &[]).await;
    assert_eq!(read(&client, "docs://u").await.unwrap(), "1");
    write(folder.path(), "resources/a.md", "two");
    becomes(&client, "docs://a", Ok("two")).await;
    assert_eq!(read(&client, "docs://u").await.unwrap(), "1");
    write(folder.path(), "resources/u.yaml", &definition("other"));
    becomes(&client, "docs://u", Ok("2")).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn many_files_at_once_are_compiled_few_times() {
    let folder = tree(&[("resources/a.md", "one")]);
    let (mut dev, client) = Dev::start(folder.path(), &[]).await;
    let start = Instant::now();
    let many = content(folder.path()).join("docs/resources/many");
    fs::create_dir_all(&many).unwrap();
    for index in 0..500 {
        fs::write(many.join(format!("{index}.md")), "text").unwrap();
    }
    write(folder.path(), "resources/last.md", "last");
    let written = start.elapsed();
    becomes(&client, "docs://last", Ok("last")).await;
    assert_eq!(read(&client, "docs://many/499").await.unwrap(), "text");
    // Whatever was compiled by now has been reported before this is.
    write(folder.path(), "resources/a.md", "two");
    let said = dev.says(" 1 changed").await;
    // Each takes a quiet moment, which a busy machine may make of any of the writes.
    let allowed = 2 + written.as_millis() / 100;
    assert!(said.lines().count() as u128 <= allowed, "{allowed}: {said}");
}

#[tokio::test]
async fn the_whole_folder_may_go_and_come_again() {
    for arguments in [&[][..], &["--poll"]] {
        let folder = tree(&[("resources/a.md", "one")]);
        let (mut dev, client) = Dev::start(folder.path(), arguments).await;
        let (tree, away) = (content(folder.path()), folder.path().join("away"));
        fs::remove_dir_all(&tree).unwrap();
        let said = dev.says("not reloaded").await;
        assert!(said.contains("cannot read the content tree"), "{said}");
        assert_eq!(read(&client, "docs://a").await.unwrap(), "one");

        write(folder.path(), "resources/a.md", "two");
        write(folder.path(), "server.yaml", "title: Docs\n");
        becomes(&client, "docs://a", Ok("two")).await;
        write(folder.path(), "resources/a.md", "three");
        becomes(&client, "docs://a", Ok("three")).await;

        // Another one is moved to its place, and is watched from then on.
        fs::rename(&tree, &away).unwrap();
        fs::create_dir_all(folder.path().join("next/docs/resources")).unwrap();
        fs::write(folder.path().join("next/docs/server.yaml"), "").unwrap();
        fs::write(folder.path().join("next/docs/resources/a.md"), "four").unwrap();
        fs::rename(folder.path().join("next"), &tree).unwrap();
        becomes(&client, "docs://a", Ok("four")).await;
        fs::write(away.join("docs/resources/a.md"), "elsewhere").unwrap();
        write(folder.path(), "resources/a.md", "five");
        becomes(&client, "docs://a", Ok("five")).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_that_a_link_names_may_be_another_one() {
    for arguments in [&[][..], &["--poll"]] {
        let folder = tree(&[("resources/a.md", "one")]);
        let link = |name: &str| std::os::unix::fs::symlink(name, folder.path().join("new link")).unwrap();
        fs::rename(content(folder.path()), folder.path().join("first")).unwrap();
        fs::create_dir_all(folder.path().join("second/docs/resources")).unwrap();
        fs::write(folder.path().join("second/docs/server.yaml"), "").unwrap();
        fs::write(folder.path().join("second/docs/resources/a.md"), "two").unwrap();
        link("first");
        fs::rename(folder.path().join("new link"), content(folder.path())).unwrap();
        let (_dev, client) = Dev::start(folder.path(), arguments).await;
        write(folder.path(), "resources/a.md", "changed");
        becomes(&client, "docs://a", Ok("changed")).await;
        link("second");
        fs::rename(folder.path().join("new link"), content(folder.path())).unwrap();
        becomes(&client, "docs://a", Ok("two")).await;
        write(folder.path(), "resources/a.md", "three");
        becomes(&client, "docs://a", Ok("three")).await;
    }
}

/// Serves `path` below a folder, which leads to a tree that says `one`.
async fn serving(folder: &Path, path: &str) -> (Dev, Client) {
    let mut dev = Dev::spawn_at(&folder.join(path), &[]);
    let (client, _) = dev.address().await;
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");
    (dev, client)
}

/// A tree whose resource `a` is this.
fn tree_at(path: &Path, text: &str) {
    fs::create_dir_all(path.join("docs/resources")).unwrap();
    fs::write(path.join("docs/server.yaml"), "title: Docs\n").unwrap();
    fs::write(path.join("docs/resources/a.md"), text).unwrap();
}

#[tokio::test]
async fn a_folder_above_the_tree_may_go_and_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let (site, old) = (folder.path().join("site"), folder.path().join("old"));
    let tree = site.join("content");
    tree_at(&tree, "one");
    let (mut dev, client) = serving(folder.path(), "site/content").await;

    // It is gone with everything above it, as in a branch that has it not.
    fs::remove_dir_all(&site).unwrap();
    dev.says("not reloaded").await;
    assert_eq!(read(&client, "docs://a").await.unwrap(), "one");
    tree_at(&tree, "two");
    becomes(&client, "docs://a", Ok("two")).await;
    fs::write(tree.join("docs/resources/a.md"), "three").unwrap();
    becomes(&client, "docs://a", Ok("three")).await;

    // It is moved away, where nobody looks at it.
    fs::rename(&site, &old).unwrap();
    dev.says("not reloaded").await;
    tree_at(&tree, "four");
    becomes(&client, "docs://a", Ok("four")).await;
    fs::write(old.join("content/docs/resources/a.md"), "elsewhere").unwrap();
    fs::write(tree.join("docs/resources/a.md"), "five").unwrap();
    becomes(&client, "docs://a", Ok("five")).await;

    // Another one is put in its place before anybody can look.
    tree_at(&folder.path().join("next/content"), "six");
    fs::remove_dir_all(&old).unwrap();
    fs::rename(&site, &old).unwrap();
    fs::rename(folder.path().join("next"), &site).unwrap();
    becomes(&client, "docs://a", Ok("six")).await;
    fs::write(tree.join("docs/resources/a.md"), "seven").unwrap();
    becomes(&client, "docs://a", Ok("seven")).await;
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_above_the_tree_may_lead_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let link = |version: &str| {
        std::os::unix::fs::symlink(version, folder.path().join("new")).unwrap();
        fs::rename(folder.path().join("new"), folder.path().join("current")).unwrap();
    };
    tree_at(&folder.path().join("v1/content"), "one");
    tree_at(&folder.path().join("v2/content"), "two");
    link("v1");
    let (_dev, client) = serving(folder.path(), "current/content").await;
    link("v2");
    becomes(&client, "docs://a", Ok("two")).await;
    fs::write(folder.path().join("v2/content/docs/resources/a.md"), "three").unwrap();
    becomes(&client, "docs://a", Ok("three")).await;
}

#[tokio::test]
async fn a_stream_ends_when_its_server_asks_for_other_tokens() {
    let folder = tree(&[("resources/a.md", "one")]);
    let tree = content(folder.path());
    let mut command = mcpress(&["dev", tree.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    let child = command.env("DEV_TOKENS", "0123456789abcdef".repeat(3)).spawn().unwrap();
    let mut dev = Dev::of(child);
    let (client, _) = dev.address().await;
    let (mut listening, _) = Listening::to(&client, "docs", json!({ "resourcesListChanged": true })).await;
    write(folder.path(), "server.yaml", "title: Docs\nauth: {bearer: {tokens_env: DEV_TOKENS}}\n");
    let said = dev.says("reloaded").await;
    assert!(!said.contains("not reloaded"), "{said}");
    let last = listening.next().await.unwrap();
    assert_eq!(last["result"]["resultType"], "complete", "{last}");
    assert_eq!(listening.next().await, None);
}
