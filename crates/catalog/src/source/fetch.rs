//! The limits of a fetch, which `url` and `wp_query` have in common.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How something is fetched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fetch {
    /// Headers of the request, names in lower case. Values may hold `${NAME}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// For the whole fetch, redirects and body included, in milliseconds.
    pub timeout_ms: u64,
    /// For one connection, in milliseconds; at most [`Fetch::timeout_ms`].
    pub connect_timeout_ms: u64,
    /// Of the decoded body; for `wp_query`, of each page.
    pub max_bytes: u64,
    /// Redirects that are followed.
    pub max_redirects: u32,
    /// Whether addresses that are not public may be connected to.
    pub allow_private_network: bool,
    /// Without it, each read is a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
}

/// How long an answer is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// How long it is fresh, in milliseconds; 0: it is revalidated at each read.
    pub ttl_ms: u64,
    /// How much longer it is given out while the upstream fails, in milliseconds.
    pub stale_if_error_ms: u64,
}

impl Default for Fetch {
    fn default() -> Self {
        Self {
            headers: BTreeMap::new(),
            timeout_ms: 10_000,
            connect_timeout_ms: 3_000,
            max_bytes: 5 << 20,
            max_redirects: 5,
            allow_private_network: false,
            cache: None,
        }
    }
}
