//! Work that is tried for a while, as there is another way to do it: on the thread that asks, where handing it over would
//! take longer than doing it, or from what is known, where deriving it anew might be as fast.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Budget, BudgetError};
use crate::data::parallel::FEW_ROWS;

/// A try to do something.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) until: Instant,
    most_rows: usize,
    is_over: AtomicBool,
}

impl Attempt {
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
        self.attempt(time, FEW_ROWS, work)
    }

    /// Does what may take this time at most, however many rows it reads, or nothing.
    pub(crate) fn within<T, E>(
        &self,
        time: Duration,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        self.attempt(time, usize::MAX, work)
    }

    fn attempt<T, E>(
        &self,
        time: Duration,
        most_rows: usize,
        work: impl FnOnce(&Budget) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let now = Instant::now();
        // As good as for ever where that is beyond all time.
        let until = now.checked_add(time).unwrap_or(now + Duration::from_secs(1 << 32));
        let is_over = AtomicBool::new(false);
        let attempt = Arc::new(Attempt { until, most_rows, is_over });
        let used = &self.shared.memory_used;
        let before = used.load(Ordering::Relaxed);
        let done = work(&Budget { attempt: Some(Arc::clone(&attempt)), ..self.clone() });
        if done.is_err() {
            let more = used.load(Ordering::Relaxed).saturating_sub(before);
            self.release(usize::try_from(more).unwrap_or(usize::MAX));
        }
        Some(done).filter(|done| done.is_ok() || !attempt.is_over.load(Ordering::Relaxed))
    }

    /// Tells that so many rows are about to be read: with many, what was tried is not brief.
    pub(crate) fn expect_rows(&self, rows: impl FnOnce() -> usize) -> Result<(), BudgetError> {
        match &self.attempt {
            Some(attempt) if rows() > attempt.most_rows => Err(attempt.give_up()),
            Some(_) | None => Ok(()),
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
        assert_eq!(budget.within(TIME, |brief| brief.expect_rows(|| 1_000_000)), Some(Ok(())));
        assert_eq!(budget.shared.memory_used.load(Ordering::Relaxed), 0);
        budget.cancel();
        assert_eq!(budget.briefly(TIME, Budget::check), Some(Err(BudgetError::Cancelled)));
    }
}
