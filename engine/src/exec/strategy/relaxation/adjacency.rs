//! Edges between the numbers of nodes, those of a node side by side.

use std::sync::Arc;

use arrow::buffer::ScalarBuffer;
use arrow::datatypes::ArrowNativeType;

use super::edges::{Edges, Guards};
use super::nodes::Nodes;
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Neighbours, Pairing};
use crate::plan::{Columns, Made, Weight};

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
    pub(super) fn map<U: ArrowNativeType>(self, of_item: impl Fn(T) -> U) -> Lists<U> {
        Lists { places: self.places, items: self.items.iter().map(|item| of_item(*item)).collect() }
    }

    /// The same, if each has something else.
    pub(super) fn try_map<U: ArrowNativeType>(self, of_item: impl Fn(T) -> Option<U>) -> Option<Lists<U>> {
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
}
