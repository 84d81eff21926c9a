//! `Maintainer`: the threads that bring the live queries of one graph to each version after it was committed.
//!
//! No writer waits for them. One thread takes the queries that are brief, one all others, so that a question that takes a
//! second delays only its like. Who falls far behind goes on with the latest version.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::family::Family;
use super::query::LiveQuery;
use super::step::Step;
use super::template::Template;
use super::{Asked, LiveOptions, Place, Waker};
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
    /// By what they have in common. Whoever goes through them takes this as it is.
    families: Arc<BTreeMap<String, Arc<Family>>>,
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
enum Speed {
    Brief,
    Long,
}

/// What a thread is to do.
enum Task {
    Look(Arc<Snapshot>),
    /// Some have rested.
    Rise,
    Sweep,
    End,
}

impl Maintainer {
    /// A place at the live query of this text, which is made if there is none.
    pub(super) fn join(
        self: &Arc<Self>,
        environment: &Arc<Environment>,
        options: &LiveOptions,
        asked: Asked<'_>,
        make: impl FnOnce(&Family) -> LiveQuery,
        waker: Waker,
    ) -> Result<Place, Error> {
        let mut state = self.state.lock();
        if state.crew.is_none() {
            let (crew, threads) = self.start(environment, options)?;
            (state.crew, state.threads) = (Some(crew), threads);
        }
        let Asked { template, text } = asked;
        let family = match state.families.get(template.text()) {
            Some(family) => Arc::clone(family),
            None => {
                let (text, family) = (template.text().to_owned(), Arc::new(Family::of(template)));
                Arc::make_mut(&mut state.families).insert(text, Arc::clone(&family));
                family
            }
        };
        let query = family.query(text, || make(&family));
        let number = query.join(waker);
        Ok(Place { query, number })
    }

    /// Whether there are live queries of this template.
    pub(super) fn has(&self, template: &str) -> bool {
        self.state.lock().families.contains_key(template)
    }

    /// How many live queries there are; those that differ in constants only count as one.
    pub(super) fn count(&self) -> usize {
        self.state.lock().families.len()
    }

    /// Forgets a query that has no answer, unless somebody else waits for it.
    pub(super) fn forget_unanswered(&self, query: &Arc<LiveQuery>) {
        // Nobody joins meanwhile.
        self.state.lock().retain(|other| {
            !Arc::ptr_eq(other, query) || query.version().is_some() || query.subscriber_count() > 0
        });
    }

    /// Ends a query; none if there is none of this number.
    pub(super) fn kill(&self, number: u64, error: &Error) -> Option<Arc<LiveQuery>> {
        let killed = self.queries().into_iter().find(|query| query.number() == number)?;
        self.state.lock().retain(|query| !Arc::ptr_eq(query, &killed));
        killed.end(error.clone());
        Some(killed)
    }

    /// There is a new version.
    pub(super) fn look_at(&self, snapshot: &Arc<Snapshot>) {
        if let Some(crew) = &self.state.lock().crew {
            crew.push(snapshot);
        }
    }

    /// All queries have ended. Answers the threads, which are about to.
    pub(super) fn end(&self, error: &Error) -> Vec<JoinHandle<()>> {
        let State { families, crew, threads } = std::mem::take(&mut *self.state.lock());
        if let Some(crew) = crew {
            crew.end();
        }
        let queries = families.values().flat_map(|family| family.queries());
        queries.for_each(|query| query.end(error.clone()));
        threads
    }

    /// All live queries.
    pub(super) fn queries(&self) -> Vec<Arc<LiveQuery>> {
        self.families().values().flat_map(|family| family.queries()).collect()
    }

    fn families(&self) -> Arc<BTreeMap<String, Arc<Family>>> {
        Arc::clone(&self.state.lock().families)
    }

    fn start(
        self: &Arc<Self>,
        environment: &Arc<Environment>,
        options: &LiveOptions,
    ) -> Result<(Arc<Crew>, Vec<JoinHandle<()>>), Error> {
        let (crew, mut threads) = (Arc::new(Crew::default()), Vec::new());
        for speed in [Speed::Brief, Speed::Long] {
            let (maintainer, working) = (Arc::downgrade(self), Arc::clone(&crew));
            let (environment, options) = (Arc::clone(environment), options.clone());
            let work = move || work(&maintainer, &working, speed, &environment, &options);
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
        state.retain(|query| !query.is_left_for(LEFT));
        if state.families.is_empty()
            && let Some(crew) = state.crew.take()
        {
            crew.end();
        }
        !state.families.is_empty()
    }
}

impl State {
    fn retain(&mut self, keeps: impl Fn(&Arc<LiveQuery>) -> bool) {
        Arc::make_mut(&mut self.families).retain(|_, family| family.retain(&keeps));
    }
}

fn work(
    maintainer: &Weak<Maintainer>,
    crew: &Crew,
    speed: Speed,
    environment: &Environment,
    options: &LiveOptions,
) {
    let queue = match speed {
        Speed::Brief => &crew.brief,
        Speed::Long => &crew.long,
    };
    // Where the processors are not enough, those who ask and commit come first.
    run_low();
    let mut sweep_at = Instant::now() + SWEEP;
    let mut rise_at = None;
    loop {
        let task = queue.next(sweep_at, rise_at);
        let Some(maintainer) = maintainer.upgrade() else { return };
        let look = |family: &Family, snapshot: &Arc<Snapshot>| {
            let budget = |time| queue.budget(environment, options, time);
            let step = Step { environment, snapshot, jointly: options.jointly, budget: &budget };
            family.look(&step, &*options.pace);
            if !speed.takes(&family.template) {
                // The other thread has passed over it so far.
                family.latest().inspect(|latest| crew.push(latest));
            }
        };
        let families = maintainer.families();
        let mine = || families.values().filter(|family| speed.takes(&family.template));
        match task {
            Task::End => return,
            Task::Look(snapshot) => mine().for_each(|family| look(family, &snapshot)),
            Task::Rise => {
                let now = Instant::now();
                for family in mine().filter(|family| family.awaited().is_some_and(|at| at <= now)) {
                    family.latest().inspect(|latest| look(family, latest));
                }
            }
            Task::Sweep => {
                sweep_at = Instant::now() + SWEEP;
                if speed == Speed::Brief && !maintainer.sweep() {
                    return;
                }
            }
        }
        rise_at = mine().filter_map(|family| family.awaited()).min();
    }
}

impl Speed {
    fn takes(self, template: &Template) -> bool {
        (template.took() < BRIEF) == (self == Speed::Brief)
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
    /// What an evaluation may take, until the end.
    fn budget(&self, environment: &Environment, options: &LiveOptions, time: Duration) -> Budget {
        let budget = Budget::new(Some(options.step_time.min(time)), options.step_memory).giving_way();
        let budget = budget.with_string_bytes(environment.limits.string_bytes);
        let mut waiting = self.waiting.lock();
        if waiting.is_over {
            budget.cancel();
        }
        waiting.working = Some(budget.clone());
        budget
    }

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

    fn next(&self, sweep_at: Instant, rise_at: Option<Instant>) -> Task {
        let mut waiting = self.waiting.lock();
        waiting.working = None;
        loop {
            if waiting.is_over {
                return Task::End;
            }
            let now = Instant::now();
            if now >= sweep_at {
                return Task::Sweep;
            }
            if rise_at.is_some_and(|rise_at| now >= rise_at) {
                return Task::Rise;
            }
            if let Some(snapshot) = waiting.versions.pop_front() {
                return Task::Look(snapshot);
            }
            self.rung.wait_until(&mut waiting, rise_at.map_or(sweep_at, |rise_at| rise_at.min(sweep_at)));
        }
    }
}
