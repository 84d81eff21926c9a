//! Which literal next: greedily the one expected to multiply the bindings least.

use std::collections::HashSet;

use crate::analysis::program::{Argument, Atom, Literal, Rule};
use crate::data::{RelationId, VariableId};

/// What the planner knows of the rows it will read.
pub trait Statistics {
    /// Number of rows.
    fn rows(&self, relation: RelationId) -> usize;
    /// Number of distinct values in a column.
    fn distinct(&self, relation: RelationId, column: usize) -> usize;
}

/// The order in which a rule's literals are evaluated, beginning with `first` if one is given.
///
/// Filters, computations and negations run as soon as their variables are bound; they only ever shrink the work.
pub(super) fn order_literals(rule: &Rule, first: Option<usize>, statistics: &dyn Statistics) -> Vec<usize> {
    let mut bound: HashSet<VariableId> = HashSet::new();
    let mut order = Vec::with_capacity(rule.body.len());
    let mut open: Vec<usize> = (0..rule.body.len()).collect();
    let mut next = first;
    loop {
        if let Some(literal) = next {
            bind(&rule.body[literal], &mut bound);
            open.retain(|other| *other != literal);
            order.push(literal);
        }
        let ready = open.iter().copied().find(|literal| is_ready(&rule.body[*literal], &bound));
        next = ready.or_else(|| cheapest_atom(rule, &open, &bound, statistics));
        if next.is_none() {
            // Whatever is left can never be bound; analysis has refused such rules.
            return order;
        }
    }
}

/// Whether a literal other than an atom can be evaluated.
fn is_ready(literal: &Literal, bound: &HashSet<VariableId>) -> bool {
    let mut ready = true;
    let mut require = |variable: VariableId| ready &= bound.contains(&variable);
    match literal {
        Literal::Atom(_) => return false,
        Literal::Negated(atom) => variables(atom).for_each(require),
        Literal::Filter { left, right, .. } => {
            left.for_each_variable(&mut require);
            right.for_each_variable(&mut require);
        }
        Literal::Assign { expression, .. } => expression.for_each_variable(&mut require),
    }
    ready
}

fn bind(literal: &Literal, bound: &mut HashSet<VariableId>) {
    match literal {
        Literal::Atom(atom) => bound.extend(variables(atom)),
        Literal::Assign { variable, .. } => {
            bound.insert(*variable);
        }
        Literal::Negated(_) | Literal::Filter { .. } => {}
    }
}

pub(super) fn variables(atom: &Atom) -> impl Iterator<Item = VariableId> + '_ {
    atom.arguments.iter().filter_map(|argument| match argument {
        Argument::Variable(variable) => Some(*variable),
        Argument::Constant(_) | Argument::Any => None,
    })
}

fn cheapest_atom(
    rule: &Rule,
    open: &[usize],
    bound: &HashSet<VariableId>,
    statistics: &dyn Statistics,
) -> Option<usize> {
    let mut best: Option<(bool, f64, usize)> = None;
    for &literal in open {
        let Literal::Atom(atom) = &rule.body[literal] else { continue };
        // A cross product comes last, however small.
        let detached = !bound.is_empty()
            && variables(atom).next().is_some()
            && !variables(atom).any(|v| bound.contains(&v));
        let cost = expected_matches(atom, bound, statistics);
        if best.is_none_or(|(d, c, _)| (detached, cost) < (d, c)) {
            best = Some((detached, cost, literal));
        }
    }
    best.map(|(_, _, literal)| literal)
}

/// Rows of the atom expected for one binding: its size over the distinct values of each bound column.
fn expected_matches(atom: &Atom, bound: &HashSet<VariableId>, statistics: &dyn Statistics) -> f64 {
    let rows = statistics.rows(atom.relation) as f64;
    let mut seen = HashSet::new();
    let mut matches = rows;
    for (column, argument) in atom.arguments.iter().enumerate() {
        let is_bound = match argument {
            Argument::Variable(variable) => bound.contains(variable) || !seen.insert(*variable),
            Argument::Constant(_) => true,
            Argument::Any => false,
        };
        if is_bound {
            matches /= statistics.distinct(atom.relation, column).max(1) as f64;
        }
    }
    // Columns that depend on each other do not multiply their selectivity.
    if rows >= 1.0 { matches.max(1.0 / rows) } else { 0.0 }
}
