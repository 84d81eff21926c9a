//! `Pool`: the memory of all plans. Who can spill gets an equal share; who holds next to nothing gets that in any case, as there
//! is nothing yet that it could spill.

use std::fmt;

use datafusion_common::Result;
use datafusion_execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// This part of a pool is given to everybody.
pub(crate) const LITTLE: usize = 64;

/// DataFusion's fair pool, with a little more for those who come last.
#[derive(Debug)]
pub(crate) struct Pool {
    fair: FairSpillPool,
    little: usize,
}

impl Pool {
    /// Of so many bytes.
    pub(crate) fn new(bytes: usize) -> Pool {
        Pool { fair: FairSpillPool::new(bytes), little: bytes / LITTLE }
    }
}

impl MemoryPool for Pool {
    fn name(&self) -> &str {
        "stratalog"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.fair.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.fair.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.fair.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.fair.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        let refused = match self.fair.try_grow(reservation, additional) {
            Ok(()) => return Ok(()),
            Err(refused) => refused,
        };
        if reservation.size() + additional > self.little {
            return Err(refused);
        }
        self.fair.grow(reservation, additional);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.fair.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.fair.memory_limit()
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fair.fmt(f)
    }
}
