//! Which literal first, and which next.

use std::collections::HashSet;

use crate::analysis::program::{Argument, Atom, Literal, Rule};
use crate::data::{RelationId, VariableId};

/// What the planner knows of the rows it will read.
pub trait Statistics {
    /// Number of rows.
    fn rows(&self, relation: RelationId) -> usize;
    /// Number of distinct values in a column.
    fn distinct(&self, relation: RelationId, column: usize) -> usize;
    /// Whether an index knows the rows in the order of a column.
    fn is_sorted(&self, relation: RelationId, column: usize) -> bool;
}

/// The order in which a rule's literals are evaluated, beginning with `first` if one is given.
///
/// Filters, computations and negations run as soon as their variables are bound; they only ever shrink the work. Where
/// much work is expected, it is compared with that of beginning elsewhere: to look up most of a large relation takes
/// longer than to read all of it.
pub(super) fn order_literals(rule: &Rule, first: Option<usize>, statistics: &dyn Statistics) -> Vec<usize> {
    /// Work and atoms that are worth a comparison.
    const MUCH: f64 = 20_000.0;
    const FEW: usize = 8;
    /// Work may be estimated wrongly by so much.
    const CLEARLY: f64 = 0.8;
    let order = greedily(rule, first, statistics);
    let atoms = order.iter().copied().filter(|literal| rule.body[*literal].atom().is_some());
    let starts: Vec<usize> = atoms.skip(1).collect();
    let limit = work(rule, &order, statistics);
    if first.is_some() || limit < MUCH || starts.len() >= FEW || reads_constants(rule) {
        return order;
    }
    let others = starts.into_iter().map(|start| greedily(rule, Some(start), statistics));
    let others = others.map(|other| (work(rule, &other, statistics), other));
    match others.min_by(|(a, _), (b, _)| a.total_cmp(b)) {
        Some((work, other)) if work < CLEARLY * limit => other,
        Some(_) | None => order,
    }
}

/// Whether some atom is looked up by what the rule says.
fn reads_constants(rule: &Rule) -> bool {
    rule.atoms().flat_map(|atom| &atom.arguments).any(|argument| matches!(argument, Argument::Constant(_)))
}

/// The work of evaluating literals in this order, in rows that are read one after the other.
fn work(rule: &Rule, order: &[usize], statistics: &dyn Statistics) -> f64 {
    /// A relation of so many rows does not fit the cache.
    const LARGE: usize = 1 << 18;
    /// What it costs to look up a key, and to read a row that is found.
    const LARGE_COST: f64 = 4.0;
    const SMALL_COST: f64 = 0.5;
    let mut bound = HashSet::new();
    let (mut bindings, mut work) = (1.0, 0.0);
    for (position, literal) in order.iter().enumerate() {
        let literal = &rule.body[*literal];
        if let Literal::Atom(atom) = literal {
            let rows = statistics.rows(atom.relation);
            let matches = expected_matches(atom, &bound, statistics);
            let cost = if rows > LARGE { LARGE_COST } else { SMALL_COST };
            work += if position == 0 { rows as f64 } else { bindings * (1.0 + matches) * cost };
            bindings *= matches;
        }
        bind(literal, &mut bound);
    }
    work
}

/// The literal that is expected to multiply the bindings least comes next.
fn greedily(rule: &Rule, first: Option<usize>, statistics: &dyn Statistics) -> Vec<usize> {
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
        Literal::Negated(atom) => atom.variables().for_each(require),
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
        Literal::Atom(atom) => bound.extend(atom.variables()),
        Literal::Assign { variable, .. } => {
            bound.insert(*variable);
        }
        Literal::Negated(_) | Literal::Filter { .. } => {}
    }
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
            && atom.variables().next().is_some()
            && !atom.variables().any(|v| bound.contains(&v));
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
