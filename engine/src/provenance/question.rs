//! `Question`: rows that are to be explained, and what is at hand for that.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::proof::Detail;
use super::solutions::Beside;
use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::data::{Codec, RelationId, Run};
use crate::exec::{self, ExecError, Outcome, Relations, Thresholds};
use crate::graph::SessionView;
use crate::maintain::KeptRows;
use crate::rewrite::proofs::Whole;

/// For more rows than these it is better to find out once what they have in common.
const FEW_ROWS: usize = 16;

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

/// Whole relations by their numbers in a program.
pub(super) type WholeRows = HashMap<RelationId, Arc<KeptRows>>;

impl Question<'_> {
    /// Whether proofs are searched for, if that can be done, before heights are evaluated.
    pub(super) fn is_searched_for(&self) -> bool {
        // Along stored edges a walk from one start begins with the first row, unless none ever does: then nothing is searched.
        let is_walked = self.thresholds.lone_walk_rows <= 1;
        // Of several proofs of a row the heights are needed, and these are evaluated.
        is_walked && self.detail != Detail::Alternatives && self.count <= FEW_ROWS
    }

    /// The relations of which it is known how high each row stands.
    pub(super) fn with_heights(&self) -> HashSet<RelationId> {
        let known = self.kept.iter().filter(|(_, rows)| rows.know_heights());
        known.map(|(relation, _)| *relation).collect()
    }

    /// All rows that a program derives.
    pub(super) fn derived(&self, whole: &Whole, budget: &Budget) -> Result<WholeRows, ExecError> {
        let outcome =
            exec::execute(&whole.program, self.relations, self.codec, budget, self.thresholds, None)?;
        (self.keep)(&whole.program, &outcome);
        Ok(whole_rows(whole, outcome))
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
pub(super) fn whole_rows(whole: &Whole, mut outcome: Outcome) -> WholeRows {
    let found = whole.relations.iter().map(|relation| {
        let arity = whole.program.relations[relation.index()].arity;
        let runs = outcome.complete.remove(relation).unwrap_or_default();
        (*relation, Arc::new(KeptRows::found(arity, runs, outcome.rounds.remove(relation))))
    });
    found.collect()
}
