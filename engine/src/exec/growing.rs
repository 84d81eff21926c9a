//! A relation inside a fixpoint: rows that were joined with everything, and those of the last round.

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Rows, Run, parallel};

/// A relation inside a fixpoint.
#[derive(Default)]
pub(super) struct Growing {
    pub(super) stable: Vec<Run>,
    pub(super) delta: Option<Run>,
}

impl Growing {
    pub(super) fn rows(&self) -> usize {
        self.stable.iter().chain(&self.delta).map(Run::len).sum()
    }

    /// Ages the delta into the stable runs and puts fresh rows in its place; answers whether there are any. Runs are
    /// merged when a younger one has grown to half of its elder, so a probe meets few of them.
    pub(super) fn advance(&mut self, fresh: Vec<Rows>, arity: usize) -> bool {
        if let Some(delta) = self.delta.take() {
            let mut runs = vec![delta];
            while let Some(last) = self.stable.last()
                && last.len() <= 2 * runs.iter().map(Run::len).sum::<usize>()
            {
                runs.extend(self.stable.pop());
            }
            runs.reverse();
            self.stable.push(match <[Run; 1]>::try_from(runs) {
                Ok([only]) => only,
                Err(runs) => run_of(concatenate(&runs, arity)),
            });
        }
        let rows = gather(fresh, arity);
        if rows.len > 0 {
            self.delta = Some(run_of(rows));
        }
        self.delta.is_some()
    }
}

/// Rows as a run.
pub(super) fn run_of(rows: Rows) -> Run {
    Run::new(rows.columns, rows.len)
}

/// The live rows of several runs as one run, in their order. A run without deleted rows stays as it is.
pub(super) fn in_one(mut runs: Vec<Run>, arity: usize, budget: &Budget) -> Result<Run, BudgetError> {
    if let [only] = runs.as_slice()
        && only.live().is_none()
        && let Some(only) = runs.pop()
    {
        return Ok(only);
    }
    let len = runs.iter().map(Run::len).sum();
    budget.charge(len * arity * size_of::<Code>())?;
    let columns = (0..arity).map(|column| {
        budget.check()?;
        Ok(live_codes(&runs, column))
    });
    Ok(Run::new(columns.collect::<Result<_, BudgetError>>()?, len))
}

/// The live rows of several runs, in their order.
pub(super) fn concatenate(runs: &[Run], arity: usize) -> Rows {
    let columns = (0..arity).map(|column| live_codes(runs, column)).collect();
    Rows { columns, len: runs.iter().map(Run::len).sum() }
}

fn live_codes(runs: &[Run], column: usize) -> Vec<Code> {
    let mut codes = Vec::with_capacity(runs.iter().map(Run::len).sum());
    for run in runs {
        match run.live() {
            None => codes.extend_from_slice(run.column(column)),
            Some(live) => codes.extend(live.set_indices().map(|row| run.column(column)[row])),
        }
    }
    codes
}

/// Rows in the order of parts.
pub(super) fn gather(parts: Vec<Rows>, arity: usize) -> Rows {
    let mut parts: Vec<Rows> = parts.into_iter().filter(|rows| rows.len > 0).collect();
    if parts.len() <= 1 {
        return parts.pop().unwrap_or_else(|| Rows::empty(arity));
    }
    let len = parts.iter().map(|rows| rows.len).sum();
    let mut columns: Vec<Vec<Vec<Code>>> = vec![Vec::with_capacity(parts.len()); arity];
    for part in parts {
        columns.iter_mut().zip(part.columns).for_each(|(column, codes)| column.push(codes));
    }
    let columns = parallel::map(columns, |parts| {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        all.reserve_exact(len - all.len());
        parts.for_each(|part| all.extend(part));
        all
    });
    Rows { columns, len }
}
