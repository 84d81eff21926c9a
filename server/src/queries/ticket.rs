//! `Ticket`: the right of one request to go on.

use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use stratalog_engine::{Budget, Progress, Stop};
use stratalog_protocol::WorkState;
use tokio::sync::Notify;

/// The right of one request to go on; whoever has it can take that right away.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    state: Mutex<State>,
    changed: Notify,
    writes: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// What it may use, from when it runs.
    budget: Option<Budget>,
    stopped: Option<Stop>,
}

impl Ticket {
    /// Stops the request, whether it waits or runs. Who stops it first counts.
    pub(crate) fn stop(&self, who: Stop) {
        let mut state = self.state.lock();
        if state.stopped.is_none() {
            state.stopped = Some(who);
            if let Some(budget) = &state.budget {
                budget.stop(who);
            }
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
        self.state.lock().stopped
    }

    /// What the request does, and how far it is.
    pub(crate) fn standing(&self) -> (WorkState, Progress) {
        let state = self.state.lock();
        let doing = match (state.stopped, &state.budget) {
            (Some(_), _) => WorkState::Stopping,
            (None, Some(_)) => WorkState::Running,
            (None, None) => WorkState::Waiting,
        };
        (doing, state.budget.as_ref().map_or_else(Progress::default, Budget::progress))
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
        match state.stopped {
            Some(who) => Err(who),
            None => {
                state.budget = Some(budget.clone());
                Ok(())
            }
        }
    }
}
