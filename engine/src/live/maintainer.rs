//! `Maintainer`: the threads that bring the live queries of one graph to each version after it was committed.
//!
//! No writer waits for them. One thread takes the queries that are brief, one all others, so that a question that takes a
//! second delays only its like. Who falls far behind goes on with the latest version.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::query::LiveQuery;
use super::{LiveOptions, Place, Waker};
use crate::budget::Budget;
use crate::context::Environment;
use crate::data::run_low;
use crate::error::Error;
use crate::graph::Snapshot;

/// What takes longer is no brief query.
const BRIEF: Duration = Duration::from_millis(20);
/// So many versions may wait to be looked at one by one.
const MOST_BEHIND: usize = 16;
/// For so long a query goes on that nobody subscribes to: who has lost the connection comes back.
const LEFT: Duration = Duration::from_secs(60);
/// How often it is looked who has left.
const SWEEP: Duration = Duration::from_secs(10);

/// The live queries of one graph.
#[derive(Debug, Default)]
pub(super) struct Maintainer {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    queries: Vec<Arc<LiveQuery>>,
    /// Those who work, while there are queries.
    crew: Option<Arc<Crew>>,
    threads: Vec<JoinHandle<()>>,
}

/// The versions that the two threads have not looked at.
#[derive(Debug, Default)]
struct Crew {
    brief: Queue,
    long: Queue,
}

#[derive(Debug, Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    rung: Condvar,
}

#[derive(Debug, Default)]
struct Waiting {
    versions: VecDeque<Arc<Snapshot>>,
    is_over: bool,
    /// What is being evaluated.
    working: Option<Budget>,
}

/// Which queries a thread takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Brief,
    Long,
}

/// What a thread is to do.
enum Task {
    Look(Arc<Snapshot>),
    Sweep,
    End,
}

impl Maintainer {
    /// A place at the live query of this text, which is made if there is none.
    pub(super) fn join(
        self: &Arc<Self>,
        environment: &Arc<Environment>,
        options: &LiveOptions,
        text: &str,
        make: impl FnOnce() -> LiveQuery,
        waker: Waker,
    ) -> Result<Place, Error> {
        let mut state = self.state.lock();
        if state.crew.is_none() {
            let (crew, threads) = self.start(environment, options)?;
            (state.crew, state.threads) = (Some(crew), threads);
        }
        let found = state.queries.iter().find(|query| query.text() == text).map(Arc::clone);
        let query = found.unwrap_or_else(|| {
            let made = Arc::new(make());
            state.queries.push(Arc::clone(&made));
            made
        });
        let number = query.join(waker);
        Ok(Place { query, number })
    }

    /// Whether there is a live query of this text.
    pub(super) fn has(&self, text: &str) -> bool {
        self.state.lock().queries.iter().any(|query| query.text() == text)
    }

    /// How many live queries there are.
    pub(super) fn count(&self) -> usize {
        self.state.lock().queries.len()
    }

    /// Forgets a query that has no answer, unless somebody else waits for it.
    pub(super) fn forget_unanswered(&self, query: &Arc<LiveQuery>) {
        let is_needless = query.version().is_none() && query.subscriber_count() == 0;
        self.state.lock().queries.retain(|other| !is_needless || !Arc::ptr_eq(other, query));
    }

    /// There is a new version.
    pub(super) fn look_at(&self, snapshot: &Arc<Snapshot>) {
        if let Some(crew) = &self.state.lock().crew {
            crew.push(snapshot);
        }
    }

    /// All queries have ended. Answers the threads, which are about to.
    pub(super) fn end(&self, error: &Error) -> Vec<JoinHandle<()>> {
        let State { queries, crew, threads } = std::mem::take(&mut *self.state.lock());
        if let Some(crew) = crew {
            crew.end();
        }
        queries.iter().for_each(|query| query.end(error.clone()));
        threads
    }

    pub(super) fn queries(&self) -> Vec<Arc<LiveQuery>> {
        self.state.lock().queries.clone()
    }

    fn start(
        self: &Arc<Self>,
        environment: &Arc<Environment>,
        options: &LiveOptions,
    ) -> Result<(Arc<Crew>, Vec<JoinHandle<()>>), Error> {
        let (crew, mut threads) = (Arc::new(Crew::default()), Vec::new());
        for pace in [Pace::Brief, Pace::Long] {
            let (maintainer, working) = (Arc::downgrade(self), Arc::clone(&crew));
            let (environment, options) = (Arc::clone(environment), options.clone());
            let work = move || work(&maintainer, &working, pace, &environment, &options);
            match std::thread::Builder::new().name("live queries".to_owned()).spawn(work) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    crew.end();
                    return Err(Error::internal("live queries", error));
                }
            }
        }
        Ok((crew, threads))
    }

    /// Forgets the queries that nobody has subscribed to for a while. Answers whether any are left.
    fn sweep(&self) -> bool {
        let mut state = self.state.lock();
        state.queries.retain(|query| !query.is_left_for(LEFT));
        if state.queries.is_empty()
            && let Some(crew) = state.crew.take()
        {
            crew.end();
        }
        !state.queries.is_empty()
    }
}

fn work(
    maintainer: &Weak<Maintainer>,
    crew: &Crew,
    pace: Pace,
    environment: &Environment,
    options: &LiveOptions,
) {
    let queue = match pace {
        Pace::Brief => &crew.brief,
        Pace::Long => &crew.long,
    };
    if pace == Pace::Long {
        run_low();
    }
    let mut sweep_at = Instant::now() + SWEEP;
    loop {
        let task = queue.next(sweep_at);
        let Some(maintainer) = maintainer.upgrade() else { return };
        match task {
            Task::End => return,
            Task::Look(snapshot) => {
                for query in maintainer.queries().into_iter().filter(|query| pace.takes(query)) {
                    let budget = Budget::new(Some(options.step_time), options.step_memory).giving_way();
                    let budget = budget.with_string_bytes(environment.limits.string_bytes);
                    queue.waiting.lock().working = Some(budget.clone());
                    query.advance(environment, &snapshot, &budget);
                    if !pace.takes(&query) {
                        // The other thread has passed over it so far.
                        crew.push(&query.graph().snapshot());
                    }
                }
            }
            Task::Sweep => {
                sweep_at = Instant::now() + SWEEP;
                if pace == Pace::Brief && !maintainer.sweep() {
                    return;
                }
            }
        }
    }
}

impl Pace {
    fn takes(self, query: &LiveQuery) -> bool {
        (query.took() < BRIEF) == (self == Pace::Brief)
    }
}

impl Crew {
    fn push(&self, snapshot: &Arc<Snapshot>) {
        self.brief.push(snapshot);
        self.long.push(snapshot);
    }

    fn end(&self) {
        self.brief.end();
        self.long.end();
    }
}

impl Queue {
    fn push(&self, snapshot: &Arc<Snapshot>) {
        let mut waiting = self.waiting.lock();
        if waiting.versions.back().is_some_and(|last| last.version() >= snapshot.version()) {
            return;
        }
        if waiting.versions.len() == MOST_BEHIND {
            waiting.versions.clear();
        }
        waiting.versions.push_back(Arc::clone(snapshot));
        self.rung.notify_one();
    }

    fn end(&self) {
        let mut waiting = self.waiting.lock();
        waiting.is_over = true;
        if let Some(working) = &waiting.working {
            working.cancel();
        }
        self.rung.notify_one();
    }

    fn next(&self, sweep_at: Instant) -> Task {
        let mut waiting = self.waiting.lock();
        waiting.working = None;
        loop {
            if waiting.is_over {
                return Task::End;
            }
            if Instant::now() >= sweep_at {
                return Task::Sweep;
            }
            if let Some(snapshot) = waiting.versions.pop_front() {
                return Task::Look(snapshot);
            }
            self.rung.wait_until(&mut waiting, sweep_at);
        }
    }
}
