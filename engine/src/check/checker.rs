//! The engine without rows in which a program is judged.

use std::collections::HashSet;

use super::Checked;
use super::commands::{attached, defines, goes_elsewhere, is_of_the_server, is_replacing, undefines};
use crate::analysis::{self, AnalysisError};
use crate::budget::Budget;
use crate::caller::Anyone;
use crate::catalog::{Catalog, RelationDefinition};
use crate::commands::{self, CommandFamily};
use crate::context::Environment;
use crate::data::{DataType, Threads};
use crate::diagnostic::{Code, Diagnose, Diagnostic, Severity};
use crate::error::Error;
use crate::exec::Thresholds;
use crate::forms::Forms;
use crate::graph::{Change, DEFAULT_GRAPH, Graphs, Overlay, SessionState, SessionView};
use crate::limits::Limits;
use crate::program::{self, RunOptions};
use crate::statements;
use crate::syntax::ast::{
    Atom, Literal, LiteralKind, Query, Scope, Statement, StatementKind, Term, TermKind,
};
use crate::views::{Advance, Views};

/// So many facts of a relation say what its columns are.
const TELLING_FACTS: usize = 64;

/// Whether a statement says what a relation is that is not among the `known` ones. A few of its facts will do.
pub(super) fn is_definition(statement: &mut Statement, known: &HashSet<String>) -> bool {
    if let StatementKind::Insert(insert) = &mut statement.kind {
        insert.tuples.truncate(TELLING_FACTS);
    }
    match &statement.kind {
        StatementKind::Command(command) => defines(command),
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
pub(super) fn defined(statement: &Statement) -> Vec<&String> {
    match &statement.kind {
        StatementKind::Insert(insert) => vec![&insert.relation.text],
        StatementKind::Rule(rule) => vec![&rule.rule.head.relation.text],
        StatementKind::Declare(declare) => vec![&declare.relation.text],
        StatementKind::Update(update) => update.inserts.iter().map(|atom| &atom.relation.text).collect(),
        _ => Vec::new(),
    }
}

pub(super) struct Checker {
    environment: Environment,
    session: SessionState,
    budget: Budget,
    /// Whether the definitions are those of a graph, and not only of what a text says.
    is_graph: bool,
    found: Vec<Diagnostic>,
}

impl Checker {
    pub(super) fn new(
        commands: &'static [CommandFamily],
        limits: &Limits,
        budget: &Budget,
    ) -> Result<Checker, Error> {
        let threads = Threads::new(Some(1)).map_err(|error| Error::internal("threads", error))?;
        let graphs = Graphs::in_memory(u64::MAX);
        let session = SessionState::new(graphs.get(DEFAULT_GRAPH)?);
        let environment = Environment {
            graphs,
            threads,
            limits: limits.clone(),
            disabled_rewrites: Vec::new(),
            thresholds: Thresholds::default(),
            cluster: None,
            places: None,
            views: Views::new(0, Advance::Never),
            forms: Forms::new(),
            backups: None,
            commands,
        };
        Ok(Checker { environment, session, budget: budget.clone(), is_graph: false, found: Vec::new() })
    }

    /// Takes over what a graph defines, and what a session does on it.
    pub(super) fn define(&mut self, graph: &Catalog, session: &Catalog) -> Result<(), Error> {
        self.is_graph = true;
        self.session.overlay = Overlay::default().apply(&definitions(session)).0;
        self.apply(definitions(graph))
    }

    /// Takes over what other statements define, whatever is wrong with them.
    pub(super) fn learn(&mut self, statements: &mut [Statement], program: &str) -> Result<(), Error> {
        statements.iter_mut().try_for_each(|statement| self.statement(0, statement, program))?;
        self.found.clear();
        Ok(())
    }

    fn apply(&self, changes: Vec<Change>) -> Result<(), Error> {
        let mut transaction = self.session.graph.begin(&self.budget)?;
        transaction.apply(changes, &self.environment.threads)?;
        transaction.commit(None, &self.environment.threads)?;
        Ok(())
    }

    /// What is found of the statements of a program, and what is defined where it ends. An error is no fault of the program.
    pub(super) fn judge(mut self, program: &str, mut statements: Vec<Statement>) -> Result<Checked, Error> {
        // What comes behind a change of the graph is about another one.
        let here = statements.iter().position(goes_elsewhere).unwrap_or(statements.len());
        // Queries are answered last, wherever they stand.
        for queries in [false, true] {
            for index in 0..here {
                if matches!(statements[index].kind, StatementKind::Query(_)) == queries {
                    if is_replacing(&statements[index]) {
                        self.forget_clauses(&statements[index..here])?;
                    }
                    self.statement(index, &mut statements[index], program)?;
                }
            }
        }
        self.found.sort_by_key(|found| found.statement);
        // A rule may read what is defined below it.
        let defined: HashSet<&str> = statements.iter().flat_map(defined).map(String::as_str).collect();
        // What is attached has columns that only its files tell.
        let attached: HashSet<&str> = statements.iter().filter_map(attached).collect();
        let is_known = |found: &Diagnostic| {
            let name = found.span.map(|span| &program[span.start as usize..span.end as usize]);
            let is_of_rule = found.severity == Severity::Warning
                && found.statement.is_some_and(|at| matches!(statements[at].kind, StatementKind::Rule(_)));
            found.code == Code::UnknownRelation
                && name.is_some_and(|name| attached.contains(name) || is_of_rule && defined.contains(name))
        };
        self.found.retain(|found| !is_known(found));
        let view = SessionView::new(self.session.graph.snapshot(), self.session.overlay.clone());
        Ok(Checked { found: self.found, catalog: view.catalog().clone() })
    }

    /// Clauses that those of these statements take the place of.
    fn forget_clauses(&mut self, statements: &[Statement]) -> Result<(), Error> {
        for statement in statements {
            let StatementKind::Rule(rule) = &statement.kind else { continue };
            let change = vec![Change::RemoveRules(rule.rule.head.relation.text.clone())];
            match rule.scope {
                Scope::Session => self.session.overlay = self.session.overlay.apply(&change).0,
                Scope::Persistent => self.apply(change)?,
            }
        }
        Ok(())
    }

    fn statement(&mut self, index: usize, statement: &mut Statement, program: &str) -> Result<(), Error> {
        let before = self.found.len();
        match self.complete(statement, program).and_then(|()| self.outcome(statement)) {
            Ok(warnings) | Err(Error::Refused(warnings)) => self.found.extend(warnings),
            Err(error) => return Err(error),
        }
        for found in &mut self.found[before..] {
            found.statement = Some(index);
            if found.severity == Severity::Error {
                found.span.get_or_insert(statement.span);
            }
        }
        Ok(())
    }

    /// Reads the query of a command, and gives all parameters a value.
    fn complete(&self, statement: &mut Statement, program: &str) -> Result<(), Error> {
        if let StatementKind::Command(command) = &mut statement.kind
            && !(self.environment.commands.is_empty() && is_of_the_server(command))
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
            let analysed = analysis::analyse_question(query, view.catalog());
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
                    if view.snapshot().catalog().knows(&atom.relation.text) {
                        body(&[], &[any_row(atom)])?;
                    }
                    body(&atom.terms, &update.body)?;
                }
                let catalog = view.snapshot().catalog();
                let new = update.inserts.iter().filter(|atom| !catalog.knows(&atom.relation.text));
                let changes = new.map(|atom| {
                    let column_types = vec![DataType::Unknown; atom.terms.len()];
                    Change::Define(RelationDefinition::undeclared(atom.relation.text.clone(), column_types))
                });
                self.apply(changes.collect())?;
                Ok(Vec::new())
            }
            StatementKind::Command(command) if !(defines(command) || self.is_graph && undefines(command)) => {
                // What is supposed before the query is not looked at.
                let asked = command.query.as_ref().filter(|_| command.changes.is_empty());
                asked.map_or(Ok(Vec::new()), query)
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
                program::run(&self.environment, &Anyone, &mut self.session, one, &options, &self.budget)
                    .map(|answer| answer.warnings)
            }
        }
    }
}

/// The condition that a relation has some row, by which its columns are counted.
fn any_row(atom: &Atom) -> Literal {
    let terms = atom.terms.iter().map(|term| Term { kind: TermKind::Placeholder, span: term.span }).collect();
    let any = Atom { relation: atom.relation.clone(), terms, span: atom.span };
    Literal { kind: LiteralKind::Positive(any), span: atom.span }
}

/// A catalog as changes that make it.
fn definitions(catalog: &Catalog) -> Vec<Change> {
    let types = catalog.named_types().map(|(name, known)| Change::DefineType(name.to_owned(), known));
    let relations = catalog.relations().map(|known| Change::Define(known.as_ref().clone()));
    // A name may be left of which all clauses are gone.
    let rules = catalog.derived().flat_map(|(name, clauses)| {
        std::iter::once(Change::ClearRules(name.to_owned()))
            .chain(clauses.iter().cloned().map(Change::AddRule))
    });
    let indexes = catalog.indexes().map(|index| Change::AddIndex(index.definition.clone()));
    types.chain(relations).chain(rules).chain(indexes).collect()
}
