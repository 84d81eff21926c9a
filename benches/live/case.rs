//! Questions that are followed in this process while facts come and go, beside the same evaluated anew after each commit.

use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use criterion::Criterion;
use stratalog_benches::{Changes, Fingerprint, Follower, answer, commit, define, load, session, session_of};
use stratalog_engine::{Advance, EngineOptions, Session};

use crate::group::Group;

/// What is kept, and what changes below it.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) rules: &'static str,
    pub(crate) question: &'static str,
    /// How many follow it, each with another number in the place of `{}`.
    pub(crate) followers: usize,
    /// What is there at first, and what comes and goes.
    pub(crate) facts: fn() -> (Facts, Changes),
    /// How many rows change in a step.
    pub(crate) sizes: &'static [usize],
}

/// Facts by relation.
pub(crate) type Facts = Vec<(&'static str, RecordBatch)>;

impl Case {
    fn questions(&self) -> impl Iterator<Item = String> {
        (0..self.followers).map(|number| self.question.replace("{}", &number.to_string()))
    }
}

/// A step is from before the text of a commit is read until it is known what has changed of each answer.
pub(crate) fn run(c: &mut Criterion, case: &Case) {
    let mut group = Group::of(c, case.name);
    for (way, advance) in [("forward", Advance::WhereFaster), ("anew", Advance::Never)] {
        let mut followed = None;
        for &size in case.sizes {
            let make = || Followed::of(case, advance);
            group.bench(format!("{way}/{size}"), &mut followed, make, |followed| followed.step(size));
        }
        if let Some(followed) = followed {
            followed.check(case);
        }
    }
    group.end();
}

struct Followed {
    session: Session,
    /// Each with what its answer comes to as it was told.
    followers: Vec<(Follower, Fingerprint)>,
    facts: Facts,
    changes: Changes,
}

impl Followed {
    fn of(case: &Case, advance: Advance) -> Followed {
        let view_memory = 4 << 30;
        let (facts, changes) = (case.facts)();
        let mut session = session_of(EngineOptions { advance, view_memory, ..EngineOptions::default() });
        fill(&mut session, &facts, case.rules);
        let follow = |question: String| {
            let follower = Follower::of(&session, &question);
            let answer = Fingerprint::of(follower.begun());
            (follower, answer)
        };
        let followers = case.questions().map(follow).collect();
        Followed { session, followers, facts, changes }
    }

    fn step(&mut self, size: usize) -> Duration {
        let program = self.changes.step(size);
        let begun = Instant::now();
        let version = commit(&mut self.session, &program);
        let told: Vec<_> =
            self.followers.iter_mut().map(|(follower, _)| follower.catch_up(version)).collect();
        let took = begun.elapsed();
        for ((_, answer), told) in self.followers.iter_mut().zip(told) {
            told.iter().for_each(|next| answer.apply(next));
        }
        took
    }

    /// Whoever has applied all that was told has what an engine that keeps nothing derives from the facts of the end.
    fn check(self, case: &Case) {
        let mut fresh = session();
        fill(&mut fresh, &self.facts, case.rules);
        let so_far = self.changes.so_far();
        if !so_far.is_empty() {
            commit(&mut fresh, &so_far);
        }
        for (question, (_, told)) in case.questions().zip(&self.followers) {
            let right = Fingerprint::of(&answer(&mut fresh, &question));
            assert_eq!(*told, right, "{question}: what was told of {} is wrong", case.name);
        }
    }
}

fn fill(session: &mut Session, facts: &Facts, rules: &str) {
    for (relation, batch) in facts {
        load(session, relation, std::slice::from_ref(batch));
    }
    define(session, rules);
}
