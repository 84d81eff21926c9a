//! Keys: the codes of one or several columns of a row, packed into one fixed-size word that is compared and hashed at
//! once. One or two codes fit a `u64`, four a `u128`, more an array. Keys order as rows do: by the first column, then by
//! the next.

use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::LazyLock;

use super::dictionary::{Code, EMPTY};

/// A packed row of codes.
pub(crate) trait Key: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// Marks an empty slot: no row packs to this.
    const EMPTY: Self;
    /// Appends the keys of rows `start..end` of equally long columns.
    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<Self>);
    /// The code at a position.
    fn code(&self, position: usize) -> Code;
    /// A well-mixed hash.
    fn hash(&self) -> u64;
}

const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// Multiply and fold: every bit of the input reaches every bit of the output.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Another one in every process: nobody can choose rows whose keys all come to lie in one place of a table.
static SPREAD: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(MIX) | 1);

/// Where a key with this hash goes in a table. What else is decided by the hash is the same in every process.
#[inline]
fn place(hash: u64, mask: usize) -> usize {
    fold(hash, *SPREAD) as usize & mask
}

/// The key of one code.
#[inline]
pub(crate) fn of_one(code: Code) -> u64 {
    u64::from(code) << 32
}

impl Key for u64 {
    const EMPTY: u64 = u64::MAX;

    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<u64>) {
        match columns {
            [] => out.extend(std::iter::repeat_n(0, end - start)),
            [a] => out.extend(a[start..end].iter().map(|a| of_one(*a))),
            [a, b, ..] => {
                out.extend(a[start..end].iter().zip(&b[start..end]).map(|(a, b)| of_one(*a) | u64::from(*b)));
            }
        }
    }

    #[inline]
    fn code(&self, position: usize) -> Code {
        (self >> (32 - 32 * position)) as Code
    }

    #[inline]
    fn hash(&self) -> u64 {
        fold(*self ^ 0xA076_1D64_78BD_642F, MIX)
    }
}

impl Key for u128 {
    const EMPTY: u128 = u128::MAX;

    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<u128>) {
        let first = out.len();
        out.resize(first + end - start, 0);
        for (position, column) in columns.iter().enumerate() {
            for (key, code) in out[first..].iter_mut().zip(&column[start..end]) {
                *key |= u128::from(*code) << (96 - 32 * position);
            }
        }
    }

    #[inline]
    fn code(&self, position: usize) -> Code {
        (self >> (96 - 32 * position)) as Code
    }

    #[inline]
    fn hash(&self) -> u64 {
        let high = fold((self >> 64) as u64 ^ 0xE703_7ED1_A0B4_28DB, MIX);
        fold(*self as u64 ^ high, MIX ^ 0x8EBC_6AF0_9C88_C6E3)
    }
}

impl<const N: usize> Key for [Code; N] {
    const EMPTY: [Code; N] = [EMPTY; N];

    fn pack(columns: &[&[Code]], start: usize, end: usize, out: &mut Vec<[Code; N]>) {
        let first = out.len();
        out.resize(first + end - start, [0; N]);
        for (position, column) in columns.iter().enumerate() {
            for (key, code) in out[first..].iter_mut().zip(&column[start..end]) {
                key[position] = *code;
            }
        }
    }

    #[inline]
    fn code(&self, position: usize) -> Code {
        self[position]
    }

    #[inline]
    fn hash(&self) -> u64 {
        self.iter().fold(0xA076_1D64_78BD_642F, |state, code| fold(state ^ u64::from(*code), MIX))
    }
}

/// Calls a generic function with the narrowest [`Key`] for so many codes. The engine's limit is 256 columns.
macro_rules! with_key {
    ($width:expr, $key:ident => $body:expr) => {
        match $width {
            0..=2 => {
                type $key = u64;
                $body
            }
            3..=4 => {
                type $key = u128;
                $body
            }
            5..=8 => {
                type $key = [$crate::data::Code; 8];
                $body
            }
            9..=16 => {
                type $key = [$crate::data::Code; 16];
                $body
            }
            17..=64 => {
                type $key = [$crate::data::Code; 64];
                $body
            }
            _ => {
                type $key = [$crate::data::Code; $crate::data::MAX_COLUMNS];
                $body
            }
        }
    };
}
pub(crate) use with_key;

/// A set of keys: open addressing, keys in place.
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
    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.len() * size_of::<K>()
    }

    /// Whether the key is in the set.
    #[inline]
    pub(crate) fn contains(&self, key: &K, hash: u64) -> bool {
        if self.slots.is_empty() {
            return false;
        }
        self.slots[self.slot(key, hash)] == *key
    }

    /// Reads where a key with this hash would be. Who does so for many keys before it looks at the first one waits for memory
    /// once, and not for each.
    #[inline]
    pub(crate) fn touch(&self, hash: u64) {
        if !self.slots.is_empty() {
            std::hint::black_box(self.slots[place(hash, self.slots.len() - 1)]);
        }
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
        let mask = self.slots.len() - 1;
        let mut slot = place(hash, mask);
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

/// So many places are read before the first is looked at.
const TOGETHER: usize = 64;

/// Dense numbers for keys, in the order of first appearance.
#[derive(Debug, Clone)]
pub(crate) struct KeyNumbers<K> {
    slots: Vec<(K, u32)>,
    len: usize,
}

impl<K: Key> Default for KeyNumbers<K> {
    fn default() -> Self {
        KeyNumbers { slots: Vec::new(), len: 0 }
    }
}

impl<K: Key> KeyNumbers<K> {
    /// Number of distinct keys.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.slots.len() * size_of::<(K, u32)>()
    }

    /// Reads where a key would be, as [`KeySet::touch`] does.
    #[inline]
    pub(crate) fn touch(&self, key: &K) {
        if !self.slots.is_empty() {
            std::hint::black_box(self.slots[place(key.hash(), self.slots.len() - 1)]);
        }
    }

    /// Calls `visit(position, number)` for every position of these columns whose key has a number, in order, until it answers
    /// false.
    pub(crate) fn look_up(
        &self,
        columns: &[&[Code]],
        positions: Range<usize>,
        mut visit: impl FnMut(usize, u32) -> bool,
    ) {
        let mut keys: Vec<K> = Vec::with_capacity(TOGETHER);
        for start in positions.clone().step_by(TOGETHER) {
            keys.clear();
            K::pack(columns, start, (start + TOGETHER).min(positions.end), &mut keys);
            keys.iter().for_each(|key| self.touch(key));
            for (offset, key) in keys.iter().enumerate() {
                if let Some(number) = self.get(key)
                    && !visit(start + offset, number)
                {
                    return;
                }
            }
        }
    }

    /// The number of a key, if it has one.
    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let (found, number) = self.slots[self.slot(key)];
        if found == *key { Some(number) } else { None }
    }

    /// Room for the keys of these columns, if a sample of them says that most differ.
    pub(crate) fn for_keys(columns: &[&[Code]], rows: usize) -> KeyNumbers<K> {
        const SAMPLE: usize = 1_024;
        let mut sample = KeySet::default();
        let mut keys = Vec::with_capacity(1);
        let seen = (0..SAMPLE.min(rows)).map(|place| place * (rows / SAMPLE).max(1));
        let differ = seen.filter(|row| {
            keys.clear();
            K::pack(columns, *row, row + 1, &mut keys);
            sample.insert(keys[0], keys[0].hash())
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
        if self.len * 8 >= self.slots.len() * 5 {
            self.grow();
        }
        let slot = self.slot(&key);
        if self.slots[slot].0 != key {
            self.slots[slot] = (key, self.len as u32);
            self.len += 1;
        }
        self.slots[slot].1
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
        let old = std::mem::replace(&mut self.slots, vec![(K::EMPTY, 0); capacity]);
        for (key, number) in old {
            if key != K::EMPTY {
                let slot = self.slot(&key);
                self.slots[slot] = (key, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

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
            assert!(set.contains(key, key.hash()));
            for (position, column) in columns.iter().enumerate() {
                assert_eq!(key.code(position), column[row]);
            }
        }
        for _ in 0..2 {
            set.clear();
            assert!(keys.iter().all(|key| !set.contains(key, key.hash())));
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

    #[test]
    fn keys_that_were_chosen_to_lie_in_one_place_lie_in_many() {
        const MASK: usize = (1 << 12) - 1;
        let is_chosen = |key: &u64| key.hash() as usize & MASK == 0;
        let chosen: Vec<u64> = (0..).map(|code| of_one(code) | 1).filter(is_chosen).take(500).collect();
        let places: HashSet<usize> = chosen.iter().map(|key| place(key.hash(), MASK)).collect();
        assert!(places.len() > 400, "{} keys in {} places", chosen.len(), places.len());
    }

    #[test]
    fn numbers_follow_first_appearance() {
        let mut numbers = KeyNumbers::<u64>::default();
        assert_eq!([5, 9, 5, 7].map(|k| numbers.number(k)), [0, 1, 0, 2]);
        assert_eq!((numbers.get(&9), numbers.get(&8), numbers.len()), (Some(1), None, 3));
    }
}
