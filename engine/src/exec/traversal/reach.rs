//! Which nodes a walk comes to, where all its sources are the same: a search over a list of nodes that grows.

use std::sync::atomic::{AtomicU64, Ordering};

use super::super::error::ExecError;
use super::graph::Arcs;
use crate::budget::Budget;
use crate::data::keys::{Key, KeySet};
use crate::data::{Code, parallel};

/// Nodes whose edges are followed between two looks at the budget.
const CHECK_NODES: usize = 1_024;
/// With so many nodes to go on from, there is work for more than one thread.
const MANY_NODES: usize = 4 * CHECK_NODES;
/// Nodes that threads share out among themselves before they put together what they have found.
const SHARED_NODES: usize = 64 * CHECK_NODES;

/// The nodes that a walk from `starts` comes to.
pub(super) fn reach(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Vec<Code>, ExecError> {
    match arcs.dense_range(starts) {
        Some((first, range)) => {
            budget.charge(range / 8)?;
            let seen = Seen::new(first, range);
            search(arcs, starts, &seen, budget)?;
            let nodes = seen.codes();
            budget.charge(nodes.len() * size_of::<Code>())?;
            Ok(nodes)
        }
        None => search_hashed(arcs, starts, budget),
    }
}

/// Marks what is reached. The order in which threads find nodes says nothing.
fn search(arcs: &Arcs, starts: &[Code], seen: &Seen, budget: &Budget) -> Result<(), ExecError> {
    let runs = arcs.of_first();
    let mut todo = Vec::new();
    seen.insert_alone(starts, &mut todo);
    let mut nodes = Vec::new();
    while !todo.is_empty() {
        budget.check()?;
        let rest = todo.len().saturating_sub(SHARED_NODES);
        nodes.clear();
        nodes.extend(todo.drain(rest..));
        let _held = budget.hold((todo.len() + 2 * nodes.len()) * size_of::<Code>())?;
        if nodes.len() < MANY_NODES {
            runs.iter().for_each(|run| run.ends_of(&nodes, |ends| seen.insert_alone(ends, &mut todo)));
            continue;
        }
        let lanes = parallel::lanes(nodes.len(), CHECK_NODES);
        let found = parallel::map(lanes, |lane| {
            budget.check()?;
            let mut found = Vec::new();
            for run in &runs {
                run.ends_of(&nodes[lane.clone()], |ends| {
                    found.extend(ends.iter().copied().filter(|end| seen.insert(*end)));
                });
            }
            Ok(found)
        });
        for found in found {
            let found: Result<_, ExecError> = found;
            todo.extend(found?);
        }
    }
    Ok(())
}

/// The same where codes lie far apart.
fn search_hashed(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Vec<Code>, ExecError> {
    let mut seen = KeySet::<u64>::default();
    let mut is_new = |code: Code| seen.insert(u64::from(code), u64::from(code).hash());
    let runs = arcs.of_first();
    let mut reached: Vec<Code> = starts.iter().copied().filter(|start| is_new(*start)).collect();
    let (mut next, mut charged) = (0, 0);
    while next < reached.len() {
        budget.check()?;
        let bytes = reached.len() * size_of::<Code>();
        budget.charge(bytes - charged)?;
        charged = bytes;
        let nodes = reached[next..reached.len().min(next + CHECK_NODES)].to_vec();
        for run in &runs {
            run.ends_of(&nodes, |ends| {
                reached.extend(ends.iter().copied().filter(|end| is_new(*end)));
            });
        }
        next += nodes.len();
    }
    Ok(reached)
}

/// Nodes that were met, a bit each, from the first code on.
struct Seen {
    first: Code,
    bits: Vec<AtomicU64>,
}

impl Seen {
    fn new(first: Code, range: usize) -> Seen {
        Seen { first, bits: std::iter::repeat_with(AtomicU64::default).take(range.div_ceil(64)).collect() }
    }

    /// Adds those of the nodes that were not met before, while no other thread inserts any.
    #[inline]
    fn insert_alone(&self, codes: &[Code], new: &mut Vec<Code>) {
        let mut at = new.len();
        new.resize(at + codes.len(), 0);
        for code in codes {
            let place = (code - self.first) as usize;
            let (word, bit) = (&self.bits[place / 64], place % 64);
            let met = word.load(Ordering::Relaxed);
            word.store(met | 1 << bit, Ordering::Relaxed);
            // Without a branch that nobody could foresee: what was met is written over by the next one.
            new[at] = *code;
            at += (!met >> bit & 1) as usize;
        }
        new.truncate(at);
    }

    /// Whether it was not met before. Of several threads that ask, one is told so.
    #[inline]
    fn insert(&self, code: Code) -> bool {
        let place = (code - self.first) as usize;
        let (word, bit) = (&self.bits[place / 64], 1 << (place % 64));
        // Most have been met, and to look is cheap.
        word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
    }

    /// All that were met, in ascending order.
    fn codes(&self) -> Vec<Code> {
        let words = || self.bits.iter().map(|word| word.load(Ordering::Relaxed));
        let mut codes = Vec::with_capacity(words().map(|word| word.count_ones() as usize).sum());
        for (number, mut word) in words().enumerate() {
            while word != 0 {
                codes.push(self.first + (number * 64) as Code + word.trailing_zeros());
                word &= word - 1;
            }
        }
        codes
    }
}
