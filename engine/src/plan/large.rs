//! How a recursion goes on once it is large.

use serde_json::{Value, json};

use super::chains::{Chains, chains};
use super::pivot::pivot_column;
use super::relaxation::{Relaxation, relaxation};
use super::traversal::{Traversal, traversal};
use crate::analysis::program::{Program, Stratum};
use crate::data::RelationId;

/// What replaces the rounds of a recursion when there is much to do.
#[derive(Debug, Clone)]
pub enum Large {
    /// A walk through a graph.
    Walk(Traversal),
    /// Products of bit matrices.
    Matrices(Chains),
    /// Relaxation of edges.
    Relax(Relaxation),
    /// Rounds for each part of a column's values.
    Parts(RelationId, usize),
}

impl Large {
    /// What a recursion can do, if anything.
    pub fn of(stratum: &Stratum, program: &Program) -> Option<Large> {
        let parts =
            || pivot_column(stratum, program).map(|(relation, column)| Large::Parts(relation, column));
        let matrices = || chains(stratum, program).map(Large::Matrices);
        let relax = || relaxation(stratum, program).map(Large::Relax);
        traversal(stratum, program).map(Large::Walk).or_else(matrices).or_else(relax).or_else(parts)
    }

    /// What a plan tells of it.
    pub fn note(&self) -> LargeNote {
        match self {
            Large::Walk(traversal) => LargeNote::Walk { column: traversal.node + 1 },
            Large::Matrices(_) => LargeNote::Matrices,
            Large::Relax(_) => LargeNote::Relax,
            Large::Parts(_, column) => LargeNote::Pivot { column: column + 1 },
        }
    }
}

/// What a plan tells of how a recursion goes on once it is large. Columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LargeNote {
    /// A walk along edges, in which the values of this column are nodes.
    Walk {
        /// The column.
        column: usize,
    },
    /// In products of bit matrices.
    Matrices,
    /// In sweeps over edges that are relaxed.
    Relax,
    /// In parts of this column's values.
    Pivot {
        /// The column.
        column: usize,
    },
}

impl LargeNote {
    /// For programs.
    pub(super) fn to_json(self) -> Value {
        let mut note = json!({ "how": self.how() });
        if let Some(column) = self.column() {
            note["column"] = json!(column);
        }
        note
    }

    /// In a word.
    fn how(self) -> &'static str {
        match self {
            LargeNote::Walk { .. } => "walk",
            LargeNote::Matrices => "matrices",
            LargeNote::Relax => "relax",
            LargeNote::Pivot { .. } => "pivot",
        }
    }

    /// The column that it is about, if it is one.
    fn column(self) -> Option<usize> {
        match self {
            LargeNote::Walk { column } | LargeNote::Pivot { column } => Some(column),
            LargeNote::Matrices | LargeNote::Relax => None,
        }
    }

    /// What can be done, or was.
    pub(super) fn text(self, is_done: bool) -> String {
        match (self, is_done) {
            (LargeNote::Walk { column }, false) => format!("can walk along column {column}"),
            (LargeNote::Walk { column }, true) => format!("walked along column {column}"),
            (LargeNote::Matrices, false) => "can multiply bit matrices".to_owned(),
            (LargeNote::Matrices, true) => "multiplied bit matrices".to_owned(),
            (LargeNote::Relax, false) => "can relax edges".to_owned(),
            (LargeNote::Relax, true) => "relaxed edges".to_owned(),
            (LargeNote::Pivot { column }, false) => format!("can pivot on column {column}"),
            (LargeNote::Pivot { column }, true) => format!("pivoted on column {column}"),
        }
    }
}
