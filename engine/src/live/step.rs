//! `Step`: questions that differ in constants only are brought to a version, as one or each by itself.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Jointly;
use super::answered::Answered;
use super::asked::Asked;
use super::due::Due;
use super::pace::Work;
use super::query::LiveQuery;
use super::subscribers::Hearers;
use super::template::Template;
use super::together::{Found, Together};
use crate::budget::Budget;
use crate::context::Environment;
use crate::error::Error;
use crate::graph::{Graph, Snapshot};

/// What is needed for that.
pub(super) struct Step<'s> {
    pub(super) environment: &'s Environment,
    /// The graph at the version.
    pub(super) snapshot: &'s Arc<Snapshot>,
    pub(super) jointly: Jointly,
    /// What each evaluation may take, for so long at most.
    pub(super) budget: &'s dyn Fn(Duration) -> Budget,
}

impl Step<'_> {
    /// Brings the questions of a template to the version, of which some may have been answered together by now. What is told
    /// of that; none where nothing had to be evaluated.
    pub(super) fn bring(
        &self,
        template: &Template,
        queries: &[Arc<LiveQuery>],
        together: Option<Together>,
        hearers: Hearers,
    ) -> Option<Work> {
        let (started, mut work) = (Instant::now(), Work::default());
        let due: Vec<Due<'_>> = queries.iter().filter_map(|query| Due::at(query, self.snapshot)).collect();
        let first = due.first()?.query;
        let together = together.or_else(|| self.together(template, &due));
        let mut given = HashMap::new();
        for mut due in due {
            let query = due.query;
            if together.as_ref().is_some_and(|together| together.is_same(query, &due.before)) {
                given.extend(due.stay(self.snapshot).map(|present| (query.number(), present)));
                continue;
            }
            let jointly = together.as_ref().and_then(|together| together.answer_of(query, &due.before));
            let is_one_of_all = jointly.is_some();
            let answer = jointly.map_or_else(|| self.alone(&mut due), Ok);
            let (told, present) = due.show(self.environment, self.snapshot, answer, hearers);
            work.add(told);
            given.extend(present.filter(|_| is_one_of_all).map(|present| (query.number(), present)));
        }
        if together.is_some() {
            template.gave(Arc::new(given), |bytes| first.hold(bytes));
        }
        work.took = started.elapsed();
        template.costs.note_step(work.took);
        Some(work)
    }

    /// Brings those questions to the version whose answers it changes. What is told of that; none where each has to be looked at.
    pub(super) fn bring_concerned(
        &self,
        template: &Template,
        list: &Arc<[Arc<LiveQuery>]>,
        together: &Together,
        hearers: Hearers,
    ) -> Option<Work> {
        let Found::Changed(changes) = &together.found else { return None };
        let mut given = Arc::clone(&changes.given);
        let mut work = Work::default();
        for due in together.concerned(list, self.snapshot)? {
            let query = due.query;
            let unanswered = || Err(Error::internal("live query", "it was not asked"));
            let answer = together.answer_of(query, &due.before).map_or_else(unanswered, Ok);
            let (told, present) = due.show(self.environment, self.snapshot, answer, hearers);
            work.add(told);
            let given = Arc::make_mut(&mut given);
            match present {
                Some(present) => given.insert(query.number(), present),
                None => given.remove(&query.number()),
            };
        }
        if let Some(first) = list.first() {
            template.gave(given, |bytes| first.hold(bytes));
        }
        Some(work)
    }

    /// The answers to all questions of a list, if the last ones were given together.
    pub(super) fn follow(&self, template: &Template, list: &Arc<[Arc<LiveQuery>]>) -> Option<Together> {
        if !template.is_for(list.len(), self.jointly) {
            return None;
        }
        let asked = template.asked_of_all(list, self.snapshot.dictionary())?;
        self.answer(template, asked, list.first()?.graph())
    }

    /// The answers to those questions that can be asked as one, if there are enough of them: what is wrong with one should
    /// not cost the others theirs.
    fn together(&self, template: &Template, due: &[Due<'_>]) -> Option<Together> {
        let first = due.first()?;
        // Where definitions have changed, columns may have other names: each question finds its own.
        if !template.is_for(due.len(), self.jointly) || due.iter().any(|due| due.is_redefined) {
            template.forget();
            return None;
        }
        let questions: Vec<&LiveQuery> = due.iter().map(|due| due.query).collect();
        let asked = Asked::of(&questions, self.snapshot.dictionary());
        self.answer(template, Arc::new(asked), first.query.graph())
    }

    fn answer(&self, template: &Template, asked: Arc<Asked>, graph: &Arc<Graph>) -> Option<Together> {
        let count = asked.constants.len();
        let patience = match self.jointly {
            Jointly::WhereFaster => template.costs.patience(count),
            Jointly::Always | Jointly::Never => Duration::MAX,
        };
        let (started, budget) = (Instant::now(), (self.budget)(patience));
        let answer = || template.answer(asked, self.environment, graph, self.snapshot, &budget);
        let answered = catch_unwind(AssertUnwindSafe(answer)).ok()?.ok().flatten();
        template.costs.note_together(count, answered.is_some().then(|| started.elapsed()));
        answered
    }

    fn alone(&self, due: &mut Due<'_>) -> Result<Answered, Error> {
        let budget = (self.budget)(Duration::MAX);
        let evaluate = || due.evaluate(self.environment, self.snapshot, &budget);
        let evaluated = catch_unwind(AssertUnwindSafe(evaluate));
        evaluated.unwrap_or_else(|_| Err(Error::internal("live query", "it panicked")))
    }
}
