//! `RangeIndex`: from a key to the rows that hold it, in the order of another column, so that those of a range of its values
//! stand side by side.

use arrow::buffer::ScalarBuffer;

use super::codes::{Code, INLINE_END};
use super::dictionary::Codec;
use super::index::RowIndex;
use super::lazy::{GoOn, Stopped};
use super::{float_of, parallel};

/// An index over some columns of a run, and one by whose numbers the rows of a key are ordered.
///
/// Numbers are compared as floats. To round keeps their order, so a range with its ends has all rows that lie in it by exact
/// comparison, and those beside it that are as good as equal: whoever asks compares again.
#[derive(Debug)]
pub struct RangeIndex {
    pub(super) index: RowIndex,
    /// The number of each of the index's rows.
    pub(super) numbers: Vec<f64>,
}

impl RangeIndex {
    /// Indexes rows by these columns and by the numbers of another one, if it has nothing else.
    pub(super) fn build(
        columns: &[&[Code]],
        by: &[Code],
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<Option<RangeIndex>, Stopped> {
        let Some(numbers) = numbers(by, codec) else { return Ok(None) };
        let index = RowIndex::build(columns, by.len(), go_on)?;
        let mut rows: Vec<(f64, u32)> =
            index.rows().iter().map(|row| (numbers[*row as usize], *row)).collect();
        let mut rest = rows.as_mut_slice();
        let mut groups: Vec<&mut [(f64, u32)]> = Vec::new();
        for group in index.group_ranges() {
            let (first, others) = std::mem::take(&mut rest).split_at_mut(group.len());
            (groups, rest) = (
                {
                    groups.push(first);
                    groups
                },
                others,
            );
        }
        const LANE_GROUPS: usize = 1_024;
        let sort = |lane: &mut [&mut [(f64, u32)]]| {
            if !go_on() {
                return Err(Stopped);
            }
            lane.iter_mut().for_each(|group| group.sort_unstable_by(|a, b| a.0.total_cmp(&b.0)));
            Ok(())
        };
        parallel::map(groups.chunks_mut(LANE_GROUPS).collect(), sort)
            .into_iter()
            .collect::<Result<(), Stopped>>()?;
        let (numbers, rows): (Vec<f64>, Vec<u32>) = rows.into_iter().unzip();
        Ok(Some(RangeIndex { index: index.with_rows(ScalarBuffer::from(rows)), numbers }))
    }

    /// Calls `visit(position, rows)` with the rows between two numbers, ends included, of every position of the probing
    /// columns that has some, in order, until it answers false.
    pub fn probe(
        &self,
        columns: &[&[Code]],
        len: usize,
        between: impl Fn(usize) -> (f64, f64),
        mut visit: impl FnMut(usize, &[u32]) -> bool,
    ) {
        self.index.probe_ranges(columns, 0, len, |position, group| {
            let (from, to) = between(position);
            let numbers = &self.numbers[group.clone()];
            let start = numbers.partition_point(|number| *number < from);
            let end = start + numbers[start..].partition_point(|number| *number <= to);
            start == end || visit(position, &self.index.rows()[group.start + start..group.start + end])
        });
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.index.memory_bytes() + self.numbers.len() * size_of::<f64>()
    }

    /// Number of distinct keys, or a little more.
    pub fn groups(&self) -> usize {
        self.index.groups()
    }
}

/// The numbers of a column, if it has nothing else.
fn numbers(codes: &[Code], codec: &Codec) -> Option<Vec<f64>> {
    let number = |code: &Code| match *code {
        code if code < INLINE_END => Some(f64::from(code)),
        code => codec.number(code).map(float_of),
    };
    codes.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::data::Dictionary;

    #[test]
    fn rows_of_a_range_are_found() {
        let codec = Codec::over(Arc::new(Dictionary::shared()));
        let (keys, by) = ([7, 7, 9, 7, 9], [5, 1, 2, 3, 8]);
        let index = RangeIndex::build(&[&keys], &by, &codec, &|| true).unwrap().unwrap();
        let rows = |key: Code, from: f64, to: f64| {
            let mut found = Vec::new();
            index.probe(
                &[&[key]],
                1,
                |_| (from, to),
                |_, rows| {
                    found.extend_from_slice(rows);
                    true
                },
            );
            found
        };
        assert_eq!(rows(7, 1.0, 3.0), [1, 3]);
        assert_eq!(rows(7, f64::NEG_INFINITY, f64::INFINITY), [1, 3, 0]);
        assert_eq!(rows(9, 3.0, 7.0), [0_u32; 0]);
        assert_eq!(rows(8, 0.0, 9.0), [0_u32; 0]);
    }
}
