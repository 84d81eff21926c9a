//! A relation inside a fixpoint: rows that were joined with everything, and those of the last round.

use std::borrow::Cow;

use arrow::buffer::BooleanBuffer;

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, MAX_ROWS, Rows, Run, parallel};

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

    /// Number of distinct values in a column, estimated.
    pub(super) fn distinct(&self, column: usize) -> usize {
        let filled = self.stable.iter().chain(&self.delta).filter(|run| !run.is_empty());
        filled.map(|run| run.distinct(column)).max().unwrap_or(1)
    }

    /// All rows, at the end.
    pub(super) fn take_runs(&mut self) -> Vec<Run> {
        let mut runs = std::mem::take(&mut self.stable);
        runs.extend(self.delta.take());
        runs
    }

    /// Ages the delta into the stable runs and puts fresh rows in its place; answers whether there are any. Runs are
    /// merged when a younger one has grown to half of its elder, so a probe meets few of them.
    pub(super) fn advance(&mut self, fresh: Vec<Rows>, arity: usize) -> Result<bool, BudgetError> {
        if let Some(delta) = self.delta.take() {
            let mut runs = vec![delta];
            while let Some(last) = self.stable.last()
                && let younger = runs.iter().map(Run::len).sum::<usize>()
                && last.len() <= 2 * younger
                && last.len() + younger <= MAX_ROWS
            {
                runs.extend(self.stable.pop());
            }
            runs.reverse();
            self.stable.push(match <[Run; 1]>::try_from(runs) {
                Ok([only]) => only,
                Err(runs) => run_of(concatenate(&runs, arity))?,
            });
        }
        let rows = gather(fresh, arity);
        if rows.len > 0 {
            self.delta = Some(run_of(rows)?);
        }
        Ok(self.delta.is_some())
    }
}

/// Rows as a run, unless they are too many for one.
pub(super) fn run_of(rows: Rows) -> Result<Run, BudgetError> {
    check_rows(rows.len)?;
    Ok(Run::new(rows.columns, rows.len))
}

/// Whether so many rows can be one run.
pub(super) fn check_rows(rows: usize) -> Result<(), BudgetError> {
    if rows > MAX_ROWS { Err(BudgetError::Rows { rows: rows as u64 }) } else { Ok(()) }
}

/// The live rows of several runs as one run, in their order. A run without deleted rows stays as it is.
pub(super) fn in_one(mut runs: Vec<Run>, arity: usize, budget: &Budget) -> Result<Run, BudgetError> {
    if let [only] = runs.as_slice()
        && only.live().is_none()
        && let Some(only) = runs.pop()
    {
        return Ok(only);
    }
    let len: usize = runs.iter().map(Run::len).sum();
    check_rows(len)?;
    budget.charge(len * arity * size_of::<Code>())?;
    budget.check()?;
    run_of(concatenate(&runs, arity))
}

/// The live rows of several runs, in their order.
pub(super) fn concatenate(runs: &[Run], arity: usize) -> Rows {
    let len = runs.iter().map(Run::len).sum();
    let parts = |column: usize| {
        runs.iter()
            .map(move |run| Part { codes: Cow::Borrowed(run.column(column)), live: run.live() })
            .collect()
    };
    put_together((0..arity).map(parts).collect(), len)
}

/// Rows in the order of parts.
pub(super) fn gather(parts: Vec<Rows>, arity: usize) -> Rows {
    let mut parts: Vec<Rows> = parts.into_iter().filter(|rows| rows.len > 0).collect();
    if parts.len() <= 1 {
        return parts.pop().unwrap_or_else(|| Rows::empty(arity));
    }
    let len = parts.iter().map(|rows| rows.len).sum();
    let mut columns: Vec<Vec<Part<'_>>> = (0..arity).map(|_| Vec::with_capacity(parts.len())).collect();
    for part in parts {
        let parts = part.columns.into_iter().map(|codes| Part { codes: Cow::Owned(codes), live: None });
        columns.iter_mut().zip(parts).for_each(|(column, part)| column.push(part));
    }
    put_together(columns, len)
}

/// A part of a column, of which some rows may not count.
struct Part<'r> {
    codes: Cow<'r, [Code]>,
    live: Option<&'r BooleanBuffer>,
}

impl Part<'_> {
    fn len(&self) -> usize {
        self.live.map_or(self.codes.len(), BooleanBuffer::count_set_bits)
    }

    fn copy_to(self, place: &mut [Code]) {
        match self.live {
            None => place.copy_from_slice(&self.codes),
            Some(live) => {
                place.iter_mut().zip(live.set_indices()).for_each(|(place, row)| *place = self.codes[row]);
            }
        }
    }
}

/// Columns of this length from the parts of each. A part goes as soon as it is copied.
fn put_together(columns: Vec<Vec<Part<'_>>>, len: usize) -> Rows {
    const FEW_ROWS: usize = 1 << 14;
    let mut together: Vec<Vec<Code>> = columns.iter().map(|_| vec![0; len]).collect();
    let mut copies = Vec::new();
    for (column, parts) in together.iter_mut().zip(columns) {
        let mut rest = column.as_mut_slice();
        for part in parts {
            let (place, after) = rest.split_at_mut(part.len());
            copies.push((part, place));
            rest = after;
        }
    }
    if len < FEW_ROWS {
        copies.into_iter().for_each(|(part, place)| part.copy_to(place));
    } else {
        parallel::map(copies, |(part, place)| part.copy_to(place));
    }
    Rows { columns: together, len }
}
