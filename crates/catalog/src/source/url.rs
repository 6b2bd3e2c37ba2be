//! `url`: an HTTP request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Fetch, Template};

/// An HTTP request, made anew at each read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Url {
    /// May hold `${NAME}`; with these filled in, [`super::Href`] reads it.
    pub href: String,
    /// Its method.
    pub method: Method,
    /// Its body, with [`Method::Post`] only. May hold `${NAME}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Headers and limits.
    pub fetch: Fetch,
    /// Any other status makes the read fail. Never empty.
    pub accept_status: Vec<StatusRange>,
    /// A JSON Pointer into a JSON answer; `json` of the template, and the contents without one, is what it finds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<String>,
    /// What an HTML answer becomes, before the template sees it as `text`.
    pub html: Html,
    /// Makes the contents of `text`, `json`, `status`, `headers`, `args` and `vars`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
}

/// A request's method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// `GET`
    #[default]
    Get,
    /// `POST`
    Post,
}

/// Statuses from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StatusRange {
    /// The lowest, from 100.
    pub first: u16,
    /// The highest, to 599.
    pub last: u16,
}

impl StatusRange {
    /// The statuses that say that all went well.
    pub const SUCCESS: Self = Self { first: 200, last: 299 };

    /// True if a status is one of them.
    pub fn contains(self, status: u16) -> bool {
        (self.first..=self.last).contains(&status)
    }
}

/// What an HTML answer becomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Html {
    /// It stays as it is.
    #[default]
    Raw,
    /// Markdown.
    Markdown,
    /// Plain text.
    Text,
}
