//! `BestIndex`: from a key to the best rows on one side of a number. Of rows that have the same codes in some columns and differ
//! in a number and a value, only the one with the best value counts among those whose number is large or small enough.
//!
//! Rows of the same codes stand in the order of their numbers, each with the best row from there on (or up to there): to find
//! it is one binary search, however many rows follow.

use super::codes::{Code, INLINE_END};
use super::dictionary::Codec;
use super::index::RowIndex;
use super::lazy::{GoOn, Stopped};
use super::preference::Preference;
use super::range_index::RangeIndex;
use super::value::{Kind, Number};

/// What a [`BestIndex`] is over: columns of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BestOf {
    /// What is looked up.
    pub key: Vec<usize>,
    /// What else the rows of a group have in common.
    pub group: Vec<usize>,
    /// The numbers.
    pub number: usize,
    /// The values.
    pub value: usize,
    /// Whether the largest value is best, or the least.
    pub largest: bool,
    /// Whether numbers have to be as large as a bound, or as small.
    pub above: bool,
}

/// An index over a run.
#[derive(Debug)]
pub struct BestIndex {
    above: bool,
    /// From a key to its groups.
    groups: RowIndex,
    /// Where the rows of each group begin, and where those of the last one end.
    starts: Vec<u32>,
    /// The numbers of each group's rows, in order.
    numbers: Vec<f64>,
    /// The best row that counts with each number.
    best: Vec<u32>,
}

impl BestIndex {
    /// Indexes rows, if the numbers are of one kind and exact as floats. `columns` has all columns of the run.
    pub(super) fn build(
        of: &BestOf,
        columns: &[&[Code]],
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<Option<BestIndex>, Stopped> {
        if !are_exact(columns[of.number], codec) {
            return Ok(None);
        }
        let together: Vec<&[Code]> = of.key.iter().chain(&of.group).map(|column| columns[*column]).collect();
        let Some(range) = RangeIndex::build(&together, columns[of.number], codec, go_on)? else {
            return Ok(None);
        };
        let rows = range.index.rows();
        let filled = range.index.group_ranges().filter(|group| !group.is_empty());
        let mut starts: Vec<u32> = filled.map(|group| group.start as u32).collect();
        let first = |column: &usize| -> Vec<Code> {
            starts.iter().map(|start| columns[*column][rows[*start as usize] as usize]).collect()
        };
        let keys: Vec<Vec<Code>> = of.key.iter().map(first).collect();
        let keys: Vec<&[Code]> = keys.iter().map(Vec::as_slice).collect();
        let groups = RowIndex::build(&keys, starts.len(), go_on)?;
        starts.push(rows.len() as u32);
        let preference = Preference { largest: of.largest, codec };
        let mut best = rows.to_vec();
        let values = columns[of.value];
        let mut better = |place: usize, neighbour: usize| {
            let (row, other) = (best[place], best[neighbour]);
            if preference.is_better(values[other as usize], values[row as usize]) {
                best[place] = other;
            }
        };
        for ends in starts.windows(2) {
            if !go_on() {
                return Err(Stopped);
            }
            let (start, end) = (ends[0] as usize, ends[1] as usize);
            if of.above {
                (start..end - 1).rev().for_each(|place| better(place, place + 1));
            } else {
                (start + 1..end).for_each(|place| better(place, place - 1));
            }
        }
        Ok(Some(BestIndex { above: of.above, groups, starts, numbers: range.numbers, best }))
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let rows = self.numbers.len() * (size_of::<f64>() + size_of::<u32>());
        self.groups.memory_bytes() + self.starts.len() * size_of::<u32>() + rows
    }

    /// Calls `visit(position, rows)` with the best row of each group that has one, alone, of every position of the probing columns,
    /// in order, until it answers false. Numbers count that reach a bound, or lie beyond it where it is `strict`.
    pub fn probe(
        &self,
        columns: &[&[Code]],
        len: usize,
        bound: impl Fn(usize) -> f64,
        strict: bool,
        mut visit: impl FnMut(usize, &[u32]) -> bool,
    ) {
        self.groups.probe(columns, 0, len, |position, groups| {
            let bound = bound(position);
            groups.iter().all(|group| {
                let (start, end) = (self.starts[*group as usize], self.starts[*group as usize + 1]);
                let numbers = &self.numbers[start as usize..end as usize];
                // Where those begin that are larger than the bound, or as large.
                let place = if self.above == strict {
                    numbers.partition_point(|number| *number <= bound)
                } else {
                    numbers.partition_point(|number| *number < bound)
                };
                let place = if self.above { Some(place) } else { place.checked_sub(1) };
                match place {
                    Some(place) if place < numbers.len() => {
                        visit(position, std::slice::from_ref(&self.best[start as usize + place]))
                    }
                    Some(_) | None => true,
                }
            })
        });
    }
}

/// Whether codes are numbers of one kind that lose nothing as floats, and whose order is that of the floats.
fn are_exact(codes: &[Code], codec: &Codec) -> bool {
    const EXACT: u64 = 1 << 53;
    let mut kind: Option<Kind> = None;
    codes.iter().all(|code| {
        let own = if *code < INLINE_END { Kind::Int } else { codec.kind(*code) };
        let is_exact = *code < INLINE_END
            || match codec.number(*code) {
                Some(Number::Int(n)) => n.unsigned_abs() < EXACT,
                Some(Number::Float(_)) => true,
                None => false,
            };
        is_exact && *kind.get_or_insert(own) == own
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::Dictionary;

    /// The best row of each group is what a scan finds, on either side of a bound.
    #[test]
    fn the_best_row_is_found_as_by_a_scan() {
        const ROWS: u32 = 700;
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let column =
            |step: u32, modulus: u32| -> Vec<Code> { (0..ROWS).map(|row| row * step % modulus).collect() };
        let columns = [column(7, 11), column(13, 5), column(31, 97), column(17, 53)];
        let slices: Vec<&[Code]> = columns.iter().map(Vec::as_slice).collect();
        for (above, largest) in [(true, false), (true, true), (false, false), (false, true)] {
            let of = BestOf { key: vec![0], group: vec![1], number: 2, value: 3, largest, above };
            let index = BestIndex::build(&of, &slices, &codec, &|| true).unwrap().unwrap();
            for (bound, strict) in [(0, false), (0, true), (40, false), (40, true), (96, true), (200, false)]
            {
                let mut found = Vec::new();
                let keys: Vec<Code> = (0..12).collect();
                index.probe(
                    &[&keys],
                    12,
                    |_| f64::from(bound),
                    strict,
                    |position, rows| {
                        let [row] = *rows else { panic!("{} rows", rows.len()) };
                        found.push((position as u32, columns[1][row as usize], columns[3][row as usize]));
                        assert_eq!(columns[0][row as usize], position as u32);
                        true
                    },
                );
                let counts = |number: u32| match (above, strict) {
                    (true, false) => number >= bound,
                    (true, true) => number > bound,
                    (false, false) => number <= bound,
                    (false, true) => number < bound,
                };
                let mut expected = Vec::new();
                for (key, group) in (0..12).flat_map(|key| (0..5).map(move |group| (key, group))) {
                    let rows = (0..ROWS as usize).filter(|row| {
                        columns[0][*row] == key && columns[1][*row] == group && counts(columns[2][*row])
                    });
                    let values = rows.map(|row| columns[3][row]);
                    let best = if largest { values.max() } else { values.min() };
                    expected.extend(best.map(|best| (key, group, best)));
                }
                found.sort_unstable();
                assert_eq!(found, expected, "{above} {largest} {bound} {strict}");
            }
        }
    }

    #[test]
    fn numbers_of_two_kinds_have_no_index() {
        let dictionary = Arc::new(Dictionary::shared());
        let codec = Codec::over(dictionary);
        let half = codec.encode(crate::data::ValueRef::Float(0.5)).unwrap();
        assert!(are_exact(&[1, 2], &codec) && are_exact(&[half, half], &codec));
        assert!(!are_exact(&[1, half], &codec));
    }
}
