//! `RowIndex`: from a key to the rows that hold it.
//!
//! The rows of one key lie side by side, so a probe is one look-up and then a walk over neighbours. A single column
//! whose codes are nearly dense needs no hash table: its keys are positions in an offset array, as in a graph's
//! adjacency lists.

use std::ops::Range;

use arrow::buffer::ScalarBuffer;

use super::codes::{Code, bounds};
use super::counting_sort::{counting_sort, starts_of_sorted};
use super::keys::{Key, KeyNumbers, of_one, with_key};
use super::lazy::{GoOn, Stopped, each_row};

/// An index over some columns of a run.
#[derive(Debug)]
pub struct RowIndex {
    directory: Directory,
    /// `rows[starts[g]..starts[g + 1]]` are the rows of group `g`.
    starts: Vec<u32>,
    rows: ScalarBuffer<u32>,
    /// Whether no group has more than one row.
    is_unique: bool,
}

#[derive(Debug)]
enum Directory {
    /// Group = code − first.
    Dense {
        first: Code,
    },
    Narrow(KeyNumbers<u64>),
    Middle(KeyNumbers<u128>),
    Wide8(KeyNumbers<[Code; 8]>),
    Wide16(KeyNumbers<[Code; 16]>),
    Wide64(KeyNumbers<[Code; 64]>),
    Widest(KeyNumbers<[Code; super::MAX_COLUMNS]>),
}

/// Lets [`RowIndex::build`] choose a directory by the type of its key.
trait IndexKey: Key {
    fn directory(numbers: KeyNumbers<Self>) -> Directory;
    fn numbers(directory: &Directory) -> Option<&KeyNumbers<Self>>;
}

macro_rules! index_key {
    ($key:ty, $variant:ident) => {
        impl IndexKey for $key {
            fn directory(numbers: KeyNumbers<Self>) -> Directory {
                Directory::$variant(numbers)
            }
            fn numbers(directory: &Directory) -> Option<&KeyNumbers<Self>> {
                match directory {
                    Directory::$variant(numbers) => Some(numbers),
                    _ => None,
                }
            }
        }
    };
}
index_key!(u64, Narrow);
index_key!(u128, Middle);
index_key!([Code; 8], Wide8);
index_key!([Code; 16], Wide16);
index_key!([Code; 64], Wide64);
index_key!([Code; super::MAX_COLUMNS], Widest);

/// The first code of a column and how many groups there are from it on, if codes can be positions in an offset array.
fn dense_groups(column: &[Code]) -> Option<(Code, usize)> {
    let (first, last) = bounds(column)?;
    let groups = (last - first) as usize + 1;
    (groups <= column.len() * 4 + 64).then_some((first, groups))
}

impl RowIndex {
    /// Indexes rows by these columns.
    pub fn build(columns: &[&[Code]], row_count: usize, go_on: GoOn<'_>) -> Result<RowIndex, Stopped> {
        if let [column] = columns
            && let Some(index) = RowIndex::over_sorted(column, || (0..row_count as u32).collect(), go_on)?
        {
            return Ok(index);
        }
        RowIndex::build_of(columns, row_count, |row| row as u32, go_on)
    }

    /// The index over a column whose codes ascend, as in the first column of stored rows, and are nearly dense; `items`
    /// stand in the place of rows.
    pub(super) fn over_sorted(
        column: &[Code],
        items: impl FnOnce() -> ScalarBuffer<u32>,
        go_on: GoOn<'_>,
    ) -> Result<Option<RowIndex>, Stopped> {
        let Some((first, groups)) = dense_groups(column).filter(|_| column.is_sorted()) else {
            return Ok(None);
        };
        let starts = starts_of_sorted(column.len(), groups, |row| column[row] - first, go_on)?;
        Ok(Some(RowIndex::of(Directory::Dense { first }, starts, items())))
    }

    /// The same as [`RowIndex::build`] with something else in the place of each row.
    pub(super) fn build_of(
        columns: &[&[Code]],
        row_count: usize,
        item_of: impl Fn(usize) -> u32 + Sync,
        go_on: GoOn<'_>,
    ) -> Result<RowIndex, Stopped> {
        if let [column] = columns
            && let Some((first, groups)) = dense_groups(column)
        {
            let group_of = |row: usize| column[row] - first;
            let directory = Directory::Dense { first };
            return RowIndex::group(directory, groups, row_count, group_of, item_of, go_on);
        }
        with_key!(columns.len(), K => RowIndex::build_hashed::<K>(columns, row_count, item_of, go_on))
    }

    /// The same index with something else in the place of each row, if it has no hash table.
    pub(super) fn of_items(
        &self,
        item_of: impl Fn(usize) -> u32,
        go_on: GoOn<'_>,
    ) -> Result<Option<RowIndex>, Stopped> {
        let Directory::Dense { first } = self.directory else { return Ok(None) };
        let mut rows = Vec::with_capacity(self.rows.len());
        each_row(0..self.rows.len(), go_on, |place| rows.push(item_of(self.rows[place] as usize)))?;
        let (directory, starts) = (Directory::Dense { first }, self.starts.clone());
        Ok(Some(RowIndex { directory, starts, rows: rows.into(), is_unique: self.is_unique }))
    }

    fn build_hashed<K: IndexKey>(
        columns: &[&[Code]],
        row_count: usize,
        item_of: impl Fn(usize) -> u32 + Sync,
        go_on: GoOn<'_>,
    ) -> Result<RowIndex, Stopped> {
        const CHUNK: usize = 4_096;
        let mut numbers = KeyNumbers::<K>::for_keys(columns, row_count);
        let mut group_of_row = Vec::with_capacity(row_count);
        let mut keys = Vec::with_capacity(CHUNK);
        for start in (0..row_count).step_by(CHUNK) {
            if !go_on() {
                return Err(Stopped);
            }
            keys.clear();
            K::pack(columns, start, (start + CHUNK).min(row_count), &mut keys);
            numbers.number_all(&keys, &mut group_of_row);
        }
        let groups = numbers.len();
        RowIndex::group(K::directory(numbers), groups, row_count, |row| group_of_row[row], item_of, go_on)
    }

    fn group(
        directory: Directory,
        groups: usize,
        row_count: usize,
        group_of_row: impl Fn(usize) -> u32 + Sync,
        item_of: impl Fn(usize) -> u32 + Sync,
        go_on: GoOn<'_>,
    ) -> Result<RowIndex, Stopped> {
        let (starts, rows) = counting_sort(row_count, groups, group_of_row, item_of, go_on)?;
        Ok(RowIndex::of(directory, starts, rows.into()))
    }

    fn of(directory: Directory, starts: Vec<u32>, rows: ScalarBuffer<u32>) -> RowIndex {
        let is_unique = starts.windows(2).all(|ends| ends[1] - ends[0] <= 1);
        RowIndex { directory, starts, rows, is_unique }
    }

    /// The same groups with their rows in another order.
    pub(super) fn with_rows(self, rows: ScalarBuffer<u32>) -> RowIndex {
        RowIndex { rows, ..self }
    }

    /// Calls `visit(position, rows)` for every position of `start..end` in the probing columns whose key is here, in
    /// order, until `visit` answers false.
    pub fn probe(
        &self,
        columns: &[&[Code]],
        start: usize,
        end: usize,
        mut visit: impl FnMut(usize, &[u32]) -> bool,
    ) {
        self.probe_ranges(columns, start, end, |position, range| visit(position, &self.rows[range]));
    }

    /// The same with where the rows stand in [`RowIndex::rows`].
    pub(super) fn probe_ranges(
        &self,
        columns: &[&[Code]],
        start: usize,
        end: usize,
        mut visit: impl FnMut(usize, Range<usize>) -> bool,
    ) {
        if let Directory::Dense { first } = self.directory {
            let groups = self.starts.len() - 1;
            for (position, code) in columns[0].iter().enumerate().take(end).skip(start) {
                let group = code.wrapping_sub(first) as usize;
                if group < groups {
                    let range = self.range_of(group);
                    if !range.is_empty() && !visit(position, range) {
                        return;
                    }
                }
            }
            return;
        }
        with_key!(columns.len(), K => self.probe_hashed::<K>(columns, start, end, visit));
    }

    /// The same as [`RowIndex::probe`] for one column in which no code has more than one row, if this is such an index
    /// without a hash table: adds each position that has a row, and that row.
    pub fn probe_unique(&self, codes: &[Code], positions: &mut Vec<u32>, rows: &mut Vec<u32>) -> bool {
        let Directory::Dense { first } = self.directory else { return false };
        if !self.is_unique {
            return false;
        }
        let mut at = rows.len();
        positions.resize(at + codes.len(), 0);
        rows.resize(at + codes.len(), 0);
        let groups = self.starts.len() - 1;
        for (position, code) in codes.iter().enumerate() {
            let group = code.wrapping_sub(first) as usize;
            if group < groups {
                let (start, end) = (self.starts[group], self.starts[group + 1]);
                // Without a row it is written over by the next one.
                rows[at] = self.rows[start as usize - usize::from(start as usize == self.rows.len())];
                positions[at] = position as u32;
                at += (end - start) as usize;
            }
        }
        positions.truncate(at);
        rows.truncate(at);
        true
    }

    /// Marks every position of the probing columns, of this length, whose key is here.
    pub fn mark(&self, columns: &[&[Code]], len: usize, found: &mut [bool]) {
        if let Directory::Dense { first } = self.directory {
            for (code, found) in columns[0].iter().zip(&mut found[..len]) {
                let group = code.wrapping_sub(first) as usize;
                *found |= self.starts.get(group + 1).is_some_and(|end| *end > self.starts[group]);
            }
            return;
        }
        with_key!(columns.len(), K => self.mark_hashed::<K>(columns, len, found));
    }

    fn mark_hashed<K: IndexKey>(&self, columns: &[&[Code]], len: usize, found: &mut [bool]) {
        let Some(numbers) = K::numbers(&self.directory) else { return };
        numbers.look_up(columns, 0..len, |position, _| {
            found[position] = true;
            true
        });
    }

    fn probe_hashed<K: IndexKey>(
        &self,
        columns: &[&[Code]],
        start: usize,
        end: usize,
        mut visit: impl FnMut(usize, Range<usize>) -> bool,
    ) {
        let Some(numbers) = K::numbers(&self.directory) else { return };
        numbers
            .look_up(columns, start..end, |position, group| visit(position, self.range_of(*group as usize)));
    }

    /// Where the rows with this code stand in [`RowIndex::rows`], if the index is over one column.
    #[inline]
    pub fn range(&self, code: Code) -> Range<usize> {
        let group = match &self.directory {
            Directory::Dense { first } => code.wrapping_sub(*first) as usize,
            Directory::Narrow(numbers) => match numbers.get(&of_one(code)) {
                Some(number) => *number as usize,
                None => return 0..0,
            },
            _ => return 0..0,
        };
        match self.starts.get(group..) {
            Some([start, end, ..]) => *start as usize..*end as usize,
            Some(_) | None => 0..0,
        }
    }

    /// The rows, in the order of the index: those of one key side by side.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The same, for somebody who keeps them.
    pub(super) fn shared_rows(&self) -> ScalarBuffer<u32> {
        self.rows.clone()
    }

    /// Where the rows of each group stand in [`RowIndex::rows`].
    pub fn group_ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    #[inline]
    fn range_of(&self, group: usize) -> Range<usize> {
        self.starts[group] as usize..self.starts[group + 1] as usize
    }

    /// Number of distinct keys, or a little more.
    pub fn groups(&self) -> usize {
        self.starts.len() - 1
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        let directory = match &self.directory {
            Directory::Dense { .. } => 0,
            Directory::Narrow(numbers) => numbers.memory_bytes(),
            Directory::Middle(numbers) => numbers.memory_bytes(),
            Directory::Wide8(numbers) => numbers.memory_bytes(),
            Directory::Wide16(numbers) => numbers.memory_bytes(),
            Directory::Wide64(numbers) => numbers.memory_bytes(),
            Directory::Widest(numbers) => numbers.memory_bytes(),
        };
        directory + (self.starts.len() + self.rows.len()) * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(columns: &[&[Code]], rows: usize) -> RowIndex {
        RowIndex::build(columns, rows, &|| true).unwrap()
    }

    fn rows_of(index: &RowIndex, key: &[Code]) -> Vec<u32> {
        let columns: Vec<&[Code]> = key.chunks(1).collect();
        let mut found = Vec::new();
        index.probe(&columns, 0, 1, |_, rows| {
            found.extend_from_slice(rows);
            true
        });
        found
    }

    #[test]
    fn dense_and_hashed_keys_find_the_same_rows() {
        let dense = build(&[&[3, 5, 3, 4]], 4);
        let sparse = build(&[&[3, 5_000_000, 3, 4]], 4);
        assert_eq!(rows_of(&dense, &[3]), [0, 2]);
        assert_eq!(rows_of(&sparse, &[3]), [0, 2]);
        assert_eq!(rows_of(&dense, &[5]), [1]);
        assert_eq!(rows_of(&sparse, &[5_000_000]), [1]);
        for missing in [0, 2, 6, Code::MAX - 1] {
            assert!(rows_of(&dense, &[missing]).is_empty());
            assert!(rows_of(&sparse, &[missing]).is_empty());
        }
    }

    #[test]
    fn several_columns_make_one_key() {
        let (a, b, c) = ([1, 1, 2, 1], [7, 8, 7, 7], [0, 0, 0, 0]);
        assert_eq!(rows_of(&build(&[&a, &b], 4), &[1, 7]), [0, 3]);
        assert_eq!(rows_of(&build(&[&a, &b, &c], 4), &[1, 7, 0]), [0, 3]);
        assert!(rows_of(&build(&[&a, &b, &c], 4), &[1, 7, 1]).is_empty());
    }
}
