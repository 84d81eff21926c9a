//! Work that is tried for a while, as there is another way to do it: on the thread that asks, where handing it over would
//! take longer than doing it, or from what is known, where deriving it anew might be as fast.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{Budget, BudgetError};
use crate::data::parallel::FEW_ROWS;

/// What was tried in turn, and in vain, is tried so many times as long the next time.
const LONGER: u32 = 8;
/// As good as for ever.
const EVER: Duration = Duration::from_secs(1 << 32);

/// What is done with a budget, as often as it is tried.
type Work<'w, T, E> = dyn FnMut(&Budget) -> Result<T, E> + 'w;

/// A try to do something.
#[derive(Debug)]
pub(super) struct Attempt {
    until: Instant,
    most_rows: usize,
    is_over: AtomicBool,
    /// So much more time may be spent on what lasts beyond the try.
    for_lasting: Duration,
    /// How much was, in nanoseconds,
    on_lasting: AtomicU64,
    /// and how many are at it.
    building: AtomicUsize,
    /// The try that this one is a part of.
    outer: Option<Arc<Attempt>>,
}

impl Attempt {
    /// This one, that of which it is a part, and so on.
    pub(super) fn all(&self) -> impl Iterator<Item = &Attempt> {
        std::iter::successors(Some(self), |attempt| attempt.outer.as_deref())
    }

    /// Whether it was ended.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// When the try is over.
    pub(super) fn until(&self) -> Instant {
        let more = match self.building.load(Ordering::Relaxed) {
            0 => self.for_lasting.min(Duration::from_nanos(self.on_lasting.load(Ordering::Relaxed))),
            _ => self.for_lasting,
        };
        self.until + more
    }

    /// Ends the try, by an error that nobody else sees.
    pub(super) fn give_up(&self) -> BudgetError {
        self.is_over.store(true, Ordering::Relaxed);
        BudgetError::Cancelled
    }
}

impl Budget {
    /// Does what is expected to take less than this time: whatever `work` returns, or nothing if it turns out not to be
    /// brief. It is for the caller to do it in another way then, from its beginning.
    pub(crate) fn briefly<T, E>(
        &self,
        time: Duration,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.attempt(time, FEW_ROWS, Duration::ZERO, work)
    }

    /// Does what may take this time at most, however many rows it reads, or nothing. What it makes that lasts, as an index does,
    /// may take longer: the next one will find it.
    pub(crate) fn within<T, E>(
        &self,
        time: Duration,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.attempt(time, usize::MAX, Budget::for_lasting(time), work)
    }

    /// The same, where what it makes that lasts counts as well.
    pub(crate) fn strictly_within<T, E>(
        &self,
        time: Duration,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.attempt(time, usize::MAX, Duration::ZERO, work)
    }

    /// The same, where what it makes that lasts may take any time.
    pub(crate) fn in_turn<T, E>(
        &self,
        time: Duration,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.attempt(time, usize::MAX, EVER, work)
    }

    /// Does one of two things that come to the same, where nobody knows beforehand which of them takes less, and one may take a
    /// thousand times as long as the other: both are tried in turn, for this time and then for longer and longer, until one of
    /// them is done. Together they take two to five times what the better one takes alone, as it is the first or the second in its
    /// turn, and eleven times at worst.
    pub(crate) fn either<T, E>(&self, mut time: Duration, ways: [&mut Work<'_, T, E>; 2]) -> Result<T, E> {
        let (mut open, mut failed) = (Vec::from(ways), None);
        loop {
            for way in std::mem::take(&mut open) {
                match self.in_turn(time, &mut *way) {
                    Some(Ok(done)) => return Ok(done),
                    // What goes wrong on one way says nothing of the other.
                    Some(Err(error)) => failed = failed.or(Some(error)),
                    None => open.push(way),
                }
            }
            if let Some(error) = failed.take_if(|_| open.is_empty()) {
                return Err(error);
            }
            time = time.saturating_mul(LONGER);
        }
    }

    /// How long what lasts may take to make, where a try may take this time.
    pub(crate) fn for_lasting(time: Duration) -> Duration {
        time.saturating_mul(3)
    }

    /// Makes something that lasts beyond a try.
    pub(crate) fn lasting<T>(&self, make: impl FnOnce() -> T) -> T {
        let Some(attempt) = &self.attempt else { return make() };
        let started = Instant::now();
        attempt.all().for_each(|attempt| _ = attempt.building.fetch_add(1, Ordering::Relaxed));
        let made = make();
        let took = started.elapsed().as_nanos() as u64;
        for attempt in attempt.all() {
            attempt.building.fetch_sub(1, Ordering::Relaxed);
            attempt.on_lasting.fetch_add(took, Ordering::Relaxed);
        }
        made
    }

    /// Does what may be done in another way where it fails: it leaves no memory in use then.
    pub(crate) fn returning<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let used = self.counter();
        let before = used.load(Ordering::Relaxed);
        let done = work();
        if done.is_err() {
            let more = used.load(Ordering::Relaxed).saturating_sub(before);
            self.release(usize::try_from(more).unwrap_or(usize::MAX));
        }
        done
    }

    fn attempt<T, E>(
        &self,
        time: Duration,
        most_rows: usize,
        for_lasting: Duration,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let now = Instant::now();
        let until = now.checked_add(time).unwrap_or(now + EVER);
        let attempt = Arc::new(Attempt {
            until,
            most_rows,
            is_over: AtomicBool::default(),
            for_lasting: for_lasting.min(EVER),
            on_lasting: AtomicU64::default(),
            building: AtomicUsize::default(),
            outer: self.attempt.clone(),
        });
        let tried = Budget { attempt: Some(Arc::clone(&attempt)), ..self.clone() };
        let done = self.returning(|| work(&tried));
        Some(done).filter(|done| done.is_ok() || !attempt.is_over.load(Ordering::Relaxed))
    }

    /// Tells that so many rows are about to be read: with many, what was tried is not brief.
    pub(crate) fn expect_rows(&self, rows: impl FnOnce() -> usize) -> Result<(), BudgetError> {
        let Some(attempt) = &self.attempt else { return Ok(()) };
        let rows = rows();
        match attempt.all().find(|attempt| rows > attempt.most_rows) {
            Some(attempt) => Err(attempt.give_up()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;
    use std::time::Duration;

    use super::{Budget, BudgetError};

    const TIME: Duration = Duration::from_millis(20);

    #[test]
    fn a_try_within_a_try_ends_with_it() {
        let budget = Budget::unlimited();
        let goes_on = |tried: &Budget| -> Result<(), BudgetError> {
            loop {
                tried.check()?;
            }
        };
        // The inner one alone; what it makes that lasts may take its time.
        let makes = |tried: &Budget| {
            tried.lasting(|| std::thread::sleep(2 * TIME));
            tried.check()
        };
        let inner = |outer: &Budget| {
            assert_eq!(outer.in_turn(TIME, goes_on), None);
            assert_eq!(outer.in_turn(TIME, makes), Some(Ok(())));
            outer.check()
        };
        assert_eq!(budget.within(100 * TIME, inner), Some(Ok(())));
        // The outer one, by its time or its rows: the inner one has nothing more to say.
        let long = |outer: &Budget| {
            assert_eq!(outer.in_turn(100 * TIME, goes_on), Some(Err(BudgetError::Cancelled)));
            outer.check()
        };
        assert_eq!(budget.briefly(TIME, long), None);
        let many = |outer: &Budget| {
            let many = |tried: &Budget| tried.expect_rows(|| 1_000_000);
            assert_eq!(outer.in_turn(TIME, many), Some(Err(BudgetError::Cancelled)));
            outer.check()
        };
        assert_eq!(budget.briefly(100 * TIME, many), None);
    }

    #[test]
    fn what_is_not_brief_is_given_up_and_leaves_no_memory_in_use() {
        let budget = Budget::unlimited();
        assert_eq!(budget.briefly(TIME, |brief| brief.expect_rows(|| 100)), Some(Ok(())));
        assert_eq!(budget.expect_rows(|| usize::MAX), Ok(()));
        let reads_many = |brief: &Budget| {
            brief.charge(1_000)?;
            brief.expect_rows(|| 1_000_000)
        };
        assert_eq!(budget.briefly(TIME, reads_many), None);
        let goes_on = |brief: &Budget| -> Result<(), BudgetError> {
            brief.charge(1_000)?;
            loop {
                brief.check()?;
            }
        };
        assert_eq!(budget.briefly(TIME, goes_on), None);
        assert_eq!(budget.within(TIME, goes_on), None);
        let makes = |brief: &Budget| -> Result<(), BudgetError> {
            brief.lasting(|| std::thread::sleep(10 * TIME));
            brief.check()
        };
        assert_eq!(budget.within(5 * TIME, makes), Some(Ok(())));
        assert_eq!(budget.within(5 * TIME, |brief| makes(brief).and_then(|()| makes(brief))), None);
        assert_eq!(budget.briefly(TIME, makes), None);
        assert_eq!(budget.within(TIME, |brief| brief.expect_rows(|| 1_000_000)), Some(Ok(())));
        assert_eq!(budget.shared.memory_used.load(Ordering::Relaxed), 0);
        budget.cancel();
        assert_eq!(budget.briefly(TIME, Budget::check), Some(Err(BudgetError::Cancelled)));
    }
}
