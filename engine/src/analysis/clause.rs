//! Clauses resolved: what is nested in a clause and what it searches for become clauses of their own, and each of them is
//! built.

use std::borrow::Cow;

use super::builder::{Builder, Head};
use super::error::{AnalysisError, Role};
use super::nested::Made;
use super::program::{Argument, Expression, HeadTerm, Literal, Relation};
use super::resolve::{Origin, Resolver, Source};
use super::safety::Use;
use super::search::{self, Taken};
use crate::data::Value;
use crate::diagnostic::Span;
use crate::syntax::ast;
use crate::syntax::ast::{LiteralKind, TermKind};

/// So many errors of one clause are enough.
const MOST_ERRORS: usize = 100;

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
    fn unnested_clause(
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

    /// Resolves the rules of a search that was taken out of a clause.
    fn resolve_search(&mut self, taken: Taken, origin: Origin) {
        let Taken { inputs, found, search, is_numbered } = taken;
        let mut made = inputs.map(|inputs| self.made_clause(inputs, 0, origin)).unwrap_or_default();
        made.extend(self.made_clause(found, usize::from(is_numbered), origin));
        let rule = self.clauses.last_mut().map(|clause| &mut clause.rule);
        if let Some(rule) = rule
            && let Some(ranking) = &mut rule.ranking
        {
            ranking.search = Some(search);
            ranking.is_numbered = is_numbered;
            if is_numbered {
                ranking.columns.end += 1;
                rule.head_terms.push(HeadTerm::Expression(Expression::Constant(Value::Int(0))));
            }
        }
        self.resolve_made(made, origin);
    }

    /// Resolves a clause of a relation that has so many columns more than its head. Answers what was made for what is
    /// nested in it.
    fn made_clause(&mut self, clause: search::Clause, more: usize, origin: Origin) -> Vec<Made> {
        let search::Clause { relation, head, body, text, span } = clause;
        let columns: usize = head.iter().map(ast::Term::columns).sum();
        let id = self.relation(&relation, columns + more);
        self.unnested_clause(Source { head: id, origin, text, span }, &head, &body)
    }

    /// Resolves the rules of what was made for a clause.
    fn resolve_made(&mut self, made: Vec<Made>, origin: Origin) {
        for Made { head, terms, bodies, text, span } in made {
            let before = self.errors.len();
            for body in bodies {
                if self.errors.len() > before + MOST_ERRORS {
                    break;
                }
                // Of alternatives beside others, those of the last one tell them apart.
                let span = body.last().map_or(span, |literal| literal.span);
                self.clause(Source { head, origin, text: ruled(&text, &body), span }, &terms, &body);
            }
            for error in &mut self.errors[before..] {
                if let AnalysisError::Unbound { role: role @ Role::Head, span, rule, .. } = error {
                    (*role, *span) = (Role::Alternative, *rule);
                }
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

/// The text of a rule whose head is known.
fn ruled(head: &str, body: &[ast::Literal]) -> String {
    let body: Vec<String> = body.iter().map(ToString::to_string).collect();
    format!("{head} <- {}", body.join(", "))
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
