//! `why`: the smallest proof of each of some rows of a goal.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::proof::Proof;
use super::prover::{Prover, broken};
use super::solutions::Evaluated;
use crate::analysis::program::{Program, Relation};
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Rows, Run};
use crate::error::Error;
use crate::exec::{self, ExecError, Outcome, Relations, Thresholds};
use crate::graph::SessionView;
use crate::rewrite::proofs::{
    Replaced, TopDown, Whole, explained, may_rest_on_replaced, steps_below, top_down,
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
/// and so long for each row that is stored or at hand.
const STORED_ROW: Duration = Duration::from_micros(5);

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
    pub(crate) relations: &'q dyn Relations,
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

/// Where proofs are searched for.
enum Search {
    /// Along ways whose steps are derived first.
    Along(Whole),
    /// From the top down.
    TopDown(Box<TopDown>),
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

    /// Searches for proofs where all rows are at hand, or where they are derived sooner than heights; or evaluates these.
    fn search_or_evaluate(&self, budget: &Budget) -> Result<Vec<Proof>, Error> {
        let along = steps_below(self.program, self.at_hand).map(Search::Along);
        let search =
            along.or_else(|| top_down(self.program, self.at_hand).map(Box::new).map(Search::TopDown));
        let Some(search) = search else { return self.evaluate(budget) };
        let is_at_hand = matches!(&search, Search::TopDown(rows) if rows.lacking.is_none());
        // What goes wrong on the way says nothing of heights, and these are evaluated in the end.
        let evaluates_first = !is_at_hand && !self.thresholds.swaps_turns;
        if evaluates_first && let Some(Ok(found)) = budget.within(BRIEF, |budget| self.evaluate(budget)) {
            return Ok(found);
        }
        let rows = u32::try_from(self.rows_read()).unwrap_or(u32::MAX);
        let time = if is_at_hand { BRIEF.max(KEPT_ROW * rows) } else { WHOLE.max(STORED_ROW * rows) };
        let found = budget.within(time, |budget| match &search {
            Search::Along(steps) => self.search_along(steps, budget),
            Search::TopDown(rows) => self.search_top_down(rows, budget),
        });
        match found {
            Some(Ok(Some(found))) => Ok(found),
            Some(Err(broken @ Error::Internal { .. })) => Err(broken),
            Some(_) | None => self.evaluate(budget),
        }
    }

    /// How many rows are stored or at hand.
    fn rows_read(&self) -> usize {
        let relations = self.program.relations.iter().enumerate();
        let is_read = |(number, relation): &(usize, &Relation)| {
            relation.stored || self.at_hand.contains(&RelationId::new(*number))
        };
        let runs = relations.filter(is_read).flat_map(|(_, relation)| self.relations.runs(&relation.name));
        runs.map(|run| run.len()).sum()
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
