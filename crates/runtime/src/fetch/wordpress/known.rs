//! What is known of a site for a minute.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures_util::future::BoxFuture;
use tokio::sync::OnceCell;

use super::super::error::FetchError;

/// How long something is known.
const KNOWN: Duration = Duration::from_secs(60);

/// Things that are known at once, so that arguments cannot fill the memory.
const MAX_KNOWN: usize = 1000;

/// Answers that are good for a minute; whoever asks for the same meanwhile waits for the first.
pub(super) struct Known<T>(Mutex<HashMap<String, Entry<T>>>);

/// Since when something is known, and what, unless it is still being asked for.
type Entry<T> = (Instant, Arc<OnceCell<Arc<T>>>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Known<T> {
    /// What is asked is seldom asked, and large, so that it lies on the heap.
    pub(super) async fn get(&self, key: &str, ask: BoxFuture<'_, Result<T, FetchError>>) -> Result<Arc<T>, FetchError> {
        let cell = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, (since, _)| since.elapsed() < KNOWN);
            if known.len() >= MAX_KNOWN {
                known.clear();
            }
            known.entry(key.to_owned()).or_insert_with(|| (Instant::now(), Arc::default())).1.clone()
        };
        cell.get_or_try_init(|| async { ask.await.map(Arc::new) }).await.cloned()
    }
}
