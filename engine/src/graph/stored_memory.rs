//! `StoredMemory`: what the facts of all graphs take of memory, and the most that they may.
//!
//! Each graph counts its own [`Share`]: the codes of its rows and the values of its dictionary; and another one: its
//! graphs of near vectors. What else is built to find rows is counted where it is built.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::diagnostic::{Code, Diagnostic};

/// The memory that facts of all graphs share.
#[derive(Debug)]
pub(super) struct StoredMemory {
    used: AtomicU64,
    limit: u64,
}

impl StoredMemory {
    /// At most so many bytes; [`u64::MAX`] is no limit.
    pub(super) fn new(limit: u64) -> Arc<StoredMemory> {
        Arc::new(StoredMemory { used: AtomicU64::new(0), limit })
    }

    /// The bytes that are in use.
    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The most that may be in use; none if there is no limit.
    pub(super) fn limit(&self) -> Option<u64> {
        (self.limit < u64::MAX).then_some(self.limit)
    }

    fn check(&self, used: u64) -> Result<(), Diagnostic> {
        if used <= self.limit {
            return Ok(());
        }
        let message = format!(
            "with this the facts and vector indexes of all knowledge graphs would take {used} bytes of memory, and they may take {}",
            self.limit
        );
        Err(Diagnostic::error(Code::LimitExceeded, message)
            .help("nothing was inserted; delete facts and run .compact, drop graphs, or raise limits.stored_memory_bytes")
            .limit("stored_memory_bytes", self.limit))
    }
}

/// What something of a graph takes of it; given back when the graph is gone.
#[derive(Debug)]
pub(super) struct Share {
    memory: Arc<StoredMemory>,
    bytes: AtomicU64,
}

impl Share {
    pub(super) fn of(memory: Arc<StoredMemory>) -> Share {
        Share { memory, bytes: AtomicU64::new(0) }
    }

    /// The graph takes so many bytes now.
    pub(super) fn set(&self, bytes: u64) {
        let before = self.bytes.swap(bytes, Ordering::Relaxed);
        // Added first, so that the sum is never below nothing.
        self.memory.used.fetch_add(bytes, Ordering::Relaxed);
        self.memory.used.fetch_sub(before, Ordering::Relaxed);
    }

    /// Whether the graph may take so many bytes.
    pub(super) fn check(&self, bytes: u64) -> Result<(), Diagnostic> {
        let others = self.memory.used().saturating_sub(self.bytes.load(Ordering::Relaxed));
        self.memory.check(others + bytes)
    }

    /// A part of all that may be used which is worth some work, if most of it is used.
    pub(super) fn scarce(&self) -> Option<u64> {
        let StoredMemory { limit, .. } = *self.memory;
        (self.memory.used() > limit / 4 * 3).then_some(limit / 16)
    }

    /// Whether so many bytes more are allowed.
    pub(super) fn check_more(&self, bytes: u64) -> Result<(), Diagnostic> {
        self.memory.check(self.memory.used().saturating_add(bytes))
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.memory.used.fetch_sub(*self.bytes.get_mut(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Share, StoredMemory};

    #[test]
    fn graphs_share_one_limit_and_give_back_what_they_had() {
        let memory = StoredMemory::new(100);
        let (one, two) = (Share::of(memory.clone()), Share::of(memory.clone()));
        one.set(60);
        two.set(30);
        assert_eq!((memory.used(), memory.limit()), (90, Some(100)));
        assert!(two.check(40).is_ok() && two.check_more(10).is_ok());
        let refused = two.check(41).unwrap_err();
        assert_eq!(refused.limit.map(|limit| (limit.name, limit.value)), Some(("stored_memory_bytes", 100)));
        assert!(refused.message.contains("101 bytes") && refused.message.contains("take 100"), "{refused:?}");
        one.set(20);
        assert_eq!(memory.used(), 50);
        drop(one);
        assert_eq!(memory.used(), 30);
        assert_eq!(StoredMemory::new(u64::MAX).limit(), None);
    }
}
