//! `Course`: how far the questions of a family are, together.
//!
//! What they read is the same, so whether a commit concerns them is one look for all. As long as none does, they advance
//! without being touched: the version that a question was brought to last and the course say how far it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::graph::Snapshot;

/// The way of a family from version to version.
#[derive(Debug, Default)]
pub(super) struct Course {
    state: Mutex<State>,
    /// So many are told each version.
    of_each_version: AtomicUsize,
    /// Whether the first step of one has yet to make what the others will find.
    is_unprepared: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The version that all were brought to last, each by itself.
    brought: u64,
    /// The version that has changed the answers to some since: the others have the answer that they had.
    changed: u64,
    /// Since then, and up to this version, nothing has changed that they read,
    looked: u64,
    /// namely the relations of these lists, mostly one for all; none where each has to be looked at.
    reads: Option<Vec<Arc<[String]>>>,
    /// So many questions have begun.
    begun: u64,
    rests: Option<Rest>,
}

/// Nobody is told anything for a while.
#[derive(Debug, Clone, Copy)]
struct Rest {
    until: Instant,
    /// Whether there is something to do when it is over.
    is_awaited: bool,
    /// Whether somebody has come who should not wait for what is there.
    is_disturbed: bool,
}

impl Course {
    /// How far a question is that was brought to a version, together with the others or, where it has just begun, by itself.
    pub(super) fn reach(&self, version: u64, is_with_others: bool) -> u64 {
        let state = self.state.lock();
        let since = if is_with_others { state.brought } else { state.changed };
        if version >= since { version.max(state.looked) } else { version }
    }

    /// Whether all are where the course is, and nothing is defined otherwise since: then a version concerns those alone whose
    /// answers it changes. What this answers is for [`Course::follow`].
    pub(super) fn is_level(&self, snapshot: &Snapshot) -> Option<u64> {
        let state = self.state.lock();
        let mut reads = state.reads.as_ref()?.iter().flat_map(|read| &**read);
        reads.all(|relation| snapshot.defined_since(relation) <= state.looked).then_some(state.begun)
    }

    /// All have been brought to a version by those whose answers it has changed. Whoever has begun meanwhile has to be looked at.
    pub(super) fn follow(&self, begun: u64, version: u64) {
        let mut state = self.state.lock();
        (state.changed, state.looked) = (version, version);
        if state.begun != begun {
            state.reads = None;
        }
    }

    /// A question has begun with a version, for which these relations were read.
    pub(super) fn begin(&self, version: u64, read: &Arc<[String]>) {
        let mut state = self.state.lock();
        state.begun += 1;
        if version < state.changed || !state.reads.as_ref().is_some_and(|reads| reads.contains(read)) {
            state.reads = None;
        }
    }

    /// Advances to a version if it changes nothing that they read.
    pub(super) fn pass(&self, snapshot: &Snapshot) -> bool {
        let mut state = self.state.lock();
        let version = snapshot.version();
        if version < state.looked {
            return true;
        }
        let Some(reads) = &state.reads else { return false };
        if version == state.looked {
            return true;
        }
        let is_next = state.looked + 1 == version;
        let is_same = match snapshot.changed_here().filter(|_| is_next) {
            Some(changed) => {
                !reads.iter().flat_map(|read| &**read).any(|relation| changed.contains(relation))
            }
            None => reads.iter().flat_map(|read| &**read).all(|relation| {
                let since = snapshot.rows_since(relation).max(snapshot.defined_since(relation));
                since <= state.looked
            }),
        };
        if is_same {
            state.looked = version;
        }
        is_same
    }

    /// They are about to be brought to a version. What this answers is for [`Course::brought`].
    pub(super) fn bring(&self, version: u64) -> u64 {
        let mut state = self.state.lock();
        (state.brought, state.changed) = (version, version);
        state.begun
    }

    /// They have been brought to that version, and read these relations; none if some could not be. Whoever has begun meanwhile
    /// has to be looked at.
    pub(super) fn brought(&self, begun: u64, reads: Option<Vec<Arc<[String]>>>) {
        let mut state = self.state.lock();
        state.looked = state.brought;
        state.reads = reads.filter(|reads| state.begun == begun && !reads.is_empty());
    }

    /// How many are told each version: one more,
    pub(super) fn add_of_each_version(&self) {
        self.of_each_version.fetch_add(1, Ordering::Relaxed);
    }

    /// or one less.
    pub(super) fn remove_of_each_version(&self) {
        self.of_each_version.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether anybody is told each version.
    pub(super) fn tells_each_version(&self) -> bool {
        self.of_each_version.load(Ordering::Relaxed) > 0
    }

    /// Whether steps may be rehearsed when nobody waits.
    pub(super) fn is_unprepared(&self) -> bool {
        self.is_unprepared.load(Ordering::Relaxed)
    }

    /// From here on that is so, or not.
    pub(super) fn set_unprepared(&self, is_unprepared: bool) {
        self.is_unprepared.store(is_unprepared, Ordering::Relaxed);
    }

    /// Whether they rest.
    pub(super) fn rests(&self, now: Instant) -> bool {
        self.state.lock().rests.is_some_and(|rest| rest.until > now)
    }

    /// Whether they rest, and it is known that there is something to do then, and nothing before.
    pub(super) fn sleeps(&self, now: Instant) -> bool {
        let rests = self.state.lock().rests;
        let sleeps = |rest: Rest| rest.is_awaited && !rest.is_disturbed && rest.until > now;
        rests.is_some_and(sleeps) && !self.tells_each_version()
    }

    /// When a rest ends, or has ended, after which there is something to do.
    pub(super) fn awaits(&self) -> Option<Instant> {
        self.state.lock().rests.filter(|rest| rest.is_awaited).map(|rest| rest.until)
    }

    /// They rest from now on.
    pub(super) fn rest(&self, until: Instant) {
        self.state.lock().rests = Some(Rest { until, is_awaited: false, is_disturbed: false });
    }

    /// There is something to do when they have rested.
    pub(super) fn await_end(&self) {
        if let Some(rest) = &mut self.state.lock().rests {
            rest.is_awaited = true;
        }
    }

    /// Whether they have rested. That is said once.
    pub(super) fn rise(&self, now: Instant) -> bool {
        self.state.lock().rests.take_if(|rest| rest.until <= now).is_some()
    }

    /// Somebody has come who should not wait for what is there, while the others go on resting.
    pub(super) fn disturb(&self) {
        if let Some(rest) = &mut self.state.lock().rests {
            rest.is_disturbed = true;
        }
    }

    /// Whether somebody has; they are attended to now.
    pub(super) fn take_disturbed(&self) -> bool {
        let mut state = self.state.lock();
        state.rests.as_mut().is_some_and(|rest| std::mem::take(&mut rest.is_disturbed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn who_has_just_begun_goes_with_the_others_when_all_were_brought_somewhere() {
        let (course, read) = (Course::default(), Arc::from(["edge".to_owned()]));
        let begun = course.bring(3);
        course.brought(begun, Some(vec![Arc::clone(&read)]));
        let begun = course.state.lock().begun;
        // Another one begins with what was there before version 6 is looked at.
        course.begin(5, &read);
        course.follow(begun, 6);
        assert_eq!((course.reach(3, true), course.reach(6, true)), (6, 6), "the others have what they had");
        assert_eq!((course.reach(5, false), course.reach(6, false)), (5, 6));
        assert!(course.state.lock().reads.is_none(), "each has to be looked at");
        let begun = course.bring(8);
        assert_eq!((course.reach(6, true), course.reach(5, false)), (6, 5));
        course.brought(begun, Some(vec![Arc::clone(&read)]));
        course.begin(7, &read);
        assert!(course.state.lock().reads.is_none(), "it knows less than the others");
    }

    #[test]
    fn who_disturbs_a_rest_does_not_end_it() {
        let (course, now) = (Course::default(), Instant::now());
        course.disturb();
        assert!(!course.take_disturbed(), "nobody rests");
        let until = now + Duration::from_secs(60);
        course.rest(until);
        assert!(course.rests(now) && !course.sleeps(now));
        course.await_end();
        assert!(course.sleeps(now) && course.awaits() == Some(until));
        course.disturb();
        assert!(course.rests(now) && !course.sleeps(now));
        assert!(course.take_disturbed() && !course.take_disturbed() && course.sleeps(now));
        course.add_of_each_version();
        assert!(!course.sleeps(now) && course.awaits() == Some(until));
        course.remove_of_each_version();
        assert!(!course.sleeps(until) && course.awaits() == Some(until), "it is to be ended");
        assert!(!course.rise(now) && course.rise(until) && !course.rise(until) && !course.rests(now));
    }
}
