//! The archive: what is stored between two backups, copied as it is stored.
//!
//! Commits know nothing of it. Whoever looks after the archive takes a moment now and then, as a backup does, and copies
//! what journals and system store have had since the last one, as one segment. Until then no checkpoint forgets a
//! record, and the folder of a dropped graph stays. The data folder knows how far its archive goes; a folder that was
//! restored knows of none, and begins a *line* of its own with a backup. So does one of which a commit was lost to the
//! archive: a journal that failed could not be read any more.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::super::Graph;
use super::super::data_folder::{GRAPHS, JOURNAL};
use super::super::library::Library;
use super::super::opened::Opened;
use super::archive_options::ArchiveOptions;
use super::moment::Pinned;
use super::repository::{ARCHIVE, Repository, StoredBackup};
use super::segment::{self, Header};
use super::unarchived::Unarchived;
use crate::storage::{Journal, Moment, StorageError};

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
    /// When everything was in it the last time, or when it was opened.
    complete: AtomicU64,
    failures: AtomicU64,
}

/// How an archive does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArchiveState {
    /// How long ago everything that is stored was in it.
    pub age: Duration,
    /// How often it could not be written since the start.
    pub failures: u64,
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
    pub(in super::super) fn new(options: ArchiveOptions, now: Moment) -> Archive {
        Archive {
            options,
            state: Mutex::default(),
            dropped: Mutex::default(),
            complete: now.0.into(),
            failures: AtomicU64::default(),
        }
    }

    /// How it does at this moment. Waits for nobody.
    pub(in super::super) fn describe(&self, now: Moment) -> ArchiveState {
        let age = now.0.saturating_sub(self.complete.load(Ordering::Relaxed));
        ArchiveState { age: Duration::from_micros(age), failures: self.failures.load(Ordering::Relaxed) }
    }

    /// A graph was dropped: it is held until its last records are archived.
    pub(in super::super) fn dropped(&self, folder: String, graph: &Opened) {
        if let Ok(graph) = graph {
            self.dropped.lock().push((folder, Arc::clone(graph)));
        }
    }

    /// The backups that there are.
    pub(in super::super) fn backups(&self) -> Result<Vec<StoredBackup>, StorageError> {
        match Repository::is_one(&self.options.place)? {
            true => Repository::open(&self.options.place)?.backups(),
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
        let repository = self.repository()?;
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
        let begun = library.home.clock.next();
        let tended = self.try_to_tend(library, graphs, pin);
        match &tended {
            Ok(()) => self.complete.store(begun.0, Ordering::Relaxed),
            Err(_) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
            }
        }
        tended
    }

    fn try_to_tend<'l>(
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
        let repository = self.repository()?;
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

    fn repository(&self) -> Result<Repository, StorageError> {
        Repository::open_or_create(&self.options.place)
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
        // The backup is there, whatever becomes of old ones: they go with the next.
        let removed = repository.prune(self.options.keep).unwrap_or_else(|error| {
            tracing::warn!("old backups are not removed: {error}");
            0
        });
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
        // What was stored at the end of the last segment is in that one.
        let time = Moment(position.until.0 + 1)..pinned.moment;
        let (mut graphs, mut archived) = (Vec::new(), Vec::new());
        for graph in &pinned.graphs {
            let Some(store) = graph.store() else { continue };
            let after = store.archived().load(Ordering::Acquire);
            let unarchived =
                Unarchived::of((&graph.name, &graph.folder), Arc::clone(&graph.journal), after, &time)?;
            archived.push((store, unarchived.last.max(graph.published)));
            graphs.push(unarchived);
        }
        let leftovers = pinned.system.leftovers.clone();
        for folder in leftovers.iter().filter(|folder| !state.finished.contains(*folder)) {
            graphs.extend(self.of_dropped(library, folder, &time)?);
        }
        graphs.retain(|graph| !graph.part.records.is_empty());
        let history = pinned.system.history.values();
        let system = history.filter(|edit| edit.moment > position.until);
        let header = Header {
            line: position.line,
            after: position.until,
            until: pinned.moment,
            graphs: graphs.iter().map(|graph| graph.part.clone()).collect(),
            system: system.cloned().collect(),
        };
        let path = repository.folder.join(ARCHIVE).join(segment::file_name(pinned.moment));
        let records = graphs.iter().flat_map(Unarchived::records);
        segment::write(repository.files.as_ref(), &path, &header, records)?;
        drop(graphs);
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
    fn of_dropped(
        &self,
        library: &Library,
        folder: &str,
        time: &Range<Moment>,
    ) -> Result<Option<Unarchived>, StorageError> {
        let held = self.dropped.lock().iter().find(|(name, _)| name == folder).map(|(_, g)| Arc::clone(g));
        if let Some(graph) = held {
            let Some(store) = &graph.store else { return Ok(None) };
            graph.mend()?;
            let after = store.archived().load(Ordering::Acquire);
            let journal = Arc::new(store.journal().pin()?);
            return Unarchived::of((graph.name(), folder), journal, after, time).map(Some);
        }
        // It was dropped before the server started, or was never finished.
        let medium = &library.home.medium;
        let path = library.folder.join(GRAPHS).join(folder).join(JOURNAL);
        if !medium.exists(&path).map_err(|error| StorageError::io(&path, error))? {
            return Ok(None);
        }
        let look = || {
            let journal = Arc::new(Journal::look(medium.as_ref(), &path)?);
            Unarchived::of((&journal.beginning()?.graph, folder), Arc::clone(&journal), 0, time)
        };
        Ok(look()
            .inspect_err(|error| {
                tracing::warn!("the last changes of a dropped knowledge graph are not archived: {error}");
            })
            .ok())
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
    repository.files.exists(path).map_err(|error| StorageError::io(path, error))
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
