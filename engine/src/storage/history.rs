//! The history of the system store: what each change made of graphs and records, until the archive has a copy.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::clock::Moment;
use super::error::Damage;
use super::seal::{seal, unseal};

/// Moment to change, sealed.
const HISTORY: TableDefinition<'_, u64, &[u8]> = TableDefinition::new("history");

/// What one change made of the system store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemEdit {
    /// When it was.
    pub moment: Moment,
    /// Graphs with their folders; nothing where a graph was dropped.
    pub graphs: BTreeMap<String, Option<String>>,
    /// Records with their content; nothing where one was removed.
    pub records: BTreeMap<String, Option<Vec<u8>>>,
}

impl SystemEdit {
    /// Makes the change.
    pub fn apply(&self, graphs: &mut BTreeMap<String, String>, records: &mut BTreeMap<String, Vec<u8>>) {
        change(graphs, &self.graphs);
        change(records, &self.records);
    }
}

fn change<T: Clone>(all: &mut BTreeMap<String, T>, edits: &BTreeMap<String, Option<T>>) {
    for (key, content) in edits {
        match content {
            Some(content) => all.insert(key.clone(), content.clone()),
            None => all.remove(key),
        };
    }
}

/// Notes a change.
pub(super) fn note(transaction: &WriteTransaction, edit: &SystemEdit) -> Result<(), redb::Error> {
    let text = serde_json::to_vec(edit).map_err(|error| redb::Error::Io(std::io::Error::other(error)))?;
    let sealed = seal(&edit.moment.0.to_le_bytes(), &text);
    transaction.open_table(HISTORY)?.insert(edit.moment.0, sealed.as_slice())?;
    Ok(())
}

/// What is noted, in order.
pub(super) fn read(transaction: &ReadTransaction) -> Result<Vec<Result<SystemEdit, Damage>>, redb::Error> {
    let table = match transaction.open_table(HISTORY) {
        Ok(table) => table,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let edit = |moment: u64, sealed: &[u8]| {
        let text = unseal(&moment.to_le_bytes(), sealed)?;
        serde_json::from_slice(text).map_err(|error| Damage::Unreadable(error.to_string()))
    };
    let edits = table.iter()?.map(|entry| {
        let (moment, sealed) = entry?;
        Ok(edit(moment.value(), sealed.value()))
    });
    edits.collect()
}

/// Forgets what the archive has.
pub(super) fn forget(transaction: &WriteTransaction, until: Moment) -> Result<(), redb::Error> {
    Ok(transaction.open_table(HISTORY)?.retain_in(..=until.0, |_, _| false)?)
}
