//! `GrowingIndex`: from a key to the rows of a relation that grows, extended by the rows of each round and never made anew.
//!
//! The rows of a key stand side by side in one vector of all keys; a list that is full moves to its end, with twice the room
//! (as vectors grow, so each row is moved once on average). Rows stand in the order in which they came, so those of a time are
//! the first ones.

use std::hint::black_box;
use std::ops::Range;

use crate::budget::{Budget, BudgetError};
use crate::data::keys::{Key, KeyNumbers, with_key};
use crate::data::{Code, INLINE_END};

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

trait Groups: Send + Sync {
    /// Adds rows, of whose key columns these are the codes.
    fn add(&mut self, columns: &[&[Code]], rows: &[u32]);
    fn probe(&self, columns: &[&[Code]], len: usize, end: u32, visit: &mut dyn FnMut(usize, &[u32]) -> bool);
    fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]);
    fn memory_bytes(&self) -> usize;
}

impl GrowingIndex {
    /// An index of no rows.
    pub(super) fn new(key: IndexKey) -> GrowingIndex {
        /// Places of a table of codes, at least.
        const PLACES: usize = 1 << 16;
        GrowingIndex::from(key, 0, PLACES)
    }

    /// An index of no rows that will be extended by those of this range alone.
    pub(super) fn of_rows(key: IndexKey, rows: Range<usize>) -> GrowingIndex {
        let places = PLACES_PER_ROW * rows.len();
        GrowingIndex::from(key, rows.start, places)
    }

    fn from(key: IndexKey, rows: usize, places: usize) -> GrowingIndex {
        let groups: Box<dyn Groups> = match key.columns.len() {
            1 => Box::new(CodeGroups { places, ..CodeGroups::default() }),
            width => with_key!(width, K => Box::new(KeyGroups::<K>::new())),
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
            self.groups.add(&keys, &matching);
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

/// So many places are read before the first is looked at.
const TOGETHER: usize = 64;

/// Lists of rows: one row stands in its list, more stand in one vector of all lists.
#[derive(Default)]
struct Lists {
    lists: Vec<List>,
    rows: Vec<u32>,
}

/// Where a list stands.
#[derive(Clone, Copy)]
struct List {
    first: u32,
    len: u32,
    /// Where its rows stand, if there are more. There is room for a power of two.
    start: usize,
}

impl Lists {
    /// Adds rows, each to the list with its number, or to the next one that is new.
    fn push_all(&mut self, numbers: &[usize], rows: &[u32]) {
        // Where many lists stand, and where their rows end, is read before the first of them grows.
        let ends = numbers.iter().filter_map(|number| self.lists.get(*number));
        let ends = ends.map(|list| list.start + list.len as usize);
        black_box(ends.filter_map(|end| self.rows.get(end)).fold(0, |all, row| all | row));
        numbers.iter().zip(rows).for_each(|(number, row)| self.push(*number, *row));
    }

    /// Adds a row to a list, or to a new one.
    fn push(&mut self, number: usize, row: u32) {
        let Some(list) = self.lists.get_mut(number) else {
            self.lists.push(List { first: row, len: 1, start: 0 });
            return;
        };
        let len = list.len as usize;
        if len.is_power_of_two() {
            let from = list.start..list.start + len;
            list.start = self.rows.len();
            if len == 1 {
                self.rows.push(list.first);
            } else {
                self.rows.extend_from_within(from);
            }
            self.rows.resize(list.start + 2 * len, 0);
        }
        self.rows[list.start + len] = row;
        list.len += 1;
    }

    /// The rows of a list before `end`.
    #[inline]
    fn rows(&self, number: usize, end: u32) -> &[u32] {
        let list = &self.lists[number];
        let rows = match list.len {
            1 => std::slice::from_ref(&list.first),
            len => &self.rows[list.start..list.start + len as usize],
        };
        match rows.last() {
            Some(last) if *last >= end => &rows[..rows.partition_point(|row| *row < end)],
            _ => rows,
        }
    }

    /// Whether a list has a row before `end`.
    #[inline]
    fn begins_before(&self, number: usize, end: u32) -> bool {
        self.lists[number].first < end
    }

    /// Places that its rows take.
    fn places(&self) -> usize {
        self.rows.len() + self.lists.len()
    }

    fn memory_bytes(&self) -> usize {
        self.lists.capacity() * size_of::<List>() + self.rows.capacity() * size_of::<u32>()
    }
}

/// Groups by a key of several columns, or of none.
struct KeyGroups<K> {
    numbers: KeyNumbers<K>,
    lists: Lists,
}

impl<K: Key> KeyGroups<K> {
    fn new() -> KeyGroups<K> {
        KeyGroups { numbers: KeyNumbers::default(), lists: Lists::default() }
    }
}

impl<K: Key> Groups for KeyGroups<K> {
    fn add(&mut self, columns: &[&[Code]], rows: &[u32]) {
        let mut keys: Vec<K> = Vec::with_capacity(rows.len());
        K::pack(columns, 0, rows.len(), &mut keys);
        let mut numbers = [0; TOGETHER];
        for (keys, rows) in keys.chunks(TOGETHER).zip(rows.chunks(TOGETHER)) {
            keys.iter().for_each(|key| self.numbers.touch(key));
            for (key, number) in keys.iter().zip(&mut numbers) {
                *number = self.numbers.number(*key) as usize;
            }
            self.lists.push_all(&numbers[..rows.len()], rows);
        }
    }

    fn probe(&self, columns: &[&[Code]], len: usize, end: u32, visit: &mut dyn FnMut(usize, &[u32]) -> bool) {
        self.numbers.look_up(columns, 0..len, |position, number| {
            let rows = self.lists.rows(number as usize, end);
            rows.is_empty() || visit(position, rows)
        });
    }

    fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]) {
        self.numbers.look_up(columns, 0..len, |position, number| {
            found[position] |= self.lists.begins_before(number as usize, end);
            true
        });
    }

    fn memory_bytes(&self) -> usize {
        self.numbers.memory_bytes() + self.lists.memory_bytes()
    }
}

/// Places that a table of codes may have for each row.
const PLACES_PER_ROW: usize = 8;

/// Groups by one code, which is a position in a table as long as codes are no larger than rows are many.
#[derive(Default)]
struct CodeGroups {
    /// The number of a code's list from 1 on, by its distance from `first`.
    numbers: Vec<u32>,
    first: Code,
    /// For codes that are too far.
    far: KeyNumbers<u64>,
    /// The list of each of these.
    far_lists: Vec<u32>,
    /// Number of lists.
    numbered: usize,
    /// Places that the table may have, at least.
    places: usize,
    lists: Lists,
}

impl CodeGroups {
    /// The position of a code in the table, if it may have one.
    #[inline]
    fn position(&self, code: Code) -> Option<usize> {
        let position = code.wrapping_sub(self.first) as usize;
        let places = self.places.max(PLACES_PER_ROW * self.lists.places());
        (position < self.numbers.len() || position < places).then_some(position)
    }

    /// Numbers the list of a code that has none: it is the next one that is new, after those that were numbered and have no row
    /// yet.
    fn number_anew(&mut self, code: Code) -> usize {
        let number = self.numbered;
        self.numbered += 1;
        match self.position(code) {
            Some(position) => {
                if position >= self.numbers.len() {
                    self.numbers.resize((position + 1).next_power_of_two(), 0);
                }
                self.numbers[position] = number as u32 + 1;
            }
            None => {
                self.far.number(u64::from(code));
                self.far_lists.push(number as u32);
            }
        }
        number
    }

    #[inline]
    fn number(&self, code: Code) -> Option<usize> {
        let position = code.wrapping_sub(self.first) as usize;
        match self.numbers.get(position) {
            Some(0) | None if self.far_lists.is_empty() => None,
            Some(0) | None => {
                let far = self.far.get(&u64::from(code))?;
                Some(self.far_lists[far as usize] as usize)
            }
            Some(number) => Some(*number as usize - 1),
        }
    }
}

impl Groups for CodeGroups {
    fn add(&mut self, columns: &[&[Code]], rows: &[u32]) {
        if self.lists.lists.is_empty() {
            // Numbers that are codes of their own begin at nothing, values of a dictionary behind them.
            let is_inline = columns[0].first().is_none_or(|code| *code < INLINE_END);
            self.first = if is_inline { 0 } else { INLINE_END };
        }
        let mut numbers = [0; TOGETHER];
        for (codes, rows) in columns[0].chunks(TOGETHER).zip(rows.chunks(TOGETHER)) {
            for (code, number) in codes.iter().zip(&mut numbers) {
                *number = self.number(*code).unwrap_or_else(|| self.number_anew(*code));
            }
            self.lists.push_all(&numbers[..rows.len()], rows);
        }
    }

    fn probe(&self, columns: &[&[Code]], len: usize, end: u32, visit: &mut dyn FnMut(usize, &[u32]) -> bool) {
        for (position, code) in columns[0][..len].iter().enumerate() {
            let Some(number) = self.number(*code) else { continue };
            let rows = self.lists.rows(number, end);
            if !rows.is_empty() && !visit(position, rows) {
                return;
            }
        }
    }

    fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]) {
        for (code, found) in columns[0].iter().zip(&mut found[..len]) {
            *found |= self.number(*code).is_some_and(|number| self.lists.begins_before(number, end));
        }
    }

    fn memory_bytes(&self) -> usize {
        self.numbers.capacity() * size_of::<u32>() + self.far.memory_bytes() + self.lists.memory_bytes()
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
