//! A recursion as a walk through a graph, from many sources at once.
//!
//! Rows are not kept as tuples. A node has a bit for each value of the carried column, its *sources*, and to walk along
//! an edge is to unite the sets of its two ends, 64 sources at a time (Then et al., The More the Merrier: Efficient
//! Multi-Source Graph Traversal, VLDB 2014). Sources never meet: they are cut into parts that fit the cache, and each
//! part walks on its own, on any thread.

mod arcs;
mod end;
mod graph;
mod meeting;
mod met;
mod reach;
mod rows;
mod shortest;
mod sweep;

use self::arcs::Arcs;
pub(crate) use self::arcs::EdgeRuns;
use self::graph::Graph;
pub(crate) use self::meeting::{EACH_PAIR, FEW_PAIRS, connected};
use self::reach::reach;
use self::rows::{Order, assemble};
pub(crate) use self::shortest::{ShortestWays, Way};
use self::sweep::{Seeds, sweep};
use crate::data::{Code, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{codes, distinct_codes, edges_read};
use crate::exec::tables::Tables;
use crate::plan::{EdgeSource, Walk};

/// Graphs with more nodes than this are walked in narrow parts, so that all sets of a part take no more than about 32 MiB.
const WIDE_NODES: usize = 1 << 18;

/// Whether there is enough to do to leave tuples for sets. From one source each edge is looked at once, and in sets
/// that costs no more.
pub(crate) fn is_worth_walking(tables: &Tables<'_>, walk: &Walk, known: usize) -> bool {
    // What is stored is read as far as the walk goes.
    let derived_from = |source: &EdgeSource| match source {
        EdgeSource::Relation(_) => 0,
        EdgeSource::Rule(_) => edges_read(tables, source),
    };
    let derived: usize = walk.edges.iter().map(|edges| derived_from(&edges.source)).sum();
    if known < tables.thresholds.walk_rows {
        return known >= tables.thresholds.lone_walk_rows && derived == 0 && is_from_one_source(tables, walk);
    }
    known.saturating_mul(tables.thresholds.walk_edges_per_row) >= derived
}

/// Whether all rows have the same carried value, or none.
pub(crate) fn is_from_one_source(tables: &Tables<'_>, walk: &Walk) -> bool {
    let Some(carried) = walk.carried else { return true };
    let growing = tables.growing.get(&walk.relation).filter(|growing| growing.rows() > 0);
    growing.is_none_or(|growing| growing.column(carried).windows(2).all(|pair| pair[0] == pair[1]))
}

/// Walks until nothing new is found. `stable` rows have been taken one step further already, `delta` rows have not;
/// the answer has all of them.
pub(crate) fn traverse(
    tables: &Tables<'_>,
    walk: &Walk,
    stable: &[Run],
    delta: &[Run],
) -> Result<Run, ExecError> {
    let seeds = || stable.iter().chain(delta);
    let sources = walk.carried.map(|carried| distinct_codes(seeds(), carried));
    let arcs = Arcs::new(walk, sources.as_deref(), tables)?;
    let starts = codes(seeds(), walk.node);
    let sources = match sources {
        Some(sources) if sources.len() != 1 => sources,
        only => {
            // All nodes have the same set: which are reached is the whole answer.
            let nodes = reach(&arcs, &starts, tables.budget)?;
            let rows = nodes.len();
            tables.budget.charge(2 * rows * size_of::<Code>())?;
            let mut columns = vec![nodes];
            if let (Some(only), Some(carried)) = (only, walk.carried) {
                columns.insert(carried, vec![only[0]; rows]);
            }
            return Ok(Run::new(columns, rows));
        }
    };
    let graph = Graph::explore(&arcs, &starts, tables.budget)?;
    let seeds = |width| Seeds::new(walk, [stable, delta], &sources, &graph, width, tables.budget);
    if graph.nodes() > WIDE_NODES || sources.len() <= 64 {
        walk_all::<1>(tables, walk, &graph, &sources, &seeds(64)?)
    } else {
        walk_all::<8>(tables, walk, &graph, &sources, &seeds(512)?)
    }
}

fn walk_all<const W: usize>(
    tables: &Tables<'_>,
    walk: &Walk,
    graph: &Graph,
    sources: &[Code],
    seeds: &Seeds,
) -> Result<Run, ExecError> {
    // A lane walks its parts one after the other, over the same memory.
    const LANES: usize = 16;
    let carried_first = walk.carried == Some(0);
    let in_order = graph.in_order().filter(|_| carried_first);
    let lanes = parallel::lanes(seeds.parts(), seeds.parts().div_ceil(LANES));
    let lanes =
        parallel::map(lanes, |parts| sweep::<W>(graph, seeds, in_order.as_deref(), parts, tables.budget));
    let parts = lanes.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let order = match (carried_first, &in_order) {
        (true, Some(_)) => Order::BySource,
        (true, None) => Order::SourceFirst,
        (false, _) => Order::NodeFirst,
    };
    assemble(parts, sources, order, tables.budget)
}
