//! Sweeps over the nodes of one source.

use arrow::datatypes::ArrowNativeType;

use super::adjacency::{Adjacency, Weights};
use crate::budget::Budget;
use crate::exec::error::ExecError;
use crate::plan::Made;

/// Nodes between two looks at the budget.
const CHECK_NODES: usize = 4_096;

/// Edges that a source may take, and where these may end, if not everywhere.
pub(super) struct Open<'a, K: ArrowNativeType> {
    pub(super) edges: &'a Adjacency<K>,
    pub(super) allowed: Option<&'a Marked>,
}

/// Some of the nodes.
pub(super) struct Marked {
    bits: Vec<u64>,
    nodes: Vec<u32>,
}

impl Marked {
    pub(super) fn of(nodes: usize) -> Marked {
        Marked { bits: vec![0; nodes.div_ceil(64)], nodes: Vec::new() }
    }

    /// Marks these nodes, and no others.
    pub(super) fn mark(&mut self, nodes: impl Iterator<Item = u32>) {
        for node in self.nodes.drain(..) {
            self.bits[node as usize / 64] = 0;
        }
        self.nodes.extend(nodes);
        for node in &self.nodes {
            self.bits[*node as usize / 64] |= 1 << (node % 64);
        }
    }

    #[inline]
    fn has(&self, node: u32) -> bool {
        self.bits[node as usize / 64] & (1 << (node % 64)) != 0
    }
}

/// The best key of each node, the smallest, and the nodes whose key has to be handed on, a bit each.
pub(super) struct Sweeps<K> {
    none: K,
    keys: Vec<K>,
    /// The nodes that have a key, in the order in which they got one.
    pub(super) reached: Vec<u32>,
    pending: Vec<u64>,
    /// Which words of `pending` are not zero, a bit each.
    words: Vec<u64>,
}

impl<K: ArrowNativeType> Sweeps<K> {
    /// `none` is no key, and larger than any.
    pub(super) fn new(nodes: usize, none: K) -> Sweeps<K> {
        let words = nodes.div_ceil(64);
        Sweeps {
            none,
            keys: vec![none; nodes],
            reached: Vec::new(),
            pending: vec![0; words],
            words: vec![0; words.div_ceil(64)],
        }
    }

    #[inline]
    pub(super) fn improve(&mut self, node: usize, key: K) {
        let known = self.keys[node];
        if key < known {
            if known == self.none {
                self.reached.push(node as u32);
            }
            self.keys[node] = key;
            self.pending[node / 64] |= 1 << (node % 64);
            self.words[node / 4_096] |= 1 << (node / 64 % 64);
        }
    }

    /// Sweeps over the pending nodes, in order, until there are none; answers how many sweeps that took. Nothing if
    /// `add` finds a sum that is no key.
    pub(super) fn run(
        &mut self,
        groups: &[Open<'_, K>],
        budget: &Budget,
        add: impl Fn(K, K) -> Option<K>,
    ) -> Result<Option<usize>, ExecError> {
        let (mut sweeps, mut moved) = (0, 0_usize);
        while self.words.iter().any(|words| *words != 0) {
            sweeps += 1;
            for place in 0..self.words.len() {
                // What becomes better behind the sweep waits for the next one.
                let mut ahead = u64::MAX;
                while self.words[place] & ahead != 0 {
                    let bit = (self.words[place] & ahead).trailing_zeros();
                    ahead = u64::MAX.checked_shl(bit + 1).unwrap_or(0);
                    let word = place * 64 + bit as usize;
                    while self.pending[word] != 0 {
                        let node = word * 64 + self.pending[word].trailing_zeros() as usize;
                        self.pending[word] &= self.pending[word] - 1;
                        if self.hand_on(node, groups, &add).is_none() {
                            return Ok(None);
                        }
                        moved += 1;
                        if moved.is_multiple_of(CHECK_NODES) {
                            budget.check()?;
                        }
                    }
                    self.words[place] &= !(1 << bit);
                }
            }
        }
        Ok(Some(sweeps))
    }

    /// Hands the key of a node on. Nothing if a sum is no key.
    #[inline]
    fn hand_on(
        &mut self,
        node: usize,
        groups: &[Open<'_, K>],
        add: &impl Fn(K, K) -> Option<K>,
    ) -> Option<()> {
        let key = self.keys[node];
        for Open { edges, allowed } in groups {
            let numbers = edges.ends.of(node).iter().map(|end| end - edges.offset);
            let may_end = |end: &u32| allowed.is_none_or(|allowed| allowed.has(*end));
            let make = |weight: K| match edges.made {
                Made::Sum => add(key, weight),
                Made::Smaller | Made::Larger => {
                    let takes_weight = (weight < key) == (edges.made == Made::Smaller);
                    Some(if takes_weight { weight } else { key })
                }
            };
            match &edges.weights {
                Weights::None => {
                    numbers.filter(may_end).for_each(|end| self.improve(end as usize, key));
                }
                Weights::Same(weight) => {
                    let mut ends = numbers.filter(may_end).peekable();
                    if ends.peek().is_some() {
                        let key = make(*weight)?;
                        ends.for_each(|end| self.improve(end as usize, key));
                    }
                }
                Weights::Each(weights) => {
                    for (end, weight) in numbers.zip(weights.of(node)).filter(|(end, _)| may_end(end)) {
                        self.improve(end as usize, make(*weight)?);
                    }
                }
            }
        }
        Some(())
    }

    /// Calls `visit` with the nodes that have a key, in their order, and takes the keys away.
    pub(super) fn take(
        &mut self,
        mut visit: impl FnMut(usize, K) -> Result<(), ExecError>,
    ) -> Result<(), ExecError> {
        /// Of so many nodes for each that has a key, all are looked at.
        const NEAR: usize = 16;
        let mut reached = std::mem::take(&mut self.reached);
        if reached.len() * NEAR >= self.keys.len() {
            let has_key = |node: &u32| self.keys[*node as usize] != self.none;
            reached = (0..self.keys.len() as u32).filter(has_key).collect();
        } else {
            reached.sort_unstable();
        }
        for node in &reached {
            let key = std::mem::replace(&mut self.keys[*node as usize], self.none);
            visit(*node as usize, key)?;
        }
        reached.clear();
        self.reached = reached;
        Ok(())
    }
}
