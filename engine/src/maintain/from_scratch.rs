//! Rows that were derived from scratch, as those of an earlier state and what has changed of them, where that is little: what was
//! built for those serves again, and what has changed of an answer is known.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{KeptRows, Named};
use crate::data::{Difference, Relation, Run};
use crate::exec::Rounds;

/// The relations of a program, derived from scratch one after the other.
pub(super) struct FromScratch<'b> {
    stored: &'b Named,
    /// Those of an earlier state, in the same codes.
    before: Option<&'b BTreeMap<String, Arc<KeptRows>>>,
    found: Vec<Found>,
    /// How many rows do not stand on earlier ones.
    fresh: usize,
}

/// The rows of a relation.
struct Found {
    /// The numbers of the runs in which they were found.
    numbers: Vec<u64>,
    /// Those of the earlier state,
    before: Option<Arc<KeptRows>>,
    rows: Arc<KeptRows>,
    /// and what tells these from those, if that was looked for.
    difference: Option<Difference>,
}

impl<'b> FromScratch<'b> {
    pub(super) fn on(
        stored: &'b Named,
        before: Option<&'b BTreeMap<String, Arc<KeptRows>>>,
    ) -> FromScratch<'b> {
        FromScratch { stored, before, found: Vec::new(), fresh: 0 }
    }

    /// Keeps the rows of a relation; where all are those of another one, they are kept once. Answers them, and of the goal what tells
    /// them from those before.
    pub(super) fn keep(
        &mut self,
        (name, arity): (&str, usize),
        (runs, rounds): (Vec<Run>, Option<Rounds>),
        is_goal: bool,
    ) -> (Arc<KeptRows>, Option<Difference>) {
        let before = self.before.and_then(|before| before.get(name));
        let numbers = numbers_of(&runs);
        let is_like = |found: &&mut Found| {
            !numbers.is_empty() && found.numbers == numbers && are_same(found.before.as_ref(), before)
        };
        if let Some(like) = self.found.iter_mut().find(is_like) {
            let difference = if is_goal { like.difference.take() } else { None };
            return (Arc::clone(&like.rows), difference);
        }
        let has_same = |stored: &&Relation| !numbers.is_empty() && numbers_of(stored.runs()) == numbers;
        let same_stored = self.stored.values().find(has_same);
        let rows = match same_stored {
            Some(stored) => KeptRows::ordered(stored.clone()),
            None => KeptRows::found(arity, runs, rounds),
        };
        let compared = before.filter(|_| is_goal || same_stored.is_none());
        let (mut difference, standing) = compared.and_then(|before| rows.since(before, is_goal)).unzip();
        // What is stored has its own indexes.
        let standing = standing.flatten().filter(|_| same_stored.is_none());
        if same_stored.is_none() && standing.is_none() {
            self.fresh += rows.len();
        }
        let rows = Arc::new(standing.unwrap_or(rows));
        let of_goal = if is_goal { difference.take() } else { None };
        self.found.push(Found { numbers, before: before.cloned(), rows: Arc::clone(&rows), difference });
        (rows, of_goal)
    }

    /// How many rows stand on no earlier ones, so that nothing that was built serves for them.
    pub(super) fn fresh(&self) -> usize {
        self.fresh
    }
}

fn numbers_of(runs: &[Run]) -> Vec<u64> {
    runs.iter().map(Run::number).collect()
}

/// Whether these are the same rows of an earlier state.
fn are_same(a: Option<&Arc<KeptRows>>, b: Option<&Arc<KeptRows>>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b) || numbers_of(&a.runs()) == numbers_of(&b.runs()),
        (a, b) => a.is_none() && b.is_none(),
    }
}
