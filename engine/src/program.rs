//! Programs: statements in order, and after them the last query.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::answer::{Answer, Content};
use crate::budget::Budget;
use crate::commands;
use crate::context::{Context, Environment, Outcome};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::statements;
use crate::syntax::ast::{Scope, Statement, StatementKind};

/// So many warnings of one program are reported.
const MAX_WARNINGS: usize = 100;

/// How a program is to be run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// At most so many rows.
    pub limit: Option<u64>,
    /// All writes are one transaction: any failure undoes all of it.
    pub atomic: bool,
}

/// The rights that a program asks for, over all its statements.
pub(crate) fn needs(statements: &[Statement]) -> BTreeSet<Need> {
    statements.iter().map(need_of).collect()
}

fn need_of(statement: &Statement) -> Need {
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

/// Runs a program: statements in order, and after them the last query.
pub(crate) fn run(
    environment: &Environment,
    session: &mut SessionState,
    statements: &[Statement],
    options: &RunOptions,
    budget: &Budget,
) -> Result<Answer, Error> {
    let graph = Arc::clone(&session.graph);
    let mut context = Context::new(environment, &graph, budget, session.overlay.clone());
    if options.atomic {
        context.begin()?;
    }
    let mut messages = Vec::new();
    let mut listing = None;
    let mut switched = None;
    let last_query = statements.iter().rposition(|s| matches!(s.kind, StatementKind::Query(_)));
    for (index, statement) in statements.iter().enumerate() {
        budget.check().map_err(Error::Stopped)?;
        let warned = context.warnings.len();
        let outcome = match &statement.kind {
            StatementKind::Query(_) => {
                if Some(index) != last_query {
                    context.warnings.push(unanswered(index, statement));
                }
                continue;
            }
            StatementKind::Command(command) => {
                if context.is_atomic() {
                    Err(Error::refused(
                        Diagnostic::error(Code::ParseError, "a command cannot be part of an atomic program")
                            .at(statement.span)
                            .help("send it on its own"),
                    ))
                } else {
                    commands::run(command, &mut context, session)
                }
            }
            kind => statements::run_one(kind, &mut context).map(Outcome::Message),
        };
        place_warnings(&mut context.warnings[warned..], index);
        match outcome.map_err(|error| in_statement(error, index))? {
            Outcome::Message(message) => messages.push(message),
            Outcome::Listing(rows) => listing = Some(rows),
            Outcome::Switched(graph, message) => {
                switched = Some(graph);
                messages.push(message);
            }
        }
    }
    let mut content = match last_query.map(|index| (index, &statements[index].kind)) {
        Some((index, StatementKind::Query(query))) => {
            let warned = context.warnings.len();
            let rows = statements::answer(query, &mut context).map_err(|error| in_statement(error, index))?;
            place_warnings(&mut context.warnings[warned..], index);
            Content::Rows(rows)
        }
        _ => match listing {
            Some(rows) => Content::Rows(rows),
            None => Content::Messages(messages),
        },
    };
    if let (Content::Rows(rows), Some(limit)) = (&mut content, options.limit) {
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    context.commit();
    let (overlay, warnings) = (context.overlay, once_each(context.warnings));
    // In a program of several statements, session facts and rules serve that program only.
    if statements.len() == 1 && switched.is_none() {
        session.overlay = overlay;
    }
    Ok(Answer { content, switched_graph: switched, warnings })
}

/// Says to which statement warnings belong.
fn place_warnings(warnings: &mut [Diagnostic], index: usize) {
    for warning in warnings {
        warning.statement.get_or_insert(index);
    }
}

/// The first hundred warnings, none twice.
fn once_each(warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let new = |warning: &Diagnostic| {
        seen.insert((warning.span.map(|span| (span.start, span.end)), warning.message.clone()))
    };
    warnings.into_iter().filter(new).take(MAX_WARNINGS).collect()
}

fn unanswered(index: usize, statement: &Statement) -> Diagnostic {
    let mut warning = Diagnostic::warning(Code::ParseError, "only the last query of a program is answered")
        .at(statement.span)
        .help("send this query as a program of its own");
    warning.statement = Some(index);
    warning
}

/// Says in which statement an error arose.
fn in_statement(error: Error, index: usize) -> Error {
    match error {
        Error::Refused(mut diagnostics) => {
            for diagnostic in &mut diagnostics {
                diagnostic.statement.get_or_insert(index);
            }
            Error::Refused(diagnostics)
        }
        other => other,
    }
}
