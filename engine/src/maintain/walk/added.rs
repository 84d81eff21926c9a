//! Which rows have come.

use std::collections::VecDeque;

use super::met::{Met, go_on};
use super::removed::Removed;
use super::{Graph, Lists, Pair};
use crate::budget::{BudgetError, Held};
use crate::data::Code;
use crate::maintain::pairs::End;
use crate::maintain::sets;

/// Rows that have come: in each row one list has it.
#[derive(Default)]
pub(super) struct Added {
    /// By their nodes.
    pub(super) of_nodes: Lists,
    /// By their sources.
    pub(super) of_sources: Lists,
}

/// So few sources are walked from one by one,
const FEW: usize = 4;
/// once so few have come to so many nodes: each node takes as long as hundreds of steps of a walk.
const PATIENCE: usize = 64;

impl Graph<'_> {
    /// The rows that follow from these edges and starts, and are not among those of before, or are gone.
    pub(super) fn added(
        &self,
        removed: &Removed,
        edges: &[Pair],
        starts: &[Pair],
    ) -> Result<Added, BudgetError> {
        let mut added = Added::default();
        let mut queue = Queue { nodes: VecDeque::new(), sources: Lists::new(), held: self.budget.hold(0)? };
        let (mut alone, mut few) = (Lists::new(), 0);
        for (source, node) in starts {
            queue.add(*node, &[*source])?;
        }
        for (tail, end) in edges {
            let sources = self.rows.of(End::To, *tail)?;
            queue.add(*end, &sets::without(&sources, &removed.among(&sources, *tail)))?;
        }
        while let Some((node, sources)) = queue.next() {
            self.budget.check()?;
            few += usize::from(sources.len() <= FEW);
            if sources.len() <= FEW && few > PATIENCE {
                self.budget.charge(2 * sources.len() * size_of::<Code>())?;
                sources.iter().for_each(|source| alone.entry(*source).or_default().push(node));
                continue;
            }
            let known = self.known(&sources, node)?;
            let known = sets::without(&known, &removed.among(&known, node));
            let mut new = sets::without(&sources, &known);
            if let Some(added) = added.of_nodes.get(&node) {
                new = sets::without(&new, added);
            }
            if new.is_empty() {
                continue;
            }
            self.budget.charge(2 * new.len() * size_of::<Code>())?;
            for end in self.edges.of(End::From, node)? {
                queue.add(end, &new)?;
            }
            sets::add(added.of_nodes.entry(node).or_default(), &new);
        }
        self.walk_on(removed, alone, &mut added)?;
        Ok(added)
    }

    /// Goes on with sources one by one, from these nodes.
    fn walk_on(&self, removed: &Removed, alone: Lists, added: &mut Added) -> Result<(), BudgetError> {
        let sources: Vec<Code> = alone.keys().copied().collect();
        let gone = by_source(&removed.of_nodes, &sources);
        let come = by_source(&added.of_nodes, &sources);
        for (source, starts) in alone {
            self.budget.check()?;
            let mut reached = self.rows.of(End::From, source)?;
            for lost in [removed.of_sources.get(&source), gone.get(&source)].into_iter().flatten() {
                reached = sets::without(&reached, lost);
            }
            reached.extend(come.get(&source).into_iter().flatten());
            let mut met = Met::new(&self.edges, &[&reached, &starts], self.budget)?;
            reached.iter().for_each(|node| _ = met.is_new(*node));
            let new = go_on(&self.edges, starts, &mut met, self.budget)?;
            added.of_sources.insert(source, new);
        }
        Ok(())
    }
}

/// For each of these sources the nodes that have it in their lists.
fn by_source(of_nodes: &Lists, sources: &[Code]) -> Lists {
    let mut by_source = Lists::new();
    for (node, list) in of_nodes {
        for source in sets::common(sources, list) {
            by_source.entry(source).or_default().push(*node);
        }
    }
    by_source
}

/// Nodes, each once, with the sources that have come to them, in the order in which the first one came.
struct Queue<'b> {
    nodes: VecDeque<Code>,
    sources: Lists,
    held: Held<'b>,
}

impl Queue<'_> {
    fn add(&mut self, node: Code, sources: &[Code]) -> Result<(), BudgetError> {
        if sources.is_empty() {
            return Ok(());
        }
        let waiting = self.sources.entry(node).or_default();
        let before = waiting.len();
        if before == 0 {
            self.nodes.push_back(node);
        }
        sets::add(waiting, sources);
        self.held.add((waiting.len() - before) * size_of::<Code>())
    }

    fn next(&mut self) -> Option<(Code, Vec<Code>)> {
        let node = self.nodes.pop_front()?;
        let sources = self.sources.remove(&node)?;
        self.held.give_back(sources.len() * size_of::<Code>());
        Some((node, sources))
    }
}
