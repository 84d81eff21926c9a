//! `MemoryPool`: memory that many share, and a part of it that some of them have together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::BudgetError;

/// Memory that many requests share. Clones are the same memory.
#[derive(Debug, Clone)]
pub struct MemoryPool {
    used: Arc<AtomicU64>,
    limit: u64,
    /// The memory of all, where this is the part of a few.
    whole: Option<Box<MemoryPool>>,
}

/// More is in use than there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolFull {
    /// Of all of it.
    Whole {
        /// The limit in bytes.
        limit: u64,
    },
    /// Of a part.
    Part {
        /// The limit in bytes.
        limit: u64,
    },
}

impl MemoryPool {
    /// So many bytes for all together.
    pub fn new(limit: u64) -> MemoryPool {
        MemoryPool { used: Arc::default(), limit, whole: None }
    }

    /// A part of this memory, of so many bytes. What is used of the part is used of the whole.
    pub fn part(&self, limit: u64) -> MemoryPool {
        MemoryPool { used: Arc::default(), limit, whole: Some(Box::new(self.clone())) }
    }

    /// The bytes that are in use.
    pub fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Whether nobody else has this memory.
    pub fn is_unshared(&self) -> bool {
        Arc::strong_count(&self.used) == 1
    }

    /// Takes bytes, also where that is more than there may be: it has to be given back in any case.
    pub fn take(&self, bytes: u64) -> Result<(), PoolFull> {
        let in_use = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let Some(whole) = &self.whole else {
            return if in_use > self.limit { Err(PoolFull::Whole { limit: self.limit }) } else { Ok(()) };
        };
        let taken = whole.take(bytes);
        if in_use > self.limit { Err(PoolFull::Part { limit: self.limit }) } else { taken }
    }

    /// Gives bytes back.
    pub fn give_back(&self, bytes: u64) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(whole) = &self.whole {
            whole.give_back(bytes);
        }
    }
}

impl PoolFull {
    /// What it means to a request.
    pub(super) fn stops(self) -> BudgetError {
        match self {
            PoolFull::Whole { limit } => BudgetError::TotalMemory { limit },
            PoolFull::Part { limit } => BudgetError::UserMemory { limit },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{MemoryPool, PoolFull};

    #[test]
    fn a_part_is_bounded_by_itself_and_by_the_whole() {
        let whole = MemoryPool::new(100);
        let (one, other) = (whole.part(60), whole.part(60));
        assert_eq!(one.take(50), Ok(()));
        assert_eq!(one.take(20), Err(PoolFull::Part { limit: 60 }));
        one.give_back(20);
        assert_eq!(other.take(55), Err(PoolFull::Whole { limit: 100 }));
        other.give_back(55);
        assert_eq!((one.used(), other.used(), whole.used()), (50, 0, 50));
    }
}
