//! `Ticket`: the right of one request to go on.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use stratalog_engine::{Budget, Stop};
use tokio::sync::Notify;

/// The right of one request to go on; whoever has it can take that right away.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    state: Mutex<State>,
    changed: Notify,
    writes: AtomicBool,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Waiting,
    Running(Budget),
    Stopped(Stop),
}

impl Ticket {
    /// Stops the request, whether it waits or runs. Who stops it first counts.
    pub(crate) fn stop(&self, who: Stop) {
        let mut state = self.state.lock();
        if let State::Running(budget) = &*state {
            budget.stop(who);
        }
        if !matches!(*state, State::Stopped(_)) {
            *state = State::Stopped(who);
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The request may change something.
    pub(crate) fn note_write(&self) {
        self.writes.store(true, Ordering::Release);
    }

    /// Whether it may.
    pub(crate) fn writes(&self) -> bool {
        self.writes.load(Ordering::Acquire)
    }

    /// Stops the request in the name of its client.
    pub(crate) fn cancel(&self) {
        self.stop(Stop::Caller);
    }

    /// Who stopped the request, if anybody did.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        match &*self.state.lock() {
            State::Stopped(who) => Some(*who),
            State::Waiting | State::Running(_) => None,
        }
    }

    /// Whether it runs by now.
    pub(super) fn is_running(&self) -> bool {
        matches!(*self.state.lock(), State::Running(_))
    }

    /// Waits until the request is stopped.
    pub(crate) async fn until_stopped(&self) -> Stop {
        loop {
            let changed = self.changed.notified();
            if let Some(who) = self.stopped() {
                return who;
            }
            changed.await;
        }
    }

    /// The request runs from now on, unless it was stopped before.
    pub(super) fn start(&self, budget: &Budget) -> Result<(), Stop> {
        let mut state = self.state.lock();
        if let State::Stopped(who) = *state {
            return Err(who);
        }
        *state = State::Running(budget.clone());
        Ok(())
    }
}
