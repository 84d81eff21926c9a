//! One stratum to its fixpoint, semi-naively.
//!
//! Rows live in three places: *stable* runs, the *delta* that the last round found, and *fresh* rows that this round
//! finds. A round joins the delta with everything; what is fresh becomes the next delta.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use super::Outcome;
use super::best_rows::BestRows;
use super::derive::LANE_ROWS;
use super::error::ExecError;
use super::expression::Evaluator;
use super::growing::{Growing, run_of};
use super::profile::{Meter, Notes};
use super::relations::Relations;
use super::remarks::Remarks;
use super::row_set::RowSet;
use super::thresholds::Thresholds;
use crate::analysis::program::{Program, Rule, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::{Codec, RelationId, Rows, Run};
use crate::plan::{
    Access, EdgeSource, Large, RelationNote, RulePlan, SearchPlan, Share, Size, Statistics, StratumNote,
    Version, makes_rows_once, note, plan_delta_variants, plan_rule, share,
};

/// What a pipeline may read while a stratum is evaluated.
pub(super) struct View<'a> {
    pub(super) program: &'a Program,
    pub(super) codec: &'a Codec,
    pub(super) budget: &'a Budget,
    pub(super) thresholds: Thresholds,
    /// Relations of earlier strata, and stored ones once they were asked for.
    pub(super) complete: HashMap<RelationId, Vec<Run>>,
    /// Relations of the current stratum.
    pub(super) growing: HashMap<RelationId, Growing>,
    pub(super) remarks: Arc<Remarks>,
}

/// What is known of a relation while a stratum is evaluated.
pub(super) enum Known {
    /// Every row.
    All(RowSet),
    /// The best row of each group.
    Best(BestRows),
    /// Nothing, where no row comes twice.
    Nothing,
}

/// A rule's plan, with a meter if it is measured.
pub(super) struct Planned {
    pub(super) plan: RulePlan,
    pub(super) meter: Option<Meter>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        program: &'a Program,
        relations: &'a dyn Relations,
        codec: &'a Codec,
        budget: &'a Budget,
        thresholds: Thresholds,
    ) -> View<'a> {
        let mut complete = HashMap::new();
        for (index, relation) in program.relations.iter().enumerate() {
            if relation.stored {
                complete.insert(RelationId::new(index), relations.runs(&relation.name));
            }
        }
        View {
            program,
            codec,
            budget,
            thresholds,
            complete,
            growing: HashMap::new(),
            remarks: Arc::default(),
        }
    }

    /// The runs of a relation, in one of its versions.
    pub(super) fn runs(&self, access: Access) -> Vec<Run> {
        match self.growing.get(&access.relation) {
            None => self.complete.get(&access.relation).cloned().unwrap_or_default(),
            Some(growing) => match access.version {
                Version::All => growing.stable.iter().chain(&growing.delta).cloned().collect(),
                Version::Old => growing.stable.clone(),
                Version::Delta => growing.delta.iter().cloned().collect(),
            },
        }
    }

    pub(super) fn evaluator(&'a self) -> Evaluator<'a> {
        Evaluator::new(self.codec, &self.remarks.saturated, self.budget)
    }

    pub(super) fn finish(mut self) -> Outcome {
        let runs = self.complete.remove(&self.program.goal).unwrap_or_default();
        let (saturated, remarks) = (self.remarks.is_saturated(), self.remarks.of_aggregates());
        Outcome { runs, complete: self.complete, saturated, remarks }
    }

    /// Evaluates a stratum, and tells how that went.
    pub(super) fn measure(&mut self, stratum: &Stratum) -> Result<StratumNote, ExecError> {
        let mut notes = Notes::start();
        self.evaluate(stratum, Some(&mut notes))?;
        let course = notes.course();
        let relations = stratum.relations.iter().map(|relation| RelationNote {
            name: self.program.relations[relation.index()].name.clone(),
            size: Size::Found(self.rows(*relation)),
        });
        Ok(StratumNote {
            relations: relations.collect(),
            recursive: stratum.recursive,
            large: Large::of(stratum, self.program).map(|large| large.note()),
            rules: notes.rules,
            course: Some(course),
        })
    }

    /// Evaluates a stratum; its relations are complete afterwards.
    pub(super) fn evaluate(
        &mut self,
        stratum: &Stratum,
        mut notes: Option<&mut Notes>,
    ) -> Result<(), ExecError> {
        if let Some(share) = share(stratum, self.program, self) {
            self.share(&share, notes);
            return Ok(());
        }
        let is_measured = notes.is_some();
        let own: HashSet<RelationId> = stratum.relations.iter().copied().collect();
        let lone_rule = self.lone_rule(stratum);
        let mut sets: HashMap<RelationId, Known> = match lone_rule {
            Some(rule) if makes_rows_once(rule) => HashMap::from([(rule.head, Known::Nothing)]),
            _ => own.iter().map(|relation| (*relation, self.nothing_known(*relation))).collect(),
        };
        let mut fresh: HashMap<RelationId, Vec<Rows>> = HashMap::new();

        // Stored rows count beside what rules derive.
        for &relation in &stratum.relations {
            for run in self.complete.remove(&relation).unwrap_or_default() {
                let rows = self.take_in(&mut sets, relation, &run.live_rows())?;
                fresh.entry(relation).or_default().push(rows);
            }
            self.growing.insert(relation, Growing::default());
        }
        let reads_own = |rule: &Rule| rule.atoms().any(|atom| own.contains(&atom.relation));
        for rule in stratum.rules.iter().filter(|rule| !reads_own(rule)) {
            if let Some(search) = SearchPlan::of(rule, self.program) {
                let rows = self.derive_search(&search, rule, &mut notes, &mut sets)?;
                fresh.entry(rule.head).or_default().push(rows);
                continue;
            }
            let planned = self.planned(plan_rule(rule, self), rule, is_measured);
            let apart = match sets.get(&rule.head) {
                Some(Known::All(_)) if lone_rule.is_some() => self.derive_apart(&planned)?,
                _ => None,
            };
            let rows = match apart {
                Some(rows) => rows,
                None => self.derive(&planned, rule.aggregates(), &mut sets)?,
            };
            fresh.entry(rule.head).or_default().extend(rows);
            if let Some(notes) = &mut notes {
                notes.rules.extend(planned.meter.map(Meter::finish));
            }
        }
        let mut variants: Vec<Planned> = Vec::new();
        for rule in &stratum.rules {
            // A rule that reads its own relation a thousand times has a thousand plans.
            for plan in plan_delta_variants(rule, &own, self) {
                self.budget.check()?;
                variants.push(self.planned(plan, rule, is_measured));
            }
        }
        let keeps_best = sets.values().any(|known| matches!(known, Known::Best(_)));
        let mut large = Large::of(stratum, self.program);
        let looked_up = looked_up(&variants);
        let (mut rounds, mut large_time) = (0, None);
        loop {
            if keeps_best {
                self.improved(&mut sets, &looked_up, &mut fresh)?;
            }
            if !self.advance(&stratum.relations, &mut fresh)? {
                break;
            }
            if let Some(how) = large.take_if(|large| self.is_worth(large, &sets)) {
                self.budget.expect_rows(|| self.rows_read(&how))?;
                let started = Instant::now();
                if let Some(more) = self.go_large(&how, &variants, &mut sets)? {
                    (rounds, large_time) = (rounds + more, Some(started.elapsed()));
                    break;
                }
            }
            rounds += 1;
            for planned in &variants {
                let rows = self.derive(planned, false, &mut sets)?;
                fresh.entry(planned.plan.head).or_default().extend(rows);
            }
        }
        for (relation, growing) in std::mem::take(&mut self.growing) {
            let runs = match sets.get_mut(&relation) {
                Some(Known::Best(best)) => vec![run_of(best.all())?],
                _ => growing.stable,
            };
            self.complete.insert(relation, runs);
        }
        if let Some(notes) = notes {
            notes.rules.extend(variants.into_iter().filter_map(|planned| planned.meter).map(Meter::finish));
            (notes.rounds, notes.large) = (rounds, large_time);
        }
        Ok(())
    }

    /// The rows that a search finds and that are new.
    fn derive_search(
        &self,
        search: &SearchPlan,
        rule: &Rule,
        notes: &mut Option<&mut Notes>,
        sets: &mut HashMap<RelationId, Known>,
    ) -> Result<Rows, ExecError> {
        let way = search.way(self, self.thresholds.candidate_rows);
        let is_growing = |relation| self.growing.contains_key(&relation);
        let meter = notes
            .is_some()
            .then(|| Meter::new(search.note(rule, way, self.program, self, is_growing).ends()));
        let found = self.search(search, way, meter.as_ref())?;
        let rows = self.take_in(sets, rule.head, &found)?;
        if let (Some(notes), Some(meter)) = (notes, meter) {
            meter.rows(1, rows.len);
            notes.rules.push(meter.finish());
        }
        Ok(rows)
    }

    /// The same view, in which one more relation has these rows.
    pub(super) fn beside(&self, relation: RelationId, run: Run) -> View<'_> {
        let mut complete = self.complete.clone();
        complete.insert(relation, vec![run]);
        View { complete, growing: HashMap::new(), remarks: Arc::clone(&self.remarks), ..*self }
    }

    /// The rule whose rows are all that there is.
    fn lone_rule<'s>(&self, stratum: &'s Stratum) -> Option<&'s Rule> {
        let [rule] = stratum.rules.as_slice() else { return None };
        let stored = self.complete.get(&rule.head).is_some_and(|runs| !runs.is_empty());
        (!stratum.recursive && !stored).then_some(rule)
    }

    fn nothing_known(&self, relation: RelationId) -> Known {
        let arity = self.arity(relation);
        match self.program.relations[relation.index()].best {
            Some(best) => Known::Best(BestRows::new(arity, best)),
            None => Known::All(RowSet::shared(arity)),
        }
    }

    /// Takes what became better in the last round for fresh. Rows that it replaces may stay where they are looked up:
    /// nothing that follows from them is better. Where they have become many, only the best ones are left.
    fn improved(
        &mut self,
        sets: &mut HashMap<RelationId, Known>,
        looked_up: &HashSet<RelationId>,
        fresh: &mut HashMap<RelationId, Vec<Rows>>,
    ) -> Result<(), BudgetError> {
        for (relation, known) in sets {
            let Known::Best(best) = known else { continue };
            fresh.insert(*relation, vec![best.take_changed()]);
            if let Some(growing) = self.growing.get_mut(relation) {
                if !looked_up.contains(relation) {
                    *growing = Growing::default();
                } else if growing.rows() > 2 * best.len() + LANE_ROWS {
                    *growing = Growing { stable: vec![run_of(best.all())?], delta: None };
                }
            }
        }
        Ok(())
    }

    /// Starts the next round; answers whether there is anything to do in it.
    pub(super) fn advance(
        &mut self,
        relations: &[RelationId],
        fresh: &mut HashMap<RelationId, Vec<Rows>>,
    ) -> Result<bool, BudgetError> {
        let mut more = false;
        for relation in relations {
            let arity = self.arity(*relation);
            let rows = fresh.remove(relation).unwrap_or_default();
            if let Some(growing) = self.growing.get_mut(relation) {
                more |= growing.advance(rows, arity)?;
            }
        }
        Ok(more)
    }

    /// Completes a relation with the runs of another one.
    fn share(&mut self, share: &Share<'_>, notes: Option<&mut Notes>) {
        let runs = self.runs(Access { relation: share.source, version: Version::All });
        if let Some(notes) = notes {
            let meter = Meter::new(share.note(self.program, self, |_| false));
            meter.rows(0, runs.iter().map(Run::len).sum());
            notes.rules.push(meter.finish());
        }
        self.complete.insert(share.head, runs);
    }

    fn planned(&self, plan: RulePlan, rule: &Rule, is_measured: bool) -> Planned {
        let is_growing = |relation| self.growing.contains_key(&relation);
        let meter = is_measured.then(|| Meter::new(note(&plan, rule, self.program, self, is_growing)));
        Planned { plan, meter }
    }

    /// Adds rows to the known ones; answers those that are new.
    pub(super) fn take_in(
        &self,
        sets: &mut HashMap<RelationId, Known>,
        relation: RelationId,
        rows: &Rows,
    ) -> Result<Rows, ExecError> {
        match sets.get_mut(&relation) {
            Some(Known::All(set)) => {
                let mut candidates = set.candidates();
                set.collect(&rows.slices(), rows.len, &mut candidates, self.budget)?;
                set.absorb(vec![candidates], self.budget)
            }
            Some(Known::Best(best)) => {
                let mut improvements = best.improvements();
                best.collect(&rows.slices(), &mut improvements, self.codec, self.budget)?;
                best.absorb(vec![improvements], self.codec, self.budget)?;
                Ok(Rows::empty(self.arity(relation)))
            }
            Some(Known::Nothing) | None => Ok(Rows::empty(self.arity(relation))),
        }
    }

    /// Rows that are read to find these edges.
    pub(super) fn edges_read(&self, source: &EdgeSource) -> usize {
        match source {
            EdgeSource::Relation { relation, .. } => self.rows(*relation),
            EdgeSource::Rule(rule) => self.largest_read(rule),
        }
    }

    /// Rows of the largest relation that a rule reads.
    pub(super) fn largest_read(&self, rule: &Rule) -> usize {
        rule.reads().map(|relation| self.rows(relation)).max().unwrap_or(0)
    }

    pub(super) fn arity(&self, relation: RelationId) -> usize {
        // Relations beside those of the program have rows.
        let beside = || {
            let runs = self.complete.get(&relation).and_then(|runs| runs.first());
            runs.map_or(0, |run| run.batch().num_columns())
        };
        self.program.relations.get(relation.index()).map_or_else(beside, |known| known.arity)
    }
}

/// The relations that plans read in another way than as last round's new rows.
fn looked_up(variants: &[Planned]) -> HashSet<RelationId> {
    let accesses = variants.iter().flat_map(|planned| planned.plan.accesses());
    accesses.filter(|access| access.version != Version::Delta).map(|access| access.relation).collect()
}

impl Statistics for View<'_> {
    fn rows(&self, relation: RelationId) -> usize {
        match self.growing.get(&relation) {
            None => self.complete.get(&relation).into_iter().flatten().map(Run::len).sum(),
            // It will grow: take it for no smaller than the largest relation that is known.
            Some(growing) => {
                let largest =
                    self.complete.values().map(|runs| runs.iter().map(Run::len).sum()).max().unwrap_or(0);
                growing.rows().max(largest)
            }
        }
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        match self.growing.get(&relation) {
            None => self
                .complete
                .get(&relation)
                .into_iter()
                .flatten()
                .filter(|run| !run.is_empty())
                .map(|run| run.distinct(column))
                .max()
                .unwrap_or(1),
            Some(_) => self.rows(relation).isqrt(),
        }
    }

    fn is_sorted(&self, relation: RelationId, column: usize) -> bool {
        let runs = self.complete.get(&relation);
        runs.is_some_and(|runs| !runs.is_empty() && runs.iter().all(|run| run.is_sorted_by(column)))
    }
}
