//! Steps that are under way: whoever needs the same waits for it, instead of doing it once more.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::meaning::Fingerprint;

/// The states to which views are being brought.
#[derive(Debug, Default)]
pub(super) struct UnderWay {
    states: Mutex<HashSet<Fingerprint>>,
    done: Condvar,
}

/// Somebody brings a view to a state, until this is dropped.
pub(super) struct Turn<'u> {
    under_way: &'u UnderWay,
    state: Fingerprint,
}

impl UnderWay {
    /// The turn to bring a view to a state; none if somebody else has just done it, or not within this time.
    pub(super) fn begin(&self, state: Fingerprint, patience: Duration) -> Option<Turn<'_>> {
        let mut states = self.states.lock();
        if states.insert(state) {
            return Some(Turn { under_way: self, state });
        }
        let now = Instant::now();
        let until = now.checked_add(patience).unwrap_or(now + Duration::from_secs(1 << 32));
        while states.contains(&state) && !self.done.wait_until(&mut states, until).timed_out() {}
        None
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.under_way.states.lock().remove(&self.state);
        self.under_way.done.notify_all();
    }
}
