//! `reach`: the nodes that a walk comes to.

use crate::budget::{Budget, BudgetError};
use crate::data::Code;
use crate::data::keys::{Key, KeySet};
use crate::maintain::pairs::{End, Pairs, bounds_of};
use crate::maintain::sets;

/// Nodes whose edges are followed between two looks at the budget.
const CHECK_NODES: usize = 1_024;

/// The nodes that a walk along edges comes to, with those in which it begins; in order.
pub(super) fn reach(edges: &Pairs<'_>, starts: Vec<Code>, budget: &Budget) -> Result<Vec<Code>, BudgetError> {
    let mut met = Met::new(edges, &starts, budget)?;
    let mut nodes: Vec<Code> = starts.into_iter().filter(|start| met.is_new(*start)).collect();
    let (mut next, mut charged) = (0, 0);
    while next < nodes.len() {
        if next % CHECK_NODES == 0 {
            budget.check()?;
            let bytes = nodes.len() * (size_of::<Code>() + met.bytes_of_one());
            budget.charge(bytes - charged)?;
            charged = bytes;
        }
        edges.visit(End::From, nodes[next], |end| {
            if met.is_new(end) {
                nodes.push(end);
            }
        })?;
        next += 1;
    }
    met.in_order(&mut nodes);
    Ok(nodes)
}

/// Nodes that were met.
enum Met {
    /// A bit for each code from the first on.
    Bits {
        first: Code,
        words: Vec<u64>,
    },
    Hashed(KeySet<u64>),
}

impl Met {
    fn new(edges: &Pairs<'_>, starts: &[Code], budget: &Budget) -> Result<Met, BudgetError> {
        /// 2 MiB.
        const MOST_WORDS: usize = 1 << 18;
        let (first, last) = bounds_of(edges, starts).unwrap_or_default();
        let words = (last - first) as usize / 64 + 1;
        if words > MOST_WORDS {
            return Ok(Met::Hashed(KeySet::default()));
        }
        budget.charge(words * size_of::<u64>())?;
        Ok(Met::Bits { first, words: vec![0; words] })
    }

    #[inline]
    fn is_new(&mut self, code: Code) -> bool {
        match self {
            Met::Bits { first, words } => {
                let place = (code - *first) as usize;
                let (word, bit) = (&mut words[place / 64], 1 << (place % 64));
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            }
            Met::Hashed(met) => met.insert(u64::from(code), u64::from(code).hash()),
        }
    }

    fn bytes_of_one(&self) -> usize {
        match self {
            Met::Bits { .. } => 0,
            Met::Hashed(_) => 2 * size_of::<u64>(),
        }
    }

    /// Puts all that were met in order.
    fn in_order(&self, nodes: &mut Vec<Code>) {
        match self {
            // To look at a word takes about as long as to put a code in order.
            Met::Bits { first, words } if words.len() < 8 * nodes.len() => {
                nodes.clear();
                for (place, word) in words.iter().enumerate() {
                    let mut bits = *word;
                    while bits != 0 {
                        nodes.push(first + (place * 64) as Code + bits.trailing_zeros());
                        bits &= bits - 1;
                    }
                }
            }
            _ => sets::in_order(nodes),
        }
    }
}
