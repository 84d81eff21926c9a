//! `Log`: the last deltas of one live query, for every subscriber to read from wherever it is.
//!
//! Nothing is queued for a subscriber. Who falls behind the beginning of the log begins anew.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::delta::Delta;
use super::memory::Memory;
use crate::data::DictionaryFull;

/// For so long deltas are kept, if there is room.
const KEPT: Duration = Duration::from_secs(600);

/// Deltas, oldest first.
#[derive(Debug)]
pub(super) struct Log {
    /// What has changed after this version is known.
    floor: u64,
    entries: VecDeque<Entry>,
    bytes: usize,
    memory: Arc<Memory>,
}

#[derive(Debug)]
struct Entry {
    /// The version that the delta leads to.
    version: u64,
    delta: Arc<Delta>,
    bytes: usize,
    at: Instant,
}

impl Log {
    /// A log that knows what changes after a version.
    pub(super) fn after(version: u64, memory: Arc<Memory>) -> Log {
        Log { floor: version, entries: VecDeque::new(), bytes: 0, memory }
    }

    /// Adds what has changed up to and with a version.
    pub(super) fn push(&mut self, version: u64, delta: Arc<Delta>) {
        let (bytes, now) = (delta.bytes(), Instant::now());
        self.entries.push_back(Entry { version, delta, bytes, at: now });
        self.bytes += bytes;
        self.memory.logs.add(bytes);
        while self.entries.front().is_some_and(|entry| now - entry.at > KEPT)
            || self.memory.logs.is_exceeded() && !self.entries.is_empty()
        {
            self.forget_first();
        }
    }

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

    fn forget_first(&mut self) {
        if let Some(entry) = self.entries.pop_front() {
            self.floor = entry.version;
            self.bytes -= entry.bytes;
            self.memory.logs.remove(entry.bytes);
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.memory.logs.remove(self.bytes);
    }
}

/// Deltas as one; none if there are none, or nothing is left of them.
pub(super) fn as_one(deltas: &[Arc<Delta>]) -> Result<Option<Arc<Delta>>, DictionaryFull> {
    Ok(Delta::netted(deltas)?.filter(|delta| !delta.is_empty()))
}
