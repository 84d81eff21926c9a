//! The rows of several runs, each once: merged in their order, a range of keys after the other, so that what is merged stays
//! in the cache and threads share nothing.

use std::collections::VecDeque;

use super::keys::{Key, with_key};
use super::lazy::{GoOn, Stopped};
use super::relation::{merge, pack_live};
use super::rows::unpack;
use super::{Rows, Run, parallel};

/// About so many rows of a range.
const RANGE: usize = 1 << 14;

/// The rows of runs that stand in their order, each once, in that order; in pieces.
pub fn union(runs: &[Run], arity: usize, go_on: GoOn<'_>) -> Result<Vec<Rows>, Stopped> {
    with_key!(arity, K => union_of_keys::<K>(runs, arity, go_on))
}

fn union_of_keys<K: Key>(runs: &[Run], arity: usize, go_on: GoOn<'_>) -> Result<Vec<Rows>, Stopped> {
    let mut bounds: Vec<K> = Vec::new();
    for run in runs {
        let columns = run.columns();
        for row in (RANGE / 2..run.stored_len()).step_by(RANGE) {
            K::pack(&columns, row, row + 1, &mut bounds);
        }
    }
    bounds.sort_unstable();
    bounds.dedup();
    let cuts: Vec<Vec<usize>> = runs.iter().map(|run| cuts(run, &bounds)).collect();
    let ranges = (0..=bounds.len()).collect();
    let merge_range = |range: usize| {
        if !go_on() {
            return Err(Stopped);
        }
        let mut lists = VecDeque::new();
        for (run, cuts) in runs.iter().zip(&cuts) {
            let mut keys = Vec::<K>::with_capacity(cuts[range + 1] - cuts[range]);
            pack_live(run, cuts[range]..cuts[range + 1], &mut keys);
            lists.push_back(keys);
        }
        while lists.len() > 1 {
            let pair = lists.pop_front().zip(lists.pop_front());
            lists.extend(pair.map(|(a, b)| merge(&a, &b)));
        }
        Ok(unpack(&lists.pop_front().unwrap_or_default(), arity))
    };
    parallel::map(ranges, merge_range).into_iter().collect()
}

/// Where the ranges between these keys begin and end in a run.
fn cuts<K: Key>(run: &Run, bounds: &[K]) -> Vec<usize> {
    let columns = run.columns();
    let mut one = Vec::with_capacity(1);
    let mut cuts = vec![0];
    for bound in bounds {
        let (mut start, mut end) = (cuts[cuts.len() - 1], run.stored_len());
        while start < end {
            let middle = start + (end - start) / 2;
            one.clear();
            K::pack(&columns, middle, middle + 1, &mut one);
            if one[0] < *bound { start = middle + 1 } else { end = middle }
        }
        cuts.push(start);
    }
    cuts.push(run.stored_len());
    cuts
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::data::{Code, sorted_run};

    /// Runs that overlap, that lie apart, of very unequal sizes, and some of whose rows are deleted.
    #[test]
    fn every_row_comes_once_and_in_order() {
        for arity in [1, 2, 3, 5, 9] {
            let mut expected = BTreeSet::new();
            let mut runs = Vec::new();
            for (rows, from, step) in
                [(60_000, 0, 3), (50_000, 7, 2), (9, 1 << 20, 1), (0, 0, 1), (40_000, 90_000, 1)]
            {
                let values: Vec<Code> = (0..rows).map(|row| from + row * step).collect();
                let columns = (0..arity).map(|column| values.iter().map(|value| value >> column).collect());
                let (run, _) = sorted_run(Rows { columns: columns.collect(), len: values.len() });
                let live = (0..run.stored_len()).map(|row| row % 5 != 0).collect();
                let run = if from == 7 { run.with_live(live) } else { run };
                let columns = run.columns();
                let row = |row: usize| columns.iter().map(|column| column[row]).collect::<Vec<_>>();
                expected.extend((0..run.stored_len()).filter(|row| run.is_live(*row)).map(row));
                runs.push(run);
            }
            let pieces = union(&runs, arity, &|| true).unwrap();
            let found = pieces.iter().flat_map(|rows| {
                (0..rows.len).map(|row| rows.columns.iter().map(|column| column[row]).collect::<Vec<_>>())
            });
            assert!(found.eq(expected), "{arity} columns");
        }
    }

    #[test]
    fn it_can_be_stopped() {
        let (run, _) = sorted_run(Rows { columns: vec![vec![1, 2]], len: 2 });
        assert!(union(&[run], 1, &|| false).is_err());
    }
}
