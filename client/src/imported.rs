//! `Imported`: what came of a file, and `Progress`: how far it is.

use crate::files::{Column, Skipped};
use crate::inserted::Inserted;

/// What came of a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Imported {
    /// Rows that are new.
    pub inserted: u64,
    /// Rows that were there before, or came twice.
    pub duplicates: u64,
    /// Records that were left out, where the options ask for that.
    pub skipped: Skipped,
    /// The columns of the relation, where it did not exist before.
    pub declared: Option<Vec<Column>>,
    /// What is good to know about how the file was read.
    pub warnings: Vec<String>,
}

impl Imported {
    pub(crate) fn add(&mut self, more: &Inserted) {
        self.inserted += more.inserted;
        self.duplicates += more.duplicates;
    }
}

/// How far a file is.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Rows so far.
    pub rows: u64,
    /// So many of them are in the relation for good, whatever comes: none before the end, but where an import goes in
    /// parts.
    pub committed: u64,
    /// How far the file is read.
    pub done: u64,
    /// How long it is, in the unit of `done`, if that is known.
    pub total: Option<u64>,
    /// Whether `done` counts rows, not bytes.
    pub in_rows: bool,
}
