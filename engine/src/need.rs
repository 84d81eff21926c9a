//! `Need`: the right that a statement asks for. The engine states it; whoever knows the users decides.

/// A right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// Anyone who is logged in.
    Nothing,
    /// Query, list relations and rules, define rules for the own session.
    Read,
    /// Insert and delete facts, also for the own session; rules, schemas, indexes.
    Write,
    /// Drop the graph, manage who may use it.
    Manage,
    /// Create graphs.
    CreateGraph,
    /// Users, keys, maintenance.
    Administer,
}
