//! The history of the system store: what each change made of graphs and records, until the archive has a copy.
//!
//! It is found by comparison of before and after, so no change can be forgotten. That is slow for large stores, but
//! changes of people and graphs are rare, and without an archive nothing is compared.

use std::collections::BTreeMap;

use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};
use serde::{Deserialize, Serialize};

use super::clock::Moment;
use super::error::Damage;
use super::seal::{SEAL_BYTES, seal, unseal};
use super::system::{GRAPHS, RECORDS};

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

/// Graphs and records as they stand in a transaction.
pub(super) struct State([BTreeMap<String, Vec<u8>>; 2]);

impl State {
    pub(super) fn of(transaction: &WriteTransaction) -> Result<State, redb::Error> {
        let all = |table: TableDefinition<'static, &'static str, &'static [u8]>| {
            let table = transaction.open_table(table)?;
            let entries = table.iter()?.map(|entry| {
                let (key, value) = entry?;
                // Seals are made anew where it is read.
                Ok((key.value().to_owned(), value.value().get(SEAL_BYTES..).unwrap_or_default().to_vec()))
            });
            entries.collect::<Result<_, redb::Error>>()
        };
        Ok(State([all(GRAPHS)?, all(RECORDS)?]))
    }

    /// Notes what has become of it. Answers whether anything has changed.
    pub(super) fn note(self, transaction: &WriteTransaction, moment: Moment) -> Result<bool, redb::Error> {
        let State([graphs, records]) = State::of(transaction)?;
        let State([graphs_before, records_before]) = self;
        let graphs = difference(&graphs_before, graphs).into_iter();
        let text = |folder: Vec<u8>| String::from_utf8_lossy(&folder).into_owned();
        let edit = SystemEdit {
            moment,
            graphs: graphs.map(|(name, folder)| (name, folder.map(text))).collect(),
            records: difference(&records_before, records),
        };
        if edit.graphs.is_empty() && edit.records.is_empty() {
            return Ok(false);
        }
        let text =
            serde_json::to_vec(&edit).map_err(|error| redb::Error::Io(std::io::Error::other(error)))?;
        let sealed = seal(&moment.0.to_le_bytes(), &text);
        transaction.open_table(HISTORY)?.insert(moment.0, sealed.as_slice())?;
        Ok(true)
    }
}

fn difference(
    before: &BTreeMap<String, Vec<u8>>,
    after: BTreeMap<String, Vec<u8>>,
) -> BTreeMap<String, Option<Vec<u8>>> {
    let gone = before.keys().filter(|key| !after.contains_key(*key)).map(|key| (key.clone(), None));
    let mut all: BTreeMap<_, _> = gone.collect();
    all.extend(
        after
            .into_iter()
            .filter(|(key, content)| before.get(key) != Some(content))
            .map(|(key, content)| (key, Some(content))),
    );
    all
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
