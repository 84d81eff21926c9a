//! `Memory`: what the live queries of an engine hold, all together.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::log::Room;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;

/// What live queries hold.
#[derive(Debug)]
pub(super) struct Memory {
    /// What is known of earlier answers.
    pub(super) logs: Arc<Room>,
    /// The present ones.
    answers: Used,
}

/// Bytes that are used of so many.
#[derive(Debug)]
struct Used {
    bytes: AtomicUsize,
    limit: usize,
}

impl Memory {
    pub(super) fn new(log_bytes: usize, answer_bytes: usize) -> Memory {
        Memory {
            logs: Room::of(log_bytes),
            answers: Used { bytes: AtomicUsize::new(0), limit: answer_bytes },
        }
    }

    /// Room for an answer, unless there is none.
    pub(super) fn hold(self: &Arc<Memory>, bytes: usize) -> Result<Held, Error> {
        let used = self.answers.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let held = Held { memory: Arc::clone(self), bytes };
        if used <= self.answers.limit {
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
        self.memory.answers.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
