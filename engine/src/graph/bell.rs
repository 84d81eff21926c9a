//! `Bell`: wakes a thread of the background when there is work.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

/// Wakes a thread of the background.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bell {
    state: Arc<(Mutex<BellState>, Condvar)>,
}

#[derive(Debug, Default)]
struct BellState {
    is_rung: bool,
    is_over: bool,
}

impl Bell {
    /// There is work.
    pub(crate) fn ring(&self) {
        self.state.0.lock().is_rung = true;
        self.state.1.notify_all();
    }

    /// There will be no more work.
    pub(crate) fn end(&self) {
        self.state.0.lock().is_over = true;
        self.state.1.notify_all();
    }

    /// Waits for work; `false` once there will be none.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.state.0.lock();
        while !state.is_rung && !state.is_over {
            self.state.1.wait(&mut state);
        }
        state.is_rung = false;
        !state.is_over
    }

    /// Whether there will be no more work.
    pub(crate) fn is_over(&self) -> bool {
        self.state.0.lock().is_over
    }

    /// Waits a while, or until there will be no more work.
    pub(crate) fn pause(&self, time: Duration) {
        let mut state = self.state.0.lock();
        let until = Instant::now() + time;
        while !state.is_over && !self.state.1.wait_until(&mut state, until).timed_out() {}
    }
}
