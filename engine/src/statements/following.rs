//! `Following`: what is kept of a question that is asked at one state of a graph after the other.

use std::sync::Arc;
use std::time::Duration;

use super::brief::BRIEF;
use crate::analysis::program::Program;
use crate::budget::Budget;
use crate::context::{Context, Environment};
use crate::data::{Codec, Dictionary, Difference, Run};
use crate::exec::{ExecError, Outcome};
use crate::graph::SessionView;
use crate::maintain::{Followed, Means, Named, NextState};
use crate::views::Reading;

/// A question that is asked at one state of a graph after the other.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// The rows of the last state; none where it is not followed.
    pub(super) followed: Option<Followed>,
    /// What has changed since then, if that is known.
    pub(super) difference: Option<Difference>,
    /// Whether the first steps would have to make what the others find.
    pub(super) is_unprepared: bool,
    /// What becomes of a whole answer takes so long.
    beside: Duration,
}

impl Following {
    /// So many questions are answered as one: each has to find its rows in a whole answer, and to compare them with those before.
    pub(crate) fn stands_for(&mut self, questions: usize) {
        /// For each of them: measured.
        const EACH: Duration = Duration::from_micros(5);
        self.beside = EACH.saturating_mul(u32::try_from(questions).unwrap_or(u32::MAX));
    }

    /// Whether anything is followed.
    pub(super) fn is_there(&self) -> bool {
        self.followed.is_some()
    }

    /// Whether this program is followed.
    pub(super) fn is_of(&self, program: &Program) -> bool {
        let is_of = |followed: &Followed| followed.is_of(&program.clone().without_alternatives());
        self.followed.as_ref().is_some_and(is_of)
    }

    /// Whether steps should be rehearsed.
    pub(crate) fn wants_rehearsal(&self) -> bool {
        self.is_unprepared && self.followed.is_some()
    }

    /// What takes long has been made for another one.
    pub(crate) fn need_no_rehearsal(&mut self) {
        self.is_unprepared = false;
    }

    /// Makes what lasts that steps need. `dictionary` is that of the state, or of a later one.
    pub(crate) fn rehearse(
        &mut self,
        environment: &Environment,
        dictionary: &Arc<Dictionary>,
        budget: &Budget,
    ) -> Result<(), ExecError> {
        if let Some(followed) = &mut self.followed {
            let means = Means { dictionary, thresholds: environment.thresholds };
            environment.threads.run(|| followed.rehearse(means, budget))?;
        }
        self.is_unprepared = false;
        Ok(())
    }

    /// Bytes of what is kept of the last state.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.followed.as_ref().map_or(0, Followed::memory_bytes)
    }

    /// Bytes of the answer.
    pub(crate) fn answer_bytes(&self) -> usize {
        self.followed.as_ref().map_or(0, |followed| followed.answer().memory_bytes())
    }
}

/// Follows a question from state to state.
pub(super) struct Follower<'f> {
    pub(super) following: &'f mut Following,
    pub(super) program: &'f Program,
    pub(super) reading: &'f Reading,
    pub(super) view: &'f SessionView,
}

impl Follower<'_> {
    /// The goal's rows, brought forward from the last state; none if they have to be derived.
    pub(super) fn advance(&mut self, context: &Context<'_>) -> Result<Option<Vec<Run>>, ExecError> {
        self.following.difference = None;
        if self.following.followed.is_none() {
            return Ok(None);
        }
        let stored = self.stored(context);
        let Some(followed) = &mut self.following.followed else { return Ok(None) };
        let Environment { threads, thresholds, views, .. } = context.environment;
        let means = Means { dictionary: self.view.snapshot().dictionary(), thresholds: *thresholds };
        let next = NextState { program: self.program, stored, means, always: views.always_advances() };
        let is_brief = followed.allows(&next).is_some_and(|time| time <= BRIEF);
        let advance = || followed.advance(next, context.budget);
        let difference = if is_brief { advance() } else { threads.run(advance) }?;
        self.following.difference = difference;
        if self.following.difference.is_none() {
            return Ok(None);
        }
        views.count_step();
        self.hand_over(context);
        Ok(self.following.followed.as_ref().map(|followed| followed.answer().runs().to_vec()))
    }

    /// Nothing is followed from this state on.
    pub(super) fn forget(self) {
        self.following.followed = None;
    }

    /// What was derived is where the next state begins.
    pub(super) fn begin(self, outcome: &Outcome, codec: &Codec, context: &Context<'_>) {
        let views = &context.environment.views;
        let before = self.following.followed.take();
        if !views.advances() {
            return;
        }
        let stored = self.stored(context);
        let always = views.always_advances();
        let beside = self.following.beside;
        let rows = outcome.runs.iter().map(Run::len).sum();
        let begin =
            || Followed::begin(self.program, stored, (outcome, beside), codec, before.as_ref(), always);
        let begun = context.environment.threads.run_on(rows, begin);
        if let Some((followed, difference)) = begun {
            self.following.is_unprepared |= followed.wants_rehearsal();
            (self.following.followed, self.following.difference) = (Some(followed), difference);
            self.hand_over(context);
        }
    }

    /// The whole relations that are followed are views for all who ask of this state.
    fn hand_over(&self, context: &Context<'_>) {
        if let Some(followed) = &self.following.followed {
            context.environment.views.put(self.reading, self.program, followed.derived(), self.view);
        }
    }

    /// What is stored, and read; to put views in order may take a while.
    fn stored(&self, context: &Context<'_>) -> Named {
        let rows = self.reading.relations().map(|(_, rows)| rows).sum();
        context.environment.threads.run_on(rows, || self.reading.stored_of(self.program, self.view))
    }
}
