//! `ChangeSet`: facts and definitions in and out, the one currency of writes.

use std::sync::Arc;

use crate::catalog::{ClusterUse, RelationDefinition};
use crate::data::{DataType, Rows};
use crate::index::IndexDefinition;
use crate::syntax::ast;

/// Changes in the order in which they apply.
pub type ChangeSet = Vec<Change>;

/// One change of a graph.
#[derive(Debug, Clone)]
pub enum Change {
    /// Sets what is known of a stored relation.
    Define(RelationDefinition),
    /// Adds rows. The relation must be defined.
    Insert {
        /// The relation.
        relation: String,
        /// Its new rows, in codes of the graph's dictionary.
        rows: Rows,
    },
    /// Removes rows.
    Delete {
        /// The relation.
        relation: String,
        /// The rows.
        rows: Rows,
    },
    /// Forgets a relation: rows and definition.
    DropRelation(String),
    /// Adds a clause.
    AddRule(Arc<ast::Rule>),
    /// Removes all clauses of a head, which is not kept any more.
    RemoveRules(String),
    /// Removes all clauses of a head, whose name stays known: an empty relation.
    ClearRules(String),
    /// Names a type.
    DefineType(String, DataType),
    /// Adds an index.
    AddIndex(IndexDefinition),
    /// Removes an index.
    RemoveIndex(String),
    /// The rows of a derived relation are to be there before anybody asks.
    KeepView(String),
    /// They need not be.
    DropView(String),
    /// Says whether questions go to the cluster.
    UseCluster(ClusterUse),
}

impl Change {
    /// The same change with each row once, of which so many changed something.
    pub(super) fn without_duplicates(self, changed: usize) -> Change {
        match self {
            Change::Insert { relation, rows } if changed < rows.len => {
                Change::Insert { relation, rows: rows.distinct() }
            }
            Change::Delete { relation, rows } if changed < rows.len => {
                Change::Delete { relation, rows: rows.distinct() }
            }
            other => other,
        }
    }

    /// Whether it changes something even where it removes no row and no clause.
    pub(super) fn may_forget_a_name(&self) -> bool {
        matches!(self, Change::DropRelation(_) | Change::RemoveRules(_) | Change::ClearRules(_))
    }
}

/// Bytes that it takes to apply changes.
pub(super) fn bytes_to_apply(changes: &ChangeSet) -> usize {
    let bytes = |change: &Change| match change {
        Change::Insert { rows, .. } | Change::Delete { rows, .. } => {
            Rows::bytes_to_store(rows.columns.len(), rows.len)
        }
        _ => 0,
    };
    changes.iter().map(bytes).fold(0, usize::saturating_add)
}

/// Rows that changes add or remove.
pub(super) fn row_count(changes: &ChangeSet) -> usize {
    let rows = |change: &Change| match change {
        Change::Insert { rows, .. } | Change::Delete { rows, .. } => rows.len,
        _ => 0,
    };
    changes.iter().map(rows).sum()
}
