//! MCP's types as they stand in lists, named and spelled as in its `schema.ts`.
//!
//! List items are the same bytes for every revision: no revision forbids members that it does not know.

use serde::Serialize;
use serde_json::{Map, Value};

/// `Resource`: an entry of `resources/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource<'a> {
    /// The URI; first, so that the table can name its range inside the item.
    pub uri: &'a str,
    /// Members that templates have too.
    #[serde(flatten)]
    pub described: Described<'a>,
    /// Bytes of the contents before base64, for static resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// `ResourceTemplate`: an entry of `resources/templates/list`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceTemplate<'a> {
    /// An RFC 6570 template.
    pub uri_template: &'a str,
    /// Members that resources have too.
    #[serde(flatten)]
    pub described: Described<'a>,
}

/// The members that `Resource` and `ResourceTemplate` have in common.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Described<'a> {
    /// Programmatic name.
    pub name: &'a str,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// What it is, for people and models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    /// Media type of the contents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<&'a str>,
    /// Hints for the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<&'a Annotations>,
    /// Pictures for people.
    #[serde(skip_serializing_if = "<[Icon]>::is_empty")]
    pub icons: &'a [Icon],
    /// `_meta`.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<&'a Map<String, Value>>,
}

/// `Annotations`: hints for the client.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// Whom the contents are for: `user`, `assistant`, or both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audience: Vec<String>,
    /// From 0 (optional) to 1 (required reading).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<f64>,
    /// RFC 3339, as its author wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_modified: Option<String>,
}

/// `Icon`: a picture for people.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// `https:` or `data:` URI.
    pub src: String,
    /// Media type of the picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Sizes such as `48x48`, or `any`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// `light` or `dark`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<String>,
}

/// `Implementation`: who a server is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Implementation<'a> {
    /// Programmatic name.
    pub name: &'a str,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Version of the content.
    pub version: &'a str,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<&'a str>,
    /// Pictures for people.
    #[serde(skip_serializing_if = "<[Icon]>::is_empty")]
    pub icons: &'a [Icon],
}
