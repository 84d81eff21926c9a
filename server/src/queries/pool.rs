//! `QueryPool`: queries run on threads of their own, a bounded number at once, each with a [`Budget`] and a [`Ticket`].
//!
//! Short queries have a lane of their own. Every query begins there; one that takes long needs a place among the long
//! ones, and is paused until one is free. So whoever asks something short never waits for those who ask something long,
//! however many. In both lanes users go in turn, and one user has a part of the long places only. What counts is how much a query works: on a busy machine, or a slow disk, a short one
//! stays short. Asynchronous threads only wait here. A panic inside a query ends that query and nothing else.

use std::any::Any;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use stratalog_engine::{Budget, MemoryPool, Stop};
use stratalog_protocol::{Code, Failure};
use tokio::task::JoinError;
use tokio::time::timeout;
use uuid::Uuid;

use super::paused::Paused;
use super::turns::{Place, Turns};
use super::{Share, Ticket, UserMemory};
use crate::config::Limits;
use crate::metrics::Metrics;

/// How long a query that takes long may use the lane of the short ones.
const SHORT: Duration = Duration::from_millis(100);

/// How long any query may use it: not all that takes long is seen to.
const LONGEST_SHORT: Duration = Duration::from_secs(2);

/// How long a request waits for a place before it is turned away.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Messages that are not complete may take this part of the memory of all, beside it.
const UNFINISHED_SHARE: u64 = 4;

/// What a client that was turned away should wait before it tries again.
pub(crate) const RETRY_AFTER_MS: u64 = 1000;

/// The threads for queries, and what each query may use.
#[derive(Debug)]
pub(crate) struct QueryPool {
    short: Turns,
    long: Turns,
    paused: Paused,
    longest_short: Duration,
    /// In milliseconds; 0: any time.
    timeout_ms: AtomicU64,
    memory: AtomicU64,
    /// What all queries use together, and those of one user.
    shared_memory: UserMemory,
    /// What messages use that are not complete. It is apart, so that who asks for much ends no connection in the middle
    /// of a message.
    unfinished: MemoryPool,
    metrics: Arc<Metrics>,
}

/// Why a query did not come to an end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotRun {
    /// The client asked to stop, or is gone.
    #[error("the request was cancelled")]
    Cancelled,
    /// An administrator asked to stop.
    #[error("an administrator stopped the request")]
    Killed,
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
            NotRun::Cancelled | NotRun::Killed => Failure::new(Code::Cancelled, message),
            NotRun::Overloaded => Failure::new(Code::Overloaded, message).retry_after_ms(RETRY_AFTER_MS),
            NotRun::Panicked { .. } => Failure::new(Code::Internal, message),
        }
    }
}

impl From<Stop> for NotRun {
    fn from(who: Stop) -> NotRun {
        match who {
            Stop::Caller => NotRun::Cancelled,
            Stop::Administrator => NotRun::Killed,
            Stop::Overload => NotRun::Overloaded,
        }
    }
}

impl QueryPool {
    /// As the configuration says.
    pub(crate) fn new(limits: &Limits, metrics: Arc<Metrics>) -> QueryPool {
        let most_long = match limits.user.long_queries {
            0 => (limits.concurrent_queries / 2).max(1),
            most => most,
        };
        QueryPool {
            short: Turns::new(limits.short_queries, usize::MAX),
            long: Turns::new(limits.concurrent_queries, most_long),
            paused: Paused::new(limits.paused_queries),
            longest_short: LONGEST_SHORT,
            timeout_ms: AtomicU64::new(milliseconds(limits.query_timeout)),
            memory: AtomicU64::new(limits.query_memory),
            shared_memory: UserMemory::new(limits.total_memory, limits.user.memory),
            unfinished: MemoryPool::new(limits.total_memory / UNFINISHED_SHARE),
            metrics,
        }
    }

    /// Bounds the queries that begin from now on otherwise.
    pub(crate) fn adopt(&self, limits: &Limits) {
        self.timeout_ms.store(milliseconds(limits.query_timeout), Ordering::Relaxed);
        self.memory.store(limits.query_memory, Ordering::Relaxed);
    }

    /// The longest time of a query, if there is one.
    fn timeout(&self) -> Option<Duration> {
        let timeout = self.timeout_ms.load(Ordering::Relaxed);
        (timeout > 0).then(|| Duration::from_millis(timeout))
    }

    /// Memory that running queries and messages on their way use, in bytes.
    pub(crate) fn memory_used(&self) -> u64 {
        self.shared_memory.whole().used() + self.unfinished.used()
    }

    /// Memory for what has come in from a user and whose query does not run yet.
    pub(crate) fn incoming(&self, share: &Share) -> Budget {
        Budget::of_pool(None, u64::MAX, &self.shared_memory.of(share))
    }

    /// Memory for messages of one connection that are still on their way, at most so many bytes.
    pub(crate) fn on_its_way(&self, most: u64) -> Budget {
        Budget::of_pool(None, most, &self.unfinished)
    }

    /// Runs `work` when it is this user's turn and a place is free. A shorter `timeout` than the server's counts, a longer one does not.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        share: &Share,
        ticket: &Ticket,
        timeout: Option<Duration>,
        work: impl FnOnce(&Budget) -> T + Send + 'static,
    ) -> Result<T, NotRun> {
        let waiting = Instant::now();
        let place = tokio::select! {
            biased;
            who = ticket.until_stopped() => return Err(who.into()),
            place = place(&self.short, share) => place.ok_or(NotRun::Overloaded)?,
        };
        self.metrics.waiting.observe(waiting.elapsed());
        let timeout = [timeout, self.timeout()].into_iter().flatten().min();
        let memory = self.memory.load(Ordering::Relaxed);
        let budget = Budget::of_pool(timeout, memory, &self.shared_memory.of(share)).giving_way();
        ticket.start(&budget)?;
        let work = off_thread({
            let budget = budget.clone();
            move || work(&budget)
        });
        self.in_lanes(share, place, &budget, work).await
    }

    /// Waits for work that runs, in the lane of the short ones and then, if it is still there, among the long ones.
    async fn in_lanes<T>(
        &self,
        share: &Share,
        short: Place,
        budget: &Budget,
        work: impl Future<Output = Result<T, NotRun>>,
    ) -> Result<T, NotRun> {
        let mut work = pin!(work);
        let began = Instant::now();
        while began.elapsed() < SHORT || (!budget.is_long() && began.elapsed() < self.longest_short) {
            if let Ok(outcome) = timeout(SHORT, &mut work).await {
                return outcome;
            }
        }
        let long = match self.long.try_place(share) {
            Some(long) => {
                drop(short);
                Some(long)
            }
            None => {
                let Some(_paused) = self.paused.enter(share, budget) else {
                    budget.stop(Stop::Overload);
                    return work.await;
                };
                drop(short);
                tokio::select! {
                    biased;
                    outcome = &mut work => return outcome,
                    long = place(&self.long, share) => long,
                }
            }
        };
        if long.is_none() {
            budget.stop(Stop::Overload);
        }
        budget.resume();
        work.await
    }
}

/// A place, unless none becomes free in time.
async fn place(places: &Turns, share: &Share) -> Option<Place> {
    timeout(LONGEST_WAIT, places.place(share)).await.ok()
}

/// Runs work that takes processor time on another thread, outside the places for queries. What it logs stands under the
/// request that it is done for.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, NotRun> {
    let span = tracing::Span::current();
    tokio::task::spawn_blocking(move || span.in_scope(work)).await.map_err(report)
}

/// Whole milliseconds of a time, at least one where it is none.
fn milliseconds(time: Duration) -> u64 {
    let whole = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    if time.is_zero() { 0 } else { whole.max(1) }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use stratalog_engine::{Budget, BudgetError, Stop};

    use super::{NotRun, QueryPool, Share, Ticket};
    use crate::config::Limits;

    fn ada() -> Share {
        Share { user: "ada".into(), is_administrator: false }
    }

    fn pool(concurrent_queries: usize) -> QueryPool {
        let limits = Limits { short_queries: concurrent_queries, concurrent_queries, ..Limits::default() };
        QueryPool::new(&limits, Arc::default())
    }

    #[tokio::test]
    async fn a_panic_becomes_a_reference_and_the_place_is_free_again() {
        let pool = pool(1);
        for _ in 0..2 {
            let outcome: Result<(), NotRun> =
                pool.run(&ada(), &Ticket::default(), None, |_| panic!("on purpose")).await;
            assert!(matches!(outcome, Err(NotRun::Panicked { .. })));
        }
        assert_eq!(pool.run(&ada(), &Ticket::default(), None, |_| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn a_running_query_is_told_to_stop() {
        let ticket = Arc::new(Ticket::default());
        let stop = ticket.clone();
        let outcome = pool(1)
            .run(&ada(), &ticket, None, move |budget| {
                stop.cancel();
                budget.check().is_err()
            })
            .await;
        assert_eq!(outcome, Ok(true));
    }

    #[tokio::test]
    async fn a_waiting_query_never_starts_once_cancelled() {
        let pool = Arc::new(pool(1));
        let held = pool.short.place(&ada()).await;
        let ticket = Arc::new(Ticket::default());
        let waiting = tokio::spawn({
            let (pool, ticket) = (pool.clone(), ticket.clone());
            async move { pool.run(&ada(), &ticket, None, |_| ()).await }
        });
        tokio::task::yield_now().await;
        ticket.cancel();
        assert_eq!(waiting.await.unwrap(), Err(NotRun::Cancelled));
        drop(held);
    }

    #[tokio::test]
    async fn the_shorter_timeout_counts() {
        let outcome = pool(1)
            .run(&ada(), &Ticket::default(), Some(Duration::ZERO), |budget| budget.check().is_err())
            .await;
        assert_eq!(outcome, Ok(true));
    }

    /// Runs until it is told to stop.
    fn endless(budget: &Budget) -> BudgetError {
        loop {
            if let Err(stopped) = budget.check() {
                return stopped;
            }
        }
    }

    #[tokio::test]
    async fn long_queries_leave_the_lane_of_the_short_ones_and_wait_for_each_other() {
        let pool = Arc::new(pool(1));
        let tickets: Vec<_> = (0..3).map(|_| Arc::new(Ticket::default())).collect();
        let mut running = Vec::new();
        for ticket in &tickets {
            running.push(tokio::spawn({
                let (pool, ticket) = (pool.clone(), ticket.clone());
                async move { pool.run(&ada(), &ticket, None, endless).await }
            }));
        }
        for n in 0..20 {
            assert_eq!(pool.run(&ada(), &Ticket::default(), None, move |_| n).await, Ok(n));
        }
        assert!(running.iter().all(|running| !running.is_finished()));
        for ticket in &tickets {
            ticket.stop(Stop::Administrator);
        }
        for running in running {
            // One may not have begun.
            let outcome = running.await.unwrap();
            assert!(matches!(outcome, Ok(BudgetError::Killed) | Err(NotRun::Killed)), "{outcome:?}");
        }
        assert!(pool.short.try_place(&ada()).is_some() && pool.long.try_place(&ada()).is_some());
    }

    #[tokio::test]
    async fn a_query_that_only_waits_stays_short() {
        // What counts is its work, for however long a busy machine lets it wait.
        let pool = QueryPool { longest_short: Duration::MAX, ..pool(1) };
        let waits = |budget: &Budget| {
            for _ in 0..40 {
                std::thread::sleep(Duration::from_millis(10));
                assert_eq!(budget.check(), Ok(()));
            }
        };
        let _long = pool.long.place(&ada()).await;
        let ticket = Ticket::default();
        assert_eq!(pool.run(&ada(), &ticket, None, waits).await, Ok(()));
    }

    #[tokio::test]
    async fn what_cannot_even_be_paused_is_turned_away() {
        let limits =
            Limits { short_queries: 1, concurrent_queries: 0, paused_queries: 0, ..Limits::default() };
        let pool = QueryPool::new(&limits, Arc::default());
        assert_eq!(pool.run(&ada(), &Ticket::default(), None, endless).await, Ok(BudgetError::Overloaded));
        assert_eq!(pool.run(&ada(), &Ticket::default(), None, |_| 7).await, Ok(7));
    }
}
