//! `why`: the smallest proof of each of some rows of a goal.

use std::collections::HashSet;

use super::proof::Proof;
use super::prover::{Prover, broken};
use super::solutions::Evaluated;
use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Rows, Run};
use crate::error::Error;
use crate::exec::{Relations, Thresholds};
use crate::graph::SessionView;
use crate::rewrite::proofs::{Replaced, explained, may_rest_on_replaced};

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
    if let Some(found) = question.search(budget)? {
        return Ok(found);
    }
    let found = explain(question, Replaced::Gone, budget)?;
    let found = match found {
        None if may_rest_on_replaced(question.program) => explain(question, Replaced::Kept, budget)?,
        found => found,
    };
    found.ok_or_else(|| broken("a row of the answer is not derived by its rules"))
}

/// The same, with or without best values that were replaced. Nothing if a row does not follow from what there is then.
fn explain(
    question: &Question<'_>,
    replaced: Replaced,
    budget: &Budget,
) -> Result<Option<Vec<Proof>>, Error> {
    let explained = explained(question.program, question.at_hand, replaced)
        .ok_or_else(|| broken("the program of heights has no strata"))?;
    let len = if explained.asked.is_empty() { 0 } else { question.count };
    let column = |column: &usize| question.rows.column(*column)[..len].to_vec();
    let columns = explained.asked.iter().map(column).collect();
    let asked = Rows { columns, len };
    let evaluated =
        Evaluated::of(&explained, asked, question.relations, question.codec, budget, question.thresholds)?;
    if evaluated.lacks_heights()? {
        return Ok(None);
    }
    let prover = Prover::new(&evaluated, question.detail, question.view);
    prover.proofs_of(question.rows, question.count)
}
