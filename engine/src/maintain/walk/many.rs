//! `Reached`: what up to 64 walks come to, walked at once: a node has a bit for each (Then et al., The More the Merrier: Efficient
//! Multi-Source Graph Traversal, VLDB 2014).

use std::collections::VecDeque;

use foldhash::{HashMap, HashMapExt};

use crate::budget::{Budget, BudgetError};
use crate::data::{Code, bounds};
use crate::maintain::pairs::{End, Pairs};

/// So many walks go together.
pub(super) const TOGETHER: usize = 64;
/// Nodes whose edges are followed between two looks at the budget.
const CHECK_NODES: usize = 1_024;

/// Which walks have come to which nodes.
pub(super) struct Reached {
    walks: Words,
    /// All nodes that some have come to.
    nodes: Vec<Code>,
}

impl Reached {
    /// What walks from these nodes along edges come to, where they begin among it.
    pub(super) fn by(
        edges: &Pairs<'_>,
        starts: &[Vec<Code>],
        budget: &Budget,
    ) -> Result<Reached, BudgetError> {
        let mut walks = Words::new(edges, starts, budget)?;
        let mut pending = Words::new(edges, starts, budget)?;
        let (mut nodes, mut queue) = (Vec::new(), VecDeque::new());
        let mut meet = |node: Code, walking: u64, pending: &mut Words, queue: &mut VecDeque<Code>| {
            let met = walks.of_mut(node);
            let new = walking & !*met;
            if new != 0 {
                if *met == 0 {
                    nodes.push(node);
                }
                *met |= new;
                let waiting = pending.of_mut(node);
                if *waiting == 0 {
                    queue.push_back(node);
                }
                *waiting |= new;
            }
            nodes.len()
        };
        for (walk, starts) in starts.iter().enumerate() {
            for start in starts {
                meet(*start, 1 << walk, &mut pending, &mut queue);
            }
        }
        let (mut followed, mut charged, mut met) = (0, 0, 0);
        while let Some(node) = queue.pop_front() {
            if followed % CHECK_NODES == 0 {
                budget.check()?;
                let bytes = met * pending.bytes_of_one();
                budget.charge(bytes - charged)?;
                charged = bytes;
            }
            followed += 1;
            let walking = std::mem::take(pending.of_mut(node));
            edges.visit(End::From, node, |end| met = meet(end, walking, &mut pending, &mut queue))?;
        }
        Ok(Reached { walks, nodes })
    }

    /// Whether a walk has come to a node.
    #[inline]
    pub(super) fn has(&self, walk: usize, node: Code) -> bool {
        self.walks.of(node) >> walk & 1 == 1
    }

    /// For each of so many walks how many nodes it came to, and which of them another has not come to of the same number, in order.
    pub(super) fn without(&self, other: &Reached, walks: usize) -> Vec<(usize, Vec<Code>)> {
        let mut rest = vec![(0, Vec::new()); walks];
        for node in &self.nodes {
            let (mut came, others) = (self.walks.of(*node), other.walks.of(*node));
            while came != 0 {
                let walk = came.trailing_zeros();
                let (count, lost) = &mut rest[walk as usize];
                *count += 1;
                if others >> walk & 1 == 0 {
                    lost.push(*node);
                }
                came &= came - 1;
            }
        }
        rest.iter_mut().for_each(|(_, lost)| lost.sort_unstable());
        rest
    }
}

/// A word for each node.
enum Words {
    /// From the first code on.
    Dense {
        first: Code,
        words: Vec<u64>,
    },
    Hashed(HashMap<Code, u64>),
}

impl Words {
    fn new(edges: &Pairs<'_>, starts: &[Vec<Code>], budget: &Budget) -> Result<Words, BudgetError> {
        /// 8 MiB.
        const MOST_NODES: usize = 1 << 20;
        let ends = starts.iter().filter_map(|starts| bounds(starts)).chain(edges.bounds());
        let (first, last) = ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).unwrap_or_default();
        let nodes = (last - first) as usize + 1;
        if nodes > MOST_NODES {
            return Ok(Words::Hashed(HashMap::new()));
        }
        budget.charge(nodes * size_of::<u64>())?;
        Ok(Words::Dense { first, words: vec![0; nodes] })
    }

    #[inline]
    fn of(&self, node: Code) -> u64 {
        let word = match self {
            Words::Dense { first, words } => words.get(node.wrapping_sub(*first) as usize),
            Words::Hashed(words) => words.get(&node),
        };
        word.copied().unwrap_or_default()
    }

    #[inline]
    fn of_mut(&mut self, node: Code) -> &mut u64 {
        match self {
            Words::Dense { first, words } => &mut words[(node - *first) as usize],
            Words::Hashed(words) => words.entry(node).or_default(),
        }
    }

    /// Bytes that one node more takes, in both tables and the list.
    fn bytes_of_one(&self) -> usize {
        match self {
            Words::Dense { .. } => size_of::<Code>(),
            Words::Hashed(_) => 64,
        }
    }
}
