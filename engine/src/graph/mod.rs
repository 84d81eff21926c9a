//! One named knowledge graph: readers take a snapshot, one writer at a time makes the next.

mod backup;
mod change;
mod checkpoint;
mod commit;
mod graphs;
mod library;
mod manifest;
mod overlay;
mod record;
mod recovery;
mod snapshot;
mod store;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;

use crate::data::Dictionary;
use crate::storage::StorageError;
use checkpoint::Pace;
use commit::Commits;
use store::GraphStore;

pub use backup::{BackupSummary, restore, restore_on};
pub use change::{Change, ChangeSet};
pub use commit::Transaction;
pub use graphs::{DEFAULT_GRAPH, Graphs, SessionState, Statistics, graph_not_found};
pub use library::StorageOptions;
pub use overlay::{Overlay, SessionView};
pub use snapshot::Snapshot;

/// A knowledge graph.
#[derive(Debug)]
pub struct Graph {
    name: String,
    dictionary: Arc<Dictionary>,
    /// The latest committed state.
    published: ArcSwap<Snapshot>,
    commits: Commits,
    /// Where it is stored; nowhere if it lives in memory only.
    store: Option<GraphStore>,
}

impl Graph {
    /// An empty graph that lives in memory.
    pub fn in_memory(name: String) -> Graph {
        Graph::new(name, Arc::new(Dictionary::shared()), Snapshot::default(), None)
    }

    fn stored(name: String, dictionary: Arc<Dictionary>, snapshot: Snapshot, store: GraphStore) -> Graph {
        Graph::new(name, dictionary, snapshot, Some(store))
    }

    fn new(
        name: String,
        dictionary: Arc<Dictionary>,
        snapshot: Snapshot,
        store: Option<GraphStore>,
    ) -> Graph {
        let snapshot = Arc::new(snapshot);
        let commits = Commits::new(Arc::clone(&snapshot));
        Graph { name, dictionary, published: ArcSwap::new(snapshot), commits, store }
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
        self.published.load_full()
    }

    fn publish(&self, snapshot: Arc<Snapshot>) {
        self.published.store(snapshot);
    }

    /// Writes what is not in files yet, at once.
    pub fn checkpoint_now(&self) -> Result<(), StorageError> {
        self.checkpoint(Pace::at_once())
    }

    /// Whether its storage is free at some moment before `deadline`.
    fn is_free_by(&self, deadline: Instant) -> bool {
        self.store.as_ref().is_none_or(|store| store.journal().is_free_by(deadline))
    }

    /// What is wrong with its storage, if anything.
    pub fn trouble(&self) -> Option<StorageError> {
        self.store.as_ref().and_then(GraphStore::current_trouble)
    }
}
