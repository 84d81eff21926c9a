//! Where queries run: on threads of their own, a bounded number at once, each with a [`Budget`] and a [`Ticket`].
//!
//! Asynchronous threads only wait here. A panic inside a query ends that query and nothing else.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use stratalog_engine::Budget;
use stratalog_protocol::{Code, Failure};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinError;
use uuid::Uuid;

use crate::config::Limits;

/// How long a request waits for a place before it is turned away.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What a client that was turned away should wait before it tries again.
const RETRY_AFTER_MS: u64 = 1000;

/// The threads for queries, and what each query may use.
#[derive(Debug)]
pub(crate) struct QueryPool {
    places: Arc<Semaphore>,
    timeout: Option<Duration>,
    memory: u64,
}

/// Why a query did not come to an end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotRun {
    /// The client asked to stop, or is gone.
    #[error("the request was cancelled")]
    Cancelled,
    /// No place became free in time.
    #[error("the server is busy: no place for the request became free within {} s", LONGEST_WAIT.as_secs())]
    Overloaded,
    /// The query panicked; the reference stands in the log.
    #[error("an internal error; the server's log has more under the reference {reference}")]
    Panicked {
        /// Where to look in the log.
        reference: Uuid,
    },
}

impl From<NotRun> for Failure {
    fn from(not_run: NotRun) -> Failure {
        let message = not_run.to_string();
        match not_run {
            NotRun::Cancelled => Failure::new(Code::Cancelled, message),
            NotRun::Overloaded => Failure::new(Code::Overloaded, message).retry_after_ms(RETRY_AFTER_MS),
            NotRun::Panicked { .. } => Failure::new(Code::Internal, message),
        }
    }
}

impl QueryPool {
    /// As the configuration says.
    pub(crate) fn new(limits: &Limits) -> QueryPool {
        QueryPool {
            places: Arc::new(Semaphore::new(limits.concurrent_queries.min(Semaphore::MAX_PERMITS))),
            timeout: Some(limits.query_timeout).filter(|timeout| !timeout.is_zero()),
            memory: limits.query_memory,
        }
    }

    /// Runs `work` as soon as a place is free. A shorter `timeout` than the server's counts, a longer one does not.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        ticket: &Ticket,
        timeout: Option<Duration>,
        work: impl FnOnce(&Budget) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let place = tokio::select! {
            biased;
            () = ticket.cancelled() => return Err(NotRun::Cancelled),
            place = tokio::time::timeout(LONGEST_WAIT, self.places.clone().acquire_owned()) => match place {
                Ok(Ok(place)) => place,
                Ok(Err(_)) | Err(_) => return Err(NotRun::Overloaded),
            },
        };
        let timeout = [timeout, self.timeout].into_iter().flatten().min();
        let budget = Budget::new(timeout, self.memory);
        ticket.start(&budget)?;
        off_thread(move || {
            let _place = place;
            work(&budget)
        })
        .await
    }
}

/// Runs work that takes processor time on another thread, outside the places for queries.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotRun> {
    tokio::task::spawn_blocking(work).await.map_err(report)
}

/// Writes a panic to the log, under the reference that the client gets.
fn report(error: JoinError) -> NotRun {
    let Ok(panic) = error.try_into_panic() else {
        return NotRun::Cancelled;
    };
    let reference = Uuid::new_v4();
    tracing::error!(%reference, panic = panic_text(panic.as_ref()), "a request panicked");
    NotRun::Panicked { reference }
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text,
        (None, None) => "no text",
    }
}

/// The right of one request to go on; whoever has it can take that right away.
#[derive(Debug, Default)]
pub(crate) struct Ticket {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Waiting,
    Running(Budget),
    Cancelled,
}

impl Ticket {
    /// Stops the request, whether it waits or runs.
    pub(crate) fn cancel(&self) {
        let before = std::mem::replace(&mut *self.state.lock(), State::Cancelled);
        if let State::Running(budget) = before {
            budget.cancel();
        }
        self.changed.notify_waiters();
    }

    /// Whether the request was stopped.
    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(*self.state.lock(), State::Cancelled)
    }

    /// Waits until the request is stopped.
    pub(crate) async fn cancelled(&self) {
        loop {
            let changed = self.changed.notified();
            if self.is_cancelled() {
                return;
            }
            changed.await;
        }
    }

    fn start(&self, budget: &Budget) -> Result<(), NotRun> {
        let mut state = self.state.lock();
        match *state {
            State::Cancelled => Err(NotRun::Cancelled),
            State::Waiting | State::Running(_) => {
                *state = State::Running(budget.clone());
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::{NotRun, QueryPool, Ticket};
    use crate::config::Limits;

    fn pool(concurrent_queries: usize) -> QueryPool {
        QueryPool::new(&Limits { concurrent_queries, ..Limits::default() })
    }

    #[tokio::test]
    async fn a_panic_becomes_a_reference_and_the_place_is_free_again() {
        let pool = pool(1);
        for _ in 0..2 {
            let outcome: Result<(), NotRun> =
                pool.run(&Ticket::default(), None, |_| panic!("on purpose")).await;
            assert!(matches!(outcome, Err(NotRun::Panicked { .. })));
        }
        assert_eq!(pool.run(&Ticket::default(), None, |_| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_running_query_is_told_to_stop() {
        let ticket = Arc::new(Ticket::default());
        let stop = ticket.clone();
        let outcome = pool(1)
            .run(&ticket, None, move |budget| {
                stop.cancel();
                budget.check().is_err()
            })
            .await;
        assert_eq!(outcome, Ok(true));
    }

    #[tokio::test]
    async fn a_waiting_query_never_starts_once_cancelled() {
        let pool = Arc::new(pool(1));
        let held = pool.places.clone().acquire_owned().await.unwrap();
        let ticket = Arc::new(Ticket::default());
        let waiting = tokio::spawn({
            let (pool, ticket) = (pool.clone(), ticket.clone());
            async move { pool.run(&ticket, None, |_| ()).await }
        });
        tokio::task::yield_now().await;
        ticket.cancel();
        assert_eq!(waiting.await.unwrap(), Err(NotRun::Cancelled));
        drop(held);
    }

    #[tokio::test]
    async fn the_shorter_timeout_counts() {
        let outcome =
            pool(1).run(&Ticket::default(), Some(Duration::ZERO), |budget| budget.check().is_err()).await;
        assert_eq!(outcome, Ok(true));
    }
}
