//! Rows of recursions of which it is known how high each stands, as rounds have found them: proofs are looked up, and nothing is
//! searched for. Where it is not known, such rounds can be made.

use std::time::Duration;

use super::proof::Proof;
use super::question::{Question, whole_rows};
use crate::budget::Budget;
use crate::data::{Codec, Run};
use crate::error::Error;
use crate::exec::{self, Thresholds};
use crate::rewrite::proofs::{InRounds, Replaced, Whole, explained};

/// So long it may take to put rows in order, so that proofs can be looked up: a search may find them sooner.
const ORDERING: Duration = Duration::from_millis(100);
/// Where there could be a search, looking them up may take so long, as a search does: what stands above recursions may have much to
/// evaluate.
const LOOKING_UP: Duration = Duration::from_secs(1);

impl Question<'_> {
    /// Explains rows where it is known of all rows of recursions how high they stand. Nothing if it is not, or not soon to be had.
    pub(super) fn by_known_heights(&self, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        let with_heights = self.with_heights();
        let ordering: Duration = with_heights.iter().map(|relation| self.kept[relation].ordering()).sum();
        if with_heights.is_empty() || ordering > ORDERING {
            return Ok(None);
        }
        let explained = explained(self.program, self.at_hand, &with_heights, Replaced::Gone);
        let Some(explained) = explained.filter(|explained| explained.knows_recursions(self.program)) else {
            return Ok(None);
        };
        if !self.is_searched_for() {
            return self.explain(&explained, budget);
        }
        budget.within(LOOKING_UP, |budget| self.explain(&explained, budget)).unwrap_or(Ok(None))
    }

    /// Explains rows by how high each row of all recursions stands, as rounds tell. These may be as any question makes them, or for nothing
    /// but that.
    pub(super) fn by_rounds(
        &self,
        whole: &Whole,
        in_rounds: &[InRounds],
        budget: &Budget,
    ) -> Result<Vec<Proof>, Error> {
        if in_rounds.iter().any(|of| !self.kept.contains_key(&of.relation)) {
            let derived = self.derived(whole, budget)?;
            if let Some(found) = self.beside(&derived, |question| question.by_known_heights(budget))? {
                return Ok(found);
            }
        }
        let thresholds = Thresholds { finds_in_time: true, ..self.thresholds };
        let outcome = exec::execute(&whole.program, self.relations, self.codec, budget, thresholds, None)?;
        let found = whole_rows(whole, outcome);
        for InRounds { relation, lowest } in in_rounds {
            let Some((known, found)) = self.kept.get(relation).zip(found.get(relation)) else { continue };
            let heights = found.with_heights(*lowest);
            // In codes of the graph it may be kept.
            let of_graph = |run: &Run| !run.columns().into_iter().flatten().any(|code| Codec::is_own(*code));
            if let Some(heights) = heights.filter(|heights| heights.runs().iter().all(of_graph)) {
                known.learn_heights(*lowest, heights);
            }
        }
        self.beside(&found, |question| question.evaluate(budget))
    }
}
