//! `SystemStore`: which graphs there are and where, and the server's accounts. No program can name it.
//!
//! What it holds is in memory too, and only [`SystemStore::change`] changes either: one change is one transaction. When it
//! fails, the file is opened anew if no sync has failed, or else written anew in a new file, until what is on disk is what
//! is in memory again: then the change has not happened. Where even that fails, the outcome is not known, and nothing may
//! be built on it before [`SystemStore::settle`].
//!
//! For an archive it notes each change with its moment, in the same transaction, until the archive has a copy.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use redb::{ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::clock::{Clock, Moment};
use super::database::{self, META, Opened, guarded};
use super::error::StorageError;
use super::files::{Files, is_plain_name};
use super::history::{self, SystemEdit};
use super::medium::Medium;
use super::seal::{seal, unseal};
use super::system_change::SystemChange;

/// Name of a graph to its folder, sealed.
const GRAPHS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("graphs");
/// Folders that belong to no graph: of one that is not there yet, or not any more.
const LEFTOVERS: TableDefinition<'_, &str, ()> = TableDefinition::new("leftovers");
/// What the server keeps: key to record, sealed. The engine does not look into it.
const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");

/// The key in [`META`] of what the archive writes down about itself.
const ARCHIVE: &str = "archive";

/// Everything that the store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemContents {
    /// The graphs: name to folder.
    pub graphs: BTreeMap<String, String>,
    /// Folders whose content is of no use to anyone.
    pub leftovers: BTreeSet<String>,
    /// What the server keeps, by key.
    pub records: BTreeMap<String, Vec<u8>>,
    /// What the archive of this folder has written down about itself. No backup has it.
    pub archive: Option<Vec<u8>>,
    /// The changes of graphs and records that the archive has no copy of yet. No backup has them.
    pub history: BTreeMap<Moment, SystemEdit>,
}

/// The file beside the graphs.
#[derive(Debug)]
pub struct SystemStore {
    path: PathBuf,
    medium: Arc<dyn Medium>,
    state: Mutex<State>,
    /// Why nobody knows what is on disk, for those who do not want to wait.
    doubt: Mutex<Option<StorageError>>,
    /// Tells the moments of changes, where an archive wants to know of them.
    clock: Option<Arc<Clock>>,
}

#[derive(Debug)]
struct State {
    /// The file, or why it is written no more.
    file: Result<Opened, StorageError>,
    contents: SystemContents,
}

impl SystemStore {
    /// Opens the store, or creates it. What it holds is written anew, so that nothing depends on what an earlier process
    /// left unsynced. With a clock, every change is noted for an archive; without one, the archive that there was is
    /// forgotten, as it would have a gap.
    pub fn open(
        medium: Arc<dyn Medium>,
        path: &Path,
        clock: Option<Arc<Clock>>,
    ) -> Result<SystemStore, StorageError> {
        if !medium.exists(path).map_err(|error| StorageError::io(path, error))? {
            SystemStore::write(medium.as_ref(), path, &SystemContents::default())?;
        }
        let opened = database::look(medium.as_ref(), path)?;
        let mut contents = read(path, &opened)?;
        match &clock {
            Some(clock) => contents.history.keys().for_each(|moment| clock.pass(*moment)),
            None => (contents.archive, contents.history) = (None, BTreeMap::new()),
        }
        let unsettled = StorageError::io(path, std::io::Error::other("not written yet")).as_abandoned();
        let state = Mutex::new(State { file: Err(unsettled), contents });
        let store = SystemStore { path: path.to_owned(), medium, state, doubt: Mutex::default(), clock };
        if let Err(error) = store.renew(&mut store.state.lock()) {
            tracing::error!("{} cannot be written: {error}", path.display());
        }
        drop(opened);
        Ok(store)
    }

    /// What a store holds that nobody has open.
    pub fn look(medium: &dyn Medium, path: &Path) -> Result<SystemContents, StorageError> {
        read(path, &database::look(medium, path)?)
    }

    /// Makes a file with these contents: it is there whole, or not at all.
    pub fn write(files: &dyn Files, path: &Path, contents: &SystemContents) -> Result<(), StorageError> {
        database::create(files, path, |transaction| {
            transaction.open_table(GRAPHS)?;
            transaction.open_table(LEFTOVERS)?;
            transaction.open_table(RECORDS)?;
            let graphs = contents
                .graphs
                .iter()
                .map(|(name, folder)| SystemChange::AddGraph { name: name.clone(), folder: folder.clone() });
            let leftovers = contents.leftovers.iter().cloned().map(SystemChange::AddLeftover);
            let records = contents.records.iter();
            let records =
                records.map(|(key, content)| SystemChange::Record((key.clone(), Some(content.clone()))));
            let notes = contents.history.values().cloned().map(SystemChange::Note);
            let archive = contents.archive.iter().cloned().map(|text| SystemChange::Archive(Some(text)));
            let mut all = graphs.chain(leftovers).chain(records).chain(notes).chain(archive);
            all.try_for_each(|change| change.write(transaction))
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it holds, and a moment: all changes before the moment are in it, and none after.
    pub fn pin(&self, clock: &Clock) -> Result<(Moment, SystemContents), StorageError> {
        let mut state = self.state.lock();
        self.opened(&mut state)?;
        // The moment is taken where nobody can write.
        Ok((clock.next(), state.contents.clone()))
    }

    /// What the archive of this folder has written down about itself.
    pub fn archive(&self) -> Option<Vec<u8>> {
        self.state.lock().contents.archive.clone()
    }

    /// Whether the archive lacks a change.
    pub fn has_history(&self) -> bool {
        !self.state.lock().contents.history.is_empty()
    }

    /// Writes that down in place of what it wrote before, and forgets what was noted until a moment, which it has now. Does
    /// nothing, and answers `false`, if the archive has ended meanwhile.
    pub fn set_archive(
        &self,
        before: Option<&[u8]>,
        text: &[u8],
        until: Moment,
    ) -> Result<bool, StorageError> {
        let mut state = self.state.lock();
        if state.contents.archive.as_deref() != before {
            return Ok(false);
        }
        let changes = [SystemChange::Archive(Some(text.to_owned())), SystemChange::Forget(until)];
        self.change_with(&mut state, &changes).map(|()| true)
    }

    /// Forgets the archive. What happens from now on is not in it.
    pub fn end_archive(&self) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        match state.contents.archive {
            Some(_) => self.change_with(&mut state, &[SystemChange::Archive(None)]),
            None => Ok(()),
        }
    }

    /// What it holds.
    pub fn contents(&self) -> SystemContents {
        self.state.lock().contents.clone()
    }

    /// Makes all steps of a change durable, or none. After an error none is there, or it is not known: the error says
    /// which.
    pub fn change(&self, changes: &[SystemChange]) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        let noted = self.clock.as_ref().and_then(|clock| SystemEdit::of(changes, clock));
        match noted {
            Some(edit) => {
                let note = std::iter::once(SystemChange::Note(edit));
                let changes: Vec<_> = changes.iter().cloned().chain(note).collect();
                self.change_with(&mut state, &changes)
            }
            None => self.change_with(&mut state, changes),
        }
    }

    fn change_with(&self, state: &mut State, changes: &[SystemChange]) -> Result<(), StorageError> {
        let file = self.opened(state)?;
        let changed = file.change(&self.path, |transaction| {
            changes.iter().try_for_each(|change| change.write(transaction))
        });
        let is_trusted = file.can_be_trusted();
        let Err(error) = changed else {
            changes.iter().for_each(|change| change.apply(&mut state.contents));
            return Ok(());
        };
        // The file cannot be opened twice.
        self.set(state, Err(error.as_abandoned()));
        if is_trusted
            && let Ok(file) = database::open(self.medium.as_ref(), &self.path)
            && read(&self.path, &file).is_ok_and(|found| found == state.contents)
        {
            self.set(state, Ok(file));
            return Err(error);
        }
        match self.renew(state) {
            Ok(()) => Err(error),
            Err(_) => Err(error.with_unknown_outcome()),
        }
    }

    /// Why nobody knows what is on disk, if so: [`SystemStore::settle`] must come before anything else.
    pub fn doubt(&self) -> Option<StorageError> {
        self.doubt.lock().clone()
    }

    /// Makes what is on disk be what is in memory again, if nobody knows it.
    pub fn settle(&self) -> Result<(), StorageError> {
        if self.doubt.lock().is_none() {
            return Ok(());
        }
        self.opened(&mut self.state.lock()).map(drop)
    }

    fn opened<'s>(&self, state: &'s mut State) -> Result<&'s Opened, StorageError> {
        if let Err(error) = &state.file {
            let error = error.clone();
            self.renew(state).map_err(|_| error)?;
        }
        state.file.as_ref().map_err(Clone::clone)
    }

    /// Writes a new file in place of the one that is there. When this returns, the old one cannot come back.
    fn renew(&self, state: &mut State) -> Result<(), StorageError> {
        let renewed = SystemStore::write(self.medium.as_ref(), &self.path, &state.contents)
            .and_then(|()| database::open(self.medium.as_ref(), &self.path));
        let outcome = renewed.as_ref().map(drop).map_err(Clone::clone);
        self.set(state, renewed.map_err(|error| error.as_abandoned()));
        outcome
    }

    fn set(&self, state: &mut State, file: Result<Opened, StorageError>) {
        *self.doubt.lock() = file.as_ref().err().cloned();
        state.file = file;
    }
}

impl SystemChange {
    fn apply(&self, contents: &mut SystemContents) {
        match self {
            SystemChange::AddLeftover(folder) => {
                contents.leftovers.insert(folder.clone());
            }
            SystemChange::RemoveLeftover(folder) => {
                contents.leftovers.remove(folder);
            }
            SystemChange::AddGraph { name, folder } => {
                contents.graphs.insert(name.clone(), folder.clone());
            }
            SystemChange::RemoveGraph(name) => {
                contents.graphs.remove(name);
            }
            SystemChange::Record((key, Some(content))) => {
                contents.records.insert(key.clone(), content.clone());
            }
            SystemChange::Record((key, None)) => {
                contents.records.remove(key);
            }
            SystemChange::Note(edit) => {
                contents.history.insert(edit.moment, edit.clone());
            }
            SystemChange::Forget(until) => contents.history.retain(|moment, _| moment > until),
            SystemChange::Archive(text) => contents.archive.clone_from(text),
        }
    }

    fn write(&self, transaction: &WriteTransaction) -> Result<(), redb::Error> {
        match self {
            SystemChange::AddLeftover(folder) => {
                transaction.open_table(LEFTOVERS)?.insert(folder.as_str(), ())?;
            }
            SystemChange::RemoveLeftover(folder) => {
                transaction.open_table(LEFTOVERS)?.remove(folder.as_str())?;
            }
            SystemChange::AddGraph { name, folder } => {
                let sealed = seal(name.as_bytes(), folder.as_bytes());
                transaction.open_table(GRAPHS)?.insert(name.as_str(), sealed.as_slice())?;
            }
            SystemChange::RemoveGraph(name) => {
                transaction.open_table(GRAPHS)?.remove(name.as_str())?;
            }
            SystemChange::Record((key, Some(content))) => {
                let sealed = seal(key.as_bytes(), content);
                transaction.open_table(RECORDS)?.insert(key.as_str(), sealed.as_slice())?;
            }
            SystemChange::Record((key, None)) => {
                transaction.open_table(RECORDS)?.remove(key.as_str())?;
            }
            SystemChange::Note(edit) => history::note(transaction, edit)?,
            SystemChange::Forget(until) => history::forget(transaction, *until)?,
            SystemChange::Archive(Some(text)) => {
                let sealed = seal(ARCHIVE.as_bytes(), text);
                transaction.open_table(META)?.insert(ARCHIVE, sealed.as_slice())?;
            }
            SystemChange::Archive(None) => {
                transaction.open_table(META)?.remove(ARCHIVE)?;
            }
        }
        Ok(())
    }
}

/// What a file holds.
fn read(path: &Path, file: &Opened) -> Result<SystemContents, StorageError> {
    let (graphs, leftovers, records, archive, history) = guarded(path, || {
        let transaction = file.database.begin_read()?;
        let leftovers = transaction.open_table(LEFTOVERS)?;
        let leftovers = leftovers
            .iter()?
            .map(|entry| Ok(entry?.0.value().to_owned()))
            .collect::<Result<BTreeSet<_>, redb::Error>>()?;
        let (graphs, records) = (sealed(&transaction, GRAPHS)?, sealed(&transaction, RECORDS)?);
        let archive = transaction.open_table(META)?.get(ARCHIVE)?.map(|sealed| sealed.value().to_vec());
        Ok((graphs, leftovers, records, archive, history::read(&transaction)?))
    })?;
    let damaged = |damage| StorageError::damaged(path, damage);
    let open = |(key, sealed): (String, Vec<u8>)| match unseal(key.as_bytes(), &sealed) {
        Ok(content) => Ok((key, content.to_vec())),
        Err(damage) => Err(damaged(damage)),
    };
    let folder = |(name, folder): (String, Vec<u8>)| {
        let folder = String::from_utf8(folder).map_err(|error| StorageError::unreadable(path, error))?;
        Ok((name, plain(path, folder)?))
    };
    let graphs = graphs.into_iter().map(|entry| open(entry).and_then(folder));
    let edits = history.into_iter().map(|edit| edit.map(|edit| (edit.moment, edit)));
    Ok(SystemContents {
        graphs: graphs.collect::<Result<_, _>>()?,
        leftovers: leftovers.into_iter().map(|folder| plain(path, folder)).collect::<Result<_, _>>()?,
        records: records.into_iter().map(open).collect::<Result<_, _>>()?,
        archive: archive.map(|text| open((ARCHIVE.to_owned(), text))).transpose()?.map(|(_, text)| text),
        history: edits.collect::<Result<_, _>>().map_err(damaged)?,
    })
}

/// A folder's name, which leads nowhere else: a store may come from a backup that somebody else made.
fn plain(path: &Path, folder: String) -> Result<String, StorageError> {
    match is_plain_name(&folder) {
        true => Ok(folder),
        false => {
            Err(StorageError::unreadable(path, format!("`{}` is no folder's name", folder.escape_debug())))
        }
    }
}

fn sealed(
    transaction: &ReadTransaction,
    table: TableDefinition<'_, &'static str, &'static [u8]>,
) -> Result<Vec<(String, Vec<u8>)>, redb::Error> {
    let table = transaction.open_table(table)?;
    let entries = table.iter()?.map(|entry| {
        let (key, value) = entry?;
        Ok((key.value().to_owned(), value.value().to_vec()))
    });
    entries.collect()
}
