//! How many lines of one kind the log takes in a second, so that no client fills a disk by asking for what fails.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Lines in a second.
const LINES: u32 = 10;

/// Lets some through, and counts the others.
#[derive(Default)]
pub(crate) struct Throttle(Mutex<State>);

#[derive(Default)]
struct State {
    since: Option<Instant>,
    admitted: u32,
    left_out: u64,
}

impl Throttle {
    /// Whether a line may be written, and if so, how many were left out before it.
    pub(crate) fn admit(&self) -> Option<u64> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.since.is_none_or(|since| since.elapsed() >= Duration::from_secs(1)) {
            state.since = Some(Instant::now());
            state.admitted = 0;
        }
        if state.admitted == LINES {
            state.left_out += 1;
            return None;
        }
        state.admitted += 1;
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn says_what_it_left_out() {
        let throttle = Throttle::default();
        let admit = |count: usize| (0..count).filter_map(|_| throttle.admit()).collect::<Vec<_>>();
        assert_eq!(admit(25), [0; 10]);
        advance(Duration::from_millis(999)).await;
        assert_eq!(admit(5), [0; 0]);
        advance(Duration::from_millis(1)).await;
        assert_eq!(admit(2), [20, 0]);
    }
}
