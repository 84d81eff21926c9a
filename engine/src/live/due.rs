//! `Due`: a live query that has to be brought to a version, and is evaluated by nobody else meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::MutexGuard;

use super::answered::Answered;
use super::pace::Work;
use super::present::Present;
use super::query::{LiveQuery, Turn};
use super::seen::{Footing, Seen};
use super::subscribers::Hearers;
use crate::budget::Budget;
use crate::context::Environment;
use crate::error::Error;
use crate::graph::Snapshot;

/// A live query that has to be evaluated at a version. Nobody else evaluates it meanwhile.
pub(super) struct Due<'q> {
    pub(super) query: &'q LiveQuery,
    seen: MutexGuard<'q, Option<Seen>>,
    /// The answer before.
    pub(super) before: Present,
    /// Whether rules, types or relations are other than before: what is read then may be something else.
    pub(super) is_redefined: bool,
    /// That of this evaluation; of one with others there is none.
    footing: Footing,
}

impl<'q> Due<'q> {
    /// One whose answer a version has changed, as is known already; none while somebody else holds it.
    pub(super) fn concerned(query: &'q LiveQuery, snapshot: &Snapshot) -> Option<Due<'q>> {
        Some(Due::of(query, query.turn()?, snapshot))
    }

    /// One that is not at a version yet; none if nothing that it reads is other there than before, or somebody else holds it.
    pub(super) fn at(query: &'q LiveQuery, snapshot: &Arc<Snapshot>) -> Option<Due<'q>> {
        Some(Due::of(query, query.advance(snapshot)?, snapshot))
    }

    fn of(query: &'q LiveQuery, turn: Turn<'q>, snapshot: &Snapshot) -> Due<'q> {
        let Turn { seen, before } = turn;
        let is_redefined = seen.as_ref().is_some_and(|seen| seen.defined_since(snapshot) > seen.version);
        Due { query, seen, before, is_redefined, footing: Footing::default() }
    }

    /// The answer at a version.
    pub(super) fn evaluate(
        &mut self,
        environment: &Environment,
        snapshot: &Arc<Snapshot>,
        budget: &Budget,
    ) -> Result<Answered, Error> {
        if self.is_redefined {
            self.query.check(snapshot)?;
        }
        let mut footing = Footing::default();
        if let Some(seen) = self.seen.as_mut().filter(|_| !self.is_redefined) {
            footing = std::mem::take(&mut seen.footing);
        }
        let before = Some(&self.before);
        let (answered, _) = self.query.evaluate(environment, snapshot, budget, &mut footing, before)?;
        self.footing = footing;
        Ok(answered)
    }

    /// The answer at that version is the one before. Its number.
    pub(super) fn stay(mut self, snapshot: &Snapshot) -> Option<u64> {
        let (version, footing) = (snapshot.version(), self.footing);
        *self.seen = self.seen.take().map(|last| Seen { version, footing, ..last });
        self.query.stay(version);
        self.query.present()
    }

    /// Shows the answer at that version. What of it is told to whom, and the number of what is shown.
    pub(super) fn show(
        mut self,
        environment: &Environment,
        snapshot: &Snapshot,
        answer: Result<Answered, Error>,
        hearers: Hearers,
    ) -> (Work, Option<u64>) {
        let query = self.query;
        let rows = answer.as_ref().map_or(0, Answered::rows_to_compare);
        let compare = || environment.threads.run_on(rows, || answer?.since(&self.before));
        let compared = catch_unwind(AssertUnwindSafe(compare));
        let compared = compared.unwrap_or_else(|_| Err(Error::internal("live query", "it panicked")));
        let (version, footing) = (snapshot.version(), self.footing);
        *self.seen = match self.seen.take() {
            _ if compared.is_err() => None,
            Some(last) if !self.is_redefined => Some(Seen { version, footing, ..last }),
            _ => Some(Seen::of(&query.query, snapshot, footing)),
        };
        let rows = query.show(version, compared);
        let told = if rows.is_some() { query.subscribers().wake(hearers) } else { 0 };
        (Work { told, rows: told * rows.unwrap_or_default(), ..Work::default() }, query.present())
    }
}
