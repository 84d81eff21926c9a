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
mod key;
mod lost;
mod starts;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use foldhash::HashMap;

use self::key::{Key, Values};
use self::starts::Starts;
use super::pairs::{End, Kind, Pairs};
use super::start_rules::{Evaluate, StartRules};
use super::{Named, Ordered, Step};
use crate::budget::Budget;
use crate::data::{Code, Codec, Difference, Learning, Relation, RelationId, Rows};
use crate::exec::ExecError;
use crate::plan::{PlainBests, plain_bests};

/// The keys of some nodes.
type Keys = HashMap<Code, Key>;

/// An edge: where it begins and ends, and what it adds.
type Edge = (Code, Code, Key);

/// The rows of a stratum that derives best values, as they are now; none if it does something else, or with other values.
pub(super) fn advance(
    step: &Step<'_>,
    changed: &BTreeMap<RelationId, Difference>,
    evaluate: &Evaluate<'_>,
    budget: &Budget,
) -> Result<Option<Named>, ExecError> {
    let Some(bests) = plain_bests(step.stratum, step.program) else { return Ok(None) };
    let name = |relation: RelationId| &step.program.relations[relation.index()].name;
    let Some(Ordered { rows: old, .. }) = step.old.get(name(bests.relation)) else { return Ok(None) };
    let rules = StartRules::evaluated(&bests.start_rules, old.arity(), step, changed, evaluate)?;
    let Some(of_rules) = rules else { return Ok(None) };
    let codec = Codec::over(Arc::clone(step.means.dictionary));
    let values = Values { largest: bests.largest, are_there: bests.value.is_some(), codec: &codec };
    let kinds = bests
        .edges
        .iter()
        .map(|(source, weight)| (source.columns.relation, Kind::of(source, *weight, &codec)));
    let kinds: Vec<(RelationId, Kind)> = kinds.collect();
    let mut edges = Pairs::new(budget);
    for (relation, kind) in &kinds {
        step.now.get(name(*relation)).iter().for_each(|rows| edges.add_kind(rows, kind));
    }
    let mut rows = Pairs::new(budget);
    rows.add(old, [bests.node, bests.value.unwrap_or(bests.node)]);
    let starts = Starts::new(&bests, step, changed, values, of_rules, budget);
    let graph = Graph { rows, edges, starts, values, budget, charged: Cell::default() };
    let edges = |side: fn(&Difference) -> &Rows| changed_edges(&kinds, changed, values, side);
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

/// The edges among rows that have changed.
fn changed_edges(
    kinds: &[(RelationId, Kind)],
    changed: &BTreeMap<RelationId, Difference>,
    values: Values<'_>,
    side: fn(&Difference) -> &Rows,
) -> Result<Vec<Edge>, ExecError> {
    let rows = kinds.iter().filter_map(|(relation, kind)| Some((kind, side(changed.get(relation)?))));
    let edges = rows.flat_map(|(kind, rows)| kind.among(rows));
    edges.map(|(from, to, weight)| Ok((from, to, values.added(weight)?))).collect()
}

/// What values are handed on along.
struct Graph<'g> {
    /// The rows as they were, from nodes to values.
    rows: Pairs<'g>,
    edges: Pairs<'g>,
    starts: Starts<'g>,
    values: Values<'g>,
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
        edges.into_iter().map(|(other, weight)| Ok((other, self.values.added(weight)?))).collect()
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
        let mut learning = Learning::from(self.values.codec);
        let mut rows = |nodes: Vec<(Code, Key)>| {
            let len = nodes.len();
            let (nodes, keys): (Vec<Code>, Vec<Key>) = nodes.into_iter().unzip();
            let values = keys.into_iter().map(|key| self.values.code(key, &mut learning));
            let columns = match bests.value {
                None => vec![nodes],
                Some(0) => vec![values.collect::<Result<_, _>>()?, nodes],
                Some(_) => vec![nodes, values.collect::<Result<_, _>>()?],
            };
            Ok::<_, ExecError>(Rows { columns, len })
        };
        Ok(old.delete(&rows(gone)?).0.insert_absent(&rows(come)?))
    }
}
