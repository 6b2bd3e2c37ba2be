//! `fetch`, and what `url` and `wp_query` have in common: headers, limits, `${NAME}`.

use std::collections::BTreeMap;

use mcpress_catalog::{
    env::{self, Piece},
    source::{Cache, Fetch},
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    schema,
    scope::Scope,
    values::{Duration, Keys, Size},
    yaml::{Field, Mark},
};

/// Redirects that may be asked for.
const MAX_REDIRECTS: u32 = 20;

/// How something is fetched: `fetch` in `site.yaml` and `server.yaml`, and the keys of the same names in `url` and
/// `wp_query`.
///
/// What says *what* is fetched (`href`, `method`, `body`, `select`, …) has no default, nor has `accept_status`, which
/// belongs to one address. An entry's own value wins over the server's, and that over the site's, key by key; of
/// `headers`, header by header; `cache` as a whole, for its two times belong together.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Fetch", deny_unknown_fields, description = "How content is fetched, where an entry does not say.")]
pub(crate) struct FetchDefinition {
    /// Headers of the request, by name; values may hold `${ENV}`.
    #[schemars(transform = schema::headers)]
    pub(crate) headers: Field<Keys<String>>,
    /// How long the whole fetch may take, redirects and body included. Default: `10s`.
    #[schemars(regex(pattern = schema::SOME_TIME))]
    pub(crate) timeout: Field<Duration>,
    /// How long connecting may take, which is part of `timeout`. Default: `3s`.
    #[schemars(regex(pattern = schema::SOME_TIME))]
    pub(crate) connect_timeout: Field<Duration>,
    /// Largest body, once it is decompressed. Default: `5MiB`.
    #[schemars(transform = schema::not_empty)]
    pub(crate) max_bytes: Field<Size>,
    /// Redirects to follow, from 0 to 20; each hop is checked anew. Default: 5.
    #[schemars(range(max = 20))]
    pub(crate) max_redirects: Field<u32>,
    /// Whether addresses that are not public may be asked, such as `10.0.0.1` or `localhost`. Default: `false`.
    pub(crate) allow_private_network: Field<bool>,
    /// Keeps the last good answer in memory. Default: each read asks anew.
    pub(crate) cache: Field<CacheDefinition>,
}

/// How answers are kept, and for how long.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Cache", deny_unknown_fields, extend("required" = ["ttl"]))]
pub(crate) struct CacheDefinition {
    /// How long an answer is given out without asking again; `0s` asks at each read whether it changed.
    pub(crate) ttl: Field<Duration>,
    /// How long after that it may still be given out where asking fails. Default: `0s`.
    pub(crate) stale_if_error: Field<Duration>,
}

impl FetchDefinition {
    /// The same with what is not given taken from `defaults`.
    pub(crate) fn or(self, defaults: &Self) -> Self {
        let defaults = defaults.clone();
        Self {
            headers: match (self.headers, defaults.headers) {
                (Field::Given(mut own, mark), Field::Given(others, _)) => {
                    for (name, value) in others.0 {
                        if !own.0.iter().any(|(given, _)| given.eq_ignore_ascii_case(&name)) {
                            own.0.push((name, value));
                        }
                    }
                    Field::Given(own, mark)
                }
                (own, others) => own.or(others),
            },
            timeout: self.timeout.or(defaults.timeout),
            connect_timeout: self.connect_timeout.or(defaults.connect_timeout),
            max_bytes: self.max_bytes.or(defaults.max_bytes),
            max_redirects: self.max_redirects.or(defaults.max_redirects),
            allow_private_network: self.allow_private_network.or(defaults.allow_private_network),
            cache: self.cache.or(defaults.cache),
        }
    }

    /// Reports what is wrong with the values that are given here. `field` is the mapping they stand in.
    pub(crate) fn check(&self, field: &str, scope: &mut Scope<'_>) {
        if let Some((headers, _)) = self.headers.given() {
            check_headers(headers, &format!("{field}.headers"), scope);
        }
        for (name, value) in [("timeout", &self.timeout), ("connect_timeout", &self.connect_timeout)] {
            if let Some((Duration(0), mark)) = value.given() {
                scope
                    .error(mark, &format!("{field}.{name}"), "a time of nothing")
                    .with_hint("write `10s`, for example");
            }
        }
        if let (Some((connect, mark)), Some(timeout)) = (self.connect_timeout.given(), self.timeout.value())
            && connect > timeout
        {
            scope
                .error(mark, &format!("{field}.connect_timeout"), "longer than `timeout`, which it is part of")
                .with_hint("raise `timeout`, or leave `connect_timeout` out");
        }
        if let Some((Size(0), mark)) = self.max_bytes.given() {
            scope
                .error(mark, &format!("{field}.max_bytes"), "a size of nothing")
                .with_hint("write `5MiB`, for example");
        }
        if let Some((redirects, mark)) = self.max_redirects.given()
            && *redirects > MAX_REDIRECTS
        {
            let message = format!("expected a whole number from 0 to {MAX_REDIRECTS}, found `{redirects}`");
            scope.error(mark, &format!("{field}.max_redirects"), message);
        }
        if let Some((cache, mark)) = self.cache.given()
            && cache.ttl.is_absent()
        {
            scope.error(mark, &format!("{field}.cache"), "`ttl` is missing").with_hint(
                "`ttl: 5m` keeps an answer for five minutes; `ttl: 0s` asks at each read whether it changed",
            );
        }
    }

    /// The values that were checked, over those of the content format.
    pub(crate) fn lower(&self) -> Fetch {
        let default = Fetch::default();
        let milliseconds = |field: &Field<Duration>| field.value().map(|duration| duration.0);
        let timeout_ms = milliseconds(&self.timeout).unwrap_or(default.timeout_ms);
        let headers = self.headers.value().map(|headers| headers.0.as_slice()).unwrap_or_default();
        Fetch {
            headers: headers
                .iter()
                .filter_map(|(name, value)| Some((name.to_ascii_lowercase(), value.value()?.clone())))
                .collect(),
            timeout_ms,
            connect_timeout_ms: milliseconds(&self.connect_timeout)
                .unwrap_or(default.connect_timeout_ms)
                .min(timeout_ms),
            max_bytes: self.max_bytes.value().map_or(default.max_bytes, |size| size.0),
            max_redirects: self.max_redirects.value().copied().unwrap_or(default.max_redirects),
            allow_private_network: self.allow_private_network.value().copied().unwrap_or(false),
            cache: self.cache.value().map(|cache| Cache {
                ttl_ms: milliseconds(&cache.ttl).unwrap_or(0),
                stale_if_error_ms: milliseconds(&cache.stale_if_error).unwrap_or(0),
            }),
        }
    }
}

/// The pieces of a text that is filled from the environment when the server starts; what is wrong is reported.
pub(crate) fn env_text<'t>(text: &'t str, mark: Mark, field: &str, scope: &mut Scope<'_>) -> Option<Vec<Piece<'t>>> {
    match env::parse(text) {
        Ok(pieces) => Some(pieces),
        Err(error) => {
            scope.error(mark, field, error.message).with_hint(
                "`${NAME}` and `${NAME:-default}` stand for variables of the environment, `$$` for a dollar sign",
            );
            None
        }
    }
}

/// An address as it may look once the environment is filled in: defaults where there are some, else the start of an
/// address, a letter in a host, which must not end with a number, and a `1` in any other place.
pub(crate) fn stand_in(pieces: &[Piece<'_>]) -> String {
    let mut filled = String::new();
    for piece in pieces {
        let in_host = filled.split_once("://").is_some_and(|(_, host)| !host.contains([':', '/', '?', '#', '[']));
        filled.push_str(match piece {
            Piece::Text(text) | Piece::Variable { default: Some(text), .. } => text,
            Piece::Variable { default: None, .. } if filled.is_empty() => "https://x",
            Piece::Variable { default: None, .. } if in_host => "x",
            Piece::Variable { default: None, .. } => "1",
        });
    }
    filled
}

fn check_headers(headers: &Keys<String>, field: &str, scope: &mut Scope<'_>) {
    let mut seen = BTreeMap::new();
    for (name, value) in &headers.0 {
        let Some((value, mark)) = value.given() else { continue };
        let field = format!("{field}.{name}");
        if name.is_empty() || !name.bytes().all(is_token) {
            let hint = "letters, digits and `-` make one, such as `X-Api-Key`";
            scope.error(mark, &field, format!("`{name}` is no name of a header")).with_hint(hint);
            continue;
        }
        if let Some(first) = seen.insert(name.to_ascii_lowercase(), name) {
            let message = format!("the same header as `{first}`");
            scope.error(mark, &field, message).with_hint("case means nothing in names of headers; keep one of them");
        }
        if let Some((reason, hint)) = refused_header(&name.to_ascii_lowercase()) {
            scope.error(mark, &field, reason).with_hint(hint);
        }
        let Some(pieces) = env_text(value, mark, &field, scope) else { continue };
        let texts = pieces.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Variable { default: Some(text), .. } => *text,
            Piece::Variable { default: None, .. } => "",
        });
        if texts.flat_map(str::bytes).any(|byte| !(byte == b'\t' || byte == b' ' || byte.is_ascii_graphic())) {
            let hint = "a header is one line of ASCII; percent-encode the rest, or send it in the body";
            scope.error(mark, &field, "a line end, or a character that no header may hold").with_hint(hint);
        }
    }
}

/// Why a header cannot be set, and what to do in its place.
fn refused_header(name: &str) -> Option<(&'static str, &'static str)> {
    match name {
        "host" => Some(("the host is that of the address", "write the host into the address")),
        "content-length" | "transfer-encoding" | "expect" => {
            Some(("it follows from the body", "leave it out; it is set where it is needed"))
        }
        "connection"
        | "keep-alive"
        | "te"
        | "trailer"
        | "upgrade"
        | "proxy-connection"
        | "proxy-authenticate"
        | "proxy-authorization"
        | "http2-settings" => Some(("it belongs to the connection, not to the request", "leave it out")),
        "accept-encoding" => Some((
            "compression is negotiated anyway, so that `max_bytes` counts what is decoded",
            "leave it out; answers arrive decoded",
        )),
        "if-none-match" | "if-modified-since" | "if-match" | "if-unmodified-since" | "if-range" => {
            Some(("conditional requests are made by the cache", "give `cache: {ttl: 5m}`"))
        }
        _ => None,
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    fn definition(source: &str) -> FetchDefinition {
        let mut diagnostics = Vec::new();
        let node = yaml::parse("f", source, 1, &mut Vec::new()).unwrap().unwrap();
        let definition = yaml::read("f", "fetch", &node, &mut diagnostics).unwrap();
        assert_eq!(diagnostics, []);
        definition
    }

    #[test]
    fn merges_key_by_key_and_headers_one_by_one() {
        let site =
            definition("{timeout: 20s, headers: {User-Agent: site, X-A: site}, cache: {ttl: 1m, stale_if_error: 1h}}");
        let server = definition("{max_bytes: 1KiB, headers: {user-agent: server}, cache: {ttl: 2m}}");
        let entry = definition("{timeout: 2s, max_redirects: 0, allow_private_network: true}");
        let fetch = entry.or(&server.or(&site)).lower();
        let expected = Fetch {
            headers: [("user-agent", "server"), ("x-a", "site")].map(|(a, b)| (a.to_owned(), b.to_owned())).into(),
            timeout_ms: 2_000,
            connect_timeout_ms: 2_000,
            max_bytes: 1024,
            max_redirects: 0,
            allow_private_network: true,
            cache: Some(Cache { ttl_ms: 120_000, stale_if_error_ms: 0 }),
        };
        assert_eq!(fetch, expected);
    }

    #[test]
    fn addresses_look_like_addresses_without_the_environment() {
        for (text, expected) in [
            ("https://x/a", "https://x/a"),
            ("${API}/a", "https://x/a"),
            ("${API:-http://localhost:8080}/a", "http://localhost:8080/a"),
            ("https://${HOST}:${PORT}/${PATH}?$$", "https://x:1/1?$"),
            ("https://example.${TOP}/%2${X}", "https://example.x/%21"),
        ] {
            assert_eq!(stand_in(&env::parse(text).unwrap()), expected);
        }
    }
}
