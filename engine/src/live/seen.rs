//! `Seen`: what the last evaluation of a live query has read, and what the next one may begin with.

use std::sync::Arc;

use super::memory::Held;
use crate::analysis;
use crate::graph::Snapshot;
use crate::statements::Following;
use crate::syntax::ast::Query;

/// What the last evaluation has read.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) version: u64,
    /// The relations that the answer depends on.
    pub(super) relations: Arc<[String]>,
    pub(super) footing: Footing,
}

/// What the next evaluation may begin with.
#[derive(Debug, Default)]
pub(super) struct Footing {
    pub(super) following: Following,
    /// What that takes.
    pub(super) held: Option<Held>,
}

impl Seen {
    pub(super) fn of(query: &Query, snapshot: &Snapshot, footing: Footing) -> Seen {
        let analysed = analysis::analyse_query(query, snapshot.catalog());
        let relations = analysed.map(|analysed| analysed.program.relations).unwrap_or_default();
        let relations = relations.into_iter().map(|relation| relation.name).collect();
        Seen { version: snapshot.version(), relations, footing }
    }

    /// Whether nothing that was read is other than it was.
    pub(super) fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.unchanged_since(snapshot) <= self.version
    }

    /// Since when everything that was read is as it is now.
    pub(super) fn unchanged_since(&self, snapshot: &Snapshot) -> u64 {
        let rows = self.relations.iter().map(|relation| snapshot.rows_since(relation));
        rows.fold(self.defined_since(snapshot), u64::max)
    }

    /// Since when it has the rules and columns that it has.
    pub(super) fn defined_since(&self, snapshot: &Snapshot) -> u64 {
        let definitions = self.relations.iter().map(|relation| snapshot.defined_since(relation));
        definitions.max().unwrap_or_else(|| snapshot.version())
    }
}
