//! A question that is asked at one state of a graph after the other: what has changed of its answer, at the cost of what has
//! changed below it.

use std::sync::Arc;
use std::time::Duration;

use super::evaluate::{BRIEF, Beside, evaluate};
use super::query::{Asked, asked, form_of};
use crate::analysis::program::Program;
use crate::answer::Rows;
use crate::context::{Context, Environment};
use crate::data::{Codec, Difference, Relation, Run};
use crate::error::Error;
use crate::exec::{ExecError, Outcome};
use crate::graph::SessionView;
use crate::maintain::{Followed, NextState};
use crate::syntax::ast::Query;
use crate::views::Reading;

/// A question that is asked at one state of a graph after the other.
#[derive(Debug, Default)]
pub(crate) struct Following {
    /// The rows of the last state; none where it is not followed.
    followed: Option<Followed>,
    /// What has changed since then, if that is known.
    difference: Option<Difference>,
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

    /// Bytes of what is kept of the last state.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.followed.as_ref().map_or(0, Followed::memory_bytes)
    }

    /// Bytes of the answer.
    pub(crate) fn answer_bytes(&self) -> usize {
        self.followed.as_ref().map_or(0, |followed| followed.answer().memory_bytes())
    }
}

/// The answer to a question that is followed.
pub(crate) enum Told {
    /// All of it.
    Whole(Rows),
    /// What tells it from the one before it, and all rows in codes of the graph.
    Changed(Difference, Relation),
}

/// Answers a query that was answered at an earlier state. `fits` says of what has changed, and of all rows as they are now, whether
/// it is enough to know what has changed.
pub(crate) fn follow(
    query: &Query,
    context: &mut Context<'_>,
    following: &mut Following,
    fits: impl FnOnce(&Difference, &Relation, &Codec) -> bool,
) -> Result<Told, Error> {
    let Asked { analysed, rewritten, view } = asked(query, context, false)?;
    let codec = Codec::over(view.snapshot().dictionary().clone());
    let (program, form) = form_of(analysed);
    let beside = Beside { following: Some(&mut *following), ..Beside::default() };
    let mut evaluated = evaluate(program, rewritten, &view, &codec, context, beside)?;
    let difference = following.difference.take().filter(|_| form.limit.is_none());
    if let Some(difference) = difference
        && let Some(followed) = &following.followed
        && let rows = followed.answer()
        && fits(&difference, &rows, &codec)
    {
        return Ok(Told::Changed(difference, rows));
    }
    // What is followed is in codes of the graph, so that the next answer tells what has changed of this one.
    let codec = match &following.followed {
        Some(followed) => {
            let rows = evaluated.runs.iter().map(Run::len).sum();
            let answer = context.environment.threads.run_on(rows, || followed.answer());
            evaluated.runs = answer.runs().to_vec();
            Codec::over(Arc::clone(codec.shared()))
        }
        None => codec,
    };
    Ok(Told::Whole(form.put_together(&evaluated, codec, context)?))
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
        self.following.followed =
            Followed::begin(self.program, stored, (outcome, beside), codec, before.as_ref(), always);
    }
}
