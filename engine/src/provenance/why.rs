//! `why`: the smallest proof of each of some rows of a goal.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::proof::Proof;
use super::prover::broken;
use crate::analysis::program::{Program, Relation};
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Run};
use crate::error::Error;
use crate::exec::{Outcome, Relations, Thresholds};
use crate::graph::SessionView;
use crate::maintain::KeptRows;
use crate::rewrite::proofs::{
    Replaced, TopDown, Whole, derived_in_rounds, explained, may_rest_on_replaced, steps_below, top_down,
};

/// For more rows than these it is better to find out once what they have in common.
const FEW_ROWS: usize = 16;
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

/// What is to be explained.
#[derive(Clone, Copy)]
pub(crate) struct Question<'q> {
    /// What was asked.
    pub(crate) program: &'q Program,
    /// Rows of its goal, and how many of them are meant.
    pub(crate) rows: &'q Run,
    pub(crate) count: usize,
    pub(crate) detail: Detail,
    pub(crate) view: &'q SessionView,
    /// What is stored in this view, and all rows of those relations that are at hand.
    pub(crate) relations: &'q dyn Relations,
    pub(crate) at_hand: &'q HashSet<RelationId>,
    /// These are at hand as they are kept.
    pub(crate) kept: &'q HashMap<RelationId, Arc<KeptRows>>,
    /// So long it took to derive the relations of the program, as far as that is known.
    pub(crate) took: Duration,
    /// Is told of relations that were derived whole, by which program.
    pub(crate) keep: &'q (dyn Fn(&Program, &Outcome) + Sync),
    pub(crate) codec: &'q Codec,
    pub(crate) thresholds: Thresholds,
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One proof of a row, and the first inputs of an aggregate.
    Short,
    /// All inputs of aggregates.
    Full,
    /// Several proofs of a row, if there are.
    Alternatives,
}

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
    /// Whether proofs are searched for, if that can be done, before heights are evaluated.
    pub(super) fn is_searched_for(&self) -> bool {
        // Along stored edges a walk from one start begins with the first row, unless none ever does: then nothing is searched.
        let is_walked = self.thresholds.lone_walk_rows <= 1;
        // Of several proofs of a row the heights are needed, and these are evaluated.
        is_walked && self.detail != Detail::Alternatives && self.count <= FEW_ROWS
    }

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

    /// Explains rows by the heights of those that they depend on.
    pub(super) fn evaluate(&self, budget: &Budget) -> Result<Vec<Proof>, Error> {
        let found = match self.evaluate_with(Replaced::Gone, budget)? {
            None if may_rest_on_replaced(self.program) => self.evaluate_with(Replaced::Kept, budget)?,
            found => found,
        };
        found.ok_or_else(|| broken("a row of the answer is not derived by its rules"))
    }

    /// The same, with or without best values that were replaced. Nothing if a row does not follow from what there is then.
    fn evaluate_with(&self, replaced: Replaced, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        let explained = explained(self.program, self.at_hand, &self.with_heights(), replaced)
            .ok_or_else(|| broken("the program of heights has no strata"))?;
        self.explain(&explained, budget)
    }
}
