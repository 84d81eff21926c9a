//! What the strategies for graphs have in common: edges, and dense numbers for their ends.

pub(crate) mod numbering;

pub(crate) mod edges;
