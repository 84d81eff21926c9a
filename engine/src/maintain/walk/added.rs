//! Which rows have come.

use std::collections::VecDeque;

use super::removed::Removed;
use super::{Graph, Lists, Pair};
use crate::budget::BudgetError;
use crate::data::Code;
use crate::maintain::pairs::End;
use crate::maintain::sets;

impl Graph<'_> {
    /// The rows that follow from these edges and starts, and are not among those of before, or are gone.
    pub(super) fn added(
        &self,
        removed: &Removed,
        edges: &[Pair],
        starts: &[Pair],
    ) -> Result<Lists, BudgetError> {
        let mut added = Lists::new();
        let mut queue = Queue::default();
        for (source, node) in starts {
            queue.add(*node, &[*source]);
        }
        for (tail, end) in edges {
            let sources = self.rows.of(End::To, *tail)?;
            queue.add(*end, &sets::without(&sources, &removed.among(&sources, *tail)));
        }
        while let Some((node, sources)) = queue.next() {
            self.budget.check()?;
            let known = self.known(&sources, node)?;
            let known = sets::without(&known, &removed.among(&known, node));
            let mut new = sets::without(&sources, &known);
            if let Some(added) = added.get(&node) {
                new = sets::without(&new, added);
            }
            if new.is_empty() {
                continue;
            }
            self.budget.charge(2 * new.len() * size_of::<Code>())?;
            for end in self.edges.of(End::From, node)? {
                queue.add(end, &new);
            }
            sets::add(added.entry(node).or_default(), &new);
        }
        Ok(added)
    }
}

/// Nodes, each once, with the sources that have come to them, in the order in which the first one came.
#[derive(Default)]
struct Queue {
    nodes: VecDeque<Code>,
    sources: Lists,
}

impl Queue {
    fn add(&mut self, node: Code, sources: &[Code]) {
        if sources.is_empty() {
            return;
        }
        let waiting = self.sources.entry(node).or_default();
        if waiting.is_empty() {
            self.nodes.push_back(node);
        }
        sets::add(waiting, sources);
    }

    fn next(&mut self) -> Option<(Code, Vec<Code>)> {
        let node = self.nodes.pop_front()?;
        Some((node, self.sources.remove(&node)?))
    }
}
