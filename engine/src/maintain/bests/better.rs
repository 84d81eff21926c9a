//! Which values nodes get.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use foldhash::HashMapExt;

use super::{Edge, Graph, Key, Keys};
use crate::data::Code;
use crate::exec::ExecError;
use crate::maintain::pairs::End;

/// Nodes between two looks at the budget.
const CHECK_NODES: usize = 256;

impl Graph<'_> {
    /// The nodes that get a value they did not have, or have lost, where these edges and starts have come; the best first
    /// (Dijkstra).
    pub(super) fn better(
        &self,
        lost: &Keys,
        edges: &[Edge],
        starts: &[(Code, Key)],
    ) -> Result<Keys, ExecError> {
        let mut found = Found { graph: self, lost, better: Keys::new(), offers: BinaryHeap::new() };
        for node in lost.keys() {
            if let Some(key) = self.starts.key_of(*node)? {
                found.offer(*node, key)?;
            }
            for (tail, added) in self.edges_of(End::To, *node)? {
                found.offer_along(tail, *node, added)?;
            }
        }
        for (tail, end, added) in edges {
            found.offer_along(*tail, *end, *added)?;
        }
        for (node, key) in starts {
            found.offer(*node, *key)?;
        }
        let mut taken = 0;
        while let Some(Reverse((key, node))) = found.offers.pop() {
            if taken % CHECK_NODES == 0 {
                self.check(lost.len() + found.better.len() + found.offers.len())?;
            }
            taken += 1;
            if !found.is_better(node, key)? {
                continue;
            }
            found.better.insert(node, key);
            for (end, added) in self.edges_of(End::From, node)? {
                found.offer(end, self.values.sum(key, added)?)?;
            }
        }
        Ok(found.better)
    }
}

struct Found<'f, 'g> {
    graph: &'f Graph<'g>,
    lost: &'f Keys,
    better: Keys,
    offers: BinaryHeap<Reverse<(Key, Code)>>,
}

impl Found<'_, '_> {
    /// Whether this is better than what a node has.
    fn is_better(&self, node: Code, key: Key) -> Result<bool, ExecError> {
        let known = match self.better.get(&node) {
            Some(better) => Some(*better),
            None if self.lost.contains_key(&node) => None,
            None => self.graph.old(node)?,
        };
        Ok(known.is_none_or(|known| key < known))
    }

    fn offer(&mut self, node: Code, key: Key) -> Result<(), ExecError> {
        if self.is_better(node, key)? {
            self.offers.push(Reverse((key, node)));
        }
        Ok(())
    }

    /// Offers a node what comes along an edge from one that has kept its value.
    fn offer_along(&mut self, tail: Code, end: Code, added: Key) -> Result<(), ExecError> {
        match self.graph.old(tail)?.filter(|_| !self.lost.contains_key(&tail)) {
            Some(key) => self.offer(end, self.graph.values.sum(key, added)?),
            None => Ok(()),
        }
    }
}
