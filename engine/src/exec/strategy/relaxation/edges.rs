//! The edges of a relaxation.

use std::sync::Arc;

use super::keys::{Floats, Keys, float_of, is_float};
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, INLINE_END, Pairing, Run};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{derived, edge_runs};
use crate::exec::graphs::numbering::Numbering;
use crate::exec::tables::Tables;
use crate::plan::{Columns, Made, WeightColumn, Weighted};

/// Which values may take certain edges, by the columns that carry them.
pub(super) type Guards = Arc<[(usize, Vec<Code>)]>;

/// Edges as they are stored.
pub(super) struct Edges {
    pub(super) run: Run,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<WeightColumn>,
    guards: Guards,
    allowed: Option<Columns>,
}

/// Edges between numbers: those of node `n` are `starts[n]..starts[n + 1]`.
pub(super) struct Adjacency<W> {
    pub(super) starts: Vec<u32>,
    pub(super) ends: Vec<u32>,
    /// Their weights, if they have some.
    pub(super) weights: Vec<W>,
    /// What becomes of a key and a weight, among keys.
    pub(super) made: Made,
    /// Who may take them: whose carried values are among these.
    pub(super) guards: Guards,
    /// Where they may end, if not everywhere.
    pub(super) allowed: Option<Columns>,
}

impl Adjacency<Code> {
    pub(super) fn new(
        edges: Edges,
        largest: bool,
        domain: &Numbering<'_>,
        budget: &Budget,
    ) -> Result<Adjacency<Code>, BudgetError> {
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
        let weights = edges.weight.map(|weight| side_by_side(weight.column)).transpose()?;
        let made = match edges.weight.map_or(Made::Sum, |weight| weight.made) {
            Made::Smaller if largest => Made::Larger,
            Made::Larger if largest => Made::Smaller,
            made => made,
        };
        let (ends, weights) = (domain.numbers(&ends), weights.unwrap_or_default().1);
        Ok(Adjacency { starts, ends, weights, made, guards: edges.guards, allowed: edges.allowed })
    }

    /// The same with keys as weights, if all weights are small integers.
    pub(super) fn with_keys(self, keys: &Keys) -> Option<Adjacency<u32>> {
        if self.weights.iter().any(|weight| *weight >= INLINE_END) {
            return None;
        }
        Some(match self.made {
            Made::Sum => self,
            Made::Smaller | Made::Larger => {
                let weights = self.weights.iter().map(|weight| keys.key(*weight)).collect();
                Adjacency { weights, ..self }
            }
        })
    }

    /// The same with the keys of floats as weights, if all weights are floats.
    pub(super) fn with_floats(self, floats: &Floats<'_>) -> Option<Adjacency<f64>> {
        let Adjacency { starts, ends, weights, made, guards, allowed } = self;
        let is_float = |code: &&Code| is_float(floats.codec, **code);
        // What is added is no value: its sign stays.
        let key = |number| if made == Made::Sum { number } else { floats.key(number) };
        let float = |code: &Code| Some(key(float_of(floats.codec, *Some(code).filter(is_float)?)?));
        let weights = weights.iter().map(float).collect::<Option<_>>()?;
        Some(Adjacency { starts, ends, weights, made, guards, allowed })
    }
}

/// The edges of a rule, as they are stored.
pub(super) fn edges_of(weighted: &Weighted, tables: &Tables<'_>) -> Result<Vec<Edges>, ExecError> {
    let (runs, [from, to]) = edge_runs(&weighted.source, tables)?;
    let guards = weighted.guards.iter().map(|(column, rule)| {
        let passing = derived(rule, tables)?;
        let mut passing = passing.column(0).to_vec();
        passing.sort_unstable();
        passing.dedup();
        Ok((*column, passing))
    });
    let guards: Arc<[_]> = guards.collect::<Result<_, ExecError>>()?;
    let of_run = |run: Run| {
        let run = match run.live() {
            None => run,
            Some(_) => {
                let rows = run.live_rows();
                Run::new(rows.columns, rows.len)
            }
        };
        Edges {
            run,
            from,
            to,
            weight: weighted.weight,
            guards: Arc::clone(&guards),
            allowed: weighted.allowed,
        }
    };
    Ok(runs.into_iter().filter(|run| !run.is_empty()).map(of_run).collect())
}
