//! `Memory`: what the live queries of an engine hold, all together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;

/// What live queries hold.
#[derive(Debug)]
pub(super) struct Memory {
    /// What is known of earlier answers.
    pub(super) logs: Used,
    /// The present ones.
    answers: Used,
}

/// Bytes that are used of so many.
#[derive(Debug)]
pub(super) struct Used {
    bytes: AtomicUsize,
    limit: usize,
}

impl Used {
    fn of(limit: usize) -> Used {
        Used { bytes: AtomicUsize::new(0), limit }
    }

    pub(super) fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(super) fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether they are more than there may be.
    pub(super) fn is_exceeded(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > self.limit
    }
}

impl Memory {
    pub(super) fn new(log_bytes: usize, answer_bytes: usize) -> Memory {
        Memory { logs: Used::of(log_bytes), answers: Used::of(answer_bytes) }
    }

    /// Room for an answer, unless there is none.
    pub(super) fn hold(self: &Arc<Memory>, bytes: usize) -> Result<Held, Error> {
        self.answers.add(bytes);
        let held = Held { memory: Arc::clone(self), bytes };
        if !self.answers.is_exceeded() {
            return Ok(held);
        }
        let limit = self.answers.limit;
        let message = format!("the answers of live queries would take more than {limit} bytes");
        let refusal =
            Diagnostic::error(Code::LimitExceeded, message).limit("live.answer_bytes", limit as u64);
        Err(Error::refused(refusal.help("subscribe to less, or end live queries that nobody needs")))
    }
}

/// Room that an answer takes.
#[derive(Debug)]
pub(super) struct Held {
    memory: Arc<Memory>,
    bytes: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.answers.remove(self.bytes);
    }
}
