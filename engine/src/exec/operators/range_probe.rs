//! A join by a range: binds columns of the rows that match and of which one column lies between two values, or of the best of them
//! alone.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::lookup::{LookupKey, Matches, key_columns, key_of};
use crate::analysis::program::Expression;
use crate::data::{BestIndex, BestOf, Code, GoOn, RangeIndex, Run, VariableId};
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::exec::values::batch::{BATCH, Bindings, Emit};
use crate::exec::values::expression::Evaluator;
use crate::plan::{BestOfRows, Between, Lookup};

/// What is looked up, and what is bound.
pub(super) struct RangeProbe<'a> {
    key: Vec<LookupKey>,
    places: Vec<(Run, Index)>,
    between: &'a Between,
    outputs: &'a [(usize, VariableId)],
    keep: &'a [VariableId],
}

/// What knows the rows of a range.
enum Index {
    All(Arc<Option<RangeIndex>>),
    /// The best ones of a range with one end, which may not count to it itself.
    Best(Arc<Option<BestIndex>>, bool),
}

impl Index {
    fn is_there(&self) -> bool {
        match self {
            Index::All(index) => index.is_some(),
            Index::Best(index, _) => index.is_some(),
        }
    }
}

impl<'a> RangeProbe<'a> {
    /// `None` where the column has something else than numbers.
    pub(super) fn open(
        plan: &Lookup,
        between: &'a Between,
        best: Option<BestOfRows>,
        outputs: &'a [(usize, VariableId)],
        keep: &'a [VariableId],
        tables: &Tables<'_>,
    ) -> Result<Option<RangeProbe<'a>>, ExecError> {
        let runs = tables.runs(plan.access)?;
        let columns: Vec<usize> = plan.key.iter().map(|(column, _)| *column).collect();
        let mut places = None;
        if let Some(best) = best {
            let is_compared = |column: &usize| *column == between.column || *column == best.value;
            let of = BestOf {
                key: columns.clone(),
                group: outputs
                    .iter()
                    .map(|(column, _)| *column)
                    .filter(|column| !is_compared(column))
                    .collect(),
                number: between.column,
                value: best.value,
                largest: best.largest,
                above: between.from.is_some(),
            };
            places = in_all(&runs, |run| {
                // The best of all rows may be deleted.
                if run.live().is_some() {
                    return Ok(Index::Best(Arc::new(None), best.strict));
                }
                let build = |go_on: GoOn<'_>| run.best_index(&of, tables.codec, go_on);
                Ok(Index::Best(tables.budget.build(run.best_index_cost(&of), build)?, best.strict))
            })?;
        }
        if places.is_none() {
            places = in_all(&runs, |run| {
                let cost = run.range_index_cost(&columns, between.column);
                let build = |go_on: GoOn<'_>| run.range_index(&columns, between.column, tables.codec, go_on);
                Ok(Index::All(tables.budget.build(cost, build)?))
            })?;
        }
        let Some(places) = places else { return Ok(None) };
        Ok(Some(RangeProbe { key: key_of(plan, tables)?, places, between, outputs, keep }))
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
        for (run, index) in &self.places {
            let mut hand_on = |matches: &mut Matches| {
                matches.retain_live(run);
                matches.bind(|column| run.column(column), self.outputs, input, self.keep, output);
                emit(output)
            };
            let mut outcome = Ok(());
            let visit = |position: usize, rows: &[u32]| {
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
            };
            match index {
                Index::All(index) => {
                    let Some(index) = index.as_ref() else { continue };
                    index.probe(&columns, input.len, |position| (from[position], to[position]), visit);
                }
                Index::Best(index, strict) => {
                    let Some(index) = index.as_ref() else { continue };
                    let bounds = if self.between.from.is_some() { &from } else { &to };
                    index.probe(&columns, input.len, |position| bounds[position], *strict, visit);
                }
            }
            outcome?;
            if matches.len() > 0 {
                hand_on(&mut matches)?;
            }
        }
        Ok(())
    }
}

/// The indexes of all runs, if each can have one.
fn in_all(
    runs: &[Run],
    mut build: impl FnMut(&Run) -> Result<Index, ExecError>,
) -> Result<Option<Vec<(Run, Index)>>, ExecError> {
    let mut places = Vec::with_capacity(runs.len());
    for run in runs {
        let index = build(run)?;
        if !index.is_there() {
            return Ok(None);
        }
        places.push((run.clone(), index));
    }
    Ok(Some(places))
}

/// One end of the range of each binding; none where there is no number.
fn ends(
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
