//! Answers that are kept for a while: one request at a time for each of them, asked again only whether it has changed,
//! and given out for longer while the upstream fails. Bounded in memory; what was not read for longest goes first.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::{
    FutureExt,
    future::{BoxFuture, Shared, WeakShared},
};
use lru::LruCache;
use mcpress_catalog::source;
use tokio::time::Instant;
use tracing::warn;

use super::{Errand, Fetched, Stale, client::Validators, error::FetchError};
use crate::{metrics::Metrics, throttle::Throttle};

/// How long an upstream that failed is left alone, where an older answer can stand in. Otherwise each read would wait
/// for it to fail again.
const RESPITE: Duration = Duration::from_secs(5);

/// That an answer is the same as before says nothing where there was none; the client asks no such question.
pub(super) const NOTHING_KEPT: &str = "nothing has changed since nothing was read";

/// What an answer costs beside its contents.
const OVERHEAD: u64 = 512;

/// What an answer is kept under: the entry, by the number that its fetcher gave it, and the values of its arguments.
pub(super) type Key = (u64, BTreeMap<String, String>);

/// What an upstream says.
#[expect(clippy::large_enum_variant, reason = "there is one of them at a time")]
pub(super) enum Answer {
    /// This.
    New(Fetched, Validators),
    /// The same as before.
    Unchanged,
}

/// The answers, for all entries.
pub(super) struct Cache {
    state: Mutex<State>,
    max_bytes: u64,
    metrics: Arc<Metrics>,
    failures: Throttle,
}

struct State {
    kept: LruCache<Key, Kept>,
    bytes: u64,
    flights: HashMap<Key, Flight>,
    next_flight: u64,
}

/// A good answer.
#[derive(Clone)]
struct Kept {
    fetched: Fetched,
    validators: Validators,
    /// When the upstream last stood by it.
    since: Instant,
    /// When the upstream last failed, and how.
    failure: Option<(Instant, FetchError)>,
}

/// A fetch that goes on as long as somebody waits for it.
struct Flight {
    number: u64,
    future: WeakShared<BoxFuture<'static, Result<Fetched, FetchError>>>,
}

impl Cache {
    pub(super) fn new(max_bytes: u64, metrics: Arc<Metrics>) -> Self {
        let state = State { kept: LruCache::unbounded(), bytes: 0, flights: HashMap::new(), next_flight: 0 };
        Self { state: Mutex::new(state), max_bytes, metrics, failures: Throttle::default() }
    }

    /// The answer for a key: one that is kept, else what `fetch` gives. It is told by which validators the upstream
    /// can tell whether the answer that is kept is still good. The errand is that of the read.
    pub(super) async fn get<F>(
        self: &Arc<Self>,
        key: Key,
        policy: source::Cache,
        errand: Errand,
        fetch: impl FnOnce(Validators) -> F,
    ) -> Result<Fetched, FetchError>
    where
        F: Future<Output = Result<Answer, FetchError>> + Send + 'static,
    {
        let flight = {
            let mut state = self.state();
            let kept = state.kept.get(&key).cloned();
            if let Some(kept) = &kept
                && let Some(fetched) = kept.without_asking(policy)
            {
                self.count(&errand, if fetched.stale.is_some() { "stale" } else { "hit" });
                return Ok(fetched);
            }
            match state.flights.get(&key).and_then(|flight| flight.future.upgrade()) {
                Some(flight) => {
                    self.count(&errand, "shared");
                    flight
                }
                None => self.take_off(&mut state, key, policy, errand, kept, fetch),
            }
        };
        flight.await
    }

    fn take_off<F>(
        self: &Arc<Self>,
        state: &mut State,
        key: Key,
        policy: source::Cache,
        errand: Errand,
        kept: Option<Kept>,
        fetch: impl FnOnce(Validators) -> F,
    ) -> Shared<BoxFuture<'static, Result<Fetched, FetchError>>>
    where
        F: Future<Output = Result<Answer, FetchError>> + Send + 'static,
    {
        let number = state.next_flight;
        state.next_flight += 1;
        let fetching = fetch(kept.as_ref().map(|kept| kept.validators.clone()).unwrap_or_default());
        let landing = Landing { cache: self.clone(), key: key.clone(), number };
        let future = async move {
            let answer = fetching.await;
            let result = match &answer {
                Ok(Answer::New(..)) => "miss",
                Ok(Answer::Unchanged) => "revalidated",
                Err(_) => "failed",
            };
            let cache = &landing.cache;
            let given = cache.settle(&landing.key, policy, kept, answer);
            match given.as_ref().ok().and_then(|fetched| fetched.stale.as_ref()) {
                Some(stale) => {
                    cache.count(&errand, "stale");
                    cache.log(&errand, stale);
                }
                None => cache.count(&errand, result),
            }
            given
        };
        let future = future.boxed().shared();
        if let Some(weak) = future.downgrade() {
            state.flights.insert(key, Flight { number, future: weak });
        }
        future
    }

    /// Keeps what has come, and says what to give out.
    fn settle(
        &self,
        key: &Key,
        policy: source::Cache,
        kept: Option<Kept>,
        answer: Result<Answer, FetchError>,
    ) -> Result<Fetched, FetchError> {
        let now = Instant::now();
        let (kept, given) = match (answer, kept) {
            (Ok(Answer::New(fetched, validators)), _) => {
                (Kept { fetched: fetched.clone(), validators, since: now, failure: None }, Ok(fetched))
            }
            (Ok(Answer::Unchanged), Some(kept)) => {
                let given = Ok(kept.fetched.clone());
                (Kept { since: now, failure: None, ..kept }, given)
            }
            (Ok(Answer::Unchanged), None) => return Err(FetchError::failed(NOTHING_KEPT)),
            (Err(error), Some(kept)) if error.allows_stale() => {
                let given = kept.stale(policy, &error).ok_or_else(|| error.clone());
                (Kept { failure: Some((now, error)), ..kept }, given)
            }
            (Err(error), kept) => {
                if kept.is_some() {
                    self.state().forget(key);
                }
                return Err(error);
            }
        };
        self.state().keep(key.clone(), kept, self.max_bytes);
        given
    }

    /// Counts where an answer came from.
    fn count(&self, errand: &Errand, result: &'static str) {
        self.metrics.read_cache(errand.server.clone(), result);
    }

    /// No read fails where an older answer stands in, so nobody else says that a fetch did.
    fn log(&self, Errand { server, trace }: &Errand, stale: &Stale) {
        let Some(left_out) = self.failures.admit() else { return };
        warn!(
            request_id = trace.request_id(),
            server = server.0.as_deref(),
            error = stale.error.to_string(),
            cause = stale.error.cause(),
            age_seconds = stale.age.as_secs(),
            left_out = Some(left_out).filter(|count| *count > 0),
            "fetch failed, and an older answer stands in"
        );
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// What can be given out at once: it is fresh, or the upstream has failed a moment ago.
    fn without_asking(&self, policy: source::Cache) -> Option<Fetched> {
        if self.since.elapsed() < Duration::from_millis(policy.ttl_ms) {
            return Some(self.fetched.clone());
        }
        let (when, error) = self.failure.as_ref()?;
        if when.elapsed() < RESPITE { self.stale(policy, error) } else { None }
    }

    /// The answer in place of an error, as long as it may be.
    fn stale(&self, policy: source::Cache, error: &FetchError) -> Option<Fetched> {
        let age = self.since.elapsed();
        let limit = Duration::from_millis(policy.ttl_ms.saturating_add(policy.stale_if_error_ms));
        let stale = || Fetched { stale: Some(Stale { age, error: error.clone() }), ..self.fetched.clone() };
        (policy.stale_if_error_ms > 0 && age < limit).then(stale)
    }
}

impl State {
    fn keep(&mut self, key: Key, kept: Kept, max_bytes: u64) {
        self.forget(&key);
        let size = size(&key, &kept);
        if size > max_bytes {
            return;
        }
        self.bytes += size;
        self.kept.push(key, kept);
        while self.bytes > max_bytes
            && let Some((key, kept)) = self.kept.pop_lru()
        {
            self.bytes -= self::size(&key, &kept);
        }
    }

    fn forget(&mut self, key: &Key) {
        if let Some((key, kept)) = self.kept.pop_entry(key) {
            self.bytes -= size(&key, &kept);
        }
    }
}

fn size((_, arguments): &Key, kept: &Kept) -> u64 {
    let arguments: usize = arguments.iter().map(|(name, value)| name.len() + value.len() + 64).sum();
    (kept.fetched.payload.len() + arguments) as u64 + OVERHEAD
}

/// Takes a flight off the list when it has ended, or when nobody waits for it any more.
struct Landing {
    cache: Arc<Cache>,
    key: Key,
    number: u64,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut state = self.cache.state();
        if state.flights.get(&self.key).is_some_and(|flight| flight.number == self.number) {
            state.flights.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use reqwest::header::{ETAG, HeaderMap, HeaderValue};
    use tokio::{sync::Notify, task::yield_now, time::advance};

    use super::{super::Payload, *};

    const POLICY: source::Cache = source::Cache { ttl_ms: 60_000, stale_if_error_ms: 600_000 };

    fn key(name: &str) -> Key {
        (1, BTreeMap::from([("a".to_owned(), name.to_owned())]))
    }

    fn text(text: &str) -> Fetched {
        Fetched { payload: Payload::Text(text.into()), mime_type: "text/plain".to_owned(), stale: None, left_out: None }
    }

    fn new(fetched: &str) -> Result<Answer, FetchError> {
        let headers = HeaderMap::from_iter([(ETAG, HeaderValue::from_static("\"1\""))]);
        Ok(Answer::New(text(fetched), Validators::of(&headers)))
    }

    /// What is given out, and whether the upstream was asked.
    async fn get(cache: &Arc<Cache>, policy: source::Cache, answer: Result<Answer, FetchError>) -> (String, bool) {
        let mut asked = false;
        let got = cache.get(key("x"), policy, Errand::default(), |_| {
            asked = true;
            async { answer }
        });
        let got = match got.await {
            Ok(Fetched { payload: Payload::Text(text), stale, .. }) => match stale {
                Some(Stale { age, error }) => format!("{text}, {} s old: {error}", age.as_secs()),
                None => text.to_string(),
            },
            Ok(_) => unreachable!(),
            Err(error) => format!("error: {error}"),
        };
        (got, asked)
    }

    fn asked(text: &str) -> (String, bool) {
        (text.to_owned(), true)
    }

    fn kept(text: &str) -> (String, bool) {
        (text.to_owned(), false)
    }

    #[tokio::test(start_paused = true)]
    async fn is_fresh_then_asks_again() {
        let cache = Arc::new(Cache::new(1 << 20, Arc::default()));
        assert_eq!(get(&cache, POLICY, new("one")).await, asked("one"));
        advance(Duration::from_millis(59_999)).await;
        assert_eq!(get(&cache, POLICY, new("two")).await, kept("one"));
        advance(Duration::from_millis(1)).await;
        assert_eq!(get(&cache, POLICY, Ok(Answer::Unchanged)).await, asked("one"));
        advance(Duration::from_secs(59)).await;
        assert_eq!(get(&cache, POLICY, new("two")).await, kept("one"));
        advance(Duration::from_secs(1)).await;
        assert_eq!(get(&cache, POLICY, new("three")).await, asked("three"));
    }

    #[tokio::test(start_paused = true)]
    async fn stands_in_while_the_upstream_fails() {
        let cache = Arc::new(Cache::new(1 << 20, Arc::default()));
        let fails = || Err(FetchError::status("a", 503));
        assert_eq!(get(&cache, POLICY, fails()).await, asked("error: upstream a answered 503"));
        assert_eq!(get(&cache, POLICY, new("one")).await, asked("one"), "an error is not kept");
        advance(Duration::from_secs(60)).await;
        assert_eq!(get(&cache, POLICY, fails()).await, asked("one, 60 s old: upstream a answered 503"));
        advance(Duration::from_secs(4)).await;
        assert_eq!(get(&cache, POLICY, new("two")).await, kept("one, 64 s old: upstream a answered 503"));
        advance(Duration::from_secs(1)).await;
        assert_eq!(get(&cache, POLICY, fails()).await, asked("one, 65 s old: upstream a answered 503"));
        advance(Duration::from_secs(594)).await;
        assert_eq!(get(&cache, POLICY, fails()).await, asked("one, 659 s old: upstream a answered 503"));
        advance(Duration::from_secs(1)).await;
        assert_eq!(get(&cache, POLICY, fails()).await, asked("error: upstream a answered 503"));
        assert_eq!(get(&cache, POLICY, new("two")).await, asked("two"));
    }

    #[tokio::test(start_paused = true)]
    async fn hides_neither_that_something_is_gone_nor_that_nothing_may_be_stale() {
        let cache = Arc::new(Cache::new(1 << 20, Arc::default()));
        let strict = source::Cache { stale_if_error_ms: 0, ..POLICY };
        get(&cache, POLICY, new("one")).await;
        advance(Duration::from_secs(60)).await;
        let fails = Err(FetchError::status("a", 503));
        assert_eq!(get(&cache, strict, fails).await, asked("error: upstream a answered 503"));
        assert_eq!(
            get(&cache, POLICY, Err(FetchError::status("a", 404))).await.0,
            "one, 60 s old: upstream a answered 503"
        );
        advance(RESPITE).await;
        assert_eq!(
            get(&cache, POLICY, Err(FetchError::status("a", 404))).await,
            asked("error: upstream a answered 404")
        );
        let fails = Err(FetchError::status("a", 503));
        assert_eq!(get(&cache, POLICY, fails).await, asked("error: upstream a answered 503"), "nor does it come back");
    }

    #[tokio::test(start_paused = true)]
    async fn fetches_once_for_all_who_wait() {
        let (cache, go, fetches) =
            (Arc::new(Cache::new(1 << 20, Arc::default())), Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
        let read = || {
            let (cache, go, fetches) = (cache.clone(), go.clone(), fetches.clone());
            tokio::spawn(async move {
                let fetched = cache.get(key("x"), POLICY, Errand::default(), |_| async move {
                    fetches.fetch_add(1, Ordering::SeqCst);
                    go.notified().await;
                    new("one")
                });
                fetched.await.unwrap().payload.len()
            })
        };
        let first = read();
        yield_now().await;
        let others: Vec<_> = (0..50).map(|_| read()).collect();
        yield_now().await;
        first.abort();
        assert!(first.await.unwrap_err().is_cancelled());
        go.notify_one();
        for other in others {
            assert_eq!(other.await.unwrap(), 3);
        }
        assert_eq!(fetches.load(Ordering::SeqCst), 1);
        assert!(cache.state().flights.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn gives_up_when_nobody_waits_any_more() {
        struct Tell(Arc<AtomicUsize>);
        impl Drop for Tell {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let (cache, dropped) = (Arc::new(Cache::new(1 << 20, Arc::default())), Arc::new(AtomicUsize::new(0)));
        let read = || {
            let (cache, dropped) = (cache.clone(), dropped.clone());
            tokio::spawn(async move {
                let fetched = cache.get(key("x"), POLICY, Errand::default(), |_| async {
                    let _tell = Tell(dropped);
                    std::future::pending().await
                });
                fetched.await.is_ok()
            })
        };
        for read in [read(), read()] {
            yield_now().await;
            assert_eq!(dropped.load(Ordering::SeqCst), 0);
            read.abort();
            assert!(read.await.unwrap_err().is_cancelled());
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(cache.state().flights.is_empty());
        assert_eq!(get(&cache, POLICY, new("one")).await, asked("one"));
    }

    #[tokio::test(start_paused = true)]
    async fn keeps_no_more_than_it_may() {
        let cache = Arc::new(Cache::new(4 * (OVERHEAD + 1_000), Arc::default()));
        let content = "x".repeat(800);
        let read = |name: &'static str, content: String| {
            let cache = cache.clone();
            async move {
                let mut asked = false;
                let fetched = cache.get(key(name), POLICY, Errand::default(), |_| {
                    asked = true;
                    async move { new(&content) }
                });
                fetched.await.unwrap();
                asked
            }
        };
        for name in ["a", "b", "c", "d"] {
            assert!(read(name, content.clone()).await);
        }
        assert!(!read("a", content.clone()).await);
        assert!(read("e", content.clone()).await);
        assert!(!read("a", content.clone()).await, "`b` was not read for longest");
        assert!(read("b", content.clone()).await);
        assert!(read("huge", "x".repeat(10_000)).await);
        assert!(read("huge", "x".repeat(10_000)).await, "what does not fit is not kept");
        assert!(!read("a", content.clone()).await, "nor does it drive out the others");
        let state = cache.state();
        assert_eq!(state.bytes, state.kept.iter().map(|(key, kept)| size(key, kept)).sum::<u64>());
        assert!(state.bytes <= cache.max_bytes);
    }
}
