//! One clause at a time: terms and literals with names become expressions and atoms with ids.
//!
//! A clause with errors still binds its variables, so that one mistake is reported once.

use std::borrow::Cow;

use foldhash::{HashMap, HashMapExt, HashSet};

use super::error::{AnalysisError, Role};
use super::head::Head;
use super::near::near_names;
use super::nested::{Made, in_all_alternatives, negated_comparison, ruled};
use super::program::{Argument, Atom, Expression, HeadTerm, Literal, Relation, Rule, Test, Variable};
use super::resolve::{Clause, Origin, Resolver, Source};
use super::safety::{self, Use};
use super::search::Taken;
use super::types::{self, Declared};
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::functions::lists::is_each;
use crate::functions::{ScalarFunction, functions};
use crate::syntax::ast;
use crate::syntax::ast::{Comparison, LiteralKind, TermKind};

/// So many errors of one clause are enough.
pub(super) const MOST_ERRORS: usize = 100;

impl Resolver<'_> {
    /// Resolves the clauses of all relations met so far, and of those they meet.
    pub(super) fn resolve_reachable(&mut self) {
        let catalog = self.catalog;
        while let Some(id) = self.pending.pop() {
            let Relation { ref name, arity, .. } = self.relations[id.index()];
            for rule in catalog.rules(&name.clone()) {
                let errors = std::mem::take(&mut self.errors);
                if rule.head.head_columns() == arity {
                    let origin = Origin::Catalog;
                    let source = Source { head: id, origin, text: rule.to_string(), span: rule.span };
                    self.clause(source, &rule.head.terms, &rule.body);
                } else {
                    self.errors.push(AnalysisError::Arity {
                        relation: rule.head.relation.text.clone(),
                        expected: arity,
                        found: rule.head.head_columns(),
                        span: rule.head.span,
                    });
                }
                let own = std::mem::replace(&mut self.errors, errors);
                // Each repeats the rule, which may be long.
                self.errors.extend(
                    own.into_iter().take(10).map(|error| AnalysisError::InRule {
                        rule: rule.to_string(),
                        error: Box::new(error),
                    }),
                );
            }
        }
    }

    /// Resolves `head <- body`, and the rules of the searches in it.
    pub(super) fn clause(&mut self, source: Source, head_terms: &[ast::Term], body: &[ast::Literal]) {
        let (head, origin, before) = (source.head, source.origin, self.errors.len());
        if let Some(bodies) = self.combinations_of_rule(&source, head_terms, body) {
            let head_text = source.text.split(" <- ").next().unwrap_or_default();
            for body in bodies {
                if self.errors.len() > before + MOST_ERRORS {
                    break;
                }
                let text = ruled(head_text, &body);
                self.clause(Source { head, origin, text, span: source.span }, head_terms, &body);
            }
            return self.once_each(before);
        }
        let taken = self.take_searches(head_terms, body, 0);
        let (body, searches) =
            taken.map_or((Cow::Borrowed(body), Vec::new()), |(body, searches)| (Cow::Owned(body), searches));
        let made = self.unnested_clause(source, head_terms, &body);
        self.resolve_made(made, origin);
        self.resolve_searches(searches, origin, before);
        self.once_each(before);
    }

    /// Resolves `head <- body` without searches. Answers what was made for what is nested in it.
    pub(super) fn unnested_clause(
        &mut self,
        source: Source,
        head_terms: &[ast::Term],
        body: &[ast::Literal],
    ) -> Vec<Made> {
        match self.take_nested(source.head, None, head_terms, body) {
            Some((body, made)) => {
                self.plain_clause(source, head_terms, &body);
                made
            }
            None => {
                self.plain_clause(source, head_terms, body);
                Vec::new()
            }
        }
    }

    /// Leaves out what was reported before: parts of a body may stand in several clauses.
    fn once_each(&mut self, errors_before: usize) {
        let mut at = errors_before;
        while at < self.errors.len() {
            if self.errors[..at].contains(&self.errors[at]) {
                self.errors.remove(at);
            } else {
                at += 1;
            }
        }
    }

    /// The rules of searches, unless the clause they stood in was refused: each fault is reported once.
    fn resolve_searches(&mut self, searches: Vec<Taken>, origin: Origin, errors_before: usize) {
        for search in searches {
            if self.errors.len() == errors_before {
                self.resolve_search(search, origin);
            }
        }
    }

    /// Resolves `head <- body` of plain literals.
    fn plain_clause(&mut self, source: Source, head_terms: &[ast::Term], body: &[ast::Literal]) {
        let mut builder = Builder::new(self, source.origin);
        if body.is_empty() {
            builder.errors().push(AnalysisError::EmptyBody { span: source.span });
        }
        for literal in body {
            builder.literal(literal);
        }
        let head = builder.head(head_terms);
        builder.finish(source, head, 0);
    }

    /// Resolves `goal, body`: the columns are the goal's arguments, with the values that its constants match, then the
    /// further variables.
    pub(super) fn goal_clause(
        &mut self,
        source: Source,
        goal: &ast::Atom,
        body: &[ast::Literal],
        further: &[String],
    ) {
        let (span, before) = (source.span, self.errors.len());
        let columns: Vec<ast::Term> = further
            .iter()
            .map(|name| ast::Term { kind: TermKind::Variable(name.clone()), span: goal.span })
            .collect();
        // The goal stands before the body: a search may start from it.
        let first = ast::Literal { kind: LiteralKind::Positive(goal.clone()), span: goal.span };
        let whole: Vec<ast::Literal> = std::iter::once(first).chain(body.iter().cloned()).collect();
        let taken = self.take_searches(&columns, &whole, 1);
        let body = taken.as_ref().map_or(body, |(body, _)| &body[1..]);
        let nested = self.take_nested(source.head, Some(goal), &columns, body);
        let (body, made) =
            nested.map_or((Cow::Borrowed(body), Vec::new()), |(body, made)| (Cow::Owned(body), made));
        let mut builder = Builder::new(self, Origin::Query);
        builder.positive(goal, goal.span);
        let mut columns: Vec<(Option<HeadTerm>, Span)> = match builder.literals.first() {
            Some((Literal::Atom(atom), _)) => {
                atom.arguments.iter().map(|argument| (Some(head_of(argument)), goal.span)).collect()
            }
            _ => Vec::new(),
        };
        for literal in body.iter() {
            builder.literal(literal);
        }
        for name in further {
            let variable = builder.variable(name);
            builder.uses.push(Use { variable, role: Role::Comparison, span });
            columns.push((Some(HeadTerm::Expression(Expression::Variable(variable))), span));
        }
        builder.finish(source, Head { columns, ranking: None }, goal.terms.len());
        self.resolve_made(made, Origin::Query);
        if let Some((_, searches)) = taken {
            self.resolve_searches(searches, Origin::Query, before);
        }
        self.once_each(before);
    }
}

/// One clause at work.
pub(super) struct Builder<'r, 'a> {
    resolver: &'r mut Resolver<'a>,
    origin: Origin,
    variables: Vec<Variable>,
    names: HashMap<String, VariableId>,
    /// For each variable, the first declared column it stands in.
    declared: Vec<Option<Declared>>,
    literals: Vec<(Literal, Span)>,
    pub(super) uses: Vec<Use>,
    /// Variables of what was refused: they are not reported again.
    excused: Vec<VariableId>,
    errors_before: usize,
}

impl<'r, 'a> Builder<'r, 'a> {
    fn new(resolver: &'r mut Resolver<'a>, origin: Origin) -> Builder<'r, 'a> {
        Builder {
            errors_before: resolver.errors.len(),
            resolver,
            origin,
            variables: Vec::new(),
            names: HashMap::new(),
            declared: Vec::new(),
            literals: Vec::new(),
            uses: Vec::new(),
            excused: Vec::new(),
        }
    }

    pub(super) fn errors(&mut self) -> &mut Vec<AnalysisError> {
        &mut self.resolver.errors
    }

    /// Decides what binds, checks safety and types, and hands the clause over.
    fn finish(mut self, source: Source, columns: Head, goal_arguments: usize) {
        let Source { head, text, span, .. } = source;
        let Head { columns: head_terms, ranking } = columns;
        let (body, spans): (Vec<Literal>, Vec<Span>) = std::mem::take(&mut self.literals).into_iter().unzip();
        let mut rule = Rule {
            head,
            head_terms: head_terms.iter().filter_map(|(term, _)| term.clone()).collect(),
            ranking,
            body,
            variables: std::mem::take(&mut self.variables),
            text,
        };
        let bindings = safety::bind(&mut rule, &self.excused);
        let unbound = safety::unbound(&rule, &bindings, &self.uses, span);
        self.errors().extend(unbound);
        if self.origin != Origin::Catalog {
            let relation = &self.resolver.relations[head.index()];
            let columns: Vec<_> = head_terms
                .iter()
                .enumerate()
                .filter(|(_, (term, _))| term.is_some())
                .map(|(column, (_, span))| {
                    let declared =
                        Declared::of(self.resolver.catalog, &relation.name, column, relation.arity, *span);
                    (*span, declared)
                })
                .collect();
            let places = types::Places { literals: &spans, head: &columns };
            let clashes = types::check(&mut rule, &bindings.assignments, &places, &self.declared);
            self.errors().extend(clashes);
        }
        if self.resolver.errors.len() == self.errors_before {
            self.resolver.clauses.push(Clause { rule, bindings, goal_arguments });
        }
    }

    fn literal(&mut self, literal: &ast::Literal) {
        match &literal.kind {
            LiteralKind::Positive(atom) => match self.condition(atom) {
                Some(function) => self.call_filter(function, atom, Comparison::Equal, literal.span),
                None => self.positive(atom, literal.span),
            },
            LiteralKind::Negative(atom) => match self.condition(atom) {
                Some(function) => self.call_filter(function, atom, Comparison::NotEqual, literal.span),
                None => self.negative(atom, literal.span),
            },
            LiteralKind::Comparison { operator, left, right } => {
                self.comparison(*operator, left, right, Test::ByValue(*operator), literal.span);
            }
            // All others are taken out of a body before it comes here.
            LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_) => {
                if let Some((operator, left, right)) = negated_comparison(literal) {
                    self.comparison(operator, left, right, Test::negation(operator), literal.span);
                }
            }
        }
    }

    fn comparison(
        &mut self,
        written: Comparison,
        left: &ast::Term,
        right: &ast::Term,
        operator: Test,
        span: Span,
    ) {
        let sides = match written {
            Comparison::Equal if !is_call_of_each(left) => (self.expression(left), self.side(right)),
            Comparison::Equal => (self.side(left), self.expression(right)),
            _ => (self.expression(left), self.expression(right)),
        };
        match sides {
            (Some(left), Some(right)) => {
                self.literals.push((Literal::Filter { operator, left, right }, span));
            }
            (_, _) => {
                self.excuse(left);
                self.excuse(right);
            }
        }
    }

    /// The function that an atom calls: one with a boolean result, unless a relation has its name. In a rule, which may come
    /// before its relations, other numbers of arguments are not its own.
    fn condition(&self, atom: &ast::Atom) -> Option<&'static ScalarFunction> {
        let may_be_meant = |function: &&ScalarFunction| {
            self.origin == Origin::Query || function.accepts_count(atom.terms.len())
        };
        self.resolver.condition(&atom.relation.text).filter(may_be_meant)
    }

    /// A condition that is a call holds where its result is `true`; under negation, where it is anything else.
    fn call_filter(
        &mut self,
        function: &'static ScalarFunction,
        atom: &ast::Atom,
        operator: Comparison,
        span: Span,
    ) {
        match self.call(function, &atom.terms, atom.span, Role::Comparison) {
            Some(left) => {
                let right = Expression::Constant(Value::Bool(true));
                let operator = Test::ByValue(operator);
                self.literals.push((Literal::Filter { operator, left, right }, span));
            }
            None => atom.terms.iter().for_each(|term| self.excuse(term)),
        }
    }

    fn positive(&mut self, atom: &ast::Atom, span: Span) {
        let relation = self.atom_relation(atom);
        let mut filters = Vec::new();
        let mut arguments = Vec::with_capacity(atom.terms.len());
        for (column, term) in atom.terms.iter().enumerate() {
            arguments.push(match &term.kind {
                TermKind::Variable(name) => self.column_variable(name, atom, column, term.span),
                TermKind::Placeholder => Argument::Variable(self.fresh()),
                TermKind::Constant(value) => self.constant(value, atom, column, term.span),
                TermKind::Parameter(_)
                | TermKind::Arithmetic { .. }
                | TermKind::Call { .. }
                | TermKind::Aggregate { .. } => self.computed_argument(term, &mut filters),
            });
        }
        self.literals.push((Literal::Atom(Atom { relation, arguments, span: atom.span }), span));
        self.literals.extend(filters);
    }

    fn negative(&mut self, atom: &ast::Atom, span: Span) {
        let relation = self.atom_relation(atom);
        let mut assignments = Vec::new();
        let mut arguments = Vec::with_capacity(atom.terms.len());
        for (column, term) in atom.terms.iter().enumerate() {
            arguments.push(match &term.kind {
                TermKind::Variable(name) => {
                    let argument = self.column_variable(name, atom, column, term.span);
                    if let Argument::Variable(variable) = argument {
                        self.uses.push(Use { variable, role: Role::Negation, span: term.span });
                    }
                    argument
                }
                TermKind::Placeholder => Argument::Any,
                TermKind::Constant(value) => self.constant(value, atom, column, term.span),
                TermKind::Parameter(_)
                | TermKind::Arithmetic { .. }
                | TermKind::Call { .. }
                | TermKind::Aggregate { .. } => self.computed_argument(term, &mut assignments),
            });
        }
        self.literals.extend(assignments);
        self.literals.push((Literal::Negated(Atom { relation, arguments, span: atom.span }), span));
    }

    /// An argument that is computed: a fresh variable that equals it.
    fn computed_argument(&mut self, term: &ast::Term, equalities: &mut Vec<(Literal, Span)>) -> Argument {
        let variable = self.fresh();
        match self.expression(term) {
            Some(right) => {
                equalities.push((Literal::equal(Expression::Variable(variable), right), term.span));
            }
            None => self.excused.push(variable),
        }
        Argument::Variable(variable)
    }

    /// The atom's relation. Complains if it is not known or has another number of columns.
    fn atom_relation(&mut self, atom: &ast::Atom) -> RelationId {
        let name = &atom.relation.text;
        let found = atom.terms.len();
        match self.resolver.known_arity(name) {
            Some(expected) if expected != found => {
                self.errors().push(AnalysisError::Arity {
                    relation: name.clone(),
                    expected,
                    found,
                    span: atom.span,
                });
                // Something of the right width, so that the rest of the clause can be checked.
                return self.resolver.add_relation(name.clone(), found);
            }
            Some(_) => {}
            None if self.resolver.knows(name) => {}
            None => self.unknown_relation(atom),
        }
        self.resolver.relation(name, found)
    }

    fn unknown_relation(&mut self, atom: &ast::Atom) {
        let relation = atom.relation.text.clone();
        if self.origin != Origin::Query && self.resolver.warned.contains(&relation) {
            return;
        }
        let near = self.resolver.suggest(&relation);
        if self.origin == Origin::Query {
            let span = atom.relation.span;
            self.errors().push(AnalysisError::UnknownRelation { relation, near, span });
            return;
        }
        if !self.resolver.warned.insert(relation.clone()) {
            return;
        }
        let message = format!("a rule reads `{relation}`, which is not known: it counts as empty");
        let mut warning = Diagnostic::warning(Code::UnknownRelation, message);
        // The places of a registered rule belong to another text.
        warning.span = (self.origin == Origin::NewRule).then_some(atom.relation.span);
        if !near.is_empty() {
            warning = warning.help(format!("did you mean `{}`?", near.join("` or `")));
            if let Some(span) = warning.span {
                warning = near.into_iter().fold(warning, |found, name| found.fix(span, name));
            }
        }
        self.resolver.warnings.push(warning);
    }

    fn fresh(&mut self) -> VariableId {
        let name = format!("?{}", self.variables.len());
        self.add_variable(name)
    }

    pub(super) fn variable(&mut self, name: &str) -> VariableId {
        if let Some(variable) = self.names.get(name) {
            return *variable;
        }
        let variable = self.add_variable(name.to_owned());
        self.names.insert(name.to_owned(), variable);
        variable
    }

    fn add_variable(&mut self, name: String) -> VariableId {
        self.variables.push(Variable { name, data_type: DataType::Unknown });
        self.declared.push(None);
        VariableId::new(self.variables.len() - 1)
    }

    /// A variable in a column: all its declared columns must be able to hold one value.
    fn column_variable(&mut self, name: &str, atom: &ast::Atom, column: usize, span: Span) -> Argument {
        let variable = self.variable(name);
        if self.origin != Origin::Catalog
            && let Some(declared) =
                Declared::of(self.resolver.catalog, &atom.relation.text, column, atom.terms.len(), span)
        {
            match &self.declared[variable.index()] {
                None => self.declared[variable.index()] = Some(declared),
                Some(first) if types::clash(first.data_type, declared.data_type) => {
                    let error = AnalysisError::Join {
                        variable: name.to_owned(),
                        expected: first.data_type,
                        expected_column: first.column.clone(),
                        expected_at: first.span,
                        found: declared.data_type,
                        found_column: declared.column,
                        span,
                    };
                    self.errors().push(error);
                }
                Some(first) if !first.data_type.overlaps(declared.data_type) => {
                    let message = format!(
                        "`{name}` joins `{}` ({}) with `{}` ({}), which are never equal",
                        first.column, first.data_type, declared.column, declared.data_type
                    );
                    self.resolver.warnings.push(
                        Diagnostic::warning(Code::TypeMismatch, message)
                            .at(span)
                            .help(types::NUMBERS_THAT_JOIN),
                    );
                }
                Some(_) => {}
            }
        }
        Argument::Variable(variable)
    }

    fn constant(&mut self, value: &Value, atom: &ast::Atom, column: usize, span: Span) -> Argument {
        if self.origin != Origin::Catalog
            && let Some(declared) =
                Declared::of(self.resolver.catalog, &atom.relation.text, column, atom.terms.len(), span)
            && !types::may_hold(declared.data_type, value)
        {
            self.errors().push(AnalysisError::Constant {
                column: declared.column,
                expected: declared.data_type,
                found: types::type_of(value),
                value: value.to_string(),
                span,
            });
        }
        Argument::Constant(value.clone())
    }

    /// A side of an equality, where `each(L)` may stand.
    fn side(&mut self, term: &ast::Term) -> Option<Expression> {
        match &term.kind {
            TermKind::Call { function, arguments } if is_call_of_each(term) => {
                let function = ScalarFunction::named(&function.text)?;
                self.call(function, arguments, term.span, Role::Comparison)
            }
            _ => self.expression(term),
        }
    }

    fn expression(&mut self, term: &ast::Term) -> Option<Expression> {
        self.used_expression(term, Role::Comparison)
    }

    /// An expression whose variables are needed for `role`. Nothing if it was refused.
    pub(super) fn used_expression(&mut self, term: &ast::Term, role: Role) -> Option<Expression> {
        let span = term.span;
        let error = match &term.kind {
            TermKind::Variable(name) => {
                let variable = self.variable(name);
                self.uses.push(Use { variable, role, span });
                return Some(Expression::Variable(variable));
            }
            TermKind::Constant(value) => return Some(Expression::Constant(value.clone())),
            TermKind::Arithmetic { operator, left, right } => {
                let left = self.used_expression(left, role);
                let right = self.used_expression(right, role);
                let (left, right) = (Box::new(left?), Box::new(right?));
                return Some(Expression::Arithmetic { operator: *operator, left, right });
            }
            TermKind::Placeholder => AnalysisError::Placeholder { span },
            TermKind::Parameter(name) => AnalysisError::Parameter { name: name.clone(), span },
            TermKind::Call { function: name, arguments } => {
                let function = ScalarFunction::named(&name.text);
                if let Some(function) = function.filter(|function| !is_each(function)) {
                    return self.call(function, arguments, span, role);
                }
                self.excuse(term);
                if function.is_some() {
                    self.errors().push(AnalysisError::MisplacedEach { span });
                    return None;
                }
                let first = arguments.first().and_then(variable_name);
                AnalysisError::UnknownFunction {
                    function: name.text.clone(),
                    argument: first.map(str::to_owned),
                    is_relation: self.resolver.knows(&name.text),
                    near: near_names(&name.text, functions().map(|function| function.name)),
                    span: name.span,
                }
            }
            TermKind::Aggregate { function, .. } => {
                AnalysisError::MisplacedAggregate { aggregate: function.text.clone(), span: function.span }
            }
        };
        self.errors().push(error);
        None
    }

    /// A call of a known function. All arguments are resolved, so that all their faults are reported.
    fn call(
        &mut self,
        function: &'static ScalarFunction,
        arguments: &[ast::Term],
        span: Span,
        role: Role,
    ) -> Option<Expression> {
        if !function.accepts_count(arguments.len()) {
            arguments.iter().for_each(|argument| self.excuse(argument));
            self.errors().push(AnalysisError::FunctionArguments { function, found: arguments.len(), span });
            return None;
        }
        let resolved: Vec<_> =
            arguments.iter().map(|argument| self.used_expression(argument, role)).collect();
        let resolved = resolved.into_iter().collect::<Option<Vec<_>>>()?;
        for ((argument, parameter), term) in resolved.iter().zip(function.parameters).zip(arguments) {
            if let Expression::Constant(Value::Text(text)) = argument
                && let Some(problem) = parameter.takes.fault_of(text)
            {
                let (takes, text) = (parameter.takes, text.to_string());
                let error = AnalysisError::ArgumentText { takes, text, problem, span: term.span };
                self.errors().push(error);
                return None;
            }
        }
        Some(Expression::Call { function, arguments: resolved })
    }

    pub(super) fn excuse(&mut self, term: &ast::Term) {
        for_each_variable(term, &mut |name| {
            let variable = self.variable(name);
            self.excused.push(variable);
        });
    }
}

fn is_call_of_each(term: &ast::Term) -> bool {
    matches!(&term.kind, TermKind::Call { function, .. } if ScalarFunction::named(&function.text).is_some_and(is_each))
}

/// The goal's argument as a column of the result.
fn head_of(argument: &Argument) -> HeadTerm {
    HeadTerm::Expression(match argument {
        Argument::Variable(variable) => Expression::Variable(*variable),
        Argument::Constant(value) => Expression::Constant(value.clone()),
        // Positive atoms have fresh variables instead.
        Argument::Any => Expression::Constant(Value::Null),
    })
}

/// The variables of positive atoms and comparisons that are not arguments of the goal, in order of first occurrence.
pub(super) fn further_variables(goal: &ast::Atom, body: &[ast::Literal]) -> Vec<String> {
    let mut seen: HashSet<&str> = goal.terms.iter().filter_map(variable_name).collect();
    let mut further = Vec::new();
    let mut visit = |name| {
        if seen.insert(name) {
            further.push(name.to_owned());
        }
    };
    for literal in body {
        match &literal.kind {
            LiteralKind::Positive(atom) => {
                for term in &atom.terms {
                    for_each_variable(term, &mut visit);
                }
            }
            LiteralKind::Negative(_) | LiteralKind::NegatedConjunction(_) => {}
            LiteralKind::Disjunction(_) => in_all_alternatives(literal).into_iter().for_each(&mut visit),
            LiteralKind::Comparison { left, right, .. } => {
                for_each_variable(left, &mut visit);
                for_each_variable(right, &mut visit);
            }
        }
    }
    further
}

fn variable_name(term: &ast::Term) -> Option<&str> {
    match &term.kind {
        TermKind::Variable(name) => Some(name),
        _ => None,
    }
}

/// Calls `visit` for every variable in a term, in the order written.
pub(super) fn for_each_variable<'t>(term: &'t ast::Term, visit: &mut impl FnMut(&'t str)) {
    match &term.kind {
        TermKind::Variable(name) => visit(name),
        TermKind::Placeholder | TermKind::Constant(_) | TermKind::Parameter(_) => {}
        TermKind::Arithmetic { left, right, .. } => {
            for_each_variable(left, visit);
            for_each_variable(right, visit);
        }
        TermKind::Call { arguments, .. } => {
            arguments.iter().for_each(|argument| for_each_variable(argument, visit));
        }
        TermKind::Aggregate { arguments, .. } => {
            arguments.iter().for_each(|argument| for_each_variable(&argument.term, visit));
        }
    }
}
