//! Which nodes a walk comes to, where all its sources are the same: a search over a list of nodes that grows.

use std::sync::atomic::Ordering;

use super::arcs::{ArcRun, Arcs};
use super::met::{Met, Seen};
use crate::budget::Budget;
use crate::data::{Code, parallel};
use crate::exec::error::ExecError;

/// Nodes whose edges are followed between two looks at the budget.
const CHECK_NODES: usize = 1_024;
/// With so many nodes to go on from, there is work for more than one thread.
const MANY_NODES: usize = 4 * CHECK_NODES;
/// Words of a lane of a sweep: 4,096 nodes between two looks at the budget.
const LANE_WORDS: usize = 64;
/// A look at so many words takes no longer than to follow the edges of a node.
const WORDS_PER_NODE: usize = 16;

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
    while !todo.is_empty() {
        budget.check()?;
        let _held = budget.hold(todo.len() * size_of::<Code>())?;
        if todo.len() >= MANY_NODES && todo.len() * WORDS_PER_NODE >= seen.bits.len() {
            sweep(&runs, seen, &mut todo, budget)?;
            continue;
        }
        let nodes = todo.split_off(todo.len().saturating_sub(CHECK_NODES));
        runs.iter().for_each(|run| run.ends_of(&nodes, |ends| seen.insert_alone(ends, &mut todo)));
    }
    Ok(())
}

/// Goes on from many nodes, in the order of their codes, in which edges lie in memory, again and again until what is left
/// to do is little.
fn sweep(runs: &[&ArcRun], seen: &Seen, todo: &mut Vec<Code>, budget: &Budget) -> Result<(), ExecError> {
    let _held = budget.hold(seen.bits.len() * size_of::<u64>())?;
    // What was met, and its edges followed.
    let mut done = seen.words().collect::<Vec<u64>>();
    for code in todo.drain(..) {
        let place = (code - seen.first) as usize;
        done[place / 64] &= !(1 << (place % 64));
    }
    loop {
        let lanes = done.chunks_mut(LANE_WORDS).enumerate().collect();
        let swept = parallel::map(lanes, |(lane, done)| {
            budget.check()?;
            let mut nodes = Vec::with_capacity(64);
            for (word, done) in done.iter_mut().enumerate() {
                let word = lane * LANE_WORDS + word;
                let met = seen.bits[word].load(Ordering::Relaxed);
                seen.codes_of(word, met & !*done, &mut nodes);
                *done = met;
                for run in runs {
                    run.ends_of(&nodes, |ends| ends.iter().for_each(|end| seen.insert(*end)));
                }
                nodes.clear();
            }
            Ok(())
        });
        swept.into_iter().collect::<Result<(), ExecError>>()?;
        let new = || seen.words().zip(&done).map(|(met, done)| met & !done);
        let left: usize = new().map(|word| word.count_ones() as usize).sum();
        if left < MANY_NODES || left * WORDS_PER_NODE < done.len() {
            new().enumerate().for_each(|(word, bits)| seen.codes_of(word, bits, todo));
            return Ok(());
        }
    }
}

/// The same where codes lie far apart.
fn search_hashed(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Vec<Code>, ExecError> {
    let (mut met, mut reached) = (Met::new(None), Vec::new());
    met.insert(starts, &mut reached);
    let runs = arcs.of_first();
    let (mut next, mut charged) = (0, 0);
    while next < reached.len() {
        budget.check()?;
        let bytes = reached.len() * size_of::<Code>();
        budget.charge(bytes - charged)?;
        charged = bytes;
        let nodes = reached[next..reached.len().min(next + CHECK_NODES)].to_vec();
        runs.iter().for_each(|run| run.ends_of(&nodes, |ends| met.insert(ends, &mut reached)));
        next += nodes.len();
    }
    Ok(reached)
}
