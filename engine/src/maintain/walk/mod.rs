//! Walks through a graph, brought forward: what a *source* does not reach any more, it has lost on the way.
//!
//! A row of the stratum says that a source reaches a *node*: along a start, then along edges. A source that has lost a node has
//! lost a start, or it still comes to the *tail* of an edge that is gone, and the tail has lost that node as well: else the
//! source would get there through it. So it is enough to find what tails have lost (`lost.rs`), to take that from the sources
//! that come to them, and to give back what these reach some other way (`removed.rs`). From starts and edges that have come
//! the walk goes on (`added.rs`).
//!
//! Nothing is kept beside the rows. No more is taken for gone than what nodes near the change have lost; who deletes all that
//! has used what is gone, and derives it again, does so to a whole component.

mod added;
mod lost;
mod many;
mod met;
mod removed;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::pairs::{Kind, Pairs};
use super::start_rules::{Evaluate, StartRules};
use super::{Named, Ordered, Step};
use crate::budget::Budget;
use crate::data::{Code, Codec, Difference, Relation, RelationId, Rows};
use crate::exec::ExecError;
use crate::plan::{PairsOf, Weight, plain_walk};

/// Ascending codes for each of some others: the nodes of a source, or the sources of a node.
type Lists = BTreeMap<Code, Vec<Code>>;

/// From where to where: an edge, or a source and its node.
type Pair = (Code, Code);

/// The rows of a stratum that walks through a graph, as they are now; none if it does something else.
pub(super) fn advance(
    step: &Step<'_>,
    changed: &BTreeMap<RelationId, Difference>,
    evaluate: &Evaluate<'_>,
    budget: &Budget,
) -> Result<Option<Named>, ExecError> {
    let Some(mut walk) = plain_walk(step.stratum, step.program) else { return Ok(None) };
    let name = |relation: RelationId| &step.program.relations[relation.index()].name;
    let Some(Ordered { rows: old, .. }) = step.old.get(name(walk.relation)) else { return Ok(None) };
    let Some(of_rules) = StartRules::evaluated(&walk.start_rules, 2, step, changed, evaluate)? else {
        return Ok(None);
    };
    let codec = Codec::over(Arc::clone(step.means.dictionary));
    let is_empty = |relations: &Named, source: &PairsOf| {
        relations.get(name(source.columns.relation)).is_none_or(Relation::is_empty)
    };
    for sources in [&mut walk.starts, &mut walk.edges] {
        sources.retain(|source| !is_empty(step.before, source) || !is_empty(step.now, source));
    }
    let is_closure = walk.start_rules.is_empty()
        && walk.starts.len() == walk.edges.len()
        && walk.starts.iter().all(|start| walk.edges.contains(start));
    let [starts, edges] = [&walk.starts, &walk.edges].map(|sources| {
        let kind =
            |source: &PairsOf| (source.columns.relation, Kind::of(source, Weight::Constant(0), &codec));
        sources.iter().map(kind).collect::<Vec<_>>()
    });
    let pairs = |relations: &Named, kinds: &[(RelationId, Kind)]| {
        let mut pairs = Pairs::new(budget);
        for (relation, kind) in kinds {
            relations.get(name(*relation)).iter().for_each(|rows| pairs.add_kind(rows, kind));
        }
        pairs
    };
    let mut rows = Pairs::new(budget);
    rows.add(old, [walk.carried, walk.node]);
    let mut starts_now = pairs(step.now, &starts);
    starts_now.add(&of_rules.now, [walk.carried, walk.node]);
    let graph = Graph {
        rows,
        starts: starts_now,
        edges: pairs(step.now, &edges),
        edges_before: pairs(step.before, &edges),
        is_closure,
        budget,
    };
    let sides: [fn(&Difference) -> &Rows; 2] =
        [|difference| &difference.removed, |difference| &difference.added];
    let [gone, come] = sides.map(|side| {
        let [edges, mut starts] = [&edges, &starts].map(|kinds| changes(kinds, changed, side));
        let of_rules = &side(&of_rules.difference).columns;
        starts.extend(of_rules[walk.carried].iter().copied().zip(of_rules[walk.node].iter().copied()));
        (edges, starts)
    });
    let removed = graph.removed(graph.lost(&gone.0, &gone.1)?)?;
    let added = graph.added(&removed, &come.0, &come.1)?;
    let rows = |of_nodes: &Lists, of_sources: &Lists| rows_of(of_nodes, of_sources, walk.carried);
    let rest = old.delete(&rows(&removed.of_nodes, &removed.of_sources)).0;
    let relation = rest.insert_absent(&rows(&added.of_nodes, &added.of_sources));
    Ok(Some(Named::from([(name(walk.relation).clone(), relation)])))
}

/// The starts or edges that are among rows that have changed.
fn changes(
    kinds: &[(RelationId, Kind)],
    changed: &BTreeMap<RelationId, Difference>,
    side: fn(&Difference) -> &Rows,
) -> Vec<Pair> {
    let rows = kinds.iter().filter_map(|(relation, kind)| Some((kind, side(changed.get(relation)?))));
    rows.flat_map(|(kind, rows)| kind.among(rows).map(|(from, to, _)| (from, to))).collect()
}

/// The rows of nodes with their sources, and of sources with their nodes.
fn rows_of(of_nodes: &Lists, of_sources: &Lists, carried: usize) -> Rows {
    let count = |lists: &Lists| lists.values().map(Vec::len).sum::<usize>();
    let len = count(of_nodes) + count(of_sources);
    let mut columns = [(); 2].map(|()| Vec::with_capacity(len));
    for (lists, key) in [(of_nodes, 1 - carried), (of_sources, carried)] {
        for (code, others) in lists {
            columns[1 - key].extend_from_slice(others);
            let rows = columns[1 - key].len();
            columns[key].resize(rows, *code);
        }
    }
    Rows { columns: columns.into(), len }
}

/// What is walked through.
struct Graph<'g> {
    /// The rows as they were, from sources to nodes.
    rows: Pairs<'g>,
    /// From sources to the nodes in which they begin.
    starts: Pairs<'g>,
    edges: Pairs<'g>,
    edges_before: Pairs<'g>,
    /// Whether starts and edges are the same: then a node reaches what it reaches as a source, and itself.
    is_closure: bool,
    budget: &'g Budget,
}
