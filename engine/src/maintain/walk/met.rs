//! `Met`: the nodes that a walk has come to, and how it goes on from there.

use crate::budget::{Budget, BudgetError, Held};
use crate::data::keys::{Key, KeySet};
use crate::data::{Code, bounds};
use crate::maintain::pairs::{End, Pairs};

/// Nodes whose edges are followed between two looks at the budget.
const CHECK_NODES: usize = 1_024;

/// The nodes that a walk from these along edges comes to and has not met before.
pub(super) fn go_on(
    edges: &Pairs<'_>,
    starts: Vec<Code>,
    met: &mut Met<'_>,
    budget: &Budget,
) -> Result<Vec<Code>, BudgetError> {
    let mut nodes = starts;
    nodes.retain(|start| met.is_new(*start));
    let (mut next, mut charged) = (0, 0);
    while next < nodes.len() {
        if next % CHECK_NODES == 0 {
            budget.check()?;
            budget.charge((nodes.len() - charged) * size_of::<Code>())?;
            met.hold(nodes.len() - charged)?;
            charged = nodes.len();
        }
        edges.visit(End::From, nodes[next], |end| {
            if met.is_new(end) {
                nodes.push(end);
            }
        })?;
        next += 1;
    }
    Ok(nodes)
}

/// Nodes that were met.
pub(super) struct Met<'b> {
    nodes: Nodes,
    held: Held<'b>,
}

enum Nodes {
    /// A bit for each code from the first on.
    Bits {
        first: Code,
        words: Vec<u64>,
    },
    Hashed(KeySet<u64>),
}

impl<'b> Met<'b> {
    /// None, of those that edges lead to, and of these.
    pub(super) fn new(
        edges: &Pairs<'_>,
        others: &[&[Code]],
        budget: &'b Budget,
    ) -> Result<Met<'b>, BudgetError> {
        /// 2 MiB.
        const MOST_WORDS: usize = 1 << 18;
        let ends = others.iter().filter_map(|codes| bounds(codes)).chain(edges.bounds());
        let (first, last) = ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).unwrap_or_default();
        let words = (last - first) as usize / 64 + 1;
        if words > MOST_WORDS {
            return Ok(Met { nodes: Nodes::Hashed(KeySet::default()), held: budget.hold(0)? });
        }
        let held = budget.hold(words * size_of::<u64>())?;
        Ok(Met { nodes: Nodes::Bits { first, words: vec![0; words] }, held })
    }

    /// Whether a node was not met before; now it is.
    #[inline]
    pub(super) fn is_new(&mut self, code: Code) -> bool {
        match &mut self.nodes {
            Nodes::Bits { first, words } => {
                let place = (code - *first) as usize;
                let (word, bit) = (&mut words[place / 64], 1 << (place % 64));
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            Nodes::Hashed(met) => met.insert(u64::from(code), u64::from(code).hash()),
        }
    }

    /// Accounts for so many more.
    fn hold(&mut self, nodes: usize) -> Result<(), BudgetError> {
        match &self.nodes {
            Nodes::Bits { .. } => Ok(()),
            Nodes::Hashed(_) => self.held.add(nodes * 2 * size_of::<u64>()),
        }
    }
}
