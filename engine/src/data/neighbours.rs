//! Two columns of a run as edges: what belongs to one code lies side by side.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use arrow::buffer::ScalarBuffer;
use foldhash::fast::RandomState;

use super::codes::{Code, bounds};
use super::index::RowIndex;
use super::lazy::{GoOn, Stopped, each_row};

/// For each code of the first column those of the second, in the order of rows.
#[derive(Debug)]
pub struct Neighbours {
    /// Ends in the place of rows.
    ends: RowIndex,
    /// Whether the ends are the column of the run itself.
    shares_ends: bool,
}

impl Neighbours {
    /// Edges from one column to another. An index of the first is used if there is one.
    pub(super) fn new(
        from: &[Code],
        to: &ScalarBuffer<Code>,
        index: Option<&RowIndex>,
        go_on: GoOn<'_>,
    ) -> Result<Neighbours, Stopped> {
        if let Some(ends) = RowIndex::over_sorted(from, || to.clone(), go_on)? {
            return Ok(Neighbours { ends, shares_ends: true });
        }
        let item_of = |row: usize| to[row];
        let found = index.map(|index| index.of_items(item_of, go_on)).transpose()?.flatten();
        let ends = found.map_or_else(|| RowIndex::build_of(&[from], from.len(), item_of, go_on), Ok)?;
        Ok(Neighbours { ends, shares_ends: false })
    }

    /// Where the edges that begin in this code end.
    #[inline]
    pub fn of(&self, code: Code) -> &[Code] {
        &self.ends.rows()[self.ends.range(code)]
    }

    /// Where the ends of the edges that begin in this code stand in [`Neighbours::ends`].
    #[inline]
    pub fn range(&self, code: Code) -> Range<usize> {
        self.ends.range(code)
    }

    /// The ends of all edges, those that begin in one code side by side.
    pub fn ends(&self) -> ScalarBuffer<Code> {
        self.ends.shared_rows()
    }

    /// Calls `visit` with the position of each code, and with where the edges that begin in it end, until that answers
    /// false. Codes are looked up side by side, not one after the other: who waits for memory then waits for all at once.
    #[inline]
    pub fn of_all(&self, codes: &[Code], mut visit: impl FnMut(usize, &[Code]) -> bool) {
        const FEW: usize = 64;
        let ends = self.ends.rows();
        for (number, codes) in codes.chunks(FEW).enumerate() {
            let mut ranges = [(0, 0); FEW];
            for (range, code) in ranges.iter_mut().zip(codes) {
                let found = self.ends.range(*code);
                *range = (found.start, found.end);
            }
            let ranges = &ranges[..codes.len()];
            let first = |(start, _): &(usize, usize)| ends.get(*start).copied().unwrap_or_default();
            std::hint::black_box(ranges.iter().map(first).fold(0, Code::wrapping_add));
            for (place, (start, end)) in ranges.iter().enumerate() {
                if !visit(number * FEW + place, &ends[*start..*end]) {
                    return;
                }
            }
        }
    }

    /// Bytes held beside the columns of the run.
    pub(super) fn memory_bytes(&self) -> usize {
        let shared = if self.shares_ends { size_of_val(self.ends.rows()) } else { 0 };
        self.ends.memory_bytes() - shared
    }
}

/// The same in ascending order, with the row of each edge. Long lists are there as sets, too.
#[derive(Debug)]
pub struct OrderedNeighbours {
    index: Arc<RowIndex>,
    ends: Vec<Code>,
    rows: Vec<u32>,
    /// Where a long list begins, and the number of its set.
    long: HashMap<usize, usize, RandomState>,
    /// The code of the first bit of each set.
    first: Code,
    /// Words of each set.
    words: usize,
    sets: Vec<u64>,
}

/// A list is long with so many codes.
const LONG: usize = 256;
/// All sets together take at most so many times the bytes of the lists.
const SET_BYTES: usize = 2;

impl OrderedNeighbours {
    /// Edges from the column of this index to these ends.
    pub(super) fn new(
        index: Arc<RowIndex>,
        ends: &[Code],
        go_on: GoOn<'_>,
    ) -> Result<OrderedNeighbours, Stopped> {
        let mut rows = index.rows().to_vec();
        let groups: Vec<Range<usize>> = index.group_ranges().collect();
        each_row(0..groups.len(), go_on, |group| {
            rows[groups[group].clone()].sort_unstable_by_key(|row| ends[*row as usize]);
        })?;
        let ends: Vec<Code> = rows.iter().map(|row| ends[*row as usize]).collect();
        let (first, words) =
            bounds(&ends).map_or((0, 0), |(first, last)| (first, (last - first) as usize / 64 + 1));
        let lists: Vec<Range<usize>> = groups.into_iter().filter(|list| list.len() >= LONG).collect();
        let mut neighbours =
            OrderedNeighbours { index, ends, rows, long: HashMap::default(), first, words, sets: Vec::new() };
        if lists.len() * words * size_of::<u64>() <= SET_BYTES * neighbours.memory_bytes() {
            neighbours.sets = vec![0; lists.len() * words];
            for (number, list) in lists.into_iter().enumerate() {
                neighbours.long.insert(list.start, number);
                let words = &mut neighbours.sets[number * words..][..words];
                set(words, first, &neighbours.ends[list]);
            }
        }
        Ok(neighbours)
    }

    /// Where the edges that begin in this code end, as a set, if they are many.
    pub fn long(&self, code: Code) -> Option<Bits<'_>> {
        let list = self.index.range(code);
        if list.len() < LONG {
            return None;
        }
        let number = *self.long.get(&list.start)?;
        Some(Bits { first: self.first, words: &self.sets[number * self.words..][..self.words] })
    }

    /// Where the edges that begin in this code end, and which rows they are.
    #[inline]
    pub fn of(&self, code: Code) -> (&[Code], &[u32]) {
        let range = self.index.range(code);
        (&self.ends[range.clone()], &self.rows[range])
    }

    /// Bytes held, but for the index.
    pub(super) fn memory_bytes(&self) -> usize {
        self.ends.len() * (size_of::<Code>() + size_of::<u32>()) + self.sets.len() * size_of::<u64>()
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

/// A set of codes as bits.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'b> {
    /// The code of the first bit.
    first: Code,
    words: &'b [u64],
}

impl Bits<'_> {
    /// Adds those of the codes that are in the set.
    pub fn find(&self, codes: &[Code], found: &mut Vec<Code>) {
        let mut at = found.len();
        found.resize(at + codes.len(), 0);
        for code in codes {
            let bit = code.wrapping_sub(self.first) as usize;
            // Without a branch that nobody could foresee: what is not there is written over by the next one.
            found[at] = *code;
            at += self.words.get(bit / 64).map_or(0, |word| word >> (bit % 64) & 1) as usize;
        }
        found.truncate(at);
    }
}

fn set(words: &mut [u64], first: Code, codes: &[Code]) {
    for code in codes {
        let bit = (code - first) as usize;
        words[bit / 64] |= 1 << (bit % 64);
    }
}

/// The codes of one list, for as long as it is looked at.
#[derive(Debug, Default)]
pub struct MarkedCodes {
    words: Vec<u64>,
}

impl MarkedCodes {
    /// Calls `visit` with the codes of an ascending list as a set, unless that would take too many bits.
    pub fn with<T>(&mut self, codes: &[Code], visit: impl FnOnce(Option<Bits<'_>>) -> T) -> T {
        /// 2 MiB.
        const MOST_WORDS: usize = 1 << 18;
        let (Some(first), Some(last)) = (codes.first(), codes.last()) else { return visit(None) };
        let words = (last - first) as usize / 64 + 1;
        if words > MOST_WORDS {
            return visit(None);
        }
        if self.words.len() < words {
            self.words.resize(words, 0);
        }
        set(&mut self.words, *first, codes);
        let visited = visit(Some(Bits { first: *first, words: &self.words[..words] }));
        codes.iter().for_each(|code| self.words[(code - first) as usize / 64] = 0);
        visited
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{MarkedCodes, OrderedNeighbours, intersect};
    use crate::data::{Code, RowIndex};

    fn ordered(from: &[Code], to: &[Code]) -> OrderedNeighbours {
        let index = RowIndex::build(&[from], from.len(), &|| true).unwrap();
        OrderedNeighbours::new(Arc::new(index), to, &|| true).unwrap()
    }

    #[test]
    fn ends_ascend_and_rows_go_with_them() {
        let (from, to) = ([3, 1, 3, 3], [9, 5, 2, 4]);
        let edges = ordered(&from, &to);
        assert_eq!(edges.of(3), (&[2, 4, 9][..], &[2, 3, 0][..]));
        assert_eq!(edges.of(2), (&[][..], &[][..]));
    }

    #[test]
    fn codes_are_marked_for_a_while() {
        let mut marked = MarkedCodes::default();
        for (codes, others) in [(vec![70, 71, 200], vec![0, 70, 72, 200, 201, 9_999]), (vec![5], vec![5, 70])]
        {
            let mut found = vec![1];
            marked.with(&codes, |marked| marked.unwrap().find(&others, &mut found));
            assert_eq!(
                found[1..],
                others.into_iter().filter(|code| codes.contains(code)).collect::<Vec<_>>()
            );
        }
        assert!(marked.words.iter().all(|word| *word == 0));
        assert!(marked.with(&[], |marked| marked.is_none()));
        assert!(marked.with(&[0, 1 << 30], |marked| marked.is_none()));
    }

    #[test]
    fn long_lists_are_sets() {
        let (from, to): (Vec<Code>, Vec<Code>) = (0..400).map(|n| (7 + n % 2 * (n % 3), n * 5)).unzip();
        let edges = ordered(&from, &to);
        let mut found = Vec::new();
        edges.long(7).unwrap().find(&[0, 1, 5, 10, 15, 9_999], &mut found);
        assert_eq!(found, [0, 10, 15]);
        assert!(edges.long(8).is_none() && edges.long(6).is_none());
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
