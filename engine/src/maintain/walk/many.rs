//! `Reached`: what up to 64 walks come to, walked at once: a node has a bit for each (Then et al., The More the Merrier: Efficient
//! Multi-Source Graph Traversal, VLDB 2014).

use std::collections::VecDeque;

use foldhash::{HashMap, HashMapExt};

use crate::budget::{Budget, BudgetError, Held};
use crate::data::{Code, bounds};
use crate::maintain::pairs::{End, Pairs};

/// So many walks go together.
pub(super) const TOGETHER: usize = 64;
/// Nodes whose edges are followed between two looks at the budget.
const CHECK_NODES: usize = 1_024;

/// Which walks have come to which nodes.
pub(super) struct Reached<'b> {
    walks: Words,
    /// All nodes that some have come to.
    nodes: Vec<Code>,
    held: Held<'b>,
}

impl<'b> Reached<'b> {
    /// What walks from these nodes along edges come to, where they begin among it.
    pub(super) fn by(
        edges: &Pairs<'_>,
        starts: &[Vec<Code>],
        budget: &'b Budget,
    ) -> Result<Reached<'b>, BudgetError> {
        let ends = starts.iter().filter_map(|starts| bounds(starts)).chain(edges.bounds());
        let ends = ends.reduce(|(a, b), (c, d)| (a.min(c), b.max(d))).unwrap_or_default();
        let held = budget.hold(2 * Words::bytes_of(ends))?;
        let mut reached = Reached { walks: Words::new(ends), nodes: Vec::new(), held };
        let mut waiting = Waiting { walks: Words::new(ends), nodes: VecDeque::new() };
        for (walk, starts) in starts.iter().enumerate() {
            starts.iter().for_each(|start| waiting.add(*start, reached.meet(*start, 1 << walk)));
        }
        let (mut followed, mut paid) = (0, 0);
        while let Some((node, walking)) = waiting.next() {
            if followed % CHECK_NODES == 0 {
                budget.check()?;
                reached.held.add((reached.nodes.len() - paid) * reached.walks.bytes_of_one())?;
                paid = reached.nodes.len();
            }
            followed += 1;
            edges.visit(End::From, node, |end| waiting.add(end, reached.meet(end, walking)))?;
        }
        Ok(reached)
    }

    /// Walks come to a node. Answers which of them had not come there before.
    #[inline]
    fn meet(&mut self, node: Code, walking: u64) -> u64 {
        let met = self.walks.of_mut(node);
        let new = walking & !*met;
        if *met == 0 && new != 0 {
            self.nodes.push(node);
        }
        *met |= new;
        new
    }

    /// Whether a walk has come to a node.
    #[inline]
    pub(super) fn has(&self, walk: usize, node: Code) -> bool {
        self.walks.of(node) >> walk & 1 == 1
    }

    /// For each of so many walks how many nodes it came to, and which of them another has not come to of the same number, in order.
    pub(super) fn without(&self, other: &Reached<'_>, walks: usize) -> Vec<(usize, Vec<Code>)> {
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

/// Nodes whose edges are to be followed by some walks, each node once.
struct Waiting {
    walks: Words,
    nodes: VecDeque<Code>,
}

impl Waiting {
    #[inline]
    fn add(&mut self, node: Code, walks: u64) {
        if walks != 0 {
            let waiting = self.walks.of_mut(node);
            if *waiting == 0 {
                self.nodes.push_back(node);
            }
            *waiting |= walks;
        }
    }

    fn next(&mut self) -> Option<(Code, u64)> {
        let node = self.nodes.pop_front()?;
        Some((node, std::mem::take(self.walks.of_mut(node))))
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
    /// So many nodes have a place each: 8 MiB.
    const MOST_NODES: usize = 1 << 20;

    /// For nodes between these.
    fn new((first, last): (Code, Code)) -> Words {
        let nodes = (last - first) as usize + 1;
        match nodes > Words::MOST_NODES {
            true => Words::Hashed(HashMap::new()),
            false => Words::Dense { first, words: vec![0; nodes] },
        }
    }

    /// Bytes that it takes before a node is met.
    fn bytes_of((first, last): (Code, Code)) -> usize {
        let nodes = (last - first) as usize + 1;
        if nodes > Words::MOST_NODES { 0 } else { nodes * size_of::<u64>() }
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
