//! `Log`: the last deltas of one live query, for every subscriber to read from wherever it is.
//!
//! Nothing is queued for a subscriber. Who falls behind the beginning of the log begins anew. All logs of an engine have one
//! room together, in which the oldest delta makes place for the newest, whosever it is.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::delta::Delta;
use crate::data::DictionaryFull;

/// For so long deltas are kept, if there is room.
const KEPT: Duration = Duration::from_secs(600);

/// The room of all logs.
#[derive(Debug)]
pub(super) struct Room {
    bytes: AtomicUsize,
    limit: usize,
    /// All deltas in the order in which they came, also those that are gone with their log.
    order: Mutex<VecDeque<Arrival>>,
}

/// A delta in the room.
#[derive(Debug)]
struct Arrival {
    log: Weak<Mutex<Log>>,
    version: u64,
    at: Instant,
}

/// Deltas, oldest first.
#[derive(Debug)]
pub(super) struct Log {
    /// What has changed after this version is known.
    floor: u64,
    entries: VecDeque<Entry>,
    bytes: usize,
    room: Arc<Room>,
}

#[derive(Debug)]
struct Entry {
    /// The version that the delta leads to.
    version: u64,
    delta: Arc<Delta>,
    bytes: usize,
}

impl Room {
    pub(super) fn of(limit: usize) -> Arc<Room> {
        Arc::new(Room { bytes: AtomicUsize::new(0), limit, order: Mutex::default() })
    }

    /// A log that knows what changes after a version.
    pub(super) fn log(self: &Arc<Room>, version: u64) -> Arc<Mutex<Log>> {
        let (entries, room) = (VecDeque::new(), Arc::clone(self));
        Arc::new(Mutex::new(Log { floor: version, entries, bytes: 0, room }))
    }

    /// Adds to a log what has changed up to and with a version.
    pub(super) fn push(&self, log: &Arc<Mutex<Log>>, version: u64, delta: Arc<Delta>) {
        let bytes = delta.bytes();
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        {
            let mut log = log.lock();
            log.entries.push_back(Entry { version, delta, bytes });
            log.bytes += bytes;
        }
        let now = Instant::now();
        let mut order = self.order.lock();
        order.push_back(Arrival { log: Arc::downgrade(log), version, at: now });
        while let Some(oldest) = order.front()
            && (self.bytes.load(Ordering::Relaxed) > self.limit || now - oldest.at > KEPT)
        {
            if let Some(log) = oldest.log.upgrade() {
                log.lock().forget_until(oldest.version);
            }
            order.pop_front();
        }
    }
}

impl Log {
    /// What has changed after a version, if that is known.
    pub(super) fn since(&self, version: u64) -> Option<Vec<Arc<Delta>>> {
        let first = self.entries.partition_point(|entry| entry.version <= version);
        let deltas = || self.entries.range(first..).map(|entry| Arc::clone(&entry.delta)).collect();
        (version >= self.floor).then(deltas)
    }

    /// The first delta after a version and the version that it leads to, if all that has changed since is known.
    pub(super) fn first_since(&self, version: u64) -> Option<(u64, Arc<Delta>)> {
        let first = self.entries.partition_point(|entry| entry.version <= version);
        let entry = self.entries.get(first).filter(|_| version >= self.floor);
        entry.map(|entry| (entry.version, Arc::clone(&entry.delta)))
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    fn forget_until(&mut self, version: u64) {
        while let Some(entry) = self.entries.pop_front_if(|entry| entry.version <= version) {
            self.floor = entry.version;
            self.bytes -= entry.bytes;
            self.room.bytes.fetch_sub(entry.bytes, Ordering::Relaxed);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.room.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// Deltas as one; none if there are none, or nothing is left of them.
pub(super) fn as_one(deltas: &[Arc<Delta>]) -> Result<Option<Arc<Delta>>, DictionaryFull> {
    Ok(Delta::netted(deltas)?.filter(|delta| !delta.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::Rows;

    fn delta() -> Arc<Delta> {
        let none = Rows::listing(&["X"], Vec::new()).unwrap();
        Arc::new(Delta { added: none.clone(), removed: none })
    }

    #[test]
    fn the_oldest_of_all_makes_place() {
        let room = Room::of(4 * delta().bytes());
        let (busy, quiet) = (room.log(0), room.log(0));
        room.push(&busy, 1, delta());
        room.push(&quiet, 1, delta());
        for version in 2..5 {
            room.push(&busy, version, delta());
        }
        let known = |log: &Arc<Mutex<Log>>, version| log.lock().since(version).map(|deltas| deltas.len());
        assert_eq!((known(&busy, 0), known(&busy, 1), known(&quiet, 0)), (None, Some(3), Some(1)));
        drop(busy);
        for version in 2..5 {
            room.push(&quiet, version, delta());
        }
        assert_eq!(known(&quiet, 0), Some(4), "what is gone takes no room");
        room.push(&quiet, 5, delta());
        assert_eq!((known(&quiet, 0), known(&quiet, 1)), (None, Some(4)));
        drop(quiet);
        assert_eq!(room.bytes.load(Ordering::Relaxed), 0);
    }
}
