//! What becomes of a rule's solutions: rows that are new, groups, best rows, rankings.

mod distinct;

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
