//! The arguments of WP_Query that REST can express, typed.

use std::{
    num::{NonZeroU32, NonZeroU64},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use super::{Date, Param};

/// WP_Query's arguments, each with WordPress's own meaning. One that is `None` or empty was not given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Query {
    /// `post_type`: names of types, not of their routes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_type: Vec<Param<PostType>>,
    /// `post_status`: `publish` only if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_status: Vec<String>,
    /// `p`: the post of this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<Param<NonZeroU64>>,
    /// `name`: the post of this slug.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Param<Slug>>,
    /// `page_id`: the page of this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_id: Option<Param<NonZeroU64>>,
    /// `pagename`: the page of this path, every ancestor included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pagename: Option<Param<Slug>>,
    /// `posts_per_page`; 10 if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub posts_per_page: Option<Param<PerPage>>,
    /// `paged`: from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paged: Option<Param<NonZeroU32>>,
    /// `offset`: posts to pass over; it wins over `paged`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<Param<u32>>,
    /// `order`; descending if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Param<Order>>,
    /// `orderby`; the date if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order_by: Option<Param<OrderBy>>,
    /// `s`. An empty one filters nothing, and yet counts for the place of sticky posts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Param<String>>,
    /// `post__in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_in: Vec<Param<NonZeroU64>>,
    /// `post__not_in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_not_in: Vec<Param<NonZeroU64>>,
    /// `post_name__in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_name_in: Vec<Param<Slug>>,
    /// `post_parent`; 0: posts at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_parent: Option<Param<u64>>,
    /// `post_parent__in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_parent_in: Vec<Param<u64>>,
    /// `post_parent__not_in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_parent_not_in: Vec<Param<u64>>,
    /// `author`: the negative ones are excluded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub author: Vec<SignedId>,
    /// `author_name`: by `user_nicename`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author_name: Option<Param<Slug>>,
    /// `author__in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub author_in: Vec<Param<NonZeroU64>>,
    /// `author__not_in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub author_not_in: Vec<Param<NonZeroU64>>,
    /// `cat`: children included, the negative ones excluded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cat: Vec<SignedId>,
    /// `category_name`: children included; of a path, its last part counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category_name: Option<Slugs>,
    /// `category__in`: without children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub category_in: Vec<Param<NonZeroU64>>,
    /// `category__and`: without children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub category_and: Vec<Param<NonZeroU64>>,
    /// `category__not_in`: without children.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub category_not_in: Vec<Param<NonZeroU64>>,
    /// `tag`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Slugs>,
    /// `tag_id`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag_id: Option<Param<NonZeroU64>>,
    /// `tag__in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag_in: Vec<Param<NonZeroU64>>,
    /// `tag__and`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag_and: Vec<Param<NonZeroU64>>,
    /// `tag__not_in`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tag_not_in: Vec<Param<NonZeroU64>>,
    /// `tax_query`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tax_query: Option<TaxQuery>,
    /// `date_query`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_query: Option<DateQuery>,
    /// `ignore_sticky_posts`
    pub ignore_sticky_posts: bool,
    /// REST's `sticky`: only posts that are, or only posts that are not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sticky: Option<bool>,
}

/// An id of `author` or `cat`. The sign is no part of the value, so that no argument can turn a filter about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedId {
    /// Whether a `-` stands before it.
    pub excluded: bool,
    /// The id itself.
    pub id: Param<NonZeroU64>,
}

/// `tax_query`: one level of clauses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxQuery {
    /// How the clauses are combined.
    pub relation: Relation,
    /// Never empty.
    pub clauses: Vec<TaxClause>,
}

/// One clause of a `tax_query`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaxClause {
    /// The name of the taxonomy, not of its route.
    pub taxonomy: String,
    /// Its terms.
    pub terms: Terms,
    /// How the terms are compared with those of a post.
    pub operator: Operator,
    /// Whether the terms stand for their children too.
    pub include_children: bool,
}

/// Terms, and what they are named by. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Terms {
    /// By id.
    TermId(Vec<Param<NonZeroU64>>),
    /// By slug.
    Slug(Vec<Param<Slug>>),
    /// By name.
    Name(Vec<Param<Text>>),
}

/// How the terms of a clause are compared with those of a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Operator {
    /// It has one of them.
    #[default]
    In,
    /// It has none of them.
    NotIn,
    /// It has all of them.
    And,
}

/// How conditions are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Relation {
    /// All of them.
    #[default]
    And,
    /// One of them.
    Or,
}

/// The slugs of a `category_name` or `tag`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slugs {
    /// Whether a post has one of them or all.
    pub relation: Relation,
    /// Never empty.
    pub slugs: Vec<Param<Slug>>,
}

/// `date_query`: one range.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DateQuery {
    /// Where it begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Param<Date>>,
    /// Where it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Param<Date>>,
    /// Whether both dates themselves belong to it.
    pub inclusive: bool,
    /// What is compared.
    pub column: DateColumn,
}

/// Which of a post's dates is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateColumn {
    /// When it was published.
    #[default]
    PostDate,
    /// When it was changed last.
    PostModified,
}

/// `posts_per_page`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PerPage {
    /// `-1`: all of them, up to `max_items`; `paged` and `offset` are ignored then.
    All,
    /// So many.
    Count(NonZeroU32),
}

/// `order`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Order {
    /// The lowest first.
    Asc,
    /// The highest first.
    Desc,
}

/// `orderby`
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderBy {
    /// `date`
    Date,
    /// `modified`
    Modified,
    /// `ID`, in REST `id`
    Id,
    /// `author`
    Author,
    /// `title`
    Title,
    /// `name`, in REST `slug`
    Name,
    /// `parent`
    Parent,
    /// `post__in`, in REST `include`
    PostIn,
    /// `relevance`; without a search it means the date.
    Relevance,
    /// `menu_order`
    MenuOrder,
}

/// The name of a post type; never `any`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostType(pub String);

/// A slug, or a path of slugs, as it is written; WordPress sanitizes it before it compares. Never blank, and it holds
/// neither a comma nor a `+`, which divide lists of slugs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slug(pub String);

/// A text that is not blank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Text(pub String);

impl OrderBy {
    /// The names it goes by.
    pub const NAMES: [&'static str; 13] = [
        "date",
        "modified",
        "ID",
        "author",
        "title",
        "name",
        "parent",
        "post__in",
        "relevance",
        "menu_order",
        "id",
        "slug",
        "include",
    ];
}

impl FromStr for OrderBy {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "date" => Ok(Self::Date),
            "modified" => Ok(Self::Modified),
            "ID" | "id" => Ok(Self::Id),
            "author" => Ok(Self::Author),
            "title" => Ok(Self::Title),
            "name" | "slug" => Ok(Self::Name),
            "parent" => Ok(Self::Parent),
            "post__in" | "include" => Ok(Self::PostIn),
            "relevance" => Ok(Self::Relevance),
            "menu_order" => Ok(Self::MenuOrder),
            _ => Err(()),
        }
    }
}

impl FromStr for Order {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.to_ascii_uppercase().as_str() {
            "ASC" => Ok(Self::Asc),
            "DESC" => Ok(Self::Desc),
            _ => Err(()),
        }
    }
}

impl FromStr for PerPage {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text {
            "-1" => Ok(Self::All),
            _ => text.parse().map(Self::Count).map_err(|_| ()),
        }
    }
}

impl FromStr for PostType {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        (is_key(text) && text != "any").then(|| Self(text.to_owned())).ok_or(())
    }
}

impl FromStr for Slug {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        (!text.trim().is_empty() && !text.contains([',', '+'])).then(|| Self(text.to_owned())).ok_or(())
    }
}

impl FromStr for Text {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        (!text.trim().is_empty()).then(|| Self(text.to_owned())).ok_or(())
    }
}

/// True for what WordPress's `sanitize_key` leaves as it is: names of post types, statuses and taxonomies.
pub fn is_key(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-');
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_an_order_is_read() {
        assert!(OrderBy::NAMES.iter().all(|name| name.parse::<OrderBy>().is_ok()));
        assert_eq!("rand".parse::<OrderBy>(), Err(()));
    }

    #[test]
    fn values_that_would_mean_everything_are_refused() {
        assert_eq!("any".parse::<PostType>(), Err(()));
        assert_eq!("0".parse::<PerPage>(), Err(()));
        assert_eq!("-2".parse::<PerPage>(), Err(()));
        assert_eq!("-1".parse(), Ok(PerPage::All));
        assert_eq!(" ".parse::<Slug>(), Err(()));
        assert_eq!("a,b".parse::<Slug>(), Err(()));
        assert_eq!("".parse::<Text>(), Err(()));
    }

    #[test]
    fn a_query_is_stored_without_what_was_not_given() {
        let query = Query { search: Some(Param::Template("{q}".to_owned())), ..Query::default() };
        let json = serde_json::json!({"search": {"template": "{q}"}, "ignore_sticky_posts": false});
        assert_eq!(serde_json::to_value(&query).unwrap(), json);
        assert_eq!(serde_json::from_value::<Query>(json).unwrap(), query);
    }
}
