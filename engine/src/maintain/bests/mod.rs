//! Best values of nodes, brought forward: the way of each to its value is looked at near what has changed.
//!
//! A node's value comes from a start, or along an edge from a node whose value is better by what the edge adds. Where such a
//! support is gone, nodes are looked at from the best value on: one with another support stays as it is, all others are lost
//! (`lost.rs`). What is lost gets the best that others offer, what has come may make nodes better, and both go on along the
//! edges, the best first (`better.rs`). That is the incremental algorithm of Ramalingam and Reps (An Incremental Algorithm for
//! a Generalization of the Shortest-Path Problem, J. Algorithms 1996), but for edges that add nothing: nodes of one value may
//! hold each other up there, and have to be followed to one that is held up by something else. A node that is reached or not
//! is the case in which no edge adds anything.

mod better;
mod lost;
mod starts;

use std::cell::Cell;
use std::collections::BTreeMap;

use foldhash::HashMap;

use self::starts::Starts;
use super::pairs::{End, Pairs};
use super::{Named, Step};
use crate::analysis::program::{Argument, Atom, Rule};
use crate::budget::Budget;
use crate::data::{Code, Difference, INLINE_END, Relation, RelationId, Rows};
use crate::exec::{ExecError, Outcome};
use crate::plan::{Columns, PlainBests, Weight, plain_bests};
use crate::rewrite::changes::Side;

/// A value as a number below [`INLINE_END`], of which the smallest is best.
type Key = u32;

/// The keys of some nodes.
type Keys = HashMap<Code, Key>;

/// An edge: where it begins and ends, and what it adds.
type Edge = (Code, Code, Key);

/// Evaluates the rows of rules of the stratum on a side of what they read; none if they cannot be.
type Evaluate<'e> = dyn Fn(&PlainBests<'_>, Side) -> Result<Option<(Outcome, RelationId)>, ExecError> + 'e;

/// The rows of a stratum that derives best values, as they are now; none if it does something else, or with other values.
pub(super) fn advance(
    step: &Step<'_>,
    changed: &BTreeMap<RelationId, Difference>,
    evaluate: &Evaluate<'_>,
    budget: &Budget,
) -> Result<Option<Named>, ExecError> {
    let Some(bests) = plain_bests(step.stratum, step.program) else { return Ok(None) };
    let name = |relation: RelationId| &step.program.relations[relation.index()].name;
    if !bests.start_rules.iter().all(|rule| are_few(rule, step)) {
        return Ok(None);
    }
    let Some(old) = step.old.get(name(bests.relation)) else { return Ok(None) };
    let values = Values { largest: bests.largest, are_there: bests.value.is_some() };
    let edges = |relations: &Named| {
        let mut pairs = Pairs::new(budget);
        for (Columns { relation, from, to }, weight) in &bests.edges {
            let rows = relations.get(name(*relation));
            rows.iter().for_each(|rows| pairs.add_weighted(rows, [*from, *to], *weight));
        }
        pairs
    };
    let mut rows = Pairs::new(budget);
    rows.add(old, [bests.node, bests.value.unwrap_or(bests.node)]);
    let starts = Starts::new(&bests, step, changed, values, evaluate, budget);
    let graph = Graph { rows, edges: edges(step.now), starts, values, budget, charged: Cell::default() };
    let edges = |side: fn(&Difference) -> &Rows| changed_edges(&bests, changed, values, side);
    let advance = || {
        let starts = graph.starts.changed()?;
        let lost = graph.lost(&edges(|difference| &difference.removed)?, &starts.gone)?;
        let better = graph.better(&lost, &edges(|difference| &difference.added)?, &starts.come)?;
        graph.brought(old, &bests, &lost, better)
    };
    match advance() {
        Ok(relation) => Ok(Some(Named::from([(name(bests.relation).clone(), relation)]))),
        // Some value is of another kind.
        Err(ExecError::NotWorth) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a rule is sure to have few rows: where it begins is asked of all of them.
fn are_few(rule: &Rule, step: &Step<'_>) -> bool {
    /// They are derived in the time of a step.
    const FEW: usize = 4_096;
    let is_short = |atom: &Atom| {
        let rows = step.now.get(&step.program.relations[atom.relation.index()].name);
        rows.is_none_or(|rows| rows.len() <= FEW)
            || atom.arguments.iter().any(|argument| matches!(argument, Argument::Constant(_)))
    };
    rule.atoms().next().is_none() || rule.atoms().any(is_short)
}

/// The edges among rows that have changed.
fn changed_edges(
    bests: &PlainBests<'_>,
    changed: &BTreeMap<RelationId, Difference>,
    values: Values,
    side: fn(&Difference) -> &Rows,
) -> Result<Vec<Edge>, ExecError> {
    let mut edges = Vec::new();
    for (Columns { relation, from, to }, weight) in &bests.edges {
        let Some(difference) = changed.get(relation) else { continue };
        let rows = side(difference);
        for row in 0..rows.len {
            let weight = match weight {
                Weight::Constant(weight) => *weight,
                Weight::Column(column) => rows.columns[*column][row],
            };
            edges.push((rows.columns[*from][row], rows.columns[*to][row], values.added(weight)?));
        }
    }
    Ok(edges)
}

/// How values are compared.
#[derive(Debug, Clone, Copy)]
struct Values {
    largest: bool,
    /// If not, a node is reached or not.
    are_there: bool,
}

impl Values {
    /// Values of another kind than small integers are left to evaluation from scratch.
    fn key(self, value: Code) -> Result<Key, ExecError> {
        match self.are_there {
            false => Ok(0),
            true if value >= INLINE_END => Err(ExecError::NotWorth),
            true => Ok(if self.largest { INLINE_END - 1 - value } else { value }),
        }
    }

    fn value(self, key: Key) -> Code {
        if self.largest { INLINE_END - 1 - key } else { key }
    }

    /// What an edge adds.
    fn added(self, weight: Code) -> Result<Key, ExecError> {
        if weight < INLINE_END { Ok(weight) } else { Err(ExecError::NotWorth) }
    }

    fn sum(self, key: Key, added: Key) -> Result<Key, ExecError> {
        let sum = key.checked_add(added).filter(|sum| *sum < INLINE_END);
        sum.ok_or(ExecError::NotWorth)
    }
}

/// What values are handed on along.
struct Graph<'g> {
    /// The rows as they were, from nodes to values.
    rows: Pairs<'g>,
    edges: Pairs<'g>,
    starts: Starts<'g>,
    values: Values,
    budget: &'g Budget,
    /// Nodes that are paid for.
    charged: Cell<usize>,
}

impl Graph<'_> {
    /// The key that a node had.
    fn old(&self, node: Code) -> Result<Option<Key>, ExecError> {
        let mut value = None;
        self.rows.visit(End::From, node, |found| value = Some(found))?;
        value.map(|value| self.values.key(value)).transpose()
    }

    /// The other ends of a node's edges, with what these add.
    fn edges_of(&self, end: End, node: Code) -> Result<Vec<(Code, Key)>, ExecError> {
        let mut edges = Vec::new();
        self.edges.visit_weighted(end, node, |other, weight| edges.push((other, weight)))?;
        edges.iter().try_for_each(|(_, weight)| self.values.added(*weight).map(drop))?;
        Ok(edges)
    }

    /// Looks at the budget; so many nodes are held.
    fn check(&self, nodes: usize) -> Result<(), ExecError> {
        /// Of a node in a table and a list.
        const BYTES: usize = 64;
        let more = nodes.saturating_sub(self.charged.get());
        self.budget.charge(more * BYTES)?;
        self.charged.set(self.charged.get() + more);
        Ok(self.budget.check()?)
    }

    /// The rows as they are now.
    fn brought(
        &self,
        old: &Relation,
        bests: &PlainBests<'_>,
        lost: &Keys,
        better: Keys,
    ) -> Result<Relation, ExecError> {
        let (mut gone, mut come) = (Vec::new(), Vec::new());
        for (node, key) in lost {
            if better.get(node) != Some(key) {
                gone.push((*node, *key));
            }
        }
        for (node, key) in better {
            let before = self.old(node)?;
            if before == Some(key) {
                continue;
            }
            come.push((node, key));
            gone.extend(before.filter(|_| !lost.contains_key(&node)).map(|before| (node, before)));
        }
        let rows = |nodes: Vec<(Code, Key)>| {
            let len = nodes.len();
            let (nodes, keys): (Vec<Code>, Vec<Key>) = nodes.into_iter().unzip();
            let values = keys.into_iter().map(|key| self.values.value(key));
            let columns = match bests.value {
                None => vec![nodes],
                Some(0) => vec![values.collect(), nodes],
                Some(_) => vec![nodes, values.collect()],
            };
            Rows { columns, len }
        };
        Ok(old.delete(&rows(gone)).0.insert_absent(&rows(come)))
    }
}
