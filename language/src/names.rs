//! Every name of a program: where it stands, what it names, and whether it is defined there.

use stratalog_engine::Span;
use stratalog_engine::aggregates::is_aggregate;
use stratalog_engine::catalog::{Catalog, is_search};
use stratalog_engine::functions::ScalarFunction;
use stratalog_engine::syntax::ast::{
    Atom, ColumnDeclaration, Command, Literal, LiteralKind, Name, Query, QueryHead, Statement, StatementKind,
    Term, TermKind, TypeExpression, TypeKind,
};
use stratalog_engine::syntax::{TokenClass, tokens};

/// What a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A relation.
    Relation,
    /// A variable of one statement.
    Variable,
    /// `$name`.
    Parameter,
    /// A function, or a search that is written as one.
    Function,
    /// A function in the place of a condition. A relation of its name would be meant, where there is one.
    Condition,
    /// An aggregate.
    Aggregate,
    /// A column of a declaration.
    Column,
    /// A type.
    Type,
}

/// What a place does with what it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Says which columns it has, or which type it is.
    Declaration,
    /// Derives its rows.
    Rule,
    /// Gives it rows.
    Fact,
    /// Reads it, or takes rows away.
    Use,
}

/// A name at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrence {
    /// The name, without the `$` of a parameter.
    pub name: String,
    /// What it names.
    pub kind: Kind,
    /// What is done with it here.
    pub role: Role,
    /// Where.
    pub span: Span,
    /// In which statement, from 0.
    pub statement: usize,
}

/// Words of commands that are about relations.
const ABOUT_RELATIONS: [&str; 4] = ["rel", "relation", "rule", "view"];

/// All names of a program, in the order of their places. `catalog` tells which relations there are.
pub fn occurrences(program: &str, statements: &[Statement], catalog: &Catalog) -> Vec<Occurrence> {
    let mut found = Finder { catalog, found: Vec::new(), statement: 0 };
    for (number, statement) in statements.iter().enumerate() {
        found.statement = number;
        found.statement(program, statement);
    }
    let mut found = found.found;
    // Heads before one `<-` are statements with one body.
    found.sort_by_key(|each| (each.span.start, each.role));
    found.dedup_by_key(|each| each.span);
    found
}

struct Finder<'c> {
    /// A condition may be a function where no relation has its name.
    catalog: &'c Catalog,
    found: Vec<Occurrence>,
    statement: usize,
}

impl Finder<'_> {
    fn add(&mut self, name: &str, span: Span, kind: Kind, role: Role) {
        self.found.push(Occurrence { name: name.to_owned(), kind, role, span, statement: self.statement });
    }

    fn relation(&mut self, name: &Name, role: Role) {
        self.add(&name.text, name.span, Kind::Relation, role);
    }

    fn statement(&mut self, program: &str, statement: &Statement) {
        match &statement.kind {
            StatementKind::Insert(insert) => {
                self.relation(&insert.relation, Role::Fact);
                insert
                    .tuples
                    .iter()
                    .filter(|tuple| !tuple.is_constant)
                    .for_each(|tuple| self.terms(&tuple.terms));
            }
            StatementKind::Delete(delete) => {
                self.relation(&delete.relation, Role::Use);
                delete
                    .tuples
                    .iter()
                    .filter(|tuple| !tuple.is_constant)
                    .for_each(|tuple| self.terms(&tuple.terms));
            }
            StatementKind::DeleteWhere(delete) => {
                self.atom(&delete.target, Role::Use);
                self.body(&delete.body);
            }
            StatementKind::Update(update) => {
                update.deletes.iter().for_each(|atom| self.atom(atom, Role::Use));
                update.inserts.iter().for_each(|atom| self.atom(atom, Role::Fact));
                self.body(&update.body);
            }
            StatementKind::DropRule(name) => self.relation(name, Role::Use),
            StatementKind::Rule(rule) => {
                self.atom(&rule.rule.head, Role::Rule);
                self.body(&rule.rule.body);
            }
            StatementKind::Declare(declare) => {
                self.relation(&declare.relation, Role::Declaration);
                for ColumnDeclaration { name, column_type } in &declare.columns {
                    self.add(&name.text, name.span, Kind::Column, Role::Declaration);
                    self.type_expression(column_type);
                }
            }
            StatementKind::DeclareType(declare) => {
                self.add(&declare.name.text, declare.name.span, Kind::Type, Role::Declaration);
                self.type_expression(&declare.definition);
            }
            StatementKind::Query(query) => self.query(query),
            StatementKind::Command(command) => self.command(program, command, statement.span),
        }
    }

    fn type_expression(&mut self, expression: &TypeExpression) {
        if let TypeKind::Named(name) = &expression.kind {
            self.add(name, expression.span, Kind::Type, Role::Use);
        }
    }

    fn query(&mut self, query: &Query) {
        match &query.head {
            QueryHead::Goal { atom, .. } => self.condition(atom),
            QueryHead::Projection(items) => items.iter().for_each(|item| self.term(&item.term)),
        }
        self.body(&query.body);
    }

    fn body(&mut self, body: &[Literal]) {
        for literal in body {
            match &literal.kind {
                LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => self.condition(atom),
                LiteralKind::Comparison { left, right, .. } => {
                    self.term(left);
                    self.term(right);
                }
                LiteralKind::Disjunction(alternatives) => {
                    alternatives.iter().for_each(|alternative| self.body(alternative));
                }
                LiteralKind::NegatedConjunction(literals) => self.body(literals),
            }
        }
    }

    /// An atom of a body: of a relation, or a function whose value is a truth.
    fn condition(&mut self, atom: &Atom) {
        let name = atom.relation.text.as_str();
        let is_function =
            ScalarFunction::named(name).is_some_and(ScalarFunction::is_condition) || is_search(atom);
        if is_function && !self.catalog.knows(name) {
            self.add(name, atom.relation.span, Kind::Condition, Role::Use);
            self.terms(&atom.terms);
        } else {
            self.atom(atom, Role::Use);
        }
    }

    fn atom(&mut self, atom: &Atom, role: Role) {
        self.relation(&atom.relation, role);
        self.terms(&atom.terms);
    }

    fn terms(&mut self, terms: &[Term]) {
        terms.iter().for_each(|term| self.term(term));
    }

    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Variable(name) => self.add(name, term.span, Kind::Variable, Role::Use),
            TermKind::Parameter(name) => self.add(name, term.span, Kind::Parameter, Role::Use),
            TermKind::Placeholder | TermKind::Constant(_) => {}
            TermKind::Arithmetic { left, right, .. } => {
                self.term(left);
                self.term(right);
            }
            TermKind::Call { function, arguments } => {
                self.add(&function.text, function.span, Kind::Function, Role::Use);
                self.terms(arguments);
            }
            TermKind::Aggregate { function, arguments } => {
                self.add(&function.text, function.span, Kind::Aggregate, Role::Use);
                arguments.iter().for_each(|argument| self.term(&argument.term));
            }
        }
    }

    /// The query of a command, and relations where its words are about those.
    fn command(&mut self, program: &str, command: &Command, span: Span) {
        let first = command.words.first().map_or("", |word| word.text.as_str());
        if ABOUT_RELATIONS.iter().any(|word| word.eq_ignore_ascii_case(first)) {
            let named = command.words.iter().skip(1).filter(|word| self.catalog.knows(&word.text));
            named.cloned().collect::<Vec<_>>().iter().for_each(|name| self.relation(name, Role::Use));
        }
        let (start, end) = (span.start as usize, span.end as usize);
        let Some(asked) = program[start..end].find('?').map(|at| start + at) else { return };
        let pieces = tokens(&program[asked..end]);
        for (at, (piece, class)) in pieces.iter().enumerate() {
            let span = Span { start: piece.start + asked as u32, end: piece.end + asked as u32 };
            let text = &program[span.start as usize..span.end as usize];
            let next = pieces
                .get(at + 1)
                .map(|(next, _)| &program[asked + next.start as usize..asked + next.end as usize]);
            match class {
                TokenClass::Variable if text != "_" => self.add(text, span, Kind::Variable, Role::Use),
                TokenClass::Parameter => self.add(&text[1..], span, Kind::Parameter, Role::Use),
                TokenClass::Name
                    if next == Some("(")
                        && ScalarFunction::named(text).is_some()
                        && !self.catalog.knows(text) =>
                {
                    self.add(text, span, Kind::Function, Role::Use);
                }
                TokenClass::Name if next == Some("(") => self.add(text, span, Kind::Relation, Role::Use),
                TokenClass::Name if next == Some("<") && is_aggregate(text) => {
                    self.add(text, span, Kind::Aggregate, Role::Use);
                }
                _ => {}
            }
        }
    }
}
