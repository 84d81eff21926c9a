//! Programs: statements in order, and after them the last query.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use crate::answer::{Answer, Content, Ephemeral, Rows};
use crate::budget::Budget;
use crate::commands;
use crate::context::{Context, Environment, MAX_WARNINGS, Outcome, Question};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::Need;
use crate::statements;
use crate::syntax::ast::{Query, Scope, Statement, StatementKind};

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

/// Runs a program: statements in order, and after them the last query. After a switch to another graph, the rest of
/// the statements see that one.
pub(crate) fn run(
    environment: &Environment,
    session: &mut SessionState,
    statements: &[Statement],
    options: &RunOptions,
    budget: &Budget,
) -> Result<Answer, Error> {
    let mut progress = Progress::default();
    loop {
        let graph = Arc::clone(&session.graph);
        let mut context = Context::new(environment, &graph, budget, session.overlay.clone());
        context.warnings = std::mem::take(&mut progress.warnings);
        if options.atomic {
            context.begin()?;
        }
        if progress.run(statements, &mut context, session)? == Halt::Switched {
            progress.warnings = context.warnings;
            continue;
        }
        let mut content = progress.content(&mut context)?;
        if let (Content::Rows(rows), Some(limit)) = (&mut content, options.limit) {
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        context.commit()?;
        let ephemeral = match &content {
            Content::Rows(rows) if rows.provenance().is_some() => {
                Some(Ephemeral { sources: context.overlay.sources() })
            }
            Content::Rows(_) | Content::Messages(_) => None,
        };
        let (overlay, warnings) = (context.overlay, once_each(context.warnings));
        // In a program of several statements, session facts and rules serve that program only.
        if statements.len() == 1 && progress.switched.is_none() {
            session.overlay = overlay;
        }
        return Ok(Answer { content, switched_graph: progress.switched, ephemeral, warnings });
    }
}

/// How far a program has come.
#[derive(Default)]
struct Progress<'p> {
    /// The next statement.
    next: usize,
    messages: Vec<String>,
    listing: Option<Rows>,
    /// What will be answered in the end, and where it was asked.
    asked: Option<(usize, Asked<'p>)>,
    switched: Option<String>,
    warnings: Vec<Diagnostic>,
}

/// What is answered when all statements have run.
enum Asked<'p> {
    Query(&'p Query),
    Question(Question),
}

/// Why statements stopped.
#[derive(PartialEq, Eq)]
enum Halt {
    Done,
    Switched,
}

impl<'p> Progress<'p> {
    fn run(
        &mut self,
        statements: &'p [Statement],
        context: &mut Context<'_>,
        session: &mut SessionState,
    ) -> Result<Halt, Error> {
        while let Some(statement) = statements.get(self.next) {
            let index = self.next;
            self.next += 1;
            context.budget.check().map_err(Error::Stopped)?;
            let warned = context.warnings.len();
            let outcome = match &statement.kind {
                StatementKind::Query(query) => {
                    self.ask(index, Asked::Query(query), statements, context);
                    continue;
                }
                StatementKind::Command(command) => {
                    if context.is_atomic() {
                        Err(Error::refused(
                            Diagnostic::error(
                                Code::ParseError,
                                "a command cannot be part of an atomic program",
                            )
                            .at(statement.span)
                            .help("send it on its own"),
                        ))
                    } else {
                        commands::run(command, context, session)
                    }
                }
                kind => statements::run_one(kind, context).map(Outcome::Message),
            };
            place_warnings(&mut context.warnings[warned..], index);
            match outcome.map_err(|error| in_statement(error, index))? {
                Outcome::Message(message) => self.messages.push(message),
                Outcome::Listing(rows) => self.listing = Some(rows),
                Outcome::Question(question) => {
                    self.ask(index, Asked::Question(question), statements, context);
                }
                Outcome::Switched(graph, message) => {
                    self.switched = Some(graph);
                    self.messages.push(message);
                    return Ok(Halt::Switched);
                }
            }
        }
        Ok(Halt::Done)
    }

    /// Only the last question is answered.
    fn ask(&mut self, index: usize, asked: Asked<'p>, statements: &[Statement], context: &mut Context<'_>) {
        if let Some((earlier, _)) = self.asked.replace((index, asked)) {
            context.warnings.push(unanswered(earlier, &statements[earlier]));
        }
    }

    fn content(&mut self, context: &mut Context<'_>) -> Result<Content, Error> {
        let warned = context.warnings.len();
        let (index, rows) = match &self.asked {
            Some((index, Asked::Query(query))) => (*index, statements::answer(query, context)),
            Some((index, Asked::Question(question))) => {
                (*index, statements::answer_question(question, context))
            }
            None => {
                return Ok(match self.listing.take() {
                    Some(rows) => Content::Rows(rows),
                    None => Content::Messages(std::mem::take(&mut self.messages)),
                });
            }
        };
        place_warnings(&mut context.warnings[warned..], index);
        rows.map(Content::Rows).map_err(|error| in_statement(error, index))
    }
}

/// Says to which statement warnings belong.
fn place_warnings(warnings: &mut [Diagnostic], index: usize) {
    for warning in warnings {
        warning.statement.get_or_insert(index);
    }
}

/// The first hundred warnings, none twice: a rule that is registered and queried in one program is warned about both
/// times.
fn once_each(warnings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let new = |warning: &Diagnostic| {
        let place = warning.span.filter(|_| warning.code != Code::UnknownRelation);
        seen.insert((place.map(|span| (span.start, span.end)), warning.message.clone()))
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
