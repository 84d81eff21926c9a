//! `SystemStore`: which graphs there are and where, and the server's accounts. No program can name it.
//!
//! What it holds is in memory too, and only [`SystemStore::change`] changes either: one change is one transaction. When it
//! fails, the file is opened anew if no sync has failed, or else written anew in a new file, until what is on disk is what
//! is in memory again: then the change has not happened. Where even that fails, the outcome is not known, and nothing may
//! be built on it before [`SystemStore::settle`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use redb::{ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::database::{self, Opened, guarded};
use super::error::StorageError;
use super::medium::Medium;
use super::seal::{seal, unseal};

/// Name of a graph to its folder, sealed.
const GRAPHS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("graphs");
/// Folders that belong to no graph: of one that is not there yet, or not any more.
const LEFTOVERS: TableDefinition<'_, &str, ()> = TableDefinition::new("leftovers");
/// What the server keeps: key to record, sealed. The engine does not look into it.
const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");

/// What the server keeps: a key, and its new content, or none if the record goes.
pub type RecordChange = (String, Option<Vec<u8>>);

/// One step of a change.
#[derive(Debug, Clone)]
pub enum SystemChange {
    /// A folder is of no use to anyone: it is about to be made, or has lost its graph.
    AddLeftover(String),
    /// A folder is gone, or has become a graph's.
    RemoveLeftover(String),
    /// A graph has this folder.
    AddGraph {
        /// Its name.
        name: String,
        /// Its folder.
        folder: String,
    },
    /// There is no such graph any more.
    RemoveGraph(String),
    /// Sets a record, or removes it.
    Record(RecordChange),
}

/// Everything that the store holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemContents {
    /// The graphs: name to folder.
    pub graphs: BTreeMap<String, String>,
    /// Folders whose content is of no use to anyone.
    pub leftovers: BTreeSet<String>,
    /// What the server keeps, by key.
    pub records: BTreeMap<String, Vec<u8>>,
}

/// The file beside the graphs.
#[derive(Debug)]
pub struct SystemStore {
    path: PathBuf,
    medium: Arc<dyn Medium>,
    state: Mutex<State>,
    /// Why nobody knows what is on disk, for those who do not want to wait.
    doubt: Mutex<Option<StorageError>>,
}

#[derive(Debug)]
struct State {
    /// The file, or why it is written no more.
    file: Result<Opened, StorageError>,
    contents: SystemContents,
}

impl SystemStore {
    /// Opens the store, or creates it. What it holds is written anew, so that nothing depends on what an earlier process
    /// left unsynced.
    pub fn open(medium: Arc<dyn Medium>, path: &Path) -> Result<SystemStore, StorageError> {
        if !medium.exists(path).map_err(|error| StorageError::io(path, error))? {
            SystemStore::write(medium.as_ref(), path, &SystemContents::default())?;
        }
        let opened = database::look(medium.as_ref(), path)?;
        let contents = read(path, &opened)?;
        let unsettled = StorageError::io(path, std::io::Error::other("not written yet")).as_abandoned();
        let state = Mutex::new(State { file: Err(unsettled), contents });
        let store = SystemStore { path: path.to_owned(), medium, state, doubt: Mutex::default() };
        if let Err(error) = store.renew(&mut store.state.lock()) {
            tracing::error!("{} cannot be written: {error}", path.display());
        }
        drop(opened);
        Ok(store)
    }

    /// Makes a file with these contents: it is there whole, or not at all.
    pub fn write(medium: &dyn Medium, path: &Path, contents: &SystemContents) -> Result<(), StorageError> {
        database::create(medium, path, |transaction| {
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
            graphs.chain(leftovers).chain(records).try_for_each(|change| change.write(transaction))
        })
    }

    /// What it holds.
    pub fn contents(&self) -> SystemContents {
        self.state.lock().contents.clone()
    }

    /// Makes all steps of a change durable, or none. After an error none is there, or it is not known: the error says
    /// which.
    pub fn change(&self, changes: &[SystemChange]) -> Result<(), StorageError> {
        let mut state = self.state.lock();
        let file = self.opened(&mut state)?;
        let changed = file.change(&self.path, |transaction| {
            changes.iter().try_for_each(|change| change.write(transaction))
        });
        let is_trusted = file.can_be_trusted();
        let Err(error) = changed else {
            changes.iter().for_each(|change| change.apply(&mut state.contents));
            return Ok(());
        };
        // The file cannot be opened twice.
        self.set(&mut state, Err(error.as_abandoned()));
        if is_trusted
            && let Ok(file) = database::open(self.medium.as_ref(), &self.path)
            && read(&self.path, &file).is_ok_and(|found| found == state.contents)
        {
            self.set(&mut state, Ok(file));
            return Err(error);
        }
        match self.renew(&mut state) {
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
        }
        Ok(())
    }
}

/// What a file holds.
fn read(path: &Path, file: &Opened) -> Result<SystemContents, StorageError> {
    let (graphs, leftovers, records) = guarded(path, || {
        let transaction = file.database.begin_read()?;
        let leftovers = transaction.open_table(LEFTOVERS)?;
        let leftovers = leftovers
            .iter()?
            .map(|entry| Ok(entry?.0.value().to_owned()))
            .collect::<Result<_, redb::Error>>()?;
        Ok((sealed(&transaction, GRAPHS)?, leftovers, sealed(&transaction, RECORDS)?))
    })?;
    let open = |(key, sealed): (String, Vec<u8>)| match unseal(key.as_bytes(), &sealed) {
        Ok(content) => Ok((key, content.to_vec())),
        Err(damage) => Err(StorageError::damaged(path, damage)),
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|e| StorageError::unreadable(path, e));
    let graphs =
        graphs.into_iter().map(|entry| open(entry).and_then(|(name, folder)| Ok((name, text(folder)?))));
    Ok(SystemContents {
        graphs: graphs.collect::<Result<_, _>>()?,
        leftovers,
        records: records.into_iter().map(open).collect::<Result<_, _>>()?,
    })
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
