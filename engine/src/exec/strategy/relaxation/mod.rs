//! A recursion through `min` and `max` as relaxation of edges (Bellman and Ford).
//!
//! The best value of each node stands in an array. Sweeps over the nodes that have become better hand their values on,
//! and what becomes better ahead of the sweep is handed on in the same one. Values are small integers, or of any kind where
//! edges have no weights; or floats, where all weights are floats. Rows that carry different values have arrays of their own:
//! such *sources* are relaxed side by side.

mod edges;

mod keys;

mod sources;

mod sweeps;

use self::edges::{Adjacency, edges_of};
use self::keys::{Floats, is_float, keys};
use self::sources::Sources;
use crate::data::{Code, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::edges_read;
use crate::exec::graphs::numbering::Numbering;
use crate::exec::growing::gather;
use crate::exec::known::BestRows;
use crate::exec::tables::Tables;
use crate::plan::{Made, Relaxation};

/// Whether there is enough to do to leave rounds for sweeps.
pub(crate) fn is_worth_relaxing(tables: &Tables<'_>, relaxation: &Relaxation, known: usize) -> bool {
    let read: usize = relaxation.edges.iter().map(|edges| edges_read(tables, &edges.source)).sum();
    known >= tables.thresholds.relax_rows
        && known.saturating_mul(tables.thresholds.relax_reads_per_row) >= read
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
    let mut weights = groups.iter().filter_map(|edges| edges.run.column(edges.weight?.column).first());
    let is_weighted = groups.iter().any(|edges| edges.weight.is_some());
    let adds = groups.iter().any(|edges| edges.weight.is_some_and(|weight| weight.made == Made::Sum));
    // The first says enough of what is worth an attempt.
    let floats = !(relaxation.largest && adds) && weights.any(|weight| is_float(tables.codec, *weight));
    let keys = match floats {
        true => None,
        false => match keys(tables, values, relaxation.largest, is_weighted)? {
            Some(keys) => Some(keys),
            None => return Ok(None),
        },
    };

    let mut columns: Vec<&[Code]> = vec![nodes];
    columns
        .extend(groups.iter().flat_map(|edges| [edges.run.column(edges.from), edges.run.column(edges.to)]));
    let domain = Numbering::new(&columns, tables.budget)?;
    let edges: usize = groups.iter().map(|edges| edges.run.stored_len()).sum();
    let weight = if keys.is_some() { 1 } else { 2 };
    let words = (1 + weight) * edges + groups.len() * domain.len();
    let _held = tables.budget.hold(words * size_of::<u32>())?;
    let largest = relaxation.largest;
    let groups = parallel::map(groups, |edges| Adjacency::new(edges, largest, &domain, tables.budget));
    let groups = groups.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut sources = Sources::of(&known, relaxation, &domain);
    sources.find_allowed(tables)?;
    let relaxed = match &keys {
        Some(keys) => {
            let groups = groups.into_iter().map(|edges| edges.with_keys(keys)).collect::<Option<Vec<_>>>();
            groups.map(|groups| sources.relax(tables, &groups, || keys))
        }
        None => {
            let hands_on = groups.iter().any(|edges| edges.weights.is_empty());
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
