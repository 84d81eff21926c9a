//! `LiveQuery`: one question on one graph, its answer at the latest version that was looked at, and what has changed
//! before.
//!
//! However many subscribe to it, it is evaluated once a version. Whoever evaluates holds `seen`; readers look at `shown`,
//! which changes at once, so nobody sees a version without what led to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::course::Course;
use super::delta::{Delta, sorted};
use super::family::Family;
use super::log::{Log, as_one};
use super::memory::{Held, Memory};
use super::pace::Work;
use super::present::Present;
use super::template::Template;
use super::{Begun, LiveStatus, Next, Waker};
use crate::analysis;
use crate::answer::Rows;
use crate::budget::Budget;
use crate::caller::Anyone;
use crate::context::{Context, Environment};
use crate::data::{Codec, DataType, Difference, Relation, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Graph, Snapshot};
use crate::statements::{self, Following, Told};
use crate::syntax::ast::Query;

/// A live query.
#[derive(Debug)]
pub(super) struct LiveQuery {
    /// What it is called where live queries are listed.
    number: u64,
    graph: Arc<Graph>,
    query: Query,
    /// The query as it is written, with its parameters in it: live queries of one text are one.
    text: String,
    /// What it has in common with others,
    template: Arc<Template>,
    course: Arc<Course>,
    /// and the constants in which it differs.
    constants: Vec<Value>,
    seen: Mutex<Option<Seen>>,
    shown: Mutex<Option<Shown>>,
    /// What was put together last, for others who know as much.
    netted: Mutex<Option<Netted>>,
    /// Why nobody looks after it any more.
    over: OnceLock<Error>,
    memory: Arc<Memory>,
    subscribers: Mutex<Subscribers>,
}

/// What the last evaluation has read.
#[derive(Debug)]
struct Seen {
    version: u64,
    /// The relations that the answer depends on.
    relations: Arc<[String]>,
    following: Followed,
}

/// What is kept of the evaluation at a version, to begin the next one with.
#[derive(Debug, Default)]
struct Followed {
    version: u64,
    following: Following,
    held: Option<Held>,
}

/// What readers see.
#[derive(Debug)]
struct Shown {
    /// The answer was brought to this version last: see [`Course::reach`].
    version: u64,
    answer: Result<Present, Error>,
    /// What the answer takes.
    held: Option<Held>,
    log: Arc<Mutex<Log>>,
}

/// What has changed from one version to another.
#[derive(Debug)]
struct Netted {
    from: u64,
    to: u64,
    delta: Option<Arc<Delta>>,
}

#[derive(Debug, Default)]
struct Subscribers {
    all: Vec<Subscriber>,
    last_number: u64,
    /// Since when there are none.
    none_since: Option<Instant>,
    /// Whether those who rest have not heard of the last change.
    is_late: bool,
}

#[derive(Debug)]
struct Subscriber {
    number: u64,
    waker: Waker,
    /// Whether it was not woken yet.
    is_new: bool,
}

/// Who is told of a change at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hearers {
    All,
    /// Those who are told each version, and those who have just come. The others rest.
    Awake,
}

impl LiveQuery {
    pub(super) fn new(
        graph: Arc<Graph>,
        query: Query,
        text: String,
        family: &Family,
        constants: Vec<Value>,
        memory: Arc<Memory>,
    ) -> LiveQuery {
        static LAST: AtomicU64 = AtomicU64::new(0);
        LiveQuery {
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            graph,
            query,
            text,
            template: Arc::clone(&family.template),
            course: Arc::clone(&family.course),
            constants,
            seen: Mutex::default(),
            shown: Mutex::default(),
            netted: Mutex::default(),
            over: OnceLock::new(),
            memory,
            subscribers: Mutex::default(),
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

    /// What there is to know of it.
    pub(super) fn status(&self) -> LiveStatus {
        LiveStatus {
            number: self.number,
            graph: self.graph.name().into(),
            text: self.text.clone(),
            subscribers: self.subscriber_count(),
            version: self.version(),
            latest: self.graph.snapshot().version(),
            took: self.template.took(),
            bytes: self.bytes(),
        }
    }

    // Subscribers

    /// Answers the number under which somebody is woken from now on.
    pub(super) fn join(&self, waker: Waker) -> u64 {
        let mut subscribers = self.subscribers.lock();
        subscribers.last_number += 1;
        subscribers.none_since = None;
        let number = subscribers.last_number;
        if waker.of_each_version {
            self.course.add_of_each_version();
        }
        subscribers.all.push(Subscriber { number, waker, is_new: true });
        number
    }

    pub(super) fn leave(&self, number: u64) {
        let mut subscribers = self.subscribers.lock();
        let place = subscribers.all.iter().position(|other| other.number == number);
        let left = place.map(|place| subscribers.all.swap_remove(place));
        if left.is_some_and(|left| left.waker.of_each_version) {
            self.course.remove_of_each_version();
        }
        if subscribers.all.is_empty() {
            subscribers.none_since = Some(Instant::now());
        }
    }

    pub(super) fn subscriber_count(&self) -> usize {
        self.subscribers.lock().all.len()
    }

    /// Whether nobody has subscribed to it for so long.
    pub(super) fn is_left_for(&self, time: Duration) -> bool {
        self.subscribers.lock().none_since.is_some_and(|since| since.elapsed() >= time)
    }

    /// Wakes whoever is told of a change at once; how many these are.
    fn wake(&self, hearers: Hearers) -> usize {
        let mut subscribers = self.subscribers.lock();
        subscribers.is_late = hearers == Hearers::Awake;
        let hears = |subscriber: &&mut Subscriber| {
            hearers == Hearers::All || subscriber.waker.of_each_version || subscriber.is_new
        };
        // Whoever is woken may leave at once.
        let waking = subscribers.all.iter_mut().filter(hears).map(|subscriber| {
            subscriber.is_new = false;
            subscriber.waker.clone()
        });
        let waking: Vec<Waker> = waking.collect();
        drop(subscribers);
        waking.iter().for_each(Waker::wake);
        waking.len()
    }

    /// Wakes all if some have not heard of the last change.
    pub(super) fn wake_late(&self) {
        let is_late = self.subscribers.lock().is_late;
        if is_late {
            self.wake(Hearers::All);
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
            Ok(_) => self.course.reach(shown.version),
            Err(_) => shown.version,
        }
    }

    /// Takes note of how far it is, before it is brought further.
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
        let mut followed = Followed::default();
        let (answered, warnings) = self.evaluate(environment, &snapshot, budget, &mut followed, None)?;
        let version = snapshot.version();
        let Answered::Whole(rows) = answered else {
            return Err(Error::internal("live query", "its first answer is none"));
        };
        let answer = Present::whole(rows);
        let read = Seen { following: followed, ..Seen::of(&self.query, &snapshot) };
        let held = Some(self.memory.hold(answer.memory_bytes())?);
        let log = self.memory.logs.log(read.unchanged_since(&snapshot));
        let mut shown = self.shown.lock();
        if let Some(error) = self.over.get() {
            return Err(error.clone());
        }
        let rows = answer.rows();
        *shown = Some(Shown { version, answer: Ok(answer), held, log });
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

    fn wait_for_turn(&self, budget: &Budget) -> Result<MutexGuard<'_, Option<Seen>>, Error> {
        loop {
            if let Some(seen) = self.seen.try_lock_for(Duration::from_millis(20)) {
                return Ok(seen);
            }
            budget.check().map_err(Error::Stopped)?;
        }
    }

    /// Brings the answer to a version where nothing that it reads is other than before; else that has to be done, by
    /// whoever gets this.
    pub(super) fn advance(&self, snapshot: &Arc<Snapshot>) -> Option<Due<'_>> {
        // Who begins it looks at what has happened meanwhile when that is done.
        let seen = self.seen.try_lock()?;
        let last = seen.as_ref()?;
        let version = snapshot.version();
        let before = match &mut *self.shown.lock() {
            Some(shown) if shown.version < version => {
                if last.is_of(snapshot) {
                    shown.version = version;
                    return None;
                }
                shown.answer.as_ref().ok()?.clone()
            }
            _ => return None,
        };
        let is_redefined = last.defined_since(snapshot) > last.version;
        Some(Due { query: self, seen, before, is_redefined })
    }

    /// What tells an answer from the one before it; nothing where it has other columns, or values look otherwise there.
    fn compare(before: &Rows, after: &Rows) -> Result<Option<Delta>, Error> {
        let has_same_columns = after.columns().len() == before.columns().len()
            && after
                .columns()
                .iter()
                .zip(before.columns())
                .all(|(a, b)| a.unique_name == b.unique_name && looks_alike(a.data_type, b.data_type));
        Ok(has_same_columns.then(|| Delta::between(before, after)).transpose()?)
    }

    /// Shows what a version has come to. How many rows are to be told; none if there is nothing to tell.
    fn show(&self, version: u64, evaluated: Result<(Present, Option<Delta>), Error>) -> Option<usize> {
        let mut shown = self.shown.lock();
        let shown = shown.as_mut().filter(|_| self.over.get().is_none())?;
        shown.version = version;
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

    /// There will be no answer any more.
    pub(super) fn end(&self, error: Error) {
        let error = self.over.get_or_init(|| error).clone();
        if let Some(shown) = &mut *self.shown.lock() {
            (shown.answer, shown.held) = (Err(error), None);
        }
        self.wake(Hearers::All);
    }

    /// Whether nothing but commits changes the answer.
    fn check(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let analysed = analysis::analyse_query(&self.query, snapshot.catalog());
        let Some(function) = analysed.ok().and_then(|analysed| analysed.program.circumstance()) else {
            return Ok(());
        };
        let message = format!("`{function}()` changes without any commit, so the answer cannot be told live");
        let help = "give the time as a parameter, and subscribe anew when it should be a later one";
        Err(Error::refused(Diagnostic::error(Code::NotLive, message).help(help)))
    }

    fn evaluate(
        &self,
        environment: &Environment,
        snapshot: &Arc<Snapshot>,
        budget: &Budget,
        followed: &mut Followed,
        before: Option<&Present>,
    ) -> Result<(Answered, Vec<Diagnostic>), Error> {
        let started = Instant::now();
        let mut context = Context::at(environment, &Anyone, &self.graph, Arc::clone(snapshot), budget);
        let fits = |difference: &Difference, codec: &Codec| {
            before.is_some_and(|before| before.fits(difference, codec))
        };
        let told = statements::follow(&self.query, &mut context, &mut followed.following, fits)?;
        // What does not fit beside the answers is not kept.
        (followed.version, followed.held) = (snapshot.version(), None);
        match self.memory.hold(followed.following.memory_bytes()) {
            Ok(held) => followed.held = Some(held),
            Err(_) => *followed = Followed::default(),
        }
        let answered = match told {
            Told::Whole(rows) => Answered::Whole(sorted(&rows)),
            Told::Changed(difference, rows) => Answered::Changed(difference, rows),
        };
        self.template.note_alone(started.elapsed());
        Ok((answered, context.warnings))
    }
}

/// A live query that has to be evaluated at a version. Nobody else evaluates it meanwhile.
pub(super) struct Due<'q> {
    pub(super) query: &'q LiveQuery,
    seen: MutexGuard<'q, Option<Seen>>,
    /// The answer before.
    pub(super) before: Present,
    /// Whether rules, types or relations are other than before: what is read then may be something else.
    pub(super) is_redefined: bool,
}

impl Due<'_> {
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
        let mut followed = Followed::default();
        if let Some(seen) = &mut *self.seen {
            // With others it may have been brought further since.
            let is_here = !self.is_redefined && seen.following.version == seen.version;
            followed = std::mem::take(&mut seen.following);
            if !is_here {
                followed = Followed::default();
            }
        }
        let before = Some(&self.before);
        let answered = self.query.evaluate(environment, snapshot, budget, &mut followed, before);
        if let Some(seen) = &mut *self.seen {
            seen.following = followed;
        }
        answered.map(|(answered, _)| answered)
    }

    /// Shows the answer at that version. What of it is told to whom.
    pub(super) fn show(
        mut self,
        snapshot: &Snapshot,
        answer: Result<Answered, Error>,
        hearers: Hearers,
    ) -> Work {
        let query = self.query;
        let compared = catch_unwind(AssertUnwindSafe(|| answer?.since(&self.before)));
        let compared = compared.unwrap_or_else(|_| Err(Error::internal("live query", "it panicked")));
        *self.seen = match (compared.is_ok(), self.seen.take()) {
            (false, _) => None,
            (true, Some(last)) if !self.is_redefined => Some(Seen { version: snapshot.version(), ..last }),
            (true, last) => {
                let following = last.map(|last| last.following).unwrap_or_default();
                Some(Seen { following, ..Seen::of(&query.query, snapshot) })
            }
        };
        let Some(rows) = query.show(snapshot.version(), compared) else { return Work::default() };
        let told = query.wake(hearers);
        Work { told, rows: told * rows, ..Work::default() }
    }
}

/// What an evaluation has come to.
pub(super) enum Answered {
    /// All rows, in order of their codes.
    Whole(Rows),
    /// What tells them from those before, and all of them.
    Changed(Difference, Relation),
}

impl Answered {
    /// The answer, and what tells it from the one before it; nothing where it has other columns, or values look otherwise there.
    fn since(self, before: &Present) -> Result<(Present, Option<Delta>), Error> {
        match self {
            Answered::Whole(rows) => {
                let rows = rows.with_types_if_empty(before.like()).sharing_codec_of(before.like());
                let delta = LiveQuery::compare(&before.rows(), &rows)?;
                Ok((Present::whole(rows), delta))
            }
            Answered::Changed(difference, rows) => {
                let (present, delta) = before.next(difference, rows);
                Ok((present, Some(delta)))
            }
        }
    }
}

/// Whether a value is written in the same way in columns of both types. A time among values of other types is a number,
/// and whoever keeps rows would not find it again.
fn looks_alike(a: DataType, b: DataType) -> bool {
    let is_plain =
        |data_type| matches!(data_type, DataType::Int | DataType::Bool | DataType::Text | DataType::Any);
    a == b || a == DataType::Unknown || b == DataType::Unknown || is_plain(a) && is_plain(b)
}

impl Seen {
    fn of(query: &Query, snapshot: &Snapshot) -> Seen {
        let analysed = analysis::analyse_query(query, snapshot.catalog());
        let relations = analysed.map(|analysed| analysed.program.relations).unwrap_or_default();
        let relations = relations.into_iter().map(|relation| relation.name).collect();
        Seen { version: snapshot.version(), relations, following: Followed::default() }
    }

    /// Whether nothing that was read is other than it was.
    fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.unchanged_since(snapshot) <= self.version
    }

    /// Since when everything that was read is as it is now.
    fn unchanged_since(&self, snapshot: &Snapshot) -> u64 {
        let rows = self.relations.iter().map(|relation| snapshot.rows_since(relation));
        rows.fold(self.defined_since(snapshot), u64::max)
    }

    /// Since when it has the rules and columns that it has.
    fn defined_since(&self, snapshot: &Snapshot) -> u64 {
        let definitions = self.relations.iter().map(|relation| snapshot.defined_since(relation));
        definitions.max().unwrap_or_else(|| snapshot.version())
    }
}

#[cfg(test)]
mod tests {
    use crate::live::Waker;
    use crate::{Budget, Engine, EngineOptions, Parameters, RunOptions, Session, Subscription};

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
}
