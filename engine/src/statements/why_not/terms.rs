//! Conditions with values in the place of variables.

use std::collections::BTreeMap;

use crate::data::Value;
use crate::diagnostic::Span;
use crate::syntax::ast::{Atom, Comparison, Literal, LiteralKind, Term, TermKind};

/// What variables stand for.
pub(super) type Values = BTreeMap<String, Value>;

pub(super) fn constant(value: Value) -> Term {
    Term { kind: TermKind::Constant(value), span: Span::default() }
}

pub(super) fn variable(name: &str) -> Term {
    Term { kind: TermKind::Variable(name.to_owned()), span: Span::default() }
}

/// `left = right`
pub(super) fn equal(left: Term, right: Term) -> Literal {
    literal(LiteralKind::Comparison { operator: Comparison::Equal, left, right })
}

pub(super) fn literal(kind: LiteralKind) -> Literal {
    Literal { kind, span: Span::default() }
}

/// An atom with the values of its variables; those that have none are anything.
pub(super) fn atom_with(atom: &Atom, values: &Values) -> Atom {
    let terms = atom.terms.iter().map(|term| match &term.kind {
        TermKind::Variable(name) if !values.contains_key(name) => {
            Term { kind: TermKind::Placeholder, span: term.span }
        }
        _ => term_with(term, values),
    });
    Atom { terms: terms.collect(), ..atom.clone() }
}

/// An atom that matches all rows, with a variable for each column.
pub(super) fn with_columns(atom: &Atom) -> Atom {
    let terms = (0..atom.terms.len()).map(|column| variable(&format!("C{column}")));
    Atom { terms: terms.collect(), ..atom.clone() }
}

/// A term with the values of its variables, as far as they have any.
pub(super) fn term_with(term: &Term, values: &Values) -> Term {
    let kind = match &term.kind {
        TermKind::Variable(name) => match values.get(name) {
            Some(value) => TermKind::Constant(value.clone()),
            None => term.kind.clone(),
        },
        TermKind::Arithmetic { operator, left, right } => TermKind::Arithmetic {
            operator: *operator,
            left: Box::new(term_with(left, values)),
            right: Box::new(term_with(right, values)),
        },
        TermKind::Call { function, arguments } => TermKind::Call {
            function: function.clone(),
            arguments: arguments.iter().map(|argument| term_with(argument, values)).collect(),
        },
        TermKind::Placeholder
        | TermKind::Constant(_)
        | TermKind::Parameter(_)
        | TermKind::Aggregate { .. } => term.kind.clone(),
    };
    Term { kind, span: term.span }
}

/// A condition with the values of its variables.
pub(super) fn literal_with(condition: &Literal, values: &Values) -> Literal {
    let all = |inner: &Vec<Literal>| inner.iter().map(|inside| literal_with(inside, values)).collect();
    literal(match &condition.kind {
        LiteralKind::Positive(atom) => LiteralKind::Positive(atom_with(atom, values)),
        LiteralKind::Negative(atom) => LiteralKind::Negative(atom_with(atom, values)),
        LiteralKind::Comparison { operator, left, right } => LiteralKind::Comparison {
            operator: *operator,
            left: term_with(left, values),
            right: term_with(right, values),
        },
        LiteralKind::Disjunction(alternatives) => {
            LiteralKind::Disjunction(alternatives.iter().map(all).collect())
        }
        LiteralKind::NegatedConjunction(inner) => LiteralKind::NegatedConjunction(all(inner)),
    })
}

/// Calls `visit` with each variable of a term.
fn for_each_variable<'t>(term: &'t Term, visit: &mut impl FnMut(&'t str)) {
    match &term.kind {
        TermKind::Variable(name) => visit(name),
        TermKind::Arithmetic { left, right, .. } => {
            for_each_variable(left, visit);
            for_each_variable(right, visit);
        }
        TermKind::Call { arguments, .. } => {
            arguments.iter().for_each(|argument| for_each_variable(argument, visit));
        }
        TermKind::Placeholder
        | TermKind::Constant(_)
        | TermKind::Parameter(_)
        | TermKind::Aggregate { .. } => {}
    }
}

fn variables_of<'t>(terms: impl IntoIterator<Item = &'t Term>) -> Vec<&'t str> {
    let mut found = Vec::new();
    terms.into_iter().for_each(|term| for_each_variable(term, &mut |name| found.push(name)));
    found
}

/// The variables that a condition gives values to.
pub(super) fn bound_by(condition: &Literal) -> Vec<&str> {
    match &condition.kind {
        LiteralKind::Positive(atom) => variables_of(&atom.terms),
        LiteralKind::Comparison { operator: Comparison::Equal, left, right } => {
            let sides = [left, right].into_iter();
            sides
                .filter(|side| matches!(side.kind, TermKind::Variable(_)))
                .flat_map(|side| variables_of([side]))
                .collect()
        }
        LiteralKind::Disjunction(alternatives) => {
            let mut each = alternatives.iter().map(|body| body.iter().flat_map(bound_by).collect::<Vec<_>>());
            let first = each.next().unwrap_or_default();
            each.fold(first, |all, other| all.into_iter().filter(|name| other.contains(name)).collect())
        }
        LiteralKind::Comparison { .. } | LiteralKind::Negative(_) | LiteralKind::NegatedConjunction(_) => {
            Vec::new()
        }
    }
}

/// The variables that a condition needs values of before it can be asked.
fn needed_by(condition: &Literal) -> Vec<&str> {
    match &condition.kind {
        LiteralKind::Positive(_) | LiteralKind::Disjunction(_) => Vec::new(),
        LiteralKind::Negative(atom) => variables_of(&atom.terms),
        LiteralKind::Comparison { operator, left, right } => {
            let [left_names, right_names] = [left, right].map(|side| variables_of([side]));
            let is_variable = |side: &Term| matches!(side.kind, TermKind::Variable(_));
            match operator {
                Comparison::Equal if is_variable(left) => right_names,
                Comparison::Equal if is_variable(right) => left_names,
                _ => [left_names, right_names].concat(),
            }
        }
        LiteralKind::NegatedConjunction(inner) => inner.iter().flat_map(bound_by).collect(),
    }
}

/// Conditions in an order in which each can be asked after those before it, as near to the written one as possible; with
/// their places in the body.
pub(super) fn in_order<'b>(body: &'b [Literal], known: &Values) -> Vec<(usize, &'b Literal)> {
    let mut bound: Vec<&str> = known.keys().map(String::as_str).collect();
    let mut open: Vec<(usize, &Literal)> = body.iter().enumerate().collect();
    let mut order = Vec::with_capacity(open.len());
    while !open.is_empty() {
        let is_ready = |(_, condition): &(usize, &Literal)| {
            let is_last = matches!(condition.kind, LiteralKind::NegatedConjunction(_));
            !is_last && needed_by(condition).iter().all(|name| bound.contains(name))
        };
        let next = open.iter().position(is_ready).unwrap_or(0);
        let (place, condition) = open.remove(next);
        bound.extend(bound_by(condition));
        order.push((place, condition));
    }
    order
}
