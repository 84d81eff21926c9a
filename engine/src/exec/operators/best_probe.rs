//! A join by a range of which only the best rows are wanted: binds columns of one row for each group of those that match and lie in
//! it.

use std::sync::Arc;

use super::lookup::{LookupKey, Matches, key_columns, key_of};
use super::range_probe::ends;
use crate::data::{BestIndex, BestOf, Code, GoOn, Run, VariableId};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings, Emit};
use crate::exec::values::expression::Evaluator;
use crate::plan::{BestOfRows, Between, Lookup};

/// What is looked up, and what is bound.
pub(super) struct BestProbe<'a> {
    key: Vec<LookupKey>,
    runs: Vec<(Run, Arc<Option<BestIndex>>)>,
    between: &'a Between,
    strict: bool,
    outputs: &'a [(usize, VariableId)],
    keep: &'a [VariableId],
}

impl<'a> BestProbe<'a> {
    /// `None` where rows are deleted, or numbers do not allow it.
    pub(super) fn open(
        plan: &Lookup,
        between: &'a Between,
        best: BestOfRows,
        outputs: &'a [(usize, VariableId)],
        keep: &'a [VariableId],
        tables: &Tables<'_>,
    ) -> Result<Option<BestProbe<'a>>, ExecError> {
        let is_compared = |column: usize| column == between.column || column == best.value;
        let of = BestOf {
            key: plan.key.iter().map(|(column, _)| *column).collect(),
            group: outputs.iter().map(|(column, _)| *column).filter(|column| !is_compared(*column)).collect(),
            number: between.column,
            value: best.value,
            largest: best.largest,
            above: between.from.is_some(),
        };
        let mut runs = Vec::new();
        for run in tables.runs(plan.access)? {
            if run.live().is_some() {
                return Ok(None);
            }
            let build = |go_on: GoOn<'_>| run.best_index(&of, tables.codec, go_on);
            let index = tables.budget.build(run.best_index_cost(&of), build)?;
            if index.is_none() {
                return Ok(None);
            }
            runs.push((run, index));
        }
        let (key, strict) = (key_of(plan, tables)?, best.strict);
        Ok(Some(BestProbe { key, runs, between, strict, outputs, keep }))
    }

    pub(super) fn run(
        &self,
        evaluator: &Evaluator<'_>,
        input: &Bindings,
        output: &mut Bindings,
        emit: &mut Emit<'_>,
    ) -> Result<(), ExecError> {
        let bounds = match &self.between.from {
            Some(_) => ends(&self.between.from, f64::NEG_INFINITY, evaluator, input)?,
            None => ends(&self.between.to, f64::INFINITY, evaluator, input)?,
        };
        let columns = key_columns(&self.key, input);
        let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
        let mut matches = Matches::default();
        for (run, index) in &self.runs {
            let Some(index) = index.as_ref() else { continue };
            let mut hand_on = |matches: &mut Matches| {
                matches.bind(|column| run.column(column), self.outputs, input, self.keep, output);
                emit(output)
            };
            let mut outcome = Ok(());
            index.probe(
                &columns,
                input.len,
                |position| bounds[position],
                self.strict,
                |position, row| {
                    matches.extend(position, &[row]);
                    if matches.len() >= BATCH {
                        outcome = hand_on(&mut matches);
                    }
                    outcome.is_ok()
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
