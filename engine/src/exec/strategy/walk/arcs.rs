//! Edges that are walked along, as they are stored.

use std::sync::Arc;

use crate::budget::Budget;
use crate::data::{Code, Neighbours, Pairing, RowIndex, Run, bounds, dense_range};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{derived, distinct_codes, edge_runs};
use crate::exec::tables::Tables;
use crate::plan::Walk;

/// Runs that have edges in two of their columns.
pub(crate) struct EdgeRuns {
    /// The runs.
    pub(crate) runs: Vec<Run>,
    /// The column in which edges begin,
    pub(crate) from: usize,
    /// and the one in which they end.
    pub(crate) to: usize,
}

/// The edges of all rules, as they are stored.
pub(super) struct Arcs {
    /// Edges with the same guard.
    pub(super) groups: Vec<ArcGroup>,
}

/// Edges with the same guard.
pub(super) struct ArcGroup {
    runs: Vec<ArcRun>,
    /// Which sources may walk here, by their position; all if `None`.
    pub(super) guard: Option<Vec<bool>>,
}

pub(super) struct ArcRun {
    run: Run,
    from: usize,
    to: usize,
    edges: EdgeIndex,
}

enum EdgeIndex {
    /// No row was deleted.
    Whole(Arc<Neighbours>),
    /// Each row has to be looked at.
    Masked(Arc<RowIndex>),
}

impl ArcRun {
    fn new(run: Run, from: usize, to: usize, budget: &Budget) -> Result<ArcRun, ExecError> {
        let edges = match run.live() {
            None => {
                let cost = run.beside_cost(from, to, Pairing::Neighbours);
                EdgeIndex::Whole(budget.build(cost, |go_on| run.neighbours(from, to, go_on))?)
            }
            Some(_) => EdgeIndex::Masked(budget.index(&run, &[from])?),
        };
        Ok(ArcRun { run, from, to, edges })
    }

    /// Calls `visit` with the end of each edge that begins in a node.
    #[inline]
    fn from(&self, node: Code, mut visit: impl FnMut(Code)) {
        match &self.edges {
            EdgeIndex::Whole(neighbours) => neighbours.of(node).iter().for_each(|end| visit(*end)),
            EdgeIndex::Masked(index) => {
                let ends = self.run.column(self.to);
                let rows = index.rows()[index.range(node)].iter().map(|row| *row as usize);
                rows.filter(|row| self.run.is_live(*row)).for_each(|row| visit(ends[row]));
            }
        }
    }

    /// How many edges begin in these nodes, those that were deleted included.
    pub(super) fn count_of(&self, nodes: &[Code]) -> usize {
        let count = |node: &Code| match &self.edges {
            EdgeIndex::Whole(neighbours) => neighbours.of(*node).len(),
            EdgeIndex::Masked(index) => index.range(*node).len(),
        };
        nodes.iter().map(count).sum()
    }

    /// Calls `visit` with the ends of the edges that begin in these nodes, some at a time.
    #[inline]
    pub(super) fn ends_of(&self, nodes: &[Code], mut visit: impl FnMut(&[Code])) {
        match &self.edges {
            EdgeIndex::Whole(neighbours) => neighbours.of_all(nodes, |_, ends| {
                visit(ends);
                true
            }),
            EdgeIndex::Masked(_) => nodes.iter().for_each(|node| self.from(*node, |end| visit(&[end]))),
        }
    }
}

impl Arcs {
    /// Finds the edges, and which of the sources may walk along them.
    pub(super) fn new(walk: &Walk, sources: Option<&[Code]>, tables: &Tables<'_>) -> Result<Arcs, ExecError> {
        let mut groups = Vec::new();
        for edges in &walk.edges {
            let (runs, [from, to]) = edge_runs(&edges.source, tables)?;
            let runs = runs.into_iter().filter(|run| !run.is_empty());
            let runs = runs.map(|run| ArcRun::new(run, from, to, tables.budget));
            let runs = runs.collect::<Result<_, _>>()?;
            let guard = match &edges.guard {
                None => None,
                Some(rule) => {
                    let passing = distinct_codes(std::iter::once(&derived(rule, tables)?), 0);
                    let passes = |source: &Code| passing.binary_search(source).is_ok();
                    Some(sources.unwrap_or_default().iter().map(passes).collect::<Vec<bool>>())
                        .filter(|passes| !passes.iter().all(|passes| *passes))
                }
            };
            groups.push(ArcGroup { runs, guard });
        }
        Ok(Arcs { groups })
    }

    /// Edges of several kinds, or the same in the opposite direction.
    pub(super) fn of_kinds(
        kinds: &[Vec<EdgeRuns>],
        is_turned: bool,
        budget: &Budget,
    ) -> Result<Arcs, ExecError> {
        let arcs = |edges: &EdgeRuns| {
            let [from, to] = if is_turned { [edges.to, edges.from] } else { [edges.from, edges.to] };
            let runs = edges.runs.iter().filter(|run| !run.is_empty());
            runs.map(|run| ArcRun::new(run.clone(), from, to, budget)).collect::<Result<Vec<_>, _>>()
        };
        let group = |kind: &Vec<EdgeRuns>| {
            let runs = kind.iter().map(arcs).collect::<Result<Vec<_>, _>>()?;
            Ok(ArcGroup { runs: runs.into_iter().flatten().collect(), guard: None })
        };
        Ok(Arcs { groups: kinds.iter().map(group).collect::<Result<_, ExecError>>()? })
    }

    /// Calls `visit(group, end)` for each edge that begins in a node.
    #[inline]
    pub(super) fn from(&self, node: Code, visit: &mut impl FnMut(usize, Code)) {
        for (number, group) in self.groups.iter().enumerate() {
            group.runs.iter().for_each(|run| run.from(node, |end| visit(number, end)));
        }
    }

    /// The first code of any node and how many follow, if these are not many more than there are edges.
    pub(super) fn dense_range(&self, starts: &[Code]) -> Option<(Code, usize)> {
        let runs = self.groups.iter().flat_map(|group| &group.runs);
        let of_runs = runs.flat_map(|arcs| [arcs.from, arcs.to].map(|column| arcs.run.bounds(column)));
        dense_range(of_runs.chain([bounds(starts)]), self.edges() + starts.len())
    }

    /// The edges that the first source may take.
    pub(super) fn of_first(&self) -> Vec<&ArcRun> {
        let is_open = |group: &&ArcGroup| group.guard.as_ref().is_none_or(|guard| guard[0]);
        self.groups.iter().filter(is_open).flat_map(|group| &group.runs).collect()
    }

    /// Number of edges.
    fn edges(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.runs).map(|run| run.run.stored_len()).sum()
    }
}
