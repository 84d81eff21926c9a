//! `Queue`: the versions that a thread of a maintainer has not looked at, and what it is to do next.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::LiveOptions;
use crate::budget::Budget;
use crate::context::Environment;
use crate::graph::Snapshot;

/// So many versions may wait to be looked at one by one.
const MOST_BEHIND: usize = 16;
/// The same where somebody is told each version.
const MOST_TOLD: usize = 4_096;
/// How often it is looked who has left.
pub(super) const SWEEP: Duration = Duration::from_secs(10);

/// The versions that a thread has not looked at.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    versions: VecDeque<Arc<Snapshot>>,
    is_over: bool,
    /// What is being evaluated,
    working: Option<Budget>,
    /// and whether nobody waits for it.
    is_rehearsal: bool,
    /// Whether some families are to be looked at that seemed to have nothing to do.
    is_disturbed: bool,
    /// Whether nobody looks at versions for a moment.
    is_paused: bool,
    /// Whether somebody is told each version.
    tells_each: bool,
}

/// What a thread is to do.
pub(super) enum Task {
    Look(Arc<Snapshot>),
    /// Some have rested.
    Rise,
    Sweep,
    /// Nobody waits for anything.
    Rehearse,
    End,
}

/// When a thread has to do what.
pub(super) struct Agenda {
    pub(super) sweep_at: Instant,
    /// When some have rested.
    pub(super) rise_at: Option<Instant>,
    /// When steps are rehearsed, if any are to be.
    pub(super) rehearse_at: Option<Instant>,
    /// When it looks at a version, unless somebody is told each of them.
    pub(super) look_at: Instant,
    pub(super) each_version: bool,
}

impl Agenda {
    pub(super) fn from(now: Instant) -> Agenda {
        Agenda { sweep_at: now + SWEEP, rise_at: None, rehearse_at: None, look_at: now, each_version: false }
    }
}

impl Queue {
    /// What an evaluation may take, until the end.
    pub(super) fn budget(&self, environment: &Environment, options: &LiveOptions, time: Duration) -> Budget {
        let budget = Budget::new(Some(options.step_time.min(time)), options.step_memory).giving_way();
        let budget = budget.with_string_bytes(environment.limits.string_bytes);
        let mut waiting = self.waiting.lock();
        if waiting.is_over {
            budget.cancel();
        }
        waiting.working = Some(budget.clone());
        budget
    }

    /// The same for what nobody waits for, until somebody waits for anything.
    pub(super) fn budget_of_rehearsal(&self, environment: &Environment, options: &LiveOptions) -> Budget {
        let budget = self.budget(environment, options, options.step_time);
        let mut waiting = self.waiting.lock();
        waiting.is_rehearsal = true;
        if waiting.is_waited_for() {
            budget.cancel();
        }
        budget
    }

    /// There is a new version.
    pub(super) fn push(&self, snapshot: &Arc<Snapshot>) {
        let mut waiting = self.waiting.lock();
        if waiting.versions.back().is_some_and(|last| last.version() >= snapshot.version()) {
            return;
        }
        if waiting.versions.len() >= if waiting.tells_each { MOST_TOLD } else { MOST_BEHIND } {
            waiting.versions.clear();
        }
        waiting.versions.push_back(Arc::clone(snapshot));
        waiting.interrupt();
        if !waiting.is_paused {
            self.rung.notify_one();
        }
    }

    /// What another one has not come to yet is looked at here, too.
    pub(super) fn take_up(&self, other: &Queue) {
        let others: Vec<Arc<Snapshot>> = other.waiting.lock().versions.iter().cloned().collect();
        let mut waiting = self.waiting.lock();
        (waiting.tells_each, waiting.is_disturbed) = (true, true);
        waiting.versions.extend(others);
        waiting.versions.make_contiguous().sort_by_key(|snapshot| snapshot.version());
        let mut last = None;
        waiting.versions.retain(|snapshot| last.replace(snapshot.version()) != Some(snapshot.version()));
        self.rung.notify_one();
    }

    /// Somebody is to be told each version.
    pub(super) fn tell_each(&self) {
        let mut waiting = self.waiting.lock();
        (waiting.tells_each, waiting.is_disturbed) = (true, true);
        waiting.interrupt();
        self.rung.notify_one();
    }

    /// Some families are to be looked at that seemed to have nothing to do.
    pub(super) fn disturb(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_disturbed = true;
        waiting.interrupt();
        self.rung.notify_one();
    }

    /// There will be none any more.
    pub(super) fn end(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_over = true;
        if let Some(working) = &waiting.working {
            working.cancel();
        }
        self.rung.notify_one();
    }

    /// What is to be done next, and whether some families are to be looked at that seemed to have nothing to do.
    pub(super) fn next(&self, agenda: &Agenda) -> (Task, bool) {
        let mut waiting = self.waiting.lock();
        (waiting.working, waiting.is_rehearsal) = (None, false);
        // Whoever has disturbed may know better.
        waiting.tells_each = agenda.each_version || waiting.is_disturbed && waiting.tells_each;
        loop {
            let now = Instant::now();
            let task = waiting.task(agenda, now);
            if let Some(task) = task {
                return (task, std::mem::take(&mut waiting.is_disturbed));
            }
            waiting.is_paused = !agenda.each_version && now < agenda.look_at;
            let look_at = waiting.is_paused.then_some(agenda.look_at);
            let times = [Some(agenda.sweep_at), agenda.rise_at, agenda.rehearse_at, look_at];
            let until = times.into_iter().flatten().min().unwrap_or(agenda.sweep_at);
            self.rung.wait_until(&mut waiting, until);
            waiting.is_paused = false;
        }
    }
}

impl Waiting {
    /// What there is to do now.
    fn task(&mut self, agenda: &Agenda, now: Instant) -> Option<Task> {
        if self.is_over {
            return Some(Task::End);
        }
        if now >= agenda.sweep_at {
            return Some(Task::Sweep);
        }
        if agenda.rise_at.is_some_and(|rise_at| now >= rise_at) {
            return Some(Task::Rise);
        }
        if self.versions.is_empty() {
            let is_idle = agenda.rehearse_at.is_some_and(|rehearse_at| now >= rehearse_at);
            return is_idle.then_some(Task::Rehearse);
        }
        if agenda.each_version || self.is_disturbed {
            return self.versions.pop_front().map(Task::Look);
        }
        if now < agenda.look_at {
            return None;
        }
        let latest = self.versions.pop_back();
        self.versions.clear();
        latest.map(Task::Look)
    }

    /// Whether there is something to do that cannot wait.
    fn is_waited_for(&self) -> bool {
        self.is_over || self.is_disturbed || !self.versions.is_empty()
    }

    /// Ends what nobody waits for.
    fn interrupt(&self) {
        if let Some(rehearsal) = self.working.as_ref().filter(|_| self.is_rehearsal) {
            rehearsal.cancel();
        }
    }
}
