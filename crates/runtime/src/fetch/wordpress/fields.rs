//! The fields of a post: what REST has to give for them, and what they become.

use std::collections::HashMap;

use mcpress_catalog::source::{Html, PostField};
use serde_json::Value;

use super::{
    super::{error::FetchError, html},
    slug,
};

/// The member of a post that REST has to give.
pub(super) fn rest_field(field: &PostField) -> &str {
    match field {
        PostField::Id => "id",
        PostField::Title => "title",
        PostField::Link => "link",
        PostField::Date => "date",
        PostField::Modified => "modified",
        PostField::Excerpt => "excerpt",
        PostField::Slug => "slug",
        PostField::Status => "status",
        PostField::Type => "type",
        PostField::Author => "author",
        PostField::Content | PostField::ContentHtml => "content",
        PostField::Categories => "categories",
        PostField::Tags => "tags",
        PostField::FeaturedImage => "featured_media",
        PostField::Meta(_) => "meta",
        PostField::Acf(_) => "acf",
        PostField::Other(name) => name,
    }
}

/// What a post holds in a field; `names` are those of its terms.
pub(super) fn value(post: &Value, field: &PostField, names: &HashMap<u64, String>) -> Result<Value, FetchError> {
    let rendered = |member: &str| post[member]["rendered"].as_str();
    let convert = |html: &str, format: Html| {
        let base = post["link"].as_str().unwrap_or_default();
        html::convert_to(format, html, base)
            .map(|text| Value::from(text.trim()))
            .map_err(|error| FetchError::failed("a post holds HTML that cannot be converted").because(error))
    };
    let terms = |member: &str| {
        let ids = post[member].as_array().into_iter().flatten().filter_map(Value::as_u64);
        ids.filter_map(|id| names.get(&id).cloned()).collect::<Vec<_>>()
    };
    Ok(match field {
        PostField::Title => rendered("title").map_or(Value::Null, |title| Value::from(text(title))),
        PostField::Excerpt => match rendered("excerpt") {
            Some(excerpt) => convert(excerpt, Html::Text)?,
            None => Value::Null,
        },
        PostField::Content => match rendered("content") {
            Some(content) => convert(content, Html::Markdown)?,
            None => Value::Null,
        },
        PostField::ContentHtml => rendered("content").map_or(Value::Null, Value::from),
        PostField::Author => {
            let name = post.pointer("/_embedded/author/0/name").and_then(Value::as_str);
            name.map_or(Value::Null, |name| Value::from(text(name)))
        }
        PostField::FeaturedImage => {
            post.pointer("/_embedded/wp:featuredmedia/0/source_url").cloned().unwrap_or_default()
        }
        PostField::Categories => terms("categories").into(),
        PostField::Tags => terms("tags").into(),
        PostField::Meta(key) => post["meta"][key.as_str()].clone(),
        PostField::Acf(key) => post["acf"][key.as_str()].clone(),
        _ => post[rest_field(field)].clone(),
    })
}

/// Rendered text: tags are removed, then entities decoded, once.
fn text(html: &str) -> String {
    html_escape::decode_html_entities(slug::without_tags(html).trim()).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_rest_gives() {
        let post = json!({
            "id": 5,
            "link": "https://e.example/a/",
            "title": { "rendered": "<em>Tom</em> &amp; Jerry&#8217;s &lt;b&gt; &amp;amp;" },
            "excerpt": { "rendered": "<p>One &amp; two</p>\n" },
            "content": { "rendered": "<p>See <a href=\"/b\">b</a></p>" },
            "categories": [3, 1, 9],
            "meta": { "price": 29.99 },
            "acf": [],
            "_embedded": {
                "author": [{ "name": "Anna &amp; Co" }],
                "wp:featuredmedia": [{ "source_url": "https://e.example/p.png" }],
            },
        });
        let names = [(1, "One".to_owned()), (3, "Three".to_owned())].into();
        for (field, expected) in [
            ("id", json!(5)),
            ("title", json!("Tom & Jerry’s <b> &amp;")),
            ("excerpt", json!("One & two")),
            ("content", json!("See [b](https://e.example/b)")),
            ("content_html", json!("<p>See <a href=\"/b\">b</a></p>")),
            ("categories", json!(["Three", "One"])),
            ("tags", json!([])),
            ("author", json!("Anna & Co")),
            ("featured_image", json!("https://e.example/p.png")),
            ("meta.price", json!(29.99)),
            ("meta.other", json!(null)),
            ("acf.price", json!(null)),
            ("none", json!(null)),
        ] {
            assert_eq!(value(&post, &field.parse().unwrap(), &names).unwrap(), expected, "{field}");
        }
        let hidden = json!({ "_embedded": { "author": [{ "code": "rest_user_invalid_id" }] } });
        assert_eq!(value(&hidden, &PostField::Author, &names).unwrap(), json!(null));
    }
}
