//! `Rota`: which families a thread has to look at when something is committed, and which when they have rested.
//!
//! Where thousands of commits a second concern a hundred families, nearly all of them rest. To ask each of them whether it does,
//! at every commit, would take longer than what they do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use super::family::Family;

/// All families by what they have in common.
pub(super) type Families = Arc<BTreeMap<String, Arc<Family>>>;

/// The families of a thread.
#[derive(Debug, Default)]
pub(super) struct Rota {
    /// All there were when it was made.
    families: Families,
    /// To be looked at whenever something is committed.
    awake: Vec<Arc<Family>>,
    /// To be looked at when they have rested, by that time and their number.
    asleep: BTreeMap<(Instant, u64), Arc<Family>>,
}

impl Rota {
    /// Is made anew if there are other families, or if it `is_stale`.
    pub(super) fn refresh(&mut self, families: &Families, takes: impl Fn(&Family) -> bool, is_stale: bool) {
        if is_stale || !Arc::ptr_eq(families, &self.families) {
            *self = Rota { families: Arc::clone(families), ..Rota::default() };
            families.values().filter(|family| takes(family)).for_each(|family| self.add(Arc::clone(family)));
        }
    }

    /// A family that has been looked at.
    pub(super) fn add(&mut self, family: Arc<Family>) {
        match family.sleeps() {
            Some(until) => drop(self.asleep.insert((until, family.number()), family)),
            None => self.awake.push(family),
        }
    }

    /// Those to be looked at whenever something is committed. They are to be added again.
    pub(super) fn take_awake(&mut self) -> Vec<Arc<Family>> {
        std::mem::take(&mut self.awake)
    }

    /// One that has rested. It is to be added again.
    pub(super) fn take_rested(&mut self, now: Instant) -> Option<Arc<Family>> {
        let first = self.asleep.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// When one of them has rested.
    pub(super) fn rise_at(&self) -> Option<Instant> {
        self.asleep.first_key_value().map(|((until, _), _)| *until)
    }

    /// Whether each version has to be looked at, one after the other.
    pub(super) fn tells_each_version(&self) -> bool {
        self.awake.iter().any(|family| family.tells_each_version())
    }
}
