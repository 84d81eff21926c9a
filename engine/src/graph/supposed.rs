//! `Supposed`: what a graph would be.

use std::sync::Arc;

use super::change::{ChangeSet, bytes_to_apply, row_count};
use super::snapshot::Snapshot;
use crate::budget::Budget;
use crate::data::Threads;
use crate::error::Error;

/// A state of a graph with changes that nobody makes: only its maker sees it, no writer waits for it, and nothing is left of
/// it afterwards.
#[derive(Debug)]
pub struct Supposed {
    snapshot: Arc<Snapshot>,
    /// However many changes there are, they make one version.
    version: u64,
}

impl Supposed {
    /// No changes yet.
    pub fn of(snapshot: Arc<Snapshot>) -> Supposed {
        Supposed { version: snapshot.version() + 1, snapshot }
    }

    /// The state with the changes.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Applies changes in order; answers how many rows or clauses each one really changes.
    pub fn apply(
        &mut self,
        changes: &ChangeSet,
        budget: &Budget,
        threads: &Threads,
    ) -> Result<Vec<usize>, Error> {
        budget.charge(bytes_to_apply(changes)).map_err(Error::Stopped)?;
        self.snapshot.check(changes).map_err(Error::refused)?;
        let (next, counts) =
            threads.run_on(row_count(changes), || self.snapshot.apply(changes, self.version));
        self.snapshot = Arc::new(next);
        Ok(counts)
    }
}
