//! The walk itself: sets move along edges until none grows.

use std::ops::Range;

use super::graph::Graph;
use super::rows::PartRows;
use crate::budget::Budget;
use crate::data::{Code, Run};
use crate::exec::error::ExecError;
use crate::plan::Walk;

/// Nodes that move their sets on between two looks at the budget.
const CHECK_MOVES: usize = 4_096;

/// What is known when the walk begins, part by part.
pub(super) struct Seeds {
    /// Sources of a part.
    width: usize,
    /// The seeds of part `p` are `seeds[starts[p]..starts[p + 1]]`.
    starts: Vec<usize>,
    seeds: Vec<Seed>,
}

#[derive(Clone, Copy, Default)]
struct Seed {
    source: u32,
    node: u32,
    /// Whether it has not been taken a step further yet.
    is_new: bool,
}

impl Seeds {
    /// Stable and new rows as seeds, in parts of so many sources.
    pub(super) fn new(
        walk: &Walk,
        [stable, delta]: [&[Run]; 2],
        sources: &[Code],
        graph: &Graph,
        width: usize,
        budget: &Budget,
    ) -> Result<Seeds, ExecError> {
        let mut unordered = Vec::new();
        for (runs, is_new) in [(stable, false), (delta, true)] {
            for run in runs {
                budget.charge(2 * run.len() * size_of::<Seed>())?;
                let rows = run.live_rows();
                let carried = walk.carried.map_or(&[] as &[Code], |carried| &rows.columns[carried]);
                for (source, node) in carried.iter().zip(&rows.columns[walk.node]) {
                    if unordered.len() % CHECK_MOVES == 0 {
                        budget.check()?;
                    }
                    // Sources and nodes were collected from these very rows.
                    if let (Ok(source), Some(node)) = (sources.binary_search(source), graph.number(*node)) {
                        unordered.push(Seed { source: source as u32, node, is_new });
                    }
                }
            }
        }
        let mut starts = vec![0; sources.len().div_ceil(width) + 1];
        for seed in &unordered {
            starts[seed.source as usize / width + 1] += 1;
        }
        for part in 1..starts.len() {
            starts[part] += starts[part - 1];
        }
        let mut next = starts.clone();
        let mut seeds = vec![Seed::default(); unordered.len()];
        for seed in unordered {
            let place = &mut next[seed.source as usize / width];
            seeds[*place] = seed;
            *place += 1;
        }
        Ok(Seeds { width, starts, seeds })
    }

    /// Number of parts.
    pub(super) fn parts(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, part: usize) -> &[Seed] {
        &self.seeds[self.starts[part]..self.starts[part + 1]]
    }
}

/// Walks some parts to their ends. Their nodes are in the order of this list of all of them, if there is one.
pub(super) fn sweep<const W: usize>(
    graph: &Graph,
    seeds: &Seeds,
    in_order: Option<&[u32]>,
    parts: Range<usize>,
    budget: &Budget,
) -> Result<Vec<PartRows<W>>, ExecError> {
    let nodes = graph.nodes();
    let _held = budget.hold(2 * nodes * size_of::<[u64; W]>() + nodes / 4)?;
    let mut sweep = Sweep::<W>::new(nodes);
    parts
        .map(|part| {
            sweep.begin(seeds.of(part), seeds.width);
            sweep.guards(graph, part * seeds.width);
            sweep.run(graph, budget)?;
            let rows = sweep.finish(graph, in_order, part * seeds.width);
            budget.charge(rows.memory_bytes())?;
            Ok(rows)
        })
        .collect()
}

/// The sets of one part.
struct Sweep<const W: usize> {
    /// All sources of a node.
    known: Vec<[u64; W]>,
    /// Those that have to be moved on.
    fresh: Vec<[u64; W]>,
    /// Nodes with fresh sources, a bit each.
    pending: Vec<u64>,
    /// Nodes with any sources, a bit each.
    touched: Vec<u64>,
    /// For each group of edges the sources that may take it.
    guards: Vec<Option<[u64; W]>>,
}

impl<const W: usize> Sweep<W> {
    fn new(nodes: usize) -> Self {
        Sweep {
            known: vec![[0; W]; nodes],
            fresh: vec![[0; W]; nodes],
            pending: vec![0; nodes.div_ceil(64)],
            touched: vec![0; nodes.div_ceil(64)],
            guards: Vec::new(),
        }
    }

    fn begin(&mut self, seeds: &[Seed], width: usize) {
        for seed in seeds {
            let (node, source) = (seed.node as usize, seed.source as usize % width);
            self.known[node][source / 64] |= 1 << (source % 64);
            self.touched[node / 64] |= 1 << (node % 64);
            if seed.is_new {
                self.fresh[node][source / 64] |= 1 << (source % 64);
                self.pending[node / 64] |= 1 << (node % 64);
            }
        }
    }

    fn guards(&mut self, graph: &Graph, first_source: usize) {
        let mask = |guard: &Vec<bool>| {
            let mut mask = [0_u64; W];
            for (source, passes) in guard.iter().skip(first_source).take(64 * W).enumerate() {
                mask[source / 64] |= u64::from(*passes) << (source % 64);
            }
            mask
        };
        self.guards = graph.groups.iter().map(|group| group.guard.as_ref().map(mask)).collect();
    }

    /// Sweeps over the pending nodes, in order, until there are none.
    fn run(&mut self, graph: &Graph, budget: &Budget) -> Result<(), ExecError> {
        let mut moves = 0_usize;
        let mut first = 0;
        loop {
            let Some(start) = self.pending[first..].iter().position(|nodes| *nodes != 0) else {
                return Ok(());
            };
            let start = first + start;
            // Where the next sweep has to begin.
            first = self.pending.len();
            for word in start..self.pending.len() {
                while self.pending[word] != 0 {
                    let node = word * 64 + self.pending[word].trailing_zeros() as usize;
                    self.pending[word] &= self.pending[word] - 1;
                    first = first.min(self.move_on(node, graph, word));
                    moves += 1;
                    if moves.is_multiple_of(CHECK_MOVES) {
                        budget.check()?;
                    }
                }
            }
            if first == self.pending.len() {
                return Ok(());
            }
        }
    }

    /// Unites the fresh sources of a node with those of its neighbours. Answers the first word of pending nodes that
    /// the sweep has already passed, or `usize::MAX`.
    #[inline]
    fn move_on(&mut self, node: usize, graph: &Graph, sweep: usize) -> usize {
        let mut missed = usize::MAX;
        let fresh = std::mem::replace(&mut self.fresh[node], [0; W]);
        for (group, guard) in graph.groups.iter().zip(&self.guards) {
            let moving = match guard {
                None => fresh,
                Some(guard) => std::array::from_fn(|word| fresh[word] & guard[word]),
            };
            for &end in group.ends(node) {
                let end = end as usize;
                let known = &mut self.known[end];
                let mut new = [0; W];
                let mut any = 0;
                for word in 0..W {
                    new[word] = moving[word] & !known[word];
                    any |= new[word];
                }
                if any == 0 {
                    continue;
                }
                let pending = &mut self.fresh[end];
                for word in 0..W {
                    known[word] |= new[word];
                    pending[word] |= new[word];
                }
                self.pending[end / 64] |= 1 << (end % 64);
                self.touched[end / 64] |= 1 << (end % 64);
                if end / 64 < sweep {
                    missed = missed.min(end / 64);
                }
            }
        }
        missed
    }

    /// Takes the rows out, and leaves everything empty for the next part.
    fn finish(&mut self, graph: &Graph, in_order: Option<&[u32]>, first_source: usize) -> PartRows<W> {
        /// To look at so many nodes takes as long as to put one of them in order.
        const NODES_PER_SORTED: usize = 8;
        let touched: usize = self.touched.iter().map(|nodes| nodes.count_ones() as usize).sum();
        let mut nodes = Vec::with_capacity(touched);
        match in_order.filter(|all| touched * NODES_PER_SORTED > all.len()) {
            Some(all) => {
                let is_touched = |node: &&u32| self.touched[**node as usize / 64] >> (**node % 64) & 1 == 1;
                nodes.extend(all.iter().filter(is_touched));
                self.touched.fill(0);
            }
            None => {
                for (word, touched) in self.touched.iter_mut().enumerate() {
                    while *touched != 0 {
                        nodes.push((word * 64) as u32 + touched.trailing_zeros());
                        *touched &= *touched - 1;
                    }
                }
                if in_order.is_some() {
                    nodes.sort_unstable_by_key(|node| graph.codes[*node as usize]);
                }
            }
        }
        let sets =
            nodes.iter().map(|node| std::mem::replace(&mut self.known[*node as usize], [0; W])).collect();
        let codes = nodes.iter().map(|node| graph.codes[*node as usize]).collect();
        PartRows::new(first_source, codes, sets)
    }
}
