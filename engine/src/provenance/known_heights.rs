//! Rows of recursions of which it is known how high each stands, as rounds have found them: proofs are looked up, and nothing is
//! searched for. Where it is not known, such rounds can be made.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::proof::Proof;
use super::prover::{Prover, broken};
use super::solutions::{Beside, Evaluated};
use super::why::Question;
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Rows, Run};
use crate::error::Error;
use crate::exec::{self, ExecError, Outcome, Thresholds};
use crate::maintain::KeptRows;
use crate::rewrite::proofs::{Explained, InRounds, Replaced, Whole, explained};

/// So long it may take to put rows in order, so that proofs can be looked up: a search may find them sooner.
const ORDERING: Duration = Duration::from_millis(100);
/// Where there could be a search, looking them up may take so long, as a search does: what stands above recursions may have much to
/// evaluate.
const LOOKING_UP: Duration = Duration::from_secs(1);

/// Whole relations by their numbers in a program.
pub(super) type WholeRows = HashMap<RelationId, Arc<KeptRows>>;

impl Question<'_> {
    /// The relations of which it is known how high each row stands.
    pub(super) fn with_heights(&self) -> HashSet<RelationId> {
        let known = self.kept.iter().filter(|(_, rows)| rows.know_heights());
        known.map(|(relation, _)| *relation).collect()
    }

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

    /// All rows that a program derives.
    pub(super) fn derived(&self, whole: &Whole, budget: &Budget) -> Result<WholeRows, ExecError> {
        let outcome =
            exec::execute(&whole.program, self.relations, self.codec, budget, self.thresholds, None)?;
        (self.keep)(&whole.program, &outcome);
        Ok(whole_rows(whole, outcome))
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

    /// The same question with more relations of which all rows are at hand.
    pub(super) fn beside<T>(&self, found: &WholeRows, ask: impl FnOnce(&Question<'_>) -> T) -> T {
        let relations = Beside { rows: self.by_name(found), others: self.relations };
        let at_hand = self.at_hand.iter().chain(found.keys()).copied().collect();
        let found = found.iter().map(|(relation, rows)| (*relation, Arc::clone(rows)));
        let kept =
            self.kept.iter().map(|(relation, rows)| (*relation, Arc::clone(rows))).chain(found).collect();
        ask(&Question { relations: &relations, at_hand: &at_hand, kept: &kept, ..*self })
    }

    /// The runs of relations by their names.
    pub(super) fn by_name(&self, rows: &WholeRows) -> HashMap<String, Vec<Run>> {
        let name = |relation: &RelationId| self.program.relations[relation.index()].name.clone();
        rows.iter().map(|(relation, rows)| (name(relation), rows.runs())).collect()
    }
}

/// What was found of whole relations, and when.
fn whole_rows(whole: &Whole, mut outcome: Outcome) -> WholeRows {
    let found = whole.relations.iter().map(|relation| {
        let arity = whole.program.relations[relation.index()].arity;
        let runs = outcome.complete.remove(relation).unwrap_or_default();
        (*relation, Arc::new(KeptRows::found(arity, runs, outcome.rounds.remove(relation))))
    });
    found.collect()
}
