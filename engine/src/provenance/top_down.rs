//! Rows that rest on nothing but relations of which all rows are known, or can be derived first: how high their smallest proofs are is
//! searched for from the top down.

use std::collections::HashMap;

use super::proof::Proof;
use super::prover::{Prover, rows_of};
use super::question::Question;
use super::search::Search;
use super::solutions::{Beside, Evaluated};
use crate::budget::Budget;
use crate::data::Code;
use crate::error::Error;
use crate::rewrite::proofs::{Ask, TopDown};

impl Question<'_> {
    /// Explains rows by what they rest on, among the rows that are at hand and those that have to be derived for that.
    pub(super) fn search_top_down(
        &self,
        TopDown { explained, lacking }: &TopDown,
        budget: &Budget,
    ) -> Result<Option<Vec<Proof>>, Error> {
        let mut rows = HashMap::new();
        if let Some(whole) = lacking {
            let derived = self.derived(whole, budget)?;
            let found = self.beside(&derived, |question| question.by_known_heights(budget))?;
            if found.is_some() {
                return Ok(found);
            }
            rows = self.by_name(&derived);
        }
        rows.insert(Ask::name(explained.goal), vec![self.rows.clone()]);
        let relations = Beside { rows, others: self.relations };
        let evaluated = Evaluated::at_hand(explained, &relations, self.codec, budget, self.thresholds);
        let asked: Vec<Vec<Code>> = rows_of(self.rows).take(self.count).collect();
        let found = Search::of(&evaluated, &asked)?;
        Prover::new(&evaluated, self.detail, self.view).with(found).proofs_of(self.rows, self.count)
    }
}
