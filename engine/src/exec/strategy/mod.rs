//! How a recursion goes on once it is large: one file or folder a strategy, as `plan::Strategy` lists them, and the switch.

pub(crate) mod walk;

pub(crate) mod matrices;

mod relaxation;

mod partitions;

pub(crate) mod switch;
