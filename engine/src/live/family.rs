//! `Family`: live queries that differ in constants only, which go from version to version together.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::course::Course;
use super::pace::{Pace, Work};
use super::query::LiveQuery;
use super::step::Step;
use super::subscribers::Hearers;
use super::template::Template;
use crate::budget::{Budget, BudgetError};
use crate::context::Environment;
use crate::graph::Snapshot;

/// Live queries with a template in common.
#[derive(Debug)]
pub(super) struct Family {
    number: u64,
    pub(super) template: Template,
    pub(super) course: Arc<Course>,
    queries: Mutex<Queries>,
    /// Whoever brings them to a version holds this.
    turn: Mutex<Recent>,
}

/// Live queries.
#[derive(Debug, Default)]
struct Queries {
    by_text: BTreeMap<String, Arc<LiveQuery>>,
    /// The same as a list, if it was asked for since there are others.
    list: Option<Arc<[Arc<LiveQuery>]>>,
}

/// What came of a look at a family.
pub(super) enum Looked {
    /// There was nothing to do.
    Nothing,
    /// Somebody else brings them to a version.
    Elsewhere,
    /// They were brought to the version in this time.
    Brought(Duration),
}

/// How long the last few times took.
#[derive(Debug, Default)]
struct Recent {
    times: [Duration; 4],
    next: usize,
}

impl Recent {
    /// Takes note of one more. Answers the shortest: others had to wait for a processor.
    fn note(&mut self, took: Duration) -> Duration {
        self.times[self.next % 4] = took;
        self.next += 1;
        self.times.iter().take(self.next).min().copied().unwrap_or(took)
    }
}

impl Family {
    pub(super) fn of(template: Template) -> Family {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Family {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            template,
            course: Arc::default(),
            queries: Mutex::default(),
            turn: Mutex::default(),
        }
    }

    /// The live query of a text, which is made if there is none.
    pub(super) fn query(&self, text: &str, make: impl FnOnce() -> LiveQuery) -> Arc<LiveQuery> {
        let Queries { by_text, list } = &mut *self.queries.lock();
        Arc::clone(by_text.entry(text.to_owned()).or_insert_with(|| {
            *list = None;
            Arc::new(make())
        }))
    }

    /// All of them: the same list as long as they are the same.
    pub(super) fn queries(&self) -> Arc<[Arc<LiveQuery>]> {
        let Queries { by_text, list } = &mut *self.queries.lock();
        Arc::clone(list.get_or_insert_with(|| by_text.values().cloned().collect()))
    }

    /// Forgets queries. Answers whether any are left.
    pub(super) fn retain(&self, keeps: impl Fn(&Arc<LiveQuery>) -> bool) -> bool {
        let Queries { by_text, list } = &mut *self.queries.lock();
        by_text.retain(|_, query| keeps(query));
        *list = None;
        !by_text.is_empty()
    }

    /// Brings its queries to a version, unless they sleep, or somebody else is at it. Where somebody is told each version, or
    /// has just come, the others alone rest.
    pub(super) fn look(&self, step: &Step<'_>, pace: &dyn Pace) -> Looked {
        let now = Instant::now();
        if self.course.sleeps(now) {
            return Looked::Nothing;
        }
        let Some(mut recent) = self.turn.try_lock() else { return Looked::Elsewhere };
        self.rise(now);
        let rests = self.course.rests(now);
        let is_disturbed = self.course.take_disturbed();
        if self.course.pass(step.snapshot) {
            return Looked::Nothing;
        }
        if rests {
            self.course.await_end();
            if !is_disturbed && !self.course.tells_each_version() {
                return Looked::Nothing;
            }
        }
        let hearers = if rests { Hearers::Awake } else { Hearers::All };
        let Some(work) = self.bring(step, hearers) else { return Looked::Nothing };
        if !rests {
            let took = recent.note(work.took);
            let rest = pace.rest(&Work { family: self.number, took, ..work });
            if !rest.is_zero() {
                self.course.rest(Instant::now() + rest);
            }
        }
        Looked::Brought(now.elapsed())
    }

    /// Whether there are steps to rehearse.
    pub(super) fn is_unprepared(&self) -> bool {
        self.course.is_unprepared()
    }

    /// Makes what the first step to the next version would have to make, until it is cancelled. Of questions that differ in constants
    /// only one is enough: they share what takes long.
    pub(super) fn rehearse(&self, environment: &Environment, budget: &Budget) {
        let Some(_turn) = self.turn.try_lock() else { return };
        let rehearse = || {
            if self.template.wants_rehearsal() {
                return Some(self.template.rehearse(environment, &*self.latest()?, budget));
            }
            self.queries().iter().find_map(|query| query.rehearse(environment, budget))
        };
        // What goes wrong goes wrong where somebody needs it.
        drop(catch_unwind(AssertUnwindSafe(rehearse)));
        let is_interrupted = matches!(budget.check(), Err(BudgetError::Cancelled));
        self.course.set_unprepared(is_interrupted);
        if !is_interrupted {
            self.queries().iter().for_each(|query| query.need_no_rehearsal());
        }
    }

    /// If they have rested by now, those who were not told meanwhile are woken.
    pub(super) fn rise(&self, now: Instant) {
        if self.course.rise(now) {
            self.queries().iter().for_each(|query| query.subscribers().wake_late());
        }
    }

    fn bring(&self, step: &Step<'_>, hearers: Hearers) -> Option<Work> {
        let work = self.bring_all(step, hearers);
        if self.template.wants_rehearsal() {
            self.course.set_unprepared(true);
        }
        work
    }

    fn bring_all(&self, step: &Step<'_>, hearers: Hearers) -> Option<Work> {
        let (started, version) = (Instant::now(), step.snapshot.version());
        let (level, queries) = (self.course.is_level(step.snapshot), self.queries());
        let together = level.and_then(|_| step.follow(&self.template, &queries));
        if let (Some(begun), Some(together)) = (level, &together)
            && let Some(work) = step.bring_concerned(&self.template, &queries, together, hearers)
        {
            self.course.follow(begun, version);
            let took = started.elapsed();
            self.template.costs.note_step(took);
            return Some(Work { took, ..work });
        }
        self.queries().iter().for_each(|query| query.settle());
        let begun = self.course.bring(version);
        // Those of whom there is an answer by now; whoever has one later says so.
        let queries = self.queries();
        let work = step.bring(&self.template, &queries, together, hearers);
        let mut reads = Vec::new();
        for read in queries.iter().filter_map(|query| query.reads()) {
            if !reads.contains(&read) {
                reads.push(read);
            }
        }
        // One that somebody else held meanwhile was passed over.
        let are_all = queries.iter().all(|query| query.was_brought(version));
        self.course.brought(begun, are_all.then_some(reads));
        work
    }

    /// Whether they rest, and there is nothing to do before they have rested.
    pub(super) fn sleeps(&self) -> bool {
        self.course.sleeps(Instant::now())
    }

    /// When a rest ends, or has ended, after which there is something to do.
    pub(super) fn awaits(&self) -> Option<Instant> {
        self.course.awaits()
    }

    /// Whether anybody is told each version.
    pub(super) fn tells_each_version(&self) -> bool {
        self.course.tells_each_version()
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The graph as it is now, if there are queries.
    pub(super) fn latest(&self) -> Option<Arc<Snapshot>> {
        self.queries.lock().by_text.values().next().map(|query| query.graph().snapshot())
    }
}
