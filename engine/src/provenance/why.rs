//! `why`: the smallest proof of each of some rows of a goal.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::proof::Proof;
use super::prover::{Prover, broken};
use super::solutions::Evaluated;
use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Rows, Run};
use crate::error::Error;
use crate::exec::{self, ExecError, Outcome, Relations, Thresholds};
use crate::graph::SessionView;
use crate::rewrite::proofs::{Replaced, Whole, explained, may_rest_on_replaced, steps_below, top_down};

/// For more rows than these it is better to find out once what they have in common.
const FEW_ROWS: usize = 16;
/// To search for proofs and to evaluate heights are tried in turn, for so long at first,
const FIRST: Duration = Duration::from_millis(250);
/// and where all rows are at hand, for so long for each of them.
const A_ROW: Duration = Duration::from_micros(1);

/// What is to be explained.
pub(crate) struct Question<'q> {
    /// What was asked.
    pub(crate) program: &'q Program,
    /// Rows of its goal, and how many of them are meant.
    pub(crate) rows: &'q Run,
    pub(crate) count: usize,
    pub(crate) detail: Detail,
    pub(crate) view: &'q SessionView,
    /// What is stored in this view, and all rows of those relations that are at hand.
    pub(crate) relations: &'q (dyn Relations + Sync),
    pub(crate) at_hand: &'q HashSet<RelationId>,
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

/// Explains rows: a proof of each, in their order.
pub(crate) fn why(question: &Question<'_>, budget: &Budget) -> Result<Vec<Proof>, Error> {
    if !question.is_searched_for() {
        return question.evaluate(budget);
    }
    match question.search_ways(budget)? {
        Some(found) => Ok(found),
        None => question.search_or_evaluate(budget),
    }
}

impl Question<'_> {
    /// Whether proofs are searched for, if that can be done, before heights are evaluated.
    fn is_searched_for(&self) -> bool {
        // Along stored edges a walk from one start begins with the first row, unless none ever does: then nothing is searched.
        let is_walked = self.thresholds.lone_walk_rows <= 1;
        // Of several proofs of a row the heights are needed, and these are evaluated.
        is_walked && self.detail != Detail::Alternatives && self.count <= FEW_ROWS
    }

    /// Searches for proofs, or evaluates heights, whichever takes less time.
    fn search_or_evaluate(&self, budget: &Budget) -> Result<Vec<Proof>, Error> {
        type Search<'s> = Box<dyn Fn(&Budget) -> Result<Option<Vec<Proof>>, Error> + 's>;
        let mut time = FIRST;
        let mut derives = true;
        let search: Search<'_> = if let Some(steps) = steps_below(self.program, self.at_hand) {
            Box::new(move |budget| self.search_along(&steps, budget))
        } else if let Some(found) = top_down(self.program, self.at_hand) {
            derives = found.lacking.is_some();
            if !derives {
                let name = |relation: &RelationId| &self.program.relations[relation.index()].name;
                let runs = self.at_hand.iter().flat_map(|relation| self.relations.runs(name(relation)));
                let rows: usize = runs.map(|run| run.len()).sum();
                time = time.max(A_ROW.saturating_mul(u32::try_from(rows).unwrap_or(u32::MAX)));
            }
            Box::new(move |budget| self.search_top_down(&found, budget))
        } else {
            return self.evaluate(budget);
        };
        let mut search =
            |budget: &Budget| search(budget)?.ok_or_else(|| broken("a row of the answer has no proof"));
        let mut evaluate = |budget: &Budget| self.evaluate(budget);
        let turns: [&mut dyn FnMut(&Budget) -> _; 2] = match derives == self.thresholds.swaps_turns {
            true => [&mut search, &mut evaluate],
            false => [&mut evaluate, &mut search],
        };
        budget.either(time, turns)
    }

    /// All rows that a program derives, by the names of their relations.
    pub(super) fn derived(
        &self,
        Whole { program, relations }: &Whole,
        budget: &Budget,
    ) -> Result<HashMap<String, Vec<Run>>, ExecError> {
        let outcome = exec::execute(program, self.relations, self.codec, budget, self.thresholds, None)?;
        (self.keep)(program, &outcome);
        let name = |relation: RelationId| program.relations[relation.index()].name.clone();
        let found = outcome.complete.into_iter().filter(|(relation, _)| relations.contains(relation));
        Ok(found.map(|(relation, runs)| (name(relation), runs)).collect())
    }

    /// Explains rows by the heights of those that they depend on.
    fn evaluate(&self, budget: &Budget) -> Result<Vec<Proof>, Error> {
        let found = match self.evaluate_with(Replaced::Gone, budget)? {
            None if may_rest_on_replaced(self.program) => self.evaluate_with(Replaced::Kept, budget)?,
            found => found,
        };
        found.ok_or_else(|| broken("a row of the answer is not derived by its rules"))
    }

    /// The same, with or without best values that were replaced. Nothing if a row does not follow from what there is then.
    fn evaluate_with(&self, replaced: Replaced, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        let explained = explained(self.program, self.at_hand, replaced)
            .ok_or_else(|| broken("the program of heights has no strata"))?;
        let len = if explained.asked.is_empty() { 0 } else { self.count };
        let column = |column: &usize| self.rows.column(*column)[..len].to_vec();
        let columns = explained.asked.iter().map(column).collect();
        let asked = Rows { columns, len };
        let evaluated =
            Evaluated::of(&explained, asked, self.relations, self.codec, budget, self.thresholds)?;
        if evaluated.lacks_heights()? {
            return Ok(None);
        }
        Prover::new(&evaluated, self.detail, self.view).proofs_of(self.rows, self.count)
    }
}
