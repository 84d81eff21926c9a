//! `check`: what running a program would complain about, as far as that can be said without evaluating anything.
//!
//! Facts, schemas and rules go into an empty engine, one statement after the other; what would evaluate is only
//! analysed. So a program is judged by itself: what it reads and does not define counts as unknown.

use std::collections::HashSet;

use crate::analysis::{self, AnalysisError};
use crate::budget::Budget;
use crate::caller::Anyone;
use crate::catalog::{Catalog, RelationDefinition};
use crate::commands;
use crate::context::Environment;
use crate::data::{DataType, Threads};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Severity};
use crate::error::Error;
use crate::exec::Thresholds;
use crate::forms::Forms;
use crate::graph::{Change, DEFAULT_GRAPH, Graphs, SessionState, SessionView};
use crate::limits::Limits;
use crate::program::{self, RunOptions};
use crate::statements;
use crate::syntax;
use crate::syntax::ast::{Command, Literal, LiteralKind, Query, Statement, StatementKind, Term, TermKind};
use crate::views::{Advance, Views};

/// So many facts of a relation say what its columns are.
const TELLING_FACTS: usize = 64;

/// What is known of a program before it runs.
#[derive(Debug, Default)]
pub struct Checked {
    /// All errors and warnings, in the order of its statements.
    pub found: Vec<Diagnostic>,
    /// What is defined where it ends.
    pub catalog: Catalog,
}

/// All errors and warnings of a program, in the order of its statements. Parameters may have any value.
pub fn check(program: &str) -> Vec<Diagnostic> {
    check_among(program, []).found
}

/// The same where it stands among others: what it does not define itself is as they define it. Of a text that is wrong
/// only that is told.
pub fn check_among<'t>(program: &str, others: impl IntoIterator<Item = &'t str>) -> Checked {
    let limits = Limits::default();
    let (mut statements, errors) = syntax::parse(program, &limits);
    let mut checker = match Checker::new() {
        Ok(checker) => checker,
        Err(error) => return Checked { found: error.diagnostics(), ..Checked::default() },
    };
    let defined: HashSet<String> = statements.iter().flat_map(defined).cloned().collect();
    for other in others {
        let (mut definitions, _) = syntax::parse(other, &limits);
        definitions.retain_mut(|statement| is_definition(statement, &defined));
        definitions.iter_mut().for_each(|statement| checker.statement(0, statement, other));
    }
    checker.found.clear();
    for (index, statement) in statements.iter_mut().enumerate() {
        checker.statement(index, statement, program);
    }
    // A rule may read what is defined below it. A query runs before that.
    let is_below = |found: &Diagnostic| {
        found.code == Code::UnknownRelation
            && found.severity == Severity::Warning
            && found.statement.is_some_and(|at| matches!(statements[at].kind, StatementKind::Rule(_)))
            && found
                .span
                .is_some_and(|span| defined.contains(&program[span.start as usize..span.end as usize]))
    };
    checker.found.retain(|found| !is_below(found));
    let view = SessionView::new(checker.session.graph.snapshot(), checker.session.overlay.clone());
    let found = match errors.is_empty() {
        true => checker.found,
        false => errors.iter().map(Diagnose::diagnose).collect(),
    };
    Checked { found, catalog: view.catalog().clone() }
}

/// Whether a statement says what a relation is that is not among the `known` ones. A few of its facts will do.
fn is_definition(statement: &mut Statement, known: &HashSet<String>) -> bool {
    if let StatementKind::Insert(insert) = &mut statement.kind {
        insert.tuples.truncate(TELLING_FACTS);
    }
    match &statement.kind {
        StatementKind::Command(command) => changes_definitions(command),
        StatementKind::DeclareType(_) => true,
        StatementKind::Insert(_)
        | StatementKind::Rule(_)
        | StatementKind::Declare(_)
        | StatementKind::Update(_) => defined(statement).iter().all(|name| !known.contains(*name)),
        StatementKind::Query(_)
        | StatementKind::Delete(_)
        | StatementKind::DeleteWhere(_)
        | StatementKind::DropRule(_) => false,
    }
}

/// The relations that a statement gives facts, rules or columns.
fn defined(statement: &Statement) -> Vec<&String> {
    match &statement.kind {
        StatementKind::Insert(insert) => vec![&insert.relation.text],
        StatementKind::Rule(rule) => vec![&rule.rule.head.relation.text],
        StatementKind::Declare(declare) => vec![&declare.relation.text],
        StatementKind::Update(update) => update.inserts.iter().map(|atom| &atom.relation.text).collect(),
        _ => Vec::new(),
    }
}

struct Checker {
    environment: Environment,
    session: SessionState,
    found: Vec<Diagnostic>,
}

impl Checker {
    fn new() -> Result<Checker, Error> {
        let threads = Threads::new(Some(1)).map_err(|error| Error::internal("threads", error))?;
        let graphs = Graphs::in_memory(u64::MAX);
        let session = SessionState::new(graphs.get(DEFAULT_GRAPH)?);
        let environment = Environment {
            graphs,
            threads,
            limits: Limits::default(),
            disabled_rewrites: Vec::new(),
            thresholds: Thresholds::default(),
            views: Views::new(0, Advance::Never),
            forms: Forms::new(),
            backups: None,
            commands: &[],
        };
        Ok(Checker { environment, session, found: Vec::new() })
    }

    fn statement(&mut self, index: usize, statement: &mut Statement, program: &str) {
        let before = self.found.len();
        match self.complete(statement, program).and_then(|()| self.outcome(statement)) {
            Ok(warnings) => self.found.extend(warnings),
            Err(error) => self.found.extend(error.diagnostics()),
        }
        for found in &mut self.found[before..] {
            found.statement = Some(index);
        }
    }

    /// Reads the query of a command, and gives all parameters a value.
    fn complete(&self, statement: &mut Statement, program: &str) -> Result<(), Error> {
        if let StatementKind::Command(command) = &mut statement.kind
            && !is_of_the_server(command)
        {
            commands::resolve(command, program, &self.environment.limits, self.environment.commands)?;
        }
        statements::fill_any(std::slice::from_mut(statement));
        Ok(())
    }

    fn outcome(&mut self, statement: &Statement) -> Result<Vec<Diagnostic>, Error> {
        let view = SessionView::new(self.session.graph.snapshot(), self.session.overlay.clone());
        let refused = |errors: Vec<AnalysisError>| {
            Error::Refused(errors.iter().take(100).map(Diagnose::diagnose).collect())
        };
        let body = |terms: &[Term], body: &[Literal]| {
            let analysed = analysis::analyse_body(terms, body, view.snapshot().catalog());
            analysed.map(|analysed| analysed.program.warnings).map_err(refused)
        };
        let query = |query: &Query| {
            let analysed = analysis::analyse_query(query, view.catalog());
            analysed.map(|analysed| analysed.program.warnings).map_err(refused)
        };
        match &statement.kind {
            StatementKind::Query(asked) => query(asked),
            StatementKind::DeleteWhere(delete) => {
                let mut target = delete.target.clone();
                for (column, term) in target.terms.iter_mut().enumerate() {
                    if matches!(term.kind, TermKind::Placeholder) {
                        term.kind = TermKind::Variable(format!("?{column}"));
                    }
                }
                let literal = Literal { kind: LiteralKind::Positive(target.clone()), span: target.span };
                let literals: Vec<Literal> =
                    std::iter::once(literal).chain(delete.body.iter().cloned()).collect();
                body(&target.terms, &literals)
            }
            StatementKind::Update(update) => {
                for atom in update.deletes.iter().chain(&update.inserts) {
                    body(&atom.terms, &update.body)?;
                }
                let catalog = view.snapshot().catalog();
                let new = update.inserts.iter().filter(|atom| !catalog.knows(&atom.relation.text));
                let changes = new.map(|atom| {
                    let arity = atom.terms.len();
                    Change::Define(RelationDefinition {
                        name: atom.relation.text.clone(),
                        schema: None,
                        arity,
                        column_types: vec![DataType::Unknown; arity],
                        filled: true,
                    })
                });
                let changes = changes.collect();
                let mut transaction = self.session.graph.begin(&Budget::unlimited())?;
                transaction.apply(changes, &self.environment.threads)?;
                transaction.commit(None, &self.environment.threads)?;
                Ok(Vec::new())
            }
            StatementKind::Command(command) if !changes_definitions(command) => {
                command.query.as_ref().map_or(Ok(Vec::new()), query)
            }
            StatementKind::Command(_)
            | StatementKind::Insert(_)
            | StatementKind::Delete(_)
            | StatementKind::DropRule(_)
            | StatementKind::Rule(_)
            | StatementKind::Declare(_)
            | StatementKind::DeclareType(_) => {
                let one = std::slice::from_ref(statement);
                let options = RunOptions::default();
                program::run(
                    &self.environment,
                    &Anyone,
                    &mut self.session,
                    one,
                    &options,
                    &Budget::unlimited(),
                )
                .map(|answer| answer.warnings)
            }
        }
    }
}

/// Commands about people are the server's own: how they are to be written is not known here.
fn is_of_the_server(command: &Command) -> bool {
    begins(command, &[&["user"], &["apikey"], &["kg", "acl"]])
}

/// Whether what comes below may depend on a command having run.
fn changes_definitions(command: &Command) -> bool {
    const RELATIONS: [&str; 2] = ["rel", "relation"];
    const INDEXES: [&str; 2] = ["index", "idx"];
    INDEXES.iter().any(|word| begins(command, &[&[word, "create"]]))
        || RELATIONS.iter().any(|word| begins(command, &[&[word, "add"], &[word, "rename"]]))
}

fn begins(command: &Command, beginnings: &[&[&str]]) -> bool {
    beginnings.iter().any(|beginning| {
        let words = beginning.iter().zip(&command.words);
        beginning.len() <= command.words.len()
            && words.into_iter().all(|(a, b)| a.eq_ignore_ascii_case(&b.text))
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    fn found(program: &str) -> Vec<(usize, &'static str)> {
        check(program).iter().map(|found| (found.statement.unwrap_or(99), found.code.as_str())).collect()
    }

    #[test]
    fn statements_are_judged_by_what_stands_before_them() {
        let program = "+e[(1, 2)]\n+p(X) <- e(X, Y)\n?p(X, Y)\n?q(X)\n-e(X, _) <- e(X, X)\n\
            -e(X, Y), +f(X) <- e(X, Y), X > $low\n?f(X)\n.nonsense\n+e(1)\n?e(X, Y), e(Z, $a)";
        assert_eq!(
            found(program),
            [
                (1, "unused_variable"),
                (2, "arity_mismatch"),
                (3, "unknown_relation"),
                (7, "parse_error"),
                (8, "arity_mismatch"),
                (9, "cross_product")
            ]
        );
        assert_eq!(
            found("+e(1, 2)\nn(Y) <- n(X), Y = X + 1\nn(1)\n?n(X)\n?e(X, Y)"),
            [(1, "parse_error"); 0]
        );
    }

    #[test]
    fn rules_may_read_what_is_defined_below_them() {
        let program = "+far(X, Z) <- near(X, Y), far(Y, Z)\n+far(X, Y) <- near(X, Y)\n+near(X, Y) <- road(X, Y)\n+road(1, 2)";
        assert_eq!(found(program), [(0, ""); 0]);
        assert_eq!(found("+far(X, Y) <- naer(X, Y)\n+near(1, 2)"), [(0, "unknown_relation")]);
        assert_eq!(found("?near(X, Y)\n+near(1, 2)"), [(0, "unknown_relation")]);
    }

    #[test]
    fn only_the_text_counts_where_it_is_wrong() {
        assert_eq!(found("+e(1\n?q(X)"), [(0, "parse_error")]);
        assert_eq!(found(""), [(99, "parse_error")]);
    }
}
