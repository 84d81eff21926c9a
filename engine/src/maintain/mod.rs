//! Rows of rules, brought from one state of what they follow from to another at the cost of what has changed.
//!
//! A stratum at a time. The programs of changes (`rewrite/changes`) are ordinary programs over the sides of relations; what
//! they find is put into new relations, which share with the old ones whatever stayed. The old state stays as it was, so
//! a step that fails has done nothing.

mod bests;
mod conditions;
mod cost;
mod followed;
mod from_scratch;
mod groups;
mod kept_rows;
mod pairs;
mod ranked;
mod rehearsal;
mod sets;
mod start_rules;
mod walk;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::analysis::program::{Program, Rule, Stratum};
use crate::budget::Budget;
use crate::data::{Codec, Dictionary, Difference, Learning, Relation, RelationId, Rows, Run};
use crate::exec::{self, ExecError, Outcome, Relations, Rounds, Thresholds};
use crate::plan::{Forward, HandedOn};
use crate::rewrite::changes::{self, OfStratum, Ranks, Side};

pub(crate) use cost::Cost;
pub(crate) use followed::{Followed, NextState};
pub(crate) use kept_rows::{KeptRows, Ordered};
pub(crate) use rehearsal::rehearse;

/// Relations by their name.
pub(crate) type Named = BTreeMap<String, Relation>;

/// What a step stands on.
pub(crate) struct Step<'s> {
    pub(crate) program: &'s Program,
    /// That of the program whose relations are brought forward.
    pub(crate) stratum: &'s Stratum,
    /// The relations that it reads, and the stored rows of its own, as they were.
    pub(crate) before: &'s Named,
    /// The same as they are now.
    pub(crate) now: &'s Named,
    /// The rows of its relations as they were.
    pub(crate) old: &'s BTreeMap<String, Ordered>,
    pub(crate) means: Means<'s>,
}

/// What a step needs beside rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Means<'m> {
    /// The values of all codes; what is computed is learnt.
    pub(crate) dictionary: &'m Arc<Dictionary>,
    pub(crate) thresholds: Thresholds,
}

/// The rows of a stratum's relations as they are now, by their names, and how they were found.
pub(crate) struct Advanced {
    rows: BTreeMap<String, Ordered>,
    pub(crate) way: Forward,
    /// What has changed of the rows, where those of another relation are handed on.
    difference: Option<Difference>,
}

impl Advanced {
    fn new(rows: Named, way: Forward) -> Advanced {
        Advanced::of(rows.into_iter().map(|(name, rows)| (name, rows.into())).collect(), way)
    }

    fn of(rows: BTreeMap<String, Ordered>, way: Forward) -> Advanced {
        Advanced { rows, way, difference: None }
    }

    /// The same without how they were found.
    pub(crate) fn into_rows(self) -> BTreeMap<String, Ordered> {
        self.rows
    }

    /// The same as what is kept.
    pub(crate) fn into_kept(self) -> BTreeMap<String, Arc<KeptRows>> {
        let kept = self.rows.into_iter().map(|(name, rows)| (name, Arc::new(KeptRows::ordered(rows))));
        kept.collect()
    }
}

/// The rows of the stratum's relations as they are now; none if they have to be derived anew.
pub(crate) fn advance(step: &Step<'_>, budget: &Budget) -> Result<Option<Advanced>, ExecError> {
    let mut changed = changed(step);
    if changed.is_empty() {
        return Ok(Some(Advanced::of(step.old.clone(), Forward::AsTheyAre)));
    }
    if let Some((rows, source)) = handed_on(step) {
        let difference = changed.remove(&source);
        return Ok(Some(Advanced { difference, ..Advanced::new(rows, Forward::Shared) }));
    }
    let mut sides = Sides::default();
    for (relation, difference) in &changed {
        let name = &step.program.relations[relation.index()].name;
        sides.add(Side::Added.of(name), vec![run_of(&difference.added)]);
        sides.add(Side::Removed.of(name), vec![run_of(&difference.removed)]);
        sides.add_relation(Side::Before.of(name), step.before.get(name));
    }
    for (name, relation) in step.now {
        sides.add_relation(Side::Now.of(name), Some(relation));
    }
    for (name, old) in step.old {
        sides.add_relation(Side::Old.of(name), Some(&old.rows));
    }
    let below = changed.keys().copied().collect();
    let follow = Follow { step, below, budget };
    let found = |rows: Option<Named>, way| Ok(rows.map(|rows| Advanced::new(rows, way)));
    if !step.stratum.recursive {
        return match changes::rule_of_groups(step.program, step.stratum, &follow.below) {
            Some(rule) => found(follow.groups(rule, sides)?, Forward::Groups),
            None => found(follow.flat(&sides)?, Forward::Joins),
        };
    }
    let starts = |rules: &[&Rule], side| follow.starts(rules, side, &sides);
    if let rows @ Some(_) = walk::advance(step, &changed, &starts, budget)? {
        return found(rows, Forward::Walk);
    }
    if let rows @ Some(_) = bests::advance(step, &changed, &starts, budget)? {
        return found(rows, Forward::BestValues);
    }
    if !changes::can_follow(step.program, step.stratum) {
        return Ok(None);
    }
    if let Some(ranked) = ranked::of_all(step.old) {
        return follow.ranked(ranked, sides);
    }
    found(follow.recursive(sides)?, Forward::Rederivation)
}

/// The rows of another relation, if the stratum hands them on as they are, and which that is.
fn handed_on(step: &Step<'_>) -> Option<(Named, RelationId)> {
    let [rule] = step.stratum.rules.as_slice() else { return None };
    let whole = HandedOn::of(rule).filter(HandedOn::is_straight)?;
    let [head, source] = [rule.head, whole.source].map(|relation| &step.program.relations[relation.index()]);
    let is_alone = !step.stratum.recursive && !head.stored && head.best.is_none();
    let rows = step.now.get(&source.name).filter(|_| is_alone)?;
    Some((Named::from([(head.name.clone(), rows.clone())]), whole.source))
}

/// What has changed of the relations that a step stands on.
fn changed(step: &Step<'_>) -> BTreeMap<RelationId, Difference> {
    let ids = step.program.relations.iter().enumerate();
    let changed = ids.filter_map(|(id, relation)| {
        let (before, now) = (step.before.get(&relation.name)?, step.now.get(&relation.name)?);
        let difference = Difference::between(before, now);
        (!difference.is_empty()).then(|| (RelationId::new(id), difference))
    });
    changed.collect()
}

struct Follow<'s> {
    step: &'s Step<'s>,
    below: BTreeSet<RelationId>,
    budget: &'s Budget,
}

impl Follow<'_> {
    fn flat(&self, sides: &Sides) -> Result<Option<Named>, ExecError> {
        let Step { program, stratum, .. } = *self.step;
        let Some((changes, found)) = changes::flat(program, stratum, &self.below) else { return Ok(None) };
        let Some(outcome) = self.execute(&changes, sides)? else { return Ok(None) };
        let mut learning = Learning::from(&outcome.codec);
        let mut rows = Named::new();
        for (head, change) in found {
            let (name, arity) = self.described(head);
            let old = self.old(name, arity);
            let mut found = |relation| learning.rows(outcome.rows(relation, arity));
            let [gone, still, come] = [found(change.gone)?, found(change.still)?, found(change.come)?];
            let left = Relation::empty(arity).insert(&gone).0;
            let left = left.delete(&still).0.delete(&come).0;
            let rest = old.delete(&Rows::of_runs(arity, left.runs())).0;
            rows.insert(name.to_owned(), rest.insert(&come).0);
        }
        Ok(Some(rows))
    }

    fn recursive(&self, mut sides: Sides) -> Result<Option<Named>, ExecError> {
        let Step { program, stratum, .. } = *self.step;
        let gone = changes::gone(program, stratum, &self.below);
        let Some(Changed { rows: gone, .. }) = self.find(&gone, &sides)? else { return Ok(None) };
        let mut rows = Named::new();
        for (head, gone) in &gone {
            let (name, arity) = self.described(*head);
            let old = self.old(name, arity);
            sides.add(Side::Gone.of(name), vec![run_of(gone)]);
            rows.insert(name.to_owned(), old.delete(gone).0);
        }
        if gone.values().any(|gone| gone.len > 0) {
            self.keep(&mut sides, &rows);
            let restored = changes::restored(program, stratum, &self.below, Ranks::None);
            let Some(restored) = self.find(&restored, &sides)? else { return Ok(None) };
            self.take_in(&mut rows, restored.rows);
        }
        self.keep(&mut sides, &rows);
        let come = changes::come(program, stratum, &self.below, Ranks::None);
        let Some(come) = self.find(&come, &sides)? else { return Ok(None) };
        self.take_in(&mut rows, come.rows);
        Ok(Some(rows))
    }

    /// The rows of rules that say where a recursion begins.
    fn starts(&self, rules: &[&Rule], side: Side, sides: &Sides) -> Result<Option<Rows>, ExecError> {
        let Step { program, stratum, .. } = *self.step;
        let starts = changes::starts(program, stratum, &self.below, rules, side);
        let Some((program, found)) = starts else { return Ok(None) };
        let Some(outcome) = self.execute(&program, sides)? else { return Ok(None) };
        let arity = program.relations[found.index()].arity;
        Ok(Some(Learning::from(&outcome.codec).rows(outcome.rows(found, arity))?))
    }

    /// From here on these rows are known.
    fn keep(&self, sides: &mut Sides, rows: &Named) {
        rows.iter().for_each(|(name, rows)| sides.add_relation(Side::Kept.of(name), Some(rows)));
    }

    fn take_in(&self, rows: &mut Named, found: BTreeMap<RelationId, Rows>) {
        for (head, found) in found {
            let (name, _) = self.described(head);
            if let Some(rows) = rows.get_mut(name) {
                *rows = rows.insert(&found).0;
            }
        }
    }

    /// The rows that a program of changes finds of each relation of the stratum.
    fn find(&self, changes: &Option<OfStratum>, sides: &Sides) -> Result<Option<Changed>, ExecError> {
        let Some((program, found)) = changes else { return Ok(None) };
        let Some(mut outcome) = self.execute(program, sides)? else { return Ok(None) };
        let mut learning = Learning::from(&outcome.codec);
        let mut changed = Changed::default();
        for (head, found) in found {
            let arity = program.relations[found.index()].arity;
            changed.rows.insert(*head, learning.rows(outcome.rows(*found, arity))?);
            changed.rounds.extend(outcome.outcome.rounds.remove(found).map(|rounds| (*head, rounds)));
        }
        Ok(Some(changed))
    }

    /// None if something has to be said of the rows that their evaluation says.
    fn execute(&self, program: &Program, sides: &Sides) -> Result<Option<Found>, ExecError> {
        /// The next steps find the indexes that this one makes.
        const USES: usize = 1_000;
        let Means { dictionary, thresholds } = self.step.means;
        let thresholds = Thresholds { index_uses: USES, ..thresholds };
        let codec = Codec::over(Arc::clone(dictionary));
        let outcome = exec::execute(program, sides, &codec, self.budget, thresholds, None)?;
        Ok((!outcome.saturated && outcome.remarks.is_empty()).then_some(Found { outcome, codec }))
    }

    fn described(&self, relation: RelationId) -> (&str, usize) {
        let relation = &self.step.program.relations[relation.index()];
        (&relation.name, relation.arity)
    }

    fn old(&self, name: &str, arity: usize) -> Relation {
        self.step.old.get(name).map_or_else(|| Relation::empty(arity), |old| old.rows.clone())
    }
}

/// What has become of the relations of a stratum.
#[derive(Default)]
struct Changed {
    rows: BTreeMap<RelationId, Rows>,
    /// When each row was found, if that is known.
    rounds: BTreeMap<RelationId, Rounds>,
}

/// What a program of changes has found.
struct Found {
    outcome: Outcome,
    /// The values of its codes.
    codec: Codec,
}

impl Found {
    fn rows(&self, relation: RelationId, arity: usize) -> Rows {
        Rows::of_runs(arity, self.outcome.complete.get(&relation).map_or(&[], Vec::as_slice))
    }
}

/// The rows that programs of changes read.
#[derive(Default)]
struct Sides(HashMap<String, Vec<Run>>);

impl Sides {
    fn add(&mut self, name: String, runs: Vec<Run>) {
        self.0.insert(name, runs);
    }

    fn add_relation(&mut self, name: String, relation: Option<&Relation>) {
        self.add(name, relation.map(|relation| relation.runs().to_vec()).unwrap_or_default());
    }
}

impl Relations for Sides {
    fn runs(&self, relation: &str) -> Vec<Run> {
        self.0.get(relation).into_iter().flatten().filter(|run| !run.is_empty()).cloned().collect()
    }
}

fn run_of(rows: &Rows) -> Run {
    Run::new(rows.columns.clone(), rows.len)
}
