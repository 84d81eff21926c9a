//! When a recursion leaves its rounds for the strategy that its plan names, and how it goes on.

use super::matrices::{Multiplied, is_worth_multiplying, multiply};
use super::partitions::evaluate_in_partitions;
use super::relaxation::{is_worth_relaxing, relax};
use super::walk::{is_from_one_source, is_worth_walking, traverse};
use crate::data::Run;
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::edges_read;
use crate::exec::growing::Growing;
use crate::exec::known::{Known, KnownRows};
use crate::exec::profile::Planned;
use crate::exec::tables::Tables;
use crate::plan::{Access, Columns, EdgeSource, Statistics, Strategy, Version};

/// Whether there is enough to do to go on in another way.
pub(crate) fn is_worth(tables: &Tables<'_>, strategy: &Strategy, known: &KnownRows) -> bool {
    let growing = |relation| tables.growing.get(relation).map(|growing| (growing.rows(), growing.delta()));
    match strategy {
        Strategy::Tuples => false,
        Strategy::Walk(walk) => {
            growing(&walk.relation).is_some_and(|(known, _)| is_worth_walking(tables, walk, known))
        }
        Strategy::Matrices(matrices) => {
            let known = tables.growing.values().map(Growing::rows).sum();
            is_worth_multiplying(tables, matrices, known)
        }
        Strategy::Relaxation(relaxation) => match known.get(&relaxation.relation) {
            Some(Known::Best(best)) => is_worth_relaxing(tables, relaxation, best.len()),
            Some(Known::All(_) | Known::Nothing) | None => false,
        },
        Strategy::Partitions(partitions) => growing(&partitions.relation).is_some_and(|(known, delta)| {
            known >= tables.thresholds.part_rows
                && delta.is_some_and(|delta| delta.len() >= tables.thresholds.part_new_rows)
        }),
    }
}

/// Rows that it reads if it can be brief, as a search from one node; any number otherwise.
pub(crate) fn rows_read(tables: &Tables<'_>, strategy: &Strategy) -> usize {
    match strategy {
        Strategy::Walk(walk) if is_from_one_source(tables, walk) => {
            walk.edges.iter().map(|edges| edges_to_index(tables, &edges.source)).sum()
        }
        Strategy::Tuples
        | Strategy::Walk(_)
        | Strategy::Matrices(_)
        | Strategy::Relaxation(_)
        | Strategy::Partitions(_) => usize::MAX,
    }
}

/// Edges to be read before a search can begin.
fn edges_to_index(tables: &Tables<'_>, source: &EdgeSource) -> usize {
    let EdgeSource::Relation(Columns { relation, from, to }) = *source else {
        return edges_read(tables, source);
    };
    let Some(runs) = tables.complete.get(&relation) else { return tables.rows(relation) };
    let is_ready = |run: &Run| run.live().is_none() && run.has_neighbours(from, to);
    runs.iter().filter(|run| !is_ready(run)).map(Run::len).sum()
}

/// Goes on in another way, to the end: relations are complete then. Answers how many rounds that were; `None` if the values do
/// not allow it.
pub(crate) fn go_on(
    tables: &mut Tables<'_>,
    strategy: &Strategy,
    variants: &[Planned],
    known: &mut KnownRows,
) -> Result<Option<usize>, ExecError> {
    let (found, rounds) = match strategy {
        Strategy::Tuples => return Ok(None),
        Strategy::Partitions(partitions) => {
            known.clear();
            let (run, found_in) = evaluate_in_partitions(tables, *partitions, variants)?;
            // In the last one nothing was found.
            let rounds = (found_in.end() as usize).saturating_sub(tables.rounds + 1);
            tables.found_in.insert(partitions.relation, found_in);
            (vec![(partitions.relation, run)], rounds)
        }
        Strategy::Walk(walk) => {
            known.clear();
            let rows = |version| tables.runs(Access::of(walk.relation, version));
            let run = if walk.is_own {
                traverse(tables, walk, &[], &rows(Version::All)?)?
            } else {
                traverse(tables, walk, &rows(Version::Old)?, &rows(Version::Delta)?)?
            };
            (vec![(walk.relation, run)], 0)
        }
        Strategy::Matrices(matrices) => {
            known.clear();
            let (multiplied, rounds) = multiply(tables, matrices)?;
            let mut all = Vec::with_capacity(multiplied.len());
            for Multiplied { relation, rows, found } in multiplied {
                let growing = tables.growing.get_mut(&relation);
                let mut found_in = growing.map(Growing::take_rounds).unwrap_or_default();
                found.into_iter().for_each(|rows| found_in.add(rows));
                tables.found_in.insert(relation, found_in);
                all.push((relation, rows));
            }
            (all, rounds)
        }
        Strategy::Relaxation(relaxation) => {
            let Some(Known::Best(best)) = known.get_mut(&relaxation.relation) else { return Ok(None) };
            let Some((run, sweeps)) = relax(tables, relaxation, best)? else { return Ok(None) };
            known.clear();
            (vec![(relaxation.relation, run)], sweeps)
        }
    };
    for (relation, run) in found {
        let before = tables.growing.remove(&relation).map_or(0, |growing| growing.rows());
        // Parts tell it when they end.
        if !matches!(strategy, Strategy::Partitions(_)) {
            tables.budget.note_rows(run.len().saturating_sub(before));
        }
        tables.complete.insert(relation, vec![run]);
    }
    Ok(Some(rounds))
}
