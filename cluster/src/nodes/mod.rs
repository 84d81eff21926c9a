//! Operators and expressions that DataFusion does not have.

/// What the engine computes of columns.
mod computed;

/// Rows of attached files.
mod attached;

/// Batches of one input, each made into others.
mod single;

/// Rows to files, one a part.
mod sink;

/// Programs of the engine on rows of whole groups.
mod groups;

pub(crate) use attached::AttachedExec;
pub(crate) use computed::{Computed, Wanted};
pub(crate) use groups::{GROUPS, GroupsExec, OfGroups};
pub(crate) use single::{properties, single_input};
pub(crate) use sink::{SinkExec, SinkTo, layer_of};
