//! `KeyTable`: open addressing, keys and values in place. `KeyNumbers`: a table of numbers.

use std::ops::Range;

use super::{Key, KeySet, TOGETHER, place};
use crate::data::Code;

/// A value for each key.
#[derive(Debug, Clone)]
pub(crate) struct KeyTable<K, V> {
    slots: Vec<(K, V)>,
    len: usize,
}

impl<K, V> Default for KeyTable<K, V> {
    fn default() -> Self {
        KeyTable { slots: Vec::new(), len: 0 }
    }
}

impl<K: Key, V: Copy + Default> KeyTable<K, V> {
    /// Number of distinct keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.len() * size_of::<(K, V)>()
    }

    /// Reads where a key would be, as [`KeySet::touch`] does.
    #[inline]
    pub(crate) fn touch(&self, key: &K) {
        if !self.slots.is_empty() {
            std::hint::black_box(self.slots[place(key.hash(), self.slots.len() - 1)]);
        }
    }

    /// Calls `visit(position, value)` for every position of these columns whose key is here, in order, until it answers
    /// false.
    pub(crate) fn look_up(
        &self,
        columns: &[&[Code]],
        positions: Range<usize>,
        mut visit: impl FnMut(usize, &V) -> bool,
    ) {
        let mut keys: Vec<K> = Vec::with_capacity(TOGETHER);
        for start in positions.clone().step_by(TOGETHER) {
            keys.clear();
            K::pack(columns, start, (start + TOGETHER).min(positions.end), &mut keys);
            keys.iter().for_each(|key| self.touch(key));
            for (offset, key) in keys.iter().enumerate() {
                if let Some(value) = self.get(key)
                    && !visit(start + offset, value)
                {
                    return;
                }
            }
        }
    }

    /// The value of a key that is here.
    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, value) = &self.slots[self.slot(key)];
        if found == key { Some(value) } else { None }
    }

    /// Makes room for so many keys more: until they have come, each stays in its place.
    #[inline]
    pub(crate) fn reserve(&mut self, more: usize) {
        while (self.len + more) * 8 > self.slots.len() * 5 {
            self.grow();
        }
    }

    /// The place of a key for which there is room. If it is new, it gets the value that `new` makes of the number of keys before.
    #[inline]
    pub(crate) fn place(&mut self, key: K, new: impl FnOnce(usize) -> V) -> usize {
        let slot = self.slot(&key);
        if self.slots[slot].0 != key {
            self.slots[slot] = (key, new(self.len));
            self.len += 1;
        }
        slot
    }

    /// The value in a place.
    #[inline]
    pub(crate) fn at(&mut self, place: usize) -> &mut V {
        &mut self.slots[place].1
    }

    #[inline]
    fn slot(&self, key: &K) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = place(key.hash(), mask);
        while self.slots[slot].0 != K::EMPTY && self.slots[slot].0 != *key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(16);
        let old = std::mem::replace(&mut self.slots, vec![(K::EMPTY, V::default()); capacity]);
        for (key, value) in old {
            if key != K::EMPTY {
                let slot = self.slot(&key);
                self.slots[slot] = (key, value);
            }
        }
    }
}

/// Dense numbers for keys, in the order of first appearance.
pub(crate) type KeyNumbers<K> = KeyTable<K, u32>;

impl<K: Key> KeyNumbers<K> {
    /// Room for the keys of these columns, if a sample of them says that most differ.
    pub(crate) fn for_keys(columns: &[&[Code]], rows: usize) -> KeyNumbers<K> {
        const SAMPLE: usize = 1_024;
        let mut sample = KeySet::default();
        let seen = (0..SAMPLE.min(rows)).map(|place| place * (rows / SAMPLE).max(1));
        let differ = seen.filter(|row| {
            let key = K::of_row(columns, *row);
            sample.insert(key, key.hash())
        });
        let mut numbers = KeyNumbers::default();
        if differ.count() * 10 > SAMPLE * 9 {
            numbers.slots = vec![(K::EMPTY, 0); (rows * 8 / 5 + 1).next_power_of_two()];
        }
        numbers
    }

    /// Adds the numbers of keys, the next free ones for those that are new.
    pub(crate) fn number_all(&mut self, keys: &[K], numbers: &mut Vec<u32>) {
        for keys in keys.chunks(TOGETHER) {
            keys.iter().for_each(|key| self.touch(key));
            numbers.extend(keys.iter().map(|key| self.number(*key)));
        }
    }

    /// The number of a key, the next free one if it is new.
    #[inline]
    pub(crate) fn number(&mut self, key: K) -> u32 {
        self.reserve(1);
        let place = self.place(key, |number| number as u32);
        *self.at(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_appearance() {
        let mut numbers = KeyNumbers::<u64>::default();
        assert_eq!([5, 9, 5, 7].map(|k| numbers.number(k)), [0, 1, 0, 2]);
        assert_eq!((numbers.get(&9), numbers.get(&8), numbers.len()), (Some(&1), None, 3));
    }
}
