//! One named knowledge graph: readers take a snapshot, one writer at a time makes the next.

mod backup;
mod bell;
mod change;
mod checkpoint;
mod commit;
mod data_folder;
mod events;
mod graphs;
mod home;
mod indexer;
mod invisible;
mod library;
mod lineage;
mod manifest;
mod opened;
mod overlay;
mod pins;
mod record;
mod recovery;
mod session_memory;
mod snapshot;
mod store;
mod stored_memory;
mod supposed;
mod values;

use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;

use crate::diagnostic::Diagnostic;
use crate::storage::StorageError;
use checkpoint::Pace;
use commit::Commits;
use events::Listeners;
use store::GraphStore;
use stored_memory::{Share, StoredMemory};
use values::Values;

pub use backup::{
    ArchiveOptions, ArchiveState, BackupPlace, BackupSummary, StoredBackup, Until, restore, restore_on,
    restore_to,
};
pub(crate) use bell::Bell;
pub use change::{Change, ChangeSet};
pub use commit::Transaction;
pub use events::{Binding, Committed, Event, GraphId, Listener, Origin};
pub use graphs::{DEFAULT_GRAPH, Graphs, SessionState, Statistics, graph_not_found};
pub use invisible::is_invisible;
pub use library::StorageOptions;
pub use lineage::Lineage;
pub use overlay::{Overlay, SessionView};
pub use session_memory::SessionMemoryFull;
pub use snapshot::{Snapshot, State};
pub use supposed::Supposed;

/// A knowledge graph.
#[derive(Debug)]
pub struct Graph {
    id: GraphId,
    name: Arc<str>,
    /// The latest committed state.
    published: ArcSwap<Snapshot>,
    commits: Commits,
    /// Where it is stored; nowhere if it lives in memory only.
    store: Option<GraphStore>,
    /// What tells its versions from those of another history.
    lineage: Lineage,
    listeners: Listeners,
    /// What its facts take of memory,
    share: Share,
    /// and its indexes.
    index_share: Share,
    values: Values,
}

impl Graph {
    /// An empty graph that lives in memory.
    fn in_memory(name: &str, listeners: Listeners, memory: Arc<StoredMemory>) -> Graph {
        Graph::new(name, Snapshot::empty(), Lineage::default().going_on(0), None, listeners, memory)
    }

    fn new(
        name: &str,
        snapshot: Snapshot,
        lineage: Lineage,
        store: Option<GraphStore>,
        listeners: Listeners,
        memory: Arc<StoredMemory>,
    ) -> Graph {
        let snapshot = Arc::new(snapshot);
        let commits = Commits::new(Arc::clone(&snapshot));
        let (id, name) = (GraphId::new(), name.into());
        let published = ArcSwap::new(snapshot);
        let (share, index_share) = (Share::of(Arc::clone(&memory)), Share::of(memory));
        let values = Values::default();
        let graph =
            Graph { id, name, published, commits, store, lineage, listeners, share, index_share, values };
        graph.count(&graph.snapshot());
        graph
    }

    /// What tells it from every other graph, also of the same name.
    pub fn id(&self) -> GraphId {
        self.id
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What tells its versions from those of another history.
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// The latest committed state. It never changes; take it once and answer from it.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.published.load_full()
    }

    fn publish(&self, snapshot: Arc<Snapshot>) {
        self.count(&snapshot);
        self.published.store(snapshot);
    }

    fn count(&self, snapshot: &Snapshot) {
        self.share.set(snapshot.stored_bytes());
        self.count_indexes(snapshot);
    }

    fn count_indexes(&self, snapshot: &Snapshot) {
        let indexes = snapshot.catalog().indexes();
        self.index_share.set(indexes.map(|index| index.memory_bytes(snapshot.runs_of(index))).sum());
    }

    /// Whether facts may take so many bytes more, before anything is learnt of what is to be inserted.
    pub fn check_room(&self, bytes: usize) -> Result<(), Diagnostic> {
        self.share.check_more(bytes as u64)
    }

    /// Writes what is not in files yet, at once.
    pub fn checkpoint_now(&self) -> Result<(), StorageError> {
        let written = self.checkpoint(Pace::at_once());
        self.store.as_ref().map_or(Ok(()), |store| store.noting(written))
    }

    /// Tells what has become of it.
    pub fn tell(&self, origin: Option<Origin>, events: Vec<Event>) {
        self.listeners.tell(&self.committed(origin, events, self.snapshot()));
    }

    fn committed(&self, origin: Option<Origin>, events: Vec<Event>, after: Arc<Snapshot>) -> Committed {
        let is_indexed = after.catalog().indexes().next().is_some();
        Committed { graph: self.id, name: Arc::clone(&self.name), origin, events, is_indexed, after }
    }

    /// Whether its storage is free at some moment before `deadline`.
    fn is_free_by(&self, deadline: Instant) -> bool {
        self.store.as_ref().is_none_or(|store| store.journal().is_free_by(deadline))
    }

    /// Whether it takes no writes before its journal has been made anew.
    fn is_abandoned(&self) -> bool {
        self.store.as_ref().is_some_and(|store| store.journal().is_abandoned())
    }

    /// What is wrong with its storage, if anything.
    pub fn trouble(&self) -> Option<StorageError> {
        self.store.as_ref().and_then(GraphStore::current_trouble)
    }
}
