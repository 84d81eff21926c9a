//! Statements at work, one file each, and the order in which a program's statements run.

mod declare;
mod delete;
mod insert;
mod need;
mod parameters;
mod query;
mod rule;

use std::sync::Arc;

use crate::answer::{Answer, Content, Rows};
use crate::budget::Budget;
use crate::diagnostic::{Code, Diagnostic};
use crate::engine::{Engine, Session};
use crate::error::Error;
use crate::graph::{ChangeSet, Graph, Overlay, SessionView, Snapshot, Transaction};
use crate::syntax::ast::{Scope, Statement, StatementKind};

pub use insert::Inserted;
pub(crate) use insert::{insert_batches, insert_rows};
pub use need::Need;
pub use parameters::Parameters;
pub(crate) use parameters::fill;

/// How a program is to be run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// At most so many rows.
    pub limit: Option<u64>,
    /// All writes are one transaction: any failure undoes all of it.
    pub atomic: bool,
}

/// What a statement works on.
pub(crate) struct Context<'s> {
    pub(crate) graph: &'s Arc<Graph>,
    pub(crate) budget: &'s Budget,
    pub(crate) limits: &'s crate::limits::Limits,
    pub(crate) threads: &'s crate::data::Threads,
    pub(crate) disabled_rewrites: &'s [String],
    /// The transaction of an atomic program.
    transaction: Option<Transaction<'s>>,
    /// The session's facts and rules, with those of this program.
    pub(crate) overlay: Overlay,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl<'s> Context<'s> {
    pub(crate) fn new(engine: &'s Engine, graph: &'s Arc<Graph>, budget: &'s Budget, overlay: Overlay) -> Self {
        let options = engine.options();
        Context {
            graph,
            budget,
            limits: &options.limits,
            threads: engine.threads(),
            disabled_rewrites: &options.disabled_rewrites,
            transaction: None,
            overlay,
            warnings: Vec::new(),
        }
    }

    /// The graph's state, with what this program has done to it.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        match &self.transaction {
            Some(transaction) => Arc::clone(transaction.snapshot()),
            None => self.graph.snapshot(),
        }
    }

    /// What queries see.
    pub(crate) fn view(&self) -> SessionView {
        SessionView::new(self.snapshot(), self.overlay.clone())
    }

    /// Makes changes to the graph: `decide` sees the state that they will apply to. Answers what each change changed.
    pub(crate) fn write<T>(
        &mut self,
        decide: impl FnOnce(&Arc<Snapshot>, &mut Vec<Diagnostic>) -> Result<(ChangeSet, T), Error>,
    ) -> Result<(Vec<usize>, T), Error> {
        if let Some(transaction) = &mut self.transaction {
            let (changes, decision) = decide(transaction.snapshot(), &mut self.warnings)?;
            return Ok((transaction.apply(&changes, self.threads), decision));
        }
        let mut transaction = self.graph.begin(self.budget).map_err(Error::Stopped)?;
        let (changes, decision) = decide(transaction.snapshot(), &mut self.warnings)?;
        let counts = transaction.apply(&changes, self.threads);
        transaction.commit();
        Ok((counts, decision))
    }
}

/// Runs a program: statements in order, and after them the last query.
pub(crate) fn run(
    session: &mut Session,
    statements: &[Statement],
    options: &RunOptions,
    budget: &Budget,
) -> Result<Answer, Error> {
    let engine = session.engine().clone();
    let graph = Arc::clone(session.graph_handle());
    let mut context = Context::new(&engine, &graph, budget, session.overlay().clone());
    if options.atomic {
        context.transaction = Some(graph.begin(budget).map_err(Error::Stopped)?);
    }
    let mut messages = Vec::new();
    let mut listing = None;
    let mut switched = None;
    let last_query = statements.iter().rposition(|s| matches!(s.kind, StatementKind::Query(_)));
    for (index, statement) in statements.iter().enumerate() {
        budget.check().map_err(Error::Stopped)?;
        let outcome = match &statement.kind {
            StatementKind::Query(_) => {
                if Some(index) != last_query {
                    context.warnings.push(unanswered(index, statement));
                }
                continue;
            }
            StatementKind::Command(command) => {
                if context.transaction.is_some() {
                    Err(Error::refused(
                        Diagnostic::error(Code::ParseError, "a command cannot be part of an atomic program")
                            .at(statement.span)
                            .help("send it on its own"),
                    ))
                } else {
                    crate::commands::run(command, &mut context, &engine, session)
                }
            }
            kind => run_one(kind, &mut context).map(Outcome::Message),
        };
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
            Content::Rows(query::run(query, &mut context).map_err(|error| in_statement(error, index))?)
        }
        _ => match listing {
            Some(rows) => Content::Rows(rows),
            None => Content::Messages(messages),
        },
    };
    if let (Content::Rows(rows), Some(limit)) = (&mut content, options.limit) {
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    }
    if let Some(transaction) = context.transaction.take() {
        transaction.commit();
    }
    let (overlay, warnings) = (context.overlay, context.warnings);
    // In a program of several statements, session facts and rules serve that program only.
    if statements.len() == 1 && switched.is_none() {
        session.set_overlay(overlay);
    }
    Ok(Answer { content, switched_graph: switched, warnings })
}

/// What a statement other than a query gives.
pub(crate) enum Outcome {
    /// One sentence.
    Message(String),
    /// A table.
    Listing(Rows),
    /// The session is bound to another graph now.
    Switched(String, String),
}

fn run_one(kind: &StatementKind, context: &mut Context<'_>) -> Result<String, Error> {
    match kind {
        StatementKind::Insert(insert) => insert::run(insert, context),
        StatementKind::Delete(delete) => delete::run(delete, context),
        StatementKind::DeleteWhere(delete) => delete::run_where(delete, context),
        StatementKind::Update(update) => delete::run_update(update, context),
        StatementKind::DropRule(name) => rule::drop(name, context),
        StatementKind::Rule(rule) => rule::run(rule, context),
        StatementKind::Declare(declare) => declare::run(declare, context),
        StatementKind::DeclareType(declare) => declare::run_type(declare, context),
        StatementKind::Query(_) | StatementKind::Command(_) => {
            Err(Error::internal("statements", "queries and commands are run by `run`"))
        }
    }
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

/// Where a write goes, in words.
fn place(scope: Scope) -> &'static str {
    match scope {
        Scope::Persistent => "",
        Scope::Session => " for this session",
    }
}

/// `1 fact`, `2 facts`.
fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
