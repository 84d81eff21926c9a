//! A relation inside a fixpoint: rows that were joined with everything, and those of the last round.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use foldhash::HashMap;
use parking_lot::Mutex;

use super::growing_index::{Extent, GrowingIndex, IndexKey};
use super::rounds::Rounds;
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, LiveRows, MAX_ROWS, RelationId, Rows, Run, Sample, parallel};

/// Fewer rows are sooner copied than handed to other threads.
const FEW_ROWS: usize = 1 << 14;

/// Rows that a round has found.
#[derive(Default)]
pub(super) struct Fresh {
    /// Those that are not composed of others,
    rows: Vec<Rows>,
    /// and those that are.
    composed: Vec<Rows>,
    /// What each of the rounds after that has found.
    later: Vec<Rows>,
}

/// Rows that are new, by their relation.
pub(super) type NewRows = HashMap<RelationId, Fresh>;

impl Fresh {
    /// Rows that are not composed of others.
    pub(super) fn of(rows: Vec<Rows>) -> Fresh {
        Fresh { rows, ..Fresh::default() }
    }

    /// Adds rows.
    pub(super) fn add(&mut self, rows: Rows, composed: bool) {
        if composed { self.composed.push(rows) } else { self.rows.push(rows) }
    }

    /// One more round has found these.
    pub(super) fn add_round(&mut self, rows: Rows) {
        self.later.push(rows);
    }

    /// All of them.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Rows> {
        self.rows.iter().chain(&self.composed).chain(&self.later)
    }

    /// All of them: those that are composed come after those that are not, and then those of later rounds.
    fn parts(mut self) -> Vec<Rows> {
        self.rows.extend(self.composed);
        self.rows.extend(self.later);
        self.rows
    }

    /// The same in one piece.
    pub(super) fn gather(self, arity: usize) -> Rows {
        gather(self.parts(), arity)
    }
}

/// Indexes by their keys. Each has a lock of its own, so that threads make different ones side by side.
type Indexes = Mutex<HashMap<IndexKey, Arc<Mutex<Option<Arc<GrowingIndex>>>>>>;

/// Samples by the columns that they are of, each with the number of rows then.
type Samples = Mutex<HashMap<Vec<usize>, (usize, Arc<Sample>)>>;

/// A relation inside a fixpoint. Rows stand in the order in which they came, and only ever come to the end.
#[derive(Default)]
pub(super) struct Growing {
    /// All rows.
    columns: Vec<Vec<Code>>,
    rows: usize,
    /// Those before the last round.
    old: usize,
    /// Those of the last round, once more.
    delta: Option<Run>,
    /// When they were found.
    rounds: Rounds,
    /// Those that are composed of others, in ascending order; in each round they stand together.
    composed: Vec<Range<usize>>,
    indexes: Indexes,
    /// Those of the last round's rows alone.
    delta_indexes: Indexes,
    samples: Samples,
}

impl Growing {
    /// These rows, of which nothing is new.
    pub(super) fn complete(rows: Rows) -> Growing {
        Growing { old: rows.len, rows: rows.len, columns: rows.columns, ..Growing::default() }
    }

    /// The same, found in these rounds.
    pub(super) fn found_in(rows: Rows, rounds: Rounds) -> Growing {
        Growing { rounds, ..Growing::complete(rows) }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Number of rows before the last round.
    pub(super) fn old_rows(&self) -> usize {
        self.old
    }

    /// The rows that the last round found.
    pub(super) fn delta(&self) -> Option<&Run> {
        self.delta.as_ref()
    }

    /// When its rows were found.
    pub(super) fn take_rounds(&mut self) -> Rounds {
        std::mem::take(&mut self.rounds)
    }

    /// Number of rows that are not composed of others.
    pub(super) fn generators(&self) -> usize {
        self.rows - self.composed.iter().map(Range::len).sum::<usize>()
    }

    /// A copy of those rows of the last round that are not composed of others.
    pub(super) fn new_generators(&self) -> Option<Run> {
        let delta = self.delta.as_ref()?;
        let Some(composed) = self.composed.last().filter(|range| range.end > self.old) else {
            return Some(delta.clone());
        };
        let composed = composed.start - self.old..composed.end - self.old;
        let rows = delta.len() - composed.len();
        let others = |codes: &[Code]| [&codes[..composed.start], &codes[composed.end..]].concat();
        let columns = delta.columns().iter().map(|codes| others(codes)).collect();
        (rows > 0).then(|| Run::new(columns, rows))
    }

    /// The codes of a column.
    pub(super) fn column(&self, column: usize) -> &[Code] {
        &self.columns[column]
    }

    /// A sample of some columns.
    pub(super) fn sample(&self, columns: &[usize]) -> Arc<Sample> {
        let take = || {
            // Before the first row comes there are no columns.
            let codes = |column: &usize| self.columns.get(*column).map_or(&[][..], Vec::as_slice);
            let columns: Vec<&[Code]> = columns.iter().map(codes).collect();
            Arc::new(Sample::of(&columns, self.rows))
        };
        let mut samples = self.samples.lock();
        let (rows, sample) = samples.entry(columns.to_vec()).or_insert_with(|| (self.rows, take()));
        // One that is a little old is good enough.
        if self.rows > *rows + *rows / 4 || self.rows < *rows {
            (*rows, *sample) = (self.rows, take());
        }
        Arc::clone(sample)
    }

    /// The indexes that the last round has used, each with all that it needs to grow.
    pub(super) fn used_indexes(&mut self) -> impl Iterator<Item = (&mut GrowingIndex, Extent<'_>)> {
        let extent = Extent { columns: &self.columns, rows: self.rows, composed: &self.composed };
        let indexes = self.indexes.get_mut().values_mut().filter_map(Arc::get_mut);
        let indexes = indexes.filter_map(|index| Arc::get_mut(index.get_mut().as_mut()?));
        indexes.filter_map(move |index| index.was_used().then_some((index, extent)))
    }

    /// The index with this key, of all rows.
    pub(super) fn index(&self, key: IndexKey, budget: &Budget) -> Result<Arc<GrowingIndex>, BudgetError> {
        self.extended(&self.indexes, key, GrowingIndex::new, budget)
    }

    /// The index with this key, of the rows of the last round.
    pub(super) fn delta_index(
        &self,
        key: IndexKey,
        budget: &Budget,
    ) -> Result<Arc<GrowingIndex>, BudgetError> {
        self.extended(&self.delta_indexes, key, |key| GrowingIndex::of_rows(key, self.old..self.rows), budget)
    }

    /// An index, made if it is not there, with all rows.
    fn extended(
        &self,
        indexes: &Indexes,
        key: IndexKey,
        make: impl FnOnce(IndexKey) -> GrowingIndex,
        budget: &Budget,
    ) -> Result<Arc<GrowingIndex>, BudgetError> {
        let place = Arc::clone(indexes.lock().entry(key.clone()).or_default());
        let mut place = place.lock();
        let index = place.get_or_insert_with(|| Arc::new(make(key)));
        // Whoever had it in a round before is done.
        if let Some(index) = Arc::get_mut(index) {
            index.use_again();
            let extent = Extent { columns: &self.columns, rows: self.rows, composed: &self.composed };
            index.extend(extent, budget)?;
        }
        Ok(Arc::clone(index))
    }

    /// A copy of the first rows as a run, without those that are composed of others if only generators are wanted.
    pub(super) fn first(&self, rows: usize, generators: bool) -> Result<Run, BudgetError> {
        let mut parts = Vec::new();
        let mut from = 0;
        for composed in self.composed.iter().filter(|_| generators) {
            parts.push(from..composed.start.min(rows));
            from = composed.end.min(rows);
        }
        parts.push(from..rows);
        let len = parts.iter().map(Range::len).sum();
        let copy = |codes: &Vec<Code>| {
            let mut copy = Vec::with_capacity(len);
            parts.iter().for_each(|part| copy.extend_from_slice(&codes[part.clone()]));
            copy
        };
        run_of(Rows { columns: self.columns.iter().map(copy).collect(), len })
    }

    /// Lets its indexes go, as nobody looks rows up any more.
    pub(super) fn drop_indexes(&mut self, budget: &Budget) {
        budget.release(let_go(&mut self.indexes));
    }

    /// All rows, at the end.
    pub(super) fn take(&mut self, budget: &Budget) -> Rows {
        for indexes in [&mut self.indexes, &mut self.delta_indexes] {
            budget.release(let_go(indexes));
        }
        let growing = std::mem::take(self);
        Rows { columns: growing.columns, len: growing.rows }
    }

    /// Lets fresh rows follow those of the last round; answers whether there are any.
    pub(super) fn advance(
        &mut self,
        fresh: Fresh,
        arity: usize,
        budget: &Budget,
    ) -> Result<bool, BudgetError> {
        budget.release(let_go(&mut self.delta_indexes));
        self.old = self.rows;
        let composed: usize = fresh.composed.iter().map(|rows| rows.len).sum();
        let later: Vec<usize> = fresh.later.iter().map(|rows| rows.len).collect();
        let parts = fresh.parts();
        let new: usize = parts.iter().map(|rows| rows.len).sum();
        let of_first_round = new - later.iter().sum::<usize>();
        check_rows(self.rows + new)?;
        self.delta = None;
        if new > 0 {
            self.columns.resize_with(arity, Vec::new);
            let old = self.rows;
            // A part goes as soon as it is copied.
            let extend = |(all, parts): (&mut Vec<Code>, Vec<Vec<Code>>)| {
                parts.into_iter().for_each(|part| all.extend_from_slice(&part));
                all[old..].to_vec()
            };
            let columns = self.columns.iter_mut().zip(by_column(parts, arity));
            let delta = if new < FEW_ROWS {
                columns.map(extend).collect()
            } else {
                parallel::map(columns.collect(), extend)
            };
            self.rows += new;
            self.delta = Some(run_of(Rows { columns: delta, len: new })?);
        }
        if composed > 0 {
            let end = self.old + of_first_round;
            self.composed.push(end - composed..end);
        }
        [of_first_round].into_iter().chain(later).for_each(|rows| self.rounds.add(rows));
        Ok(self.delta.is_some())
    }
}

/// Lets indexes go; answers how many bytes they held.
fn let_go(indexes: &mut Indexes) -> usize {
    let indexes = std::mem::take(indexes.get_mut()).into_values();
    indexes.filter_map(|index| index.lock().as_ref().map(|index| index.memory_bytes())).sum()
}

/// Rows as a run, unless they are too many for one.
pub(super) fn run_of(rows: Rows) -> Result<Run, BudgetError> {
    check_rows(rows.len)?;
    Ok(Run::new(rows.columns, rows.len))
}

/// Rows as runs: none if there are no rows.
pub(super) fn runs_of(rows: Rows) -> Result<Vec<Run>, BudgetError> {
    if rows.len == 0 { Ok(Vec::new()) } else { Ok(vec![run_of(rows)?]) }
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
    let part = |codes| Part { codes: Cow::Owned(codes), live: None };
    let columns = by_column(parts, arity).into_iter().map(|parts| parts.into_iter().map(part).collect());
    put_together(columns.collect(), len)
}

/// The columns of rows that follow each other.
fn by_column(parts: Vec<Rows>, arity: usize) -> Vec<Vec<Vec<Code>>> {
    let mut columns: Vec<Vec<Vec<Code>>> = (0..arity).map(|_| Vec::with_capacity(parts.len())).collect();
    for part in parts {
        columns.iter_mut().zip(part.columns).for_each(|(parts, codes)| parts.push(codes));
    }
    columns
}

/// A part of a column, of which some rows may not count.
struct Part<'r> {
    codes: Cow<'r, [Code]>,
    live: Option<&'r LiveRows>,
}

impl Part<'_> {
    fn len(&self) -> usize {
        self.live.map_or(self.codes.len(), LiveRows::count)
    }

    fn copy_to(self, place: &mut [Code]) {
        match self.live {
            None => place.copy_from_slice(&self.codes),
            Some(live) => {
                let mut copied = 0;
                for rows in live.ranges() {
                    let start = copied;
                    copied += rows.len();
                    place[start..copied].copy_from_slice(&self.codes[rows]);
                }
            }
        }
    }
}

/// Columns of this length from the parts of each. A part goes as soon as it is copied.
fn put_together(columns: Vec<Vec<Part<'_>>>, len: usize) -> Rows {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a relation goes on or begins anew after each round, what is charged does not grow with the rounds.
    #[test]
    fn indexes_of_a_round_are_let_go_with_its_rows() {
        const ROWS: u32 = 5_000;
        let budget = Budget::new(None, 16 << 20);
        let key = || IndexKey { columns: vec![0], constants: Vec::new(), generators: false };
        for begins_anew in [true, false] {
            let mut growing = Growing::default();
            for _ in 0..300 {
                let rows = Rows { columns: vec![(0..ROWS).collect(), (0..ROWS).collect()], len: 5_000 };
                assert!(growing.advance(Fresh::of(vec![rows]), 2, &budget).unwrap());
                growing.delta_index(key(), &budget).unwrap();
                if begins_anew {
                    growing.take(&budget);
                }
            }
            growing.take(&budget);
        }
    }
}
