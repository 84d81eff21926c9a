//! `Library`: the folder of all graphs, and the system store that says which there are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Graph;
use super::backup::ArchiveOptions;
use super::bell::Bell;
use super::data_folder::{GRAPHS, SYSTEM};
use super::events::Listeners;
use super::home::Home;
use super::opened::Opened;
use super::stored_memory::StoredMemory;
use crate::storage::{
    Disk, Medium, Moment, RecordChange, StorageError, SystemChange, SystemContents, SystemStore,
};

/// Where and how an engine stores its graphs.
#[derive(Debug, Clone)]
pub struct StorageOptions {
    /// The folder. It is created if it is not there.
    pub folder: PathBuf,
    /// Bytes in a journal that make a checkpoint due.
    pub checkpoint_bytes: u64,
    /// Where everything is archived; nowhere if there is none.
    pub archive: Option<ArchiveOptions>,
    /// The files.
    pub medium: Arc<dyn Medium>,
    /// Whether a thread makes checkpoints when they are due. Without it they are made when they are asked for.
    pub background: bool,
}

impl StorageOptions {
    /// A folder on disk, with checkpoints every 64 MiB.
    pub fn new(folder: impl Into<PathBuf>) -> StorageOptions {
        let (checkpoint_bytes, medium) = (64 << 20, Arc::new(Disk));
        StorageOptions { folder: folder.into(), checkpoint_bytes, archive: None, medium, background: true }
    }
}

/// The folder of all graphs.
#[derive(Debug)]
pub(super) struct Library {
    pub(super) folder: PathBuf,
    pub(super) system: Arc<SystemStore>,
    pub(super) home: Home,
    /// When it was opened.
    pub(super) opened: Moment,
}

impl Library {
    /// Opens the folder and every graph in it. A graph that cannot be opened does not keep the others from it.
    pub(super) fn open(
        options: StorageOptions,
        bell: Bell,
        listeners: Listeners,
        memory: Arc<StoredMemory>,
    ) -> Result<(Library, BTreeMap<String, Opened>), StorageError> {
        let StorageOptions { folder, checkpoint_bytes, archive, medium, background: _ } = options;
        let io = |error| StorageError::io(&folder, error);
        medium.create_folder(&folder).map_err(io)?;
        medium.close_to_others(&folder);
        let path = folder.join(SYSTEM);
        let is_new = !medium.exists(&path).map_err(io)?;
        let stored = medium.list(&folder.join(GRAPHS)).map_err(io)?;
        let (clock, pins, archives) = (Arc::default(), Arc::default(), archive.is_some());
        let history = archives.then(|| Arc::clone(&clock));
        let system = Arc::new(SystemStore::open(Arc::clone(&medium), &path, history)?);
        let SystemContents { graphs: listed, leftovers, .. } = system.contents();
        if listed.is_empty() && !stored.is_empty() && leftovers.is_empty() {
            let what = if is_new { "it is missing" } else { "it lists no knowledge graph" };
            let message = format!("{what}, but there are graphs in {}", folder.join(GRAPHS).display());
            return Err(StorageError::unreadable(&path, message));
        }
        let home = Home {
            medium,
            system: Arc::clone(&system),
            checkpoint_bytes,
            bell,
            listeners,
            memory,
            clock,
            pins,
            archives,
        };
        let opened = home.clock.next();
        let library = Library { folder, system, home, opened };
        library.remove_leftovers();
        let known: BTreeSet<&String> = listed.values().collect();
        for stray in library.home.medium.list(&library.folder.join(GRAPHS)).map_err(io_at(&library.folder))? {
            if !known.contains(&stray) {
                let path = library.folder.join(GRAPHS).join(stray);
                tracing::warn!("{} belongs to no knowledge graph; it is left alone", path.display());
            }
        }
        let open = |(name, folder): (String, String)| {
            let opened = library.home.open(&name, library.folder.join(GRAPHS).join(folder));
            if let Err(error) = &opened {
                tracing::error!("knowledge graph {name} is not served: {error}");
            }
            (name, opened.map(Arc::new))
        };
        let graphs = listed.into_iter().map(open).collect();
        Ok((library, graphs))
    }

    /// The store beside the graphs.
    pub(super) fn system(&self) -> &Arc<SystemStore> {
        &self.system
    }

    /// Makes a graph; it is there for good when this returns, and what the server keeps of it with it.
    pub(super) fn create(&self, name: &str, records: &[RecordChange]) -> Result<Graph, StorageError> {
        let folder = self.new_folder(name)?;
        // If anything fails from here on, the next start removes the folder.
        self.system.change(&[SystemChange::AddLeftover(folder.clone())])?;
        let graph = self.home.create(name, self.folder.join(GRAPHS).join(&folder))?;
        let leftover = SystemChange::RemoveLeftover(folder.clone());
        let added = SystemChange::AddGraph { name: name.to_owned(), folder };
        self.change(vec![leftover, added], records)?;
        Ok(graph)
    }

    /// Forgets a graph, and what the server keeps of it, and then frees its disk. Answers the folder that it had.
    pub(super) fn remove(
        &self,
        name: &str,
        graph: &Opened,
        records: &[RecordChange],
    ) -> Result<Option<String>, StorageError> {
        let Some(folder) = self.system.contents().graphs.remove(name) else { return Ok(None) };
        // No checkpoint writes into a folder that is being removed.
        let store = graph.as_ref().ok().and_then(|graph| graph.store.as_ref());
        let _waiting = store.map(|store| store.checkpointing.lock());
        let removed = SystemChange::RemoveGraph(name.to_owned());
        self.change(vec![removed, SystemChange::AddLeftover(folder.clone())], records)?;
        self.remove_leftovers();
        Ok(Some(folder))
    }

    fn change(&self, mut changes: Vec<SystemChange>, records: &[RecordChange]) -> Result<(), StorageError> {
        changes.extend(records.iter().cloned().map(SystemChange::Record));
        self.system.change(&changes)
    }

    /// Removes folders that belong to no graph. One that cannot be removed is tried again at the next start.
    fn remove_leftovers(&self) {
        // An archive wants to read them first.
        if !self.home.archives {
            self.remove_folders(&self.system.contents().leftovers);
        }
    }

    /// Removes those of some leftovers that certainly belong to no graph.
    pub(super) fn remove_folders(&self, leftovers: &BTreeSet<String>) {
        let switching = self.home.pins.switch();
        if !switching.may_remove() {
            // A backup copies one of them, perhaps.
            return;
        }
        let graphs = self.system.contents().graphs;
        let used: BTreeSet<&String> = graphs.values().collect();
        let remove = |folder: &String| -> Result<(), StorageError> {
            self.system.settle()?;
            let path = self.folder.join(GRAPHS).join(folder);
            self.home.medium.remove_folder(&path).map_err(io_at(&path))?;
            self.system.change(&[SystemChange::RemoveLeftover(folder.clone())])
        };
        if let Err(error) = leftovers.iter().filter(|folder| !used.contains(folder)).try_for_each(remove) {
            tracing::warn!("cannot remove what a dropped knowledge graph left: {error}");
        }
    }

    /// A folder name that is not in use: part of the graph's name for people, and a number.
    fn new_folder(&self, name: &str) -> Result<String, StorageError> {
        let path = self.folder.join(GRAPHS);
        let mut used: BTreeSet<String> =
            self.home.medium.list(&path).map_err(io_at(&path))?.into_iter().collect();
        let SystemContents { graphs, leftovers, .. } = self.system.contents();
        used.extend(leftovers.into_iter().chain(graphs.into_values()));
        let number = |folder: &String| folder.rsplit_once('-').and_then(|(_, n)| n.parse::<u64>().ok());
        let next = match self.home.archives {
            // In an archive, a folder is the name of one graph for ever.
            true => self.home.clock.next().0,
            false => used.iter().filter_map(number).max().unwrap_or(0) + 1,
        };
        let readable: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(40).collect();
        Ok(format!("{readable}-{next}"))
    }
}

fn io_at(path: &Path) -> impl Fn(std::io::Error) -> StorageError {
    move |error| StorageError::io(path, error)
}
