//! Rows by a key of several columns, or of none: the list of each stands in the table of keys.

use super::Groups;
use super::lists::{Blocks, List, NoRoom};
use crate::data::Code;
use crate::data::keys::{Key, KeyTable, TOGETHER};

pub(super) struct ByKey<K> {
    lists: KeyTable<K, List>,
    blocks: Blocks,
}

impl<K> Default for ByKey<K> {
    fn default() -> Self {
        ByKey { lists: KeyTable::default(), blocks: Blocks::default() }
    }
}

impl<K: Key> Groups for ByKey<K> {
    fn add(&mut self, columns: &[&[Code]], rows: &[u32]) -> Result<(), NoRoom> {
        let mut keys: Vec<K> = Vec::with_capacity(rows.len());
        K::pack(columns, 0, rows.len(), &mut keys);
        let mut places = [0; TOGETHER];
        for (keys, rows) in keys.chunks(TOGETHER).zip(rows.chunks(TOGETHER)) {
            self.lists.reserve(keys.len());
            keys.iter().for_each(|key| self.lists.touch(key));
            for (key, place) in keys.iter().zip(&mut places) {
                *place = self.lists.place(*key, |_| List::default());
            }
            let places = &places[..keys.len()];
            self.blocks.touch(places.iter().map(|place| *self.lists.at(*place)));
            for (place, row) in places.iter().zip(rows) {
                self.blocks.push(self.lists.at(*place), *row)?;
            }
        }
        Ok(())
    }

    fn probe(&self, columns: &[&[Code]], len: usize, end: u32, visit: &mut dyn FnMut(usize, &[u32]) -> bool) {
        self.lists.look_up(columns, 0..len, |position, list| {
            let rows = self.blocks.rows(list, end);
            rows.is_empty() || visit(position, rows)
        });
    }

    fn mark(&self, columns: &[&[Code]], len: usize, end: u32, found: &mut [bool]) {
        self.lists.look_up(columns, 0..len, |position, list| {
            found[position] |= self.blocks.begins_before(*list, end);
            true
        });
    }

    fn memory_bytes(&self) -> usize {
        self.lists.memory_bytes() + self.blocks.memory_bytes()
    }
}
