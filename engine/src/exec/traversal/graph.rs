//! The graph that is walked through: what can be reached from where the walk starts, in the order of the walk.

use std::sync::Arc;

use super::super::edges::{derived, edge_runs};
use super::super::error::ExecError;
use super::super::stratum::View;
use crate::budget::Budget;
use crate::data::keys::{Key, KeyNumbers, KeySet};
use crate::data::{Code, Neighbours, RowIndex, Run};
use crate::plan::Traversal;

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

struct ArcRun {
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
    fn new(run: Run, from: usize, to: usize) -> ArcRun {
        let edges = match run.live() {
            None => EdgeIndex::Whole(run.neighbours(from, to)),
            Some(_) => EdgeIndex::Masked(run.index(&[from])),
        };
        ArcRun { run, from, to, edges }
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

    /// Calls `visit` with the end of each edge that begins in one of these nodes.
    #[inline]
    fn edges_of(&self, nodes: &[Code], mut visit: impl FnMut(Code)) {
        match &self.edges {
            EdgeIndex::Whole(neighbours) => neighbours.of_all(nodes, visit),
            EdgeIndex::Masked(_) => nodes.iter().for_each(|node| self.from(*node, &mut visit)),
        }
    }
}

impl Arcs {
    /// Finds the edges, and which of the sources may walk along them.
    pub(super) fn new(
        traversal: &Traversal,
        sources: Option<&[Code]>,
        view: &View<'_>,
    ) -> Result<Arcs, ExecError> {
        let mut groups = Vec::new();
        for edges in &traversal.edges {
            let (runs, [from, to]) = edge_runs(&edges.source, view)?;
            let runs = runs.into_iter().filter(|run| !run.is_empty());
            let runs = runs.map(|run| ArcRun::new(run, from, to)).collect();
            let guard = match &edges.guard {
                None => None,
                Some(rule) => {
                    let passing = super::distinct(std::iter::once(&derived(rule, view)?), 0);
                    let passes = |source: &Code| passing.binary_search(source).is_ok();
                    Some(sources.unwrap_or_default().iter().map(passes).collect::<Vec<bool>>())
                        .filter(|passes| !passes.iter().all(|passes| *passes))
                }
            };
            groups.push(ArcGroup { runs, guard });
        }
        Ok(Arcs { groups })
    }

    /// Calls `visit(group, end)` for each edge that begins in a node.
    #[inline]
    fn from(&self, node: Code, visit: &mut impl FnMut(usize, Code)) {
        for (number, group) in self.groups.iter().enumerate() {
            group.runs.iter().for_each(|run| run.from(node, |end| visit(number, end)));
        }
    }

    /// The least and the largest code of any node.
    fn range(&self, starts: &[Code]) -> (Code, Code) {
        let columns = || self.columns().chain([starts]);
        let least = columns().filter_map(|column| column.iter().min()).min();
        let largest = columns().filter_map(|column| column.iter().max()).max();
        (least.copied().unwrap_or(0), largest.copied().unwrap_or(0))
    }

    /// Number of edges.
    fn edges(&self) -> usize {
        self.groups.iter().flat_map(|group| &group.runs).map(|run| run.run.stored_len()).sum()
    }

    fn columns(&self) -> impl Iterator<Item = &[Code]> {
        self.groups
            .iter()
            .flat_map(|group| &group.runs)
            .flat_map(|arcs| [arcs.run.column(arcs.from), arcs.run.column(arcs.to)])
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
    /// The nodes that a walk from `starts` comes to, without the edges.
    pub(super) fn reach(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Vec<Code>, ExecError> {
        let is_open = |group: &&ArcGroup| group.guard.as_ref().is_none_or(|guard| guard[0]);
        let runs: Vec<&ArcRun> = arcs.groups.iter().filter(is_open).flat_map(|group| &group.runs).collect();
        let mut seen = Seen::new(arcs, starts, budget)?;
        let mut reached: Vec<Code> = starts.iter().copied().filter(|start| seen.insert(*start)).collect();
        let (mut next, mut charged) = (0, 0);
        while next < reached.len() {
            budget.check()?;
            let bytes = reached.len() * size_of::<Code>();
            budget.charge(bytes - charged)?;
            charged = bytes;
            let nodes = reached[next..reached.len().min(next + CHECK_NODES)].to_vec();
            for run in &runs {
                run.edges_of(&nodes, |end| {
                    if seen.insert(end) {
                        reached.push(end);
                    }
                });
            }
            next += nodes.len();
        }
        Ok(reached)
    }

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

/// Nodes that were met.
enum Seen {
    /// A bit each, from the first code on.
    Dense {
        first: Code,
        bits: Vec<u64>,
    },
    Hashed(KeySet<u64>),
}

impl Seen {
    fn new(arcs: &Arcs, starts: &[Code], budget: &Budget) -> Result<Seen, ExecError> {
        let (first, last) = arcs.range(starts);
        match is_dense(arcs, starts, first, last) {
            Some(range) => {
                budget.charge(range / 8)?;
                Ok(Seen::Dense { first, bits: vec![0; range.div_ceil(64)] })
            }
            None => Ok(Seen::Hashed(KeySet::default())),
        }
    }

    /// Whether it was not met before.
    #[inline]
    fn insert(&mut self, code: Code) -> bool {
        match self {
            Seen::Dense { first, bits } => {
                let place = (code - *first) as usize;
                let (word, bit) = (&mut bits[place / 64], 1 << (place % 64));
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            Seen::Hashed(codes) => {
                let key = u64::from(code);
                codes.insert(key, key.hash())
            }
        }
    }
}

/// The size of a table by code, if that is not much larger than what is in it.
fn is_dense(arcs: &Arcs, starts: &[Code], first: Code, last: Code) -> Option<usize> {
    let range = (last - first) as usize + 1;
    (range <= (arcs.edges() + starts.len()).saturating_mul(4) + 1_024).then_some(range)
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
        let (first, last) = arcs.range(starts);
        match is_dense(arcs, starts, first, last) {
            Some(range) => {
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
            Numbers::Hashed { first, then } => then.get(first.get(&u64::from(code))? as usize).copied(),
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
