//! A join by a range: binds columns of the rows that match and of which one column lies between two values.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::lookup::{LookupKey, Matches, key_columns, key_of};
use crate::analysis::program::Expression;
use crate::data::{Code, GoOn, RangeIndex, Run, VariableId};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings, Emit};
use crate::exec::values::expression::Evaluator;
use crate::plan::{Between, Lookup};

/// What is looked up, and what is bound.
pub(super) struct RangeProbe<'a> {
    key: Vec<LookupKey>,
    runs: Vec<(Run, Arc<Option<RangeIndex>>)>,
    between: &'a Between,
    outputs: &'a [(usize, VariableId)],
    keep: &'a [VariableId],
}

impl<'a> RangeProbe<'a> {
    /// `None` where the column has something else than numbers.
    pub(super) fn open(
        plan: &Lookup,
        between: &'a Between,
        outputs: &'a [(usize, VariableId)],
        keep: &'a [VariableId],
        tables: &Tables<'_>,
    ) -> Result<Option<RangeProbe<'a>>, ExecError> {
        let columns: Vec<usize> = plan.key.iter().map(|(column, _)| *column).collect();
        let mut runs = Vec::new();
        for run in tables.runs(plan.access)? {
            let cost = run.range_index_cost(&columns, between.column);
            let build = |go_on: GoOn<'_>| run.range_index(&columns, between.column, tables.codec, go_on);
            let index = tables.budget.build(cost, build)?;
            if index.is_none() {
                return Ok(None);
            }
            runs.push((run, index));
        }
        Ok(Some(RangeProbe { key: key_of(plan, tables)?, runs, between, outputs, keep }))
    }

    pub(super) fn run(
        &self,
        evaluator: &Evaluator<'_>,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let from = ends(&self.between.from, f64::NEG_INFINITY, evaluator, input)?;
        let to = ends(&self.between.to, f64::INFINITY, evaluator, input)?;
        let columns = key_columns(&self.key, input);
        let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
        let mut matches = Matches::default();
        for (run, index) in &self.runs {
            let Some(index) = index.as_ref() else { continue };
            let mut hand_on = |matches: &mut Matches| {
                matches.retain_live(run);
                matches.bind(|column| run.column(column), self.outputs, input, self.keep, output);
                emit(output)
            };
            let mut outcome = Ok(());
            index.probe(
                &columns,
                input.len,
                |position| (from[position], to[position]),
                |position, rows| {
                    for chunk in rows.chunks(BATCH) {
                        matches.extend(position, chunk);
                        if matches.len() >= BATCH {
                            outcome = hand_on(&mut matches);
                            if outcome.is_err() {
                                return false;
                            }
                        }
                    }
                    true
                },
            );
            outcome?;
            if matches.len() > 0 {
                hand_on(&mut matches)?;
            }
        }
        Ok(())
    }
}

/// One end of the range of each binding; none where there is no number.
pub(super) fn ends(
    end: &Option<Expression>,
    none: f64,
    evaluator: &Evaluator<'_>,
    input: &Bindings,
) -> Result<Vec<f64>, ExecError> {
    let Some(end) = end else { return Ok(vec![none; input.len]) };
    // Whether something was cut off is told by the comparison, of the bindings that it meets.
    let cut_off = AtomicBool::new(false);
    evaluator.apart(&cut_off).floats_or(end, none, input)
}
