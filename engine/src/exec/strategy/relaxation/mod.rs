//! A recursion through `min` and `max` as relaxation of edges (Bellman and Ford).
//!
//! The best value of each node stands in an array. Sweeps over the nodes that have become better hand their values on,
//! and what becomes better ahead of the sweep is handed on in the same one. Values are small integers, or of any kind where
//! edges have no weights; or floats, where all weights are floats. Rows that carry different values have arrays of their own:
//! such *sources* are relaxed side by side.

mod adjacency;

mod edges;

mod keys;

mod nodes;

mod sources;

mod sweeps;

use self::adjacency::{Adjacency, Weights};
use self::edges::{Edges, edges_of};
use self::keys::{Floats, is_float, keys};
use self::nodes::Nodes;
use self::sources::Sources;
use crate::data::{INLINE_END, Run, dense_range, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::edges_read;
use crate::exec::growing::gather;
use crate::exec::known::BestRows;
use crate::exec::tables::Tables;
use crate::plan::{Columns, EdgeSource, Made, Relaxation, Weight, Weighted};

/// Whether there is enough to do to leave rounds for sweeps: sooner where edges lie side by side already.
pub(crate) fn is_worth_relaxing(tables: &Tables<'_>, relaxation: &Relaxation, known: usize) -> bool {
    /// So many times sooner.
    const READY: usize = 64;
    /// Nodes get their first values in the time in which one of so many edges is read.
    const NODES_PER_READ: usize = 64;
    let (mut read, mut nodes) = (0, 0);
    for edges in &relaxation.edges {
        match nodes_if_ready(tables, edges, relaxation.largest) {
            Some(more) => nodes = nodes.max(more),
            None => read += edges_read(tables, &edges.source),
        }
    }
    let sooner = if read == 0 { READY } else { 1 };
    let read = read + nodes / NODES_PER_READ;
    known.saturating_mul(sooner) >= tables.thresholds.relax_rows
        && known.saturating_mul(tables.thresholds.relax_reads_per_row) >= read
}

/// How many codes nodes may have, if edges and their weights lie side by side already and are taken as they are.
fn nodes_if_ready(tables: &Tables<'_>, edges: &Weighted, largest: bool) -> Option<usize> {
    let EdgeSource::Relation(Columns { relation, from, to }) = edges.source else { return None };
    let runs = tables.complete.get(&relation).map_or(&[] as &[Run], Vec::as_slice);
    let beside = match edges.weight {
        Some((made, Weight::Column(_))) if largest && made != Made::Sum => return None,
        Some((_, Weight::Column(column))) => Some(column),
        Some((_, Weight::Constant(_))) | None => None,
    };
    let is_ready = |run: &Run| {
        let is_small = |column| run.bounds(column).is_none_or(|(_, last)| last < INLINE_END);
        run.live().is_none()
            && run.has_neighbours(from, to)
            && beside.is_none_or(|column| is_small(column) && run.has_neighbours(from, column))
    };
    if !runs.iter().all(is_ready) {
        return None;
    }
    // Where codes lie farther apart, edges are copied.
    let ends = runs.iter().flat_map(|run| [from, to].map(|column| run.bounds(column)));
    dense_range(ends, runs.iter().map(Run::stored_len).sum()).map(|(_, nodes)| nodes)
}

/// Relaxes edges until no value becomes better; answers all rows, and the number of sweeps. Nothing if some value
/// is not of the kind that this works for: it goes on as it was then.
pub(crate) fn relax(
    tables: &Tables<'_>,
    relaxation: &Relaxation,
    known: &mut BestRows,
) -> Result<Option<(Run, usize)>, ExecError> {
    let mut groups = Vec::with_capacity(relaxation.edges.len());
    for edges in &relaxation.edges {
        groups.extend(edges_of(edges, tables)?);
    }
    let known = known.all();
    let (nodes, values) = (&known.columns[relaxation.node], &known.columns[relaxation.value]);
    let largest = relaxation.largest;
    let is_weighted = groups.iter().any(|edges| edges.weight.is_some());
    let adds = groups.iter().any(|edges| edges.weight.is_some_and(|(made, _)| made == Made::Sum));
    // The first says enough of what is worth an attempt.
    let mut weights = groups.iter().filter_map(Edges::weight);
    let keys = match !(largest && adds) && weights.any(|weight| is_float(tables.codec, weight)) {
        true => None,
        false if !groups.iter().all(Edges::have_small_weights) => return Ok(None),
        false => match keys(tables, values, largest, is_weighted)? {
            Some(keys) => Some(keys),
            None => return Ok(None),
        },
    };

    // Weights are copied where they become keys of another kind.
    let copied = if keys.is_none() { size_of::<f64>() } else { size_of::<u32>() };
    let weighted = groups.iter().filter(|edges| edges.weight.is_some());
    let _held = tables.budget.hold(weighted.map(|edges| edges.run.stored_len() * copied).sum())?;
    let domain = Nodes::of(&groups, nodes, tables.budget)?;
    let groups = parallel::map(groups, |edges| Adjacency::new(edges, largest, &domain, tables.budget));
    let groups = groups.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut sources = Sources::of(&known, relaxation, &domain);
    sources.find_allowed(tables)?;
    let relaxed = match &keys {
        Some(keys) => {
            let groups: Vec<Adjacency<u32>> = parallel::map(groups, |edges| edges.with_keys(keys));
            Some(sources.relax(tables, &groups, || keys))
        }
        None => {
            let hands_on = groups.iter().any(|edges| matches!(edges.weights, Weights::None));
            let floats = || Floats::new(tables.codec, largest, hands_on);
            let groups = parallel::map(groups, |edges| edges.with_floats(&floats()));
            let groups = groups.into_iter().collect::<Option<Vec<_>>>();
            groups.map(|groups| sources.relax(tables, &groups, floats))
        }
    };
    let Some(relaxed) = relaxed.transpose()?.flatten() else { return Ok(None) };
    let sweeps = relaxed.iter().map(|found| found.sweeps).max().unwrap_or(0);
    let found = gather(relaxed.into_iter().map(|found| found.rows).collect(), known.columns.len());
    Ok(Some((Run::new(found.columns, found.len), sweeps)))
}
