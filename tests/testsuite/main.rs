//! The server over real sockets. One binary, since each would be linked anew; a module for each feature.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod access;
mod answers;
mod auth;
mod codings;
mod command_line;
mod connections;
mod dev;
mod diff;
mod fetch;
#[cfg(target_os = "linux")]
mod hostile;
mod ids;
mod import;
mod layers;
mod lists;
mod live;
mod logs;
mod metrics;
mod new;
mod probes;
#[cfg(unix)]
mod process;
mod rate;
mod reads;
mod rmcp_client;
#[cfg(unix)]
mod rollout;
mod shutdown;
mod subscriptions;
mod support;
mod transport;
mod upstream;
mod wordpress;
