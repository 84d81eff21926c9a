//! What nodes and sources do not reach any more.

use std::collections::{BTreeMap, BTreeSet};

use super::met::reach;
use super::{Graph, Lists, Pair};
use crate::budget::BudgetError;
use crate::data::Code;
use crate::maintain::pairs::End;
use crate::maintain::sets;

/// What is lost, and by whom.
#[derive(Default)]
pub(super) struct Lost {
    /// Sources that were walked from, and all nodes that they have lost.
    pub(super) of_sources: Lists,
    /// Nodes and what they have lost: every other source that has lost a node comes to one of these that has lost it.
    pub(super) of_nodes: BTreeMap<Code, LostOfNode>,
}

pub(super) struct LostOfNode {
    /// The nodes that it does not reach any more.
    pub(super) nodes: Vec<Code>,
    /// The sources that come to it.
    pub(super) sources: Vec<Code>,
}

impl Graph<'_> {
    /// What was lost where these edges and starts are gone.
    pub(super) fn lost(&self, edges: &[Pair], starts: &[Pair]) -> Result<Lost, BudgetError> {
        let mut lost = Lost::default();
        for (source, node) in starts {
            // Another row may be the same start.
            if !self.starts.has(*source, *node)? {
                self.walk_from(*source, &mut lost.of_sources)?;
            }
        }
        let (mut seen, mut todo) = (BTreeSet::new(), Vec::new());
        for (tail, end) in edges {
            if !seen.contains(tail) && !self.edges.has(*tail, *end)? {
                seen.insert(*tail);
                todo.push(*tail);
            }
        }
        while let Some(node) = todo.pop() {
            self.budget.check()?;
            let (reached, nodes) = self.lost_of_node(node, &mut lost.of_sources)?;
            if nodes.is_empty() {
                continue;
            }
            if self.is_passed_on(node, reached, nodes.len())? {
                // Who comes to it comes from one of its predecessors, or begins in it.
                for predecessor in self.edges.of(End::To, node)? {
                    if seen.insert(predecessor) {
                        todo.push(predecessor);
                    }
                }
                for source in self.starts.of(End::To, node)? {
                    self.walk_from(source, &mut lost.of_sources)?;
                }
            } else {
                let sources = self.rows.of(End::To, node)?;
                self.budget.charge((nodes.len() + sources.len()) * size_of::<Code>())?;
                lost.of_nodes.insert(node, LostOfNode { nodes, sources });
            }
        }
        Ok(lost)
    }

    /// Whether to look at what the predecessors of a node have lost, because it is so much that the node has lost, and so many
    /// that come to it: the only way out of it may be gone, and they may have others.
    fn is_passed_on(&self, node: Code, reached: usize, lost: usize) -> Result<bool, BudgetError> {
        let doubtful = lost.saturating_mul(self.rows.count(End::To, node)?);
        // All of what they reach is walked through, now and before.
        let walks = self.edges.count(End::To, node)? + self.starts.count(End::To, node)?;
        Ok(doubtful > (2 * reached).saturating_mul(walks))
    }

    /// Finds all that a source has lost.
    fn walk_from(&self, source: Code, of_sources: &mut Lists) -> Result<(), BudgetError> {
        if !of_sources.contains_key(&source) {
            self.budget.check()?;
            let now = reach(&self.edges, self.starts.of(End::From, source)?, self.budget)?;
            let lost = sets::without(&self.rows.of(End::From, source)?, &now);
            of_sources.insert(source, lost);
        }
        Ok(())
    }

    /// How many nodes one reached, about, and those that it does not reach any more.
    fn lost_of_node(&self, node: Code, of_sources: &mut Lists) -> Result<(usize, Vec<Code>), BudgetError> {
        if self.is_closure {
            self.walk_from(node, of_sources)?;
            // It always reaches itself.
            let lost = sets::without(&of_sources[&node], &[node]);
            return Ok((self.rows.count(End::From, node)?, lost));
        }
        let [before, now] =
            [&self.edges_before, &self.edges].map(|edges| reach(edges, vec![node], self.budget));
        let before = before?;
        Ok((before.len(), sets::without(&before, &now?)))
    }
}
