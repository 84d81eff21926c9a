//! `Graphs`: the knowledge graphs by name. `SessionState`: what a connection is bound to.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Mutex, RwLock};

use super::backup::{Archive, ArchiveState, BackupPlace, BackupSummary, Pinned, StoredBackup};
use super::bell::Bell;
use super::events::Listeners;
use super::indexer::Indexer;
use super::invisible::is_invisible;
use super::library::{Library, StorageOptions};
use super::opened::{ByName, Opened};
use super::session_memory::{SessionMemory, SessionMemoryFull};
use super::stored_memory::StoredMemory;
use super::{Binding, Graph, Listener, Overlay};
use crate::budget::MemoryPool;
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::storage::{Files, RecordChange, StorageError, SystemChange, SystemStore};

/// The graph that always exists.
pub const DEFAULT_GRAPH: &str = "default";

/// All graphs.
#[derive(Debug)]
pub struct Graphs {
    by_name: Arc<ByName>,
    /// Where they are stored; nowhere if they live in memory only.
    library: Option<Library>,
    /// What keeps a copy of all that is stored, if anything does.
    archive: Option<Archive>,
    /// Held by whoever creates or removes a graph.
    changing: Mutex<()>,
    listeners: Listeners,
    indexer: Indexer,
    /// Wakes the thread that makes checkpoints, if there is one.
    bell: Bell,
    memory: Arc<StoredMemory>,
    _checkpoints: Option<Checkpoints>,
}

/// The thread that makes checkpoints.
#[derive(Debug)]
struct Checkpoints {
    bell: Bell,
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    fn start(bell: Bell, graphs: Arc<ByName>, system: Arc<SystemStore>) -> io::Result<Checkpoints> {
        let listening = bell.clone();
        let thread = std::thread::Builder::new().name("checkpoints".to_owned()).spawn(move || {
            while listening.wait() {
                let open: Vec<Arc<Graph>> = graphs.read().values().flatten().cloned().collect();
                let mut has_failed = system.settle().is_err();
                for graph in open {
                    has_failed |= !graph.checkpoint_if_due() | !graph.collect_if_due();
                }
                if has_failed {
                    // The disk is full, perhaps: another attempt later, and the journal keeps everything.
                    listening.pause(RETRY);
                    listening.ring();
                }
            }
        })?;
        Ok(Checkpoints { bell, thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        self.bell.end();
        if let Some(thread) = self.thread.take() {
            // A checkpoint that panicked has said so, and lost nothing.
            let _ = thread.join();
        }
    }
}

/// How long after a failed checkpoint the next is tried.
const RETRY: Duration = Duration::from_secs(5);

/// A session's graph, and what the session has laid over it.
#[derive(Debug)]
pub struct SessionState {
    /// The graph it is bound to.
    pub graph: Arc<Graph>,
    /// Its own facts and rules.
    pub overlay: Overlay,
    held: SessionMemory,
    binding: Binding,
}

impl SessionState {
    /// A session without facts and rules of its own.
    pub fn new(graph: Arc<Graph>) -> SessionState {
        let binding = Binding::new(Arc::clone(&graph));
        SessionState { graph, overlay: Overlay::default(), held: SessionMemory::default(), binding }
    }

    /// From now on its facts and rules take memory of this.
    pub fn hold(&mut self, pool: MemoryPool) {
        self.held = SessionMemory::of(pool);
    }

    /// Replaces its facts and rules, unless there is no memory for them.
    pub fn keep(&mut self, overlay: Overlay) -> Result<(), SessionMemoryFull> {
        self.held.keep(&overlay, self.graph.snapshot().dictionary())?;
        let before = std::mem::replace(&mut self.overlay, overlay);
        if before.fact_count() > self.overlay.fact_count() {
            self.graph.leave_values_of(&before);
        }
        Ok(())
    }

    /// Has other facts and rules from now on, some of those that it had.
    pub fn keep_only(&mut self, overlay: Overlay) {
        self.graph.use_values_of(&overlay);
        self.overlay = overlay;
    }

    /// Tells at any time which graph it is bound to.
    pub fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Binds the session to another graph; its own facts and rules are gone.
    pub fn bind(&mut self, graph: Arc<Graph>) {
        self.binding.set(Arc::clone(&graph));
        self.graph.leave_values_of(&std::mem::take(&mut self.overlay));
        self.graph = graph;
        self.held.clear();
    }
}

impl Drop for SessionState {
    fn drop(&mut self) {
        self.graph.leave_values_of(&std::mem::take(&mut self.overlay));
    }
}

/// What an engine holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of graphs.
    pub knowledge_graphs: usize,
    /// Those of them that take no writes because a sync failed.
    pub unwritable: usize,
    /// Stored relations of all graphs.
    pub relations: usize,
    /// Derived relations of all graphs.
    pub views: usize,
    /// Stored rows of all graphs.
    pub tuples: usize,
    /// An estimate of the bytes they take.
    pub memory_bytes: usize,
    /// Bytes of the facts of all graphs, whichever count: what their limit is about.
    pub stored_bytes: u64,
    /// The most that these may be.
    pub stored_limit: Option<u64>,
    /// How the archive of all graphs does, where there is one.
    pub archive: Option<ArchiveState>,
}

impl Graphs {
    /// Graphs that live in memory, whose facts may take so many bytes.
    pub fn in_memory(stored_bytes: u64) -> Graphs {
        let (listeners, memory) = (Listeners::default(), StoredMemory::new(stored_bytes));
        let default = Arc::new(Graph::in_memory(DEFAULT_GRAPH, listeners.clone(), Arc::clone(&memory)));
        let by_name: Arc<ByName> = Arc::new(RwLock::new([(DEFAULT_GRAPH.to_owned(), Ok(default))].into()));
        let indexer = Indexer::start(Arc::clone(&by_name));
        listeners.add(indexer.waker());
        let (library, archive, changing, bell) = (None, None, Mutex::new(()), Bell::default());
        Graphs { by_name, library, archive, changing, listeners, indexer, bell, memory, _checkpoints: None }
    }

    /// The graphs in a folder, whose facts may take so many bytes of memory; `default` is made if it is not there.
    pub fn open(options: StorageOptions, stored_bytes: u64) -> Result<Graphs, StorageError> {
        let (folder, background, archive) =
            (options.folder.clone(), options.background, options.archive.clone());
        let (bell, listeners) = (Bell::default(), Listeners::default());
        let memory = StoredMemory::new(stored_bytes);
        let (library, mut opened) =
            Library::open(options, bell.clone(), listeners.clone(), Arc::clone(&memory))?;
        let archive = archive.map(|options| Archive::new(options, library.opened));
        if !opened.contains_key(DEFAULT_GRAPH) {
            opened.insert(DEFAULT_GRAPH.to_owned(), Ok(Arc::new(library.create(DEFAULT_GRAPH, &[])?)));
        }
        let by_name = Arc::new(RwLock::new(opened));
        let start = || Checkpoints::start(bell.clone(), Arc::clone(&by_name), Arc::clone(library.system()));
        let _checkpoints =
            background.then(start).transpose().map_err(|error| StorageError::io(&folder, error))?;
        // A journal may have been long when the last server ended.
        bell.ring();
        let indexer = Indexer::start(Arc::clone(&by_name));
        listeners.add(indexer.waker());
        // What was built is made anew at each start.
        indexer.wake();
        let changing = Mutex::new(());
        let library = Some(library);
        Ok(Graphs { by_name, library, archive, changing, listeners, indexer, bell, memory, _checkpoints })
    }

    /// Wakes the thread that builds indexes.
    pub fn wake_indexer(&self) {
        self.indexer.wake();
    }

    /// Tells somebody of every commit from now on.
    pub fn listen(&self, listener: Arc<dyn Listener>) {
        self.listeners.add(listener);
    }

    /// What the server keeps beside the graphs; nothing where graphs live in memory.
    pub fn records(&self) -> BTreeMap<String, Vec<u8>> {
        self.library.as_ref().map_or_else(BTreeMap::new, |library| library.system().contents().records)
    }

    /// Sets such records, or removes them: all of them durably, or none.
    pub fn set_records(&self, records: &[RecordChange]) -> Result<(), Error> {
        let Some(library) = &self.library else { return Ok(()) };
        let changes: Vec<_> = records.iter().cloned().map(SystemChange::Record).collect();
        Ok(library.system().change(&changes).inspect_err(|_| self.bell.ring())?)
    }

    /// Copies everything to a folder that is not there yet, where the data is. Writes go on meanwhile.
    pub fn back_up(&self, folder: &Path) -> Result<BackupSummary, Error> {
        let Some(library) = &self.library else { return Err(in_memory()) };
        let files: Arc<dyn Files> = Arc::clone(&library.home.medium) as _;
        self.back_up_to(&BackupPlace { files, folder: folder.to_owned() })
    }

    /// The same, anywhere.
    pub fn back_up_to(&self, target: &BackupPlace) -> Result<BackupSummary, Error> {
        let Some(library) = &self.library else { return Err(in_memory()) };
        Ok(library.back_up(&self.pin(library)?, target)?)
    }

    /// The folder of all graphs, and its archive; none where there is no archive.
    fn archive(&self) -> Option<(&Library, &Archive)> {
        self.library.as_ref().zip(self.archive.as_ref())
    }

    /// Archives what is new, and makes a backup if it is time.
    pub fn tend_archive(&self) -> Result<(), Error> {
        let Some((library, archive)) = self.archive() else { return Ok(()) };
        let graphs = self.by_name.read().clone();
        Ok(archive.tend(library, &graphs, || self.pin(library))?)
    }

    /// Makes a backup in the folder of the archive; `None` where there is no archive.
    pub fn back_up_now(&self) -> Result<Option<StoredBackup>, Error> {
        let Some((library, archive)) = self.archive() else { return Ok(None) };
        Ok(Some(archive.back_up(library, || self.pin(library))?))
    }

    /// The backups in the folder of the archive; `None` where there is no archive.
    pub fn backups(&self) -> Result<Option<Vec<StoredBackup>>, Error> {
        let Some((_, archive)) = self.archive() else { return Ok(None) };
        Ok(Some(archive.backups()?))
    }

    /// Adds a backup to a folder of backups, which is made if it is not there.
    pub fn add_backup(&self, place: &BackupPlace) -> Result<StoredBackup, Error> {
        let Some(library) = &self.library else { return Err(in_memory()) };
        Ok(library.add_backup(&self.pin(library)?, place)?)
    }

    /// Everything as it is now, while no graph is being made or dropped.
    fn pin<'l>(&self, library: &'l Library) -> Result<Pinned<'l>, StorageError> {
        let _nobody_changes = self.changing.lock();
        let graphs = self.by_name.read().clone();
        graphs.values().flatten().try_for_each(|graph| graph.mend())?;
        library.pin(&graphs)
    }

    /// The graphs whose storage has failed, and how; `*` stands for all, where it is the list of them.
    pub fn troubles(&self) -> Vec<(String, StorageError)> {
        let graphs = self.by_name.read();
        let trouble = |(name, opened): (&String, &Opened)| match opened {
            Ok(graph) => graph.trouble().map(|error| (name.clone(), error)),
            Err(error) => Some((name.clone(), error.clone())),
        };
        let system = self.library.as_ref().and_then(|library| library.system().doubt());
        let system = system.map(|error| ("*".to_owned(), error));
        system.into_iter().chain(graphs.iter().filter_map(trouble)).collect()
    }

    /// The graphs whose journal is abandoned; `*` stands for all, which wait for the list of them.
    pub fn unwritable(&self) -> Vec<String> {
        let all = self.library.as_ref().is_some_and(|library| library.system().doubt().is_some());
        let graphs = self.by_name.read();
        let stopped = graphs.values().flatten().filter(|graph| graph.is_abandoned());
        all.then(|| "*".to_owned()).into_iter().chain(stopped.map(|graph| graph.name().to_owned())).collect()
    }

    /// Whether some graph's storage was busy all the time until now plus `patience`: the disk hangs, or is too slow.
    pub fn is_contended(&self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        let open: Vec<Arc<Graph>> = self.by_name.read().values().flatten().cloned().collect();
        !open.iter().all(|graph| graph.is_free_by(deadline))
    }

    /// Makes a checkpoint of every graph that is served, so that the next start has no journal to read.
    pub fn checkpoint(&self) -> Result<(), Error> {
        let open: Vec<Arc<Graph>> = self.by_name.read().values().flatten().cloned().collect();
        let mut outcome = Ok(());
        for graph in open {
            // One that fails keeps its journal, and keeps none of the others from theirs.
            if let Err(error) = graph.checkpoint_now() {
                outcome = Err(error.into());
            }
        }
        outcome
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.by_name.read().keys().cloned().collect()
    }

    /// A graph by its name.
    pub fn get(&self, name: &str) -> Result<Arc<Graph>, Error> {
        match self.by_name.read().get(name) {
            Some(Ok(graph)) => Ok(Arc::clone(graph)),
            Some(Err(error)) => {
                let mut diagnostic = error.diagnose();
                diagnostic.message = format!("knowledge graph {name} is not served: {error}");
                Err(Error::refused(diagnostic))
            }
            None => Err(Error::refused(graph_not_found(name))),
        }
    }

    /// Whether there is a graph of this name, served or damaged.
    pub fn contains(&self, name: &str) -> bool {
        self.by_name.read().contains_key(name)
    }

    /// Whether this very graph is still there, and not another one under its name.
    pub fn holds(&self, graph: &Arc<Graph>) -> bool {
        self.by_name
            .read()
            .get(graph.name())
            .and_then(|opened| opened.as_ref().ok())
            .is_some_and(|found| Arc::ptr_eq(found, graph))
    }

    /// Creates a graph, if there are fewer than `limit` (0: no limit), and changes records with it: both durably, or
    /// neither.
    pub fn create(
        &self,
        name: &str,
        limit: usize,
        records: &[RecordChange],
    ) -> Result<Arc<Graph>, Diagnostic> {
        if !is_graph_name(name) {
            let message = format!("`{}` is not the name of a knowledge graph", name.escape_debug());
            let help = match name.chars().any(is_invisible) {
                true => "leave out what cannot be seen: invisible and directional characters",
                false => "use at most 128 bytes, without `/`, `\\`, `..` and control characters",
            };
            return Err(Diagnostic::error(Code::ParseError, message).help(help));
        }
        let _only_one = self.changing.lock();
        let (exists, count) = {
            let graphs = self.by_name.read();
            (graphs.contains_key(name), graphs.len())
        };
        if exists {
            return Err(Diagnostic::error(
                Code::AlreadyExists,
                format!("a knowledge graph {name} exists already"),
            )
            .help(format!("switch to it: .kg use {name}")));
        }
        if limit > 0 && count >= limit {
            return Err(Diagnostic::error(
                Code::LimitExceeded,
                format!("there are {limit} knowledge graphs already"),
            )
            .help("drop one, or raise storage.max_knowledge_graphs")
            .limit("max_knowledge_graphs", limit as u64));
        }
        let graph = match &self.library {
            Some(library) => {
                let created = library.create(name, records).inspect_err(|_| self.bell.ring());
                created.map_err(|error| error.diagnose())?
            }
            None => Graph::in_memory(name, self.listeners.clone(), Arc::clone(&self.memory)),
        };
        let graph = Arc::new(graph);
        self.by_name.write().insert(name.to_owned(), Ok(Arc::clone(&graph)));
        Ok(graph)
    }

    /// Removes a graph, and changes records with it: both durably, or neither. Those who still hold the graph see it as
    /// it was.
    pub fn remove(&self, name: &str, records: &[RecordChange]) -> Result<(), Error> {
        let _only_one = self.changing.lock();
        let opened = self.by_name.read().get(name).cloned();
        let Some(opened) = opened else { return Err(Error::refused(graph_not_found(name))) };
        if let Some(library) = &self.library {
            let folder = library.remove(name, &opened, records).inspect_err(|_| self.bell.ring())?;
            if let Some((archive, folder)) = self.archive.as_ref().zip(folder) {
                archive.dropped(folder, &opened);
            }
        }
        self.by_name.write().remove(name);
        Ok(())
    }

    /// What is stored in the graphs that count.
    pub fn statistics(&self, counts: impl Fn(&str) -> bool) -> Statistics {
        let mut graphs: Vec<Arc<Graph>> = self.by_name.read().values().flatten().cloned().collect();
        graphs.retain(|graph| counts(graph.name()));
        let all_wait = self.library.as_ref().is_some_and(|library| library.system().doubt().is_some());
        let unwritable = graphs.iter().filter(|graph| all_wait || graph.is_abandoned()).count();
        let mut statistics = Statistics {
            knowledge_graphs: graphs.len(),
            unwritable,
            stored_bytes: self.memory.used(),
            stored_limit: self.memory.limit(),
            archive: self.archive().map(|(library, archive)| archive.describe(library.home.clock.next())),
            ..Statistics::default()
        };
        for graph in graphs {
            let snapshot = graph.snapshot();
            statistics.memory_bytes += snapshot.dictionary().memory_bytes();
            statistics.views += snapshot.catalog().derived().count();
            for (_, relation) in snapshot.relations() {
                statistics.relations += 1;
                statistics.tuples += relation.len();
                statistics.memory_bytes += relation.memory_bytes();
            }
        }
        statistics
    }
}

fn in_memory() -> Error {
    let message = "this engine keeps its knowledge graphs in memory";
    Error::refused(Diagnostic::error(Code::StorageUnavailable, message))
}

fn is_graph_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name != "."
        && !name.contains("..")
        && !name.contains(['/', '\\'])
        && !name.chars().any(|c| c.is_control() || is_invisible(c))
}

/// There is no such graph, or none that the caller may know of: both are answered so.
pub fn graph_not_found(name: &str) -> Diagnostic {
    Diagnostic::error(Code::NotFound, format!("knowledge graph {} not found", name.escape_debug()))
        .help("list those there are: .kg list")
}

#[cfg(test)]
mod tests {
    use super::{Graphs, StorageOptions, is_graph_name};

    #[test]
    fn names_that_look_alike_are_alike() {
        let hidden = [
            '\u{ad}',
            '\u{a0}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{202a}',
            '\u{202e}',
            '\u{2028}',
            '\u{2029}',
            '\u{2060}',
            '\u{2066}',
            '\u{2069}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{fff9}',
            '\u{1d173}',
            '\u{e0041}',
            '\u{e0100}',
        ];
        for c in hidden {
            assert!(!is_graph_name(&format!("la{c}b")), "{}", c.escape_unicode());
        }
        for name in ["größe", "データ", "مخطط", "a-b", "naïve", "е\u{301}", "🗺"] {
            assert!(is_graph_name(name), "{name}");
        }
    }

    #[test]
    fn a_graph_whose_name_would_be_refused_now_is_opened_and_dropped() {
        let folder = tempfile::TempDir::new().unwrap();
        let name = "la\u{200b}b";
        let graphs = Graphs::open(StorageOptions::new(folder.path()), u64::MAX).unwrap();
        graphs.library.as_ref().unwrap().create(name, &[]).unwrap();
        drop(graphs);
        let graphs = Graphs::open(StorageOptions::new(folder.path()), u64::MAX).unwrap();
        assert_eq!(graphs.get(name).unwrap().name(), name);
        assert!(graphs.create(name, 0, &[]).is_err());
        graphs.remove(name, &[]).unwrap();
        assert!(!graphs.contains(name));
    }

    #[test]
    fn names_of_graphs_are_no_paths() {
        let long = "a".repeat(128);
        for name in ["lab", "Grüße", ".hidden", "a.b", "-", &long] {
            assert!(is_graph_name(name), "{name}");
        }
        let too_long = "a".repeat(129);
        for name in ["", ".", "..", "a/b", "/", "a\\b", "../a", "a..b", "a\0b", "a\nb", &too_long] {
            assert!(!is_graph_name(name), "{name}");
        }
    }
}
