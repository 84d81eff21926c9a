//! `RowSet`: the rows of a relation that are known so far, inside a stratum.
//!
//! The set is cut into parts by hash. Threads first collect candidates that are not known yet, a buffer a part; then
//! each part takes its candidates in, all parts at once, and nothing is shared.

use std::any::Any;
use std::sync::Arc;

use crate::budget::Budget;
use crate::data::keys::{Key, KeySet, with_key};
use crate::data::packing::Packing;
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
    fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]);
    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize) -> Vec<Rows>;
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
        let parts: Box<dyn Parts> = match arity {
            0..=2 => Box::new(KeyParts::<u64>::new(parts)),
            _ => with_key!(arity, K => Box::new(PackedParts::<K>::new(parts, arity))),
        };
        RowSet { arity, parts }
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

    /// Marks those rows that are known.
    pub(crate) fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        self.parts.mark(columns, rows, found);
    }

    /// Takes candidates in, in the order of lanes; answers the rows that are new, each once, in pieces.
    pub(crate) fn absorb(&mut self, lanes: Vec<Candidates>, budget: &Budget) -> Result<Vec<Rows>, ExecError> {
        let candidates: usize = lanes.iter().map(Candidates::len).sum();
        let before = self.parts.memory_bytes();
        let new = self.parts.absorb(lanes, self.arity);
        let held = self.parts.memory_bytes();
        // Keys that become wider may take fewer places.
        budget.release(candidates * self.row_bytes() + before.saturating_sub(held));
        let rows: usize = new.iter().map(|rows| rows.len).sum();
        budget.charge(held.saturating_sub(before) + rows * self.arity * size_of::<Code>())?;
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

/// Keys in parts by their hash.
struct KeyParts<K> {
    parts: Vec<KeySet<K>>,
}

/// Keys of a lane, a buffer a part.
type Buffers<K> = Vec<Vec<K>>;

impl<K: Key> KeyParts<K> {
    fn new(parts: usize) -> Self {
        KeyParts { parts: (0..parts).map(|_| KeySet::default()).collect() }
    }

    /// The table slot comes from the low bits of the hash, the part from the high ones.
    #[inline]
    fn part_of(&self, hash: u64) -> usize {
        (hash >> 60) as usize % self.parts.len()
    }

    fn buffers(&self) -> Buffers<K> {
        vec![Vec::new(); self.parts.len()]
    }

    /// Collects those keys that are not known; answers how many these are.
    fn collect_keys(&self, keys: &[K], buffers: &mut Buffers<K>) -> usize {
        let mut collected = 0;
        self.look_up(keys, |position, part, is_known| {
            if !is_known {
                buffers[part].push(keys[position]);
                collected += 1;
            }
        });
        collected
    }

    fn mark_keys(&self, keys: &[K], found: &mut [bool]) {
        self.look_up(keys, |position, _, is_known| found[position] |= is_known);
    }

    /// Calls `visit(position, part, is_known)` for each key, in order.
    #[inline]
    fn look_up(&self, keys: &[K], mut visit: impl FnMut(usize, usize, bool)) {
        for start in (0..keys.len()).step_by(TOUCHED) {
            let keys = &keys[start..keys.len().min(start + TOUCHED)];
            let mut hashes = [0; TOUCHED];
            for (key, hash) in keys.iter().zip(&mut hashes) {
                *hash = key.hash();
                self.parts[self.part_of(*hash)].touch(*hash);
            }
            for (position, (key, hash)) in keys.iter().zip(hashes).enumerate() {
                let part = self.part_of(hash);
                visit(start + position, part, self.parts[part].contains(key, hash));
            }
        }
    }

    /// Takes keys in, in the order of lanes; answers those that are new as rows, a part at a time.
    fn absorb_keys(
        &mut self,
        lanes: Vec<Buffers<K>>,
        unpack: impl Fn(&[K]) -> Rows + Send + Sync,
    ) -> Vec<Rows> {
        let total: usize = lanes.iter().flatten().map(Vec::len).sum();
        let mut by_part: Vec<Buffers<K>> =
            (0..self.parts.len()).map(|_| Vec::with_capacity(lanes.len())).collect();
        for buffers in lanes {
            by_part.iter_mut().zip(buffers).for_each(|(part, buffer)| part.push(buffer));
        }
        let take_in = |(mut set, buffers): (KeySet<K>, Buffers<K>)| {
            let mut new = Vec::new();
            for keys in buffers.iter().flat_map(|keys| keys.chunks(TOUCHED)) {
                keys.iter().for_each(|key| set.touch(key.hash()));
                new.extend(keys.iter().copied().filter(|key| set.insert(*key, key.hash())));
            }
            (set, unpack(&new))
        };
        let work: Vec<_> = std::mem::take(&mut self.parts).into_iter().zip(by_part).collect();
        let done: Vec<_> = if total < SMALL {
            work.into_iter().map(take_in).collect()
        } else {
            parallel::map(work, take_in)
        };
        let (parts, new) = done.into_iter().unzip();
        self.parts = parts;
        new
    }

    /// Takes keys in at once; leaves those that are new.
    fn take_in_keys(&mut self, keys: &mut Vec<K>) {
        keys.retain(|key| {
            let hash = key.hash();
            let part = self.part_of(hash);
            self.parts[part].insert(*key, hash)
        });
    }

    /// All keys, with nothing left.
    fn take(&mut self) -> Vec<K> {
        self.parts.iter_mut().flat_map(|part| std::mem::take(part).iter().collect::<Vec<K>>()).collect()
    }

    fn memory_bytes(&self) -> usize {
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

    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize) -> Vec<Rows> {
        let lanes = lanes.into_iter().filter_map(|lane| lane.keys.downcast::<Buffers<K>>().ok());
        self.absorb_keys(lanes.map(|buffers| *buffers).collect(), |keys| unpack(keys, arity))
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

/// Keys of rows that fit a word, as long as they do.
struct PackedParts<K> {
    packing: Arc<Packing>,
    packed: KeyParts<u64>,
    /// What takes their place as soon as some row does not fit.
    whole: Option<KeyParts<K>>,
}

/// Candidates of a lane that were collected as long as all rows fitted a word.
struct PackedCandidates {
    packing: Arc<Packing>,
    packed: Buffers<u64>,
    /// Rows as they are, where some of a batch do not fit.
    unfit: Rows,
}

impl PackedCandidates {
    /// All of them as rows.
    fn into_rows(self) -> Rows {
        let mut rows = self.unfit;
        self.packed.iter().for_each(|keys| rows.append(self.packing.unpack(keys)));
        rows
    }
}

impl<K: Key> PackedParts<K> {
    fn new(parts: usize, arity: usize) -> Self {
        PackedParts { packing: Arc::new(Packing::empty(arity)), packed: KeyParts::new(parts), whole: None }
    }

    /// Makes room for all of these rows, in a wider word or in none.
    fn make_room(&mut self, rows: &[&Rows]) {
        let packing = Packing::clone(&self.packing);
        let wider = rows.iter().try_fold(packing, |packing, rows| packing.widened(&rows.slices()));
        let known = self.packing.unpack(&self.packed.take());
        match wider {
            Some(wider) => {
                self.packed.take_in_keys(&mut wider.pack(&known.slices(), known.len));
                self.packing = Arc::new(wider);
            }
            None => {
                let mut whole = KeyParts::new(self.packed.parts.len());
                let mut keys = Vec::with_capacity(known.len);
                K::pack(&known.slices(), 0, known.len, &mut keys);
                whole.take_in_keys(&mut keys);
                self.whole = Some(whole);
            }
        }
    }

    /// Candidates as keys of this word, or as whole ones. They may have been collected before it was what it is.
    fn collect_again(&self, candidates: PackedCandidates) -> Candidates {
        let rows = candidates.into_rows();
        let mut again = Candidates { keys: Parts::candidates(self), len: 0 };
        self.collect(&rows.slices(), rows.len, &mut again);
        again
    }
}

impl<K: Key> Parts for PackedParts<K> {
    fn candidates(&self) -> Box<dyn Any + Send> {
        if let Some(whole) = &self.whole {
            return whole.candidates();
        }
        let (packing, packed) = (Arc::clone(&self.packing), self.packed.buffers());
        let unfit = Rows::empty(packing.arity());
        Box::new(PackedCandidates { packing, packed, unfit })
    }

    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates) {
        if let Some(whole) = &self.whole {
            return whole.collect(columns, rows, into);
        }
        let Some(candidates) = into.keys.downcast_mut::<PackedCandidates>() else { return };
        if self.packing.fits(columns) {
            into.len += self.packed.collect_keys(&self.packing.pack(columns, rows), &mut candidates.packed);
        } else {
            let columns = columns.iter().map(|codes| codes[..rows].to_vec()).collect();
            candidates.unfit.append(Rows { columns, len: rows });
            into.len += rows;
        }
    }

    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize) -> Vec<Rows> {
        let unfit: Vec<&Rows> = lanes
            .iter()
            .filter_map(|lane| lane.keys.downcast_ref())
            .map(|lane: &PackedCandidates| &lane.unfit)
            .collect();
        if self.whole.is_none() && unfit.iter().any(|rows| rows.len > 0) {
            self.make_room(&unfit);
        }
        let lanes = parallel::map(lanes, |lane| match lane.keys.downcast::<PackedCandidates>() {
            Ok(packed) if self.whole.is_none() && Arc::ptr_eq(&packed.packing, &self.packing) => {
                Candidates { keys: packed, len: lane.len }
            }
            Ok(packed) => self.collect_again(*packed),
            Err(keys) => Candidates { keys, len: lane.len },
        });
        if let Some(whole) = &mut self.whole {
            return whole.absorb(lanes, arity);
        }
        let lanes = lanes.into_iter().filter_map(|lane| lane.keys.downcast::<PackedCandidates>().ok());
        let packing = &self.packing;
        self.packed.absorb_keys(lanes.map(|lane| lane.packed).collect(), |keys| packing.unpack(keys))
    }

    fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]) {
        if let Some(whole) = &self.whole {
            return whole.mark(columns, rows, found);
        }
        if self.packing.fits(columns) {
            return self.packed.mark_keys(&self.packing.pack(columns, rows), found);
        }
        // What does not fit is not known.
        for (row, found) in found[..rows].iter_mut().enumerate() {
            let row: Vec<&[Code]> = columns.iter().map(|codes| &codes[row..=row]).collect();
            if self.packing.fits(&row) {
                self.packed.mark_keys(&self.packing.pack(&row, 1), std::slice::from_mut(found));
            }
        }
    }

    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows) {
        if self.whole.is_none() && !self.packing.fits(columns) {
            let columns = columns.iter().map(|codes| codes[..rows].to_vec()).collect();
            self.make_room(&[&Rows { columns, len: rows }]);
        }
        if let Some(whole) = &mut self.whole {
            return whole.take_in(columns, rows, new);
        }
        let mut keys = self.packing.pack(columns, rows);
        self.packed.take_in_keys(&mut keys);
        new.append(self.packing.unpack(&keys));
    }

    fn memory_bytes(&self) -> usize {
        self.packed.memory_bytes() + self.whole.as_ref().map_or(0, KeyParts::memory_bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::data::INLINE_END;

    #[test]
    fn a_row_is_new_once() {
        let budget = Budget::unlimited();
        let mut set = RowSet::shared(2);
        let (a, b): (Vec<Code>, Vec<Code>) = ((0..10_000).map(|i| i % 100).collect(), (0..10_000).collect());
        let mut add = |a: &[Code], b: &[Code]| {
            let mut candidates = set.candidates();
            set.collect(&[a, b], a.len(), &mut candidates, &budget).unwrap();
            let new = set.absorb(vec![candidates], &budget).unwrap();
            new.iter().map(|rows| rows.len).sum::<usize>()
        };
        assert_eq!(add(&a, &b), 10_000);
        assert_eq!(add(&a, &b), 0);
        assert_eq!(add(&[1, 1, 1], &[7, 7, 1]), 1);
    }

    /// Rows that fit a word, then such that need a wider one, and then such that fit none.
    #[test]
    fn rows_become_larger_and_are_still_told_apart() {
        let budget = Budget::unlimited();
        for arity in [3, 4, 6] {
            let (mut set, mut alone) = (RowSet::shared(arity), RowSet::single(arity));
            let (mut known, mut all) = (HashSet::new(), 0);
            for (largest, offset) in
                [(20, 0), (20, 0), (900, 0), (40, INLINE_END), (1 << 20, 0), (1 << 31, 0)]
            {
                // Those of the second half fit all the time.
                let code = |row: u32, column: u32| match row {
                    0..1_500 => (row * 7 + column * row) % largest + offset,
                    _ => (row + column) % 20,
                };
                let column = |column: u32| (0..3_000).map(|row| code(row, column)).collect();
                let columns: Vec<Vec<Code>> = (0..arity as u32).map(column).collect();
                let rows = Rows { columns, len: 3_000 };
                let new: HashSet<Vec<Code>> = (0..rows.len)
                    .map(|row| rows.columns.iter().map(|codes| codes[row]).collect())
                    .filter(|row: &Vec<Code>| !known.contains(row))
                    .collect();
                // The second half is collected before the first one makes keys wider.
                let halves = [0..1_500, 1_500..3_000].map(|half| {
                    let mut candidates = set.candidates();
                    let half: Vec<&[Code]> = rows.columns.iter().map(|codes| &codes[half.clone()]).collect();
                    set.collect(&half, 1_500, &mut candidates, &budget).unwrap();
                    candidates
                });
                let mut found = Rows::empty(arity);
                for half in halves {
                    let new = set.absorb(vec![half], &budget).unwrap();
                    new.into_iter().for_each(|rows| found.append(rows));
                }
                let mut found_alone = Rows::empty(arity);
                alone.take_in(&rows.slices(), rows.len, &mut found_alone);
                for found in [found, found_alone] {
                    let rows: HashSet<Vec<Code>> = (0..found.len)
                        .map(|row| found.columns.iter().map(|codes| codes[row]).collect())
                        .collect();
                    assert_eq!((found.len, &rows), (new.len(), &new), "{arity} columns up to {largest}");
                }
                all += new.len();
                let columns: Vec<&[Code]> = rows.columns.iter().map(|codes| &codes[..2_000]).collect();
                let mut found = vec![false; 2_000];
                set.mark(&columns, 2_000, &mut found);
                assert!(found.iter().all(|found| *found));
                let others: Vec<Vec<Code>> =
                    columns.iter().map(|codes| codes.iter().map(|code| code ^ 1_999).collect()).collect();
                let others: Vec<&[Code]> = others.iter().map(Vec::as_slice).collect();
                found.fill(false);
                set.mark(&others, 2_000, &mut found);
                known.extend(new);
                for (row, found) in found.iter().enumerate() {
                    let row: Vec<Code> = others.iter().map(|codes| codes[row]).collect();
                    assert_eq!(known.contains(&row), *found);
                }
            }
            assert_eq!(all, known.len());
        }
    }
}
