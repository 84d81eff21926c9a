//! What nodes and sources do not reach any more.

use std::collections::{BTreeMap, BTreeSet};

use super::many::{Reached, TOGETHER};
use super::{Graph, Lists, Pair};
use crate::budget::BudgetError;
use crate::data::{Code, parallel};
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
        let (mut lost, mut sources) = (Lost::default(), BTreeSet::new());
        for (source, node) in starts {
            // Another row may be the same start.
            if !sources.contains(source) && !self.starts.has(*source, *node)? {
                sources.insert(*source);
            }
        }
        let (mut seen, mut todo) = (BTreeSet::new(), Vec::new());
        for (tail, end) in edges {
            if !seen.contains(tail) && !self.edges.has(*tail, *end)? {
                seen.insert(*tail);
                todo.push(*tail);
            }
        }
        while !todo.is_empty() {
            let nodes = todo.split_off(todo.len().saturating_sub(TOGETHER));
            let of_nodes = self.lost_of_nodes(&nodes, &mut lost.of_sources)?;
            for (node, (reached, nodes)) in nodes.into_iter().zip(of_nodes) {
                if nodes.is_empty() {
                    continue;
                }
                if self.is_passed_on(node, reached, nodes.len())? {
                    // Who comes to it comes from one of its predecessors, or begins in it.
                    todo.extend(self.edges.of(End::To, node)?.into_iter().filter(|tail| seen.insert(*tail)));
                    sources.extend(self.starts.of(End::To, node)?);
                } else {
                    let sources = self.rows.of(End::To, node)?;
                    self.budget.charge((nodes.len() + sources.len()) * size_of::<Code>())?;
                    lost.of_nodes.insert(node, LostOfNode { nodes, sources });
                }
            }
        }
        self.walk_from(&sources.into_iter().collect::<Vec<_>>(), &mut lost.of_sources)?;
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

    /// Finds all that sources have lost.
    fn walk_from(&self, sources: &[Code], of_sources: &mut Lists) -> Result<(), BudgetError> {
        let new: Vec<Code> =
            sources.iter().copied().filter(|source| !of_sources.contains_key(source)).collect();
        let lost = parallel::map(new.chunks(TOGETHER).collect(), |sources| self.lost_of_sources(sources));
        for (sources, lost) in new.chunks(TOGETHER).zip(lost) {
            of_sources.extend(sources.iter().copied().zip(lost?));
        }
        Ok(())
    }

    /// What a few sources have lost.
    fn lost_of_sources(&self, sources: &[Code]) -> Result<Vec<Vec<Code>>, BudgetError> {
        let starts = sources.iter().map(|source| self.starts.of(End::From, *source));
        let now = Reached::by(&self.edges, &starts.collect::<Result<Vec<_>, _>>()?, self.budget)?;
        let lost = sources.iter().enumerate().map(|(walk, source)| {
            let mut lost = self.rows.of(End::From, *source)?;
            lost.retain(|node| !now.has(walk, *node));
            self.budget.charge(lost.len() * size_of::<Code>())?;
            Ok(lost)
        });
        lost.collect()
    }

    /// How many nodes each of some reached, about, and those that it does not reach any more.
    fn lost_of_nodes(
        &self,
        nodes: &[Code],
        of_sources: &mut Lists,
    ) -> Result<Vec<(usize, Vec<Code>)>, BudgetError> {
        if self.is_closure {
            self.walk_from(nodes, of_sources)?;
            // Each of them always reaches itself.
            let lost = |node: &Code| sets::without(&of_sources[node], &[*node]);
            return nodes.iter().map(|node| Ok((self.rows.count(End::From, *node)?, lost(node)))).collect();
        }
        let starts: Vec<Vec<Code>> = nodes.iter().map(|node| vec![*node]).collect();
        let before = Reached::by(&self.edges_before, &starts, self.budget)?;
        Ok(before.without(&Reached::by(&self.edges, &starts, self.budget)?, nodes.len()))
    }
}
