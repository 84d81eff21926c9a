//! The rows of several runs, each once, merged in their order.

use super::key_ranges::KeyRanges;
use super::keys::{Key, with_key};
use super::lazy::{GoOn, Stopped};
use super::rows::unpack;
use super::{Rows, Run, parallel};

/// The rows of runs that stand in their order, each once, in that order; in pieces.
pub fn union(runs: &[Run], arity: usize, go_on: GoOn<'_>) -> Result<Vec<Rows>, Stopped> {
    with_key!(arity, K => union_of_keys::<K>(runs, arity, go_on))
}

fn union_of_keys<K: Key>(runs: &[Run], arity: usize, go_on: GoOn<'_>) -> Result<Vec<Rows>, Stopped> {
    let ranges = KeyRanges::of::<K>(runs);
    let merged = |range: usize| match go_on() {
        true => Ok(unpack(&ranges.keys::<K>(0..runs.len(), range), arity)),
        false => Err(Stopped),
    };
    parallel::map((0..ranges.count()).collect(), merged).into_iter().collect()
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
