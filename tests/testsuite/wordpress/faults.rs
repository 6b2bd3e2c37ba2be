//! What hosts and plugins do to a real WordPress, by the names of `tests/wordpress/mu-plugins/faults.php`.

use serde_json::{Value, json};

use super::{auth, fetch, ids, setting};

fn posts(fault: &str, query: &Value) -> Value {
    let site = format!("{}/~{fault}/", setting("WORDPRESS_URL"));
    json!({
        "uri": "wp://posts",
        "wp_query": {
            "site": site, "query": query, "fields": ["id"], "allow_private_network": true, "timeout": "1m",
        },
    })
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn reads_what_can_be_read() {
    // By id, since WordPress leaves the order of equal dates open.
    let query = json!({ "category_name": "news", "posts_per_page": 120, "orderby": "ID" });
    let sound = ids(&fetch(posts("none", &query), &[]).await.unwrap());
    assert!(sound.len() > 100, "more than a page");
    for fault in [
        "bom",
        "blank",
        "comment",
        "html",
        "total",
        "plain",
        "nolink",
        "plain,nolink",
        "html,total,comment",
        "bom,comment",
    ] {
        let fetched = fetch(posts(fault, &query), &[]).await;
        assert_eq!(fetched.as_ref().map(ids).unwrap_or_default(), sound, "{fault}: {:?}", fetched.err());
    }
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn says_what_is_wrong() {
    let host = setting("WORDPRESS_URL").replace("http://", "");
    for (fault, message) in [
        (
            "notice",
            "sent what is no JSON (application/json): `Notice : Undefined index: lang in \
             /var/www/html/wp-content/plugins/old/old.php o…`",
        ),
        ("empty", "sent nothing where JSON was expected (application/json)"),
        ("page", "sent what is no JSON (text/html): `Log in This site is for members.`"),
        ("401json", "answered 401: `rest_login_required` (REST API restricted to authenticated users.)"),
        ("403json", "answered 403: `rest_forbidden` (Sorry, you are not allowed to do that.)"),
        ("403html", "answered 403"),
        ("maintenance", "answered 503"),
        ("off", "answered 401: `rest_cannot_access` (DRA: Only authenticated users can access the REST API.)"),
    ] {
        let error = fetch(posts(fault, &json!({})), &[]).await.unwrap_err();
        let expected = format!("upstream {host} {message}");
        // Without a link to the API, it is looked for.
        let sought = format!("found no REST API: {expected}");
        assert!([expected, sought].contains(&error.to_string()), "{fault}: {error}");
        assert!(!error.is_not_found());
    }
    let error = fetch(posts("gone", &json!({})), &[]).await.unwrap_err();
    assert_eq!(error.to_string(), format!("found no REST API: upstream {host} answered 404"));
    let error = fetch(posts("cut", &json!({})), &[]).await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("upstream {host} sent what is no JSON (application/json): `{{\"")), "{error}");
    let error = fetch(posts("500page2", &json!({ "posts_per_page": -1 })), &[]).await.unwrap_err();
    let expected = format!(
        "page 2 (101 to 200): upstream {host} answered 500: `internal_server_error` \
         (There has been a critical error on this website.)"
    );
    assert_eq!(error.to_string(), expected);
    let error = fetch(posts("nousers", &json!({ "author_name": "robert" })), &[]).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(&format!("cannot look up an author: upstream {host} answered 404: `rest_no_route`"))
    );
}

#[tokio::test]
#[ignore = "needs tests/wordpress/up.sh"]
async fn a_password_opens_what_is_closed() {
    let drafts = |fault: &str| {
        let mut entry =
            posts(fault, &json!({ "post_status": "draft", "posts_per_page": 3, "ignore_sticky_posts": true }));
        entry["wp_query"]["auth"] = auth();
        entry
    };
    assert_eq!(ids(&fetch(drafts("none"), &[]).await.unwrap()).len(), 3);
    assert_eq!(ids(&fetch(drafts("off"), &[]).await.unwrap()).len(), 3);
    let error = fetch(drafts("noauth"), &[]).await.unwrap_err().to_string();
    let hint = "; either the password is wrong, or the server does not hand on the `Authorization` header";
    assert!(
        error.contains("answered 400: `rest_forbidden_status` (Status is forbidden.)") && error.ends_with(hint),
        "{error}"
    );
}
