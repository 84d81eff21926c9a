//! Batches of bindings, and what is computed over their columns.

pub(crate) mod numbers;

pub(crate) mod batch;

pub(crate) mod expression;

mod comparison;
