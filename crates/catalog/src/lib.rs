//! What the content compiler writes and the server reads: tables of entries, one blob of finished JSON,
//! and the code that both sides must agree on.
//!
//! Nothing in here does IO, nothing is async, and no lookup can fail: it finds an entry or gives `None`.
//!
//! - [`Catalog`], [`Server`], [`Resource`], [`Template`], in tables of their own kind ([`table`])
//! - [`protocol`]: MCP's own types, as they appear in lists
//! - [`source`]: what is left to do at run time for entries that are not finished JSON
//! - [`access`]: who may ask a server, and how often
//! - [`result`]: writes the `contents` of a `resources/read` result
//! - [`template`]: the minijinja environment
//! - [`uri`], [`uri_template`]: RFC 3986 and RFC 6570
//! - [`media_type`]: which media types are text
//! - [`mod@env`]: `${NAME}` in texts that are filled in when the server starts

pub mod access;
mod catalog;
pub mod env;
pub mod media_type;
pub mod protocol;
pub mod result;
pub mod source;
pub mod table;
pub mod template;
pub mod uri;
pub mod uri_template;

pub use catalog::{Alias, Catalog, Encoded, Partial, Resource, Server, Source, Span, Template};
