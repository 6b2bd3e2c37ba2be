//! Whether a bearer token opens a server. Knows nothing of HTTP beyond what a challenge and a metadata document say.
//!
//! - `Auth`: one for each server that asks for tokens
//! - `tokens`: those that the environment lists
//! - `jwt`: access tokens of authorization servers; `keys` fetches and keeps their keys, `signature` checks with them

mod jwt;
mod keys;
mod signature;
mod tokens;

use std::{fmt::Write, time::Duration};

use bytes::Bytes;
use mcpress_catalog::{access, env};

pub(crate) use self::keys::Issuers;
pub use self::tokens::{Token, TokenError};
use self::{jwt::Jwt, tokens::Tokens};
use crate::fetch::EntryError;

/// What opens one server.
pub(crate) struct Auth {
    /// The slug, which is the `realm` of challenges.
    realm: String,
    good: Good,
}

/// Which tokens are good.
enum Good {
    /// Those of a list.
    Listed(Tokens),
    /// Those of authorization servers.
    Issued(Box<Jwt>),
    /// None, because variables are missing. A server does not start like this.
    None,
}

/// Who asks, as a digest: of a token, or of the subject of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Caller([u8; 32]);

/// Why somebody may not ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    /// There is no token.
    NoToken,
    /// There is something in its place that is none.
    Malformed,
    /// The token is not good, and this is why.
    Invalid(&'static str),
    /// The token is good, and is not enough.
    Scope,
    /// Nobody knows whether it is good: the keys of its issuer cannot be had. To be tried again after this time.
    Unavailable(Duration),
}

impl Auth {
    /// Reads what opens the server `slug`. `lookup` gives the values of variables.
    ///
    /// # Errors
    /// Variables that are missing, or hold what cannot be used.
    pub(crate) fn new(
        slug: &str,
        auth: &access::Auth,
        issuers: &Issuers,
        lookup: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, EntryError> {
        let good = match auth {
            access::Auth::Bearer(bearer) => {
                let name = &bearer.tokens_env;
                let list = lookup(name).ok_or_else(|| EntryError::Missing(vec![name.clone()]))?;
                let tokens = Tokens::parse(&list).map_err(|error| EntryError::Invalid(format!("`{name}`: {error}")))?;
                Good::Listed(tokens)
            }
            access::Auth::OAuth(oauth) => Good::Issued(Box::new(Jwt::new(oauth, issuers, lookup)?)),
        };
        Ok(Self { realm: slug.to_owned(), good })
    }

    /// Lets nobody in.
    pub(crate) fn closed(slug: &str) -> Self {
        Self { realm: slug.to_owned(), good: Good::None }
    }

    /// Who sends this token.
    pub(crate) async fn check(&self, token: &str) -> Result<Caller, Denied> {
        match &self.good {
            Good::Listed(tokens) => tokens.check(token),
            Good::Issued(jwt) => jwt.check(token).await,
            Good::None => Err(Denied::Invalid("no token is good")),
        }
    }

    /// The value of `WWW-Authenticate`, by RFC 6750 section 3 and RFC 9728 section 5.1.
    pub(crate) fn challenge(&self, denied: &Denied) -> String {
        let mut challenge = format!("Bearer realm=\"{}\"", self.realm);
        let mut add = |name: &str, value: &str| {
            // Writing to a `String` cannot fail. None of the values holds what a quoted string must escape.
            let _ = write!(challenge, ", {name}=\"{value}\"");
        };
        match denied {
            Denied::NoToken | Denied::Unavailable(_) => {}
            Denied::Malformed => add("error", "invalid_request"),
            Denied::Invalid(reason) => {
                add("error", "invalid_token");
                add("error_description", reason);
            }
            Denied::Scope => add("error", "insufficient_scope"),
        }
        if let Good::Issued(jwt) = &self.good {
            if !jwt.scopes.is_empty() {
                add("scope", &jwt.scopes.join(" "));
            }
            add("resource_metadata", &jwt.metadata_url);
        }
        challenge
    }

    /// The document of RFC 9728, if it stands at this path of the server's own address.
    pub(crate) fn metadata(&self, path: &str) -> Option<Bytes> {
        match &self.good {
            Good::Issued(jwt) if path == jwt.metadata_path || path.strip_prefix(METADATA) == Some(&self.path()) => {
                Some(jwt.metadata.clone())
            }
            _ => None,
        }
    }

    fn path(&self) -> String {
        format!("/mcp/{}", self.realm)
    }
}

/// Where metadata of protected resources stands; behind it comes the path of the resource.
const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Fills in the environment; what is missing is added to `missing`.
fn fill(text: &str, lookup: impl Fn(&str) -> Option<String>, missing: &mut Vec<String>) -> Result<String, EntryError> {
    let pieces = env::parse(text).map_err(|error| EntryError::Invalid(error.to_string()))?;
    Ok(env::fill(&pieces, lookup).unwrap_or_else(|names| {
        missing.extend(names.into_iter().map(str::to_owned));
        String::new()
    }))
}
