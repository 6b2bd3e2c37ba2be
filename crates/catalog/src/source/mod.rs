//! What is left to do at run time for an entry that is not finished JSON: a template, or content that is fetched.
//!
//! The compiler checks all of it and stores it as JSON in the blob; the server reads that JSON once, at its start.

mod date;
mod fetch;
mod href;
mod param;
mod query;
mod url;
mod wp_query;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use date::{Date, DateTime, Unit};
pub use fetch::{Cache, Fetch};
pub use href::{Href, HrefError, check_site};
pub use param::{Param, placeholders};
pub use query::{
    DateColumn, DateQuery, Operator, Order, OrderBy, PerPage, PostType, Query, Relation, SignedId, Slug, Slugs,
    TaxClause, TaxQuery, Terms, Text, is_key,
};
pub use url::{Html, Method, StatusRange, Url};
pub use wp_query::{Auth, Format, OutputField, PostField, WpQuery};

/// An entry whose contents are made at each read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// The URI of a resource, or the RFC 6570 template of a resource template.
    pub uri: String,
    /// Where it is defined, as `path:line`, for the log.
    pub place: String,
    /// Media type of the contents; without one, what the upstream says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// `_meta` of the contents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Map<String, Value>>,
    /// The template's variables, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Argument>,
    /// What templates see beside `args`: `vars`, `server`, `resource` (`name`, `title`), and `page` where there is
    /// front matter. The `uri` of `resource` is added at the read.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub context: Map<String, Value>,
    /// Where the contents come from.
    pub source: Source,
}

/// What the value of a template's variable must be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// What it is, for people and models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// All values there are; empty: any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// A regular expression that must match the whole value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// Where the contents of an entry come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// A template that is compiled in (`static` with `uri_template`).
    Static(Template),
    /// An HTTP request (`url`).
    Url(Box<Url>),
    /// A WordPress query (`wp_query`).
    WpQuery(Box<WpQuery>),
}

/// A minijinja template.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The file it stands in, for error messages.
    pub name: String,
    /// Its text.
    pub source: String,
}
