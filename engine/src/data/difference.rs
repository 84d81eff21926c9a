//! What has come to a relation and what has left it between two of its states, found by what they do not share: a run that
//! both have says it by its masks, the rows of all others are compared.
//!
//! Runs are merged as rows come, so this takes about as long as it took to put them there, whatever lies between the two.

use std::cmp::Ordering;

use super::keys::{Key, with_key};
use super::relation::{live_keys, merge};
use super::rows::unpack;
use super::{Relation, Rows, Run};

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
    let mut removed = not_in::<K>(before.runs(), after.runs());
    let mut added = not_in::<K>(after.runs(), before.runs());
    // What has only gone to another run.
    remove_common(&mut removed, &mut added);
    let arity = before.arity();
    Difference { added: unpack(&added, arity), removed: unpack(&removed, arity) }
}

/// The rows of runs that others do not have in the same place, in order.
fn not_in<K: Key>(runs: &[Run], others: &[Run]) -> Vec<K> {
    // The youngest runs are the smallest.
    runs.iter().rev().fold(Vec::new(), |keys, run| match shared(run, others) {
        None if keys.is_empty() => live_keys(run),
        None => merge(&live_keys(run), &keys),
        Some(other) => {
            let (columns, mut lost) = (run.columns(), Vec::new());
            run.live_only_here(other).into_iter().for_each(|row| K::pack(&columns, row, row + 1, &mut lost));
            merge(&lost, &keys)
        }
    })
}

/// Takes out of two ordered lists what both have.
fn remove_common<K: Key>(a: &mut Vec<K>, b: &mut Vec<K>) {
    let (mut only_a, mut only_b) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        match x.cmp(y) {
            Ordering::Less => only_a.push(*x),
            Ordering::Greater => only_b.push(*y),
            Ordering::Equal => {}
        }
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    only_a.extend_from_slice(&a[i..]);
    only_b.extend_from_slice(&b[j..]);
    (*a, *b) = (only_a, only_b);
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
