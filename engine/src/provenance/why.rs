//! `why`: the smallest proof of each of some rows of a goal.

use std::time::Duration;

use super::proof::Proof;
use super::question::Question;
use crate::analysis::program::Relation;
use crate::budget::Budget;
use crate::data::RelationId;
use crate::error::Error;
use crate::rewrite::proofs::{TopDown, Whole, derived_in_rounds, steps_below, top_down};

/// Where all rows are at hand, a search among them may take so long before heights are evaluated, and where they are not, these
/// may take so long before relations are derived for a search.
const BRIEF: Duration = Duration::from_millis(250);
/// For each row that is at hand a search may take so long.
const KEPT_ROW: Duration = Duration::from_micros(1);
/// To derive relations and to search among them may take so long,
const WHOLE: Duration = Duration::from_secs(1);
/// so long for each row that is stored or at hand,
const STORED_ROW: Duration = Duration::from_micros(5);
/// and so many times as long as it took before.
const AS_BEFORE: u32 = 2;

/// Where proofs are searched for.
enum Search {
    /// Along ways whose steps are derived first.
    Along(Whole),
    /// From the top down.
    TopDown(Box<TopDown>),
}

/// Explains rows: a proof of each, in their order.
pub(crate) fn why(question: &Question<'_>, budget: &Budget) -> Result<Vec<Proof>, Error> {
    let is_searched_for = question.is_searched_for();
    if is_searched_for && let Some(found) = question.search_ways(budget)? {
        return Ok(found);
    }
    match question.by_known_heights(budget)? {
        Some(found) => Ok(found),
        None if is_searched_for => question.search_or_evaluate(budget),
        None => question.evaluate_soon_or_either(budget),
    }
}

impl Question<'_> {
    /// Searches for proofs where all rows are at hand, or where they are derived sooner than heights; or evaluates these.
    fn search_or_evaluate(&self, budget: &Budget) -> Result<Vec<Proof>, Error> {
        let along = steps_below(self.program, self.at_hand).map(Search::Along);
        let search =
            along.or_else(|| top_down(self.program, self.at_hand).map(Box::new).map(Search::TopDown));
        let Some(search) = search else { return self.evaluate_soon_or_either(budget) };
        let is_at_hand = matches!(&search, Search::TopDown(rows) if rows.lacking.is_none());
        // What goes wrong on the way says nothing of heights, and these are evaluated in the end.
        if !is_at_hand && let Some(found) = self.evaluate_soon(budget) {
            return Ok(found);
        }
        let time = if is_at_hand { BRIEF.max(KEPT_ROW * self.rows_read()) } else { self.long() };
        let found = budget.within(time, |budget| match &search {
            Search::Along(steps) => self.search_along(steps, budget),
            Search::TopDown(rows) => self.search_top_down(rows, budget),
        });
        match found {
            Some(Ok(Some(found))) => Ok(found),
            Some(Err(broken @ Error::Internal { .. })) => Err(broken),
            Some(_) | None if is_at_hand => self.evaluate_soon_or_either(budget),
            // So long was not enough.
            Some(_) | None => self.evaluate_either(4 * self.long(), budget),
        }
    }

    fn evaluate_soon_or_either(&self, budget: &Budget) -> Result<Vec<Proof>, Error> {
        match self.evaluate_soon(budget) {
            Some(found) => Ok(found),
            None => self.evaluate_either(self.long(), budget),
        }
    }

    /// Evaluates heights, if that is soon done.
    fn evaluate_soon(&self, budget: &Budget) -> Option<Vec<Proof>> {
        if self.thresholds.swaps_turns {
            return None;
        }
        budget.within(BRIEF, |budget| self.evaluate(budget))?.ok()
    }

    /// How long it may take to derive relations.
    fn long(&self) -> Duration {
        WHOLE.max(STORED_ROW * self.rows_read()).max(AS_BEFORE * self.took)
    }

    /// How many rows are stored or at hand.
    fn rows_read(&self) -> u32 {
        let relations = self.program.relations.iter().enumerate();
        let is_read = |(number, relation): &(usize, &Relation)| {
            relation.stored || self.at_hand.contains(&RelationId::new(*number))
        };
        let runs = relations.filter(is_read).flat_map(|(_, relation)| self.relations.runs(&relation.name));
        u32::try_from(runs.map(|run| run.len()).sum::<usize>()).unwrap_or(u32::MAX)
    }

    /// Evaluates heights of all rows, in rounds, or of those that the rows in question depend on: which of these takes less nobody can
    /// tell, so each may take this time, and then longer and longer.
    fn evaluate_either(&self, time: Duration, budget: &Budget) -> Result<Vec<Proof>, Error> {
        let Some((whole, in_rounds)) = derived_in_rounds(self.program, self.at_hand, &self.with_heights())
        else {
            return self.evaluate(budget);
        };
        let mut of_some = |budget: &Budget| self.evaluate(budget);
        let mut of_all = |budget: &Budget| self.by_rounds(&whole, &in_rounds, budget);
        budget.either(time, [&mut of_all, &mut of_some])
    }
}
