//! What a session's facts and rules take of the memory that sessions share.

use super::overlay::Overlay;
use crate::budget::{MemoryPool, PoolFull, size};
use crate::data::Dictionary;
use crate::diagnostic::{Code, Diagnose, Diagnostic};

/// The bytes of one session. They are given back with it.
#[derive(Debug, Default)]
pub(super) struct SessionMemory {
    pool: Option<MemoryPool>,
    bytes: u64,
    /// Of which version of the overlay these are the bytes.
    version: u64,
}

/// Why a session keeps what it had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionMemoryFull {
    /// The sessions of its user hold as much as they may.
    #[error("{} more for facts and rules of this session are more than the {} that all sessions of the user may hold", size(*more), size(*limit))]
    OfUser {
        /// The bytes that were asked for.
        more: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// All sessions together do.
    #[error("{} more for facts and rules of this session are more than the {} that all sessions together may hold", size(*more), size(*limit))]
    OfAll {
        /// The bytes that were asked for.
        more: u64,
        /// The limit in bytes.
        limit: u64,
    },
}

impl SessionMemory {
    /// Nothing yet, of this memory.
    pub(super) fn of(pool: MemoryPool) -> SessionMemory {
        SessionMemory { pool: Some(pool), bytes: 0, version: 0 }
    }

    /// Takes what this overlay takes in place of what was taken before.
    pub(super) fn keep(
        &mut self,
        overlay: &Overlay,
        dictionary: &Dictionary,
    ) -> Result<(), SessionMemoryFull> {
        let Some(pool) = self.pool.as_ref().filter(|_| overlay.version() != self.version) else {
            return Ok(());
        };
        let bytes = overlay.bytes(dictionary) as u64;
        let more = bytes.saturating_sub(self.bytes);
        if let Err(full) = pool.take(more)
            && more > 0
        {
            pool.give_back(more);
            return Err(match full {
                PoolFull::Part { limit } => SessionMemoryFull::OfUser { more, limit },
                PoolFull::Whole { limit } => SessionMemoryFull::OfAll { more, limit },
            });
        }
        pool.give_back(self.bytes.saturating_sub(bytes));
        (self.bytes, self.version) = (bytes, overlay.version());
        Ok(())
    }

    /// Gives everything back.
    pub(super) fn clear(&mut self) {
        if let Some(pool) = &self.pool {
            pool.give_back(self.bytes);
        }
        (self.bytes, self.version) = (0, 0);
    }
}

impl Drop for SessionMemory {
    fn drop(&mut self) {
        self.clear();
    }
}

impl Diagnose for SessionMemoryFull {
    fn diagnose(&self) -> Diagnostic {
        let (code, name, limit) = match self {
            SessionMemoryFull::OfUser { limit, .. } => {
                (Code::LimitExceeded, "user.session_memory_bytes", *limit)
            }
            SessionMemoryFull::OfAll { limit, .. } => (Code::Overloaded, "session_memory_bytes", *limit),
        };
        Diagnostic::error(code, self.to_string())
            .limit(name, limit)
            .help("drop what is not needed, in this session or in others: .session clear")
    }
}
