//! `Journal`: where changes of accounts are kept before anybody sees them, and given back when the server starts again.

use stratalog_engine::{Engine, Error, Keep, RecordChange};

use super::change::{AccountRecord, Edit};

/// What precedes the keys of account records among the records that the engine keeps.
const PREFIX: &str = "account ";

/// The records of accounts, beside the engine's graphs: as durable as facts, or as short-lived as an engine in memory.
#[derive(Debug)]
pub(crate) struct Journal {
    engine: Engine,
}

/// Why a change could not be kept, or the records not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JournalError {
    /// The engine could not keep them or give them back.
    #[error("{0}")]
    Engine(Error),
    /// A record is no account. `key` is what it is found by.
    #[error("the record {key:?} cannot be read: {source}")]
    Unreadable { key: String, source: serde_json::Error },
    /// A record cannot be written.
    #[error("a record of accounts cannot be written: {0}")]
    Unwritable(serde_json::Error),
}

impl Journal {
    /// The journal that this engine keeps.
    pub(crate) fn new(engine: Engine) -> Journal {
        Journal { engine }
    }

    /// All records that are kept.
    pub(super) fn records(&self) -> Result<Vec<AccountRecord>, JournalError> {
        let accounts = self.engine.records().into_iter().filter(|(key, _)| key.starts_with(PREFIX));
        let read = |(key, content): (String, Vec<u8>)| {
            serde_json::from_slice(&content).map_err(|source| JournalError::Unreadable { key, source })
        };
        accounts.map(read).collect()
    }

    /// Keeps all steps of one change, or none. When this returns, they survive whatever the engine's data survives.
    pub(super) fn write(&mut self, edits: &[Edit]) -> Result<(), JournalError> {
        let engine = self.engine.clone();
        self.write_with(edits, &mut |records| engine.set_records(records))
    }

    /// The same together with something else: `keep` does both, or neither.
    pub(super) fn write_with(&mut self, edits: &[Edit], keep: Keep<'_>) -> Result<(), JournalError> {
        let changes: Result<Vec<_>, _> = edits.iter().map(written).collect();
        keep(&changes.map_err(JournalError::Unwritable)?).map_err(JournalError::Engine)
    }
}

/// The key of a record, and its content if it is to stay.
fn written(edit: &Edit) -> Result<RecordChange, serde_json::Error> {
    let (key, content) = match edit {
        Edit::Put(record) => (record.key(), Some(serde_json::to_vec(record)?)),
        Edit::Remove(key) => (key.clone(), None),
    };
    Ok((format!("{PREFIX}{}", serde_json::to_string(&key)?), content))
}
