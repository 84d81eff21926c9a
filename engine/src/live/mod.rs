//! Live queries: the answer to a question at each version of its graph, and the rows that come and go from one to the next.
//!
//! A commit is told to the [`Maintainer`] of its graph, whose threads evaluate each live query anew if anything that it
//! reads is other than before, and subtract: right by construction for every question. Subscribers read what has changed
//! at their own pace, each from the version that it knows.

mod answered;
mod asked;
mod costs;
mod course;
mod delta;
mod due;
mod family;
mod log;
mod maintainer;
mod memory;
mod pace;
mod present;
mod query;
mod queue;
mod rota;
mod seen;
mod step;
mod subscribers;
mod template;
mod together;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::answer::Rows;
use crate::budget::Budget;
use crate::context::Environment;
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::graph::{Committed, Event, Graph, GraphId, Lineage, Listener};
use crate::syntax;
use crate::syntax::ast::{Query, StatementKind};

pub use delta::Delta;
use family::Family;
use maintainer::Maintainer;
use memory::Memory;
use pace::Restless;
pub use pace::{Pace, Work};
use query::LiveQuery;
use template::Template;

/// Whether questions that differ in constants only are evaluated as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Jointly {
    /// Where that is faster, as far as it has been measured.
    #[default]
    WhereFaster,
    /// Wherever that is possible.
    Always,
    /// Each by itself.
    Never,
}

/// Bounds on live queries.
#[derive(Debug, Clone)]
pub struct LiveOptions {
    /// How long an evaluation after a commit may take; what takes longer ends its subscriptions.
    pub step_time: Duration,
    /// How much memory it may take, in bytes.
    pub step_memory: u64,
    /// Bytes of what is known of earlier answers, of all live queries together.
    pub log_bytes: usize,
    /// Bytes of the answers of all live queries together.
    pub answer_bytes: usize,
    /// So many live queries at most; those that differ in constants only count as one.
    pub queries: usize,
    /// Whether those are evaluated as one.
    pub jointly: Jointly,
    /// How often they are.
    pub pace: Arc<dyn Pace>,
    /// When nothing has been committed for so long, steps are rehearsed, so that the next ones find what they need.
    pub quiet: Duration,
}

impl Default for LiveOptions {
    fn default() -> LiveOptions {
        LiveOptions {
            step_time: Duration::from_secs(10),
            step_memory: u64::MAX,
            log_bytes: 64 << 20,
            answer_bytes: usize::MAX,
            queries: 1_000,
            jointly: Jointly::default(),
            pace: Arc::new(Restless),
            quiet: Duration::from_millis(2),
        }
    }
}

/// Wakes a subscriber when there is something to tell. It is called by the thread that evaluates, and must not wait.
#[derive(Clone)]
pub struct Waker {
    wake: Arc<dyn Fn() + Send + Sync>,
    of_each_version: bool,
}

impl Waker {
    /// What is called.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Waker {
        Waker { wake: Arc::new(wake), of_each_version: false }
    }

    /// The same for somebody who wants to know what each version has changed, at whatever [`Pace`] others are told.
    pub fn of_each_version(self) -> Waker {
        Waker { of_each_version: true, ..self }
    }

    fn wake(&self) {
        (self.wake)();
    }
}

impl fmt::Debug for Waker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Waker")
    }
}

/// The first answer.
#[derive(Debug, Clone)]
pub struct Begun {
    /// The version at which it is the answer.
    pub version: u64,
    /// Its rows, in no particular order.
    pub rows: Arc<Rows>,
    /// What deserves a second look.
    pub warnings: Vec<Diagnostic>,
}

/// What there is to tell a subscriber.
#[derive(Debug, Clone)]
pub enum Next {
    /// The answer is the same, up to and with this version.
    Nothing {
        /// The version.
        version: u64,
    },
    /// With these changes, the answer is that at this version.
    Delta {
        /// The version.
        version: u64,
        /// What has changed.
        delta: Arc<Delta>,
    },
    /// What has changed is not known any more, or the columns have other names. This is the whole answer.
    Reset {
        /// The version at which it is the answer.
        version: u64,
        /// Its rows.
        rows: Arc<Rows>,
    },
    /// There is no answer any more.
    Ended {
        /// The version since which there is none.
        version: u64,
        /// Why.
        error: Error,
    },
}

/// One who is told how the answer to a question changes, until it is dropped.
#[derive(Debug)]
pub struct Subscription {
    place: Place,
    begun: Begun,
}

/// What is subscribed to.
struct Asked<'q> {
    template: Template,
    /// The question as it is written, with its constants.
    text: &'q str,
}

/// A place among those who are woken.
#[derive(Debug)]
struct Place {
    query: Arc<LiveQuery>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.query.subscribers().leave(self.number);
    }
}

impl Subscription {
    /// The answer to begin with.
    pub fn begun(&self) -> &Begun {
        &self.begun
    }

    /// The rows to begin with are of no use any more.
    pub fn forget_begun(&mut self) {
        if self.begun.rows.row_count() > 0 {
            self.begun.rows = Arc::new(self.begun.rows.none());
        }
    }

    /// The graph.
    pub fn graph(&self) -> (GraphId, &str) {
        (self.place.query.graph().id(), self.place.query.graph().name())
    }

    /// What tells the versions of its graph from those of another history.
    pub fn lineage(&self) -> &Lineage {
        self.place.query.graph().lineage()
    }

    /// The question, with its parameters in it.
    pub fn text(&self) -> &str {
        self.place.query.text()
    }

    /// The version up to which the answer is known now.
    pub fn version(&self) -> u64 {
        self.place.query.version().unwrap_or(self.begun.version)
    }

    /// What there is to tell if the answer at the version `from` is known: all that has changed since, or with
    /// `every_version` only what the first version did that has changed something.
    pub fn next(&self, from: u64, every_version: bool) -> Result<Next, Error> {
        self.place.query.next(from, every_version)
    }
}

/// What there is to know of one live query.
#[derive(Debug, Clone)]
pub struct LiveStatus {
    /// What it is called.
    pub number: u64,
    /// Its graph.
    pub graph: Arc<str>,
    /// The question.
    pub text: String,
    /// How many have subscribed.
    pub subscribers: usize,
    /// The version up to which it is known.
    pub version: Option<u64>,
    /// The latest version of the graph.
    pub latest: u64,
    /// How long it took to bring it to the last version, with those that differ in constants only.
    pub took: Duration,
    /// Bytes of the answer, and of what is known of earlier ones.
    pub bytes: usize,
}

impl LiveStatus {
    /// How many versions of the graph it has not looked at yet.
    pub fn behind(&self) -> u64 {
        self.version.map_or(0, |version| self.latest.saturating_sub(version))
    }
}

/// The live queries of an engine.
#[derive(Debug)]
pub(crate) struct Live {
    environment: Arc<Environment>,
    options: LiveOptions,
    memory: Arc<Memory>,
    graphs: Arc<Maintainers>,
}

#[derive(Debug, Default)]
struct Maintainers(Mutex<HashMap<GraphId, Arc<Maintainer>>>);

impl Listener for Maintainers {
    fn heard(&self, committed: &Committed) {
        let mut maintainers = self.0.lock();
        if committed.events.iter().any(|event| matches!(event, Event::GraphDropped { .. })) {
            if let Some(maintainer) = maintainers.remove(&committed.graph) {
                // Nobody waits for its threads.
                drop(maintainer.end(&dropped(&committed.name)));
            }
        } else if let Some(maintainer) = maintainers.get(&committed.graph) {
            maintainer.look_at(&committed.after);
        }
    }
}

impl Live {
    pub(crate) fn new(environment: Arc<Environment>, options: LiveOptions) -> Live {
        let graphs = Arc::new(Maintainers::default());
        environment.graphs.listen(Arc::clone(&graphs) as Arc<dyn Listener>);
        let memory = Arc::new(Memory::new(options.log_bytes, options.answer_bytes));
        Live { environment, options, memory, graphs }
    }

    /// Subscribes to a question on a graph. Its first answer is evaluated if nobody else has subscribed to it.
    pub(crate) fn subscribe(
        &self,
        graph: &Arc<Graph>,
        query: Query,
        waker: Waker,
        budget: &Budget,
    ) -> Result<Subscription, Error> {
        let text = query.to_string();
        let query = self.shared(query, &text);
        let (template, constants) = Template::of(&query);
        let maintainer = self.maintainer(graph, template.text())?;
        let make = |family: &Family| {
            let (course, costs) = (Arc::clone(&family.course), Arc::clone(&family.template.costs));
            let memory = Arc::clone(&self.memory);
            LiveQuery::new(Arc::clone(graph), query, text.clone(), course, costs, constants, memory)
        };
        let asked = Asked { template, text: &text };
        let place = maintainer.join(&self.environment, &self.options, asked, make, waker)?;
        let begun = match place.query.begin(&self.environment, budget) {
            Ok(begun) => begun,
            Err(error) => {
                let query = Arc::clone(&place.query);
                drop(place);
                maintainer.forget_unanswered(&query);
                return Err(error);
            }
        };
        // Those who are told of its end may have been told before this one was among them.
        if !self.environment.graphs.holds(graph) {
            return Err(dropped(graph.name()));
        }
        // What was committed while nobody looked, or all rested.
        let latest = graph.snapshot();
        if begun.version < latest.version() {
            place.query.disturb();
        }
        maintainer.attend(&latest);
        Ok(Subscription { place, begun })
    }

    /// The query whose places are those in this text.
    fn shared(&self, query: Query, text: &str) -> Query {
        let (statements, _) = syntax::parse(text, &self.environment.limits);
        match statements.into_iter().next().map(|statement| statement.kind) {
            Some(StatementKind::Query(shared)) => shared,
            Some(_) | None => query,
        }
    }

    /// Who maintains the live queries of a graph, if one more of this template may be among them.
    fn maintainer(&self, graph: &Arc<Graph>, template: &str) -> Result<Arc<Maintainer>, Error> {
        let mut maintainers = self.graphs.0.lock();
        // Nobody would be told of what becomes of a graph that is gone.
        if !self.environment.graphs.holds(graph) {
            return Err(dropped(graph.name()));
        }
        let count: usize = maintainers.values().map(|maintainer| maintainer.count()).sum();
        let maintainer = Arc::clone(maintainers.entry(graph.id()).or_default());
        let limit = self.options.queries;
        if count >= limit && !maintainer.has(template) {
            let message = format!("there are {limit} live queries already");
            let refusal =
                Diagnostic::error(Code::LimitExceeded, message).limit("live.max_queries", limit as u64);
            return Err(Error::refused(refusal.help("end those that nobody needs, or ask again later")));
        }
        Ok(maintainer)
    }

    /// All live queries.
    pub(crate) fn list(&self) -> Vec<LiveStatus> {
        let maintainers: Vec<Arc<Maintainer>> = self.graphs.0.lock().values().cloned().collect();
        maintainers.iter().flat_map(|maintainer| maintainer.queries()).map(|query| query.status()).collect()
    }

    /// Ends a live query: whoever has subscribed to it is told.
    pub(crate) fn kill(&self, number: u64) -> Option<LiveStatus> {
        let maintainers: Vec<Arc<Maintainer>> = self.graphs.0.lock().values().cloned().collect();
        let error = Error::simple(Code::Cancelled, "an administrator has ended the live query");
        maintainers.iter().find_map(|maintainer| maintainer.kill(number, &error))
    }
}

fn dropped(graph: &str) -> Error {
    Error::simple(Code::NotFound, format!("knowledge graph {graph} was dropped"))
}

impl Drop for Live {
    fn drop(&mut self) {
        let maintainers = std::mem::take(&mut *self.graphs.0.lock());
        let error = Error::simple(Code::Overloaded, "the engine has ended");
        let threads = maintainers.values().flat_map(|maintainer| maintainer.end(&error));
        // One that panicked has said so, and the files of graphs are to be free when the engine is gone.
        threads.collect::<Vec<_>>().into_iter().for_each(|thread| drop(thread.join()));
    }
}
