//! Throttling of guesses: passwords are checked slower the more of them were wrong.
//!
//! From the tenth failure of one address for one user within five minutes on, each further check of the two waits first:
//! twice as long after each failure, up to 30 seconds. So does an address that has failed ten times, for whomever. And from
//! the tenth failure for one user on, from wherever, the checks of that user keep a distance, so that many addresses
//! together guess no faster. Nobody is ever locked out: a correct login waits its time and succeeds. And those who guess
//! keep nobody waiting at an address from which the user has logged in before: it waits for its own failures alone.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Mutex as Gate, OwnedMutexGuard};
use tokio::time::{Instant, sleep, sleep_until};

use super::familiar::Familiar;
use crate::config::Throttling;
use crate::limits::network;

/// The first wait; it doubles with each failure.
const FIRST_DELAY: Duration = Duration::from_millis(250);

/// So many addresses, users, and addresses with a user are remembered.
const REMEMBERED: usize = 10_000;

/// So many checks of one user's passwords wait for each other, and of one address's for one user; more are sent away
/// unchecked.
const QUEUE: usize = 100;
const QUEUE_OF_ADDRESS: usize = 20;

/// What is remembered about logins.
#[derive(Debug)]
pub(super) struct Throttle {
    rules: Throttling,
    /// So that nobody can choose names that share a place.
    names: RandomState,
    addresses: Mutex<Table<IpAddr>>,
    users: Mutex<Table<u64>>,
    /// An address with a user.
    pairs: Mutex<Table<(IpAddr, u64)>>,
    familiar: Mutex<Familiar>,
}

/// The right to check one password. Checks that wait for each other wait until it is dropped.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    throttle: &'t Throttle,
    address: IpAddr,
    user: u64,
    last: OwnedMutexGuard<Option<Instant>>,
}

impl Throttle {
    /// Nobody has failed yet.
    pub(super) fn new(rules: Throttling) -> Throttle {
        Throttle {
            rules,
            names: RandomState::new(),
            addresses: Mutex::default(),
            users: Mutex::default(),
            pairs: Mutex::default(),
            familiar: Mutex::default(),
        }
    }

    /// Waits until a password of this user may be checked for this address. An error is the time after which to try
    /// again: too many others wait.
    pub(super) async fn turn(&self, address: IpAddr, username: &str) -> Result<Turn<'_>, Duration> {
        let (address, user) = (network(address), self.names.hash_one(username));
        let (rules, pair) = (&self.rules, (address, user));
        let is_familiar = self.familiar.lock().knows(address, user);
        let own = self.pairs.lock().lane(pair, rules.window);
        let later = || rules.distance() * QUEUE as u32;
        let waiting = Waiting::enter(&own.waiting, QUEUE_OF_ADDRESS).ok_or_else(later)?;
        let of_pair = self.pairs.lock().failures(&pair, rules.window);
        let of_address = match is_familiar {
            true => 0,
            false => self.addresses.lock().failures(&address, rules.window),
        };
        let delay = rules
            .delay(of_pair, rules.failures_per_user)
            .max(rules.delay(of_address, rules.failures_per_address));
        sleep(delay).await;
        // At a familiar address nobody waits for those elsewhere.
        let lane = if is_familiar { own } else { self.users.lock().lane(user, rules.window) };
        let queued = match is_familiar {
            true => None,
            false => Some(Waiting::enter(&lane.waiting, QUEUE).ok_or_else(later)?),
        };
        let last = Arc::clone(&lane.gate).lock_owned().await;
        drop((waiting, queued));
        // Those that waited here may have failed meanwhile.
        let failures = match is_familiar {
            true => self.pairs.lock().failures(&pair, rules.window),
            false => self.users.lock().failures(&user, rules.window),
        };
        if let Some(last) = *last
            && rules.is_many(failures, rules.failures_per_user)
        {
            sleep_until(last + rules.distance()).await;
        }
        Ok(Turn { throttle: self, address, user, last })
    }
}

impl Turn<'_> {
    /// The password was wrong.
    pub(super) fn failed(mut self) {
        let window = self.throttle.rules.window;
        *self.last = Some(Instant::now());
        self.throttle.addresses.lock().fail(self.address, window);
        self.throttle.users.lock().fail(self.user, window);
        self.throttle.pairs.lock().fail((self.address, self.user), window);
    }

    /// The password was right.
    pub(super) fn succeeded(self) {
        self.throttle.familiar.lock().learn(self.address, self.user);
    }
}

impl Throttling {
    fn is_many(&self, failures: u32, free: u32) -> bool {
        free > 0 && failures >= free
    }

    /// How long to wait after so many failures.
    fn delay(&self, failures: u32, free: u32) -> Duration {
        if !self.is_many(failures, free) {
            return Duration::ZERO;
        }
        let doubled = 2u32.saturating_pow((failures - free).min(20));
        FIRST_DELAY.saturating_mul(doubled).min(self.longest_delay)
    }

    fn distance(&self) -> Duration {
        Duration::from_secs(1) / self.guesses_per_second.max(1)
    }
}

/// Failures by address, user or both, a bounded number of them.
#[derive(Debug)]
struct Table<K> {
    records: HashMap<K, Record>,
}

#[derive(Debug)]
struct Record {
    failures: u32,
    /// When the first of them was.
    since: Instant,
    lane: Lane,
}

/// Where the checks of one user's passwords wait for each other.
#[derive(Debug, Clone, Default)]
struct Lane {
    /// When the last wrong password was checked.
    gate: Arc<Gate<Option<Instant>>>,
    waiting: Arc<AtomicUsize>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Table { records: HashMap::new() }
    }
}

impl<K: Eq + Hash + Copy> Table<K> {
    fn failures(&self, key: &K, window: Duration) -> u32 {
        self.records
            .get(key)
            .filter(|record| !record.is_over(window, Instant::now()))
            .map_or(0, |r| r.failures)
    }

    fn lane(&mut self, key: K, window: Duration) -> Lane {
        self.record(key, window).lane.clone()
    }

    fn fail(&mut self, key: K, window: Duration) {
        let record = self.record(key, window);
        let now = Instant::now();
        if record.is_over(window, now) {
            record.failures = 0;
        }
        if record.failures == 0 {
            record.since = now;
        }
        record.failures = record.failures.saturating_add(1);
    }

    fn record(&mut self, key: K, window: Duration) -> &mut Record {
        if self.records.len() >= REMEMBERED && !self.records.contains_key(&key) {
            self.forget(window);
        }
        self.records.entry(key).or_insert_with(|| Record {
            failures: 0,
            since: Instant::now(),
            lane: Lane::default(),
        })
    }

    /// Makes room: what is over goes, and if that is not enough, the older half of what is not in use.
    fn forget(&mut self, window: Duration) {
        let now = Instant::now();
        let in_use = |record: &Record| Arc::strong_count(&record.lane.gate) > 1;
        self.records
            .retain(|_, record| in_use(record) || record.failures > 0 && !record.is_over(window, now));
        if self.records.len() > REMEMBERED / 2 {
            let mut ages: Vec<Instant> = self.records.values().map(|record| record.since).collect();
            let middle = ages.len() / 2;
            let middle = *ages.select_nth_unstable(middle).1;
            self.records.retain(|_, record| in_use(record) || record.since > middle);
        }
    }
}

impl Record {
    fn is_over(&self, window: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.since) >= window
    }
}

/// A place in the queue of a lane.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn enter(count: &Arc<AtomicUsize>, most: usize) -> Option<Waiting> {
        let waiting = Waiting(Arc::clone(count));
        (waiting.0.fetch_add(1, Ordering::Relaxed) < most).then_some(waiting)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{REMEMBERED, Table, Throttle};
    use crate::config::Throttling;

    fn address(last: u8) -> IpAddr {
        IpAddr::V4(Ipv4Addr::new(10, 0, 0, last))
    }

    async fn waited(throttle: &Throttle, from: u8, user: &str) -> u128 {
        let start = Instant::now();
        drop(throttle.turn(address(from), user).await.unwrap());
        start.elapsed().as_millis()
    }

    async fn fail(throttle: &Throttle, times: usize, from: u8, user: &str) {
        for _ in 0..times {
            throttle.turn(address(from), user).await.unwrap().failed();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nine_failures_are_free_and_then_waits_double_up_to_the_longest() {
        let throttle = Throttle::new(Throttling::default());
        fail(&throttle, 9, 1, "ada").await;
        assert_eq!(waited(&throttle, 1, "ada").await, 0);
        let mut waits = Vec::new();
        for _ in 0..10 {
            fail(&throttle, 1, 1, "ada").await;
            let pair = (address(1), throttle.names.hash_one("ada"));
            let failures = throttle.pairs.lock().failures(&pair, throttle.rules.window);
            waits.push(throttle.rules.delay(failures, 10).as_millis());
        }
        assert_eq!(waits, [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_waits_for_any_user_and_a_user_elsewhere_only_keeps_the_distance() {
        let throttle = Throttle::new(Throttling::default());
        fail(&throttle, 17, 1, "ada").await;
        assert!(waited(&throttle, 1, "ada").await >= 30_000);
        assert!(waited(&throttle, 1, "bob").await >= 30_000);
        fail(&throttle, 1, 3, "ada").await;
        assert!((200..250).contains(&waited(&throttle, 2, "ada").await));
        assert_eq!(waited(&throttle, 2, "bob").await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn where_a_user_has_logged_in_before_nobody_waits_for_those_who_guess_elsewhere() {
        let throttle = std::sync::Arc::new(Throttle::new(Throttling::default()));
        throttle.turn(address(1), "ada").await.unwrap().succeeded();
        // Some are in the middle of it, from many addresses and from this one for others.
        for from in 2..90 {
            let throttle = throttle.clone();
            tokio::spawn(async move { fail(&throttle, 100, from, "ada").await });
        }
        fail(&throttle, 20, 1, "bob").await;
        assert_eq!(waited(&throttle, 1, "ada").await, 0);
        // Its own failures count.
        fail(&throttle, 10, 1, "ada").await;
        assert!(waited(&throttle, 1, "ada").await >= 250);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_are_forgotten_after_the_window() {
        let throttle = Throttle::new(Throttling::default());
        fail(&throttle, 12, 1, "ada").await;
        tokio::time::sleep(Duration::from_secs(301)).await;
        assert_eq!(waited(&throttle, 1, "ada").await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn many_addresses_together_guess_no_faster() {
        let throttle = std::sync::Arc::new(Throttle::new(Throttling {
            longest_delay: Duration::from_millis(1),
            ..Throttling::default()
        }));
        fail(&throttle, 10, 250, "ada").await;
        let start = Instant::now();
        let guesses: Vec<_> = (0..50)
            .map(|from| {
                let throttle = throttle.clone();
                tokio::spawn(async move { fail(&throttle, 1, from, "ada").await })
            })
            .collect();
        for guess in guesses {
            guess.await.unwrap();
        }
        assert!(start.elapsed() >= Duration::from_millis(50 * 200), "{:?}", start.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_says_when_to_come_back() {
        let throttle = std::sync::Arc::new(Throttle::new(Throttling::default()));
        let held = throttle.turn(address(1), "ada").await.unwrap();
        for n in 0..100 {
            let throttle = throttle.clone();
            tokio::spawn(async move { throttle.turn(address(10 + n / 20), "ada").await.map(drop) });
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
        // This one has as many as it may, and that one finds all places taken.
        assert!(throttle.turn(address(10), "ada").await.is_err());
        assert!(throttle.turn(address(3), "ada").await.is_err());
        drop(held);
        tokio::time::sleep(Duration::from_millis(1)).await;
        assert!(throttle.turn(address(3), "ada").await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn zero_switches_it_off() {
        let rules = Throttling { failures_per_address: 0, failures_per_user: 0, ..Throttling::default() };
        let throttle = Throttle::new(rules);
        fail(&throttle, 100, 1, "ada").await;
        assert_eq!(waited(&throttle, 1, "ada").await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded_and_the_newest_failures_stay() {
        let mut table = Table::<u64>::default();
        let window = Duration::from_secs(300);
        for key in 0..30_000 {
            table.fail(key, window);
            tokio::time::advance(Duration::from_micros(1)).await;
        }
        assert!(table.records.len() <= REMEMBERED);
        assert_eq!(table.failures(&29_999, window), 1);
        assert_eq!(table.failures(&0, window), 0);
    }
}
