//! `RowSet`: the rows of a relation that are known so far, inside a stratum.
//!
//! The set is cut into parts by hash. Threads first collect candidates that are not known yet, a buffer a part; then
//! each part takes its candidates in, all parts at once, and nothing is shared.

use std::any::Any;

use crate::budget::Budget;
use crate::data::keys::{Key, KeySet, with_key};
use crate::data::{Code, Rows, parallel, unpack};
use crate::exec::error::ExecError;

const PARTS: usize = 16;
/// So many places of the set are read before the first is looked at.
const TOUCHED: usize = 64;
/// Fewer candidates than these are not worth a second thread.
const SMALL: usize = 4_096;

/// Known rows of a relation with any number of columns.
pub(crate) struct RowSet {
    arity: usize,
    parts: Box<dyn Parts>,
}

/// Candidates of one lane: rows that were not known when it looked.
pub(crate) struct Candidates {
    keys: Box<dyn Any + Send>,
    len: usize,
}

impl Candidates {
    /// Number of rows, some perhaps more than once.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

trait Parts: Send + Sync {
    fn candidates(&self) -> Box<dyn Any + Send>;
    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates);
    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize) -> Rows;
    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows);
    fn memory_bytes(&self) -> usize;
}

impl RowSet {
    /// A set that threads take rows into together.
    pub(crate) fn shared(arity: usize) -> RowSet {
        RowSet::with_parts(arity, PARTS)
    }

    /// A set that one thread has for itself.
    pub(crate) fn single(arity: usize) -> RowSet {
        RowSet::with_parts(arity, 1)
    }

    fn with_parts(arity: usize, parts: usize) -> RowSet {
        RowSet { arity, parts: with_key!(arity, K => Box::new(KeyParts::<K>::new(parts))) }
    }

    /// An empty buffer for [`RowSet::collect`].
    pub(crate) fn candidates(&self) -> Candidates {
        Candidates { keys: self.parts.candidates(), len: 0 }
    }

    /// Collects those rows that are not known.
    pub(crate) fn collect(
        &self,
        columns: &[&[Code]],
        rows: usize,
        into: &mut Candidates,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        let before = into.len;
        self.parts.collect(columns, rows, into);
        budget.charge((into.len - before) * self.row_bytes())?;
        Ok(())
    }

    /// Takes candidates in, in the order of lanes; answers the rows that are new, each once.
    pub(crate) fn absorb(&mut self, lanes: Vec<Candidates>, budget: &Budget) -> Result<Rows, ExecError> {
        let candidates: usize = lanes.iter().map(Candidates::len).sum();
        let before = self.parts.memory_bytes();
        let new = self.parts.absorb(lanes, self.arity);
        budget.charge(self.parts.memory_bytes() - before + new.len * self.arity * size_of::<Code>())?;
        budget.release(candidates * self.row_bytes());
        Ok(new)
    }

    /// Takes rows in at once; adds those that are new to `new`.
    pub(crate) fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        self.parts.take_in(columns, rows, new);
    }

    /// Bytes held.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.parts.memory_bytes()
    }

    fn row_bytes(&self) -> usize {
        with_key!(self.arity, K => size_of::<K>())
    }
}

struct KeyParts<K> {
    parts: Vec<KeySet<K>>,
}

impl<K: Key> KeyParts<K> {
    fn new(parts: usize) -> Self {
        KeyParts { parts: (0..parts).map(|_| KeySet::default()).collect() }
    }

    /// The table slot comes from the low bits of the hash, the part from the high ones.
    #[inline]
    fn part_of(&self, hash: u64) -> usize {
        (hash >> 60) as usize % self.parts.len()
    }
}

impl<K: Key> Parts for KeyParts<K> {
    fn candidates(&self) -> Box<dyn Any + Send> {
        Box::new(vec![Vec::<K>::new(); self.parts.len()])
    }

    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates) {
        let Some(buffers) = into.keys.downcast_mut::<Vec<Vec<K>>>() else { return };
        let mut keys = Vec::with_capacity(rows);
        K::pack(columns, 0, rows, &mut keys);
        for keys in keys.chunks(TOUCHED) {
            let mut hashes = [0; TOUCHED];
            for (key, hash) in keys.iter().zip(&mut hashes) {
                *hash = key.hash();
                self.parts[self.part_of(*hash)].touch(*hash);
            }
            for (key, hash) in keys.iter().zip(hashes) {
                let part = self.part_of(hash);
                if !self.parts[part].contains(key, hash) {
                    buffers[part].push(*key);
                    into.len += 1;
                }
            }
        }
    }

    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize) -> Rows {
        let total: usize = lanes.iter().map(Candidates::len).sum();
        let mut by_part: Vec<Vec<Vec<K>>> =
            (0..self.parts.len()).map(|_| Vec::with_capacity(lanes.len())).collect();
        for lane in lanes {
            if let Ok(buffers) = lane.keys.downcast::<Vec<Vec<K>>>() {
                for (part, buffer) in buffers.into_iter().enumerate() {
                    by_part[part].push(buffer);
                }
            }
        }
        let take_in = |(mut set, buffers): (KeySet<K>, Vec<Vec<K>>)| {
            let mut new = Vec::new();
            for keys in buffers.iter().flat_map(|keys| keys.chunks(TOUCHED)) {
                keys.iter().for_each(|key| set.touch(key.hash()));
                new.extend(keys.iter().copied().filter(|key| set.insert(*key, key.hash())));
            }
            (set, new)
        };
        let work: Vec<_> = std::mem::take(&mut self.parts).into_iter().zip(by_part).collect();
        let done: Vec<_> = if total < SMALL {
            work.into_iter().map(take_in).collect()
        } else {
            parallel::map(work, take_in)
        };
        let mut new = Rows::empty(arity);
        for (set, keys) in done {
            self.parts.push(set);
            new.append(unpack(&keys, arity));
        }
        new
    }

    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        let mut keys = Vec::with_capacity(rows);
        K::pack(columns, 0, rows, &mut keys);
        keys.retain(|key| {
            let hash = key.hash();
            let part = self.part_of(hash);
            self.parts[part].insert(*key, hash)
        });
        new.append(unpack(&keys, columns.len()));
    }

    fn memory_bytes(&self) -> usize {
        self.parts.iter().map(KeySet::memory_bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_new_once() {
        let budget = Budget::unlimited();
        let mut set = RowSet::shared(2);
        let (a, b): (Vec<Code>, Vec<Code>) = ((0..10_000).map(|i| i % 100).collect(), (0..10_000).collect());
        let mut add = |a: &[Code], b: &[Code]| {
            let mut candidates = set.candidates();
            set.collect(&[a, b], a.len(), &mut candidates, &budget).unwrap();
            set.absorb(vec![candidates], &budget).unwrap()
        };
        assert_eq!(add(&a, &b).len, 10_000);
        assert_eq!(add(&a, &b).len, 0);
        assert_eq!(add(&[1, 1, 1], &[7, 7, 1]).len, 1);
    }
}
