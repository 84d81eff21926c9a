//! A recursion through `min` or `max` as relaxation of edges (Bellman and Ford).
//!
//! The best value of each node stands in an array. Sweeps over the nodes that have become better hand their values on,
//! and what becomes better ahead of the sweep is handed on in the same one. Values are small integers, or of any kind where
//! nothing is added to them; or floats, where all that is added are floats.

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Codec, EMPTY, INLINE_END, NULL, Pairing, Run, Value, ValueRef, parallel};
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
    let mut weights = groups.iter().filter_map(|edges| edges.run.column(edges.weight?).first());
    let is_weighted = groups.iter().any(|edges| edges.weight.is_some());
    // The first says enough of what is worth an attempt.
    let keys = match !relaxation.largest && weights.any(|weight| is_float(tables.codec, *weight)) {
        true => None,
        false => match keys(tables, values, relaxation.largest, is_weighted)? {
            Some(keys) => Some(keys),
            None => return Ok(None),
        },
    };

    let mut columns: Vec<&[Code]> = vec![nodes];
    columns
        .extend(groups.iter().flat_map(|edges| [edges.run.column(edges.from), edges.run.column(edges.to)]));
    let domain = Numbering::new(&columns, tables.budget)?;
    let edges: usize = groups.iter().map(|edges| edges.run.stored_len()).sum();
    let weight = if keys.is_some() { 1 } else { 2 };
    let words = (1 + weight) * edges + (groups.len() + 2 * weight) * domain.len();
    let _held = tables.budget.hold(words * size_of::<u32>())?;
    let groups = parallel::map(groups, |edges| Adjacency::new(&edges, &domain, tables.budget));
    let groups = groups.into_iter().collect::<Result<Vec<_>, _>>()?;
    let starts = domain.numbers(nodes).into_iter().zip(values.iter().copied());
    let relaxed = match keys {
        Some(keys) => relax_keys(&keys, starts, &groups, domain.len(), tables.budget)?,
        None => relax_floats(tables, starts, groups, domain.len())?,
    };
    let Some((bests, rounds)) = relaxed else { return Ok(None) };

    let found = bests.iter().filter(|value| **value != EMPTY).count();
    tables.budget.charge(2 * found * size_of::<Code>())?;
    let reached = || domain.codes().iter().zip(&bests).filter(|(_, value)| **value != EMPTY);
    let nodes: Vec<Code> = reached().map(|(node, _)| *node).collect();
    let values: Vec<Code> = reached().map(|(_, value)| *value).collect();
    let columns = if relaxation.node == 0 { vec![nodes, values] } else { vec![values, nodes] };
    Ok(Some((Run::new(columns, found), rounds)))
}

/// The best value of each node, [`EMPTY`] where there is none, and the number of sweeps.
type Relaxed = Option<(Vec<Code>, usize)>;

fn relax_keys(
    keys: &Keys,
    starts: impl Iterator<Item = (u32, Code)>,
    groups: &[Adjacency<Code>],
    nodes: usize,
    budget: &Budget,
) -> Result<Relaxed, ExecError> {
    if groups.iter().flat_map(|edges| &edges.weights).any(|weight| *weight >= INLINE_END) {
        return Ok(None);
    }
    let mut sweeps = Sweeps::new(nodes, NONE);
    starts.for_each(|(node, value)| sweeps.improve(node as usize, keys.key(value)));
    let done = if keys.largest {
        sweeps.run(groups, budget, u32::checked_sub)?
    } else {
        let add = |key: u32, weight: u32| key.checked_add(weight).filter(|sum| *sum < INLINE_END);
        sweeps.run(groups, budget, add)?
    };
    let value = |key: u32| if key == NONE { EMPTY } else { keys.value(key) };
    Ok(done.map(|rounds| (sweeps.keys.into_iter().map(value).collect(), rounds)))
}

/// All sums are floats. Where a value begins as an integer, that is better than the float of the same number.
fn relax_floats(
    tables: &Tables<'_>,
    starts: impl Iterator<Item = (u32, Code)>,
    groups: Vec<Adjacency<Code>>,
    nodes: usize,
) -> Result<Relaxed, ExecError> {
    let codec = tables.codec;
    let groups = parallel::map(groups, |edges| edges.with_floats(codec));
    let Some(groups) = groups.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    // What is handed on as it is stays an integer.
    let hands_on = groups.iter().any(|edges| edges.weights.is_empty());
    let mut sweeps = Sweeps::new(nodes, f64::INFINITY);
    // The best values with which nodes begin.
    let mut bests: Vec<Code> = vec![EMPTY; nodes];
    for (node, value) in starts {
        let Some(number) = float_of(codec, value) else { return Ok(None) };
        if hands_on && !is_float(codec, value) {
            return Ok(None);
        }
        sweeps.improve(node as usize, number);
        let best = &mut bests[node as usize];
        if *best == EMPTY || codec.value(value) < codec.value(*best) {
            *best = value;
        }
    }
    let add = |key: f64, weight: f64| Some(key + weight).filter(|sum| sum.is_finite());
    let Some(rounds) = sweeps.run(&groups, tables.budget, add)? else { return Ok(None) };
    for (best, number) in bests.iter_mut().zip(sweeps.keys).filter(|(_, number)| number.is_finite()) {
        if *best == EMPTY || float_of(codec, *best) != Some(number) {
            *best = codec.encode(ValueRef::Float(number))?;
        }
    }
    Ok(Some((bests, rounds)))
}

fn is_float(codec: &Codec, code: Code) -> bool {
    matches!(codec.entry(code), Some(Value::Float(_)))
}

/// The float of a number that is no less than zero, if it has one of the same value.
fn float_of(codec: &Codec, code: Code) -> Option<f64> {
    codec.int_or_float(code)?.exact().filter(|number| number.is_sign_positive())
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
    // Sums of other values are made where all other arithmetic is, and any value is better than Null.
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
struct Adjacency<W> {
    starts: Vec<u32>,
    ends: Vec<u32>,
    /// What they add; nothing does if this is empty.
    weights: Vec<W>,
}

impl Adjacency<Code> {
    fn new(edges: &Edges, domain: &Numbering<'_>, budget: &Budget) -> Result<Adjacency<Code>, BudgetError> {
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

    /// The same, if all that they add are floats.
    fn with_floats(self, codec: &Codec) -> Option<Adjacency<f64>> {
        let float = |code: &Code| float_of(codec, *code).filter(|_| is_float(codec, *code));
        let Adjacency { starts, ends, weights } = self;
        let weights = weights.iter().map(float).collect::<Option<_>>()?;
        Some(Adjacency { starts, ends, weights })
    }
}

/// The best key of each node, the smallest, and the nodes whose key has to be handed on, a bit each.
struct Sweeps<K> {
    keys: Vec<K>,
    pending: Vec<u64>,
}

impl<K: Copy + PartialOrd> Sweeps<K> {
    /// `none` is no key, and larger than any.
    fn new(nodes: usize, none: K) -> Sweeps<K> {
        Sweeps { keys: vec![none; nodes], pending: vec![0; nodes.div_ceil(64)] }
    }

    #[inline]
    fn improve(&mut self, node: usize, key: K) {
        if key < self.keys[node] {
            self.keys[node] = key;
            self.pending[node / 64] |= 1 << (node % 64);
        }
    }

    /// Sweeps over the pending nodes, in order, until there are none; answers how many sweeps that took. Nothing if
    /// `add` finds a sum that is no key.
    fn run(
        &mut self,
        groups: &[Adjacency<K>],
        budget: &Budget,
        add: impl Fn(K, K) -> Option<K>,
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
