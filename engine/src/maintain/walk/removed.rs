//! Which rows are gone.

use super::lost::{Lost, LostOfNode};
use super::{Graph, Lists};
use crate::budget::BudgetError;
use crate::data::{Code, parallel};
use crate::maintain::pairs::End;
use crate::maintain::sets;

/// Rows that are gone: in each row one list has it.
pub(super) struct Removed {
    /// By their sources, of which all is known.
    pub(super) of_sources: Lists,
    /// By their nodes, of all other sources.
    pub(super) of_nodes: Lists,
}

impl Removed {
    /// Those of these sources whose row with a node is gone.
    pub(super) fn among(&self, sources: &[Code], node: Code) -> Vec<Code> {
        let mut gone = self.of_nodes.get(&node).map_or_else(Vec::new, |gone| sets::common(sources, gone));
        let has_lost =
            |source: &Code| self.of_sources.get(source).is_some_and(|lost| lost.binary_search(&node).is_ok());
        if !self.of_sources.is_empty() {
            sets::add(&mut gone, &sources.iter().copied().filter(has_lost).collect::<Vec<_>>());
        }
        gone
    }
}

impl Graph<'_> {
    /// The rows that are gone where this is lost.
    pub(super) fn removed(&self, lost: Lost) -> Result<Removed, BudgetError> {
        let is_walked = |source: &Code| lost.of_sources.contains_key(source);
        let mut doubtful = Lists::new();
        for (_, LostOfNode { nodes, mut sources }) in lost.of_nodes {
            sources.retain(|source| !is_walked(source));
            self.budget.charge(nodes.len() * sources.len() * size_of::<Code>())?;
            for node in nodes {
                self.budget.check()?;
                sets::add(doubtful.entry(node).or_default(), &sources);
            }
        }
        self.give_back(&mut doubtful)?;
        Ok(Removed { of_sources: lost.of_sources, of_nodes: doubtful })
    }

    /// Takes out of doubtful rows those that start anew or follow from rows that are none.
    fn give_back(&self, doubtful: &mut Lists) -> Result<(), BudgetError> {
        let back = parallel::map(doubtful.iter().collect(), |(node, sources)| {
            self.budget.check()?;
            let mut back = sets::common(sources, &self.starts.of(End::To, *node)?);
            for from in self.edges.of(End::To, *node)? {
                let asked = sets::without(sources, &back);
                let mut known = self.known(&asked, from)?;
                if let Some(doubtful) = doubtful.get(&from) {
                    known = sets::without(&known, doubtful);
                }
                sets::add(&mut back, &known);
            }
            Ok((*node, back))
        });
        let mut todo = back.into_iter().collect::<Result<Vec<_>, BudgetError>>()?;
        todo.retain(|(_, back)| !back.is_empty());
        for (node, back) in &todo {
            take(doubtful, *node, back);
        }
        while let Some((node, back)) = todo.pop() {
            self.budget.check()?;
            for next in self.edges.of(End::From, node)? {
                let back =
                    doubtful.get(&next).map_or_else(Vec::new, |doubtful| sets::common(doubtful, &back));
                if !back.is_empty() {
                    take(doubtful, next, &back);
                    todo.push((next, back));
                }
            }
        }
        Ok(())
    }

    /// Those of these sources that came to a node.
    pub(super) fn known(&self, sources: &[Code], node: Code) -> Result<Vec<Code>, BudgetError> {
        /// To look for a row takes as long as to read so many.
        const ROWS: usize = 16;
        if sources.is_empty() {
            return Ok(Vec::new());
        }
        if sources.len() * ROWS > self.rows.count(End::To, node)? {
            return Ok(sets::common(sources, &self.rows.of(End::To, node)?));
        }
        let mut known = Vec::new();
        for source in sources {
            if self.rows.has(*source, node)? {
                known.push(*source);
            }
        }
        Ok(known)
    }
}

/// Takes sources out of the list of a node.
fn take(lists: &mut Lists, node: Code, sources: &[Code]) {
    if let Some(list) = lists.get_mut(&node) {
        *list = sets::without(list, sources);
    }
}
