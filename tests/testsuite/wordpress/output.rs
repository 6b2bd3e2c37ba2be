//! What becomes of the posts of a real WordPress.

use mcpress_runtime::fetch::{FetchError, Fetched};
use serde_json::{Value, json};

use super::{fetch, setting, text};

async fn read(query: Value, more: Value) -> Result<Fetched, FetchError> {
    let mut entry = json!({
        "uri": "wp://posts",
        "wp_query": { "site": setting("WORDPRESS_URL"), "query": query, "allow_private_network": true },
    });
    for (key, value) in more.as_object().unwrap() {
        match key.as_str() {
            "mime_type" => entry[key] = value.clone(),
            _ => entry["wp_query"][key] = value.clone(),
        }
    }
    fetch(entry, &[]).await
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn products_as_objects() {
    let fields = json!(["id", { "name": "title" }, { "price": "meta.price" }]);
    let query = json!({ "post_type": "product", "orderby": "ID", "order": "ASC", "posts_per_page": 2 });
    let fetched = read(query, json!({ "fields": fields })).await.unwrap();
    assert_eq!(fetched.mime_type, "application/json");
    assert_eq!(
        text(&fetched),
        r#"[{"id":1,"name":"Widget Pro","price":29.99},{"id":2,"name":"Widget Lite","price":9.99}]"#
    );
    assert_eq!(fetched.left_out, None);
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn what_was_left_out_is_counted() {
    let query = json!({ "posts_per_page": -1, "ignore_sticky_posts": true });
    let fetched = read(query.clone(), json!({ "fields": ["id"], "max_items": 150 })).await.unwrap();
    let all = read(query, json!({ "fields": ["id"] })).await.unwrap();
    let [some, all_of_them] = [&fetched, &all].map(|fetched| super::ids(fetched).len() as u64);
    assert!(some <= 150 && all_of_them > 250, "{some} of {all_of_them}");
    assert!(fetched.left_out.unwrap() > 100);
    assert_eq!(all.left_out, None);
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn one_post_that_is_not_there_is_not_found() {
    for query in [
        json!({ "p": 99999 }),
        json!({ "name": "no-such-post" }),
        json!({ "pagename": "about/nobody" }),
        json!({ "page_id": 99999 }),
        json!({ "name": "draft-1" }),
        json!({ "name": "protected-1" }),
    ] {
        assert!(read(query.clone(), json!({})).await.unwrap_err().is_not_found(), "{query}");
    }
    let none = read(json!({ "category_name": "no-such" }), json!({})).await.unwrap();
    assert_eq!(text(&none), "[]");
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn texts_are_decoded_once() {
    let query = json!({ "post_name__in": ["curly", "angle", "emoji", "umlaut"], "ignore_sticky_posts": true });
    let fetched = read(query, json!({ "fields": ["title"] })).await.unwrap();
    let titles: Vec<Value> = serde_json::from_str(text(&fetched)).unwrap();
    let titles: Vec<&str> = titles.iter().map(|post| post["title"].as_str().unwrap()).collect();
    assert_eq!(titles, ["Äpfel und Übermut", "1 < 2 && 3 > 2", "👩‍👩‍👧‍👦 family 🎉 & party", "Tom & Jerry’s <b>"],);
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn every_field_is_given_in_order() {
    let fields = json!([
        "slug", "author", "categories", "tags", "featured_image", "content", "content_html", "excerpt", "meta.subtitle",
        "acf.rating", { "rest": "comment_status" }, "type", "status", "meta.none",
    ]);
    let query = json!({ "post_name__in": ["post-000", "post-001"], "ignore_sticky_posts": true });
    let fetched = read(query, json!({ "fields": fields })).await.unwrap();
    insta::with_settings!({ filters => vec![(r"http://127\.0\.0\.1(:\d+)?/", "http://[host]/")] }, {
        insta::assert_snapshot!(text(&fetched).replace("\",\"", "\",\n\""));
    });
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn one_document_of_all() {
    let query =
        json!({ "post_type": "page", "post_parent": 0, "orderby": "title", "order": "ASC", "posts_per_page": 3 });
    let more = json!({ "mime_type": "text/markdown", "fields": ["title", "slug", "author", "excerpt", "content"] });
    let fetched = read(query.clone(), more).await.unwrap();
    assert_eq!(fetched.mime_type, "text/markdown");
    insta::assert_snapshot!(text(&fetched));
    let template = "{{ total }}{% for post in posts %} {{ post.n }}:{{ post.title }}{% endfor %} {{ vars.site }}";
    let more = json!({ "template": template, "fields": [{ "n": "slug" }, "title"] });
    let fetched = read(query, more).await.unwrap();
    assert_eq!(fetched.mime_type, "text/plain");
    insta::assert_snapshot!(text(&fetched));
}
