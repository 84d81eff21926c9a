//! A search from one of two ends, level by level.

use super::arcs::{ArcRun, Arcs};
use super::met::Met;
use crate::budget::Budget;
use crate::data::Code;
use crate::exec::error::ExecError;

/// Nodes whose edges are followed before the other end may have its turn.
const STEP_NODES: usize = 64;

/// The search from one end.
pub(crate) struct End<'a> {
    runs: Vec<&'a ArcRun>,
    met: Met,
    /// Nodes in the order in which they were found: those of a level, then those that are one edge farther.
    found: Vec<Code>,
    /// Where each level begins in them, but for the one that is being found.
    levels: Vec<usize>,
    /// How many of them have had their edges followed,
    next: usize,
    /// and how many edges that were,
    pub(super) followed: usize,
    /// and are in the next step.
    pub(super) ahead: usize,
}

impl End<'_> {
    /// The search from some nodes, which are its first level.
    pub(super) fn new<'a>(arcs: &'a Arcs, starts: &[Code], dense_range: Option<(Code, usize)>) -> End<'a> {
        let (mut met, mut found) = (Met::new(dense_range), Vec::new());
        met.insert(starts, &mut found);
        let mut end =
            End { runs: arcs.of_first(), met, found, levels: vec![0], next: 0, followed: 0, ahead: 0 };
        end.begin_level();
        end.ahead = end.edges(end.nodes());
        end
    }

    /// Whether all that can be found is.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.found.len()
    }

    /// Whether a node was found.
    pub(super) fn has(&self, node: Code) -> bool {
        self.met.has(node)
    }

    /// Levels that are complete.
    pub(super) fn depth(&self) -> usize {
        self.levels.len() - 1
    }

    /// The nodes of a level that is complete.
    pub(super) fn level(&self, level: usize) -> &[Code] {
        &self.found[self.levels[level]..self.levels[level + 1]]
    }

    /// Whose edges are followed next: nodes of the last level that is complete.
    fn nodes(&self) -> &[Code] {
        let level_end = self.levels[self.depth()];
        &self.found[self.next..level_end.min(self.next + STEP_NODES)]
    }

    /// How many edges begin in some nodes.
    pub(super) fn edges(&self, nodes: &[Code]) -> usize {
        self.runs.iter().map(|run| run.count_of(nodes)).sum()
    }

    /// Follows the edges of some nodes; answers which were not found before.
    pub(super) fn step(&mut self, budget: &Budget) -> Result<&[Code], ExecError> {
        let (nodes, known) = (self.nodes().to_vec(), self.found.len());
        let held = self.memory_bytes();
        for run in &self.runs {
            run.ends_of(&nodes, |ends| self.met.insert(ends, &mut self.found));
        }
        budget.charge(self.memory_bytes() - held)?;
        self.next += nodes.len();
        self.begin_level();
        self.followed += self.ahead;
        self.ahead = self.edges(self.nodes());
        Ok(&self.found[known..])
    }

    /// Follows the edges of the last level; answers the next one.
    pub(super) fn next_level(&mut self, budget: &Budget) -> Result<&[Code], ExecError> {
        let depth = self.depth();
        while self.depth() == depth && !self.is_done() {
            self.step(budget)?;
            budget.check()?;
        }
        Ok(&self.found[self.next..])
    }

    /// What was found is the next level, if the last one is done.
    fn begin_level(&mut self) {
        if self.levels.last() == Some(&self.next) && !self.is_done() {
            self.levels.push(self.found.len());
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.met.memory_bytes() + self.found.capacity() * size_of::<Code>()
    }
}
