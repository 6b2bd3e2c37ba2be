//! Serves the catalog of a content tree over the Model Context Protocol.
//!
//! A request goes this way, and each module knows only those below it:
//!
//! - [`server`]: accepts connections, bounds how many there are, and lets them finish when the program stops
//! - `connection`: serves one, as long as something happens on it
//! - [`http`]: from an HTTP request to the bytes of a JSON-RPC message and back, and who may ask ([`access`])
//! - [`mcp`]: one `match` from method to answer
//! - `jsonrpc`: parses and writes messages
//! - [`fetch`]: content from elsewhere
//!
//! Nothing about a client is kept between two requests, so that any replica answers any of them.

pub mod access;
mod activity;
mod body;
mod connection;
pub mod fetch;
#[cfg(fuzzing)]
pub mod fuzzing;
pub mod http;
mod jsonrpc;
pub mod limits;
pub mod mcp;
pub mod server;
mod sse;
mod stream;
