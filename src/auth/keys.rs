//! The public keys of one issuer: fetched when a token first needs them, kept, and fetched again when a token names
//! one that is not among them.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use jsonwebtoken::{Algorithm, DecodingKey};
use mcpress_catalog::access;
use serde::Deserialize;
use serde_json::Value;
use tokio::{sync::watch, time::Instant};
use tracing::warn;

use super::{Denied, signature};
use crate::fetch::{FetchError, Fetcher};

/// At most one fetch in this time: who sends tokens with made-up names of keys makes nobody ask the issuer more often.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// How old keys may be before they are fetched again, so that one that was withdrawn is not good for ever.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// Keys of one issuer that are looked at.
const MAX_KEYS: usize = 100;

/// The keys of one issuer.
pub(super) struct Keys {
    issuer: String,
    /// Where they are, if that is known without asking.
    jwks: Option<String>,
    allow_private_network: bool,
    fetcher: Fetcher,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Those that were last fetched; they stay where a fetch fails.
    keys: Arc<Vec<Key>>,
    fetched: Option<Instant>,
    /// When the last fetch ended, and whether it failed.
    ended: Option<(Instant, bool)>,
    /// Closes when the fetch that is under way has ended.
    running: Option<watch::Receiver<()>>,
}

struct Key {
    id: Option<String>,
    algorithm: Option<String>,
    key_type: String,
    key: DecodingKey,
}

impl Keys {
    pub(super) fn new(issuer: &str, jwks: Option<String>, allow_private_network: bool, fetcher: &Fetcher) -> Self {
        Self {
            issuer: issuer.to_owned(),
            jwks,
            allow_private_network,
            fetcher: fetcher.clone(),
            state: Mutex::default(),
        }
    }

    /// The keys that may have made a signature: those of this name, or all where the token names none.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Vec<DecodingKey>, Denied> {
        loop {
            let mut running = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.forget_a_dead_fetch();
                let found = state.find(id, algorithm);
                let may_ask = state.ended.is_none_or(|(ended, _)| ended.elapsed() >= PAUSE);
                let is_old = state.fetched.is_none_or(|fetched| fetched.elapsed() >= MAX_AGE);
                if state.running.is_none() && may_ask && (found.is_empty() || is_old) {
                    self.start(&mut state);
                }
                if !found.is_empty() {
                    return Ok(found);
                }
                match (&state.running, state.ended) {
                    (Some(running), _) => running.clone(),
                    (None, Some((ended, true))) => {
                        return Err(Denied::Unavailable(PAUSE.saturating_sub(ended.elapsed())));
                    }
                    (None, _) => return Err(Denied::Invalid("the key of the token is not known")),
                }
            };
            // Nothing is ever sent; it ends with its sender.
            let _ = running.changed().await;
        }
    }

    /// Fetches in a task of its own, which a client that goes away does not end.
    fn start(self: &Arc<Self>, state: &mut State) {
        let (done, running) = watch::channel(());
        state.running = Some(running);
        let keys = Arc::clone(self);
        tokio::spawn(async move {
            let fetched = keys.fetch().await;
            let mut state = keys.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.running = None;
            state.ended = Some((Instant::now(), fetched.is_err()));
            match fetched {
                Ok(fetched) => {
                    state.keys = Arc::new(fetched);
                    state.fetched = Some(Instant::now());
                }
                Err(error) => warn!(issuer = keys.issuer, error, "cannot fetch the keys of an authorization server"),
            }
            drop(state);
            drop(done);
        });
    }

    async fn fetch(&self) -> Result<Vec<Key>, String> {
        let url = match &self.jwks {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let body =
            self.fetcher.document(&url, self.allow_private_network).await.map_err(|error| with_causes(&error))?;
        let url = shown(&url);
        let set: Set = serde_json::from_slice(&body).map_err(|error| format!("{url} is no JWK set: {error}"))?;
        let keys: Vec<Key> = set.keys.iter().take(MAX_KEYS).filter_map(Key::read).collect();
        if keys.is_empty() { Err(format!("{url} holds no key that can be used")) } else { Ok(keys) }
    }

    /// Where the keys are, by the metadata of RFC 8414 or of OpenID Connect Discovery, in the order that MCP asks for.
    async fn discover(&self) -> Result<String, String> {
        let mut last = String::new();
        for url in metadata_urls(&self.issuer) {
            let body = match self.fetcher.document(&url, self.allow_private_network).await {
                Ok(body) => body,
                Err(error) => {
                    last = with_causes(&error);
                    continue;
                }
            };
            let Ok(metadata) = serde_json::from_slice::<Metadata>(&body) else {
                last = format!("{url} is no metadata of an authorization server");
                continue;
            };
            if metadata.issuer != self.issuer {
                return Err(format!("{url} names another issuer"));
            }
            access::check_address(&metadata.jwks_uri).map_err(|error| format!("`jwks_uri` of {url}: {error}"))?;
            return Ok(metadata.jwks_uri);
        }
        Err(last)
    }
}

/// An address as it may stand in the log.
fn shown(url: &str) -> &str {
    url.split('?').next().unwrap_or_default()
}

fn with_causes(error: &FetchError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |causes, cause| format!("{causes}: {cause}"))
}

/// Metadata of an authorization server.
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// A JWK set. Keys of kinds that are not known here are no fault.
#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

impl State {
    /// A task that has ended without a word has panicked; nobody may wait for it.
    fn forget_a_dead_fetch(&mut self) {
        if self.running.as_ref().is_some_and(|running| running.has_changed().is_err()) {
            self.running = None;
            self.ended = Some((Instant::now(), true));
        }
    }

    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Vec<DecodingKey> {
        let key_type = signature::key_type(algorithm);
        let name = format!("{algorithm:?}");
        let fits = |key: &&Key| {
            key.key_type == key_type
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
                && key.algorithm.as_ref().is_none_or(|algorithm| *algorithm == name)
        };
        self.keys.iter().filter(fits).map(|key| key.key.clone()).collect()
    }
}

impl Key {
    /// `None` for a key that signs nothing, or in a way that is not known here.
    fn read(jwk: &Value) -> Option<Self> {
        let text = |name: &str| jwk.get(name).and_then(Value::as_str);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            return None;
        }
        let key = match (text("kty")?, text("crv")) {
            ("RSA", _) => DecodingKey::from_rsa_components(text("n")?, text("e")?),
            ("EC", Some("P-256" | "P-384")) => DecodingKey::from_ec_components(text("x")?, text("y")?),
            ("OKP", Some("Ed25519")) => DecodingKey::from_ed_components(text("x")?),
            _ => return None,
        };
        Some(Self {
            id: text("kid").map(str::to_owned),
            algorithm: text("alg").map(str::to_owned),
            key_type: text("kty")?.to_owned(),
            key: key.ok()?,
        })
    }
}

/// Where the metadata of an issuer may stand.
fn metadata_urls(issuer: &str) -> Vec<String> {
    let start = issuer.find("://").map_or(0, |colon| colon + 3);
    let end = issuer[start..].find('/').map_or(issuer.len(), |slash| start + slash);
    let (origin, path) = (&issuer[..end], issuer[end..].trim_end_matches('/'));
    let mut urls = vec![
        format!("{origin}/.well-known/oauth-authorization-server{path}"),
        format!("{origin}/.well-known/openid-configuration{path}"),
    ];
    if !path.is_empty() {
        urls.push(format!("{origin}{path}/.well-known/openid-configuration"));
    }
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_for_metadata_where_mcp_says() {
        assert_eq!(
            metadata_urls("https://id.example.com/"),
            [
                "https://id.example.com/.well-known/oauth-authorization-server",
                "https://id.example.com/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            metadata_urls("https://id.example.com:8443/realms/x"),
            [
                "https://id.example.com:8443/.well-known/oauth-authorization-server/realms/x",
                "https://id.example.com:8443/.well-known/openid-configuration/realms/x",
                "https://id.example.com:8443/realms/x/.well-known/openid-configuration",
            ]
        );
    }
}
