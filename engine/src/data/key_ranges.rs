//! `KeyRanges`: sorted runs cut at the same keys, so that a range of them is worked on after the other: what is worked on stays in
//! the cache, and threads share nothing.

use std::cmp::Reverse;
use std::ops::Range;

use super::keys::Key;
use super::relation::{merge, pack_live};
use super::run::{Run, partition_point};

/// About so many rows of a run in a range.
const ROWS: usize = 1 << 14;

/// Where ranges of keys begin and end in each of some runs.
pub(super) struct KeyRanges<'r> {
    runs: Vec<(&'r Run, Vec<usize>)>,
    count: usize,
}

impl<'r> KeyRanges<'r> {
    /// Of runs that stand in their order.
    pub(super) fn of<K: Key>(runs: impl IntoIterator<Item = &'r Run>) -> KeyRanges<'r> {
        let runs: Vec<&Run> = runs.into_iter().collect();
        let mut bounds: Vec<K> = Vec::new();
        for run in &runs {
            let columns = run.columns();
            bounds.extend((ROWS / 2..run.stored_len()).step_by(ROWS).map(|row| K::of_row(&columns, row)));
        }
        bounds.sort_unstable();
        bounds.dedup();
        let cut = |run: &'r Run| (run, cuts(run, &bounds));
        KeyRanges { runs: runs.into_iter().map(cut).collect(), count: bounds.len() + 1 }
    }

    /// How many ranges there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The keys of a range in some of the runs, in order, each once; those of deleted rows are not among them.
    pub(super) fn keys<K: Key>(&self, runs: Range<usize>, range: usize) -> Vec<K> {
        let keys_of = |(run, cuts): &(&Run, Vec<usize>)| {
            let mut keys = Vec::with_capacity(cuts[range + 1] - cuts[range]);
            pack_live(run, cuts[range]..cuts[range + 1], &mut keys);
            keys
        };
        // Short ones first: a long one is gone through once.
        let mut lists: Vec<Vec<K>> = self.runs[runs].iter().map(keys_of).collect();
        lists.sort_by_key(|list| Reverse(list.len()));
        let Some(mut shortest) = lists.pop() else { return Vec::new() };
        while let Some(next) = lists.pop() {
            let merged = merge(&next, &shortest);
            lists.insert(lists.partition_point(|list| list.len() > merged.len()), merged);
            shortest = lists.pop().unwrap_or_default();
        }
        shortest
    }
}

/// Where the ranges between these keys begin and end in a run.
fn cuts<K: Key>(run: &Run, bounds: &[K]) -> Vec<usize> {
    let columns = run.columns();
    let mut cuts = vec![0];
    for bound in bounds {
        let is_before = |row: usize| K::of_row(&columns, row) < *bound;
        cuts.push(partition_point(cuts[cuts.len() - 1], run.stored_len(), is_before));
    }
    cuts.push(run.stored_len());
    cuts
}
