//! The public keys of one issuer: fetched when a token first needs them, kept, and fetched again when a token names
//! one that is not among them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use jsonwebtoken::{Algorithm, DecodingKey};
use mcpress_catalog::access;
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    sync::{Semaphore, watch},
    time::{Instant, timeout},
};
use tracing::warn;

use super::{Denied, signature};
use crate::fetch::{FetchError, Fetcher};

/// At most one fetch in this time: who sends tokens with made-up names of keys makes nobody ask the issuer more often.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// How old keys may be before they are fetched again, so that one that was withdrawn is not good for ever. Older ones
/// are good only while the issuer is down.
const MAX_AGE: Duration = Duration::from_secs(60 * 60);

/// How old keys are when they are fetched again while they are still good, so that nobody waits.
const REFRESH_AGE: Duration = Duration::from_secs(45 * 60);

/// How long a fetch may take, with all that has to be asked to find out where the keys are.
const DEADLINE: Duration = Duration::from_secs(10);

/// For how long an issuer counts as down after a fetch that failed.
const DOWN: Duration = Duration::from_secs(60);

/// Requests that wait for the keys of one issuer at a time.
const MAX_WAITING: usize = 256;

/// Why a token is refused with which no key fits.
pub(super) const WRONG_SIGNATURE: &str = "the signature of the token is wrong";

/// Keys of one issuer that are looked at.
const MAX_KEYS: usize = 100;

/// The keys that are in use, so that servers with the same issuer share them, and a reload keeps them.
pub(crate) struct Issuers {
    fetcher: Fetcher,
    known: Mutex<HashMap<Issuer, Weak<Keys>>>,
}

/// Whose keys, and where from.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Issuer {
    pub(super) name: String,
    /// Where they are, if that is known without asking.
    pub(super) jwks: Option<String>,
    pub(super) allow_private_network: bool,
}

/// The keys of one issuer.
pub(super) struct Keys {
    issuer: Issuer,
    fetcher: Fetcher,
    state: Mutex<State>,
    /// What is left of [`MAX_WAITING`].
    waiting: Semaphore,
}

/// Keys that may have made a signature.
pub(super) struct Found {
    pub(super) keys: Vec<DecodingKey>,
    /// Of which fetch they are.
    version: u64,
}

#[derive(Default)]
struct State {
    /// Those that were last fetched; they stay where a fetch fails.
    keys: Vec<Key>,
    /// How often they were fetched.
    version: u64,
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

impl Issuers {
    pub(crate) fn new(fetcher: Fetcher) -> Self {
        Self { fetcher, known: Mutex::default() }
    }

    /// Fetches nothing yet.
    pub(super) fn keys(&self, issuer: Issuer) -> Arc<Keys> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(keys) = known.get(&issuer).and_then(Weak::upgrade) {
            return keys;
        }
        known.retain(|_, keys| keys.strong_count() > 0);
        let keys = Arc::new(Keys {
            issuer: issuer.clone(),
            fetcher: self.fetcher.clone(),
            state: Mutex::default(),
            waiting: Semaphore::new(MAX_WAITING),
        });
        known.insert(issuer, Arc::downgrade(&keys));
        keys
    }
}

impl Keys {
    /// The keys that may have made a signature: those of this name, or all where the token names none. `tried` are
    /// those with which it was wrong, so that only others are of use.
    pub(super) async fn find(
        self: &Arc<Self>,
        id: Option<&str>,
        algorithm: Algorithm,
        tried: Option<&Found>,
    ) -> Result<Found, Denied> {
        let mut waits = None;
        loop {
            let mut running = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.forget_a_dead_fetch();
                let found = state.find(id, algorithm);
                let is_known = !found.keys.is_empty() && tried.is_none_or(|tried| tried.version != found.version);
                let may_ask = state.ended.is_none_or(|(ended, _)| ended.elapsed() >= PAUSE);
                if state.running.is_none() && may_ask && (!is_known || state.is_older_than(REFRESH_AGE)) {
                    self.start(&mut state);
                }
                if is_known && (!state.is_older_than(MAX_AGE) || state.issuer_is_down()) {
                    return Ok(found);
                }
                match (&state.running, state.ended) {
                    (Some(running), _) => running.clone(),
                    _ if tried.is_some() => return Err(Denied::Invalid(WRONG_SIGNATURE)),
                    // It may be a new one, unless the issuer was asked after the token came.
                    (None, Some((ended, failed))) if failed || (waits.is_none() && !state.has(id)) => {
                        return Err(Denied::Unavailable(PAUSE.saturating_sub(ended.elapsed())));
                    }
                    (None, _) => return Err(Denied::Invalid("the key of the token is not known")),
                }
            };
            if waits.is_none() {
                waits = Some(self.waiting.try_acquire().map_err(|_| Denied::Unavailable(Duration::from_secs(1)))?);
            }
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
            let too_long = |_| Err(format!("no answer within {} s", DEADLINE.as_secs()));
            let fetched = timeout(DEADLINE, keys.fetch()).await.unwrap_or_else(too_long);
            let mut state = keys.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.running = None;
            // An issuer without keys has withdrawn those that it had. That is no word on a token either.
            state.ended = Some((Instant::now(), fetched.as_ref().map_or(true, Vec::is_empty)));
            match fetched {
                Ok(fetched) => {
                    if fetched.is_empty() {
                        warn!(issuer = keys.issuer.name, "an authorization server has no key that can be used");
                    }
                    state.keys = fetched;
                    state.version += 1;
                    state.fetched = Some(Instant::now());
                }
                Err(error) => {
                    warn!(issuer = keys.issuer.name, error, "cannot fetch the keys of an authorization server")
                }
            }
            drop(state);
            drop(done);
        });
    }

    async fn fetch(&self) -> Result<Vec<Key>, String> {
        let url = match &self.issuer.jwks {
            Some(url) => url.clone(),
            None => self.discover().await?,
        };
        let body = self
            .fetcher
            .document(&url, self.issuer.allow_private_network)
            .await
            .map_err(|error| with_causes(&error))?;
        let url = shown(&url);
        let set: Set = serde_json::from_slice(&body).map_err(|error| format!("{url} is no JWK set: {error}"))?;
        Ok(set.keys.iter().take(MAX_KEYS).filter_map(Key::read).collect())
    }

    /// Where the keys are, by the metadata of RFC 8414 or of OpenID Connect Discovery, in the order that MCP asks for.
    async fn discover(&self) -> Result<String, String> {
        let mut last = String::new();
        for url in metadata_urls(&self.issuer.name) {
            let body = match self.fetcher.document(&url, self.issuer.allow_private_network).await {
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
            if metadata.issuer != self.issuer.name {
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

    fn is_older_than(&self, age: Duration) -> bool {
        self.fetched.is_none_or(|fetched| fetched.elapsed() >= age)
    }

    /// Whether the last fetch has failed, and that not long ago.
    fn issuer_is_down(&self) -> bool {
        self.ended.is_some_and(|(ended, failed)| failed && ended.elapsed() < DOWN)
    }

    /// Whether there is a key of this name, of whatever kind.
    fn has(&self, id: Option<&str>) -> bool {
        id.is_some() && self.keys.iter().any(|key| key.id.as_deref() == id)
    }

    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Found {
        let key_type = signature::key_type(algorithm);
        let name = format!("{algorithm:?}");
        let fits = |key: &&Key| {
            key.key_type == key_type
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
                && key.algorithm.as_ref().is_none_or(|algorithm| *algorithm == name)
        };
        Found { keys: self.keys.iter().filter(fits).map(|key| key.key.clone()).collect(), version: self.version }
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
