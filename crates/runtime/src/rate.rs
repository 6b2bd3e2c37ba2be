//! How often each client may ask one server: a bucket of `burst` requests, filled up at `requests_per_minute`. That is
//! the generic cell rate algorithm, of which one number is kept for each client.

use std::{
    net::{IpAddr, Ipv6Addr},
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{
    InsufficientCapacity, Quota, RateLimiter,
    clock::{Clock, MonotonicClock},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::StateStore,
};
use lru::LruCache;
use mcpress_catalog::access::Limits;

use crate::auth::Caller;

/// Clients of one server of which something is kept. Beyond that the one that has been silent for longest is
/// forgotten, as if it had never asked.
const MAX_CLIENTS: usize = 10_000;

/// The requests of all clients of one server.
pub(crate) struct Rate<C: Clock = MonotonicClock> {
    limiter: RateLimiter<Client, Clients, C, NoOpMiddleware<C::Instant>>,
    clients: Clients,
    /// What one request counts for.
    one: Nanos,
    burst: u32,
}

/// Whom a request counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// Who has no token, or none that is good.
    Address(IpAddr),
    /// Who has one, wherever they are.
    Caller(Caller),
}

/// Why a request is not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exceeded {
    /// Not yet: there will be room for it after this time.
    Wait(Duration),
    /// Never: it counts for more than the burst, which is this.
    Burst(u32),
}

impl Rate {
    pub(crate) fn new(limits: Limits) -> Self {
        Self::with_clock(limits, MonotonicClock)
    }
}

impl<C: Clock> Rate<C> {
    fn with_clock(limits: Limits, clock: C) -> Self {
        let at_least_one = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
        let burst = at_least_one(limits.burst);
        let quota = Quota::per_minute(at_least_one(limits.requests_per_minute)).allow_burst(burst);
        let clients = Clients(Arc::new(Mutex::new(LruCache::unbounded())));
        let limiter = RateLimiter::new(quota, clients.clone(), clock);
        Self { limiter, clients, one: quota.replenish_interval().into(), burst: burst.get() }
    }

    /// Takes one request from what a client has left.
    pub(crate) fn take(&self, client: Client) -> Result<(), Exceeded> {
        self.take_several(client, NonZeroU32::MIN)
    }

    /// Gives back one request that was taken.
    pub(crate) fn give_back(&self, client: Client) {
        let mut clients = self.clients.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(used_up) = clients.get_mut(&client) {
            *used_up = used_up.saturating_sub(self.one);
        }
    }

    /// Takes the rest of so many messages, of which the first is taken already. Where there is no room for all of them
    /// yet, the first is given back: who comes again after the wait finds room for the whole batch.
    pub(crate) fn take_rest(&self, client: Client, messages: usize) -> Result<(), Exceeded> {
        let messages = u32::try_from(messages).unwrap_or(u32::MAX);
        if messages > self.burst {
            return Err(Exceeded::Burst(self.burst));
        }
        let Some(further) = NonZeroU32::new(messages.saturating_sub(1)) else { return Ok(()) };
        // The wait for the rest is that for all of them once the first is given back.
        self.take_several(client, further).inspect_err(|_| self.give_back(client))
    }

    fn take_several(&self, client: Client, requests: NonZeroU32) -> Result<(), Exceeded> {
        match self.limiter.check_key_n(&client, requests) {
            Ok(Ok(())) => Ok(()),
            Ok(Err(not_yet)) => Err(Exceeded::Wait(not_yet.wait_time_from(self.limiter.clock().now()))),
            Err(InsufficientCapacity(burst)) => Err(Exceeded::Burst(burst)),
        }
    }
}

impl Client {
    /// One network of IPv6 counts as one client, since who has one address of it has them all.
    pub(crate) fn at(address: IpAddr) -> Self {
        Self::Address(match address.to_canonical() {
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
            address => address,
        })
    }
}

/// When each client has used up what it may ask at once.
#[derive(Clone)]
struct Clients(Arc<Mutex<LruCache<Client, Nanos>>>);

impl StateStore for Clients {
    type Key = Client;

    fn measure_and_replace<T, F, E>(&self, client: &Client, measure: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut clients = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (outcome, next) = measure(clients.get(client).copied())?;
        clients.put(*client, next);
        if clients.len() > MAX_CLIENTS {
            clients.pop_lru();
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    fn rate(requests_per_minute: u32, burst: u32) -> (Rate<FakeRelativeClock>, FakeRelativeClock) {
        let clock = FakeRelativeClock::default();
        (Rate::with_clock(Limits { requests_per_minute, burst }, clock.clone()), clock)
    }

    fn client(address: &str) -> Client {
        Client::at(address.parse().unwrap())
    }

    fn take(rate: &Rate<FakeRelativeClock>, client: Client, requests: u32) -> Result<(), Exceeded> {
        rate.take_several(client, NonZeroU32::new(requests).unwrap())
    }

    #[test]
    fn gives_a_burst_and_then_what_comes_in() {
        let (rate, clock) = rate(60, 3);
        let one = client("203.0.113.7");
        assert_eq!(take(&rate, one, 1), Ok(()));
        assert_eq!(take(&rate, one, 2), Ok(()));
        assert_eq!(take(&rate, one, 1), Err(Exceeded::Wait(Duration::from_secs(1))));
        assert_eq!(take(&rate, client("203.0.113.8"), 1), Ok(()), "another client has its own");
        clock.advance(Duration::from_millis(999));
        assert_eq!(take(&rate, one, 1), Err(Exceeded::Wait(Duration::from_millis(1))));
        clock.advance(Duration::from_millis(1));
        assert_eq!(take(&rate, one, 1), Ok(()));
        assert_eq!(take(&rate, one, 2), Err(Exceeded::Wait(Duration::from_secs(2))));
        assert_eq!(take(&rate, one, 4), Err(Exceeded::Burst(3)));
        clock.advance(Duration::from_secs(3600));
        assert_eq!(take(&rate, one, 3), Ok(()), "no more than the burst is saved up");
        assert_eq!(take(&rate, one, 1), Err(Exceeded::Wait(Duration::from_secs(1))));
    }

    #[test]
    fn a_batch_counts_as_its_messages() {
        let (rate, _) = rate(60, 3);
        let one = client("203.0.113.7");
        assert_eq!(rate.take(one), Ok(()));
        assert_eq!(rate.take_rest(one, 4), Err(Exceeded::Burst(3)), "no wait would help");
        assert_eq!(rate.take_rest(one, usize::MAX), Err(Exceeded::Burst(3)));
        assert_eq!(rate.take_rest(one, 3), Ok(()));
        assert_eq!(rate.take_rest(one, 1), Ok(()), "it is taken already");
        assert_eq!(rate.take_rest(one, 2), Err(Exceeded::Wait(Duration::from_secs(1))));
    }

    #[test]
    fn a_batch_gets_through_after_the_wait_that_it_was_told() {
        let (rate, clock) = rate(60, 5);
        let one = client("203.0.113.7");
        assert_eq!(take(&rate, one, 4), Ok(()));
        let batch = || rate.take(one).and_then(|()| rate.take_rest(one, 5));
        assert_eq!(batch(), Err(Exceeded::Wait(Duration::from_secs(4))));
        assert_eq!(batch(), Err(Exceeded::Wait(Duration::from_secs(4))), "a refusal costs nothing");
        clock.advance(Duration::from_secs(4));
        assert_eq!(batch(), Ok(()));
        assert_eq!(batch(), Err(Exceeded::Wait(Duration::from_secs(1))));
        rate.give_back(one);
        assert_eq!(rate.take(one), Ok(()));
        assert_eq!(rate.take(one), Err(Exceeded::Wait(Duration::from_secs(1))), "no more is given back than was taken");
    }

    #[test]
    fn extreme_limits_are_no_trouble() {
        for (requests_per_minute, burst) in [(1, 1), (1, 1_000_000), (1_000_000, 1), (1_000_000, 1_000_000)] {
            let (rate, clock) = rate(requests_per_minute, burst);
            clock.advance(Duration::from_secs(1 << 30));
            assert_eq!(take(&rate, client("::1"), burst), Ok(()));
            assert!(matches!(take(&rate, client("::1"), 1), Err(Exceeded::Wait(_))));
        }
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        assert_eq!(client("2001:db8:1:2::1"), client("2001:db8:1:2:ffff::2"));
        assert_ne!(client("2001:db8:1:2::1"), client("2001:db8:1:3::1"));
        assert_eq!(client("::ffff:203.0.113.7"), client("203.0.113.7"));
        assert_ne!(client("203.0.113.8"), client("203.0.113.7"));
    }

    #[test]
    fn keeps_the_clients_that_were_last_heard_of() {
        let (rate, _) = rate(1, 1);
        for number in 0..2 * MAX_CLIENTS as u32 {
            assert_eq!(take(&rate, Client::at(std::net::Ipv4Addr::from_bits(number).into()), 1), Ok(()));
        }
        assert_eq!(rate.clients.0.lock().unwrap().len(), MAX_CLIENTS);
    }
}
