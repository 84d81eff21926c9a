//! `Inserted`: what came of rows that were sent.

/// What an insert did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Inserted {
    /// Rows that are new.
    pub inserted: u64,
    /// Rows that were there before, or came twice.
    pub duplicates: u64,
    /// The version of the graph from which on all of them are there.
    pub version: Option<u64>,
    /// What is good to know about which values went to which columns.
    pub warnings: Vec<String>,
}
