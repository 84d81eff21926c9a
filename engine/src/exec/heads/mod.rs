//! What becomes of a rule's solutions: rows that are new, groups, best rows, rankings.

pub(crate) mod row_set;

mod distinct;

pub(crate) mod best_rows;

pub(crate) mod known;

mod float_sum;

mod sums;

mod extremes;

mod gathered;

mod rank_fusion;

mod groups;

mod aggregate;

pub(crate) mod ranking;

pub(crate) mod derive;

pub(crate) mod partitioned;
