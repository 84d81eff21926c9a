//! Whether a search forward from some nodes and one backward from others meet: neither goes farther than it must.
//!
//! It goes on from that end from which fewer edges have been followed, those that come next included, so all of it takes about
//! twice what the end with less to see takes alone, and where both see much they have met long before (Pohl, *Bi-directional
//! Search*, Machine Intelligence 6, 1971).

use super::graph::{ArcRun, Arcs};
use super::met::Met;
use crate::budget::Budget;
use crate::data::Code;
use crate::exec::error::ExecError;
use crate::exec::tables::Tables;
use crate::plan::Walk;

/// Nodes whose edges are followed before the other end may have its turn.
const STEP_NODES: usize = 64;

/// Of some pairs of ends, between which there is a way along the edges of two walks, which are the same ones in opposite directions. A
/// pair are nodes from which the first walk starts, and such of the second.
pub(crate) fn connected(
    tables: &Tables<'_>,
    walks: [&Walk; 2],
    pairs: &[[Vec<Code>; 2]],
) -> Result<Vec<bool>, ExecError> {
    let arcs = [Arcs::new(walks[0], None, tables)?, Arcs::new(walks[1], None, tables)?];
    pairs.iter().map(|starts| do_meet(&arcs, starts, tables.budget)).collect()
}

fn do_meet(arcs: &[Arcs; 2], starts: &[Vec<Code>; 2], budget: &Budget) -> Result<bool, ExecError> {
    let dense_range = arcs[0].dense_range(&starts.concat());
    let mut here = End::new(&arcs[0], &starts[0], dense_range);
    let mut there = End::new(&arcs[1], &starts[1], dense_range);
    let _held = budget.hold(here.memory_bytes() + there.memory_bytes())?;
    if here.found.iter().any(|node| there.met.has(*node)) {
        return Ok(true);
    }
    while !here.is_done() && !there.is_done() {
        budget.check()?;
        if there.followed + there.ahead < here.followed + here.ahead {
            std::mem::swap(&mut here, &mut there);
        }
        if here.step(budget)?.iter().any(|node| there.met.has(*node)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The search from one end.
struct End<'a> {
    runs: Vec<&'a ArcRun>,
    met: Met,
    /// Nodes in the order in which they were found.
    found: Vec<Code>,
    /// How many of them have had their edges followed,
    next: usize,
    /// and how many edges that were,
    followed: usize,
    /// and are in the next step.
    ahead: usize,
}

impl End<'_> {
    fn new<'a>(arcs: &'a Arcs, starts: &[Code], dense_range: Option<(Code, usize)>) -> End<'a> {
        let (mut met, mut found) = (Met::new(dense_range), Vec::new());
        met.insert(starts, &mut found);
        let mut end = End { runs: arcs.of_first(), met, found, next: 0, followed: 0, ahead: 0 };
        end.ahead = end.edges(end.nodes());
        end
    }

    /// Whether all that can be found is.
    fn is_done(&self) -> bool {
        self.next == self.found.len()
    }

    /// Whose edges are followed next.
    fn nodes(&self) -> &[Code] {
        &self.found[self.next..self.found.len().min(self.next + STEP_NODES)]
    }

    fn edges(&self, nodes: &[Code]) -> usize {
        self.runs.iter().map(|run| run.count_of(nodes)).sum()
    }

    /// Follows the edges of some nodes; answers which were not found before.
    fn step(&mut self, budget: &Budget) -> Result<&[Code], ExecError> {
        let (nodes, known) = (self.nodes().to_vec(), self.found.len());
        let held = self.memory_bytes();
        for run in &self.runs {
            run.ends_of(&nodes, |ends| self.met.insert(ends, &mut self.found));
        }
        budget.charge(self.memory_bytes() - held)?;
        self.next += nodes.len();
        self.followed += self.ahead;
        self.ahead = self.edges(self.nodes());
        Ok(&self.found[known..])
    }

    fn memory_bytes(&self) -> usize {
        self.met.memory_bytes() + self.found.capacity() * size_of::<Code>()
    }
}
