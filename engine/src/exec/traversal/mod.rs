//! A recursion as a walk through a graph, from many sources at once.
//!
//! Rows are not kept as tuples. A node has a bit for each value of the carried column, its *sources*, and to walk along
//! an edge is to unite the sets of its two ends, 64 sources at a time (Then et al., The More the Merrier: Efficient
//! Multi-Source Graph Traversal, VLDB 2014). Sources never meet: they are cut into parts that fit the cache, and each
//! part walks on its own, on any thread.

mod graph;
mod reach;
mod rows;
mod walk;

use self::graph::{Arcs, Graph};
use self::reach::reach;
use self::rows::assemble;
use self::walk::{Seeds, walk};
use super::edges::codes;
use super::error::ExecError;
use super::stratum::View;
use crate::data::{Code, Run, parallel};
use crate::plan::{Access, EdgeSource, Traversal, Version};

/// Graphs with more nodes than this are walked in narrow parts, so that all sets of a part take no more than about 32 MiB.
const WIDE_NODES: usize = 1 << 18;

impl View<'_> {
    /// Whether there is enough to do to leave tuples for sets. From one source each edge is looked at once, and in sets
    /// that costs no more.
    pub(super) fn is_worth_walking(&self, traversal: &Traversal, known: usize) -> bool {
        // What is stored is read as far as the walk goes.
        let derived_from = |source: &EdgeSource| match source {
            EdgeSource::Relation { .. } => 0,
            EdgeSource::Rule(_) => self.edges_read(source),
        };
        let derived: usize = traversal.edges.iter().map(|edges| derived_from(&edges.source)).sum();
        if known < self.thresholds.walk_rows {
            return known >= self.thresholds.lone_walk_rows
                && derived == 0
                && self.is_from_one_source(traversal);
        }
        known.saturating_mul(self.thresholds.walk_edges_per_row) >= derived
    }

    /// Whether all rows have the same carried value, or none.
    pub(in crate::exec) fn is_from_one_source(&self, traversal: &Traversal) -> bool {
        let Some(carried) = traversal.carried else { return true };
        let runs = self.runs(Access { relation: traversal.relation, version: Version::All });
        codes(runs.iter(), carried).windows(2).all(|pair| pair[0] == pair[1])
    }

    /// Walks until nothing new is found. `stable` rows have been taken one step further already, `delta` rows have not;
    /// the answer has all of them.
    pub(super) fn traverse(
        &self,
        traversal: &Traversal,
        stable: &[Run],
        delta: &[Run],
    ) -> Result<Run, ExecError> {
        let seeds = || stable.iter().chain(delta);
        let sources = traversal.carried.map(|carried| distinct(seeds(), carried));
        let arcs = Arcs::new(traversal, sources.as_deref(), self)?;
        let starts = codes(seeds(), traversal.node);
        let sources = match sources {
            Some(sources) if sources.len() != 1 => sources,
            only => {
                // All nodes have the same set: which are reached is the whole answer.
                let nodes = reach(&arcs, &starts, self.budget)?;
                let rows = nodes.len();
                self.budget.charge(2 * rows * size_of::<Code>())?;
                let mut columns = vec![nodes];
                if let (Some(only), Some(carried)) = (only, traversal.carried) {
                    columns.insert(carried, vec![only[0]; rows]);
                }
                return Ok(Run::new(columns, rows));
            }
        };
        let graph = Graph::explore(&arcs, &starts, self.budget)?;
        let seeds = |width| Seeds::new(traversal, [stable, delta], &sources, &graph, width, self.budget);
        if graph.nodes() > WIDE_NODES || sources.len() <= 64 {
            self.walk_all::<1>(traversal, &graph, &sources, &seeds(64)?)
        } else {
            self.walk_all::<8>(traversal, &graph, &sources, &seeds(512)?)
        }
    }

    fn walk_all<const W: usize>(
        &self,
        traversal: &Traversal,
        graph: &Graph,
        sources: &[Code],
        seeds: &Seeds,
    ) -> Result<Run, ExecError> {
        // A lane walks its parts one after the other, over the same memory.
        const LANES: usize = 16;
        let lanes = parallel::lanes(seeds.parts(), seeds.parts().div_ceil(LANES));
        let lanes = parallel::map(lanes, |parts| walk::<W>(graph, seeds, parts, self.budget));
        let parts = lanes.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        let carried_first = traversal.carried == Some(0);
        assemble(parts, sources, graph, carried_first, self.budget)
    }
}

/// The codes of a column, each once, in ascending order.
fn distinct<'r>(runs: impl Iterator<Item = &'r Run>, column: usize) -> Vec<Code> {
    let mut codes = codes(runs, column);
    codes.sort_unstable();
    codes.dedup();
    codes
}
