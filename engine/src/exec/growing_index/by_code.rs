//! Rows by one code, which is a position in a table as long as codes are no larger than rows are many.

use super::Groups;
use super::lists::{Blocks, List, NoRoom};
use crate::data::keys::{KeyTable, TOGETHER};
use crate::data::{Code, INLINE_END};

/// Places that the table may have for each row.
const PLACES_PER_ROW: usize = 4;

pub(super) struct ByCode {
    table: Table,
    blocks: Blocks,
    rows: usize,
    /// The table has room for so many rows, at least.
    expected: usize,
}

#[derive(Default)]
struct Table {
    /// The list of a code, by its distance from `first`.
    near: Vec<List>,
    first: Code,
    /// The lists of codes that were too far when they came.
    far: KeyTable<u64, List>,
}

impl ByCode {
    /// An index of no rows, where so many will come.
    pub(super) fn new(expected: usize) -> ByCode {
        ByCode { table: Table::default(), blocks: Blocks::default(), rows: 0, expected }
    }
}

impl Table {
    #[inline]
    fn distance(&self, code: Code) -> usize {
        code.wrapping_sub(self.first) as usize
    }

    /// Makes the table so long that all of these codes have a place in it, if that takes no more places than these.
    fn make_room(&mut self, codes: &[Code], places: usize) {
        let distances = codes.iter().map(|code| self.distance(*code));
        let furthest = distances.filter(|distance| *distance < places).max();
        if let Some(furthest) = furthest.filter(|furthest| *furthest >= self.near.len()) {
            self.near.resize((furthest + 1).next_power_of_two(), List::default());
        }
    }

    /// The list of a code, which is made if there is none.
    #[inline]
    fn list_to_extend(&mut self, code: Code) -> &mut List {
        let distance = self.distance(code);
        let is_near = match self.near.get(distance) {
            Some(list) => !list.is_empty() || self.far_list(code).is_none(),
            None => false,
        };
        if is_near {
            return &mut self.near[distance];
        }
        self.far.reserve(1);
        let place = self.far.place(u64::from(code), |_| List::default());
        self.far.at(place)
    }

    #[inline]
    fn list(&self, code: Code) -> Option<&List> {
        let near = self.near.get(self.distance(code)).filter(|list| !list.is_empty());
        near.or_else(|| self.far_list(code))
    }

    #[inline]
    fn far_list(&self, code: Code) -> Option<&List> {
        if self.far.len() == 0 { None } else { self.far.get(&u64::from(code)) }
    }
}

impl Groups for ByCode {
    fn add(&mut self, columns: &[&[Code]], rows: &[u32]) -> Result<(), NoRoom> {
        let codes = columns[0];
        if self.rows == 0 {
            // Numbers that are codes of their own begin at nothing, values of a dictionary behind them.
            let is_inline = codes.first().is_none_or(|code| *code < INLINE_END);
            self.table.first = if is_inline { 0 } else { INLINE_END };
        }
        self.rows += rows.len();
        self.table.make_room(codes, PLACES_PER_ROW * self.expected.max(self.rows));
        for (codes, rows) in codes.chunks(TOGETHER).zip(rows.chunks(TOGETHER)) {
            self.blocks.touch(codes.iter().filter_map(|code| self.table.list(*code)).copied());
            for (code, row) in codes.iter().zip(rows) {
                self.blocks.push(self.table.list_to_extend(*code), *row)?;
            }
        }
        Ok(())
    }

    fn probe(&self, columns: &[&[Code]], len: usize, end: u32, visit: &mut dyn FnMut(usize, &[u32]) -> bool) {
        for (position, code) in columns[0][..len].iter().enumerate() {
            let Some(list) = self.table.list(*code) else { continue };
            let rows = self.blocks.rows(list, end);
            if !rows.is_empty() && !visit(position, rows) {
                return;
            }
        }
    }

    fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]) {
        for (code, found) in columns[0].iter().zip(&mut found[..len]) {
            *found |= self.table.list(*code).is_some_and(|list| self.blocks.begins_before(*list, end));
        }
    }

    fn memory_bytes(&self) -> usize {
        self.table.near.capacity() * size_of::<List>()
            + self.table.far.memory_bytes()
            + self.blocks.memory_bytes()
    }
}
