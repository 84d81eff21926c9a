//! `Need`: the right that a statement asks for. The engine states it; whoever knows the users decides.

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Span};
use crate::error::Error;

/// A right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Need {
    /// Anyone who is logged in.
    Nothing,
    /// Bind the session to the graph.
    Enter,
    /// Query, list relations and rules, define rules for the own session.
    Read,
    /// Insert and delete facts, also for the own session; rules, schemas, indexes.
    Write,
    /// Drop the graph, manage who may use it.
    Manage,
    /// Create the graph.
    CreateGraph,
    /// Users, keys, maintenance.
    Administer,
}

/// In the words of the manual: a level on the graph, or a role.
impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Need::Nothing => "nothing",
            Need::Enter | Need::Read => "level viewer",
            Need::Write => "level editor",
            Need::Manage => "level owner",
            Need::CreateGraph => "role editor",
            Need::Administer => "role admin",
        })
    }
}

/// A right that a program asks for, on a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The right.
    pub need: Need,
    /// The graph that it is about.
    pub graph: Arc<str>,
    /// The first statement of the program that asks for it, from 0.
    pub statement: usize,
    /// Where that statement says so.
    pub span: Span,
}

impl Requirement {
    /// A refusal, at the place of this requirement.
    pub fn refuse(&self, refusal: Diagnostic) -> Error {
        Error::refused(Diagnostic { statement: Some(self.statement), ..refusal.at(self.span) })
    }
}
