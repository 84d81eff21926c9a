//! What an evaluation did: rows and time of each operator, beside what its plan expected.
//!
//! Who is profiled reads the clock before and after each batch of each operator, never for a row; who is not only asks
//! whether it is. Lanes run at the same time, so the times of operators add up to processor time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::analysis::program::{Program, Rule};
use crate::plan::{Course, Measured, RuleNote, RulePlan, Statistics, StrategyNote, StratumNote, note_rule};

/// The measurements of one evaluation.
#[derive(Debug)]
pub struct Profile {
    started: Instant,
    strata: Vec<StratumNote>,
}

impl Profile {
    /// Begins to measure.
    pub fn start() -> Profile {
        Profile { started: Instant::now(), strata: Vec::new() }
    }

    /// The strata so far, and the time since the beginning.
    pub fn finish(self) -> (Vec<StratumNote>, Duration) {
        (self.strata, self.started.elapsed())
    }

    /// Takes over what was measured of another evaluation. The time counts from its own beginning.
    pub fn take(&mut self, other: Profile) {
        self.strata = other.strata;
    }

    /// Adds a stratum.
    pub fn add(&mut self, stratum: StratumNote) {
        self.strata.push(stratum);
    }
}

/// What is noted of one stratum while it runs.
pub(super) struct Notes {
    started: Instant,
    /// What became of the plans that have run.
    pub(super) rules: Vec<RuleNote>,
    pub(super) rounds: usize,
    /// What may take the place of rounds.
    pub(super) strategy: Option<StrategyNote>,
    /// How long another strategy than rounds took, if one did.
    pub(super) switched: Option<Duration>,
}

impl Notes {
    pub(super) fn start() -> Notes {
        Notes { started: Instant::now(), rules: Vec::new(), rounds: 0, strategy: None, switched: None }
    }

    pub(super) fn course(&self) -> Course {
        Course { rounds: self.rounds, switched: self.switched, time: self.started.elapsed() }
    }
}

/// A rule's plan, with a meter if somebody wants to know.
pub(super) struct Planned {
    pub(super) plan: RulePlan,
    pub(super) meter: Option<Meter>,
    /// Bindings that it may have.
    pub(super) most_bindings: Option<u64>,
    /// Whether products of matrices do its work.
    pub(super) products: Products,
}

/// Whether products of matrices do the work of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Products {
    /// They cannot,
    Cannot,
    /// or could,
    Could,
    /// or do.
    Do,
}

impl Planned {
    /// Goes on with another plan; what became of this one is noted.
    pub(super) fn replace(&mut self, other: Planned, notes: &mut Option<&mut Notes>) {
        let replaced = std::mem::replace(self, Planned { products: self.products, ..other });
        if let Some(notes) = notes {
            notes.rules.extend(replaced.meter.map(Meter::finish));
        }
    }
}

/// A plan, with a meter if it is measured; `statistics` are those that it was made with.
pub(super) fn planned(
    program: &Program,
    statistics: &dyn Statistics,
    plan: RulePlan,
    rule: &Rule,
    is_measured: bool,
) -> Planned {
    // What is complete has a layout.
    let is_growing = |relation| statistics.layout(relation).is_none();
    let meter = is_measured.then(|| Meter::new(note_rule(&plan, rule, program, statistics, is_growing)));
    Planned { plan, meter, most_bindings: None, products: Products::Cannot }
}

/// The measurements of one plan, over all rounds and lanes: a slot for its source, for each step, and for its head.
pub(super) struct Meter {
    note: RuleNote,
    slots: Vec<Slot>,
}

#[derive(Default)]
struct Slot {
    rows: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Slot {
    fn is_untouched(&self) -> bool {
        [&self.rows, &self.nanoseconds].iter().all(|measured| measured.load(Ordering::Relaxed) == 0)
    }
}

impl Meter {
    pub(super) fn new(note: RuleNote) -> Meter {
        Meter { slots: note.steps.iter().map(|_| Slot::default()).collect(), note }
    }

    /// The plan, with what was measured; nothing was if it never ran, as when a recursion walks at once.
    pub(super) fn finish(self) -> RuleNote {
        let mut note = self.note;
        if self.slots.iter().all(Slot::is_untouched) {
            return note;
        }
        for (step, slot) in note.steps.iter_mut().zip(self.slots) {
            let time = Duration::from_nanos(slot.nanoseconds.into_inner());
            step.measured = Some(Measured { rows: slot.rows.into_inner(), time });
        }
        note
    }

    /// So many rows left a slot.
    pub(super) fn rows(&self, slot: usize, rows: usize) {
        self.slots[slot].rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// Does the work of a slot.
    fn time<T>(&self, slot: usize, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        self.slots[slot].nanoseconds.fetch_add(nanoseconds(started), Ordering::Relaxed);
        result
    }

    /// Does the work of a slot in the midst of the one before it, to which this time does not count.
    pub(super) fn time_within<T>(&self, slot: usize, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let result = work();
        let nanoseconds = nanoseconds(started);
        self.slots[slot].nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
        // Below zero for a while: the slot before gets its own time, which is longer, when its work is done.
        self.slots[slot - 1].nanoseconds.fetch_sub(nanoseconds, Ordering::Relaxed);
        result
    }
}

/// Does the work of a slot, measured if anybody wants to know.
pub(super) fn time<T>(meter: Option<&Meter>, slot: usize, work: impl FnOnce() -> T) -> T {
    match meter {
        None => work(),
        Some(meter) => meter.time(slot, work),
    }
}

fn nanoseconds(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
