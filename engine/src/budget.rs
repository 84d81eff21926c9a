//! What a request may use: time, memory, and the right to go on.
//!
//! This is also the only place that reads a clock: a request has one beginning, which is its `time_now()`.
//! Every operator asks between batches, so that what is stopped is really gone within a fraction of a second.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::diagnostic::{Code, Diagnose, Diagnostic};

/// The means of one request. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget {
    shared: Arc<Shared>,
    string_bytes: usize,
}

#[derive(Debug)]
struct Shared {
    deadline: Option<Instant>,
    timeout: Duration,
    started_at_ms: i64,
    cancelled: AtomicBool,
    memory_used: AtomicU64,
    memory_limit: u64,
}

/// Why a request was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// The deadline passed.
    #[error("the request ran longer than the {} ms it may take, and was stopped", .limit.as_millis())]
    Timeout {
        /// The time it had.
        limit: Duration,
    },
    /// The caller asked to stop.
    #[error("the request was cancelled")]
    Cancelled,
    /// More memory was needed than the request may have.
    #[error("the request needed more than the {} of memory it may use, and was stopped", size(*.limit))]
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
}

/// `4 MiB`, or bytes where they are no whole number of MiB.
fn size(bytes: u64) -> String {
    if bytes > 0 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}

impl Diagnose for BudgetError {
    fn diagnose(&self) -> Diagnostic {
        match self {
            BudgetError::Timeout { limit } => Diagnostic::error(Code::Timeout, self.to_string())
                .help("bind an argument of the query, bound the recursion, or ask for more time")
                .limit("query_timeout_ms", limit.as_millis().try_into().unwrap_or(u64::MAX)),
            BudgetError::Cancelled => Diagnostic::error(Code::Cancelled, self.to_string()),
            BudgetError::Memory { limit } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("look for a cross product or an unbounded recursion, or bind an argument of the query")
                .limit("query_memory_bytes", *limit),
        }
    }
}

impl Budget {
    /// No bounds at all.
    pub fn unlimited() -> Budget {
        Budget::new(None, u64::MAX)
    }

    /// At most this long from now, and at most so many bytes.
    pub fn new(timeout: Option<Duration>, memory_limit: u64) -> Budget {
        Budget {
            shared: Arc::new(Shared {
                deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
                timeout: timeout.unwrap_or_default(),
                started_at_ms: now_ms(),
                cancelled: AtomicBool::new(false),
                memory_used: AtomicU64::new(0),
                memory_limit,
            }),
            string_bytes: usize::MAX,
        }
    }

    /// The same means, and at most so many bytes for a string that is computed.
    pub fn with_string_bytes(mut self, string_bytes: usize) -> Budget {
        self.string_bytes = string_bytes;
        self
    }

    /// The bytes that a computed string may have.
    pub fn string_bytes(&self) -> usize {
        self.string_bytes
    }

    /// When the request began, in milliseconds since 1970 (UTC).
    pub fn started_at_ms(&self) -> i64 {
        self.shared.started_at_ms
    }

    /// Asks the request to stop.
    pub fn cancel(&self) {
        self.shared.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether the request may go on.
    pub fn check(&self) -> Result<(), BudgetError> {
        if self.shared.cancelled.load(Ordering::Relaxed) {
            return Err(BudgetError::Cancelled);
        }
        match self.shared.deadline {
            Some(deadline) if Instant::now() >= deadline => {
                Err(BudgetError::Timeout { limit: self.shared.timeout })
            }
            _ => Ok(()),
        }
    }

    /// Accounts for memory before it is used.
    pub fn charge(&self, bytes: usize) -> Result<(), BudgetError> {
        let bytes = bytes as u64;
        let used = self.shared.memory_used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.shared.memory_limit {
            return Err(BudgetError::Memory { limit: self.shared.memory_limit });
        }
        Ok(())
    }

    /// Accounts for memory until the guard is dropped.
    pub fn hold(&self, bytes: usize) -> Result<Held<'_>, BudgetError> {
        let held = Held { budget: self, bytes };
        self.charge(bytes)?;
        Ok(held)
    }

    /// Gives memory back.
    pub fn release(&self, bytes: usize) {
        self.shared.memory_used.fetch_sub(bytes as u64, Ordering::Relaxed);
    }
}

fn now_ms() -> i64 {
    let ms = |duration: Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => ms(since),
        Err(before) => -ms(before.duration()),
    }
}

/// Memory that is given back when this is dropped.
#[derive(Debug)]
pub struct Held<'b> {
    budget: &'b Budget,
    bytes: usize,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{BudgetError, size};
    use crate::diagnostic::{Diagnose, LimitReached};

    #[test]
    fn memory_is_told_as_it_was_set() {
        assert_eq!(size(3 << 20), "3 MiB");
        assert_eq!(size(1_000_000), "1000000 bytes");
        assert_eq!(size(0), "0 bytes");
        let limit = BudgetError::Memory { limit: 17 }.diagnose().limit;
        assert_eq!(limit, Some(LimitReached { name: "query_memory_bytes", value: 17 }));
    }
}
