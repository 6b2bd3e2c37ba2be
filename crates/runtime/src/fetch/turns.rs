//! How many fetches may go on at once: in all, and for each host. The others wait, but not for ever.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use super::error::{FetchError, Time};

/// Gives out turns.
pub(super) struct Turns {
    all: Arc<Semaphore>,
    hosts: Mutex<HashMap<String, Weak<Semaphore>>>,
    per_host: usize,
    patience: Duration,
}

/// The right to fetch, until it is dropped.
pub(super) struct Turn {
    _host: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

impl Turns {
    pub(super) fn new(all: usize, per_host: usize, patience: Duration) -> Self {
        let permits = |count: usize| count.clamp(1, Semaphore::MAX_PERMITS);
        Self {
            all: Arc::new(Semaphore::new(permits(all))),
            hosts: Mutex::default(),
            per_host: permits(per_host),
            patience,
        }
    }

    /// Waits for a turn.
    pub(super) async fn take(&self, host: &str) -> Result<Turn, FetchError> {
        let semaphore = self.host(host);
        // First that of the host, so that those who wait for a slow one keep nobody else waiting.
        let turn = async {
            Ok(Turn { _host: semaphore.acquire_owned().await?, _all: self.all.clone().acquire_owned().await? })
        };
        match timeout(self.patience, turn).await {
            Ok(turn) => turn.map_err(|closed: tokio::sync::AcquireError| FetchError::failed("stopped").because(closed)),
            Err(_) => {
                let waited = Time(self.patience);
                Err(FetchError::failed(format!("too many fetches at once: waited {waited} for a turn at {host}")))
            }
        }
    }

    /// The semaphore of a host, which lives as long as somebody has or awaits a turn.
    fn host(&self, host: &str) -> Arc<Semaphore> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(semaphore) = hosts.get(host).and_then(Weak::upgrade) {
            return semaphore;
        }
        hosts.retain(|_, semaphore| semaphore.strong_count() > 0);
        let semaphore = Arc::new(Semaphore::new(self.per_host));
        hosts.insert(host.to_owned(), Arc::downgrade(&semaphore));
        semaphore
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bounds_each_host_and_all_of_them() {
        let turns = Turns::new(3, 2, Duration::from_secs(10));
        let first = turns.take("a").await.unwrap();
        let _second = turns.take("a").await.unwrap();
        let error = turns.take("a").await.err().unwrap();
        assert_eq!(error.to_string(), "too many fetches at once: waited 10 s for a turn at a");
        let third = turns.take("b").await.unwrap();
        assert!(turns.take("b").await.is_err(), "three in all");
        drop(first);
        assert!(turns.take("a").await.is_ok());
        drop(third);
        assert!(turns.take("b").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_for_a_host_keeps_no_other_waiting() {
        let turns = Arc::new(Turns::new(2, 1, Duration::from_secs(10)));
        let _first = turns.take("slow").await.unwrap();
        let waiting = tokio::spawn({
            let turns = turns.clone();
            async move { turns.take("slow").await.is_err() }
        });
        tokio::task::yield_now().await;
        assert!(turns.take("quick").await.is_ok());
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn forgets_hosts_that_nobody_asks() {
        let turns = Turns::new(2, 1, Duration::from_secs(10));
        for host in 0..100 {
            turns.take(&host.to_string()).await.unwrap();
        }
        assert_eq!(turns.hosts.lock().unwrap().len(), 1);
    }
}
