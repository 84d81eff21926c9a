//! Numbers of nodes.

use super::edges::Edges;
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, bounds, dense_range};
use crate::exec::graphs::numbering::Numbering;

/// Numbers 0 to n for the nodes of a graph, in the order of their codes.
pub(super) enum Nodes<'b> {
    /// Codes are few more than edges: each has a number, whether it is a node or not, and edges need not be copied.
    Dense { first: Code, len: usize },
    /// Only nodes have numbers.
    Numbered(Numbering<'b>),
}

impl<'b> Nodes<'b> {
    /// Numbers for what edges lead to and from, and for these nodes.
    pub(super) fn of(edges: &[Edges], nodes: &[Code], budget: &'b Budget) -> Result<Nodes<'b>, BudgetError> {
        let of_edges =
            edges.iter().flat_map(|edges| [edges.from, edges.to].map(|column| edges.run.bounds(column)));
        let count = edges.iter().map(|edges| edges.run.stored_len()).sum::<usize>() + nodes.len();
        if let Some((first, len)) = dense_range(of_edges.chain([bounds(nodes)]), count) {
            return Ok(Nodes::Dense { first, len });
        }
        let mut columns = vec![nodes];
        columns.extend(
            edges.iter().flat_map(|edges| [edges.run.column(edges.from), edges.run.column(edges.to)]),
        );
        Ok(Nodes::Numbered(Numbering::new(&columns, budget)?))
    }

    /// How many numbers there are.
    pub(super) fn len(&self) -> usize {
        match self {
            Nodes::Dense { len, .. } => *len,
            Nodes::Numbered(numbers) => numbers.len(),
        }
    }

    /// The number of a node.
    #[inline]
    pub(super) fn number(&self, code: Code) -> u32 {
        match self {
            Nodes::Dense { first, .. } => code - first,
            Nodes::Numbered(numbers) => numbers.number(code),
        }
    }

    /// The number of a code, if it has one.
    pub(super) fn find(&self, code: Code) -> Option<u32> {
        match self {
            Nodes::Dense { first, len } => {
                code.checked_sub(*first).filter(|number| (*number as usize) < *len)
            }
            Nodes::Numbered(numbers) => numbers.find(code),
        }
    }

    /// The code of a number.
    #[inline]
    pub(super) fn code(&self, number: usize) -> Code {
        match self {
            Nodes::Dense { first, .. } => first + number as Code,
            Nodes::Numbered(numbers) => numbers.codes()[number],
        }
    }
}
