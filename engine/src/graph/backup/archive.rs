//! The archive: what is stored between two backups, copied as it is stored.
//!
//! Commits know nothing of it. Whoever looks after the archive takes a moment now and then, as a backup does, and copies
//! what journals and system store have had since the last one, as one segment. Until then no checkpoint forgets a
//! record, and the folder of a dropped graph stays. The data folder knows how far its archive goes; a folder that was
//! restored knows of none, and begins a *line* of its own with a backup. So does one of which a commit was lost to the
//! archive: a journal that failed could not be read any more.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;

use super::super::library::{GRAPHS, Library, Opened};
use super::super::store::JOURNAL;
use super::super::{Graph, record};
use super::moment::Pinned;
use super::repository::{ARCHIVE, Repository, StoredBackup};
use super::segment::{self, GraphPart, Header, RecordPart};
use super::write_file;
use crate::storage::{Journal, Moment, StorageError, StoredRecord};

/// Where backups are kept and how often they are made.
#[derive(Debug, Clone)]
pub struct ArchiveOptions {
    /// The folder of backups. It is made if it is not there.
    pub folder: PathBuf,
    /// The time from one backup to the next.
    pub interval: Duration,
    /// How many are kept.
    pub keep: usize,
}

/// How far an archive goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(in super::super) struct Position {
    /// The moment of its first backup.
    line: Moment,
    /// Everything until this moment is in it.
    until: Moment,
}

impl Position {
    fn text(self) -> Vec<u8> {
        serde_json::json!(self).to_string().into_bytes()
    }
}

/// The archive of a data folder.
#[derive(Debug)]
pub(in super::super) struct Archive {
    options: ArchiveOptions,
    state: Mutex<State>,
    /// Graphs that were dropped, with their folders: their last records are not archived yet.
    dropped: Mutex<Vec<(String, Arc<Graph>)>>,
}

#[derive(Debug, Default)]
struct State {
    /// None until it is known where to go on.
    position: Option<Position>,
    /// The latest backup.
    backed_up: Moment,
    /// Folders of dropped graphs whose last records are archived, and which are perhaps not removed yet.
    finished: BTreeSet<String>,
}

impl Archive {
    pub(in super::super) fn new(options: ArchiveOptions) -> Archive {
        Archive { options, state: Mutex::default(), dropped: Mutex::default() }
    }

    /// A graph was dropped: it is held until its last records are archived.
    pub(in super::super) fn dropped(&self, folder: String, graph: &Opened) {
        if let Ok(graph) = graph {
            self.dropped.lock().push((folder, Arc::clone(graph)));
        }
    }

    /// The backups that there are.
    pub(in super::super) fn backups(&self, library: &Library) -> Result<Vec<StoredBackup>, StorageError> {
        let medium = Arc::clone(&library.home.medium);
        match Repository::is_one(medium.as_ref(), &self.options.folder)? {
            true => Repository::open(medium, &self.options.folder)?.backups(),
            false => Ok(Vec::new()),
        }
    }

    /// Makes a backup now.
    pub(in super::super) fn back_up<'l>(
        &self,
        library: &'l Library,
        pin: impl Fn() -> Result<Pinned<'l>, StorageError>,
    ) -> Result<StoredBackup, StorageError> {
        let mut state = self.state.lock();
        let repository = self.repository(library)?;
        self.go_on(&mut state, library, &repository, &pin)?;
        self.add(&mut state, &repository, &pin()?)
    }

    /// Archives what is new, and makes a backup if it is time.
    pub(in super::super) fn tend<'l>(
        &self,
        library: &'l Library,
        graphs: &BTreeMap<String, Opened>,
        pin: impl Fn() -> Result<Pinned<'l>, StorageError>,
    ) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        let is_quiet = graphs.values().flatten().all(|graph| is_archived(graph))
            && !library.system.has_history()
            && self.dropped.lock().is_empty();
        if is_quiet
            && state.position.is_some()
            && state.position == written(library)
            && !self.is_due(&state, library)
        {
            return Ok(());
        }
        let repository = self.repository(library)?;
        let position = self.go_on(&mut state, library, &repository, &pin)?;
        if !is_quiet {
            let position = self.archive(&mut state, position, library, &repository, pin()?)?;
            state.position = Some(position);
        }
        // The archive may have begun with one just now.
        if self.is_due(&state, library) {
            self.add(&mut state, &repository, &pin()?)?;
        }
        Ok(())
    }

    /// Whether the latest backup is old enough.
    fn is_due(&self, state: &State, library: &Library) -> bool {
        let interval = u64::try_from(self.options.interval.as_micros()).unwrap_or(u64::MAX);
        state.backed_up.0.saturating_add(interval) <= library.home.clock.next().0
    }

    fn repository(&self, library: &Library) -> Result<Repository, StorageError> {
        Repository::open_or_create(Arc::clone(&library.home.medium), &self.options.folder)
    }

    /// Where the archive ends. A line begins with a backup.
    fn go_on<'l>(
        &self,
        state: &mut State,
        library: &'l Library,
        repository: &Repository,
        pin: &impl Fn() -> Result<Pinned<'l>, StorageError>,
    ) -> Result<Position, StorageError> {
        let (known, written) = (state.position.take(), written(library));
        if let Some(position) = known.filter(|position| written == Some(*position)) {
            return Ok(*state.position.insert(position));
        }
        let backups = repository.backups()?;
        if known.is_none()
            && let Some(position) = written
            && is_there(repository, &backups, position)?
        {
            let of_line = backups.iter().filter(|backup| backup.summary.line == Some(position.line));
            state.backed_up = of_line.filter_map(|backup| backup.summary.moment).max().unwrap_or_default();
            library.home.clock.pass(position.until.max(state.backed_up));
            return Ok(*state.position.insert(position));
        }
        let latest = backups.last().and_then(|backup| backup.summary.moment).unwrap_or_default();
        library.home.clock.pass(latest);
        // No line has this beginning: if it stands there still when the backup is made, nothing has been lost meanwhile.
        let beginning = library.home.clock.next();
        let beginning = Position { line: beginning, until: beginning };
        keep(library, library.system.archive().as_deref(), beginning)?;
        let pinned = pin()?;
        let moment = pinned.moment;
        state.position = Some(Position { line: moment, until: moment });
        let added = self.add(state, repository, &pinned);
        if let Err(error) = added {
            state.position = None;
            return Err(error);
        }
        let position = Position { line: moment, until: moment };
        if let Err(error) = keep(library, Some(&beginning.text()), position) {
            state.position = None;
            return Err(error);
        }
        Ok(position)
    }

    fn add(
        &self,
        state: &mut State,
        repository: &Repository,
        pinned: &Pinned<'_>,
    ) -> Result<StoredBackup, StorageError> {
        pinned.check_whole()?;
        let added = repository.add(pinned, state.position.map(|position| position.line))?;
        state.backed_up = pinned.moment;
        let removed = repository.prune(self.options.keep)?;
        tracing::info!(
            folder = %repository.folder.display(),
            number = added.number,
            removed,
            "backed up {} knowledge graphs",
            added.summary.graphs.len()
        );
        Ok(added)
    }

    /// Writes a segment.
    fn archive(
        &self,
        state: &mut State,
        position: Position,
        library: &Library,
        repository: &Repository,
        pinned: Pinned<'_>,
    ) -> Result<Position, StorageError> {
        let is_new = |stored: &StoredRecord| {
            record::moment(&stored.content).filter(|at| *at > position.until && *at < pinned.moment)
        };
        let mut parts = Vec::new();
        let mut contents = Vec::new();
        let mut enter = |name: &str, folder: &str, records: Vec<StoredRecord>| {
            let (records, named): (Vec<_>, Vec<_>) = records
                .into_iter()
                .filter_map(|stored| is_new(&stored).map(|at| (RecordPart::of(&stored, at), stored)))
                .map(|(part, stored)| (stored, part))
                .unzip();
            if !named.is_empty() {
                parts.push(GraphPart { name: name.to_owned(), folder: folder.to_owned(), records: named });
                contents.extend(records);
            }
        };
        let mut archived = Vec::new();
        for graph in &pinned.graphs {
            let Some(store) = graph.store() else { continue };
            let records = graph.journal.records_after(store.archived().load(Ordering::Acquire))?;
            let early =
                |stored: &&StoredRecord| record::moment(&stored.content).is_none_or(|at| at < pinned.moment);
            let last = records.iter().take_while(early).last().map_or(0, |stored| stored.version);
            archived.push((store, last.max(graph.published)));
            enter(&graph.name, &graph.folder, records);
        }
        let leftovers = pinned.system.leftovers.clone();
        for folder in leftovers.iter().filter(|folder| !state.finished.contains(*folder)) {
            if let Some((name, records)) = self.records_of_dropped(library, folder)? {
                enter(&name, folder, records);
            }
        }
        let history = pinned.system.history.values();
        let system = history.filter(|edit| edit.moment > position.until);
        let header = Header {
            line: position.line,
            after: position.until,
            until: pinned.moment,
            graphs: parts,
            system: system.cloned().collect(),
        };
        let path = repository.folder.join(ARCHIVE).join(segment::file_name(pinned.moment));
        let bytes = segment::encode(&header, contents.iter())
            .map_err(|error| StorageError::unreadable(&path, error))?;
        write_file(repository.medium.as_ref(), &path, &bytes)?;
        let before = position.text();
        let position = Position { until: pinned.moment, ..position };
        keep(library, Some(&before), position)?;
        for (store, version) in archived {
            store.archived().fetch_max(version, Ordering::AcqRel);
        }
        self.dropped.lock().retain(|(folder, _)| !leftovers.contains(folder));
        state.finished.clone_from(&leftovers);
        // Nothing of it is needed any more.
        drop(pinned);
        library.remove_folders(&leftovers);
        Ok(position)
    }

    /// What the journal of a dropped graph holds, if it is there.
    fn records_of_dropped(
        &self,
        library: &Library,
        folder: &str,
    ) -> Result<Option<(String, Vec<StoredRecord>)>, StorageError> {
        let held = self.dropped.lock().iter().find(|(name, _)| name == folder).map(|(_, g)| Arc::clone(g));
        if let Some(graph) = held {
            let Some(store) = &graph.store else { return Ok(None) };
            graph.mend()?;
            let records = store.journal().pin()?.records_after(store.archived().load(Ordering::Acquire))?;
            return Ok(Some((graph.name().to_owned(), records)));
        }
        // It was dropped before the server started, or was never finished.
        let medium = &library.home.medium;
        let path = library.folder.join(GRAPHS).join(folder).join(JOURNAL);
        if !medium.exists(&path).map_err(|error| StorageError::io(&path, error))? {
            return Ok(None);
        }
        match Journal::look(medium.as_ref(), &path).and_then(|journal| journal.contents()) {
            Ok(contents) => Ok(Some((contents.graph, contents.records))),
            Err(error) => {
                tracing::warn!("the last changes of a dropped knowledge graph are not archived: {error}");
                Ok(None)
            }
        }
    }
}

fn is_archived(graph: &Graph) -> bool {
    let Some(store) = &graph.store else { return true };
    graph.snapshot().version() <= store.archived().load(Ordering::Acquire)
}

/// Whether the folder of backups is the one that this archive is in.
fn is_there(
    repository: &Repository,
    backups: &[StoredBackup],
    position: Position,
) -> Result<bool, StorageError> {
    let has_backup = backups.iter().any(|backup| backup.summary.line == Some(position.line));
    let path = repository.folder.join(ARCHIVE).join(segment::file_name(position.until));
    let has_end = position.until == position.line
        || backups.first().and_then(|backup| backup.summary.moment) >= Some(position.until)
        || exists(repository, &path)?;
    if !(has_backup && has_end) {
        tracing::warn!(folder = %repository.folder.display(), "the archive ends too early: another one begins");
    }
    Ok(has_backup && has_end)
}

fn exists(repository: &Repository, path: &Path) -> Result<bool, StorageError> {
    repository.medium.exists(path).map_err(|error| StorageError::io(path, error))
}

/// How far the archive goes, as the data folder knows it.
fn written(library: &Library) -> Option<Position> {
    serde_json::from_slice(&library.system.archive()?).ok()
}

/// Remembers how far the archive goes, if what is written is the same as before: no commit has been lost to it meanwhile.
fn keep(library: &Library, before: Option<&[u8]>, position: Position) -> Result<(), StorageError> {
    match library.system.set_archive(before, &position.text(), position.until)? {
        true => Ok(()),
        false => {
            let ended = "the archive has ended, because a commit was lost to it: another one begins";
            Err(StorageError::io(library.system.path(), std::io::Error::other(ended)))
        }
    }
}
