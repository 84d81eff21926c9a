//! What a request may use: time, memory, and the right to go on.
//!
//! But for profiles (`exec/profile.rs`), only this reads a clock: a request has one beginning, which is its `time_now()`.
//! Every operator asks between batches, so that what is stopped is really gone within a fraction of a second.

mod attempt;
mod error;
mod part;
mod pool;
mod progress;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use parking_lot::{Condvar, Mutex};

use crate::data::{GoOn, RowIndex, Run, Stopped, priority};
use attempt::Attempt;
pub(crate) use error::size;
pub use error::{BudgetError, Stop};
use part::Part;
pub use pool::{MemoryPool, PoolFull};
use progress::Counted;
pub use progress::Progress;

/// A request takes long that has worked for twice this time.
const LONG: Duration = Duration::from_millis(5);

/// The means of one request. Clones share it.
#[derive(Debug, Clone)]
pub struct Budget {
    shared: Arc<Shared>,
    string_bytes: usize,
    /// From when on it is looked whether the request takes long.
    watched_from: Option<Instant>,
    /// The try that this is the budget of.
    attempt: Option<Arc<Attempt>>,
    /// The part of the request that this is the budget of.
    part: Option<Arc<Part>>,
}

#[derive(Debug)]
struct Shared {
    /// No two requests have the same.
    number: u64,
    deadline: Option<Instant>,
    timeout: Duration,
    started_at_ms: i64,
    /// A [`Stop`], or 0.
    stopped: AtomicU8,
    is_long: AtomicBool,
    memory_used: AtomicU64,
    memory_limit: u64,
    pool: Option<MemoryPool>,
    pause: Pause,
    counted: Counted,
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(pool) = &self.pool {
            pool.give_back(*self.memory_used.get_mut());
        }
    }
}

/// Where a request waits while others go first.
#[derive(Debug, Default)]
struct Pause {
    /// Read at every check; the lock is only for waiting.
    is_on: AtomicBool,
    waiting: Mutex<()>,
    changed: Condvar,
    /// What others wait for and this request holds: it goes on until that is given back.
    held_up: AtomicUsize,
}

impl Budget {
    /// No bounds at all.
    pub fn unlimited() -> Budget {
        Budget::new(None, u64::MAX)
    }

    /// At most this long from now, and at most so many bytes.
    pub fn new(timeout: Option<Duration>, memory_limit: u64) -> Budget {
        Budget::with_pool(timeout, memory_limit, None)
    }

    /// The same, and what it uses is used of the pool as well, until the last clone of the budget is dropped.
    pub fn of_pool(timeout: Option<Duration>, memory_limit: u64, pool: &MemoryPool) -> Budget {
        Budget::with_pool(timeout, memory_limit, Some(pool.clone()))
    }

    fn with_pool(timeout: Option<Duration>, memory_limit: u64, pool: Option<MemoryPool>) -> Budget {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Budget {
            shared: Arc::new(Shared {
                number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
                deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
                timeout: timeout.unwrap_or_default(),
                started_at_ms: now_ms(),
                stopped: AtomicU8::new(0),
                is_long: AtomicBool::new(false),
                memory_used: AtomicU64::new(0),
                memory_limit,
                pool,
                pause: Pause::default(),
                counted: Counted::default(),
            }),
            string_bytes: usize::MAX,
            watched_from: None,
            attempt: None,
            part: None,
        }
    }

    /// The same means, and at most so many bytes for a string that is computed.
    pub fn with_string_bytes(mut self, string_bytes: usize) -> Budget {
        self.string_bytes = string_bytes;
        self
    }

    /// The same means, but the request gives way to others when it takes long: the threads that it has for itself run at
    /// a lower priority then, unless others wait for it.
    pub fn giving_way(mut self) -> Budget {
        self.watched_from = Instant::now().checked_add(LONG);
        self
    }

    /// Whether the request takes long, of one that gives way. Time in which it waited does not count.
    pub fn is_long(&self) -> bool {
        self.shared.is_long.load(Ordering::Relaxed)
    }

    /// The bytes that a computed string may have.
    pub fn string_bytes(&self) -> usize {
        self.string_bytes
    }

    /// When the request began, in milliseconds since 1970 (UTC).
    pub fn started_at_ms(&self) -> i64 {
        self.shared.started_at_ms
    }

    /// Asks the request to stop, in the name of its caller.
    pub fn cancel(&self) {
        self.stop(Stop::Caller);
    }

    /// Asks the request to stop. Who asks first counts.
    pub fn stop(&self, who: Stop) {
        let stopped = &self.shared.stopped;
        let _ = stopped.compare_exchange(0, who as u8, Ordering::Relaxed, Ordering::Relaxed);
        self.shared.pause.changed();
    }

    /// Whether this is the budget of the same request.
    pub fn is_of(&self, other: &Budget) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Lets the request wait at its next check, on all its threads, until [`Budget::resume`]. Its time goes on.
    pub fn pause(&self) {
        self.shared.pause.is_on.store(true, Ordering::Relaxed);
    }

    /// Lets the request go on.
    pub fn resume(&self) {
        self.shared.pause.is_on.store(false, Ordering::Relaxed);
        self.shared.pause.changed();
    }

    /// The request does not wait for others as long as this is kept, because others wait for it.
    pub(crate) fn uninterrupted(&self) -> Uninterrupted {
        self.shared.pause.held_up.fetch_add(1, Ordering::Relaxed);
        self.shared.pause.changed();
        Uninterrupted { shared: Arc::clone(&self.shared) }
    }

    /// Whether the request may go on. While it is paused, this waits.
    pub fn check(&self) -> Result<(), BudgetError> {
        if self.shared.pause.is_on.load(Ordering::Relaxed) {
            self.shared.wait();
        }
        let stopped = self.shared.stopped.load(Ordering::Relaxed);
        if stopped != 0
            && let Some(stop) = Stop::ALL.into_iter().find(|stop| *stop as u8 == stopped)
        {
            return Err(stop.error());
        }
        let mut attempts = self.attempt.iter().flat_map(|attempt| attempt.all());
        let moments = [self.shared.deadline, self.watched_from];
        let is_timed = self.attempt.is_some() || moments.iter().any(Option::is_some);
        let now = is_timed.then(Instant::now);
        let is_past = |moment: Option<Instant>| moment.zip(now).is_some_and(|(moment, now)| now >= moment);
        if is_past(self.shared.deadline) {
            return Err(BudgetError::Timeout { limit: self.shared.timeout });
        }
        if let Some(attempt) = attempts.find(|attempt| attempt.is_over() || is_past(Some(attempt.until()))) {
            return Err(attempt.give_up());
        }
        if is_past(self.watched_from) {
            self.shared.watch();
        }
        Ok(())
    }

    /// Does work that asks now and then whether to go on.
    pub fn watch<T>(&self, work: impl FnOnce(GoOn<'_>) -> Result<T, Stopped>) -> Result<T, BudgetError> {
        work(&|| self.check().is_ok()).map_err(|Stopped| self.check().err().unwrap_or(BudgetError::Cancelled))
    }

    /// Builds something that takes so many bytes. Who builds it pays, as long as the request goes on; from then on it
    /// counts among what is stored.
    pub fn build<T>(
        &self,
        bytes: usize,
        work: impl FnOnce(GoOn<'_>) -> Result<T, Stopped>,
    ) -> Result<T, BudgetError> {
        self.charge(bytes)?;
        self.lasting(|| self.watch(work))
    }

    /// The index over some columns of a run. Who builds it pays; who waits for it meanwhile does not.
    pub fn index(&self, run: &Run, columns: &[usize]) -> Result<Arc<RowIndex>, BudgetError> {
        let mut refused = None;
        let pay = |bytes| {
            self.charge(bytes).map_err(|error| {
                refused = Some(error);
                Stopped
            })
        };
        let index = self.lasting(|| self.watch(|go_on| run.index_paid(columns, pay, go_on)));
        refused.map_or(index, Err)
    }

    /// Accounts for memory before it is used.
    pub fn charge(&self, bytes: usize) -> Result<(), BudgetError> {
        let bytes = bytes as u64;
        if let Some(part) = &self.part {
            part.used.fetch_add(bytes, Ordering::Relaxed);
        }
        let taken = self.shared.pool.as_ref().map_or(Ok(()), |pool| pool.take(bytes));
        let used = self.shared.memory_used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.shared.memory_limit {
            return Err(BudgetError::Memory { limit: self.shared.memory_limit });
        }
        taken.map_err(PoolFull::stops)
    }

    /// Accounts for memory until the guard is dropped.
    pub fn hold(&self, bytes: usize) -> Result<Held<'_>, BudgetError> {
        let held = Held { budget: self, bytes };
        self.charge(bytes)?;
        Ok(held)
    }

    /// Bytes that are accounted for.
    pub fn used(&self) -> usize {
        usize::try_from(self.shared.memory_used.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    /// Gives memory back.
    pub fn release(&self, bytes: usize) {
        if let Some(part) = &self.part {
            part.used.fetch_sub(bytes as u64, Ordering::Relaxed);
        }
        self.shared.release(bytes as u64);
    }
}

impl Shared {
    fn release(&self, bytes: u64) {
        self.memory_used.fetch_sub(bytes, Ordering::Relaxed);
        if let Some(pool) = &self.pool {
            pool.give_back(bytes);
        }
    }

    /// Finds out whether the request takes long, and lets others go first then.
    fn watch(&self) {
        if !self.is_long.load(Ordering::Relaxed) && priority::worked(self.number) < LONG {
            return;
        }
        self.is_long.store(true, Ordering::Relaxed);
        if self.pause.held_up.load(Ordering::Relaxed) == 0 {
            priority::give_way();
        }
    }

    /// Waits until the request is no longer paused, or has to end.
    fn wait(&self) {
        let pause = &self.pause;
        let mut waiting = pause.waiting.lock();
        while pause.is_on.load(Ordering::Relaxed)
            && pause.held_up.load(Ordering::Relaxed) == 0
            && self.stopped.load(Ordering::Relaxed) == 0
        {
            match self.deadline {
                Some(deadline) if pause.changed.wait_until(&mut waiting, deadline).timed_out() => return,
                Some(_) => {}
                None => pause.changed.wait(&mut waiting),
            }
        }
    }
}

impl Pause {
    /// Wakes whoever waits. The lock makes sure that nobody is between looking and waiting.
    fn changed(&self) {
        drop(self.waiting.lock());
        self.changed.notify_all();
    }
}

/// Keeps a request from being paused.
#[derive(Debug)]
pub(crate) struct Uninterrupted {
    shared: Arc<Shared>,
}

impl Drop for Uninterrupted {
    fn drop(&mut self) {
        self.shared.pause.held_up.fetch_sub(1, Ordering::Relaxed);
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

impl Held<'_> {
    /// Accounts for more memory before it is used.
    pub fn add(&mut self, bytes: usize) -> Result<(), BudgetError> {
        self.bytes += bytes;
        self.budget.charge(bytes)
    }

    /// Gives a part back.
    pub fn give_back(&mut self, bytes: usize) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.budget.release(bytes);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Budget, BudgetError, MemoryPool};

    #[test]
    fn a_pool_is_shared_and_gets_everything_back() {
        let pool = MemoryPool::new(100);
        let one = Budget::of_pool(None, 80, &pool);
        let two = Budget::of_pool(None, 80, &pool);
        assert_eq!(one.charge(60), Ok(()));
        assert_eq!(two.charge(30), Ok(()));
        assert_eq!(pool.used(), 90);
        assert_eq!(two.charge(20), Err(BudgetError::TotalMemory { limit: 100 }));
        assert_eq!(one.charge(60), Err(BudgetError::Memory { limit: 80 }));
        drop(one);
        assert_eq!(pool.used(), 50);
        two.release(10);
        drop(two.hold(5));
        assert_eq!(pool.used(), 40);
        drop(two);
        assert_eq!(pool.used(), 0);
    }

    #[test]
    fn a_paused_request_waits_until_it_is_resumed_cancelled_or_over() {
        let waits = |end: fn(&Budget), timeout| {
            let budget = Budget::new(timeout, u64::MAX);
            budget.pause();
            let waiting = std::thread::spawn({
                let budget = budget.clone();
                move || budget.check()
            });
            std::thread::sleep(Duration::from_millis(30));
            assert!(timeout.is_some() || !waiting.is_finished());
            end(&budget);
            waiting.join().unwrap()
        };
        assert_eq!(waits(Budget::resume, None), Ok(()));
        assert_eq!(waits(Budget::cancel, None), Err(BudgetError::Cancelled));
        let limit = Duration::from_millis(10);
        assert_eq!(waits(|_| (), Some(limit)), Err(BudgetError::Timeout { limit }));
    }

    #[test]
    fn who_holds_others_up_is_not_paused() {
        let budget = Budget::unlimited();
        let uninterrupted = budget.uninterrupted();
        budget.pause();
        assert_eq!(budget.check(), Ok(()));
        drop(uninterrupted);
        budget.resume();
        assert_eq!(budget.check(), Ok(()));
    }

    #[test]
    fn a_request_takes_long_that_works_and_not_one_that_waits() {
        let budget = Budget::unlimited().giving_way();
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(2));
            assert_eq!(budget.check(), Ok(()));
        }
        assert!(!budget.is_long());
        let until = Instant::now() + Duration::from_secs(20);
        while !budget.is_long() {
            assert_eq!(budget.check(), Ok(()));
            assert!(Instant::now() < until);
        }
    }
}
