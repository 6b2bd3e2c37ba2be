//! `wp_query`: a WordPress query and what is made of its posts.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fetch, Query, Template};

/// A WordPress query, run anew at each read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WpQuery {
    /// The site's address, http or https. May hold `${NAME}`; with these filled in, [`super::check_site`] checks it.
    pub site: String,
    /// Which posts, in which order.
    pub query: Query,
    /// What each item carries, in this order. Never empty, and no name twice.
    pub fields: Vec<OutputField>,
    /// What the contents are, where there is no template.
    pub format: Format,
    /// Posts that are given at most where the definition does not say a number itself: with `posts_per_page: -1`, and
    /// with a number that an argument chose.
    pub max_items: u32,
    /// Who asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Headers and limits.
    pub fetch: Fetch,
    /// Makes the contents of `posts`, `total`, `args` and `vars`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

/// A member of each item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputField {
    /// What it is called.
    pub name: String,
    /// What it holds.
    pub field: PostField,
}

/// What is known of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PostField {
    /// Its id, a number.
    Id,
    /// Its title as text.
    Title,
    /// Its address.
    Link,
    /// When it was published, in the site's time zone.
    Date,
    /// When it was changed last, in the site's time zone.
    Modified,
    /// Its excerpt as text.
    Excerpt,
    /// Its slug.
    Slug,
    /// Its status.
    Status,
    /// Its post type.
    Type,
    /// The display name of its author.
    Author,
    /// Its content as Markdown.
    Content,
    /// Its content as rendered.
    ContentHtml,
    /// The names of its categories.
    Categories,
    /// The names of its tags.
    Tags,
    /// The address of its featured image.
    FeaturedImage,
    /// A registered meta value, as REST gives it.
    Meta(String),
    /// An ACF value, as REST gives it.
    Acf(String),
    /// Any other top-level member of what REST gives, as it is.
    Other(String),
}

/// What the contents are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// An array of objects.
    #[default]
    Json,
    /// One document: for each post a heading, its fields and its content.
    Markdown,
}

/// A user and an application password. Both may hold `${NAME}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Auth {
    /// The user's login name.
    pub username: String,
    /// One of the user's application passwords.
    pub application_password: String,
}

impl PostField {
    /// The fields that have a name of their own.
    pub const NAMES: [&'static str; 15] = [
        "id",
        "title",
        "link",
        "date",
        "modified",
        "excerpt",
        "slug",
        "status",
        "type",
        "author",
        "content",
        "content_html",
        "categories",
        "tags",
        "featured_image",
    ];
    /// What an item carries where nobody says.
    pub const DEFAULT: [Self; 6] = [Self::Id, Self::Title, Self::Link, Self::Date, Self::Modified, Self::Excerpt];
}

/// `Err` for what cannot be the name of a field.
impl FromStr for PostField {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        let field = match name {
            "id" => Self::Id,
            "title" => Self::Title,
            "link" => Self::Link,
            "date" => Self::Date,
            "modified" => Self::Modified,
            "excerpt" => Self::Excerpt,
            "slug" => Self::Slug,
            "status" => Self::Status,
            "type" => Self::Type,
            "author" => Self::Author,
            "content" => Self::Content,
            "content_html" => Self::ContentHtml,
            "categories" => Self::Categories,
            "tags" => Self::Tags,
            "featured_image" => Self::FeaturedImage,
            _ => match name.split_once('.') {
                Some(("meta", key)) if !key.is_empty() => Self::Meta(key.to_owned()),
                Some(("acf", key)) if !key.is_empty() => Self::Acf(key.to_owned()),
                Some(_) => return Err(()),
                None if is_rest_name(name) => Self::Other(name.to_owned()),
                None => return Err(()),
            },
        };
        Ok(field)
    }
}

/// `_links` and `_embedded` are not fields of the post.
fn is_rest_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_field_of_its_own() {
        for name in PostField::NAMES {
            let field: PostField = name.parse().unwrap();
            assert!(!matches!(field, PostField::Other(_)), "{name}");
            assert_eq!(serde_json::to_value(field).unwrap(), name);
        }
    }

    #[test]
    fn other_names_lead_into_the_answer() {
        assert_eq!("meta.price".parse(), Ok(PostField::Meta("price".to_owned())));
        assert_eq!("acf.a.b".parse(), Ok(PostField::Acf("a.b".to_owned())));
        assert_eq!("menu_order".parse(), Ok(PostField::Other("menu_order".to_owned())));
        for name in ["", "_links", "meta.", "title.rendered", "a b", "1a"] {
            assert_eq!(name.parse::<PostField>(), Err(()), "{name}");
        }
    }
}
