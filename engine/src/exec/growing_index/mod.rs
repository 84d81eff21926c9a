//! `GrowingIndex`: from a key to the rows of a relation that grows, extended by the rows of each round and never made anew.
//!
//! Rows of a key stand in the order in which they came, so those of a time are the first ones.

/// The rows of each key.
mod lists;

/// Keys of one column.
mod by_code;

/// Keys of any width.
mod by_key;

use std::ops::Range;

use self::by_code::ByCode;
use self::by_key::ByKey;
use self::lists::NoRoom;
use crate::budget::{Budget, BudgetError};
use crate::data::Code;
use crate::data::keys::with_key;

/// What an index is over: columns that are looked up, and which rows are in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct IndexKey {
    pub(super) columns: Vec<usize>,
    /// Only rows with these codes.
    pub(super) constants: Vec<(usize, Code)>,
    /// Only rows that are not composed of others.
    pub(super) generators: bool,
}

/// The rows that an index can be extended by.
#[derive(Clone, Copy)]
pub(super) struct Extent<'r> {
    pub(super) columns: &'r [Vec<Code>],
    pub(super) rows: usize,
    /// Those that are composed of others, in ascending order.
    pub(super) composed: &'r [Range<usize>],
}

/// The index.
pub(super) struct GrowingIndex {
    key: IndexKey,
    /// So many rows were looked at.
    rows: usize,
    /// Whether it was asked for since it grew.
    is_used: bool,
    groups: Box<dyn Groups>,
}

/// The rows of each key.
trait Groups: Send + Sync {
    /// Adds rows, of whose key columns these are the codes.
    fn add(&mut self, columns: &[&[Code]], rows: &[u32]) -> Result<(), NoRoom>;
    fn probe(&self, columns: &[&[Code]], len: usize, end: u32, visit: &mut dyn FnMut(usize, &[u32]) -> bool);
    fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]);
    fn memory_bytes(&self) -> usize;
}

impl GrowingIndex {
    /// An index of no rows.
    pub(super) fn new(key: IndexKey) -> GrowingIndex {
        /// Rows that are expected, at least.
        const ROWS: usize = 1 << 14;
        GrowingIndex::from(key, 0, ROWS)
    }

    /// An index of no rows that will be extended by those of this range alone.
    pub(super) fn of_rows(key: IndexKey, rows: Range<usize>) -> GrowingIndex {
        GrowingIndex::from(key, rows.start, rows.len())
    }

    fn from(key: IndexKey, rows: usize, expected: usize) -> GrowingIndex {
        let groups: Box<dyn Groups> = match key.columns.len() {
            1 => Box::new(ByCode::new(expected)),
            width => with_key!(width, K => Box::new(ByKey::<K>::default())),
        };
        GrowingIndex { key, rows, is_used: false, groups }
    }

    /// Notes that it is asked for.
    pub(super) fn use_again(&mut self) {
        self.is_used = true;
    }

    /// Whether it was asked for since this was last asked.
    pub(super) fn was_used(&mut self) -> bool {
        std::mem::take(&mut self.is_used)
    }

    /// Adds the rows that have come since.
    pub(super) fn extend(
        &mut self,
        Extent { columns, rows, composed }: Extent<'_>,
        budget: &Budget,
    ) -> Result<(), BudgetError> {
        /// So many rows at a time, whose keys fit the cache.
        const CHUNK: usize = 4_096;
        let mut held = self.groups.memory_bytes();
        let mut matching = Vec::new();
        let composed = if self.key.generators { composed } else { &[] };
        let mut composed = composed[composed.partition_point(|range| range.end <= self.rows)..].iter();
        let mut next = composed.next();
        while self.rows < rows {
            budget.check()?;
            if let Some(left_out) = next.filter(|range| range.start <= self.rows) {
                (self.rows, next) = (left_out.end, composed.next());
                continue;
            }
            let end = next.map_or(rows, |range| range.start).min(self.rows + CHUNK);
            matching.clear();
            let is_in =
                |row: &usize| self.key.constants.iter().all(|(column, code)| columns[*column][*row] == *code);
            matching.extend((self.rows..end).filter(is_in).map(|row| row as u32));
            let gather = |column: &usize| -> Vec<Code> {
                matching.iter().map(|row| columns[*column][*row as usize]).collect()
            };
            let keys: Vec<Vec<Code>> = self.key.columns.iter().map(gather).collect();
            let keys: Vec<&[Code]> = keys.iter().map(Vec::as_slice).collect();
            let too_many = |NoRoom| BudgetError::Rows { rows: end as u64 };
            self.groups.add(&keys, &matching).map_err(too_many)?;
            self.rows = end;
            let before = std::mem::replace(&mut held, self.groups.memory_bytes());
            budget.charge(held.saturating_sub(before))?;
        }
        Ok(())
    }

    /// Calls `visit(position, rows)` for every position of the probing columns whose key is here, with its rows before `end`,
    /// in order, until it answers false.
    pub(super) fn probe(
        &self,
        columns: &[&[Code]],
        len: usize,
        end: u32,
        visit: &mut dyn FnMut(usize, &[u32]) -> bool,
    ) {
        self.groups.probe(columns, len, end, visit);
    }

    /// Marks every position of the probing columns, of this length, whose key has a row before `end`.
    pub(super) fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]) {
        self.groups.mark(columns, len, end, found);
    }

    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        self.groups.memory_bytes()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Rows are found as a scan finds them, in any number of steps, for near and far codes.
    #[test]
    fn rows_are_found_as_by_a_scan() {
        const ROWS: u32 = 5_000;
        let far = |n: u32| if n.is_multiple_of(3) { n * 40_000_000 } else { n };
        let columns: Vec<Vec<Code>> = vec![
            (0..ROWS).map(|n| far(n * 7 % 90)).collect(),
            (0..ROWS).map(|n| n % 11).collect(),
            (0..ROWS).map(|n| n % 2).collect(),
        ];
        let composed = [3..5, 500..700, 800..4_300];
        let keys = [
            (vec![0], vec![]),
            (vec![1, 0], vec![]),
            (vec![0], vec![(2, 1)]),
            (vec![], vec![(1, 3), (2, 0)]),
            (vec![0, 1, 2], vec![]),
        ];
        for (columns_of_key, constants) in keys {
            let key_of = |row: u32| -> Vec<Code> {
                columns_of_key.iter().map(|column: &usize| columns[*column][row as usize]).collect()
            };
            let is_in = |row: &u32| {
                constants
                    .iter()
                    .all(|(column, code): &(usize, Code)| columns[*column][*row as usize] == *code)
            };
            let probing: Vec<&[Code]> =
                columns_of_key.iter().map(|column| columns[*column].as_slice()).collect();
            let generators = columns_of_key.len() != 2;
            let is_in = |row: &u32| {
                is_in(row) && !(generators && composed.iter().any(|range| range.contains(&(*row as usize))))
            };
            let key = IndexKey { columns: columns_of_key.clone(), constants: constants.clone(), generators };
            let mut index = GrowingIndex::new(key);
            for rows in [10, 700, 4_300, ROWS] {
                let extent = Extent { columns: &columns, rows: rows as usize, composed: &composed };
                index.extend(extent, &Budget::unlimited()).unwrap();
                for end in [rows, rows / 2] {
                    let mut expected: BTreeMap<Vec<Code>, Vec<u32>> = BTreeMap::new();
                    for row in (0..end).filter(is_in) {
                        expected.entry(key_of(row)).or_default().push(row);
                    }
                    let mut found = BTreeMap::new();
                    index.probe(&probing, ROWS as usize, end, &mut |position, rows| {
                        found.insert(key_of(position as u32), rows.to_vec());
                        true
                    });
                    assert_eq!(found, expected);
                }
            }
        }
    }
}
