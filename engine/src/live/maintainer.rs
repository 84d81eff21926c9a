//! `Maintainer`: the threads that bring the live queries of one graph to each version after it was committed.
//!
//! No writer waits for them. One thread takes the queries that are brief, one all others, so that a question that takes a
//! second delays only its like. Who falls far behind goes on with the latest version.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::family::{Family, Looked};
use super::query::LiveQuery;
use super::queue::{Agenda, Queue, SWEEP, Task};
use super::rota::{Families, Rota};
use super::step::Step;
use super::template::Template;
use super::{Asked, LiveOptions, LiveStatus, Place, Waker};
use crate::context::Environment;
use crate::data::run_low;
use crate::error::Error;
use crate::graph::Snapshot;

/// What takes longer is no brief query.
const BRIEF: Duration = Duration::from_millis(20);
/// For so long a query goes on that nobody subscribes to: who has lost the connection comes back.
const LEFT: Duration = Duration::from_secs(60);
/// To look at families that have nothing to do takes this part of the time at most: so many times as long as it took it is not done
/// again.
const IDLE_SHARE: u32 = 15;
/// To wait for less than this costs more than to look.
const SHORT: Duration = Duration::from_micros(300);
/// Steps are rehearsed this part of the time at most: so many times as long as that took it is not done again.
const REHEARSALS: u32 = 3;

/// The live queries of one graph.
#[derive(Debug, Default)]
pub(super) struct Maintainer {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By what they have in common. Whoever goes through them takes this as it is.
    families: Families,
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

/// Which queries a thread takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speed {
    Brief,
    Long,
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
        let (query, of_each_version) = (family.query(text, || make(&family)), waker.of_each_version);
        let number = query.subscribers().join(waker);
        if of_each_version && let Some(crew) = &state.crew {
            // From here on no version is passed over.
            crew.tell_each();
        }
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
            !Arc::ptr_eq(other, query) || query.version().is_some() || query.subscribers().count() > 0
        });
    }

    /// Ends a query, and answers what it was; none if there is none of this number.
    pub(super) fn kill(&self, number: u64, error: &Error) -> Option<LiveStatus> {
        let killed = self.queries().into_iter().find(|query| query.number() == number)?;
        self.state.lock().retain(|query| !Arc::ptr_eq(query, &killed));
        // Whoever is told of the end leaves.
        let status = killed.status();
        killed.end(error.clone());
        Some(status)
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
        let queries = families.values().flat_map(|family| family.queries().to_vec());
        queries.for_each(|query| query.end(error.clone()));
        threads
    }

    /// All live queries.
    pub(super) fn queries(&self) -> Vec<Arc<LiveQuery>> {
        self.families().values().flat_map(|family| family.queries().to_vec()).collect()
    }

    /// The same, and somebody has come who may have to be told of it at once.
    pub(super) fn attend(&self, snapshot: &Arc<Snapshot>) {
        if let Some(crew) = &self.state.lock().crew {
            crew.disturb();
            crew.push(snapshot);
        }
    }

    fn families(&self) -> Families {
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
        state.retain(|query| !query.subscribers().is_left_for(LEFT));
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
    let (mut rota, mut agenda) = (Rota::default(), Agenda::from(Instant::now()));
    // Until then no step is rehearsed.
    let mut rests_until = Instant::now();
    loop {
        let (task, is_disturbed) = queue.next(&agenda);
        let Some(maintainer) = maintainer.upgrade() else { return };
        let is_mine = |family: &Family| speed.takes(&family.template);
        let others = rota.refresh(&maintainer.families(), is_mine, is_disturbed);
        others.iter().for_each(|family| crew.hand_over(speed, family));
        // Answers how long it took if there was something to do.
        let look = |rota: &mut Rota, family: Arc<Family>, snapshot: &Arc<Snapshot>| {
            let budget = |time| queue.budget(environment, options, time);
            let step = Step { environment, snapshot, jointly: options.jointly, budget: &budget };
            let looked = family.look(&step, &*options.pace);
            match looked {
                _ if !is_mine(&family) => crew.hand_over(speed, &family),
                Looked::Elsewhere => rota.add_awake(family),
                Looked::Nothing | Looked::Brought(_) => rota.add(family),
            }
            if let Looked::Brought(took) = looked { took } else { Duration::ZERO }
        };
        let started = Instant::now();
        match task {
            Task::End => return,
            Task::Look(snapshot) => {
                let looks = rota.take_awake();
                let worked: Duration = looks.map(|family| look(&mut rota, family, &snapshot)).sum();
                let pause = IDLE_SHARE * started.elapsed().saturating_sub(worked);
                agenda.look_at = Instant::now() + if pause < SHORT { Duration::ZERO } else { pause };
            }
            Task::Rise => {
                while let Some(family) = rota.take_rested(started) {
                    match family.latest() {
                        // Those that wait are told one after the other.
                        Some(_) if family.tells_each_version() => {
                            family.rise(started);
                            rota.add(family);
                        }
                        Some(latest) => _ = look(&mut rota, family, &latest),
                        None => rota.add(family),
                    }
                }
            }
            Task::Sweep => {
                agenda.sweep_at = Instant::now() + SWEEP;
                if speed == Speed::Brief && !maintainer.sweep() {
                    return;
                }
            }
            Task::Rehearse => {
                if let Some(family) = rota.take_unprepared() {
                    family.rehearse(environment, &queue.budget_of_rehearsal(environment, options));
                    if family.is_unprepared() {
                        rota.add_unprepared(family);
                    }
                }
                rests_until = Instant::now() + REHEARSALS * started.elapsed();
            }
        }
        (agenda.rise_at, agenda.each_version) = (rota.rise_at(), rota.tells_each_version());
        agenda.rehearse_at = rota.has_unprepared().then(|| rests_until.max(Instant::now() + options.quiet));
    }
}

impl Speed {
    fn takes(self, template: &Template) -> bool {
        (template.costs.took() < BRIEF) == (self == Speed::Brief)
    }
}

impl Crew {
    fn push(&self, snapshot: &Arc<Snapshot>) {
        self.brief.push(snapshot);
        self.long.push(snapshot);
    }

    fn disturb(&self) {
        self.brief.disturb();
        self.long.disturb();
    }

    /// Somebody is to be told each version.
    fn tell_each(&self) {
        self.brief.tell_each();
        self.long.tell_each();
    }

    /// A family is the other thread's from now on, which has passed over it so far.
    fn hand_over(&self, from: Speed, family: &Family) {
        // First, so that the other thread passes over none of them.
        if family.tells_each_version() {
            let (from, to) = match from {
                Speed::Brief => (&self.brief, &self.long),
                Speed::Long => (&self.long, &self.brief),
            };
            to.take_up(from);
        }
        self.disturb();
        family.latest().inspect(|latest| self.push(latest));
    }

    fn end(&self) {
        self.brief.end();
        self.long.end();
    }
}
