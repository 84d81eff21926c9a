//! Rules to plans: joins of the atoms of a body in an order, conditions as soon as they can be told, and the head.

/// What no plan is made for.
mod refusal;

/// Rows whose columns are variables.
mod flow;

/// Rows of a relation that match an atom.
mod scan;

/// Two flows, joined.
mod join;

/// The literals of a body, one after the other.
mod body;

/// What becomes of solutions.
mod head;

/// Recursions that fall apart.
mod parts;

pub(crate) use flow::{Plan, distinct};
pub(crate) use join::without;
pub use refusal::Refusal;
pub(crate) use refusal::refusal;
pub(crate) use scan::scan;

use std::sync::Arc;

use stratalog_engine::exec::Computation;

use crate::findings::Findings;
use crate::scratch::Scratch;
use crate::settings::Settings;

/// How a stratum is worked on: in another way where the first one fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Way {
    /// Whether joins sort both sides, which takes time and next to no memory.
    pub(crate) sorts: bool,
    /// Whether groups are aggregated as a whole, and not in pieces whose results are put together.
    pub(crate) whole_groups: bool,
}

/// What is known where a rule becomes a plan.
pub(crate) struct Lowering<'a> {
    pub(crate) settings: &'a Settings,
    pub(crate) computation: &'a Computation,
    pub(crate) findings: &'a Arc<Findings>,
    pub(crate) scratch: &'a Scratch,
    pub(crate) way: Way,
}
