//! `SystemStore`: which graphs there are and where, and the server's accounts. No program can name it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

use super::database;
use super::error::StorageError;
use super::medium::Medium;
use super::seal::{seal, unseal};

/// Name of a graph to its folder, sealed.
const GRAPHS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("graphs");
/// Folders that belong to no graph: of one that is not there yet, or not any more.
const LEFTOVERS: TableDefinition<'_, &str, ()> = TableDefinition::new("leftovers");
/// What the server keeps: key to record, sealed. The engine does not look into it.
const RECORDS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("records");

/// The file beside the graphs.
#[derive(Debug)]
pub struct SystemStore {
    path: PathBuf,
    medium: Arc<dyn Medium>,
    /// `None` after a failure, until it can be opened again.
    database: Mutex<Option<Database>>,
}

impl SystemStore {
    /// Opens the store, or creates it.
    pub fn open(medium: Arc<dyn Medium>, path: &Path) -> Result<SystemStore, StorageError> {
        if !medium.exists(path).map_err(|error| StorageError::io(path, error))? {
            SystemStore::write(medium.as_ref(), path, &BTreeMap::new(), &BTreeMap::new())?;
        }
        let opened = database::open(medium.as_ref(), path)?;
        database::settle(&opened, path)?;
        Ok(SystemStore { path: path.to_owned(), medium, database: Mutex::new(Some(opened)) })
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

    /// The graphs: name to folder.
    pub fn graphs(&self) -> Result<BTreeMap<String, String>, StorageError> {
        let text =
            |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|e| StorageError::unreadable(&self.path, e));
        self.read_all(GRAPHS)?.into_iter().map(|(name, folder)| Ok((name, text(folder)?))).collect()
    }

    /// Folders whose content is of no use to anyone.
    pub fn leftovers(&self) -> Result<Vec<String>, StorageError> {
        self.read(|transaction| {
            let table = transaction.open_table(LEFTOVERS)?;
            table.iter()?.map(|entry| Ok(entry?.0.value().to_owned())).collect()
        })
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
        self.read_all(RECORDS)
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

    fn read_all(
        &self,
        table: TableDefinition<'_, &'static str, &'static [u8]>,
    ) -> Result<BTreeMap<String, Vec<u8>>, StorageError> {
        let sealed: Vec<(String, Vec<u8>)> = self.read(|transaction| {
            let table = transaction.open_table(table)?;
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
            work(&transaction)?;
            Ok(transaction.commit()?)
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
