//! Older views are brought to the state that a question is asked of.
//!
//! Only where the question would derive all rows of the relation: what asks for a few of them is answered sooner without.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::kept::{Inputs, View};
use super::states::{Current, Older};
use super::{Reading, Views};
use crate::analysis::program::{Program, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::{RelationId, Threads};
use crate::exec::{ExecError, Thresholds};
use crate::graph::{Graph, Overlay, SessionView};
use crate::maintain::{self, Cost, KeptRows, Means, Step};
use crate::plan::{Fate, Forward, OlderNote};

/// Whether views are brought forward when something below them has changed, or derived anew.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Advance {
    /// Where that is faster, as far as it has been measured.
    #[default]
    WhereFaster,
    /// Wherever that is possible.
    Always,
    /// Never.
    Never,
}

/// A question that may bring views forward.
pub(crate) struct Advancing<'a> {
    pub(crate) program: &'a Program,
    pub(crate) graph: &'a Graph,
    pub(crate) view: &'a SessionView,
    pub(crate) thresholds: Thresholds,
    pub(crate) threads: &'a Threads,
    pub(crate) budget: &'a Budget,
    /// Whether what is brief may be done on the thread that asks.
    pub(crate) at_once: bool,
    /// Whether rows are put in order in any case, to be compared with those of another state.
    pub(crate) compares: bool,
}

/// What became of the views of a stratum.
enum Stepped<'a> {
    /// They were brought forward in this way, in this time.
    Forward(Forward, Duration, Current<'a>),
    /// That was given up after this time.
    GivenUp(Duration),
    /// Somebody else has made the step, or has tried to.
    Elsewhere,
    NotTried,
}

/// What takes no longer is done on the thread that asks.
const BRIEF: Duration = Duration::from_millis(2);

impl Views {
    /// Whether rows are brought forward at all.
    pub(crate) fn advances(&self) -> bool {
        self.advance != Advance::Never
    }

    /// Something was brought forward.
    pub(crate) fn count_step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether they are wherever that is possible.
    pub(crate) fn always_advances(&self) -> bool {
        self.advance == Advance::Always
    }

    /// Whether there are older views of relations of a program, and none of its state.
    pub(crate) fn are_older(&self, reading: &Reading, view: &SessionView) -> bool {
        if self.advance == Advance::Never {
            return false;
        }
        let mut derived = reading.origins.below.keys();
        derived.any(|relation| self.is_behind(reading, *relation, view))
    }

    /// The relations among these, or below them, of which there are views that all see, at other states only, and which take a while to
    /// derive, in the order of evaluation.
    pub(crate) fn behind(
        &self,
        reading: &Reading,
        wanted: &HashSet<RelationId>,
        program: &Program,
        view: &SessionView,
    ) -> Vec<RelationId> {
        let needed = self.needed(reading, wanted, view);
        if self.is_brief(reading, program, &needed) {
            return Vec::new();
        }
        let relations = program.strata.iter().flat_map(|stratum| &stratum.relations).copied();
        let is_behind = |relation: &RelationId| {
            needed.contains(relation)
                && reading.may_keep(*relation)
                && self.is_behind(reading, *relation, view)
        };
        relations.filter(is_behind).collect()
    }

    /// Brings the views of these relations forward, and those of what they read, as far as that pays. Answers what became of
    /// each that it tried.
    pub(crate) fn advance(
        &self,
        reading: &Reading,
        wanted: &HashSet<RelationId>,
        advancing: &Advancing<'_>,
    ) -> Result<Vec<OlderNote>, ExecError> {
        if reading.has_own() {
            // What all see is as near as can be, and others need it too.
            let snapshot = match reading.is_uncommitted {
                true => advancing.graph.snapshot(),
                false => Arc::clone(advancing.view.snapshot()),
            };
            let view = SessionView::new(snapshot, Overlay::default());
            let of_all = self.look(advancing.program, advancing.graph, &view);
            self.bring(&of_all, wanted, &Advancing { view: &view, ..*advancing })?;
        }
        self.bring(reading, wanted, advancing)
    }

    /// The same, for those who see what the reading says.
    fn bring(
        &self,
        reading: &Reading,
        wanted: &HashSet<RelationId>,
        advancing: &Advancing<'_>,
    ) -> Result<Vec<OlderNote>, ExecError> {
        let (program, mut notes) = (advancing.program, Vec::new());
        let needed = self.needed(reading, wanted, advancing.view);
        if self.is_brief(reading, program, &needed) {
            return Ok(notes);
        }
        // What is there at this state.
        let mut now = Current::new();
        for stratum in &program.strata {
            if !stratum.relations.iter().all(|relation| needed.contains(relation)) {
                continue;
            }
            for relation in &stratum.relations {
                if let Some(rows) = self.current(reading, *relation) {
                    now.insert(&program.relations[relation.index()].name, rows);
                }
            }
            let is_there =
                |relation: &RelationId| now.contains_key(program.relations[relation.index()].name.as_str());
            if stratum.relations.iter().all(is_there) {
                continue;
            }
            match self.advance_stratum(reading, stratum, &now, advancing)? {
                Stepped::Forward(way, took, advanced) => {
                    notes.extend(advanced.iter().map(|(name, rows)| OlderNote {
                        name: (*name).to_owned(),
                        rows: rows.len(),
                        fate: Fate::Forward(way, took),
                    }));
                    now.extend(advanced);
                }
                Stepped::GivenUp(took) => {
                    notes.extend(self.older_notes(reading, stratum, program, Fate::GivenUp(took)));
                }
                Stepped::Elsewhere => {
                    let there = stratum.relations.iter().filter_map(|relation| {
                        let name = program.relations[relation.index()].name.as_str();
                        Some((name, self.current(reading, *relation)?))
                    });
                    now.extend(there);
                }
                Stepped::NotTried => {}
            }
        }
        Ok(notes)
    }

    /// What would become of older views of these relations, and of those of what they read, in the order of evaluation.
    pub(crate) fn would_advance(
        &self,
        reading: &Reading,
        wanted: &HashSet<RelationId>,
        program: &Program,
        view: &SessionView,
    ) -> Vec<OlderNote> {
        let needed = self.needed(reading, wanted, view);
        let is_brief = self.is_brief(reading, program, &needed);
        let strata = program.strata.iter().filter(|stratum| {
            let is_older =
                |relation: &RelationId| needed.contains(relation) && self.is_behind(reading, *relation, view);
            stratum.relations.iter().all(is_older)
        });
        let notes = strata.flat_map(|stratum| {
            let cost = stratum.relations.first().and_then(|first| self.cost(reading, *first));
            let cost = cost.unwrap_or_default();
            let most = match self.advance {
                Advance::Always => Some(Duration::MAX),
                // How many rows have changed is not looked at for that.
                Advance::WhereFaster if !is_brief => cost.allows(1),
                Advance::WhereFaster | Advance::Never => None,
            };
            let fate = most.map_or(Fate::Anew(cost.anew), Fate::Tried);
            self.older_notes(reading, stratum, program, fate)
        });
        notes.collect()
    }

    /// The relations of a stratum of which there are rows, with what becomes of them.
    fn older_notes(
        &self,
        reading: &Reading,
        stratum: &Stratum,
        program: &Program,
        fate: Fate,
    ) -> Vec<OlderNote> {
        let notes = stratum.relations.iter().filter_map(|relation| {
            let rows = self.any_state(reading, &reading.origin(*relation)?, |view| view.rows.len())?;
            Some(OlderNote { name: program.relations[relation.index()].name.clone(), rows, fate })
        });
        notes.collect()
    }

    /// The relations among these of which there are older views, with all that these follow from.
    fn needed(
        &self,
        reading: &Reading,
        wanted: &HashSet<RelationId>,
        view: &SessionView,
    ) -> HashSet<RelationId> {
        let wanted = wanted.iter().filter(|relation| !self.older(reading, **relation, view).is_empty());
        wanted.flat_map(|relation| reading.origins.all_below(*relation)).collect()
    }

    /// Whether these relations are derived from scratch in no time.
    fn is_brief(&self, reading: &Reading, program: &Program, needed: &HashSet<RelationId>) -> bool {
        self.advance == Advance::WhereFaster && self.anew(reading, program, needed) <= Cost::LEAST
    }

    /// What the view of a relation costs.
    fn cost(&self, reading: &Reading, relation: RelationId) -> Option<Cost> {
        self.any_state(reading, &reading.origin(relation)?, |view| view.cost)
    }

    /// How long it took to derive the relations of a program from scratch, as far as that is known.
    pub(crate) fn took(&self, reading: &Reading, program: &Program) -> Duration {
        self.anew(reading, program, &reading.origins.below.keys().copied().collect())
    }

    /// How long it took to derive these relations from scratch.
    fn anew(&self, reading: &Reading, program: &Program, needed: &HashSet<RelationId>) -> Duration {
        let first = program.strata.iter().filter_map(|stratum| stratum.relations.first());
        let needed = first.filter(|relation| needed.contains(relation));
        needed.filter_map(|relation| self.cost(reading, *relation)).map(|cost| cost.anew).sum()
    }

    /// Brings the views of a stratum forward, if they are there and that pays.
    fn advance_stratum<'a>(
        &self,
        reading: &Reading,
        stratum: &Stratum,
        current: &Current<'a>,
        advancing: &Advancing<'a>,
    ) -> Result<Stepped<'a>, ExecError> {
        let name = |relation: &RelationId| &advancing.program.relations[relation.index()].name;
        let nearest = self.nearest(reading, stratum, current, advancing.view);
        let Some((older, inputs_now)) = nearest else { return Ok(Stepped::NotTried) };
        let Some((first, Older { inputs, .. })) = older.first() else { return Ok(Stepped::NotTried) };
        let changed = inputs.distance(&inputs_now);
        let time = match self.advance {
            Advance::Always => Some(Duration::MAX),
            Advance::WhereFaster => self.allowed(reading, *first, changed),
            Advance::Never => None,
        };
        let of_older: Duration = older.iter().map(|(_, view)| view.rows.ordering()).sum();
        let ordering = of_older + inputs.ordering() + inputs_now.ordering();
        let Some(time) = time.filter(|time| advancing.compares || ordering < Budget::for_lasting(*time))
        else {
            return Ok(Stepped::NotTried);
        };
        // About that long: it is no reason to give up.
        let time = if advancing.compares { time.saturating_add(ordering * 2) } else { time };
        let state = reading.origin(*first).map(|origin| origin.state).unwrap_or_default();
        let Some(_turn) = self.under_way.begin(state, time) else { return Ok(Stepped::Elsewhere) };
        let started = Instant::now();
        let advance = |budget: &Budget| {
            let advance = || step(stratum, &older, inputs, &inputs_now, advancing, budget);
            if advancing.at_once && time <= BRIEF { advance() } else { advancing.threads.run(advance) }
        };
        let advanced = match self.is_rehearsed(reading, *first) {
            true => advancing.budget.strictly_within(time, advance),
            false => advancing.budget.within(time, advance),
        };
        // What does not succeed this way is derived from scratch, and fails there if it has to.
        let rows = match advanced {
            Some(Ok(Some(rows))) => rows,
            Some(Err(ExecError::Budget(BudgetError::Cancelled))) => {
                return Err(ExecError::Budget(BudgetError::Cancelled));
            }
            None | Some(Ok(None) | Err(_)) => {
                let took = started.elapsed();
                self.change_cost(reading, *first, |cost| cost.give_up(took, changed));
                self.given_up.fetch_add(1, Ordering::Relaxed);
                return Ok(Stepped::GivenUp(took));
            }
        };
        let took = started.elapsed();
        self.count_step();
        self.change_cost(reading, *first, |cost| cost.made(took, changed));
        let (way, mut rows) = (rows.way, rows.into_kept());
        let (inputs, mut advanced) = (Arc::new(inputs_now), Current::new());
        for (relation, _) in &older {
            let Some(rows) = rows.remove(name(relation)) else { return Ok(Stepped::NotTried) };
            self.replace(reading, *relation, &rows, &inputs, advancing.view);
            advanced.insert(name(relation).as_str(), rows);
        }
        Ok(Stepped::Forward(way, took, advanced))
    }

    /// Asks or tells what the view of a relation costs.
    fn change_cost<T>(
        &self,
        reading: &Reading,
        relation: RelationId,
        change: impl FnOnce(&mut Cost) -> T,
    ) -> Option<T> {
        let origin = reading.origin(relation).filter(|origin| !reading.is_own(origin))?;
        Some(change(&mut self.kept.write().get_mut(&origin.meaning)?.cost))
    }

    /// How long a step may take below which so many rows have changed; none if it is not to be tried.
    fn allowed(&self, reading: &Reading, relation: RelationId, changed: usize) -> Option<Duration> {
        // What only some see says nothing of what steps cost for all.
        let of_all = self.change_cost(reading, relation, |cost| cost.allowed(changed));
        of_all.unwrap_or_else(|| self.cost(reading, relation)?.allows(changed))
    }

    /// From here on these are the rows of a relation at the state of a question.
    pub(super) fn replace(
        &self,
        reading: &Reading,
        relation: RelationId,
        rows: &Arc<KeptRows>,
        inputs: &Arc<Inputs>,
        view: &SessionView,
    ) {
        let Some(origin) = reading.origin(relation) else { return };
        let snapshot = view.snapshot();
        let at_state = |known: &View| View {
            last_read: AtomicU64::new(self.now()),
            ..known.at(origin.state, snapshot, Arc::clone(rows), Arc::clone(inputs))
        };
        if reading.is_own(&origin) {
            let own = self.any_state(reading, &origin, at_state);
            own.into_iter().for_each(|own| self.insert_own(origin, reading.seen_by(view), own));
            return;
        }
        let mut kept = self.kept.write();
        let known = kept.get_mut(&origin.meaning).filter(|known| known.version <= snapshot.version());
        if let Some(known) = known {
            *known = View { is_pinned: snapshot.catalog().keeps(&known.name), ..at_state(known) };
        }
    }
}

/// The rows of a stratum's relations as they are now; none if they have to be derived from scratch.
fn step(
    stratum: &Stratum,
    older: &[(RelationId, Older)],
    before: &Inputs,
    now: &Inputs,
    advancing: &Advancing<'_>,
    budget: &Budget,
) -> Result<Option<maintain::Advanced>, ExecError> {
    let old = older.iter().map(|(relation, view)| {
        (advancing.program.relations[relation.index()].name.clone(), budget.lasting(|| view.rows.in_order()))
    });
    let step = Step {
        program: advancing.program,
        stratum,
        before: &before.relations(),
        now: &now.relations(),
        old: &old.collect(),
        means: Means { dictionary: advancing.view.snapshot().dictionary(), thresholds: advancing.thresholds },
    };
    maintain::advance(&step, budget)
}
