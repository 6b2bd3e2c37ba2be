//! Sticky posts, which WordPress puts in front of a list that might stand on a home page.

use serde_json::Value;

use super::{
    super::{client::Client, error::FetchError},
    site::{MAX_LISTED, Site, pair},
};

/// All that are published, the newest first.
pub(super) async fn posts(
    site: &Site,
    client: &Client,
    content: &[(String, String)],
) -> Result<Vec<Value>, FetchError> {
    let parameters = [content, &[pair("sticky", true), pair("orderby", "date"), pair("order", "desc")]].concat();
    let route = &site.post_type(client, "post").await?.route;
    Ok(site.list(client, route, &parameters, 0, MAX_LISTED).await?.items)
}

/// Those in the list move to its front and keep their order; the others follow them, unless they are excluded.
pub(super) fn to_front(posts: &mut Vec<Value>, sticky: Vec<Value>, excluded: &[u64]) {
    let id = |post: &Value| post["id"].as_u64();
    let is_sticky = |post: &Value| post["sticky"] == Value::Bool(true) || sticky.iter().any(|one| id(one) == id(post));
    let (mut front, rest): (Vec<Value>, Vec<Value>) = std::mem::take(posts).into_iter().partition(is_sticky);
    for post in sticky {
        let listed = front.iter().any(|one| id(one) == id(&post));
        if !listed && !id(&post).is_some_and(|id| excluded.contains(&id)) {
            front.push(post);
        }
    }
    front.extend(rest);
    *posts = front;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keeps_the_order_and_adds_what_is_missing() {
        let posts = |ids: &[u64]| ids.iter().map(|id| json!({ "id": id })).collect::<Vec<_>>();
        let mut list = posts(&[1, 2, 3, 4]);
        to_front(&mut list, posts(&[9, 4, 8, 2]), &[8]);
        assert_eq!(list, posts(&[2, 4, 9, 1, 3]));
        // A draft is sticky too, and not among those that are published.
        let mut list = vec![json!({ "id": 1 }), json!({ "id": 2, "sticky": true })];
        to_front(&mut list, Vec::new(), &[]);
        assert_eq!(list[0]["id"], 2);
    }
}
