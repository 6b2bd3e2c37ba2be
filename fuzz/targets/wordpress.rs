//! What a WordPress site answers, from its JSON to the contents of an entry. The input is a letter for the entry that is
//! read, and then the answers to the requests for the home page (its `Link`), the root of the API, the types, the
//! taxonomies, the index of routes, the posts (with `X-WP-Total` on their first line) and everything else, each behind
//! a line `--`.
//!
//! The site stands on a socket of its own, so the whole way is gone: discovery, redirects, decoding, filtering, output.
//! What an entry promises to be JSON is JSON.

#![no_main]

use std::{
    collections::BTreeMap,
    sync::{LazyLock, Mutex},
};

use libfuzzer_sys::fuzz_target;
use mcpress_runtime::{
    fetch::{Config, Fetcher},
    mcp::{Site, Surroundings},
};
use mcpress_catalog::Catalog;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
};

/// The entries, by letter.
const ENTRIES: [(&str, &str); 7] = [
    ("a", "query: {posts_per_page: 3}, fields: [id, title, link, date, author, categories, featured_image, content]"),
    ("b", "query: {category_name: news, posts_per_page: 5}, format: markdown"),
    ("c", "query: {post_type: [post, page], orderby: title, order: ASC, posts_per_page: 4}"),
    ("d", "query: {name: hello-world}, format: markdown"),
    ("e", "query: {post_type: page, pagename: about/team}"),
    ("f", "query: {tax_query: [{taxonomy: category, field: name, terms: [News], operator: NOT IN}], offset: 1}"),
    ("g", "query: {s: word, date_query: [{after: '3 days ago'}], posts_per_page: -1}, max_items: 20"),
];

struct Upstream {
    site: Catalog,
    fetcher: Fetcher,
}

/// What the site answers at the moment.
static ANSWERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Builder::new_current_thread().enable_all().build().unwrap());

static UPSTREAM: LazyLock<Upstream> = LazyLock::new(|| {
    let listener = RUNTIME.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    RUNTIME.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        }
    });
    let entries = ENTRIES.map(|(letter, query)| {
        format!(
            "- uri: wp://{letter}\n  wp_query: {{site: 'http://{address}', allow_private_network: true, {query}}}\n"
        )
    });
    let files = BTreeMap::from([
        ("wp/server.yaml".to_owned(), b"name: wp\n".to_vec()),
        ("wp/resources/entries.yaml".to_owned(), entries.concat().into_bytes()),
    ]);
    let site = match mcpress_compiler::compile_files(files) {
        Ok(compiled) => compiled.catalog,
        Err(errors) => panic!("{errors:?}"),
    };
    Upstream { site, fetcher: Fetcher::new(&Config::default()).unwrap() }
});

fuzz_target!(|input: &[u8]| {
    let mut parts = split(input);
    let letter = parts.next().unwrap_or_default();
    *ANSWERS.lock().unwrap() = parts.map(<[u8]>::to_vec).collect();
    let index = letter.first().map_or(0, |letter| usize::from(letter.wrapping_sub(b'a'))) % ENTRIES.len();
    let Upstream { site, fetcher } = &*UPSTREAM;
    let surroundings = Surroundings {
        fetcher: fetcher.forgetful(),
        environment: Default::default(),
        subscriptions: 0,
        reloads: false,
    };
    let site = Site::new(site.clone(), surroundings).unwrap();
    let (letter, query) = ENTRIES[index];
    match RUNTIME.block_on(site.read("wp", &format!("wp://{letter}"))) {
        Ok(contents) => {
            let contents: serde_json::Value = serde_json::from_slice(&contents).expect("contents are JSON");
            let text = contents[0]["text"].as_str().expect("posts are text");
            if !query.contains("markdown") {
                serde_json::from_str::<serde_json::Value>(text).expect("the text of this entry is JSON");
            }
        }
        Err(message) => {
            assert!(!message.is_empty() && message.len() < 2000, "{message}");
            assert!(!message.contains(char::is_control), "{message:?}");
        }
    }
});

/// The parts of an input.
fn split(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(input);
    std::iter::from_fn(move || {
        let all = rest?;
        let end = all.windows(4).position(|window| window == b"\n--\n");
        rest = end.map(|end| &all[end + 4..]);
        Some(&all[..end.unwrap_or(all.len())])
    })
}

/// Answers one request after the other, as a client that keeps its connection sends them.
async fn serve(mut stream: TcpStream) {
    let mut head = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        while let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            let request = String::from_utf8_lossy(&head[..end]).into_owned();
            head.drain(..end + 4);
            if stream.write_all(&answer(&request)).await.is_err() {
                return;
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return,
            Ok(count) => head.extend_from_slice(&chunk[..count]),
        }
    }
}

fn answer(request: &str) -> Vec<u8> {
    let target = request.split(' ').nth(1).unwrap_or("/");
    let path = target.split('?').next().unwrap_or_default();
    let answers = ANSWERS.lock().unwrap();
    let part = |index: usize| answers.get(index).map_or(&[][..], Vec::as_slice);
    let line = |value: &[u8]| {
        let line = value.split(|byte| *byte == b'\n').next().unwrap_or_default();
        line.iter().copied().filter(|byte| matches!(byte, b' '..=b'~')).map(char::from).collect::<String>()
    };
    let respond = |headers: String, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n",
            body.len()
        );
        [head.as_bytes(), body].concat()
    };
    if request.starts_with("HEAD ") {
        // The length is that of no body.
        return format!("HTTP/1.1 200 OK\r\nlink: {}\r\n\r\n", line(part(0))).into_bytes();
    }
    match path.strip_prefix("/wp-json").unwrap_or(path) {
        "/" | "" => respond(String::new(), part(1)),
        "/wp/v2/types" => respond(String::new(), part(2)),
        "/wp/v2/taxonomies" => respond(String::new(), part(3)),
        "/wp/v2" => respond(String::new(), part(4)),
        // Further pages are empty.
        _ if path.contains("/posts") || path.contains("/pages") => {
            let posts = part(5);
            let total = line(posts);
            let body = posts.get(total.len()..).unwrap_or_default();
            let body = if target.contains("offset=") || target.contains("page=2") { b"[]" } else { body };
            respond(format!("x-wp-total: {total}\r\n"), body)
        }
        _ => respond(String::new(), part(6)),
    }
}
