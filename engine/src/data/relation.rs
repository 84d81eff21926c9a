//! `Relation`: the stored rows under one name, as a short list of immutable runs.
//!
//! A change makes a new `Relation` that shares all runs it does not touch, so a reader keeps what it sees. Runs are
//! sorted by key, hold disjoint rows, and are merged when a younger one has grown to half of its elder: there are
//! never more than about log2(rows) of them.

use std::ops::Range;

use super::codes::Code;
use super::keys::{Key, with_key};
use super::rows::{Rows, is_sorted, sorted, sorted_keys, unpack};
use super::run::{Run, partition_point};

/// Stored rows: a set.
#[derive(Debug, Clone)]
pub struct Relation {
    arity: usize,
    runs: Vec<Run>,
}

impl Relation {
    /// No rows of so many columns.
    pub fn empty(arity: usize) -> Relation {
        Relation { arity, runs: Vec::new() }
    }

    /// A relation of runs that have no row in common and are sorted, as [`sorted_run`] makes them.
    pub fn of_runs(arity: usize, runs: Vec<Run>) -> Relation {
        Relation { arity, runs }
    }

    /// Number of columns.
    pub fn arity(&self) -> usize {
        self.arity
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.runs.iter().map(Run::len).sum()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The runs, oldest first.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Bytes of the codes of all rows, deleted ones among them.
    pub fn row_bytes(&self) -> usize {
        self.runs.iter().map(|run| run.stored_len() * self.arity * size_of::<Code>()).sum()
    }

    /// Bytes held.
    pub fn memory_bytes(&self) -> usize {
        self.runs.iter().map(Run::memory_bytes).sum()
    }

    /// The relation with these rows added, and how many of them were new.
    pub fn insert(&self, rows: &Rows) -> (Relation, usize) {
        with_key!(self.arity, K => {
            if self.runs.is_empty() && rows.len > 0 && is_sorted::<K>(rows) {
                let run = Run::of_sorted(rows.clone());
                return (Relation { arity: self.arity, runs: vec![run] }, rows.len);
            }
            self.insert_keys::<K>(sorted_keys(rows))
        })
    }

    /// The relation with these rows added, none of which it has.
    pub(crate) fn insert_absent(&self, rows: &Rows) -> Relation {
        with_key!(self.arity, K => self.insert_absent_keys::<K>(sorted_keys(rows)).0)
    }

    /// The relation without these rows, and how many of them were there.
    pub fn delete(&self, rows: &Rows) -> (Relation, usize) {
        with_key!(self.arity, K => self.delete_keys::<K>(sorted_keys(rows)))
    }

    /// Those of the rows that are not in the relation, each once.
    pub fn absent(&self, rows: &Rows) -> Rows {
        with_key!(self.arity, K => {
            let mut keys = sorted_keys::<K>(rows);
            self.retain_absent(&mut keys);
            unpack(&keys, self.arity)
        })
    }

    /// The same rows in one run, without what was deleted.
    pub fn compacted(&self) -> Relation {
        if self.runs.len() <= 1 && self.runs.iter().all(|run| run.live().is_none()) {
            return self.clone();
        }
        with_key!(self.arity, K => {
            // The youngest runs are the smallest.
            let keys = self.runs.iter().rev().fold(Vec::<K>::new(), |keys, run| merge(&live_keys(run), &keys));
            let rows = unpack(&keys, self.arity);
            let runs = if rows.len == 0 { Vec::new() } else { vec![Run::of_sorted(rows)] };
            Relation { arity: self.arity, runs }
        })
    }

    fn retain_absent<K: Key>(&self, keys: &mut Vec<K>) {
        for run in &self.runs {
            let found = find_sorted(run, keys);
            let mut position = 0;
            keys.retain(|_| {
                position += 1;
                found[position - 1].is_none_or(|row| !run.is_live(row))
            });
        }
    }

    fn insert_keys<K: Key>(&self, mut keys: Vec<K>) -> (Relation, usize) {
        self.retain_absent(&mut keys);
        self.insert_absent_keys(keys)
    }

    fn insert_absent_keys<K: Key>(&self, mut keys: Vec<K>) -> (Relation, usize) {
        let added = keys.len();
        if added == 0 {
            return (self.clone(), 0);
        }
        let mut runs = self.runs.clone();
        while let Some(last) = runs.last()
            && last.len() <= keys.len() * 2
        {
            keys = merge(&live_keys(last), &keys);
            runs.pop();
        }
        runs.push(Run::of_sorted(unpack(&keys, self.arity)));
        (Relation { arity: self.arity, runs }, added)
    }

    fn delete_keys<K: Key>(&self, mut keys: Vec<K>) -> (Relation, usize) {
        let mut removed = 0;
        let mut runs = Vec::with_capacity(self.runs.len());
        for run in &self.runs {
            let (found, mut dead) = (find_sorted(run, &keys), Vec::new());
            let mut found = found.into_iter().map(|row| row.filter(|row| run.is_live(*row)));
            // No two runs have a row in common.
            keys.retain(|_| {
                let row = found.next().flatten();
                dead.extend(row);
                row.is_none()
            });
            removed += dead.len();
            if dead.is_empty() {
                runs.push(run.clone());
            } else if dead.len() < run.len() {
                runs.push(run.without(&dead));
            }
        }
        (Relation { arity: self.arity, runs: compacted::<K>(runs, self.arity) }, removed)
    }
}

impl Rows {
    /// The rows of runs that count, one run after the other.
    pub fn of_runs(arity: usize, runs: &[Run]) -> Rows {
        if let [run] = runs {
            return run.live_rows();
        }
        let len = runs.iter().map(Run::len).sum();
        let mut rows = Rows { columns: vec![Vec::with_capacity(len); arity], len };
        for (position, column) in rows.columns.iter_mut().enumerate() {
            runs.iter().for_each(|run| run.append_live(position, column));
        }
        rows
    }
}

/// A run of distinct rows, and whether they came in its order.
pub fn sorted_run(rows: Rows) -> (Run, bool) {
    let came_in_order = with_key!(rows.columns.len(), K => is_sorted::<K>(&rows));
    (Run::of_sorted(if came_in_order { rows } else { sorted(&rows) }), came_in_order)
}

/// Rewrites runs that are mostly deleted rows.
fn compacted<K: Key>(runs: Vec<Run>, arity: usize) -> Vec<Run> {
    runs.into_iter()
        .map(|run| {
            if run.len() * 2 >= run.stored_len() {
                return run;
            }
            Run::of_sorted(unpack(&live_keys::<K>(&run), arity))
        })
        .collect()
}

pub(super) fn live_keys<K: Key>(run: &Run) -> Vec<K> {
    let mut keys = Vec::with_capacity(run.stored_len());
    pack_live(run, 0..run.stored_len(), &mut keys);
    keys
}

/// The keys of those of these rows that are not deleted.
pub(super) fn pack_live<K: Key>(run: &Run, rows: Range<usize>, keys: &mut Vec<K>) {
    let columns = run.columns();
    let Some(live) = run.live() else { return K::pack(&columns, rows.start, rows.end, keys) };
    for (part, bits) in live.bits_of(rows) {
        let (first, mut kept) = (keys.len(), keys.len());
        K::pack(&columns, part.start, part.end, keys);
        let Some(bits) = bits else { continue };
        for (offset, is_live) in bits.iter().enumerate() {
            keys[kept] = keys[first + offset];
            kept += usize::from(is_live);
        }
        keys.truncate(kept);
    }
}

/// Where each of the sorted keys stands in the sorted run, deleted rows among them.
fn find_sorted<K: Key>(run: &Run, keys: &[K]) -> Vec<Option<usize>> {
    let columns = run.columns();
    let len = run.stored_len();
    let key_at = |row: usize| K::of_row(&columns, row);
    let mut low = 0;
    keys.iter()
        .map(|key| {
            // Gallop from the last position, then bisect: cheap for dense and for sparse batches.
            let (mut high, mut step) = (low, 1);
            while high < len && key_at(high) < *key {
                low = high + 1;
                high += step;
                step *= 2;
            }
            low = partition_point(low, high.min(len), |row| key_at(row) < *key);
            (low < len && key_at(low) == *key).then_some(low)
        })
        .collect()
}

/// Both lists' keys, each once. Which list goes on is added up, not branched on: nobody can foretell it.
pub(crate) fn merge<T: Copy + Ord>(a: &[T], b: &[T]) -> Vec<T> {
    /// To find a place takes as long as to pass over so many keys.
    const FEW: usize = 16;
    let mut merged = Vec::with_capacity(a.len() + b.len());
    let (few, many) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if few.len() * FEW < many.len() {
        let mut rest = many;
        for key in few {
            let (before, after) = rest.split_at(place_of(key, rest));
            merged.extend_from_slice(before);
            merged.push(*key);
            rest = &after[usize::from(after.first() == Some(key))..];
        }
        merged.extend_from_slice(rest);
        return merged;
    }
    let (mut i, mut j) = (0, 0);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        merged.push(if x <= y { x } else { y });
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    merged.extend_from_slice(&a[i..]);
    merged.extend_from_slice(&b[j..]);
    merged
}

/// Where a key stands or would stand in a list: found at twice the distance each time, then by bisection.
fn place_of<T: Ord>(key: &T, list: &[T]) -> usize {
    let mut end = 1;
    while end < list.len() && list[end] < *key {
        end *= 2;
    }
    let (start, end) = (end / 2, (end + 1).min(list.len()));
    start + list[start..end].partition_point(|other| other < key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn rows(tuples: &[(Code, Code)]) -> Rows {
        Rows {
            columns: vec![tuples.iter().map(|t| t.0).collect(), tuples.iter().map(|t| t.1).collect()],
            len: tuples.len(),
        }
    }

    fn tuples(relation: &Relation) -> BTreeSet<(Code, Code)> {
        let mut all = BTreeSet::new();
        for run in relation.runs() {
            for row in (0..run.stored_len()).filter(|row| run.is_live(*row)) {
                assert!(all.insert((run.column(0)[row], run.column(1)[row])), "a row stands in two runs");
            }
        }
        all
    }

    #[test]
    fn lists_of_all_lengths_are_merged() {
        let list = |len: u32, step: u32| (0..len).map(|n| n * step + step / 2).collect::<Vec<u32>>();
        for (a, b) in [(0, 0), (0, 5), (1, 1), (1, 40), (3, 1_000), (20, 1_000), (1_000, 1_000)] {
            for step in [1, 2, 37, 50, 5_000] {
                let (few, many) = (list(a, step), list(b, 3));
                let expected: Vec<u32> =
                    few.iter().chain(&many).copied().collect::<BTreeSet<_>>().into_iter().collect();
                assert_eq!(merge(&few, &many), expected);
                assert_eq!(merge(&many, &few), expected);
            }
        }
    }

    #[test]
    fn a_relation_is_a_set_under_random_changes() {
        let mut relation = Relation::empty(2);
        let mut model: BTreeSet<(Code, Code)> = BTreeSet::new();
        let mut state = 7_u32;
        for _ in 0..300 {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 16) % 40
            };
            let insert = next() % 3 > 0;
            let batch: Vec<(Code, Code)> = (0..next()).map(|_| (next(), next())).collect();
            let before = model.len();
            let (changed, count) = if insert {
                model.extend(&batch);
                relation.insert(&rows(&batch))
            } else {
                batch.iter().for_each(|t| {
                    model.remove(t);
                });
                relation.delete(&rows(&batch))
            };
            relation = changed;
            assert_eq!(count, before.abs_diff(model.len()));
            assert_eq!(tuples(&relation), model);
            assert_eq!(relation.len(), model.len());
            assert!(relation.runs().len() <= 12);
        }
    }

    #[test]
    fn rows_in_order_are_known_and_equal_ones_are_not_in_order() {
        let ordered: Vec<(Code, Code)> = (0..10_000).map(|n| (n / 100, n)).collect();
        for position in [0, 1, 4_095, 4_096, 4_097, 8_192, 9_999] {
            assert_eq!(Relation::empty(2).insert(&rows(&ordered)).1, ordered.len());
            let mut twice = ordered.clone();
            twice.insert(position, ordered[position]);
            let mut swapped = ordered.clone();
            swapped.swap(position, position.max(1) - 1);
            for changed in [twice, swapped] {
                let (relation, count) = Relation::empty(2).insert(&rows(&changed));
                assert_eq!(count, ordered.len());
                assert!(tuples(&relation).into_iter().eq(ordered.iter().copied()));
                assert!(relation.runs()[0].column(1).is_sorted());
            }
        }
    }

    #[test]
    fn a_relation_of_no_columns_holds_one_row_or_none() {
        let empty = Relation::empty(0);
        let row = Rows { columns: vec![], len: 2 };
        let (one, added) = empty.insert(&row);
        assert_eq!((added, one.len(), one.insert(&row).1), (1, 1, 0));
        assert_eq!(one.delete(&row).0.len(), 0);
    }
}
