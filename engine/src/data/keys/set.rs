//! `KeySet`: open addressing, keys in place.

use super::{Key, place};

/// A set of keys.
#[derive(Debug, Clone)]
pub(crate) struct KeySet<K> {
    slots: Vec<K>,
    len: usize,
}

impl<K: Key> Default for KeySet<K> {
    fn default() -> Self {
        KeySet { slots: Vec::new(), len: 0 }
    }
}

impl<K: Key> KeySet<K> {
    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.len() * size_of::<K>()
    }

    /// Reads where a key with this hash would be, and answers where that is. Who does so for many keys before it looks at the
    /// first one waits for memory once, and not for each.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) -> usize {
        if self.slots.is_empty() {
            return 0;
        }
        let place = place(hash, self.slots.len() - 1);
        std::hint::black_box(self.slots[place]);
        place
    }

    /// Whether the key is in the set, where [`KeySet::touch`] has answered this.
    #[inline]
    pub(crate) fn contains_from(&self, key: &K, place: usize) -> bool {
        !self.slots.is_empty() && self.slots[self.slot_from(key, place)] == *key
    }

    /// Adds a key; answers whether it was new.
    #[inline]
    pub(crate) fn insert(&mut self, key: K, hash: u64) -> bool {
        if self.len * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let slot = self.slot(&key, hash);
        if self.slots[slot] == key {
            return false;
        }
        self.slots[slot] = key;
        self.len += 1;
        true
    }

    /// Takes all keys out. A table that is much too large for them is given back: to empty it takes time, too.
    pub(crate) fn clear(&mut self) {
        const SPARSE: usize = 64;
        if self.slots.len() > SPARSE * self.len.max(1) {
            self.slots = Vec::new();
        } else {
            self.slots.fill(K::EMPTY);
        }
        self.len = 0;
    }

    /// The keys, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = K> + '_ {
        self.slots.iter().copied().filter(|key| *key != K::EMPTY)
    }

    /// Where the key is, or would go.
    #[inline]
    fn slot(&self, key: &K, hash: u64) -> usize {
        self.slot_from(key, place(hash, self.slots.len() - 1))
    }

    #[inline]
    fn slot_from(&self, key: &K, mut slot: usize) -> usize {
        let mask = self.slots.len() - 1;
        while self.slots[slot] != K::EMPTY && self.slots[slot] != *key {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(16);
        let old = std::mem::replace(&mut self.slots, vec![K::EMPTY; capacity]);
        for key in old {
            if key != K::EMPTY {
                let slot = self.slot(&key, key.hash());
                self.slots[slot] = key;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Code;

    fn set_keeps_each_key_once<K: Key>(arity: usize) {
        let columns: Vec<Vec<Code>> =
            (0..arity).map(|c| (0..2_000).map(|row| (row % 1_000) * 7 + c as Code).collect()).collect();
        let slices: Vec<&[Code]> = columns.iter().map(Vec::as_slice).collect();
        let mut keys: Vec<K> = Vec::new();
        K::pack(&slices, 0, 2_000, &mut keys);
        let mut set = KeySet::default();
        let new = keys.iter().filter(|key| set.insert(**key, key.hash())).count();
        assert_eq!((new, set.iter().count()), (1_000, 1_000));
        for (row, key) in keys.iter().enumerate() {
            assert!(set.contains_from(key, set.touch(key.hash())));
            for (position, column) in columns.iter().enumerate() {
                assert_eq!(key.code(position), column[row]);
            }
        }
        for _ in 0..2 {
            set.clear();
            assert!(keys.iter().all(|key| !set.contains_from(key, set.touch(key.hash()))));
            assert!(set.insert(keys[0], keys[0].hash()) && !set.insert(keys[0], keys[0].hash()));
        }
    }

    #[test]
    fn a_set_keeps_each_key_once_at_any_width() {
        set_keeps_each_key_once::<u64>(1);
        set_keeps_each_key_once::<u64>(2);
        set_keeps_each_key_once::<u128>(3);
        set_keeps_each_key_once::<u128>(4);
        set_keeps_each_key_once::<[Code; 8]>(7);
    }
}
