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
    /// To be looked at whenever something is committed, by their number.
    awake: BTreeMap<u64, Arc<Family>>,
    /// To be looked at when they have rested, by that time and their number; some are awake nevertheless.
    asleep: BTreeMap<(Instant, u64), Arc<Family>>,
    /// Those whose steps are to be rehearsed, by their number.
    unprepared: BTreeMap<u64, Arc<Family>>,
}

impl Rota {
    /// Is made anew if there are other families, or if it `is_stale`. Answers those that are another thread's by now.
    pub(super) fn refresh(
        &mut self,
        families: &Families,
        takes: impl Fn(&Family) -> bool,
        is_stale: bool,
    ) -> Vec<Arc<Family>> {
        if !is_stale && Arc::ptr_eq(families, &self.families) {
            return Vec::new();
        }
        let before = std::mem::take(self);
        self.families = Arc::clone(families);
        families.values().filter(|family| takes(family)).for_each(|family| self.add(Arc::clone(family)));
        let were_here = before.awake.into_values().chain(before.asleep.into_values());
        were_here.filter(|family| !takes(family)).collect()
    }

    /// A family that has been looked at.
    pub(super) fn add(&mut self, family: Arc<Family>) {
        // A rest that is over by now ends with a look all the same: nothing may be committed any more.
        if family.is_unprepared() {
            self.unprepared.insert(family.number(), Arc::clone(&family));
        }
        let until = family.awaits();
        if let Some(until) = until {
            self.asleep.insert((until, family.number()), Arc::clone(&family));
        }
        if until.is_none() || !family.sleeps() {
            self.add_awake(family);
        }
    }

    /// One that somebody else looks at just now, who says so if there is more to do.
    pub(super) fn add_awake(&mut self, family: Arc<Family>) {
        self.awake.insert(family.number(), family);
    }

    /// Those to be looked at whenever something is committed. They are to be added again.
    pub(super) fn take_awake(&mut self) -> impl Iterator<Item = Arc<Family>> + use<> {
        std::mem::take(&mut self.awake).into_values()
    }

    /// One that has rested. It is to be added again.
    pub(super) fn take_rested(&mut self, now: Instant) -> Option<Arc<Family>> {
        let first = self.asleep.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }

    /// One whose steps are to be rehearsed.
    pub(super) fn take_unprepared(&mut self) -> Option<Arc<Family>> {
        self.unprepared.pop_first().map(|(_, family)| family)
    }

    /// It was interrupted.
    pub(super) fn add_unprepared(&mut self, family: Arc<Family>) {
        self.unprepared.insert(family.number(), family);
    }

    /// Whether there are any.
    pub(super) fn has_unprepared(&self) -> bool {
        !self.unprepared.is_empty()
    }

    /// When one of them has rested.
    pub(super) fn rise_at(&self) -> Option<Instant> {
        self.asleep.first_key_value().map(|((until, _), _)| *until)
    }

    /// Whether each version has to be looked at, one after the other.
    pub(super) fn tells_each_version(&self) -> bool {
        self.awake.values().any(|family| family.tells_each_version())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::template::Template;
    use super::*;
    use crate::limits::Limits;
    use crate::syntax;
    use crate::syntax::ast::StatementKind;

    fn family() -> Arc<Family> {
        let (statements, _) = syntax::parse("?p(X)", &Limits::default());
        let [StatementKind::Query(query)] = [&statements[0].kind] else { panic!("a query") };
        Arc::new(Family::of(Template::of(query).0))
    }

    #[test]
    fn what_awaits_the_end_of_a_rest_is_looked_at_then() {
        let (mut rota, now) = (Rota::default(), Instant::now());
        let [long, over, each] = [60, 0, 90].map(|seconds| {
            let family = family();
            family.course.rest(now + Duration::from_secs(seconds));
            rota.add(Arc::clone(&family));
            family
        });
        assert_eq!(rota.rise_at(), None, "there is nothing to do then");
        assert_eq!(rota.take_awake().count(), 3);
        each.course.add_of_each_version();
        for family in [long, over, each] {
            family.course.await_end();
            rota.add(family);
        }
        let later = now + Duration::from_secs(70);
        let risen = std::iter::from_fn(|| Some(rota.take_rested(later)?.awaits()? - now));
        assert_eq!(risen.collect::<Vec<_>>(), [0, 60].map(Duration::from_secs));
        assert_eq!(rota.rise_at(), Some(now + Duration::from_secs(90)), "also who is told each version");
        assert!(rota.tells_each_version());
        assert_eq!(rota.take_awake().count(), 2);
    }
}
