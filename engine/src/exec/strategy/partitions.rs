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
/// a row of another. The known rows of a part fit the cache, and threads share nothing. Answers all rows, and how many of each
/// part there were after each round.
pub(crate) fn evaluate_in_partitions(
    tables: &mut Tables<'_>,
    Partitions { relation, column }: Partitions,
    variants: &[Planned],
) -> Result<(Run, Vec<Vec<usize>>), ExecError> {
    let mut growing = tables.growing.remove(&relation).unwrap_or_default();
    let arity = tables.arity(relation);
    let (mut ends, rows) = (growing.take_rounds(), growing.take(tables.budget));
    // What the last round has found is still to be joined.
    ends.pop();
    let old = ends.last().copied().unwrap_or_default();
    let mut parts = vec![Part::of_columns(arity); PIVOT_PARTS];
    let mut start = 0;
    for end in ends {
        split(&rows, start..end, column, &mut parts, |part| &mut part.stable);
        parts.iter_mut().for_each(|part| part.ends.push(part.stable.len));
        start = end;
    }
    split(&rows, old..rows.len, column, &mut parts, |part| &mut part.delta);
    drop(rows);
    parts.retain(|part| part.stable.len + part.delta.len > 0);
    let parts = parallel::map(parts, |Part { stable, delta, mut ends }| {
        let mut known = HashMap::from_iter([(relation, Known::All(RowSet::single(arity)))]);
        let stable = take_in(tables, &mut known, relation, &stable)?;
        let delta = take_in(tables, &mut known, relation, &delta)?;
        let mut tables = tables.growing_alone(relation, Growing::complete(stable));
        let mut fresh = Fresh::of(vec![delta]);
        while let Some(part) = tables.growing.get_mut(&relation)
            && part.advance(std::mem::take(&mut fresh), arity, tables.budget)?
        {
            for (plan, rows) in derive_round(&tables, variants, &mut known)? {
                fresh.add(rows, plan.composes);
            }
        }
        let mut part = tables.growing.remove(&relation).unwrap_or_default();
        ends.extend(part.take_rounds());
        Ok::<_, ExecError>((part.take(tables.budget), ends))
    });
    let (parts, ends): (Vec<Rows>, Vec<Vec<usize>>) =
        parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
    Ok((run_of(gather(parts, arity))?, ends))
}

/// The rows of a part.
#[derive(Clone)]
struct Part {
    /// Those of all rounds but the last one,
    stable: Rows,
    /// and how many there were after each of these.
    ends: Vec<usize>,
    /// Those of the last round.
    delta: Rows,
}

impl Part {
    fn of_columns(arity: usize) -> Part {
        Part { stable: Rows::empty(arity), ends: Vec::new(), delta: Rows::empty(arity) }
    }
}

/// Adds some rows to the parts of a column's values.
fn split(
    rows: &Rows,
    range: Range<usize>,
    column: usize,
    parts: &mut [Part],
    of_part: impl Fn(&mut Part) -> &mut Rows,
) {
    for row in range {
        let hash = rows.columns[column][row].wrapping_mul(0x9E37_79B9);
        let part = of_part(&mut parts[(hash >> 16) as usize % PIVOT_PARTS]);
        part.len += 1;
        for (to, from) in part.columns.iter_mut().zip(&rows.columns) {
            to.push(from[row]);
        }
    }
}
