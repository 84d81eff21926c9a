//! Partitions: a recursion that hands a column through unchanged falls apart along it, so it can be run to its fixpoint
//! apart for each part of the column's values.

use std::ops::Range;

use foldhash::HashMap;

use crate::data::{Rows, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::growing::{Fresh, Growing, gather, run_of};
use crate::exec::heads::derive::derive_round;
use crate::exec::known::{Known, RowSet, take_in};
use crate::exec::profile::Planned;
use crate::exec::tables::Tables;
use crate::plan::Partitions;

const PIVOT_PARTS: usize = 512;

/// Runs the rest of a fixpoint apart for each part of the pivot column's values: no row of one part ever leads to
/// a row of another. The known rows of a part fit the cache, and threads share nothing. Answers all rows, and the rounds of the
/// part that needs most.
pub(crate) fn evaluate_in_partitions(
    tables: &mut Tables<'_>,
    Partitions { relation, column }: Partitions,
    variants: &[Planned],
) -> Result<(Run, usize), ExecError> {
    let mut growing = tables.growing.remove(&relation).unwrap_or_default();
    let (arity, old) = (tables.arity(relation), growing.old_rows());
    let rows = growing.take(tables.budget);
    let stable = split(&rows, 0..old, column);
    let delta = split(&rows, old..rows.len, column);
    drop(rows);
    let parts: Vec<(Rows, Rows)> =
        stable.into_iter().zip(delta).filter(|(stable, delta)| stable.len + delta.len > 0).collect();
    let parts = parallel::map(parts, |(stable, delta)| {
        let mut known = HashMap::from_iter([(relation, Known::All(RowSet::single(arity)))]);
        let stable = take_in(tables, &mut known, relation, &stable)?;
        let delta = take_in(tables, &mut known, relation, &delta)?;
        let mut tables = tables.growing_alone(relation, Growing::complete(stable));
        let (mut fresh, mut rounds) = (Fresh::of(vec![delta]), 0);
        while let Some(part) = tables.growing.get_mut(&relation)
            && part.advance(std::mem::take(&mut fresh), arity, tables.budget)?
        {
            rounds += 1;
            for (plan, rows) in derive_round(&tables, variants, &mut known)? {
                fresh.add(rows, plan.composes);
            }
        }
        let mut part = tables.growing.remove(&relation).unwrap_or_default();
        Ok::<_, ExecError>((part.take(tables.budget), rounds))
    });
    let (parts, rounds): (Vec<Rows>, Vec<usize>) =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    Ok((run_of(gather(parts, arity))?, rounds.into_iter().max().unwrap_or_default()))
}

/// Some rows by the part of a column's value.
fn split(rows: &Rows, range: Range<usize>, column: usize) -> Vec<Rows> {
    let mut parts = vec![Rows::empty(rows.columns.len()); PIVOT_PARTS];
    for row in range {
        let hash = rows.columns[column][row].wrapping_mul(0x9E37_79B9);
        let part = &mut parts[(hash >> 16) as usize % PIVOT_PARTS];
        part.len += 1;
        for (to, from) in part.columns.iter_mut().zip(&rows.columns) {
            to.push(from[row]);
        }
    }
    parts
}
