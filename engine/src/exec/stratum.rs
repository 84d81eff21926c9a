//! One stratum to its fixpoint, semi-naively.
//!
//! Rows live in three places: *stable* runs, the *delta* that the last round found, and *fresh* rows that this round
//! finds. A round joins the delta with everything; what is fresh becomes the next delta.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Outcome;
use super::aggregate::Grouping;
use super::batch::Bindings;
use super::best_rows::BestRows;
use super::error::ExecError;
use super::expression::Evaluator;
use super::pipeline::Pipeline;
use super::pivot::split;
use super::profile::{Meter, Notes};
use super::ranking::Ranker;
use super::relations::Relations;
use super::row_set::RowSet;
use super::thresholds::Thresholds;
use crate::analysis::program::{HeadTerm, Literal, Program, Rule, Stratum};
use crate::budget::Budget;
use crate::data::{Code, Codec, RelationId, Rows, Run, parallel};
use crate::plan::{
    Access, EdgeSource, Large, RelationNote, RulePlan, Share, Size, Statistics, StratumNote, Version, note,
    plan_delta_variants, plan_rule, share,
};

/// Source rows of one lane.
const LANE_ROWS: usize = 8_192;
/// Lanes whose candidates are held at once.
const WAVE_LANES: usize = 64;

/// What a pipeline may read while a stratum is evaluated.
pub(super) struct View<'a> {
    program: &'a Program,
    pub(super) codec: &'a Codec,
    pub(super) budget: &'a Budget,
    pub(super) thresholds: Thresholds,
    /// Relations of earlier strata, and stored ones once they were asked for.
    complete: HashMap<RelationId, Vec<Run>>,
    /// Relations of the current stratum.
    growing: HashMap<RelationId, Growing>,
    saturated: Arc<AtomicBool>,
}

/// What is known of a relation while a stratum is evaluated.
enum Known {
    /// Every row.
    All(RowSet),
    /// The best row of each group.
    Best(BestRows),
}

/// A rule's plan, with a meter if it is measured.
struct Planned {
    plan: RulePlan,
    meter: Option<Meter>,
}

/// A relation inside a fixpoint.
#[derive(Default)]
struct Growing {
    stable: Vec<Run>,
    delta: Option<Run>,
}

impl Growing {
    fn rows(&self) -> usize {
        self.stable.iter().chain(&self.delta).map(Run::len).sum()
    }

    /// Ages the delta into the stable runs and puts fresh rows in its place; answers whether there are any. Runs are
    /// merged when a younger one has grown to half of its elder, so a probe meets few of them.
    fn advance(&mut self, fresh: Vec<Rows>, arity: usize) -> bool {
        if let Some(delta) = self.delta.take() {
            let mut runs = vec![delta];
            while let Some(last) = self.stable.last()
                && last.len() <= 2 * runs.iter().map(Run::len).sum::<usize>()
            {
                runs.extend(self.stable.pop());
            }
            runs.reverse();
            self.stable.push(match <[Run; 1]>::try_from(runs) {
                Ok([only]) => only,
                Err(runs) => {
                    let rows = concatenate(&runs, arity);
                    Run::new(rows.columns, rows.len)
                }
            });
        }
        let rows = gather(fresh, arity);
        if rows.len > 0 {
            self.delta = Some(Run::new(rows.columns, rows.len));
        }
        self.delta.is_some()
    }
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
            saturated: Arc::new(AtomicBool::new(false)),
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
        Evaluator::new(self.codec, &self.saturated, self.budget)
    }

    pub(super) fn finish(mut self) -> Outcome {
        let runs = self.complete.remove(&self.program.goal).unwrap_or_default();
        Outcome { runs, saturated: self.saturated.load(Ordering::Relaxed) }
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
        let mut sets: HashMap<RelationId, Known> =
            own.iter().map(|relation| (*relation, self.nothing_known(*relation))).collect();
        let mut fresh: HashMap<RelationId, Vec<Rows>> = HashMap::new();

        // Stored rows count beside what rules derive.
        for &relation in &stratum.relations {
            for run in self.complete.remove(&relation).unwrap_or_default() {
                let rows = concatenate(&[run], self.arity(relation));
                let rows = self.take_in(&mut sets, relation, &rows)?;
                fresh.entry(relation).or_default().push(rows);
            }
            self.growing.insert(relation, Growing::default());
        }
        let reads_own = |rule: &Rule| {
            rule.body
                .iter()
                .any(|literal| matches!(literal, Literal::Atom(atom) if own.contains(&atom.relation)))
        };
        for rule in stratum.rules.iter().filter(|rule| !reads_own(rule)) {
            let planned = self.planned(plan_rule(rule, self), rule, is_measured);
            let rows = self.derive(&planned, rule.aggregates(), &mut sets)?;
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
        let (mut rounds, mut went_large) = (0, false);
        loop {
            if keeps_best {
                self.improved(&mut sets, &looked_up, &mut fresh);
            }
            if !self.advance(&stratum.relations, &mut fresh) {
                break;
            }
            if let Some(how) = large.take_if(|large| self.is_worth(large, &sets))
                && let Some(more) = self.go_large(&how, &variants, &mut sets)?
            {
                (rounds, went_large) = (rounds + more, true);
                break;
            }
            rounds += 1;
            for planned in &variants {
                let rows = self.derive(planned, false, &mut sets)?;
                fresh.entry(planned.plan.head).or_default().extend(rows);
            }
        }
        for (relation, growing) in std::mem::take(&mut self.growing) {
            let runs = match sets.get_mut(&relation) {
                Some(Known::Best(best)) => vec![run_of(best.all())],
                _ => growing.stable,
            };
            self.complete.insert(relation, runs);
        }
        if let Some(notes) = notes {
            notes.rules.extend(variants.into_iter().filter_map(|planned| planned.meter).map(Meter::finish));
            (notes.rounds, notes.went_large) = (rounds, went_large);
        }
        Ok(())
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
    ) {
        for (relation, known) in sets {
            let Known::Best(best) = known else { continue };
            fresh.insert(*relation, vec![best.take_changed()]);
            if let Some(growing) = self.growing.get_mut(relation) {
                if !looked_up.contains(relation) {
                    *growing = Growing::default();
                } else if growing.rows() > 2 * best.len() + LANE_ROWS {
                    *growing = Growing { stable: vec![run_of(best.all())], delta: None };
                }
            }
        }
    }

    /// Starts the next round; answers whether there is anything to do in it.
    fn advance(&mut self, relations: &[RelationId], fresh: &mut HashMap<RelationId, Vec<Rows>>) -> bool {
        let mut more = false;
        for relation in relations {
            let arity = self.arity(*relation);
            let rows = fresh.remove(relation).unwrap_or_default();
            if let Some(growing) = self.growing.get_mut(relation) {
                more |= growing.advance(rows, arity);
            }
        }
        more
    }

    /// Whether there is enough to do to go on in another way.
    fn is_worth(&self, large: &Large, sets: &HashMap<RelationId, Known>) -> bool {
        let growing = |relation| self.growing.get(relation).map(|growing| (growing.rows(), &growing.delta));
        match large {
            Large::Walk(traversal) => {
                growing(&traversal.relation).is_some_and(|(known, _)| self.is_worth_walking(traversal, known))
            }
            Large::Matrices(chains) => {
                let known = self.growing.values().map(Growing::rows).sum();
                self.is_worth_multiplying(chains, known)
            }
            Large::Relax(relaxation) => match sets.get(&relaxation.relation) {
                Some(Known::Best(best)) => self.is_worth_relaxing(relaxation, best.len()),
                Some(Known::All(_)) | None => false,
            },
            Large::Parts(relation, _) => growing(relation).is_some_and(|(known, delta)| {
                known >= self.thresholds.part_rows
                    && delta.as_ref().is_some_and(|delta| delta.len() >= self.thresholds.part_new_rows)
            }),
        }
    }

    /// Goes on in another way, to the end; answers how many rounds that were. Nothing if the values do not allow it.
    fn go_large(
        &mut self,
        large: &Large,
        variants: &[Planned],
        sets: &mut HashMap<RelationId, Known>,
    ) -> Result<Option<usize>, ExecError> {
        let complete = |run| Growing { stable: vec![run], delta: None };
        if let Large::Relax(relaxation) = large {
            let Some(Known::Best(best)) = sets.get_mut(&relaxation.relation) else { return Ok(None) };
            let Some((run, sweeps)) = self.relax(relaxation, best)? else { return Ok(None) };
            sets.clear();
            self.growing.insert(relaxation.relation, complete(run));
            return Ok(Some(sweeps));
        }
        sets.clear();
        let rounds = match large {
            Large::Relax(_) => 0,
            Large::Parts(relation, column) => self.evaluate_in_parts(*relation, *column, variants)?,
            Large::Walk(traversal) => {
                let all = |version| self.runs(Access { relation: traversal.relation, version });
                let run = self.traverse(traversal, &all(Version::Old), &all(Version::Delta))?;
                self.growing.insert(traversal.relation, complete(run));
                0
            }
            Large::Matrices(chains) => {
                let growing = std::mem::take(&mut self.growing);
                let known = |relation: RelationId| {
                    let of = growing.get(&relation);
                    of.into_iter().flat_map(|own| own.stable.iter().chain(&own.delta)).cloned().collect()
                };
                let (found, rounds) = self.multiply(chains, known)?;
                self.growing = found.into_iter().map(|(relation, run)| (relation, complete(run))).collect();
                rounds
            }
        };
        Ok(Some(rounds))
    }

    /// Runs the rest of a fixpoint apart for each part of the pivot column's values: no row of one part ever leads to
    /// a row of another. The known rows of a part fit the cache, and threads share nothing. Answers the rounds of the
    /// part that needs most.
    fn evaluate_in_parts(
        &mut self,
        relation: RelationId,
        column: usize,
        variants: &[Planned],
    ) -> Result<usize, ExecError> {
        let Some(growing) = self.growing.remove(&relation) else { return Ok(0) };
        let arity = self.arity(relation);
        let stable = split(&growing.stable, column, arity);
        let delta = split(growing.delta.as_slice(), column, arity);
        drop(growing);
        let parts: Vec<(Rows, Rows)> =
            stable.into_iter().zip(delta).filter(|(stable, delta)| stable.len + delta.len > 0).collect();
        let parts = parallel::map(parts, |(stable, delta)| {
            let mut sets = HashMap::from([(relation, Known::All(RowSet::single(arity)))]);
            let stable = self.take_in(&mut sets, relation, &stable)?;
            let delta = self.take_in(&mut sets, relation, &delta)?;
            let mut part = Growing::default();
            part.advance(vec![stable], arity);
            let mut view = self.with(relation, part);
            let mut fresh = HashMap::from([(relation, vec![delta])]);
            let mut rounds = 0;
            while view.advance(&[relation], &mut fresh) {
                rounds += 1;
                for planned in variants {
                    let rows = view.derive(planned, false, &mut sets)?;
                    fresh.entry(planned.plan.head).or_default().extend(rows);
                }
            }
            let part = view.growing.remove(&relation).unwrap_or_default();
            Ok::<_, ExecError>((concatenate(&part.stable, arity), rounds))
        });
        let (parts, rounds): (Vec<Rows>, Vec<usize>) =
            parts.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().unzip();
        let rows = gather(parts, arity);
        let run = Run::new(rows.columns, rows.len);
        self.growing.insert(relation, Growing { stable: vec![run], delta: None });
        Ok(rounds.into_iter().max().unwrap_or_default())
    }

    /// The same view, but for one growing relation.
    fn with(&self, relation: RelationId, growing: Growing) -> View<'a> {
        View {
            program: self.program,
            codec: self.codec,
            budget: self.budget,
            thresholds: self.thresholds,
            complete: self.complete.clone(),
            growing: HashMap::from([(relation, growing)]),
            saturated: Arc::clone(&self.saturated),
        }
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

    /// Runs one plan; answers the rows that are new.
    fn derive(
        &self,
        Planned { plan, meter }: &Planned,
        aggregates: bool,
        sets: &mut HashMap<RelationId, Known>,
    ) -> Result<Vec<Rows>, ExecError> {
        self.budget.check()?;
        let pipeline = Pipeline::new(plan, meter.as_ref(), self)?;
        let rows = pipeline.source_rows();
        // The groups of each lane are merged one lane after the other.
        let lane_rows = if aggregates { LANE_ROWS.max(rows / WAVE_LANES) } else { LANE_ROWS };
        let lanes = parallel::lanes(rows, lane_rows);
        if let Some(Known::Best(best)) = sets.get_mut(&plan.head) {
            self.improve(plan, &pipeline, &lanes, best)?;
            return Ok(Vec::new());
        }
        if aggregates {
            let rows = self.aggregate(plan, &pipeline, lanes)?;
            let rows = pipeline.head(|| self.take_in(sets, plan.head, &rows))?;
            pipeline.found(rows.len);
            return Ok(vec![rows]);
        }
        let Some(Known::All(set)) = sets.get_mut(&plan.head) else { return Ok(Vec::new()) };
        let mut new = Vec::new();
        for wave in lanes.chunks(WAVE_LANES) {
            let known = &*set;
            let candidates = parallel::map(wave.to_vec(), |lane| {
                let mut candidates = known.candidates();
                pipeline.run(lane, &mut |solutions| {
                    let columns = head_columns(plan, &pipeline, solutions)?;
                    let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                    known.collect(&columns, solutions.len, &mut candidates, self.budget)
                })?;
                Ok::<_, ExecError>(candidates)
            });
            let candidates = candidates.into_iter().collect::<Result<_, _>>()?;
            let rows = pipeline.head(|| set.absorb(candidates, self.budget))?;
            pipeline.found(rows.len);
            if rows.len > 0 {
                new.push(rows);
            }
        }
        Ok(new)
    }

    /// Runs one plan of a relation that keeps its best rows.
    fn improve(
        &self,
        plan: &RulePlan,
        pipeline: &Pipeline<'_>,
        lanes: &[Range<usize>],
        best: &mut BestRows,
    ) -> Result<(), ExecError> {
        for wave in lanes.chunks(WAVE_LANES) {
            self.budget.check()?;
            let known = &*best;
            let improvements = parallel::map(wave.to_vec(), |lane| {
                let mut improvements = known.improvements();
                pipeline.run(lane, &mut |solutions| {
                    let columns = head_columns(plan, pipeline, solutions)?;
                    let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                    known.collect(&columns, &mut improvements, self.codec, self.budget)
                })?;
                Ok::<_, ExecError>(improvements)
            });
            let improvements = improvements.into_iter().collect::<Result<_, _>>()?;
            let before = best.changed();
            pipeline.head(|| best.absorb(improvements, self.codec, self.budget))?;
            pipeline.found(best.changed() - before);
        }
        Ok(())
    }

    fn aggregate(
        &self,
        plan: &RulePlan,
        pipeline: &Pipeline<'_>,
        lanes: Vec<Range<usize>>,
    ) -> Result<Rows, ExecError> {
        if let Some(ranking) = &plan.ranking {
            return self.rank(&Ranker::new(&plan.head_terms, ranking), pipeline, lanes);
        }
        let grouping = Grouping::new(&plan.head_terms);
        let partial = parallel::map(lanes, |lane| {
            let mut groups = grouping.start();
            pipeline.run(lane, &mut |solutions| {
                grouping.add(&mut groups, pipeline, self.codec, solutions, self.budget)
            })?;
            Ok::<_, ExecError>(groups)
        });
        pipeline.head(|| {
            let mut all = grouping.start();
            for groups in partial {
                grouping.merge(&mut all, groups?, self.codec);
            }
            grouping.finish(all, self.codec, &self.saturated)
        })
    }

    fn rank(
        &self,
        ranker: &Ranker<'_>,
        pipeline: &Pipeline<'_>,
        lanes: Vec<Range<usize>>,
    ) -> Result<Rows, ExecError> {
        let lanes = parallel::map(lanes, |lane| {
            let mut contenders = ranker.start();
            pipeline.run(lane, &mut |solutions| {
                ranker.add(&mut contenders, pipeline, self.codec, solutions, self.budget)
            })?;
            Ok::<_, ExecError>(contenders)
        });
        let lanes = lanes.into_iter().collect::<Result<_, _>>()?;
        Ok(pipeline.head(|| ranker.finish(lanes, self.codec)))
    }

    /// Adds rows to the known ones; answers those that are new.
    fn take_in(
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
            None => Ok(Rows::empty(self.arity(relation))),
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
        let read = rule.body.iter().filter_map(|literal| match literal {
            Literal::Atom(atom) | Literal::Negated(atom) => Some(self.rows(atom.relation)),
            Literal::Filter { .. } | Literal::Assign { .. } => None,
        });
        read.max().unwrap_or(0)
    }

    fn arity(&self, relation: RelationId) -> usize {
        self.program.relations[relation.index()].arity
    }
}

pub(super) fn head_columns<'b>(
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    solutions: &'b Bindings,
) -> Result<Vec<Cow<'b, [Code]>>, ExecError> {
    plan.head_terms
        .iter()
        .map(|term| match term {
            HeadTerm::Expression(expression) => pipeline.evaluator().codes(expression, solutions),
            // Of each group the best row is kept: every value is offered.
            HeadTerm::Aggregate { argument, .. } => Ok(Cow::Borrowed(solutions.column(*argument))),
        })
        .collect()
}

/// The relations that plans read in another way than as last round's new rows.
fn looked_up(variants: &[Planned]) -> HashSet<RelationId> {
    let accesses = variants.iter().flat_map(|planned| planned.plan.accesses());
    accesses.filter(|access| access.version != Version::Delta).map(|access| access.relation).collect()
}

fn run_of(rows: Rows) -> Run {
    Run::new(rows.columns, rows.len)
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
}

/// The live rows of several runs as one, in their order.
fn concatenate(runs: &[Run], arity: usize) -> Rows {
    let columns = (0..arity)
        .map(|column| {
            let mut codes = Vec::with_capacity(runs.iter().map(Run::len).sum());
            for run in runs {
                match run.live() {
                    None => codes.extend_from_slice(run.column(column)),
                    Some(live) => codes.extend(live.set_indices().map(|row| run.column(column)[row])),
                }
            }
            codes
        })
        .collect();
    Rows { columns, len: runs.iter().map(Run::len).sum() }
}

fn gather(parts: Vec<Rows>, arity: usize) -> Rows {
    let mut parts = parts.into_iter().filter(|rows| rows.len > 0);
    let Some(mut all) = parts.next() else { return Rows::empty(arity) };
    for part in parts {
        all.len += part.len;
        for (column, more) in all.columns.iter_mut().zip(part.columns) {
            column.extend(more);
        }
    }
    all
}
