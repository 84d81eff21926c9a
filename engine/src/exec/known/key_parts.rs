//! `KeyParts`: a set of keys that is cut into parts by hash.

use std::any::Any;

use super::parts::{Answer, Candidates, Parts};
use crate::data::keys::{Key, KeySet, TOGETHER};
use crate::data::{Code, Rows, parallel, unpack};

/// Fewer candidates than these are not worth a second thread.
const SMALL: usize = 4_096;

/// Keys in parts by their hash.
pub(super) struct KeyParts<K> {
    parts: Vec<KeySet<K>>,
}

/// Keys of a lane, a buffer a part.
pub(super) type Buffers<K> = Vec<Vec<K>>;

impl<K: Key> KeyParts<K> {
    pub(super) fn new(parts: usize) -> Self {
        KeyParts { parts: (0..parts).map(|_| KeySet::default()).collect() }
    }

    /// The table slot comes from the low bits of the hash, the part from the high ones. The number of parts is a power of two.
    #[inline]
    fn part_of(&self, hash: u64) -> usize {
        (hash >> 60) as usize & (self.parts.len() - 1)
    }

    pub(super) fn buffers(&self) -> Buffers<K> {
        vec![Vec::new(); self.parts.len()]
    }

    /// Collects those keys that are not known; answers how many these are.
    pub(super) fn collect_keys(&self, keys: &[K], buffers: &mut Buffers<K>) -> usize {
        let mut collected = 0;
        self.look_up(keys, |position, part, is_known| {
            if !is_known {
                buffers[part].push(keys[position]);
                collected += 1;
            }
        });
        collected
    }

    pub(super) fn mark_keys(&self, keys: &[K], found: &mut [bool]) {
        self.look_up(keys, |position, _, is_known| found[position] |= is_known);
    }

    /// Calls `visit(position, part, is_known)` for each key, in order.
    #[inline]
    fn look_up(&self, keys: &[K], mut visit: impl FnMut(usize, usize, bool)) {
        for start in (0..keys.len()).step_by(TOGETHER) {
            let keys = &keys[start..keys.len().min(start + TOGETHER)];
            let mut places = [(0, 0); TOGETHER];
            for (key, place) in keys.iter().zip(&mut places) {
                let hash = key.hash();
                let part = self.part_of(hash);
                *place = (part, self.parts[part].touch(hash));
            }
            for (position, (key, (part, place))) in keys.iter().zip(places).enumerate() {
                visit(start + position, part, self.parts[part].contains_from(key, place));
            }
        }
    }

    /// Takes keys in, in the order of lanes; answers those that are new as rows, a part at a time.
    pub(super) fn absorb_keys(
        &mut self,
        lanes: Vec<Buffers<K>>,
        unpack: impl Fn(&[K]) -> Rows + Send + Sync,
    ) -> Vec<Rows> {
        absorb_by_part(&mut self.parts, lanes, |set, buffers| {
            let mut new = Vec::new();
            for keys in buffers.iter().flat_map(|keys| keys.chunks(TOGETHER)) {
                for key in keys {
                    set.touch(key.hash());
                }
                new.extend(keys.iter().copied().filter(|key| set.insert(*key, key.hash())));
            }
            unpack(&new)
        })
    }

    /// Takes keys in at once; leaves those that are new.
    pub(super) fn take_in_keys(&mut self, keys: &mut Vec<K>) {
        keys.retain(|key| {
            let hash = key.hash();
            let part = self.part_of(hash);
            self.parts[part].insert(*key, hash)
        });
    }

    /// Number of keys.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(KeySet::len).sum()
    }

    /// All keys, so many at a time that they stay in the cache.
    pub(super) fn batches(&self) -> impl Iterator<Item = Vec<K>> + '_ {
        const BATCH: usize = 4_096;
        let mut keys = self.parts.iter().flat_map(KeySet::iter);
        std::iter::from_fn(move || {
            let batch: Vec<K> = keys.by_ref().take(BATCH).collect();
            (!batch.is_empty()).then_some(batch)
        })
    }

    /// All keys.
    pub(super) fn keys(&self) -> Vec<K> {
        self.parts.iter().flat_map(KeySet::iter).collect()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.parts.iter().map(KeySet::memory_bytes).sum()
    }
}

impl<K: Key> Parts for KeyParts<K> {
    fn candidates(&self) -> Box<dyn Any + Send> {
        Box::new(self.buffers())
    }

    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates) {
        let Some(buffers) = into.keys.downcast_mut::<Buffers<K>>() else { return };
        let mut keys = Vec::with_capacity(rows);
        K::pack(columns, 0, rows, &mut keys);
        into.len += self.collect_keys(&keys, buffers);
    }

    fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        let mut keys = Vec::with_capacity(rows);
        K::pack(columns, 0, rows, &mut keys);
        self.mark_keys(&keys, found);
    }

    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize, answer: Answer) -> Vec<Rows> {
        let lanes = lanes.into_iter().filter_map(|lane| lane.keys.downcast::<Buffers<K>>().ok());
        let rows = |keys: &[K]| answer.of(keys.len(), || unpack(keys, arity));
        self.absorb_keys(lanes.map(|buffers| *buffers).collect(), rows)
    }

    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        let mut keys = Vec::with_capacity(rows);
        K::pack(columns, 0, rows, &mut keys);
        self.take_in_keys(&mut keys);
        new.append(unpack(&keys, columns.len()));
    }

    fn memory_bytes(&self) -> usize {
        self.memory_bytes()
    }
}

/// Lets each part take in the keys that lanes have for it, in their order.
pub(super) fn absorb_by_part<K: Send, S: Send>(
    parts: &mut [S],
    lanes: Vec<Buffers<K>>,
    take_in: impl Fn(&mut S, Buffers<K>) -> Rows + Send + Sync,
) -> Vec<Rows> {
    let total: usize = lanes.iter().flatten().map(Vec::len).sum();
    let mut by_part: Vec<Buffers<K>> = parts.iter().map(|_| Vec::with_capacity(lanes.len())).collect();
    for buffers in lanes {
        by_part.iter_mut().zip(buffers).for_each(|(part, buffer)| part.push(buffer));
    }
    let work = parts.iter_mut().zip(by_part);
    if total < SMALL {
        return work.map(|(part, buffers)| take_in(part, buffers)).collect();
    }
    parallel::map(work.collect(), |(part, buffers)| take_in(part, buffers))
}
