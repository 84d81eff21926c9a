//! A recursion through `min` or `max` as relaxation of edges (Bellman and Ford).
//!
//! The best value of each node stands in an array. Sweeps over the nodes that have become better hand their values on,
//! and what becomes better ahead of the sweep is handed on in the same one.

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, INLINE_END, NULL, Pairing, Run, parallel};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{edge_runs, edges_read};
use crate::exec::graphs::numbering::Numbering;
use crate::exec::known::BestRows;
use crate::exec::tables::Tables;
use crate::plan::Relaxation;

/// No value yet.
const NONE: u32 = u32::MAX;
/// Nodes between two looks at the budget.
const CHECK_NODES: usize = 4_096;

/// Whether there is enough to do to leave rounds for sweeps.
pub(crate) fn is_worth_relaxing(tables: &Tables<'_>, relaxation: &Relaxation, known: usize) -> bool {
    let read: usize = relaxation.edges.iter().map(|edges| edges_read(tables, &edges.source)).sum();
    known >= tables.thresholds.relax_rows
        && known.saturating_mul(tables.thresholds.relax_reads_per_row) >= read
}

/// Relaxes edges until no value becomes better; answers all rows, and the number of sweeps. Nothing if some value
/// is not of the kind that this works for: it goes on as it was then.
pub(crate) fn relax(
    tables: &Tables<'_>,
    relaxation: &Relaxation,
    known: &mut BestRows,
) -> Result<Option<(Run, usize)>, ExecError> {
    let mut groups = Vec::with_capacity(relaxation.edges.len());
    for edges in &relaxation.edges {
        let (runs, [from, to]) = edge_runs(&edges.source, tables)?;
        let runs = runs.into_iter().filter(|run| !run.is_empty()).map(|run| match run.live() {
            None => run,
            Some(_) => {
                let rows = run.live_rows();
                Run::new(rows.columns, rows.len)
            }
        });
        groups.extend(runs.map(|run| Edges { run, from, to, weight: edges.weight }));
    }
    let known = known.all();
    let (nodes, values) = (&known.columns[relaxation.node], &known.columns[1 - relaxation.node]);
    let is_weighted = groups.iter().any(|edges| edges.weight.is_some());
    let Some(keys) = keys(tables, values, relaxation.largest, is_weighted)? else { return Ok(None) };

    let mut columns: Vec<&[Code]> = vec![nodes];
    columns
        .extend(groups.iter().flat_map(|edges| [edges.run.column(edges.from), edges.run.column(edges.to)]));
    let domain = Numbering::new(&columns, tables.budget)?;
    let edges: usize = groups.iter().map(|edges| edges.run.stored_len()).sum();
    let _held = tables.budget.hold((2 * edges + (groups.len() + 2) * domain.len()) * size_of::<u32>())?;
    let groups = parallel::map(groups, |edges| Adjacency::new(&edges, &domain, tables.budget));
    let groups = groups.into_iter().collect::<Result<Vec<_>, _>>()?;
    if groups.iter().flat_map(|edges| &edges.weights).any(|weight| *weight >= INLINE_END) {
        return Ok(None);
    }
    let mut sweeps = Sweeps::new(domain.len());
    for (node, value) in domain.numbers(nodes).iter().zip(values) {
        sweeps.improve(*node as usize, keys.key(*value));
    }
    let done = if relaxation.largest {
        sweeps.run(&groups, tables.budget, u32::checked_sub)?
    } else {
        let add = |key: u32, weight: u32| key.checked_add(weight).filter(|sum| *sum < INLINE_END);
        sweeps.run(&groups, tables.budget, add)?
    };
    let Some(rounds) = done else { return Ok(None) };

    let found = sweeps.keys.iter().filter(|key| **key != NONE).count();
    tables.budget.charge(2 * found * size_of::<Code>())?;
    let reached = || sweeps.keys.iter().enumerate().filter(|(_, key)| **key != NONE);
    let nodes: Vec<Code> = reached().map(|(node, _)| domain.codes()[node]).collect();
    let values: Vec<Code> = reached().map(|(_, key)| keys.value(*key)).collect();
    let columns = if relaxation.node == 0 { vec![nodes, values] } else { vec![values, nodes] };
    Ok(Some((Run::new(columns, found), rounds)))
}

/// How these values are compared, if that is possible.
fn keys(
    tables: &Tables<'_>,
    values: &[Code],
    largest: bool,
    is_weighted: bool,
) -> Result<Option<Keys>, ExecError> {
    if values.iter().all(|value| *value < INLINE_END) {
        return Ok(Some(Keys { largest, ranked: None }));
    }
    // Sums of anything but small integers are made where all other arithmetic is, and any value is better than Null.
    if is_weighted || values.contains(&NULL) {
        return Ok(None);
    }
    let _sorted = tables.budget.hold(2 * values.len() * size_of::<Code>())?;
    let mut values = values.to_vec();
    values.sort_unstable();
    values.dedup();
    values.sort_by(|a, b| tables.codec.value(*a).cmp(&tables.codec.value(*b)));
    let mut places: Vec<(Code, u32)> = values.iter().copied().zip(0..).collect();
    places.sort_unstable();
    Ok(Some(Keys { largest, ranked: Some(Ranked { values, places }) }))
}

/// Values as numbers below [`INLINE_END`], of which the smallest is best.
struct Keys {
    largest: bool,
    /// If they are no small integers.
    ranked: Option<Ranked>,
}

/// Values of any kind.
struct Ranked {
    /// In their order.
    values: Vec<Code>,
    /// The place of each, by its code.
    places: Vec<(Code, u32)>,
}

impl Keys {
    fn key(&self, value: Code) -> u32 {
        let key = match &self.ranked {
            None => value,
            Some(Ranked { places, .. }) => {
                let found = places.binary_search_by_key(&value, |(code, _)| *code);
                found.map_or(0, |position| places[position].1)
            }
        };
        if self.largest { INLINE_END - 1 - key } else { key }
    }

    fn value(&self, key: u32) -> Code {
        let key = if self.largest { INLINE_END - 1 - key } else { key };
        self.ranked.as_ref().map_or(key, |ranked| ranked.values[key as usize])
    }
}

/// Edges as they are stored.
struct Edges {
    run: Run,
    from: usize,
    to: usize,
    weight: Option<usize>,
}

/// Edges between numbers: those of node `n` are `starts[n]..starts[n + 1]`.
struct Adjacency {
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// What they add; nothing does if this is empty.
    weights: Vec<u32>,
}

impl Adjacency {
    fn new(edges: &Edges, domain: &Numbering<'_>, budget: &Budget) -> Result<Adjacency, BudgetError> {
        let side_by_side = |column: usize| {
            let cost = edges.run.beside_cost(edges.from, column, Pairing::Neighbours);
            let neighbours = budget.build(cost, |go_on| edges.run.neighbours(edges.from, column, go_on))?;
            budget.charge((domain.len() + edges.run.stored_len()) * size_of::<u32>())?;
            let mut starts = Vec::with_capacity(domain.len() + 1);
            let mut codes = Vec::with_capacity(edges.run.stored_len());
            starts.push(0);
            for node in domain.codes() {
                codes.extend_from_slice(neighbours.of(*node));
                starts.push(codes.len() as u32);
            }
            Ok((starts, codes))
        };
        let (starts, ends) = side_by_side(edges.to)?;
        let weights = edges.weight.map(side_by_side).transpose()?.unwrap_or_default().1;
        Ok(Adjacency { starts, ends: domain.numbers(&ends), weights })
    }
}

/// The best key of each node, and the nodes whose key has to be handed on, a bit each.
struct Sweeps {
    keys: Vec<u32>,
    pending: Vec<u64>,
}

impl Sweeps {
    fn new(nodes: usize) -> Sweeps {
        Sweeps { keys: vec![NONE; nodes], pending: vec![0; nodes.div_ceil(64)] }
    }

    #[inline]
    fn improve(&mut self, node: usize, key: u32) {
        if key < self.keys[node] {
            self.keys[node] = key;
            self.pending[node / 64] |= 1 << (node % 64);
        }
    }

    /// Sweeps over the pending nodes, in order, until there are none; answers how many sweeps that took. Nothing if
    /// `add` finds a sum that is no key.
    fn run(
        &mut self,
        groups: &[Adjacency],
        budget: &Budget,
        add: impl Fn(u32, u32) -> Option<u32>,
    ) -> Result<Option<usize>, ExecError> {
        let (mut sweeps, mut moved) = (0, 0_usize);
        while self.pending.iter().any(|nodes| *nodes != 0) {
            sweeps += 1;
            for word in 0..self.pending.len() {
                while self.pending[word] != 0 {
                    let node = word * 64 + self.pending[word].trailing_zeros() as usize;
                    self.pending[word] &= self.pending[word] - 1;
                    let key = self.keys[node];
                    for edges in groups {
                        let range = edges.starts[node] as usize..edges.starts[node + 1] as usize;
                        if edges.weights.is_empty() {
                            edges.ends[range].iter().for_each(|end| self.improve(*end as usize, key));
                            continue;
                        }
                        for (end, weight) in edges.ends[range.clone()].iter().zip(&edges.weights[range]) {
                            let Some(key) = add(key, *weight) else { return Ok(None) };
                            self.improve(*end as usize, key);
                        }
                    }
                    moved += 1;
                    if moved.is_multiple_of(CHECK_NODES) {
                        budget.check()?;
                    }
                }
            }
        }
        Ok(Some(sweeps))
    }
}
