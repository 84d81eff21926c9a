//! What the planner knows of the rows that it will read.

use crate::data::{RelationId, Run};

/// What the planner knows of the rows that it will read.
pub trait Statistics {
    /// Number of rows.
    fn rows(&self, relation: RelationId) -> usize;
    /// Number of distinct values in a column.
    fn distinct(&self, relation: RelationId, column: usize) -> usize;
    /// How the rows lie, where that is known: not of what grows, nor of what is only expected.
    fn layout(&self, relation: RelationId) -> Option<Layout<'_>>;
}

/// How the rows of a complete relation lie.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'r> {
    runs: &'r [Run],
}

impl<'r> Layout<'r> {
    /// The layout of these runs.
    pub fn of(runs: &'r [Run]) -> Layout<'r> {
        Layout { runs }
    }

    /// Whether rows stand in the order of their columns.
    pub(super) fn is_in_order(self) -> bool {
        self.runs.iter().all(Run::is_sorted)
    }

    /// Whether there is an index that knows the rows in the order of this column's values.
    pub(super) fn has_sorted_index(self, column: usize) -> bool {
        !self.runs.is_empty() && self.runs.iter().all(|run| run.is_sorted_by(column))
    }

    /// Whether an index over this column is there.
    pub(super) fn is_indexed_by(self, column: usize) -> bool {
        self.runs.iter().any(|run| run.is_indexed_by(column))
    }

    /// Whether some rows do not count.
    pub(super) fn is_masked(self) -> bool {
        self.runs.iter().any(|run| run.live().is_some())
    }

    /// Whether other columns may be functions of this one: nothing has been seen to repeat.
    pub(super) fn may_be_key(self, column: usize) -> bool {
        matches!(self.runs, [run] if run.distinct(column) == run.stored_len())
    }
}

/// Number of rows in runs.
pub fn rows_of(runs: &[Run]) -> usize {
    runs.iter().map(Run::len).sum()
}

/// Number of distinct values in a column of runs, estimated.
pub fn distinct_of(runs: &[Run], column: usize) -> usize {
    let filled = runs.iter().filter(|run| !run.is_empty());
    filled.map(|run| run.distinct(column)).max().unwrap_or(1)
}
