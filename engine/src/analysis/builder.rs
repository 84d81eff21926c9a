//! `Builder`: one clause at a time. Terms and literals with names become expressions and atoms with ids.
//!
//! A clause with errors still binds its variables, so that one mistake is reported once.

use foldhash::{HashMap, HashMapExt};

use super::error::{AnalysisError, Role};
use super::expressions::type_of;
use super::near::near_names;
use super::nested::negated_comparison;
use super::program::{Argument, Atom, Expression, HeadTerm, Literal, Ranking, Rule, Test, Variable};
use super::resolve::{Clause, Origin, Resolver, Source};
use super::safety::{self, Use};
use super::types::{self, Declared};
use super::variables::{for_each_variable, variable_name};
use crate::data::{DataType, RelationId, Value, VariableId};
use crate::diagnostic::{Code, Diagnostic, Span};
use crate::functions::lists::is_each;
use crate::functions::{ScalarFunction, functions};
use crate::syntax::ast;
use crate::syntax::ast::{Comparison, LiteralKind, TermKind};

/// One clause at work.
pub(super) struct Builder<'r, 'a> {
    resolver: &'r mut Resolver<'a>,
    origin: Origin,
    variables: Vec<Variable>,
    names: HashMap<String, VariableId>,
    /// For each variable, the first declared column it stands in.
    declared: Vec<Option<Declared>>,
    pub(super) literals: Vec<(Literal, Span)>,
    pub(super) uses: Vec<Use>,
    /// Variables of what was refused: they are not reported again.
    excused: Vec<VariableId>,
    errors_before: usize,
}

/// A resolved head.
pub(super) struct Head {
    /// Each column with its place; nothing where it was refused.
    pub(super) columns: Vec<(Option<HeadTerm>, Span)>,
    /// Which solutions of a group make a row, if not all.
    pub(super) ranking: Option<Ranking>,
}

impl<'r, 'a> Builder<'r, 'a> {
    /// A clause without literals yet.
    pub(super) fn new(resolver: &'r mut Resolver<'a>, origin: Origin) -> Builder<'r, 'a> {
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

    /// Where faults are reported.
    pub(super) fn errors(&mut self) -> &mut Vec<AnalysisError> {
        &mut self.resolver.errors
    }

    /// Decides what binds, checks safety and types, and hands the clause over.
    pub(super) fn finish(mut self, source: Source, columns: Head, goal_arguments: usize) {
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

    /// Adds a plain literal.
    pub(super) fn literal(&mut self, literal: &ast::Literal) {
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

    /// Adds a positive atom, and what its arguments are computed of.
    pub(super) fn positive(&mut self, atom: &ast::Atom, span: Span) {
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
                found: type_of(value),
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
