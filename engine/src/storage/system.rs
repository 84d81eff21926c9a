//! `SystemStore`: which graphs there are and where, and the server's accounts. No program can name it.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition};

use super::clock::{Clock, Moment};
use super::database::{self, META};
use super::error::StorageError;
use super::history::{self, State, SystemEdit};
use super::medium::{Medium, is_plain_name};
use super::seal::{seal, unseal};

/// Name of a graph to its folder, sealed.
pub(super) const GRAPHS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("graphs");
/// Folders that belong to no graph: of one that is not there yet, or not any more.
const LEFTOVERS: TableDefinition<'_, &str, ()> = TableDefinition::new("leftovers");
/// What the server keeps: key to record, sealed. The engine does not look into it.
pub(super) const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");

/// The key in [`META`] of what the archive writes down about itself.
const ARCHIVE: &str = "archive";

/// The file beside the graphs.
#[derive(Debug)]
pub struct SystemStore {
    path: PathBuf,
    medium: Arc<dyn Medium>,
    /// `None` after a failure, until it can be opened again.
    database: Mutex<Option<Database>>,
    /// Tells the moments of changes, where an archive wants to know of them.
    history: OnceLock<Arc<Clock>>,
    /// Changes that were noted.
    changes: AtomicU64,
}

impl SystemStore {
    /// Opens the store, or creates it.
    pub fn open(medium: Arc<dyn Medium>, path: &Path) -> Result<SystemStore, StorageError> {
        if !medium.exists(path).map_err(|error| StorageError::io(path, error))? {
            SystemStore::write(medium.as_ref(), path, &BTreeMap::new(), &BTreeMap::new())?;
        }
        let opened = database::open(medium.as_ref(), path)?;
        database::settle(&opened, path)?;
        let (history, changes) = (OnceLock::new(), AtomicU64::new(0));
        let database = Mutex::new(Some(opened));
        Ok(SystemStore { path: path.to_owned(), medium, database, history, changes })
    }

    /// Makes a file with these graphs and records: it is there whole, or not at all.
    pub fn write(
        medium: &dyn Medium,
        path: &Path,
        graphs: &BTreeMap<String, String>,
        records: &BTreeMap<String, Vec<u8>>,
    ) -> Result<(), StorageError> {
        database::create(medium, path, |transaction| {
            transaction.open_table(LEFTOVERS)?;
            let mut table = transaction.open_table(GRAPHS)?;
            for (name, folder) in graphs {
                table.insert(name.as_str(), seal(name.as_bytes(), folder.as_bytes()).as_slice())?;
            }
            let mut table = transaction.open_table(RECORDS)?;
            for (key, content) in records {
                table.insert(key.as_str(), seal(key.as_bytes(), content).as_slice())?;
            }
            Ok(())
        })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on every change is noted, until the archive has a copy.
    pub fn keep_history(&self, clock: Arc<Clock>) {
        let _ = self.history.set(clock);
    }

    /// Counts the changes that were noted since the store was opened.
    pub fn change_count(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// What the archive of this folder has written down about itself. No backup has it.
    pub fn archive(&self) -> Result<Option<Vec<u8>>, StorageError> {
        let sealed = self.read(|transaction| {
            Ok(transaction.open_table(META)?.get(ARCHIVE)?.map(|sealed| sealed.value().to_vec()))
        })?;
        let open = |sealed: Vec<u8>| unseal(ARCHIVE.as_bytes(), &sealed).map(<[u8]>::to_vec);
        sealed.map(open).transpose().map_err(|damage| StorageError::damaged(&self.path, damage))
    }

    /// Writes that down; what was noted until this moment is archived.
    pub fn set_archive(&self, text: &[u8], until: Moment) -> Result<(), StorageError> {
        self.with_database(|database| {
            let transaction = database.begin_write()?;
            let sealed = seal(ARCHIVE.as_bytes(), text);
            transaction.open_table(META)?.insert(ARCHIVE, sealed.as_slice())?;
            history::forget(&transaction, until)?;
            Ok(transaction.commit()?)
        })
    }

    /// Forgets the archive: what happens from now on is not noted for it.
    pub fn end_archive(&self) -> Result<(), StorageError> {
        if self.archive()?.is_none() {
            return Ok(());
        }
        self.with_database(|database| {
            let transaction = database.begin_write()?;
            transaction.open_table(META)?.remove(ARCHIVE)?;
            history::forget(&transaction, Moment(u64::MAX))?;
            Ok(transaction.commit()?)
        })
    }

    /// What the store holds at this moment, to be read later. All changes before this moment are in it, and none after.
    pub fn pin(&self, clock: &Clock) -> Result<(Moment, PinnedSystem), StorageError> {
        let path = self.path.clone();
        // The moment is taken where nobody can write.
        let (moment, transaction) =
            self.with_database(|database| Ok((clock.next(), database.begin_read()?)))?;
        Ok((moment, PinnedSystem { path, transaction }))
    }

    fn current(&self) -> Result<PinnedSystem, StorageError> {
        let transaction = self.with_database(|database| Ok(database.begin_read()?))?;
        Ok(PinnedSystem { path: self.path.clone(), transaction })
    }

    /// The graphs: name to folder.
    pub fn graphs(&self) -> Result<BTreeMap<String, String>, StorageError> {
        self.current()?.graphs()
    }

    /// Folders whose content is of no use to anyone.
    pub fn leftovers(&self) -> Result<Vec<String>, StorageError> {
        self.current()?.leftovers()
    }

    /// Says that a folder is about to be made, or has lost its graph.
    pub fn add_leftover(&self, folder: &str) -> Result<(), StorageError> {
        self.change(|transaction| {
            transaction.open_table(LEFTOVERS)?.insert(folder, ()).map(drop).map_err(Into::into)
        })
    }

    /// Says that a folder is gone.
    pub fn remove_leftover(&self, folder: &str) -> Result<(), StorageError> {
        self.change(|transaction| {
            transaction.open_table(LEFTOVERS)?.remove(folder).map(drop).map_err(Into::into)
        })
    }

    /// A folder has become a graph.
    pub fn add_graph(&self, name: &str, folder: &str) -> Result<(), StorageError> {
        self.change(|transaction| {
            transaction.open_table(LEFTOVERS)?.remove(folder)?;
            transaction
                .open_table(GRAPHS)?
                .insert(name, seal(name.as_bytes(), folder.as_bytes()).as_slice())?;
            Ok(())
        })
    }

    /// A graph is no more; its folder is a leftover.
    pub fn remove_graph(&self, name: &str, folder: &str) -> Result<(), StorageError> {
        self.change(|transaction| {
            transaction.open_table(GRAPHS)?.remove(name)?;
            transaction.open_table(LEFTOVERS)?.insert(folder, ())?;
            Ok(())
        })
    }

    /// Everything the server keeps, by key.
    pub fn records(&self) -> Result<BTreeMap<String, Vec<u8>>, StorageError> {
        self.current()?.records()
    }

    /// Sets records, or removes them where there is no content: all of them durably, or none.
    pub fn set_records(&self, changes: &[(String, Option<Vec<u8>>)]) -> Result<(), StorageError> {
        self.change(|transaction| {
            let mut table = transaction.open_table(RECORDS)?;
            for (key, content) in changes {
                match content {
                    Some(content) => {
                        table.insert(key.as_str(), seal(key.as_bytes(), content).as_slice())?;
                    }
                    None => {
                        table.remove(key.as_str())?;
                    }
                }
            }
            Ok(())
        })
    }

    fn read<T>(
        &self,
        work: impl FnOnce(&redb::ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, StorageError> {
        self.with_database(|database| work(&database.begin_read()?))
    }

    fn change(
        &self,
        work: impl FnOnce(&redb::WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), StorageError> {
        self.with_database(|database| {
            let transaction = database.begin_write()?;
            let clock = self.history.get();
            let before = clock.map(|_| State::of(&transaction)).transpose()?;
            work(&transaction)?;
            let is_noted = match clock.zip(before) {
                Some((clock, before)) => before.note(&transaction, clock.next())?,
                None => false,
            };
            transaction.commit()?;
            self.changes.fetch_add(u64::from(is_noted), Ordering::AcqRel);
            Ok(())
        })
    }

    /// After a failure the database is opened anew by whoever comes next.
    fn with_database<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, redb::Error>,
    ) -> Result<T, StorageError> {
        let mut slot = self.database.lock();
        let database = match slot.take() {
            Some(database) => database,
            None => database::open(self.medium.as_ref(), &self.path)?,
        };
        let done = database::guarded(&self.path, || work(&database))?;
        *slot = Some(database);
        Ok(done)
    }
}

/// The store as it was at one moment.
pub struct PinnedSystem {
    path: PathBuf,
    transaction: ReadTransaction,
}

impl PinnedSystem {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The graphs: name to folder.
    pub fn graphs(&self) -> Result<BTreeMap<String, String>, StorageError> {
        let text = |bytes: Vec<u8>| {
            let folder = String::from_utf8(bytes).map_err(|e| StorageError::unreadable(&self.path, e))?;
            plain(&self.path, folder)
        };
        self.read_all(GRAPHS)?.into_iter().map(|(name, folder)| Ok((name, text(folder)?))).collect()
    }

    /// Everything the server keeps, by key.
    pub fn records(&self) -> Result<BTreeMap<String, Vec<u8>>, StorageError> {
        self.read_all(RECORDS)
    }

    /// Folders whose content is of no use to anyone.
    pub fn leftovers(&self) -> Result<Vec<String>, StorageError> {
        let folders = database::guarded(&self.path, || {
            let table = self.transaction.open_table(LEFTOVERS)?;
            table
                .iter()?
                .map(|entry| Ok(entry?.0.value().to_owned()))
                .collect::<Result<Vec<_>, redb::Error>>()
        })?;
        folders.into_iter().map(|folder| plain(&self.path, folder)).collect()
    }

    /// The changes that are noted, in order.
    pub fn history(&self) -> Result<Vec<SystemEdit>, StorageError> {
        let edits = database::guarded(&self.path, || history::read(&self.transaction))?;
        let damaged = |damage| StorageError::damaged(&self.path, damage);
        edits.into_iter().map(|edit| edit.map_err(damaged)).collect()
    }

    fn read_all(
        &self,
        table: TableDefinition<'_, &'static str, &'static [u8]>,
    ) -> Result<BTreeMap<String, Vec<u8>>, StorageError> {
        let sealed: Vec<(String, Vec<u8>)> = database::guarded(&self.path, || {
            let table = self.transaction.open_table(table)?;
            let entries = table.iter()?.map(|entry| {
                let (key, value) = entry?;
                Ok((key.value().to_owned(), value.value().to_vec()))
            });
            entries.collect()
        })?;
        let open = |(key, sealed): (String, Vec<u8>)| match unseal(key.as_bytes(), &sealed) {
            Ok(content) => Ok((key, content.to_vec())),
            Err(damage) => Err(StorageError::damaged(&self.path, damage)),
        };
        sealed.into_iter().map(open).collect()
    }
}

impl fmt::Debug for PinnedSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedSystem").field("path", &self.path).finish_non_exhaustive()
    }
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
