//! `RowSet`: the rows of a relation that are known so far, inside a stratum.
//!
//! The set is cut into parts. Threads first collect candidates that are not known yet, a buffer a part; then
//! each part takes its candidates in, all parts at once, and nothing is shared.

use super::key_parts::KeyParts;
use super::packed_rows::PackedRows;
use super::parts::{Answer, Candidates, Parts};
use crate::budget::Budget;
use crate::data::keys::with_key;
use crate::data::{Code, Rows};
use crate::exec::error::ExecError;

/// A power of two.
const PARTS: usize = 16;

/// Known rows of a relation with any number of columns.
pub(crate) struct RowSet {
    arity: usize,
    parts: Box<dyn Parts>,
}

impl RowSet {
    /// A set that threads take rows into together.
    pub(crate) fn shared(arity: usize) -> RowSet {
        RowSet::with_parts(arity, PARTS)
    }

    /// A set that one thread has for itself.
    pub(crate) fn single(arity: usize) -> RowSet {
        RowSet::with_parts(arity, 1)
    }

    fn with_parts(arity: usize, parts: usize) -> RowSet {
        let parts: Box<dyn Parts> = match arity {
            0..=1 => Box::new(KeyParts::<u64>::new(parts)),
            _ => with_key!(arity, K => Box::new(PackedRows::<K>::new(parts, arity))),
        };
        RowSet { arity, parts }
    }

    /// An empty buffer for [`RowSet::collect`].
    pub(crate) fn candidates(&self) -> Candidates {
        Candidates { keys: self.parts.candidates(), len: 0 }
    }

    /// Collects those rows that are not known.
    pub(crate) fn collect(
        &self,
        columns: &[&[Code]],
        rows: usize,
        into: &mut Candidates,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let before = into.len;
        self.parts.collect(columns, rows, into);
        budget.charge((into.len - before) * self.row_bytes())?;
        Ok(())
    }

    /// Marks those rows that are known.
    pub(crate) fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        self.parts.mark(columns, rows, found);
    }

    /// Takes candidates in, in the order of lanes; answers the rows that are new, each once, in pieces.
    pub(crate) fn absorb(&mut self, lanes: Vec<Candidates>, budget: &Budget) -> Result<Vec<Rows>, ExecError> {
        let new = self.absorb_as(Answer::Rows, lanes, budget)?;
        let rows: usize = new.iter().map(|rows| rows.len).sum();
        budget.charge(rows * self.arity * size_of::<Code>())?;
        Ok(new)
    }

    /// Takes candidates in that somebody else has already.
    pub(crate) fn learn(&mut self, lanes: Vec<Candidates>, budget: &Budget) -> Result<(), ExecError> {
        self.absorb_as(Answer::Number, lanes, budget).map(drop)
    }

    fn absorb_as(
        &mut self,
        answer: Answer,
        lanes: Vec<Candidates>,
        budget: &Budget,
    ) -> Result<Vec<Rows>, ExecError> {
        let candidates: usize = lanes.iter().map(Candidates::len).sum();
        let before = self.parts.memory_bytes();
        let new = self.parts.absorb(lanes, self.arity, answer);
        let held = self.parts.memory_bytes();
        // Keys that become wider may take fewer places.
        budget.release(candidates * self.row_bytes() + before.saturating_sub(held));
        budget.charge(held.saturating_sub(before))?;
        Ok(new)
    }

    /// Takes rows in at once; adds those that are new to `new`.
    pub(crate) fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        self.parts.take_in(columns, rows, new);
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.parts.memory_bytes()
    }

    fn row_bytes(&self) -> usize {
        with_key!(self.arity, K => size_of::<K>())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::data::INLINE_END;

    #[test]
    fn a_row_is_new_once() {
        let budget = Budget::unlimited();
        let mut set = RowSet::shared(2);
        let (a, b): (Vec<Code>, Vec<Code>) = ((0..10_000).map(|i| i % 100).collect(), (0..10_000).collect());
        let mut add = |a: &[Code], b: &[Code]| {
            let mut candidates = set.candidates();
            set.collect(&[a, b], a.len(), &mut candidates, &budget).unwrap();
            let new = set.absorb(vec![candidates], &budget).unwrap();
            new.iter().map(|rows| rows.len).sum::<usize>()
        };
        assert_eq!(add(&a, &b), 10_000);
        assert_eq!(add(&a, &b), 0);
        assert_eq!(add(&[1, 1, 1], &[7, 7, 1]), 1);
    }

    /// Rows that a word has room for by chance are still told apart when others take that room.
    #[test]
    fn room_that_was_used_is_not_given_away() {
        let budget = Budget::unlimited();
        let mut set = RowSet::shared(3);
        let mut add = |columns: [&[Code]; 3]| {
            let mut candidates = set.candidates();
            set.collect(&columns, columns[0].len(), &mut candidates, &budget).unwrap();
            set.absorb(vec![candidates], &budget).unwrap().iter().map(|rows| rows.len).sum::<usize>()
        };
        assert_eq!(add([&[7, 1], &[7, 1], &[7, 1]]), 2);
        assert_eq!(add([&[31, 23], &[7, 7], &[7, 7]]), 2);
        assert_eq!(add([&[1], &[1 << 31], &[1 << 25]]), 1);
        assert_eq!(add([&[31, 23, 7, 15], &[7; 4], &[7; 4]]), 1);
    }

    /// Many rows of few words are bits, and no longer when some row needs much more.
    #[test]
    fn rows_become_bits_and_cease_to_be() {
        let budget = Budget::unlimited();
        for arity in [2, 3] {
            let mut set = RowSet::shared(arity);
            let mut all = HashSet::new();
            for (first, rows, far) in
                [(0, 20_000, 0), (10_000, 30_000, 0), (0, 50_000, 1_u32 << 31), (5_000, 60_000, 0)]
            {
                let code = |row: u32, column: u32| match column {
                    0 => row % 300,
                    1 => row / 300 + if row.is_multiple_of(1_000) { far } else { 0 },
                    _ => row % 7,
                };
                let columns: Vec<Vec<Code>> = (0..arity as u32)
                    .map(|column| (first..rows).map(|row| code(row, column)).collect())
                    .collect();
                let slices: Vec<&[Code]> = columns.iter().map(Vec::as_slice).collect();
                let mut candidates = set.candidates();
                set.collect(&slices, slices[0].len(), &mut candidates, &budget).unwrap();
                let new = set.absorb(vec![candidates], &budget).unwrap();
                let expected = (0..slices[0].len())
                    .filter(|row| all.insert(slices.iter().map(|codes| codes[*row]).collect::<Vec<_>>()));
                assert_eq!(expected.count(), new.iter().map(|rows| rows.len).sum::<usize>());
                let mut found = vec![false; slices[0].len()];
                set.mark(&slices, slices[0].len(), &mut found);
                assert!(found.iter().all(|found| *found));
            }
        }
    }

    /// Rows that fit a word, then such that need a wider one, and then such that fit none.
    #[test]
    fn rows_become_larger_and_are_still_told_apart() {
        let budget = Budget::unlimited();
        for arity in [3, 4, 6] {
            let (mut set, mut alone) = (RowSet::shared(arity), RowSet::single(arity));
            let (mut known, mut all) = (HashSet::new(), 0);
            for (largest, offset) in
                [(20, 0), (20, 0), (900, 0), (40, INLINE_END), (1 << 20, 0), (1 << 31, 0)]
            {
                // Those of the second half fit all the time.
                let code = |row: u32, column: u32| match row {
                    0..1_500 => (row * 7 + column * row) % largest + offset,
                    _ => (row + column) % 20,
                };
                let column = |column: u32| (0..3_000).map(|row| code(row, column)).collect();
                let columns: Vec<Vec<Code>> = (0..arity as u32).map(column).collect();
                let rows = Rows { columns, len: 3_000 };
                let new: HashSet<Vec<Code>> = (0..rows.len)
                    .map(|row| rows.columns.iter().map(|codes| codes[row]).collect())
                    .filter(|row: &Vec<Code>| !known.contains(row))
                    .collect();
                // The second half is collected before the first one makes keys wider.
                let halves = [0..1_500, 1_500..3_000].map(|half| {
                    let mut candidates = set.candidates();
                    let half: Vec<&[Code]> = rows.columns.iter().map(|codes| &codes[half.clone()]).collect();
                    set.collect(&half, 1_500, &mut candidates, &budget).unwrap();
                    candidates
                });
                let mut found = Rows::empty(arity);
                for half in halves {
                    let new = set.absorb(vec![half], &budget).unwrap();
                    new.into_iter().for_each(|rows| found.append(rows));
                }
                let mut found_alone = Rows::empty(arity);
                alone.take_in(&rows.slices(), rows.len, &mut found_alone);
                for found in [found, found_alone] {
                    let rows: HashSet<Vec<Code>> = (0..found.len)
                        .map(|row| found.columns.iter().map(|codes| codes[row]).collect())
                        .collect();
                    assert_eq!((found.len, &rows), (new.len(), &new), "{arity} columns up to {largest}");
                }
                all += new.len();
                let columns: Vec<&[Code]> = rows.columns.iter().map(|codes| &codes[..2_000]).collect();
                let mut found = vec![false; 2_000];
                set.mark(&columns, 2_000, &mut found);
                assert!(found.iter().all(|found| *found));
                let others: Vec<Vec<Code>> =
                    columns.iter().map(|codes| codes.iter().map(|code| code ^ 1_999).collect()).collect();
                let others: Vec<&[Code]> = others.iter().map(Vec::as_slice).collect();
                found.fill(false);
                set.mark(&others, 2_000, &mut found);
                known.extend(new);
                for (row, found) in found.iter().enumerate() {
                    let row: Vec<Code> = others.iter().map(|codes| codes[row]).collect();
                    assert_eq!(known.contains(&row), *found);
                }
            }
            assert_eq!(all, known.len());
        }
    }
}
