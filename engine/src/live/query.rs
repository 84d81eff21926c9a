//! `LiveQuery`: one question on one graph, its answer at the latest version that was looked at, and what has changed
//! before.
//!
//! However many subscribe to it, it is evaluated once a version. Whoever evaluates holds `seen`; readers look at `shown`,
//! which changes at once, so nobody sees a version without what led to it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::delta::{Delta, sorted};
use super::log::{Log, LogMemory, as_one};
use super::{Begun, Next, Waker};
use crate::analysis;
use crate::answer::Rows;
use crate::budget::Budget;
use crate::caller::Anyone;
use crate::catalog::Catalog;
use crate::context::{Context, Environment};
use crate::data::Run;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::Relations as _;
use crate::graph::{Graph, Snapshot};
use crate::statements;
use crate::syntax::ast::Query;

/// A live query.
#[derive(Debug)]
pub(super) struct LiveQuery {
    graph: Arc<Graph>,
    query: Query,
    /// The query as it is written, with its parameters in it: live queries of one text are one.
    text: String,
    seen: Mutex<Option<Seen>>,
    shown: Mutex<Option<Shown>>,
    log_memory: Arc<LogMemory>,
    /// How long the last evaluation took.
    took_micros: AtomicU64,
    subscribers: Mutex<Subscribers>,
}

/// What the last evaluation has read.
#[derive(Debug)]
struct Seen {
    catalog: Catalog,
    /// The relations that the answer depends on, and the numbers of their runs.
    relations: Vec<(String, Vec<u64>)>,
}

/// What readers see.
#[derive(Debug)]
struct Shown {
    /// The answer is known up to and with this version.
    version: u64,
    answer: Result<Arc<Rows>, Error>,
    log: Log,
}

#[derive(Debug, Default)]
struct Subscribers {
    waking: Vec<(u64, Waker)>,
    last_number: u64,
    /// Since when there are none.
    none_since: Option<Instant>,
}

impl LiveQuery {
    pub(super) fn new(
        graph: Arc<Graph>,
        query: Query,
        text: String,
        log_memory: Arc<LogMemory>,
    ) -> LiveQuery {
        LiveQuery {
            graph,
            query,
            text,
            seen: Mutex::default(),
            shown: Mutex::default(),
            log_memory,
            took_micros: AtomicU64::new(0),
            subscribers: Mutex::default(),
        }
    }

    pub(super) fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// How long the last evaluation took.
    pub(super) fn took(&self) -> Duration {
        Duration::from_micros(self.took_micros.load(Ordering::Relaxed))
    }

    /// Bytes of the answer, and of what is known of earlier ones.
    pub(super) fn bytes(&self) -> usize {
        self.shown.lock().as_ref().map_or(0, |shown| {
            let answer = shown.answer.as_ref().map_or(0, |rows| rows.coded().0.memory_bytes());
            answer + shown.log.bytes()
        })
    }

    // Subscribers

    /// Answers the number under which somebody is woken from now on.
    pub(super) fn join(&self, waker: Waker) -> u64 {
        let mut subscribers = self.subscribers.lock();
        subscribers.last_number += 1;
        subscribers.none_since = None;
        let number = subscribers.last_number;
        subscribers.waking.push((number, waker));
        number
    }

    pub(super) fn leave(&self, number: u64) {
        let mut subscribers = self.subscribers.lock();
        subscribers.waking.retain(|(other, _)| *other != number);
        if subscribers.waking.is_empty() {
            subscribers.none_since = Some(Instant::now());
        }
    }

    pub(super) fn subscriber_count(&self) -> usize {
        self.subscribers.lock().waking.len()
    }

    /// Whether nobody has subscribed to it for so long.
    pub(super) fn is_left_for(&self, time: Duration) -> bool {
        self.subscribers.lock().none_since.is_some_and(|since| since.elapsed() >= time)
    }

    fn wake(&self) {
        // Whoever is woken may leave at once.
        let waking: Vec<Waker> =
            self.subscribers.lock().waking.iter().map(|(_, waker)| waker.clone()).collect();
        waking.iter().for_each(Waker::wake);
    }

    // What readers see

    /// The version up to which its answer is known.
    pub(super) fn version(&self) -> Option<u64> {
        self.shown.lock().as_ref().map(|shown| shown.version)
    }

    /// What there is to tell somebody who knows the answer at a version: all that has changed since, or only what the
    /// first version did that has changed it.
    pub(super) fn next(&self, from: u64, every_version: bool) -> Result<Next, Error> {
        let shown = self.shown.lock();
        let Some(Shown { version, answer, log }) = &*shown else {
            return Ok(Next::Nothing { version: from });
        };
        let version = *version;
        let rows = match answer {
            Ok(rows) => rows,
            Err(error) => return Ok(Next::Ended { version, error: error.clone() }),
        };
        // Who knows of later versions has them of another time.
        let Some(deltas) = (from <= version).then(|| log.since(from)).flatten() else {
            return Ok(Next::Reset { version, rows: Arc::clone(rows) });
        };
        if every_version && let Some((version, delta)) = log.first_since(from) {
            return Ok(Next::Delta { version, delta });
        }
        // To put deltas together may take its time.
        drop(shown);
        Ok(match as_one(&deltas)? {
            Some(delta) => Next::Delta { version, delta },
            None => Next::Nothing { version },
        })
    }

    // Evaluation

    /// The answer: the one that is known, or else the present one, evaluated now.
    pub(super) fn begin(&self, environment: &Environment, budget: &Budget) -> Result<Begun, Error> {
        let mut seen = self.wait_for_turn(budget)?;
        if let Some(Shown { version, answer: Ok(rows), .. }) = &*self.shown.lock() {
            return Ok(Begun { version: *version, rows: Arc::clone(rows), warnings: Vec::new() });
        }
        let snapshot = self.graph.snapshot();
        let (rows, warnings) = self.evaluate(environment, &snapshot, budget)?;
        let (version, rows) = (snapshot.version(), Arc::new(rows));
        let log = Log::after(version, Arc::clone(&self.log_memory));
        *self.shown.lock() = Some(Shown { version, answer: Ok(Arc::clone(&rows)), log });
        *seen = Some(Seen::of(&self.query, &snapshot));
        Ok(Begun { version, rows, warnings })
    }

    fn wait_for_turn(&self, budget: &Budget) -> Result<MutexGuard<'_, Option<Seen>>, Error> {
        loop {
            if let Some(seen) = self.seen.try_lock_for(Duration::from_millis(20)) {
                return Ok(seen);
            }
            budget.check().map_err(Error::Stopped)?;
        }
    }

    /// Brings the answer to a version.
    pub(super) fn advance(&self, environment: &Environment, snapshot: &Arc<Snapshot>, budget: &Budget) {
        // Who begins it looks at what has happened meanwhile when that is done.
        let Some(mut seen) = self.seen.try_lock() else { return };
        let Some(last) = &*seen else { return };
        let version = snapshot.version();
        let before = match &mut *self.shown.lock() {
            Some(shown) if shown.version < version => {
                if last.is_of(snapshot) {
                    shown.version = version;
                    return;
                }
                shown.answer.clone().ok()
            }
            _ => return,
        };
        let Some(before) = before else { return };
        let evaluated = catch_unwind(AssertUnwindSafe(|| self.step(environment, snapshot, &before, budget)));
        let evaluated = evaluated.unwrap_or_else(|_| Err(Error::internal("live query", "it panicked")));
        *seen = evaluated.is_ok().then(|| Seen::of(&self.query, snapshot));
        if self.show(version, evaluated) {
            self.wake();
        }
    }

    /// The answer at a version and what tells it from the one before; no delta where it has other columns.
    fn step(
        &self,
        environment: &Environment,
        snapshot: &Arc<Snapshot>,
        before: &Rows,
        budget: &Budget,
    ) -> Result<(Rows, Option<Delta>), Error> {
        let (rows, _) = self.evaluate(environment, snapshot, budget)?;
        let has_same_columns = rows.columns().len() == before.columns().len()
            && rows.columns().iter().zip(before.columns()).all(|(a, b)| a.unique_name == b.unique_name);
        let delta = has_same_columns.then(|| Delta::between(before, &rows)).transpose()?;
        Ok((rows, delta))
    }

    /// Shows what a version has come to. Answers whether that is something to tell.
    fn show(&self, version: u64, evaluated: Result<(Rows, Option<Delta>), Error>) -> bool {
        let mut shown = self.shown.lock();
        let Some(shown) = &mut *shown else { return false };
        shown.version = version;
        match evaluated {
            Ok((rows, delta)) => {
                let is_news = delta.as_ref().is_none_or(|delta| !delta.is_empty());
                match delta {
                    Some(delta) if is_news => shown.log.push(version, Arc::new(delta)),
                    Some(_) => {}
                    None => shown.log = Log::after(version, Arc::clone(&self.log_memory)),
                }
                shown.answer = Ok(Arc::new(rows));
                is_news
            }
            Err(error) => {
                shown.answer = Err(error);
                true
            }
        }
    }

    /// There is no answer any more.
    pub(super) fn end(&self, error: Error) {
        if let Some(shown) = &mut *self.shown.lock() {
            shown.answer = Err(error);
        }
        self.wake();
    }

    fn evaluate(
        &self,
        environment: &Environment,
        snapshot: &Arc<Snapshot>,
        budget: &Budget,
    ) -> Result<(Rows, Vec<Diagnostic>), Error> {
        let started = Instant::now();
        if let Ok(analysed) = analysis::analyse_query(&self.query, snapshot.catalog())
            && let Some(function) = analysed.program.circumstance()
        {
            let message =
                format!("`{function}()` changes without any commit, so the answer cannot be told live");
            let help = "give the time as a parameter, and subscribe anew when it should be a later one";
            return Err(Error::refused(Diagnostic::error(Code::NotLive, message).help(help)));
        }
        let mut context = Context::at(environment, &Anyone, &self.graph, Arc::clone(snapshot), budget);
        let rows = sorted(&statements::answer(&self.query, &mut context)?);
        let took = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.took_micros.store(took, Ordering::Relaxed);
        Ok((rows, context.warnings))
    }
}

impl Seen {
    fn of(query: &Query, snapshot: &Snapshot) -> Seen {
        let catalog = snapshot.catalog();
        let analysed = analysis::analyse_query(query, catalog);
        let relations = analysed.map(|analysed| analysed.program.relations).unwrap_or_default();
        let read = relations.into_iter().map(|relation| {
            let runs = numbers(snapshot, &relation.name);
            (relation.name, runs)
        });
        Seen { catalog: catalog.clone(), relations: read.collect() }
    }

    /// Whether nothing that was read is other than it was.
    fn is_of(&self, snapshot: &Snapshot) -> bool {
        self.catalog.is_same(snapshot.catalog())
            && self.relations.iter().all(|(name, runs)| numbers(snapshot, name) == *runs)
    }
}

/// The numbers of a relation's runs, which no two runs share.
fn numbers(snapshot: &Snapshot, relation: &str) -> Vec<u64> {
    snapshot.runs(relation).iter().map(Run::number).collect()
}
