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
    #[error("the request needed more than the {} MiB of memory it may use, and was stopped", limit >> 20)]
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
}

impl Diagnose for BudgetError {
    fn diagnose(&self) -> Diagnostic {
        match self {
            BudgetError::Timeout { .. } => Diagnostic::error(Code::Timeout, self.to_string())
                .help("bind an argument of the query, bound the recursion, or ask for more time"),
            BudgetError::Cancelled => Diagnostic::error(Code::Cancelled, self.to_string()),
            BudgetError::Memory { .. } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("look for a cross product or an unbounded recursion, or bind an argument of the query"),
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
        }
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
