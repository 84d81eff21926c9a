//! The graph that is walked through: what can be reached from where the walk starts, in the order of the walk.

use std::sync::Arc;

use super::shortest::EdgeRuns;
use crate::budget::Budget;
use crate::data::keys::KeyNumbers;
use crate::data::{Code, Neighbours, Pairing, RowIndex, Run, bounds, dense_range};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{derived, distinct_codes, edge_runs};
use crate::exec::tables::Tables;
use crate::plan::Walk;

/// Nodes that are explored between two looks at the budget.
const CHECK_NODES: usize = 1_024;

/// The edges of all rules, as they are stored.
pub(super) struct Arcs {
    /// Edges with the same guard.
    groups: Vec<ArcGroup>,
}

struct ArcGroup {
    runs: Vec<ArcRun>,
    /// Which sources may walk here, by their position; all if `None`.
    guard: Option<Vec<bool>>,
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

/// The part of the graph that a walk can come to. Nodes are numbers, small ones first on the way.
pub(super) struct Graph {
    pub(super) codes: Vec<Code>,
    numbers: Numbers,
    pub(super) groups: Vec<Adjacency>,
}

/// The edges of a group: those of node `n` end in `ends[starts[n]..starts[n + 1]]`.
pub(super) struct Adjacency {
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// Which sources may walk here, by their position; all if `None`.
    pub(super) guard: Option<Vec<bool>>,
}

impl Adjacency {
    /// Where the edges of a node end.
    #[inline]
    pub(super) fn ends(&self, node: usize) -> &[u32] {
        &self.ends[self.starts[node] as usize..self.starts[node + 1] as usize]
    }
}

impl Graph {
    /// Everything that a walk from `starts` comes to.
    pub(super) fn explore(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Graph, ExecError> {
        let mut found = Found::new(arcs, starts, budget)?;
        let mut groups: Vec<Adjacency> = arcs
            .groups
            .iter()
            .map(|group| Adjacency { starts: vec![0], ends: Vec::new(), guard: group.guard.clone() })
            .collect();
        let mut next = 0;
        let mut charged = 0;
        while next < found.codes.len() {
            if next % CHECK_NODES == 0 {
                let edges: usize = groups.iter().map(|group| group.ends.len()).sum();
                // Codes, starts, order, and everything once more while it is put in order.
                let bytes = (found.codes.len() * (groups.len() + 4) + 2 * edges) * size_of::<u32>();
                budget.charge(bytes - charged)?;
                charged = bytes;
                budget.check()?;
            }
            let node = found.codes[next];
            arcs.from(node, &mut |group, end| {
                let end = found.number(end);
                groups[group].ends.push(end);
            });
            for group in &mut groups {
                group.starts.push(group.ends.len() as u32);
            }
            next += 1;
        }
        let order = order(&groups, found.codes.len(), budget)?;
        Ok(Graph {
            codes: order.iter().map(|node| found.codes[*node as usize]).collect(),
            groups: renumber(&groups, &order, &mut found.numbers, budget)?,
            numbers: found.numbers,
        })
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.codes.len()
    }

    /// The number of a node that was reached.
    pub(super) fn number(&self, code: Code) -> Option<u32> {
        self.numbers.get(code)
    }
}

/// Reverse postorder: along an edge numbers grow, but where it closes a cycle. A sweep in this order takes a set as far
/// as it goes without one (Kam and Ullman, Global Data Flow Analysis and Iterative Algorithms, 1976).
fn order(groups: &[Adjacency], nodes: usize, budget: &Budget) -> Result<Vec<u32>, ExecError> {
    let mut is_seen = vec![false; nodes];
    let mut order = Vec::with_capacity(nodes);
    // A node, and how far its edges have been followed: the group and the position in it.
    let mut path: Vec<(u32, usize, u32)> = Vec::new();
    for root in 0..nodes as u32 {
        if std::mem::replace(&mut is_seen[root as usize], true) {
            continue;
        }
        path.push((root, 0, 0));
        while let Some((node, group, position)) = path.last_mut() {
            let Some(adjacency) = groups.get(*group) else {
                order.push(*node);
                path.pop();
                if order.len() % CHECK_NODES == 0 {
                    budget.check()?;
                }
                continue;
            };
            match adjacency.ends(*node as usize).get(*position as usize) {
                None => {
                    *group += 1;
                    *position = 0;
                }
                Some(&end) => {
                    *position += 1;
                    if !std::mem::replace(&mut is_seen[end as usize], true) {
                        path.push((end, 0, 0));
                    }
                }
            }
        }
    }
    order.reverse();
    Ok(order)
}

/// The same edges between nodes that are numbered by their place in `order`.
fn renumber(
    groups: &[Adjacency],
    order: &[u32],
    numbers: &mut Numbers,
    budget: &Budget,
) -> Result<Vec<Adjacency>, ExecError> {
    let mut place = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old as usize] = new as u32;
    }
    numbers.map(&place);
    let renumbered = groups.iter().map(|group| {
        let mut starts = Vec::with_capacity(group.starts.len());
        let mut ends = Vec::with_capacity(group.ends.len());
        starts.push(0);
        for (new, old) in order.iter().enumerate() {
            if new % CHECK_NODES == 0 {
                budget.check()?;
            }
            ends.extend(group.ends(*old as usize).iter().map(|end| place[*end as usize]));
            starts.push(ends.len() as u32);
        }
        Ok(Adjacency { starts, ends, guard: group.guard.clone() })
    });
    renumbered.collect()
}

/// Nodes in the order in which they are found.
struct Found {
    codes: Vec<Code>,
    numbers: Numbers,
}

impl Found {
    fn new(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Found, ExecError> {
        let mut found = Found { codes: Vec::new(), numbers: Numbers::new(arcs, starts, budget)? };
        starts.iter().for_each(|start| {
            found.number(*start);
        });
        Ok(found)
    }

    #[inline]
    fn number(&mut self, code: Code) -> u32 {
        let next = self.codes.len() as u32;
        let number = self.numbers.get_or(code, next);
        if number == next {
            self.codes.push(code);
        }
        number
    }
}

/// From codes to numbers.
enum Numbers {
    /// By position, from the first code on; one more than the number, and 0 for none.
    Dense { first: Code, numbers: Vec<u32> },
    /// Codes that lie far apart have a first number, and that has another.
    Hashed { first: KeyNumbers<u64>, then: Vec<u32> },
}

impl Numbers {
    fn new(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Numbers, ExecError> {
        match arcs.dense_range(starts) {
            Some((first, range)) => {
                budget.charge(range * size_of::<u32>())?;
                Ok(Numbers::Dense { first, numbers: vec![0; range] })
            }
            None => Ok(Numbers::Hashed { first: KeyNumbers::default(), then: Vec::new() }),
        }
    }

    #[inline]
    fn get_or(&mut self, code: Code, next: u32) -> u32 {
        match self {
            Numbers::Dense { first, numbers } => {
                let number = &mut numbers[(code - *first) as usize];
                if *number == 0 {
                    *number = next + 1;
                }
                *number - 1
            }
            Numbers::Hashed { first, .. } => first.number(u64::from(code)),
        }
    }

    fn get(&self, code: Code) -> Option<u32> {
        match self {
            Numbers::Dense { first, numbers } => {
                numbers.get(code.checked_sub(*first)? as usize)?.checked_sub(1)
            }
            Numbers::Hashed { first, then } => then.get(*first.get(&u64::from(code))? as usize).copied(),
        }
    }

    /// Gives each number another.
    fn map(&mut self, place: &[u32]) {
        match self {
            Numbers::Dense { numbers, .. } => {
                for number in numbers.iter_mut().filter(|number| **number != 0) {
                    *number = place[*number as usize - 1] + 1;
                }
            }
            Numbers::Hashed { then, .. } => *then = place.to_vec(),
        }
    }
}
