//! Who may ask a server, and how often: what the compiler checks and stores as JSON in the blob, and the server reads
//! once, at its start.

use fluent_uri::Uri;
use serde::{Deserialize, Serialize};

use crate::source::{Href, HrefError};

/// The access to one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Where `auth` is defined, as `path:line`.
    pub place: String,
    /// Without it, everybody may ask.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Without it, as often as they like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
}

/// Which bearer tokens are good.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// Those that the environment lists.
    Bearer(Bearer),
    /// JWT access tokens of authorization servers.
    #[serde(rename = "oauth")]
    OAuth(Box<OAuth>),
}

/// A list of tokens in the environment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bearer {
    /// The variable that holds it.
    pub tokens_env: String,
}

/// What a JWT access token must be. Addresses may hold `${NAME}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OAuth {
    /// Issuers, at least one.
    pub authorization_servers: Vec<String>,
    /// The audience: the address of the server, as its clients know it.
    pub resource: String,
    /// Where the keys of the one issuer are; without it, where its metadata says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jwks: Option<String>,
    /// All of them must be granted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Whether keys may be fetched from addresses that are not public.
    pub allow_private_network: bool,
}

/// How many requests each client may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// In the long run, from 1 to [`MAX_REQUESTS`].
    pub requests_per_minute: u32,
    /// At once, from 1 to [`MAX_REQUESTS`].
    pub burst: u32,
}

/// The most that either number of [`Limits`] may be.
pub const MAX_REQUESTS: u32 = 1_000_000;

/// Checks an address that tokens and keys depend on: https, or http to this machine.
///
/// # Errors
/// What is wrong with it.
pub fn check_address(address: &str) -> Result<(), HrefError> {
    Href::parse::<&str>(address, &[])?;
    let Ok(uri) = Uri::parse(address) else {
        return Err(HrefError {
            message: "not an address by RFC 3986".to_owned(),
            hint: "percent-encode what is not ASCII in a path, such as `%C3%A9` for `é`",
        });
    };
    let host = uri.authority().map(|authority| authority.host()).unwrap_or_default();
    if !is_safe(uri.scheme().as_str(), host) {
        return Err(HrefError {
            message: "expected https".to_owned(),
            hint: "plain http is for `localhost`, `127.0.0.1` and `[::1]`; elsewhere, who changes an answer lets anybody in",
        });
    }
    Ok(())
}

/// True for https, and for this machine: on the way there, nobody can change an answer. An address of IPv6 stands in
/// brackets.
pub fn is_safe(scheme: &str, host: &str) -> bool {
    let is_loopback = ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| name.eq_ignore_ascii_case(host));
    scheme.eq_ignore_ascii_case("https") || is_loopback
}

/// Checks the identifier of an issuer or of a resource: such an address, without a query.
///
/// # Errors
/// What is wrong with it.
pub fn check_identifier(address: &str) -> Result<(), HrefError> {
    check_address(address)?;
    if address.contains('?') {
        return Err(HrefError { message: "an identifier has no query".to_owned(), hint: "leave `?…` out" });
    }
    Ok(())
}

/// True for the name of a scope, by [RFC 6749 section 3.3](https://www.rfc-editor.org/rfc/rfc6749#section-3.3).
pub fn is_scope(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_or_of_this_machine() {
        for address in [
            "https://id.example.com",
            "https://id.example.com:8443/realms/x",
            "http://localhost:8080/",
            "http://LOCALHOST",
            "http://127.0.0.1:1/a",
            "http://[::1]:1/a",
            "http://[::1]",
        ] {
            assert_eq!(check_identifier(address), Ok(()), "{address}");
        }
        for address in [
            "http://id.example.com",
            "http://localhost.example.com",
            "http://[::2]:80",
            "http://127.0.0.1.example",
            "id.example.com",
            "https://a:b@id.example.com",
            "https://id.example.com/#a",
            "https://id.example.com/?a",
            "https://{x}/",
        ] {
            assert!(check_identifier(address).is_err(), "{address}");
        }
        assert_eq!(check_address("https://id.example.com/keys?p=1"), Ok(()));
        let message = |address| check_identifier(address).unwrap_err().message;
        assert_eq!(message("http://id.example.com/"), "expected https");
        assert_eq!(message("https://id.example.com/é"), "not an address by RFC 3986");
        assert_eq!(check_identifier("https://id.example.com/%C3%A9"), Ok(()));
    }

    #[test]
    fn scopes_are_words() {
        assert!(["docs.read", "api://x/Read.All", "a"].iter().all(|name| is_scope(name)));
        assert!(!["", "a b", "a\"", "a\\b", "ü", "a\n"].iter().any(|name| is_scope(name)));
    }
}
