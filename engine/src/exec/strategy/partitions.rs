//! Partitions: a recursion that hands a column through unchanged falls apart along it, so it can be run to its fixpoint
//! apart for each part of the column's values.

use foldhash::HashMap;

use crate::data::{Rows, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::growing::{Fresh, Growing, gather, run_of};
use crate::exec::heads::derive::derive_round;
use crate::exec::known::{Known, RowSet, take_in};
use crate::exec::profile::Planned;
use crate::exec::rounds::Rounds;
use crate::exec::tables::Tables;
use crate::plan::Partitions;

const PIVOT_PARTS: usize = 512;

/// Runs the rest of a fixpoint apart for each part of the pivot column's values: no row of one part ever leads to
/// a row of another. The known rows of a part fit the cache, and threads share nothing. Answers all rows, and when they were found.
pub(crate) fn evaluate_in_partitions(
    tables: &mut Tables<'_>,
    Partitions { relation, column }: Partitions,
    variants: &[Planned],
) -> Result<(Run, Rounds), ExecError> {
    let mut growing = tables.growing.remove(&relation).unwrap_or_default();
    let (arity, old) = (tables.arity(relation), growing.old_rows());
    let (rounds, rows) = (growing.take_rounds(), growing.take(tables.budget));
    // What the last round has found is still to be joined.
    let before = Rounds::of(rounds.end().saturating_sub(1));
    let mut parts = vec![(Rows::empty(arity), before, Rows::empty(arity)); PIVOT_PARTS];
    let mut round_of_rows = rounds.of_rows();
    for row in 0..rows.len {
        let round = round_of_rows.next();
        let hash = rows.columns[column][row].wrapping_mul(0x9E37_79B9);
        let (stable, found_in, delta) = &mut parts[(hash >> 16) as usize % PIVOT_PARTS];
        let part = if row < old { stable } else { delta };
        part.len += 1;
        for (to, from) in part.columns.iter_mut().zip(&rows.columns) {
            to.push(from[row]);
        }
        if let Some(round) = round.filter(|_| row < old) {
            found_in.note(round);
        }
    }
    drop(rows);
    parts.retain(|(stable, _, delta)| stable.len + delta.len > 0);
    let parts = parallel::map(parts, |(stable, found_in, delta)| {
        let mut known = HashMap::from_iter([(relation, Known::All(RowSet::single(arity)))]);
        let stable = take_in(tables, &mut known, relation, &stable)?;
        let delta = take_in(tables, &mut known, relation, &delta)?;
        let before = stable.len;
        let mut tables = tables.growing_alone(relation, Growing::found_in(stable, found_in));
        let mut fresh = Fresh::of(vec![delta]);
        while let Some(part) = tables.growing.get_mut(&relation)
            && part.advance(std::mem::take(&mut fresh), arity, tables.budget)?
        {
            for (plan, rows) in derive_round(&tables, variants, &mut known)? {
                fresh.add(rows, plan.composes);
            }
        }
        let mut part = tables.growing.remove(&relation).unwrap_or_default();
        let rounds = part.take_rounds();
        tables.budget.note_rows(part.rows().saturating_sub(before));
        Ok::<_, ExecError>((part.take(tables.budget), rounds))
    });
    let (mut all, mut found_in) = (Vec::with_capacity(parts.len()), Rounds::default());
    for part in parts {
        let (rows, rounds) = part?;
        all.push(rows);
        found_in.append(rounds);
    }
    Ok((run_of(gather(all, arity))?, found_in))
}
