//! Places that run out: connections, sockets, sockets of one address that have not said who they are.
//!
//! Whoever holds a [`Place`] is counted; dropping it gives the place back.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::config::Limits;

/// The places of one server.
#[derive(Debug)]
pub(crate) struct Places {
    connections: Arc<Semaphore>,
    sockets: Arc<Semaphore>,
    unauthenticated: Arc<Mutex<HashMap<IpAddr, usize>>>,
    unauthenticated_limit: usize,
    requests: Mutex<HashMap<IpAddr, Rate>>,
    requests_limit: u64,
}

/// Addresses whose requests are counted at once; beyond that, those of earlier seconds are forgotten.
const COUNTED_ADDRESSES: usize = 10_000;

/// A place that is taken until this is dropped.
pub(crate) type Place = OwnedSemaphorePermit;

impl Places {
    /// As many as the configuration says; 0 means no limit.
    pub(crate) fn new(limits: &Limits) -> Places {
        let places = |n: usize| Arc::new(Semaphore::new(or_unlimited(n).min(Semaphore::MAX_PERMITS)));
        Places {
            connections: places(limits.connections),
            sockets: places(limits.sockets),
            unauthenticated: Arc::default(),
            unauthenticated_limit: or_unlimited(limits.unauthenticated),
            requests: Mutex::default(),
            requests_limit: limits.requests_per_second,
        }
    }

    /// Counts an HTTP request of this address; `Err` is the time until there is room for the next one.
    pub(crate) fn request(&self, address: IpAddr) -> Result<(), Duration> {
        if self.requests_limit == 0 {
            return Ok(());
        }
        let now = Instant::now();
        let mut rates = self.requests.lock();
        if rates.len() >= COUNTED_ADDRESSES {
            rates.retain(|_, rate| !rate.is_over(now));
        }
        rates.entry(address).or_insert_with(|| Rate::new(self.requests_limit)).count(now)
    }

    /// A place for a connection, if one is free.
    pub(crate) fn connection(&self) -> Option<Place> {
        self.connections.clone().try_acquire_owned().ok()
    }

    /// A place for a WebSocket, if one is free.
    pub(crate) fn socket(&self) -> Option<Place> {
        self.sockets.clone().try_acquire_owned().ok()
    }

    /// A place for a socket of this address that has not authenticated yet.
    pub(crate) fn stranger(&self, address: IpAddr) -> Option<Stranger> {
        let mut counts = self.unauthenticated.lock();
        let count = counts.entry(address).or_default();
        if *count >= self.unauthenticated_limit {
            return None;
        }
        *count += 1;
        Some(Stranger { address, counts: self.unauthenticated.clone() })
    }
}

fn or_unlimited(n: usize) -> usize {
    if n == 0 { usize::MAX } else { n }
}

/// The place of a socket before authentication.
#[derive(Debug)]
pub(crate) struct Stranger {
    address: IpAddr,
    counts: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let mut counts = self.counts.lock();
        if let Some(count) = counts.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// Messages of one connection or address, counted in windows of one second.
#[derive(Debug)]
pub(crate) struct Rate {
    limit: u64,
    window: Instant,
    count: u64,
}

impl Rate {
    /// At most so many a second; 0 means no limit.
    pub(crate) fn new(limit: u64) -> Rate {
        Rate { limit: if limit == 0 { u64::MAX } else { limit }, window: Instant::now(), count: 0 }
    }

    /// Whether a new second has begun.
    fn is_over(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.window) >= Duration::from_secs(1)
    }

    /// Counts one message; `Err` is the time until the next window.
    pub(crate) fn count(&mut self, now: Instant) -> Result<(), Duration> {
        let second = Duration::from_secs(1);
        let elapsed = now.saturating_duration_since(self.window);
        if elapsed >= second {
            self.window = now;
            self.count = 0;
        }
        if self.count >= self.limit {
            return Err(second.saturating_sub(elapsed));
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::time::{Duration, Instant};

    use super::{Places, Rate};
    use crate::config::Limits;

    #[test]
    fn a_dropped_place_is_free_again() {
        let places = Places::new(&Limits { sockets: 1, ..Limits::default() });
        let held = places.socket().unwrap();
        assert!(places.socket().is_none());
        drop(held);
        assert!(places.socket().is_some());
    }

    #[test]
    fn strangers_are_counted_by_address() {
        let places = Places::new(&Limits { unauthenticated: 1, ..Limits::default() });
        let one = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let held = places.stranger(one).unwrap();
        assert!(places.stranger(one).is_none());
        assert!(places.stranger(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2))).is_some());
        drop(held);
        assert!(places.stranger(one).is_some());
    }

    #[test]
    fn requests_are_counted_by_address() {
        let places = Places::new(&Limits { requests_per_second: 2, ..Limits::default() });
        let [one, other] = [1, 2].map(|last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)));
        let asked: Vec<bool> = [one, one, one, other].map(|from| places.request(from).is_ok()).into();
        assert_eq!(asked, [true, true, false, true]);
        let unlimited = Places::new(&Limits { requests_per_second: 0, ..Limits::default() });
        assert!((0..10).all(|_| unlimited.request(one).is_ok()));
    }

    #[test]
    fn the_rate_starts_again_each_second() {
        let start = Instant::now();
        let mut rate = Rate { limit: 2, window: start, count: 0 };
        assert_eq!(rate.count(start), Ok(()));
        assert_eq!(rate.count(start), Ok(()));
        assert_eq!(rate.count(start + Duration::from_millis(400)), Err(Duration::from_millis(600)));
        assert_eq!(rate.count(start + Duration::from_secs(1)), Ok(()));
    }
}
