//! Pivoting: a recursion that hands a column through unchanged falls apart along it, so it can be run to its fixpoint
//! apart for each part of the column's values.

use std::collections::HashMap;
use std::sync::Arc;

use super::error::ExecError;
use super::growing::{Growing, concatenate, gather, run_of};
use super::row_set::RowSet;
use super::stratum::{Known, Planned, View};
use crate::data::{RelationId, Rows, Run, parallel};

const PIVOT_PARTS: usize = 512;

impl<'a> View<'a> {
    /// Runs the rest of a fixpoint apart for each part of the pivot column's values: no row of one part ever leads to
    /// a row of another. The known rows of a part fit the cache, and threads share nothing. Answers the rounds of the
    /// part that needs most.
    pub(super) fn evaluate_in_parts(
        &mut self,
        relation: RelationId,
        column: usize,
        variants: &[Planned],
    ) -> Result<usize, ExecError> {
        let Some(growing) = self.growing.remove(&relation) else { return Ok(0) };
        let arity = self.arity(relation);
        let stable = split(&growing.stable, column, arity);
        let delta = split(growing.delta.as_slice(), column, arity);
        drop(growing);
        let parts: Vec<(Rows, Rows)> =
            stable.into_iter().zip(delta).filter(|(stable, delta)| stable.len + delta.len > 0).collect();
        let parts = parallel::map(parts, |(stable, delta)| {
            let mut sets = HashMap::from([(relation, Known::All(RowSet::single(arity)))]);
            let stable = self.take_in(&mut sets, relation, &stable)?;
            let delta = self.take_in(&mut sets, relation, &delta)?;
            let mut part = Growing::default();
            part.advance(vec![stable], arity)?;
            let mut view = self.with(relation, part);
            let mut fresh = HashMap::from([(relation, vec![delta])]);
            let mut rounds = 0;
            while view.advance(&[relation], &mut fresh)? {
                rounds += 1;
                for planned in variants {
                    let rows = view.derive(planned, false, &mut sets)?;
                    fresh.entry(planned.plan.head).or_default().extend(rows);
                }
            }
            let part = view.growing.remove(&relation).unwrap_or_default();
            Ok::<_, ExecError>((concatenate(&part.stable, arity), rounds))
        });
        let (parts, rounds): (Vec<Rows>, Vec<usize>) =
            parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let rows = gather(parts, arity);
        let run = run_of(rows)?;
        self.growing.insert(relation, Growing { stable: vec![run], delta: None });
        Ok(rounds.into_iter().max().unwrap_or_default())
    }

    /// The same view, but for one growing relation.
    fn with(&self, relation: RelationId, growing: Growing) -> View<'a> {
        View {
            program: self.program,
            codec: self.codec,
            budget: self.budget,
            thresholds: self.thresholds,
            complete: self.complete.clone(),
            growing: HashMap::from([(relation, growing)]),
            remarks: Arc::clone(&self.remarks),
        }
    }
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
