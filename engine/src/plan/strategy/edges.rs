//! Pairs of values that lead from one to the other: two columns of a relation, or what conditions leave of them.

use foldhash::{HashSet, HashSetExt};

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Rule};
use crate::data::{RelationId, VariableId};

/// Two columns of a relation as edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Columns {
    /// The relation.
    pub relation: RelationId,
    /// The column in which they begin.
    pub from: usize,
    /// The column in which they end.
    pub to: usize,
}

/// Where edges come from.
#[derive(Debug, Clone, PartialEq)]
pub enum EdgeSource {
    /// Two columns of a relation.
    Relation(Columns),
    /// What a rule derives, with the beginning as its first column and the end as its second.
    Rule(Rule),
}

impl EdgeSource {
    /// Whether a relation's rows are, or make, edges.
    pub(crate) fn reads(&self, other: RelationId) -> bool {
        match self {
            EdgeSource::Relation(columns) => columns.relation == other,
            EdgeSource::Rule(rule) => rule.reads().any(|relation| relation == other),
        }
    }

    /// Two columns of a relation, if nothing else is asked of it.
    pub(crate) fn between(conditions: &[Literal], from: &Expression, to: &Expression) -> Option<EdgeSource> {
        let [Literal::Atom(atom)] = conditions else { return None };
        let mut seen = HashSet::new();
        let is_plain = atom.arguments.iter().all(|argument| match argument {
            Argument::Variable(variable) => seen.insert(*variable),
            Argument::Constant(_) => false,
            Argument::Any => true,
        });
        let column = |end: &Expression| {
            let end = variable(end)?;
            atom.arguments.iter().position(|argument| *argument == Argument::Variable(end))
        };
        is_plain.then_some(())?;
        let (from, to) = (column(from)?, column(to)?);
        Some(EdgeSource::Relation(Columns { relation: atom.relation, from, to }))
    }
}

/// Where edges with these columns come from, if one atom binds all of them and everything that the conditions read.
pub(crate) fn edges_of(rule: &Rule, conditions: &[Literal], head: Vec<Expression>) -> Option<EdgeSource> {
    if let [from, to] = head.as_slice()
        && let Some(source) = EdgeSource::between(conditions, from, to)
    {
        return Some(source);
    }
    if !head.iter().all(is_plain) {
        return None;
    }
    let ends: HashSet<VariableId> = head.iter().filter_map(variable).collect();
    let binds_all = |atom: &Atom| {
        let bound: HashSet<VariableId> = atom.variables().collect();
        let is_bound = |other: &Literal| variables_of(other).is_some_and(|read| read.is_subset(&bound));
        ends.is_subset(&bound) && conditions.iter().all(is_bound)
    };
    let is_found = conditions.iter().filter_map(Literal::atom).any(binds_all);
    is_found.then(|| EdgeSource::Rule(derive(rule, head, conditions.to_vec())))
}

/// A rule that derives these expressions from some of another rule's conditions.
pub(crate) fn derive(rule: &Rule, head: Vec<Expression>, body: Vec<Literal>) -> Rule {
    Rule {
        head: rule.head,
        head_terms: head.into_iter().map(HeadTerm::Expression).collect(),
        ranking: None,
        body,
        variables: rule.variables.clone(),
        text: rule.text.clone(),
    }
}

/// What an atom has in a column, unless it is anything.
pub(crate) fn end(atom: &Atom, column: usize) -> Option<Expression> {
    match &atom.arguments[column] {
        Argument::Variable(variable) => Some(Expression::Variable(*variable)),
        Argument::Constant(value) => Some(Expression::Constant(value.clone())),
        Argument::Any => None,
    }
}

/// The variables of a literal that computes nothing. What computes is left to when its turn comes: a value that is
/// never reached must not overflow.
pub(crate) fn variables_of(literal: &Literal) -> Option<HashSet<VariableId>> {
    match literal {
        Literal::Atom(atom) | Literal::Negated(atom) => Some(atom.variables().collect()),
        Literal::Filter { left, right, .. } => (is_plain(left) && is_plain(right))
            .then(|| [left, right].into_iter().filter_map(variable).collect()),
        Literal::Assign { .. } => None,
    }
}

fn is_plain(expression: &Expression) -> bool {
    matches!(expression, Expression::Variable(_) | Expression::Constant(_))
}

/// The variable that an expression is.
pub(crate) fn variable(expression: &Expression) -> Option<VariableId> {
    match expression {
        Expression::Variable(variable) => Some(*variable),
        Expression::Constant(_) | Expression::Arithmetic { .. } | Expression::Call { .. } => None,
    }
}
