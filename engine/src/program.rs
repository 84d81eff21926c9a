//! Programs: statements in order, and after them the last query.

use std::collections::HashSet;
use std::sync::Arc;

use crate::answer::{Answer, Content, Ephemeral, Rows};
use crate::budget::Budget;
use crate::caller::Caller;
use crate::cluster::EvaluationPlace;
use crate::commands::{self, Families};
use crate::context::{Context, Environment, MAX_WARNINGS, Outcome, Question};
use crate::diagnostic::Span;
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::graph::SessionState;
use crate::need::{Need, Requirement};
use crate::statements;
use crate::syntax::ast::{Query, Scope, Statement, StatementKind};

/// How a program is to be run.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// At most so many rows.
    pub limit: Option<u64>,
    /// All writes are one transaction: any failure undoes all of it.
    pub atomic: bool,
    /// The rules of the program take the place of those of the same heads that there were before it.
    pub replace_rules: bool,
    /// Where its queries are to be evaluated.
    pub place: EvaluationPlace,
}

/// The rights that a program asks for, each once, with the graphs that they are about: a program may switch to other
/// graphs. It needs none on a graph that it creates, as that will be the caller's own.
pub(crate) fn needs(statements: &[Statement], graph: &str, more: Families) -> Vec<Requirement> {
    let mut current: Arc<str> = graph.into();
    let mut created = HashSet::new();
    let mut seen = HashSet::new();
    let mut needs = Vec::new();
    for (index, statement) in statements.iter().enumerate() {
        let Asked { need, graph: about, span } = asked(statement, &current, more);
        let about = if about == &*current { Arc::clone(&current) } else { Arc::from(about) };
        let own = created.contains(&about);
        match need {
            Need::Enter => current = Arc::clone(&about),
            Need::CreateGraph => {
                current = Arc::clone(&about);
                created.insert(Arc::clone(&about));
            }
            Need::Nothing | Need::Read | Need::Write | Need::Manage | Need::Administer => {}
        }
        let always = matches!(need, Need::CreateGraph | Need::Administer);
        if (always || !own) && seen.insert((need, Arc::clone(&about))) {
            needs.push(Requirement { need, graph: about, statement: index, span });
        }
    }
    needs
}

/// The right that a statement asks for.
struct Asked<'s> {
    need: Need,
    /// The graph that it is about: the session's, unless a command names another.
    graph: &'s str,
    /// Where that is said.
    span: Span,
}

fn asked<'s>(statement: &'s Statement, graph: &'s str, more: Families) -> Asked<'s> {
    let need = match &statement.kind {
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
        StatementKind::Command(command) => {
            let (need, named) = commands::need(command, more);
            let (graph, span) = named.map_or((graph, statement.span), |name| (name.text.as_str(), name.span));
            return Asked { need, graph, span };
        }
    };
    Asked { need, graph, span: statement.span }
}

/// Asks for the right to run one statement. The whole program was allowed before any of it ran; graphs and rights may
/// have changed since.
fn permit(statement: &Statement, context: &Context<'_>) -> Result<(), Error> {
    let here = context.graph.name();
    let Asked { need, graph, span } = asked(statement, here, context.environment.commands);
    context.caller.allows(need, graph).map_err(|refusal| Error::refused(refusal.at(span)))?;
    match need {
        Need::Read | Need::Write => context.check_graph(),
        Need::Nothing | Need::Enter | Need::Manage | Need::CreateGraph | Need::Administer => Ok(()),
    }
}

/// Runs a program: statements in order, and after them the last query. After a switch to another graph, the rest of
/// the statements see that one; what was asked before is answered before.
pub(crate) fn run(
    environment: &Environment,
    caller: &dyn Caller,
    session: &mut SessionState,
    statements: &[Statement],
    options: &RunOptions,
    budget: &Budget,
) -> Result<Answer, Error> {
    let mut progress =
        Progress { replaced_rules: options.replace_rules.then(HashSet::new), ..Progress::default() };
    loop {
        let graph = Arc::clone(&session.graph);
        let mut context = Context::new(environment, caller, &graph, budget, session.overlay.clone());
        context.place = options.place;
        context.warnings = std::mem::take(&mut progress.warnings);
        context.replaced_rules = progress.replaced_rules.take();
        if options.atomic {
            context.begin()?;
        }
        let halt = progress.run(statements, &mut context, session);
        if halt.map_err(|error| placed(error, statements))? == Halt::Switched {
            (progress.warnings, progress.replaced_rules) = (context.warnings, context.replaced_rules);
            continue;
        }
        let mut content = progress.content(&mut context).map_err(|error| placed(error, statements))?;
        if let (Content::Rows(rows), Some(limit)) = (&mut content, options.limit) {
            rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        context.commit()?;
        let version = context.version();
        let (overlay, mut warnings) = (context.overlay, once_each(context.warnings));
        place(&mut warnings, statements);
        // In a program of several statements, session facts and rules serve that program only.
        if statements.len() == 1 && progress.switched.is_none() {
            let kept = session.keep(overlay).map_err(|full| Error::refused(full.diagnose()));
            kept.map_err(|error| placed(error, statements))?;
        }
        let (switched_graph, ephemeral) = (progress.switched, progress.ephemeral);
        return Ok(Answer { content, version, switched_graph, ephemeral, warnings });
    }
}

/// How far a program has come.
#[derive(Default)]
struct Progress<'p> {
    /// The next statement.
    next: usize,
    messages: Vec<String>,
    listing: Option<Rows>,
    /// What will be answered when all statements about this graph have run, and where it was asked.
    asked: Option<(usize, Ask<'p>)>,
    /// The answer to what was asked about an earlier graph.
    answered: Option<(usize, Rows)>,
    /// What the session had laid over the graph that the answer is about.
    ephemeral: Option<Ephemeral>,
    switched: Option<String>,
    warnings: Vec<Diagnostic>,
    /// As in the context of a graph.
    replaced_rules: Option<HashSet<(String, Scope, String)>>,
}

/// What is answered when all statements have run.
enum Ask<'p> {
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
            permit(statement, context).map_err(|error| in_statement(error, index))?;
            let warned = context.warnings.len();
            let outcome = match &statement.kind {
                StatementKind::Query(query) => {
                    self.ask(index, Ask::Query(query), statements, context);
                    continue;
                }
                StatementKind::Command(command) => {
                    let joins = commands::joins_transactions(command, context.environment.commands);
                    if context.is_atomic() && !joins {
                        Err(Error::refused(
                            Diagnostic::error(
                                Code::ParseError,
                                "this command cannot be part of an atomic program",
                            )
                            .at(statement.span)
                            .help(
                                "send it on its own; those that change relations, rules and indexes may be",
                            ),
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
                    self.ask(index, Ask::Question(question), statements, context);
                }
                Outcome::Switched(graph, message) => {
                    self.switched = Some(graph);
                    self.messages.push(message);
                    self.answer(context)?;
                    return Ok(Halt::Switched);
                }
            }
        }
        Ok(Halt::Done)
    }

    /// Only the last question is answered.
    fn ask(&mut self, index: usize, asked: Ask<'p>, statements: &[Statement], context: &mut Context<'_>) {
        let asked = self.asked.replace((index, asked)).map(|(earlier, _)| earlier);
        let answered = self.answered.take().map(|(earlier, _)| earlier);
        let earlier = asked.or(answered).into_iter();
        context.warnings.extend(earlier.map(|earlier| unanswered(earlier, &statements[earlier])));
    }

    /// Answers what was asked, in the graph where it was asked.
    fn answer(&mut self, context: &mut Context<'_>) -> Result<(), Error> {
        let Some((index, asked)) = self.asked.take() else { return Ok(()) };
        let warned = context.warnings.len();
        let rows = match asked {
            Ask::Query(query) => statements::answer(query, context),
            Ask::Question(question) => statements::answer_question(&question, context),
        };
        place_warnings(&mut context.warnings[warned..], index);
        let rows = rows.map_err(|error| in_statement(error, index))?;
        self.ephemeral = rows.provenance().map(|_| Ephemeral { sources: context.overlay.sources() });
        self.answered = Some((index, rows));
        Ok(())
    }

    fn content(&mut self, context: &mut Context<'_>) -> Result<Content, Error> {
        self.answer(context)?;
        let answered = self.answered.take().map(|(_, rows)| rows);
        Ok(match answered.or_else(|| self.listing.take()) {
            Some(rows) => Content::Rows(rows),
            None => Content::Messages(std::mem::take(&mut self.messages)),
        })
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
    let mut warning =
        Diagnostic::warning(Code::UnansweredQuery, "only the last query of a program is answered")
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

/// What has no place of its own has that of its statement.
fn placed(mut error: Error, statements: &[Statement]) -> Error {
    if let Error::Refused(diagnostics) = &mut error {
        place(diagnostics, statements);
    }
    error
}

fn place(diagnostics: &mut [Diagnostic], statements: &[Statement]) {
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.span.is_none()) {
        let statement = diagnostic.statement.and_then(|index| statements.get(index));
        diagnostic.span = statement.map(|statement| statement.span);
    }
}

#[cfg(test)]
mod tests {
    use super::needs;
    use crate::limits::Limits;
    use crate::need::Need;
    use crate::syntax::parse;

    fn asked(program: &str) -> Vec<(Need, String, usize)> {
        let (statements, errors) = parse(program, &Limits::default());
        assert_eq!(errors, []);
        let needs = needs(&statements, "home", &[]).into_iter();
        needs.map(|needed| (needed.need, needed.graph.to_string(), needed.statement)).collect()
    }

    fn need(need: Need, graph: &str, statement: usize) -> (Need, String, usize) {
        (need, graph.to_owned(), statement)
    }

    #[test]
    fn needs_follow_the_program_from_graph_to_graph() {
        let program = "?a(X)\n+a(1)\n?a(X)\n.kg use lab\n?a(X)\n.KG Use home\n+a(2)\n.rel\n.kg drop other";
        assert_eq!(
            asked(program),
            [
                need(Need::Read, "home", 0),
                need(Need::Write, "home", 1),
                need(Need::Enter, "lab", 3),
                need(Need::Read, "lab", 4),
                need(Need::Enter, "home", 5),
                need(Need::Manage, "other", 8),
            ]
        );
    }

    #[test]
    fn a_graph_that_the_program_creates_needs_nothing_further() {
        let program =
            ".kg create new\n+a(1)\n.kg use lab\n+a(2)\n.kg use new\n?a(X)\n.compact\n.kg create new";
        assert_eq!(
            asked(program),
            [
                need(Need::CreateGraph, "new", 0),
                need(Need::Enter, "lab", 2),
                need(Need::Write, "lab", 3),
                need(Need::Administer, "new", 6),
            ]
        );
    }

    #[test]
    fn a_command_that_does_not_exist_needs_nothing() {
        assert_eq!(asked("// x\n.kg lst"), [need(Need::Nothing, "home", 0)]);
    }
}
