//! Plans as people read them.

mod operators;

pub(crate) mod strategies;

pub(crate) mod notes;

pub(crate) mod rules;

pub(crate) mod expected;
