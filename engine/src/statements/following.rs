//! `Following`: what is kept of a question that is asked at one state of a graph after the other.

use std::time::Duration;

use super::brief::BRIEF;
use crate::analysis::program::Program;
use crate::context::{Context, Environment};
use crate::data::{Codec, Difference, Run};
use crate::exec::{ExecError, Outcome};
use crate::graph::SessionView;
use crate::maintain::{Followed, NextState};
use crate::views::Reading;

/// A question that is asked at one state of a graph after the other.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// The rows of the last state; none where it is not followed.
    pub(super) followed: Option<Followed>,
    /// What has changed since then, if that is known.
    pub(super) difference: Option<Difference>,
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

    /// Whether this program is followed.
    pub(super) fn is_of(&self, program: &Program) -> bool {
        let is_of = |followed: &Followed| followed.is_of(&program.clone().without_alternatives());
        self.followed.as_ref().is_some_and(is_of)
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
        let Some(followed) = &mut self.following.followed else { return Ok(None) };
        let stored = self.reading.stored_of(self.program, self.view);
        let Environment { threads, thresholds, views, .. } = context.environment;
        let (program, thresholds, dictionary) =
            (self.program, *thresholds, self.view.snapshot().dictionary());
        let next = NextState { program, stored, dictionary, thresholds, always: views.always_advances() };
        let is_brief = followed.allows(&next).is_some_and(|time| time <= BRIEF);
        let advance = || followed.advance(next, context.budget);
        let difference = if is_brief { advance() } else { threads.run(advance) }?;
        self.following.difference = difference;
        if self.following.difference.is_none() {
            return Ok(None);
        }
        views.count_step();
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
        let stored = self.reading.stored_of(self.program, self.view);
        let always = views.always_advances();
        let beside = self.following.beside;
        let rows = outcome.runs.iter().map(Run::len).sum();
        let begin =
            || Followed::begin(self.program, stored, (outcome, beside), codec, before.as_ref(), always);
        let begun = context.environment.threads.run_on(rows, begin);
        if let Some((followed, difference)) = begun {
            (self.following.followed, self.following.difference) = (Some(followed), difference);
        }
    }
}
