//! What a pipeline begins with: the rows of a scan, batch by batch.

use std::ops::Range;

use arrow::array::BooleanBufferBuilder;

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Run, Value};
use crate::exec::error::ExecError;
use crate::exec::growing::in_one;
use crate::exec::tables::Tables;
use crate::exec::values::batch::BATCH;
use crate::exec::values::batch::Bindings;
use crate::plan::{ColumnRange, Scan};

/// The runs of a scan.
pub(crate) struct Reading<'a> {
    scan: &'a Scan,
    constants: Vec<(usize, Code)>,
    runs: Vec<Chosen>,
}

/// A run with those of its rows that are to be read, in their order, if not all.
type Chosen = (Run, Option<Vec<u32>>);

impl<'a> Reading<'a> {
    pub(crate) fn of(scan: &'a Scan, tables: &Tables<'_>) -> Result<Reading<'a>, ExecError> {
        let constants = scan.constants.iter();
        let constants = constants.map(|(column, value)| Ok((*column, tables.codec.encode(value.as_ref())?)));
        let runs = tables.runs(scan.access)?.into_iter().map(|run| {
            let rows = scan.range.as_ref().and_then(|range| rows_between(&run, range, tables));
            (run, rows)
        });
        Ok(Reading { scan, constants: constants.collect::<Result<_, ExecError>>()?, runs: runs.collect() })
    }

    /// Number of rows that will be read, of which some may not count.
    pub(crate) fn rows(&self) -> usize {
        self.runs.iter().map(chosen_rows).sum()
    }

    /// Puts rows with the same code in this column side by side; answers parts of about so many rows, none of which ends
    /// between two of those.
    pub(crate) fn divide(
        &mut self,
        column: usize,
        part_rows: usize,
        budget: &Budget,
    ) -> Result<Vec<Range<usize>>, ExecError> {
        let run = self.in_one(budget)?;
        let index = budget.index(&run, &[column])?;
        let mut parts: Vec<Range<usize>> = Vec::new();
        for group in index.group_ranges() {
            match parts.last_mut() {
                Some(part) if part.len() < part_rows => part.end = group.end,
                Some(_) | None => parts.push(group),
            }
        }
        budget.charge(size_of_val(index.rows()))?;
        self.runs = vec![(run, Some(index.rows().to_vec()))];
        Ok(parts)
    }

    /// What is to be read, as one run.
    fn in_one(&self, budget: &Budget) -> Result<Run, BudgetError> {
        let arity = self.runs.first().map_or(0, |(run, _)| run.columns().len());
        let runs = self
            .runs
            .iter()
            .map(|(run, rows)| rows.as_ref().map_or_else(|| run.clone(), |rows| of_rows(run, rows)));
        in_one(runs.collect(), arity, budget)
    }

    /// Binds these rows and calls `visit` with each batch of them, which is in `batch`.
    pub(crate) fn batches(
        &self,
        rows: Range<usize>,
        batch: &mut Bindings,
        mut visit: impl FnMut(&Bindings) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        let mut offset = 0;
        for chosen in &self.runs {
            let len = chosen_rows(chosen);
            let start = rows.start.clamp(offset, offset + len) - offset;
            let end = rows.end.clamp(offset, offset + len) - offset;
            for from in (start..end).step_by(BATCH) {
                let positions = from..end.min(from + BATCH);
                batch.clear();
                match chosen {
                    (run, None) => self.read(run, positions, batch),
                    (run, Some(rows)) => {
                        self.select(run, rows[positions].iter().map(|row| *row as usize), batch);
                    }
                }
                visit(batch)?;
            }
            offset += len;
        }
        Ok(())
    }

    fn read(&self, run: &Run, rows: Range<usize>, out: &mut Bindings) {
        if run.live().is_some() || !self.constants.is_empty() || !self.scan.equal.is_empty() {
            self.select(run, rows, out);
            return;
        }
        for (column, variable) in &self.scan.outputs {
            out.column_mut(*variable).extend_from_slice(&run.column(*column)[rows.clone()]);
        }
        out.len = rows.len();
    }

    fn select(&self, run: &Run, rows: impl Iterator<Item = usize>, out: &mut Bindings) {
        let passes = |row: &usize| {
            run.is_live(*row)
                && self.constants.iter().all(|(column, code)| run.column(*column)[*row] == *code)
                && self.scan.equal.iter().all(|(a, b)| run.column(*a)[*row] == run.column(*b)[*row])
        };
        let selected: Vec<usize> = rows.filter(passes).collect();
        for (column, variable) in &self.scan.outputs {
            let codes = run.column(*column);
            out.column_mut(*variable).extend(selected.iter().map(|row| codes[*row]));
        }
        out.len = selected.len();
    }
}

/// A run in which only these of the rows count.
fn of_rows(run: &Run, rows: &[u32]) -> Run {
    let mut live = BooleanBufferBuilder::new(run.stored_len());
    live.append_n(run.stored_len(), false);
    rows.iter()
        .map(|row| *row as usize)
        .filter(|row| run.is_live(*row))
        .for_each(|row| live.set_bit(row, true));
    run.with_live(live.finish().into())
}

fn chosen_rows((run, rows): &Chosen) -> usize {
    rows.as_ref().map_or_else(|| run.stored_len(), Vec::len)
}

/// The rows of a range, in the order in which a scan meets them, unless the run does not know them yet.
fn rows_between(run: &Run, range: &ColumnRange, tables: &Tables<'_>) -> Option<Vec<u32>> {
    if !run.is_sorted_by(range.column) {
        return None;
    }
    let (from, to) = (range.from.as_ref().map(Value::as_ref), range.to.as_ref().map(Value::as_ref));
    let sorted = run.sorted(range.column, tables.codec.shared(), &|| true).ok()?;
    let mut rows = sorted.between(run.column(range.column), tables.codec, from, to).to_vec();
    rows.sort_unstable();
    Some(rows)
}
