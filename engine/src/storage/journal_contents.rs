//! What a journal holds, and the tables in which its file holds it.

use std::collections::BTreeMap;

use redb::TableDefinition;

use super::pieces::Pieces;

/// What a journal holds when it is opened.
#[derive(Debug, Default)]
pub struct JournalContents {
    /// The name of the graph.
    pub graph: String,
    /// The last checkpoint's manifest; none before the first one.
    pub manifest: Option<Vec<u8>>,
    /// Which processes have written to the graph; none in journals of earlier releases.
    pub lineage: Option<Vec<u8>>,
    /// For runs with deleted rows, by the name of the file: a bit for each row, set where it was deleted.
    pub deleted: BTreeMap<String, Vec<u8>>,
    /// The commits since, in order.
    pub records: Vec<StoredRecord>,
}

/// One commit.
#[derive(Debug, Clone)]
pub struct StoredRecord {
    /// The version that it makes.
    pub version: u64,
    /// Its change set.
    pub content: Pieces,
}

/// Version and piece to piece, sealed.
pub(super) const RECORDS: TableDefinition<'_, (u64, u32), &[u8]> = TableDefinition::new("journal");
/// Name of a run's file to a bit for each of its rows, sealed: set where the row was deleted.
pub(super) const DELETED: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("deleted");

/// A piece begins with the number of pieces of its record.
pub(super) const COUNT_BYTES: usize = 4;

/// What a piece is sealed with.
pub(super) fn place(version: u64, piece: u32, count: u32) -> Vec<u8> {
    [version.to_le_bytes().as_slice(), &piece.to_le_bytes(), &count.to_le_bytes()].concat()
}
