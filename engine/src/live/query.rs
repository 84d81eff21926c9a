//! `LiveQuery`: one question on one graph, its answer at the latest version that was looked at, and what has changed
//! before.
//!
//! However many subscribe to it, it is evaluated once a version. Whoever evaluates holds `seen`; readers look at `shown`,
//! which changes at once, so nobody sees a version without what led to it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::answered::Answered;
use super::costs::Costs;
use super::course::Course;
use super::delta::{Delta, sorted};
use super::log::{Log, as_one};
use super::memory::{Held, Memory};
use super::present::Present;
use super::seen::{Footing, Seen};
use super::subscribers::{Hearers, Subscribers};
use super::{Begun, LiveStatus, Next};
use crate::analysis;
use crate::budget::Budget;
use crate::caller::Anyone;
use crate::context::{Context, Environment};
use crate::data::{Codec, Difference, Relation, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Graph, Snapshot};
use crate::statements::{self, Told};
use crate::syntax::ast::Query;

/// A live query.
#[derive(Debug)]
pub(super) struct LiveQuery {
    /// What it is called where live queries are listed.
    number: u64,
    graph: Arc<Graph>,
    pub(super) query: Query,
    /// The query as it is written, with its parameters in it: live queries of one text are one.
    text: String,
    /// What it has in common with others,
    course: Arc<Course>,
    costs: Arc<Costs>,
    /// and the constants in which it differs.
    constants: Vec<Value>,
    seen: Mutex<Option<Seen>>,
    shown: Mutex<Option<Shown>>,
    /// What was put together last, for others who know as much.
    netted: Mutex<Option<Netted>>,
    /// Why nobody looks after it any more.
    over: OnceLock<Error>,
    memory: Arc<Memory>,
    subscribers: Subscribers,
}

/// What readers see.
#[derive(Debug)]
struct Shown {
    /// The answer was brought to this version last: see [`Course::reach`].
    version: u64,
    /// Whether it goes with the others of its family: not before it was brought to a version with them.
    is_with_others: bool,
    answer: Result<Present, Error>,
    /// What the answer takes.
    held: Option<Held>,
    log: Arc<Mutex<Log>>,
}

/// The turn to evaluate a live query: as long as somebody has it, nobody else evaluates it.
pub(super) struct Turn<'q> {
    pub(super) seen: MutexGuard<'q, Option<Seen>>,
    /// The answer before.
    pub(super) before: Present,
}

/// What has changed from one version to another.
#[derive(Debug)]
struct Netted {
    from: u64,
    to: u64,
    delta: Option<Arc<Delta>>,
}

impl Shown {
    /// The answer is brought to a version, to which the course of the family leads.
    fn bring(&mut self, version: u64) {
        (self.version, self.is_with_others) = (version, true);
    }
}

impl LiveQuery {
    pub(super) fn new(
        graph: Arc<Graph>,
        query: Query,
        text: String,
        course: Arc<Course>,
        costs: Arc<Costs>,
        constants: Vec<Value>,
        memory: Arc<Memory>,
    ) -> LiveQuery {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LiveQuery {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            graph,
            query,
            text,
            course: Arc::clone(&course),
            costs,
            constants,
            seen: Mutex::default(),
            shown: Mutex::default(),
            netted: Mutex::default(),
            over: OnceLock::new(),
            memory,
            subscribers: Subscribers::of(course),
        }
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The constants in which it differs from them.
    pub(super) fn constants(&self) -> &[Value] {
        &self.constants
    }

    /// Bytes of the answer, and of what is known of earlier ones.
    fn bytes(&self) -> usize {
        self.shown.lock().as_ref().map_or(0, |shown| {
            let answer = shown.answer.as_ref().map_or(0, Present::memory_bytes);
            answer + shown.log.lock().bytes()
        })
    }

    /// Those who have subscribed to it.
    pub(super) fn subscribers(&self) -> &Subscribers {
        &self.subscribers
    }

    /// What there is to know of it.
    pub(super) fn status(&self) -> LiveStatus {
        LiveStatus {
            number: self.number,
            graph: self.graph.name().into(),
            text: self.text.clone(),
            subscribers: self.subscribers.count(),
            version: self.version(),
            latest: self.graph.snapshot().version(),
            took: self.costs.took(),
            bytes: self.bytes(),
        }
    }

    // What readers see

    /// The version up to which its answer is known.
    pub(super) fn version(&self) -> Option<u64> {
        self.shown.lock().as_ref().map(|shown| self.reach(shown))
    }

    /// The version up to which an answer is known.
    fn reach(&self, shown: &Shown) -> u64 {
        match shown.answer {
            Ok(_) => self.course.reach(shown.version, shown.is_with_others),
            Err(_) => shown.version,
        }
    }

    /// Takes note of how far it is, before it is brought further with all others.
    pub(super) fn settle(&self) {
        if let Some(shown) = &mut *self.shown.lock() {
            shown.version = self.reach(shown);
        }
    }

    /// Somebody has come who should not wait for what is there.
    pub(super) fn disturb(&self) {
        self.course.disturb();
    }

    /// Whether there is no answer at an earlier version than this, to which it was to be brought.
    pub(super) fn was_brought(&self, version: u64) -> bool {
        let shown = self.shown.lock();
        shown.as_ref().is_none_or(|shown| shown.answer.is_err() || shown.version >= version)
    }

    /// The relations that it reads, unless it is evaluated just now, or has no answer.
    pub(super) fn reads(&self) -> Option<Arc<[String]>> {
        let seen = self.seen.try_lock()?;
        seen.as_ref().map(|seen| Arc::clone(&seen.relations))
    }

    /// What there is to tell somebody who knows the answer at a version: all that has changed since, or only what the
    /// first version did that has changed it.
    pub(super) fn next(&self, from: u64, every_version: bool) -> Result<Next, Error> {
        let shown = self.shown.lock();
        let Some(last) = &*shown else {
            return Ok(Next::Nothing { version: from });
        };
        let (version, log) = (self.reach(last), last.log.lock());
        let answer = match &last.answer {
            Ok(answer) => answer.clone(),
            Err(error) => return Ok(Next::Ended { version, error: error.clone() }),
        };
        // Who knows of later versions has them of another time.
        let Some(deltas) = (from <= version).then(|| log.since(from)).flatten() else {
            // It may have to be put together.
            drop(log);
            drop(shown);
            return Ok(Next::Reset { version, rows: answer.rows() });
        };
        if every_version && let Some((version, delta)) = log.first_since(from) {
            return Ok(Next::Delta { version, delta });
        }
        drop(log);
        drop(shown);
        Ok(match self.net(from, version, &deltas)? {
            Some(delta) => Next::Delta { version, delta },
            None => Next::Nothing { version },
        })
    }

    /// Puts together what has changed from one version to another, which may take its time.
    fn net(&self, from: u64, to: u64, deltas: &[Arc<Delta>]) -> Result<Option<Arc<Delta>>, Error> {
        if deltas.len() < 2 {
            return Ok(deltas.first().cloned());
        }
        let is_known = |netted: &&Netted| (netted.from, netted.to) == (from, to);
        if let Some(known) = self.netted.lock().as_ref().filter(is_known) {
            return Ok(known.delta.clone());
        }
        let delta = as_one(deltas)?;
        *self.netted.lock() = Some(Netted { from, to, delta: delta.clone() });
        Ok(delta)
    }

    // Evaluation

    /// The answer: the one that is known, or else the present one, evaluated now.
    pub(super) fn begin(&self, environment: &Environment, budget: &Budget) -> Result<Begun, Error> {
        if let Some(begun) = self.known() {
            return Ok(begun);
        }
        let mut seen = self.wait_for_turn(budget)?;
        if let Some(begun) = self.known() {
            return Ok(begun);
        }
        let snapshot = self.graph.snapshot();
        self.check(&snapshot)?;
        let mut footing = Footing::default();
        let (answered, warnings) = self.evaluate(environment, &snapshot, budget, &mut footing, None)?;
        let version = snapshot.version();
        let Answered::Whole(rows) = answered else {
            return Err(Error::internal("live query", "its first answer is none"));
        };
        let answer = Present::whole(rows);
        let read = Seen::of(&self.query, &snapshot, footing);
        let held = Some(self.memory.hold(answer.memory_bytes())?);
        let log = self.memory.logs.log(read.unchanged_since(&snapshot));
        let mut shown = self.shown.lock();
        if let Some(error) = self.over.get() {
            return Err(error.clone());
        }
        let rows = answer.rows();
        *shown = Some(Shown { version, is_with_others: false, answer: Ok(answer), held, log });
        drop(shown);
        let relations = Arc::clone(&read.relations);
        *seen = Some(read);
        // From here on it is brought further with the others; if it was not when they were, this says so.
        drop(seen);
        self.course.begin(version, &relations);
        Ok(Begun { version, rows, warnings })
    }

    /// The answer that is known.
    fn known(&self) -> Option<Begun> {
        let (version, answer) = match &*self.shown.lock() {
            Some(shown @ Shown { answer: Ok(answer), .. }) => (self.reach(shown), answer.clone()),
            Some(_) | None => return None,
        };
        Some(Begun { version, rows: answer.rows(), warnings: Vec::new() })
    }

    /// The number of the answer that is shown.
    pub(super) fn present(&self) -> Option<u64> {
        let shown = self.shown.lock();
        shown.as_ref()?.answer.as_ref().ok().map(Present::number)
    }

    /// Room for what answers follow from, unless there is none.
    pub(super) fn hold(&self, bytes: usize) -> Result<Held, Error> {
        self.memory.hold(bytes)
    }

    fn wait_for_turn(&self, budget: &Budget) -> Result<MutexGuard<'_, Option<Seen>>, Error> {
        loop {
            if let Some(seen) = self.seen.try_lock_for(Duration::from_millis(20)) {
                return Ok(seen);
            }
            budget.check().map_err(Error::Stopped)?;
        }
    }

    /// For whoever knows that it has to be evaluated; none while somebody else holds it.
    pub(super) fn turn(&self) -> Option<Turn<'_>> {
        let seen = self.seen.try_lock()?;
        let before = self.shown.lock().as_ref()?.answer.as_ref().ok()?.clone();
        Some(Turn { seen, before })
    }

    /// Brings the answer to a version where nothing that it reads is other than before; else that has to be done, by
    /// whoever gets this.
    pub(super) fn advance(&self, snapshot: &Arc<Snapshot>) -> Option<Turn<'_>> {
        // Who begins it looks at what has happened meanwhile when that is done.
        let seen = self.seen.try_lock()?;
        let last = seen.as_ref()?;
        let version = snapshot.version();
        let before = match &mut *self.shown.lock() {
            Some(shown) if shown.version < version => {
                if last.is_of(snapshot) {
                    shown.bring(version);
                    return None;
                }
                shown.answer.as_ref().ok()?.clone()
            }
            _ => return None,
        };
        Some(Turn { seen, before })
    }

    /// Shows what a version has come to. How many rows are to be told; none if there is nothing to tell.
    pub(super) fn show(
        &self,
        version: u64,
        evaluated: Result<(Present, Option<Delta>), Error>,
    ) -> Option<usize> {
        let mut shown = self.shown.lock();
        let shown = shown.as_mut().filter(|_| self.over.get().is_none())?;
        shown.bring(version);
        *self.netted.lock() = None;
        // What was held for the answer before is free for the new one.
        shown.held = None;
        let evaluated = evaluated.and_then(|(answer, delta)| {
            let held = self.memory.hold(answer.memory_bytes())?;
            Ok((answer, delta, held))
        });
        match evaluated {
            Ok((answer, delta, held)) => {
                shown.held = Some(held);
                let news = match delta {
                    Some(delta) if delta.is_empty() => None,
                    Some(delta) => {
                        let count = delta.row_count();
                        self.memory.logs.push(&shown.log, version, Arc::new(delta));
                        Some(count)
                    }
                    None => {
                        shown.log = self.memory.logs.log(version);
                        Some(answer.row_count())
                    }
                };
                shown.answer = Ok(answer);
                news
            }
            Err(error) => {
                shown.answer = Err(error);
                Some(0)
            }
        }
    }

    /// The answer is the same at a later version.
    pub(super) fn stay(&self, version: u64) {
        if let Some(shown) = self.shown.lock().as_mut().filter(|_| self.over.get().is_none()) {
            shown.bring(version);
        }
    }

    /// There will be no answer any more.
    pub(super) fn end(&self, error: Error) {
        let error = self.over.get_or_init(|| error).clone();
        if let Some(shown) = &mut *self.shown.lock() {
            (shown.answer, shown.held) = (Err(error), None);
        }
        self.subscribers.wake(Hearers::All);
    }

    /// Whether nothing but commits changes the answer.
    pub(super) fn check(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let analysed = analysis::analyse_query(&self.query, snapshot.catalog());
        let Some(function) = analysed.ok().and_then(|analysed| analysed.program.circumstance()) else {
            return Ok(());
        };
        let message = format!("`{function}()` changes without any commit, so the answer cannot be told live");
        let help = "give the time as a parameter, and subscribe anew when it should be a later one";
        Err(Error::refused(Diagnostic::error(Code::NotLive, message).help(help)))
    }

    /// The answer at a version, from what is known of an earlier one if that helps.
    pub(super) fn evaluate(
        &self,
        environment: &Environment,
        snapshot: &Arc<Snapshot>,
        budget: &Budget,
        footing: &mut Footing,
        before: Option<&Present>,
    ) -> Result<(Answered, Vec<Diagnostic>), Error> {
        let started = Instant::now();
        let mut context = Context::at(environment, &Anyone, &self.graph, Arc::clone(snapshot), budget);
        let fits = |difference: &Difference, rows: &Relation, codec: &Codec| {
            before.is_some_and(|before| before.fits(difference, rows, codec))
        };
        let told = statements::follow(&self.query, &mut context, &mut footing.following, fits)?;
        self.make_room(footing);
        if footing.following.wants_rehearsal() {
            self.course.set_unprepared(true);
        }
        let answered = match told {
            Told::Whole(rows) => {
                let rows = environment.threads.run_on(rows.row_count(), || sorted(&rows));
                Answered::Whole(rows)
            }
            Told::Changed(difference, rows) => Answered::Changed(difference, rows),
        };
        self.costs.note_alone(started.elapsed());
        Ok((answered, context.warnings))
    }

    /// What does not fit beside the answers is not kept.
    fn make_room(&self, footing: &mut Footing) {
        footing.held = None;
        match self.memory.hold(footing.following.memory_bytes()) {
            Ok(held) => footing.held = Some(held),
            Err(_) => *footing = Footing::default(),
        }
    }

    /// One with other constants has been rehearsed.
    pub(super) fn need_no_rehearsal(&self) {
        if let Some(Some(seen)) = self.seen.try_lock().as_deref_mut() {
            seen.footing.following.need_no_rehearsal();
        }
    }

    /// Makes what the first step would have to make; none if there is nothing to do for that, or somebody else evaluates it.
    pub(super) fn rehearse(&self, environment: &Environment, budget: &Budget) -> Option<Result<(), Error>> {
        let mut seen = self.seen.try_lock()?;
        let snapshot = self.graph.snapshot();
        let wants = |seen: &&mut Seen| seen.is_of(&snapshot) && seen.footing.following.wants_rehearsal();
        let footing = &mut seen.as_mut().filter(wants)?.footing;
        let mut context = Context::at(environment, &Anyone, &self.graph, Arc::clone(&snapshot), budget);
        let rehearsed = statements::rehearse(&self.query, &mut context, &mut footing.following);
        self.make_room(footing);
        Some(rehearsed)
    }
}

#[cfg(test)]
mod tests {
    use crate::live::Waker;
    use crate::{Budget, Engine, EngineOptions, LiveOptions, Parameters, RunOptions, Session, Subscription};

    use super::*;

    fn tell(writer: &mut Session, program: &str) -> u64 {
        let prepared = writer.prepare(program, &Parameters::new()).unwrap();
        writer.run(prepared, &RunOptions::default(), &Budget::unlimited()).unwrap().version
    }

    fn subscribe(session: &Session, question: &str) -> Subscription {
        let prepared = session.prepare(question, &Parameters::new()).unwrap();
        session.subscribe(prepared, Waker::new(|| {}), &Budget::unlimited()).unwrap()
    }

    fn wait_for(subscription: &Subscription, version: u64) {
        let until = Instant::now() + Duration::from_secs(20);
        while subscription.version() < version {
            assert!(Instant::now() < until, "{} stays at {}", subscription.text(), subscription.version());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_question_that_somebody_else_held_when_it_was_looked_at_is_looked_at_again() {
        let engine = Engine::in_memory(EngineOptions::default()).unwrap();
        let mut writer = engine.open_session("default").unwrap();
        tell(&mut writer, "+p(1)");
        let (held, its_like) = (subscribe(&writer, "?p(X), X != 8"), subscribe(&writer, "?p(X), X != 9"));
        wait_for(&held, tell(&mut writer, "+p(2)"));
        // As those do who find that there is an answer already.
        let holding = held.place.query.seen.lock();
        let version = tell(&mut writer, "+p(3)");
        wait_for(&its_like, version);
        drop(holding);
        let late = subscribe(&writer, "?p(X), X != 8");
        wait_for(&late, version);
        wait_for(&held, version);
    }

    #[test]
    fn the_first_step_finds_what_was_made_while_nobody_waited() {
        let begin = |quiet: Duration| {
            let live = LiveOptions { quiet, ..LiveOptions::default() };
            let engine = Engine::in_memory(EngineOptions { live, ..EngineOptions::default() }).unwrap();
            let mut writer = engine.open_session("default").unwrap();
            for (name, count) in [("left", 20_000), ("right", 40_000)] {
                let rows: Vec<String> = (0..count).map(|x| format!("({x}, {})", x * 7 % count)).collect();
                tell(&mut writer, &format!("+{name}[{}]", rows.join(", ")));
            }
            tell(&mut writer, "+joined(X, Z) <- left(X, Y), right(Y, Z)");
            let followed = subscribe(&writer, "?joined(X, Z)");
            (engine, writer, followed)
        };
        // With what is made of them; the second rows of a join are found by their first column, so of these nothing is made for an answer.
        let bytes = |followed: &Subscription| {
            let snapshot = followed.place.query.graph().snapshot();
            snapshot.relation("left").unwrap().runs()[0].memory_bytes()
        };
        let (_engine, _writer, followed) = begin(Duration::from_secs(3_600));
        let unprepared = bytes(&followed);
        let (_engine, mut writer, followed) = begin(Duration::ZERO);
        let until = Instant::now() + Duration::from_secs(20);
        while bytes(&followed) == unprepared {
            assert!(Instant::now() < until, "no step is rehearsed");
            std::thread::sleep(Duration::from_millis(1));
        }
        wait_for(&followed, tell(&mut writer, "-right(7, 49)"));
        let Ok(Next::Delta { delta, .. }) = followed.next(followed.begun().version, false) else {
            panic!("a delta")
        };
        assert_eq!((delta.added.row_count(), delta.removed.row_count()), (0, 1));
    }
}
