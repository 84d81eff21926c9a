//! Work that is tried on the thread that asks, as handing it over would take longer than doing it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{Budget, BudgetError};
use crate::data::parallel::FEW_ROWS;

/// A try to do something at once.
#[derive(Debug)]
pub(super) struct Attempt {
    pub(super) until: Instant,
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
        let attempt = Arc::new(Attempt { until: Instant::now() + time, is_over: AtomicBool::new(false) });
        let used = &self.shared.memory_used;
        let before = used.load(Ordering::Relaxed);
        let done = work(&Budget { attempt: Some(Arc::clone(&attempt)), ..self.clone() });
        if done.is_err() && attempt.is_over.load(Ordering::Relaxed) {
            let more = used.load(Ordering::Relaxed).saturating_sub(before);
            self.release(usize::try_from(more).unwrap_or(usize::MAX));
            return None;
        }
        Some(done)
    }

    /// Tells that so many rows are about to be read: with many, what was tried is not brief.
    pub(crate) fn expect_rows(&self, rows: impl FnOnce() -> usize) -> Result<(), BudgetError> {
        match &self.attempt {
            Some(attempt) if rows() > FEW_ROWS => Err(attempt.give_up()),
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
        assert_eq!(budget.shared.memory_used.load(Ordering::Relaxed), 0);
        budget.cancel();
        assert_eq!(budget.briefly(TIME, Budget::check), Some(Err(BudgetError::Cancelled)));
    }
}
