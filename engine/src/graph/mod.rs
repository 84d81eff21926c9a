//! One named knowledge graph: readers take a snapshot, one writer at a time makes the next.

mod change;
mod graphs;
mod overlay;
mod snapshot;

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::{Mutex, MutexGuard};

use crate::budget::{Budget, BudgetError};
use crate::data::{Dictionary, Threads};

pub use change::{Change, ChangeSet};
pub use graphs::{DEFAULT_GRAPH, Graphs, SessionState, Statistics, graph_not_found};
pub use overlay::{Overlay, SessionView};
pub use snapshot::Snapshot;

/// A knowledge graph.
#[derive(Debug)]
pub struct Graph {
    name: String,
    dictionary: Arc<Dictionary>,
    snapshot: ArcSwap<Snapshot>,
    writer: Mutex<()>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: String) -> Graph {
        Graph {
            name,
            dictionary: Arc::new(Dictionary::shared()),
            snapshot: ArcSwap::from_pointee(Snapshot::default()),
            writer: Mutex::new(()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The values it has seen, by code.
    pub fn dictionary(&self) -> &Arc<Dictionary> {
        &self.dictionary
    }

    /// The latest committed state. It never changes; take it once and answer from it.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// Begins a transaction; waits for the one before it, as long as the budget allows.
    pub fn begin(&self, budget: &Budget) -> Result<Transaction<'_>, BudgetError> {
        let writer = loop {
            if let Some(writer) = self.writer.try_lock_for(Duration::from_millis(20)) {
                break writer;
            }
            budget.check()?;
        };
        Ok(Transaction { graph: self, _writer: writer, snapshot: self.snapshot() })
    }
}

/// Changes on their way: seen by their maker only, until committed. Dropping it leaves no trace.
#[derive(Debug)]
pub struct Transaction<'g> {
    graph: &'g Graph,
    _writer: MutexGuard<'g, ()>,
    snapshot: Arc<Snapshot>,
}

impl Transaction<'_> {
    /// The state with this transaction's changes.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Applies changes in order; answers how many rows or clauses each one really changed.
    pub fn apply(&mut self, changes: &ChangeSet, threads: &Threads) -> Vec<usize> {
        let snapshot = &self.snapshot;
        let (next, counts) = threads.run(|| snapshot.apply(changes));
        self.snapshot = Arc::new(next);
        counts
    }

    /// Rewrites what is stored without deleted rows, in one run a relation.
    pub fn compact(&mut self, threads: &Threads) {
        let snapshot = &self.snapshot;
        self.snapshot = Arc::new(threads.run(|| snapshot.compacted()));
    }

    /// Makes the changes visible to everyone, at once.
    pub fn commit(self) {
        self.graph.snapshot.store(self.snapshot);
    }
}
