//! One rule to one pipeline of operators: which literal first, which next, what to keep.

pub(crate) mod operators;

/// What is known of a rule's variables.
mod variables;

mod range;

pub(crate) mod variation;

pub(crate) mod composition;

pub(crate) mod join_order;

pub(crate) mod distinct_heads;

pub(crate) mod lookup;

pub(crate) mod estimate;

pub(crate) mod partitioned;

pub(crate) mod rule_plan;
