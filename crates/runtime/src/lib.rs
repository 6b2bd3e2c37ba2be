//! Serves the catalog of a content tree over the Model Context Protocol.
//!
//! A request goes this way, and each module knows only those below it:
//!
//! - [`server`]: accepts connections, bounds how many there are, and lets them finish when the program stops
//! - `connection`: serves one, as long as something happens on it
//! - [`http`]: from an HTTP request to the bytes of a JSON-RPC message and back, and who may ask ([`access`], `gate`)
//! - [`mcp`]: one `match` from method to answer
//! - `jsonrpc`: parses and writes messages
//! - [`auth`], `rate`: which tokens open a server, and how often a client may ask
//! - [`fetch`]: content from elsewhere
//! - `record`, [`metrics`] and [`trace`]: what is counted and logged of a request, and the id by which it is known;
//!   [`exporter`] gives out what is counted
//!
//! `program` runs it all: it reads the flags (`config`), then serves or runs another of the `commands`.
//!
//! Nothing about a client is kept between two requests, so that any replica answers any of them.

pub mod access;
mod activity;
pub mod auth;
mod body;
mod coding;
mod commands;
mod config;
mod connection;
pub mod exporter;
pub mod fetch;
pub mod forwarded;
#[cfg(fuzzing)]
pub mod fuzzing;
mod gate;
pub mod http;
mod jsonrpc;
pub mod limits;
pub mod mcp;
pub mod metrics;
mod outcome;
mod program;
mod rate;
mod record;
pub mod server;
mod sse;
mod stream;
mod throttle;
pub mod trace;

pub use self::program::run;
