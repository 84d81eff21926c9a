//! What has come to a relation and what has left it between two of its states, found by what they do not share: a run that
//! both have says it by its masks, the rows of all others are compared.
//!
//! Runs are merged as rows come, so this takes about as long as it took to put them there, whatever lies between the two.

use std::cmp::{Ordering, Reverse};

use super::key_ranges::KeyRanges;
use super::keys::{Key, with_key};
use super::relation::merge;
use super::rows::unpack;
use super::{Relation, Rows, Run, parallel};

/// Rows in and rows out; none is in both.
#[derive(Debug, Clone, Default)]
pub struct Difference {
    /// Those that were not there before, in order.
    pub added: Rows,
    /// Those that are not there any more, in order.
    pub removed: Rows,
}

impl Difference {
    /// What one state of a relation has that the other has not.
    pub fn between(before: &Relation, after: &Relation) -> Difference {
        with_key!(before.arity(), K => between::<K>(before, after))
    }

    /// At most how many rows there are in the one between these runs: those that do not stand in the same place in both.
    pub(crate) fn at_most(before: &[Run], after: &[Run]) -> usize {
        let apart = |runs: &[Run], others: &[Run]| -> usize {
            let in_others = |run| shared(run, others).map_or(0, Run::len);
            runs.iter().map(|run| run.len().saturating_sub(in_others(run))).sum()
        };
        apart(before, after) + apart(after, before)
    }

    /// Of rows of so many columns, none.
    pub(crate) fn none(arity: usize) -> Difference {
        Difference { added: Rows::empty(arity), removed: Rows::empty(arity) }
    }

    /// Whether nothing has changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many rows there are in it.
    pub fn len(&self) -> usize {
        self.added.len + self.removed.len
    }
}

/// The same rows among these runs, perhaps others of them masked.
fn shared<'r>(run: &Run, others: &'r [Run]) -> Option<&'r Run> {
    others.iter().find(|other| other.id() == run.id())
}

fn between<K: Key>(before: &Relation, after: &Relation) -> Difference {
    let (old, new) = (before.runs(), after.runs());
    let [mut removed, mut added] = not_shared::<K>(old, new);
    let [lost, found] = [lost::<K>(old, new), lost(new, old)];
    if !lost.is_empty() || !found.is_empty() {
        (removed, added) = (merge(&removed, &lost), merge(&added, &found));
        // What has only gone to another run.
        (removed, added) = without_common(&removed, &added);
    }
    let arity = before.arity();
    Difference { added: unpack(&added, arity), removed: unpack(&removed, arity) }
}

/// Of the runs that only one side has, the rows that the other side's have not, in order: those of the first side, and of the second.
fn not_shared<K: Key>(a: &[Run], b: &[Run]) -> [Vec<K>; 2] {
    let own = |runs: &'_ [Run], others: &[Run]| -> Vec<Run> {
        runs.iter().filter(|run| shared(run, others).is_none()).cloned().collect()
    };
    let (mut of_a, of_b) = (own(a, b), own(b, a));
    let (all, first) = (of_a.len() + of_b.len(), of_a.len());
    of_a.sort_by_key(|run| Reverse(run.len()));
    let ranges = KeyRanges::of::<K>(of_a.iter().chain(&of_b));
    let apart = |range| {
        let keys = |runs| ranges.keys::<K>(runs, range);
        // The largest run by itself: to merge it with the others takes longer.
        let (only_a, only_b) = without_common(&keys(0..first.min(1)), &keys(first..all));
        let (also_only_a, only_b) = without_common(&keys(first.min(1)..first), &only_b);
        (merge(&only_a, &also_only_a), only_b)
    };
    let (only_a, only_b): (Vec<_>, Vec<_>) =
        parallel::map((0..ranges.count()).collect(), apart).into_iter().unzip();
    [only_a.concat(), only_b.concat()]
}

/// The rows of runs that the same runs of the others have not, in order.
fn lost<K: Key>(runs: &[Run], others: &[Run]) -> Vec<K> {
    let shared = runs.iter().filter_map(|run| Some((run, shared(run, others)?)));
    shared.fold(Vec::new(), |keys, (run, other)| {
        let columns = run.columns();
        let lost = run.live_only_here(other).into_iter().map(|row| K::of_row(&columns, row));
        merge(&lost.collect::<Vec<_>>(), &keys)
    })
}

/// Two ordered lists without what both have.
fn without_common<K: Key>(a: &[K], b: &[K]) -> (Vec<K>, Vec<K>) {
    /// So many that are the same in both are passed over at once.
    const BLOCK: usize = 32;
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        let (to_a, to_b) = (a.len().min(i + BLOCK), b.len().min(j + BLOCK));
        if a[i..to_a] == b[j..to_b] {
            (i, j) = (to_a, to_b);
            continue;
        }
        while i < to_a && j < to_b {
            let (x, y) = (a[i], b[j]);
            match x.cmp(&y) {
                Ordering::Less => only_a.push(x),
                Ordering::Greater => only_b.push(y),
                Ordering::Equal => {}
            }
            i += usize::from(x <= y);
            j += usize::from(y <= x);
        }
    }
    only_a.extend_from_slice(&a[i..]);
    only_b.extend_from_slice(&b[j..]);
    (only_a, only_b)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Code;
    use super::*;

    type Tuple = (Code, Code);

    fn rows(tuples: impl IntoIterator<Item = Tuple>) -> Rows {
        let (a, b): (Vec<Code>, Vec<Code>) = tuples.into_iter().unzip();
        Rows { len: a.len(), columns: vec![a, b] }
    }

    fn tuples(rows: &Rows) -> Vec<Tuple> {
        rows.columns[0].iter().copied().zip(rows.columns[1].iter().copied()).collect()
    }

    #[test]
    fn it_is_what_two_states_do_not_share_whatever_lies_between() {
        let mut state = 3_u32;
        let mut next = |bound: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % bound
        };
        let mut states = vec![(Relation::empty(2), BTreeSet::<Tuple>::new())];
        for step in 0..200 {
            let (mut relation, mut model) = states[states.len() - 1].clone();
            let batch: Vec<Tuple> = (0..1 << next(12)).map(|_| (next(60), next(60))).collect();
            if step % 50 == 49 {
                relation = relation.compacted();
            } else if next(5) < 3 {
                relation = relation.insert(&rows(batch.iter().copied())).0;
                model.extend(&batch);
            } else {
                relation = relation.delete(&rows(batch.iter().copied())).0;
                model.retain(|tuple| !batch.contains(tuple));
            }
            states.push((relation, model));
        }
        for (from, (before, model)) in states.iter().enumerate() {
            for (after, later) in states.iter().skip(from).step_by(1 + next(7) as usize) {
                let found = Difference::between(before, after);
                assert_eq!(tuples(&found.added), later.difference(model).copied().collect::<Vec<_>>());
                assert_eq!(tuples(&found.removed), model.difference(later).copied().collect::<Vec<_>>());
                let back = Difference::between(after, before);
                assert_eq!(
                    (tuples(&back.added), tuples(&back.removed)),
                    (tuples(&found.removed), tuples(&found.added))
                );
            }
        }
    }

    #[test]
    fn what_has_only_moved_to_another_run_has_not_changed() {
        let large = Relation::empty(2).insert(&rows((0..200_000).map(|n| (n, n)))).0;
        let changed = large.delete(&rows([(7, 7), (150_000, 150_000)])).0.insert(&rows([(7, 8)])).0;
        let found = Difference::between(&large, &changed);
        assert_eq!(
            (tuples(&found.added), tuples(&found.removed)),
            (vec![(7, 8)], vec![(7, 7), (150_000, 150_000)])
        );
        let again = changed.insert(&rows([(7, 7), (150_000, 150_000)])).0.delete(&rows([(7, 8)])).0;
        assert!(Difference::between(&large, &again).is_empty(), "they are there again, in another run");
    }

    #[test]
    fn of_no_columns_there_is_one_row_or_none() {
        let (none, row) = (Relation::empty(0), Rows { columns: Vec::new(), len: 1 });
        let one = none.insert(&row).0;
        assert_eq!(Difference::between(&none, &one).added.len, 1);
        assert_eq!(Difference::between(&one, &none).removed.len, 1);
        assert!(Difference::between(&one, &one).is_empty());
    }
}
