//! `Need`: the right that a statement asks for. The engine states it; whoever knows the users decides.

use crate::syntax::ast::{Scope, Statement, StatementKind};

/// Rights on a graph, each with those before it; then rights that are about no single graph.
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

impl Need {
    /// The right that a program asks for: the greatest of its statements.
    pub(crate) fn of_program(statements: &[Statement]) -> Need {
        statements.iter().map(Need::of).max().unwrap_or(Need::Nothing)
    }

    fn of(statement: &Statement) -> Need {
        match &statement.kind {
            StatementKind::Query(_) => Need::Read,
            StatementKind::Rule(rule) => match rule.scope {
                Scope::Persistent => Need::Write,
                Scope::Session => Need::Read,
            },
            StatementKind::Insert(_)
            | StatementKind::Delete(_)
            | StatementKind::DeleteWhere(_)
            | StatementKind::Update(_)
            | StatementKind::DropRule(_)
            | StatementKind::Declare(_)
            | StatementKind::DeclareType(_) => Need::Write,
            StatementKind::Command(command) => crate::commands::need(command),
        }
    }
}
