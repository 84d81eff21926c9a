//! The edges of a relaxation.

use std::sync::Arc;

use arrow::buffer::ScalarBuffer;
use arrow::datatypes::ArrowNativeType;

use super::keys::{Floats, Keys, float_of, is_float};
use super::nodes::Nodes;
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, INLINE_END, Neighbours, Pairing, Run};
use crate::exec::error::ExecError;
use crate::exec::graphs::edges::{derived, distinct_codes, edge_runs};
use crate::exec::tables::Tables;
use crate::plan::{Columns, Made, Weight, Weighted};

/// Which values may take certain edges, by the columns that carry them.
pub(super) type Guards = Arc<[(usize, Vec<Code>)]>;

/// Edges as they are stored.
pub(super) struct Edges {
    pub(super) run: Run,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) weight: Option<(Made, Weight)>,
    guards: Guards,
    allowed: Option<Columns>,
}

impl Edges {
    /// Whether all weights, if there are any, are small integers.
    pub(super) fn have_small_weights(&self) -> bool {
        match self.weight {
            None => true,
            Some((_, Weight::Constant(weight))) => weight < INLINE_END,
            Some((_, Weight::Column(column))) => {
                self.run.bounds(column).is_none_or(|(_, last)| last < INLINE_END)
            }
        }
    }

    /// One of the weights.
    pub(super) fn weight(&self) -> Option<Code> {
        match self.weight? {
            (_, Weight::Constant(weight)) => Some(weight),
            (_, Weight::Column(column)) => self.run.column(column).first().copied(),
        }
    }
}

/// Edges between numbers.
pub(super) struct Adjacency<W: ArrowNativeType> {
    /// Where the edges of each node end, as numbers with this one added.
    pub(super) ends: Lists<Code>,
    pub(super) offset: Code,
    pub(super) weights: Weights<W>,
    /// What becomes of a key and a weight, among keys.
    pub(super) made: Made,
    /// Who may take them: whose carried values are among these.
    pub(super) guards: Guards,
    /// Where they may end, if not everywhere.
    pub(super) allowed: Option<Columns>,
}

/// The weights of edges.
pub(super) enum Weights<W: ArrowNativeType> {
    /// None: a key is handed on as it is.
    None,
    /// All have the same one.
    Same(W),
    /// Each has its own, beside its end.
    Each(Lists<W>),
}

/// Something of each edge, for the edges of a node side by side.
pub(super) struct Lists<T: ArrowNativeType> {
    places: Places,
    items: ScalarBuffer<T>,
}

/// Where the edges of a node are.
enum Places {
    /// As they are stored: the first number is that of this code.
    Stored(Arc<Neighbours>, Code),
    /// Those of number `n` are `starts[n]..starts[n + 1]`.
    Numbered(Vec<u32>),
}

impl<T: ArrowNativeType> Lists<T> {
    /// What the edges of a node have.
    #[inline]
    pub(super) fn of(&self, node: usize) -> &[T] {
        let range = match &self.places {
            Places::Stored(neighbours, first) => neighbours.range(first + node as Code),
            Places::Numbered(starts) => starts[node] as usize..starts[node + 1] as usize,
        };
        &self.items[range]
    }

    /// The same edges with something else.
    fn map<U: ArrowNativeType>(self, of_item: impl Fn(T) -> U) -> Lists<U> {
        Lists { places: self.places, items: self.items.iter().map(|item| of_item(*item)).collect() }
    }

    /// The same, if each has something else.
    fn try_map<U: ArrowNativeType>(self, of_item: impl Fn(T) -> Option<U>) -> Option<Lists<U>> {
        let items = self.items.iter().map(|item| of_item(*item)).collect::<Option<Vec<U>>>()?;
        Some(Lists { places: self.places, items: items.into() })
    }
}

impl Lists<Code> {
    /// What stands in a column beside the beginning of each edge.
    fn beside(
        edges: &Edges,
        column: usize,
        nodes: &Nodes<'_>,
        budget: &Budget,
    ) -> Result<Lists<Code>, BudgetError> {
        let cost = edges.run.beside_cost(edges.from, column, Pairing::Neighbours);
        let neighbours = budget.build(cost, |go_on| edges.run.neighbours(edges.from, column, go_on))?;
        let numbers = match nodes {
            Nodes::Dense { first, .. } => {
                let items = neighbours.ends();
                return Ok(Lists { places: Places::Stored(neighbours, *first), items });
            }
            Nodes::Numbered(numbers) => numbers,
        };
        budget.charge((numbers.len() + edges.run.stored_len()) * size_of::<u32>())?;
        let mut starts = Vec::with_capacity(numbers.len() + 1);
        let mut codes = Vec::with_capacity(edges.run.stored_len());
        starts.push(0);
        for node in numbers.codes() {
            codes.extend_from_slice(neighbours.of(*node));
            starts.push(codes.len() as u32);
        }
        Ok(Lists { places: Places::Numbered(starts), items: codes.into() })
    }
}

impl Adjacency<Code> {
    pub(super) fn new(
        edges: Edges,
        largest: bool,
        nodes: &Nodes<'_>,
        budget: &Budget,
    ) -> Result<Adjacency<Code>, BudgetError> {
        let ends = Lists::beside(&edges, edges.to, nodes, budget)?;
        let (ends, offset) = match nodes {
            Nodes::Dense { first, .. } => (ends, *first),
            Nodes::Numbered(numbers) => {
                let items = numbers.numbers(&ends.items).into();
                (Lists { places: ends.places, items }, 0)
            }
        };
        let weights = match edges.weight {
            None => Weights::None,
            Some((_, Weight::Constant(code))) => Weights::Same(code),
            Some((_, Weight::Column(column))) => Weights::Each(Lists::beside(&edges, column, nodes, budget)?),
        };
        let made = match edges.weight.map_or(Made::Sum, |(made, _)| made) {
            Made::Smaller if largest => Made::Larger,
            Made::Larger if largest => Made::Smaller,
            made => made,
        };
        Ok(Adjacency { ends, offset, weights, made, guards: edges.guards, allowed: edges.allowed })
    }

    /// The same with keys as weights, which are small integers.
    pub(super) fn with_keys(self, keys: &Keys) -> Adjacency<u32> {
        // What is added is no value.
        if self.made == Made::Sum {
            return self;
        }
        let weights = match self.weights {
            Weights::None => Weights::None,
            Weights::Same(weight) => Weights::Same(keys.key(weight)),
            Weights::Each(weights) => Weights::Each(weights.map(|weight| keys.key(weight))),
        };
        Adjacency { weights, ..self }
    }

    /// The same with the keys of floats as weights, if all weights are floats.
    pub(super) fn with_floats(self, floats: &Floats<'_>) -> Option<Adjacency<f64>> {
        let Adjacency { ends, offset, weights, made, guards, allowed } = self;
        let key = |number| if made == Made::Sum { number } else { floats.key(number) };
        let float = |code: Code| {
            is_float(floats.codec, code).then_some(())?;
            float_of(floats.codec, code).map(key)
        };
        let weights = match weights {
            Weights::None => Weights::None,
            Weights::Same(weight) => Weights::Same(float(weight)?),
            Weights::Each(weights) => Weights::Each(weights.try_map(float)?),
        };
        Some(Adjacency { ends, offset, weights, made, guards, allowed })
    }
}

/// The edges of a rule, as they are stored.
pub(super) fn edges_of(weighted: &Weighted, tables: &Tables<'_>) -> Result<Vec<Edges>, ExecError> {
    let (runs, [from, to]) = edge_runs(&weighted.source, tables)?;
    let guards = weighted
        .guards
        .iter()
        .map(|(column, rule)| Ok((*column, distinct_codes(std::iter::once(&derived(rule, tables)?), 0))));
    let guards: Arc<[_]> = guards.collect::<Result<_, ExecError>>()?;
    let of_run = |run: Run| {
        let run = match run.live() {
            None => run,
            Some(_) => {
                let rows = run.live_rows();
                Run::new(rows.columns, rows.len)
            }
        };
        let (weight, allowed) = (weighted.weight, weighted.allowed);
        Edges { run, from, to, weight, guards: Arc::clone(&guards), allowed }
    };
    Ok(runs.into_iter().filter(|run| !run.is_empty()).map(of_run).collect())
}
