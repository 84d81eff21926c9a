//! Two columns of a run as edges: what belongs to one code lies side by side.

use std::sync::Arc;

use super::dictionary::Code;
use super::index::RowIndex;

/// For each code of the first column those of the second, in the order of rows.
#[derive(Debug)]
pub struct Neighbours {
    index: Arc<RowIndex>,
    ends: Vec<Code>,
}

impl Neighbours {
    /// Edges from the column of this index to these ends.
    pub(super) fn new(index: Arc<RowIndex>, ends: &[Code]) -> Neighbours {
        let ends = index.rows().iter().map(|row| ends[*row as usize]).collect();
        Neighbours { index, ends }
    }

    /// Where the edges that begin in this code end.
    #[inline]
    pub fn of(&self, code: Code) -> &[Code] {
        &self.ends[self.index.range(code)]
    }

    /// Calls `visit` for each edge that begins in one of a few codes. They are looked up side by side, not one after the
    /// other: who waits for memory then waits for all at once.
    #[inline]
    pub fn of_all(&self, codes: &[Code], mut visit: impl FnMut(Code)) {
        const FEW: usize = 64;
        for codes in codes.chunks(FEW) {
            let mut ranges = [(0, 0); FEW];
            for (range, code) in ranges.iter_mut().zip(codes) {
                let found = self.index.range(*code);
                *range = (found.start, found.end);
            }
            let ranges = &ranges[..codes.len()];
            let first = |(start, _): &(usize, usize)| self.ends.get(*start).copied().unwrap_or_default();
            std::hint::black_box(ranges.iter().map(first).fold(0, Code::wrapping_add));
            for (start, end) in ranges {
                self.ends[*start..*end].iter().for_each(|end| visit(*end));
            }
        }
    }

    /// Bytes held, but for the index.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ends.len() * size_of::<Code>()
    }
}

/// The same in ascending order, with the row of each edge.
#[derive(Debug)]
pub struct OrderedNeighbours {
    index: Arc<RowIndex>,
    ends: Vec<Code>,
    rows: Vec<u32>,
}

impl OrderedNeighbours {
    /// Edges from the column of this index to these ends.
    pub(super) fn new(index: Arc<RowIndex>, ends: &[Code]) -> OrderedNeighbours {
        let mut rows = index.rows().to_vec();
        for group in index.group_ranges() {
            rows[group].sort_unstable_by_key(|row| ends[*row as usize]);
        }
        let ends = rows.iter().map(|row| ends[*row as usize]).collect();
        OrderedNeighbours { index, ends, rows }
    }

    /// Where the edges that begin in this code end, and which rows they are.
    #[inline]
    pub fn of(&self, code: Code) -> (&[Code], &[u32]) {
        let range = self.index.range(code);
        (&self.ends[range.clone()], &self.rows[range])
    }

    /// Bytes held, but for the index.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ends.len() * (size_of::<Code>() + size_of::<u32>())
    }
}

/// Calls `visit` with the positions of each code that two ascending lists have in common.
pub fn intersect(left: &[Code], right: &[Code], mut visit: impl FnMut(usize, usize)) {
    /// From so many times the length of the other on, a list is searched and not read.
    const SEARCHED: usize = 16;
    if left.len() * SEARCHED < right.len() {
        return search(left, right, visit);
    }
    if right.len() * SEARCHED < left.len() {
        return search(right, left, |right, left| visit(left, right));
    }
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
        if a == b {
            visit(i, j);
        }
        // Without a branch that nobody could foresee.
        i += usize::from(a <= b);
        j += usize::from(b <= a);
    }
}

fn search(short: &[Code], long: &[Code], mut visit: impl FnMut(usize, usize)) {
    let mut at = 0;
    for (position, code) in short.iter().enumerate() {
        at += gallop(&long[at..], *code);
        match long.get(at) {
            Some(other) if other == code => visit(position, at),
            Some(_) => {}
            None => return,
        }
    }
}

/// How many codes come before this one: in steps that double, then by halves.
fn gallop(codes: &[Code], code: Code) -> usize {
    let mut end = 1;
    while end < codes.len() && codes[end] < code {
        end *= 2;
    }
    let (start, end) = (end / 2, (end + 1).min(codes.len()));
    start + codes[start..end].partition_point(|other| *other < code)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{OrderedNeighbours, intersect};
    use crate::data::{Code, RowIndex};

    #[test]
    fn ends_ascend_and_rows_go_with_them() {
        let (from, to) = ([3, 1, 3, 3], [9, 5, 2, 4]);
        let edges = OrderedNeighbours::new(Arc::new(RowIndex::build(&[&from], 4)), &to);
        assert_eq!(edges.of(3), (&[2, 4, 9][..], &[2, 3, 0][..]));
        assert_eq!(edges.of(2), (&[][..], &[][..]));
    }

    #[test]
    fn lists_of_any_lengths_meet() {
        let all: Vec<Code> = (0..500).map(|n| n * 3).collect();
        for some in [vec![], vec![0], vec![1_497], vec![1, 3, 700, 702, 1_497, 2_000], (0..1_600).collect()] {
            let expected: Vec<Code> =
                some.iter().copied().filter(|code| code % 3 == 0 && *code < 1_500).collect();
            for (left, right) in [(&some, &all), (&all, &some)] {
                let mut met = Vec::new();
                intersect(left, right, |a, b| {
                    assert_eq!(left[a], right[b]);
                    met.push(left[a]);
                });
                assert_eq!(met, expected);
            }
        }
    }
}
