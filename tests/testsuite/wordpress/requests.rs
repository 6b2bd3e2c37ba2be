//! What a site is asked, and what it is never asked. The site is a small one that answers as WordPress does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcpress_runtime::fetch::{Config, Fetcher};
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{compile, fetch, ids, read, text};
use crate::upstream::{Reply, Request, Upstream, redirect, response, status};

fn ok(body: &Value) -> Reply {
    Reply::Bytes(response("200 OK", &[("content-type", "application/json")], body.to_string()))
}

fn part(total: usize, body: &Value) -> Reply {
    let total = total.to_string();
    let headers = [("content-type", "application/json"), ("x-wp-total", &total)];
    Reply::Bytes(response("200 OK", &headers, body.to_string()))
}

/// A site with posts and categories; `posts` answers for the posts.
async fn site(posts: impl Fn(&Parameters) -> Reply + Send + Sync + 'static) -> Upstream {
    Upstream::start(move |request| match path(request) {
        "/" => Reply::Bytes(response("200 OK", &[("link", "</wp-json/>; rel=\"https://api.w.org/\"")], "")),
        "/wp-json/" => ok(&json!({ "namespaces": ["wp/v2"], "timezone_string": "", "gmt_offset": "-3.5" })),
        "/wp-json/wp/v2/types" => ok(&json!({
            "post": { "slug": "post", "rest_base": "posts", "taxonomies": ["category"] },
            "book": { "slug": "book", "rest_base": "books", "rest_namespace": "library/v1", "taxonomies": [] },
        })),
        "/wp-json/wp/v2/taxonomies" => ok(&json!({
            "category": { "rest_base": "categories", "types": ["post"], "hierarchical": true },
        })),
        "/wp-json/wp/v2" | "/wp-json/library/v1" => {
            let names = [
                "search",
                "after",
                "before",
                "include",
                "exclude",
                "slug",
                "status",
                "author",
                "author_exclude",
                "sticky",
                "categories",
                "categories_exclude",
                "offset",
                "per_page",
            ];
            let mut arguments: Value = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            arguments["orderby"] = json!({ "enum": ["date", "id", "title", "include", "relevance"] });
            let endpoints = json!({ "endpoints": [{ "methods": ["GET"], "args": arguments }] });
            ok(&json!({ "routes": { "/wp/v2/posts": endpoints, "/library/v1/books": endpoints } }))
        }
        "/wp-json/wp/v2/categories" => match Parameters::of(request).get("slug[]").as_deref() {
            Some("news") => ok(&json!([{ "id": 7 }])),
            Some(_) => ok(&json!([])),
            None => part(2, &json!([{ "id": 7, "parent": 0 }, { "id": 8, "parent": 7 }])),
        },
        "/wp-json/wp/v2/posts" | "/wp-json/library/v1/books" => posts(&Parameters::of(request)),
        other => panic!("{other}"),
    })
    .await
}

fn path(request: &Request) -> &str {
    request.target.split('?').next().unwrap()
}

struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(request: &Request) -> Self {
        let url = reqwest::Url::parse(&format!("http://site{}", request.target)).unwrap();
        Self(url.query_pairs().into_owned().collect())
    }

    fn get(&self, name: &str) -> Option<String> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.get(name).map(|value| value.parse().unwrap())
    }
}

/// Posts with the ids from 1 on, a page at a time.
fn numbered(total: usize) -> impl Fn(&Parameters) -> Reply {
    move |parameters| {
        if parameters.get("sticky").is_some() {
            return part(0, &json!([]));
        }
        let (offset, size) = (parameters.number("offset").unwrap_or(0), parameters.number("per_page").unwrap());
        assert!(size <= 100, "WordPress refuses more");
        let posts: Vec<Value> = (offset + 1..=total.min(offset + size)).map(|id| json!({ "id": id })).collect();
        part(total, &Value::Array(posts))
    }
}

fn entry(upstream: &Upstream, query: &Value) -> Value {
    json!({
        "uri": "wp://posts",
        "wp_query": { "site": upstream.url("/"), "query": query, "fields": ["id"], "allow_private_network": true },
    })
}

fn asked(upstream: &Upstream, path: &str) -> Vec<Vec<(String, String)>> {
    let requests = upstream.requests();
    let asked = requests.iter().filter(|request| self::path(request) == path);
    asked.map(|request| Parameters::of(request).0).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn asks_for_no_more_than_is_needed() {
    let upstream = site(numbered(5)).await;
    let mut entry = entry(&upstream, &json!({ "category_name": "news", "posts_per_page": 3, "paged": 2 }));
    entry["wp_query"]["fields"] = json!(["id", "title", "author", "featured_image"]);
    let fetched = fetch(entry, &[]).await.unwrap();
    assert_eq!(
        text(&fetched),
        r#"[{"id":4,"title":null,"author":null,"featured_image":null},{"id":5,"title":null,"author":null,"featured_image":null}]"#
    );
    let expected = pairs(&[
        ("categories", "7,8"),
        ("_fields", "id,sticky,title,content.protected,excerpt.protected,_links,_embedded"),
        ("_embed", "author,wp:featuredmedia"),
        ("orderby", "date"),
        ("order", "desc"),
        ("per_page", "3"),
        ("offset", "3"),
    ]);
    assert_eq!(asked(&upstream, "/wp-json/wp/v2/posts"), [expected]);
}

#[tokio::test]
async fn pages_are_read_in_order_and_up_to_the_limit() {
    let upstream = site(numbered(250)).await;
    let all = json!({ "posts_per_page": -1, "ignore_sticky_posts": true });
    let fetched = fetch(entry(&upstream, &all), &[]).await.unwrap();
    assert_eq!(ids(&fetched), (1..=250).collect::<Vec<_>>());
    let parts = |upstream: &Upstream| {
        let asked = asked(upstream, "/wp-json/wp/v2/posts").into_iter().map(Parameters);
        let mut parts: Vec<_> = asked.map(|asked| (asked.number("offset"), asked.number("per_page"))).collect();
        parts.sort_unstable();
        parts
    };
    assert_eq!(parts(&upstream), [(None, Some(100)), (Some(100), Some(100)), (Some(200), Some(100))]);

    let upstream = site(numbered(250)).await;
    let mut limited = entry(&upstream, &all);
    limited["wp_query"]["max_items"] = json!(150);
    let fetched = fetch(limited, &[]).await.unwrap();
    assert_eq!(ids(&fetched), (1..=150).collect::<Vec<_>>());
    assert_eq!(fetched.left_out, Some(100));
    assert_eq!(parts(&upstream), [(None, Some(100)), (Some(100), Some(50))]);
}

#[tokio::test]
async fn without_a_total_the_end_is_found() {
    let upstream = site(|parameters| {
        let (offset, size) = (parameters.number("offset").unwrap_or(0), parameters.number("per_page").unwrap());
        ok(&(offset + 1..=250.min(offset + size)).map(|id| json!({ "id": id })).collect())
    })
    .await;
    let mut entry = entry(&upstream, &json!({ "posts_per_page": -1, "ignore_sticky_posts": true }));
    let fetched = fetch(entry.clone(), &[]).await.unwrap();
    assert_eq!((ids(&fetched).len(), fetched.left_out), (250, None));
    entry["wp_query"]["max_items"] = json!(100);
    let fetched = fetch(entry, &[]).await.unwrap();
    assert_eq!((ids(&fetched).len(), fetched.left_out), (100, Some(1)));
}

#[tokio::test]
async fn four_pages_at_a_time() {
    let most = Arc::new(AtomicUsize::new(0));
    let upstream = site(numbered(1000)).await;
    // In front of it stands a gate that counts.
    let port = upstream.port;
    let now = Arc::new(AtomicUsize::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gate = listener.local_addr().unwrap().port();
    let counted = most.clone();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (now, most) = (now.clone(), counted.clone());
            tokio::spawn(async move {
                let mut server = tokio::net::TcpStream::connect(("127.0.0.1", port)).await.unwrap();
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Time for those who would come at once.
                sleep(Duration::from_millis(50)).await;
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
                now.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    let mut entry = entry(&upstream, &json!({ "posts_per_page": -1, "ignore_sticky_posts": true }));
    entry["wp_query"]["site"] = json!(format!("http://127.0.0.1:{gate}/"));
    assert_eq!(ids(&fetch(entry, &[]).await.unwrap()).len(), 1000);
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn a_broken_page_is_named() {
    let upstream = site(|parameters| match parameters.number("offset") {
        Some(100) => Reply::Bytes(response("500 Internal Server Error", &[], "<h1>critical error</h1>")),
        _ => numbered(250)(parameters),
    })
    .await;
    let error = fetch(entry(&upstream, &json!({ "posts_per_page": -1 })), &[]).await.unwrap_err();
    let expected = format!("page 2 (101 to 200): upstream 127.0.0.1:{} answered 500", upstream.port);
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn posts_that_change_places_between_pages_are_not_lost() {
    // By title, the posts 100 and 101 are equal, and each page begins with another one of them.
    let upstream = site(|parameters| {
        let by_title = parameters.get("orderby").as_deref() == Some("title");
        let (offset, size) = (parameters.number("offset").unwrap_or(0), parameters.number("per_page").unwrap());
        if let Some(include) = parameters.get("include") {
            let posts: Vec<Value> = include.split(',').map(|id| json!({ "id": id.parse::<u64>().unwrap() })).collect();
            return part(posts.len(), &Value::Array(posts));
        }
        let post = |place: usize| {
            let id = if by_title && place == 101 { 100 } else { place };
            let title = format!("Title {:04}", if id == 101 { 100 } else { id });
            json!({ "id": id, "title": { "rendered": title } })
        };
        part(150, &(offset + 1..=150.min(offset + size)).map(post).collect())
    })
    .await;
    let query = json!({ "posts_per_page": -1, "orderby": "title", "order": "ASC", "ignore_sticky_posts": true });
    let fetched = fetch(entry(&upstream, &query), &[]).await.unwrap();
    assert_eq!(ids(&fetched), (1..=150).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_unknown_slug_never_asks_for_everything() {
    let upstream = site(numbered(5)).await;
    for query in [
        json!({ "category_name": "no-such" }),
        json!({ "category_name": "no-such", "post__in": [1] }),
        json!({ "post_name__in": ["///"] }),
        json!({ "post_type": "book", "category_name": "news" }),
        json!({ "post_parent": 5 }),
        json!({ "sticky": true, "post_parent": 5 }),
    ] {
        let mut entry = entry(&upstream, &query);
        entry["wp_query"]["query"]["ignore_sticky_posts"] = json!(true);
        assert_eq!(text(&fetch(entry, &[]).await.unwrap()), "[]", "{query}");
    }
    assert_eq!(asked(&upstream, "/wp-json/wp/v2/posts"), Vec::<Vec<_>>::new());
    assert_eq!(asked(&upstream, "/wp-json/library/v1/books"), Vec::<Vec<_>>::new());
}

#[tokio::test]
async fn what_a_site_would_ignore_is_an_error() {
    let upstream = site(numbered(5)).await;
    let host = format!("upstream 127.0.0.1:{}", upstream.port);
    for (query, message) in [
        (json!({ "post_type": "film" }), "does not expose the post type `film` in its REST API"),
        (
            json!({ "tax_query": [{ "taxonomy": "genre", "field": "slug", "terms": "crime" }] }),
            "does not expose the taxonomy `genre` in its REST API",
        ),
        (
            json!({ "date_query": { "column": "post_modified", "after": "2023" } }),
            "has no parameter `modified_after` for `/wp/v2/posts`",
        ),
    ] {
        let error = fetch(entry(&upstream, &query), &[]).await.unwrap_err();
        assert_eq!(error.to_string(), format!("{host} {message}"));
    }
    assert_eq!(asked(&upstream, "/wp-json/wp/v2/posts"), Vec::<Vec<_>>::new());
}

#[tokio::test]
async fn arguments_choose_values_only() {
    let upstream = site(numbered(500)).await;
    let definition = |query: &Value| {
        let mut entry = entry(&upstream, query);
        entry.as_object_mut().unwrap().remove("uri");
        entry["uri_template"] = json!("wp://{a}");
        entry["name"] = json!("posts");
        entry["arguments"] = json!({ "a": {} });
        entry["wp_query"]["max_items"] = json!(20);
        compile(&entry).unwrap()
    };
    let fetcher = Fetcher::new(&Config::default()).unwrap();
    let plain = json!({ "p": "{a}" });
    for value in ["", "-1", "1,2", "x", "1&per_page=100", "0"] {
        let error = read(&fetcher, &definition(&plain), &[("a", value)]).await.unwrap_err();
        assert!(error.is_not_found(), "{value}");
    }
    assert_eq!(asked(&upstream, "/wp-json/wp/v2/posts"), Vec::<Vec<_>>::new());
    let chosen = definition(&json!({ "posts_per_page": "{a}", "ignore_sticky_posts": true }));
    let fetched = read(&fetcher, &chosen, &[("a", "50")]).await.unwrap();
    assert_eq!((ids(&fetched).len(), fetched.left_out), (20, Some(30)));
    let searched = definition(&json!({ "s": "{a}", "post_type": "post" }));
    read(&fetcher, &searched, &[("a", "a&categories=1#?")]).await.unwrap();
    let asked = asked(&upstream, "/wp-json/wp/v2/posts");
    assert_eq!(Parameters(asked.last().unwrap().clone()).get("search").as_deref(), Some("a&categories=1#?"));
}

#[tokio::test]
async fn secrets_stay_at_home() {
    let other = Upstream::start(|_| status("404 Not Found")).await;
    let link = format!("<{}>; rel=\"https://api.w.org/\"", other.url("/wp-json/"));
    let upstream = Upstream::start(move |_| Reply::Bytes(response("200 OK", &[("link", &link)], ""))).await;
    let mut foreign = entry(&upstream, &json!({}));
    foreign["wp_query"]["headers"] = json!({ "X-Api-Key": "s3cret" });
    let error = fetch(foreign.clone(), &[]).await.unwrap_err();
    assert_eq!(error.to_string(), format!("upstream 127.0.0.1:{} answered 404", other.port));
    assert!(other.requests().iter().all(|request| request.header("x-api-key").is_none()));
    assert_eq!(upstream.requests()[0].header("x-api-key"), Some("s3cret"));

    let seen = other.requests().len();
    foreign["wp_query"].as_object_mut().unwrap().remove("headers");
    foreign["wp_query"]["auth"] = json!({ "username": "u", "application_password": "p w" });
    let error = fetch(foreign, &[]).await.unwrap_err().to_string();
    let address = other.url("");
    let expected = format!(
        "upstream 127.0.0.1:{} has its REST API at {address}, which gets no password: write that address as `site`",
        upstream.port
    );
    assert_eq!(error, expected);
    assert_eq!(upstream.requests().last().unwrap().header("authorization"), Some("Basic dTpwIHc="));
    assert_eq!(other.requests().len(), seen);
}

#[tokio::test]
async fn what_is_known_of_a_site_is_asked_once() {
    let upstream = site(numbered(5)).await;
    let fetcher = Fetcher::new(&Config::default()).unwrap();
    let query = json!({ "category_name": "news", "posts_per_page": 3 });
    let definition = compile(&entry(&upstream, &query)).unwrap();
    for _ in 0..3 {
        read(&fetcher, &definition, &[]).await.unwrap();
    }
    // The home page, the root, types, taxonomies, parameters, a category and the tree of them; three times the posts.
    assert_eq!(upstream.requests().len(), 7 + 3);
}

#[tokio::test]
async fn follows_a_site_that_has_moved() {
    let upstream = site(numbered(2)).await;
    let target = upstream.url("/");
    let old = Upstream::start(move |_| redirect("301 Moved Permanently", &target)).await;
    let entry = entry(&old, &json!({ "category_name": "news" }));
    assert_eq!(ids(&fetch(entry, &[]).await.unwrap()), [1, 2]);
}
