//! Pivoting: a recursion that hands a column through unchanged falls apart along it, so it can be run to its fixpoint
//! apart for each part of the column's values.

use std::collections::HashMap;

use crate::data::{Rows, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::growing::{Growing, concatenate, gather, run_of};
use crate::exec::heads::derive::derive;
use crate::exec::heads::known::{Known, take_in};
use crate::exec::heads::row_set::RowSet;
use crate::exec::profile::Planned;
use crate::exec::tables::Tables;
use crate::plan::Partitions;

const PIVOT_PARTS: usize = 512;

/// Runs the rest of a fixpoint apart for each part of the pivot column's values: no row of one part ever leads to
/// a row of another. The known rows of a part fit the cache, and threads share nothing. Answers the rounds of the
/// part that needs most.
pub(crate) fn evaluate_in_partitions(
    tables: &mut Tables<'_>,
    Partitions { relation, column }: Partitions,
    variants: &[Planned],
) -> Result<usize, ExecError> {
    let Some(growing) = tables.growing.remove(&relation) else { return Ok(0) };
    let arity = tables.arity(relation);
    let stable = split(&growing.stable, column, arity);
    let delta = split(growing.delta.as_slice(), column, arity);
    drop(growing);
    let parts: Vec<(Rows, Rows)> =
        stable.into_iter().zip(delta).filter(|(stable, delta)| stable.len + delta.len > 0).collect();
    let parts = parallel::map(parts, |(stable, delta)| {
        let mut known = HashMap::from([(relation, Known::All(RowSet::single(arity)))]);
        let stable = take_in(tables, &mut known, relation, &stable)?;
        let delta = take_in(tables, &mut known, relation, &delta)?;
        let mut part = Growing::default();
        part.advance(vec![stable], arity)?;
        let mut tables = tables.growing_alone(relation, part);
        let (mut fresh, mut rounds) = (vec![delta], 0);
        while let Some(part) = tables.growing.get_mut(&relation)
            && part.advance(std::mem::take(&mut fresh), arity)?
        {
            rounds += 1;
            for planned in variants {
                fresh.extend(derive(&tables, planned, &mut known)?);
            }
        }
        let part = tables.growing.remove(&relation).unwrap_or_default();
        Ok::<_, ExecError>((concatenate(&part.stable, arity), rounds))
    });
    let (parts, rounds): (Vec<Rows>, Vec<usize>) =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    let rows = gather(parts, arity);
    let run = run_of(rows)?;
    tables.growing.insert(relation, Growing { stable: vec![run], delta: None });
    Ok(rounds.into_iter().max().unwrap_or_default())
}

/// Rows by the part of a column's value.
fn split(runs: &[Run], column: usize, arity: usize) -> Vec<Rows> {
    let mut parts = vec![Rows::empty(arity); PIVOT_PARTS];
    for run in runs {
        let rows = run.live_rows();
        for row in 0..rows.len {
            let hash = rows.columns[column][row].wrapping_mul(0x9E37_79B9);
            let part = &mut parts[(hash >> 16) as usize % PIVOT_PARTS];
            part.len += 1;
            for (to, from) in part.columns.iter_mut().zip(&rows.columns) {
                to.push(from[row]);
            }
        }
    }
    parts
}
