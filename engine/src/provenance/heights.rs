//! Rows that are explained by heights which are evaluated for that: those of the rows that they depend on.

use std::collections::HashMap;

use super::proof::Proof;
use super::prover::{Prover, broken};
use super::question::Question;
use super::solutions::{Beside, Evaluated};
use crate::budget::Budget;
use crate::data::{Rows, Run};
use crate::error::Error;
use crate::rewrite::proofs::{Explained, InRounds, Replaced, explained, may_rest_on_replaced};

impl Question<'_> {
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

    /// Explains rows by what is evaluated for that. Nothing if a row does not follow from what there is then.
    pub(super) fn explain(
        &self,
        explained: &Explained,
        budget: &Budget,
    ) -> Result<Option<Vec<Proof>>, Error> {
        let relations = &explained.program.relations;
        let heights = explained.known.iter().map(|InRounds { relation, lowest }| {
            let with_heights = explained.derived[relation].height.relation()?;
            let rows = budget.lasting(|| self.kept.get(relation)?.with_heights(*lowest))?;
            Some((relations[with_heights.index()].name.clone(), rows.runs().to_vec()))
        });
        let heights: Option<HashMap<String, Vec<Run>>> = heights.collect();
        let rows = heights.ok_or_else(|| broken("heights are those of another level"))?;
        let relations = Beside { rows, others: self.relations };
        let len = if explained.asked.is_empty() { 0 } else { self.count };
        let column = |column: &usize| self.rows.column(*column)[..len].to_vec();
        let asked = Rows { columns: explained.asked.iter().map(column).collect(), len };
        let evaluated = Evaluated::of(explained, asked, &relations, self.codec, budget, self.thresholds)?;
        if evaluated.lacks_heights()? {
            return Ok(None);
        }
        Prover::new(&evaluated, self.detail, self.view).proofs_of(self.rows, self.count)
    }
}
