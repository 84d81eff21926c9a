//! `Maintainer`: the threads that bring the live queries of one graph to each version after it was committed.
//!
//! No writer waits for them. One thread takes the queries that are brief, one all others, so that a question that takes a
//! second delays only its like. Who falls far behind goes on with the latest version.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use super::family::{Family, Looked};
use super::query::LiveQuery;
use super::rota::{Families, Rota};
use super::step::Step;
use super::template::Template;
use super::{Asked, LiveOptions, LiveStatus, Place, Waker};
use crate::budget::Budget;
use crate::context::Environment;
use crate::data::run_low;
use crate::error::Error;
use crate::graph::Snapshot;

/// What takes longer is no brief query.
const BRIEF: Duration = Duration::from_millis(20);
/// So many versions may wait to be looked at one by one.
const MOST_BEHIND: usize = 16;
/// The same where somebody is told each version.
const MOST_TOLD: usize = 4_096;
/// For so long a query goes on that nobody subscribes to: who has lost the connection comes back.
const LEFT: Duration = Duration::from_secs(60);
/// To look at families that have nothing to do takes this part of the time at most: so many times as long as it took it is not done
/// again.
const IDLE_SHARE: u32 = 15;
/// To wait for less than this costs more than to look.
const SHORT: Duration = Duration::from_micros(300);
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
    /// Whether some families are to be looked at that seemed to have nothing to do.
    is_disturbed: bool,
    /// Whether nobody looks at versions for a moment.
    is_paused: bool,
    /// Whether somebody is told each version.
    tells_each: bool,
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
        }
        (agenda.rise_at, agenda.each_version) = (rota.rise_at(), rota.tells_each_version());
    }
}

/// When a thread has to do what.
struct Agenda {
    sweep_at: Instant,
    /// When some have rested.
    rise_at: Option<Instant>,
    /// When it looks at a version, unless somebody is told each of them.
    look_at: Instant,
    each_version: bool,
}

impl Agenda {
    fn from(now: Instant) -> Agenda {
        Agenda { sweep_at: now + SWEEP, rise_at: None, look_at: now, each_version: false }
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
        for queue in [&self.brief, &self.long] {
            let mut waiting = queue.waiting.lock();
            (waiting.tells_each, waiting.is_disturbed) = (true, true);
            queue.rung.notify_one();
        }
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
        if waiting.versions.len() >= if waiting.tells_each { MOST_TOLD } else { MOST_BEHIND } {
            waiting.versions.clear();
        }
        waiting.versions.push_back(Arc::clone(snapshot));
        if !waiting.is_paused {
            self.rung.notify_one();
        }
    }

    /// What another one has not come to yet is looked at here, too.
    fn take_up(&self, other: &Queue) {
        let others: Vec<Arc<Snapshot>> = other.waiting.lock().versions.iter().cloned().collect();
        let mut waiting = self.waiting.lock();
        (waiting.tells_each, waiting.is_disturbed) = (true, true);
        waiting.versions.extend(others);
        waiting.versions.make_contiguous().sort_by_key(|snapshot| snapshot.version());
        let mut last = None;
        waiting.versions.retain(|snapshot| last.replace(snapshot.version()) != Some(snapshot.version()));
        self.rung.notify_one();
    }

    fn disturb(&self) {
        self.waiting.lock().is_disturbed = true;
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

    /// What is to be done next, and whether some families are to be looked at that seemed to have nothing to do.
    fn next(&self, agenda: &Agenda) -> (Task, bool) {
        let mut waiting = self.waiting.lock();
        waiting.working = None;
        // Whoever has disturbed may know better.
        waiting.tells_each = agenda.each_version || waiting.is_disturbed && waiting.tells_each;
        loop {
            let now = Instant::now();
            let task = waiting.task(agenda, now);
            if let Some(task) = task {
                return (task, std::mem::take(&mut waiting.is_disturbed));
            }
            waiting.is_paused = !agenda.each_version && now < agenda.look_at;
            let look_at = waiting.is_paused.then_some(agenda.look_at);
            let times = [Some(agenda.sweep_at), agenda.rise_at, look_at];
            let until = times.into_iter().flatten().min().unwrap_or(agenda.sweep_at);
            self.rung.wait_until(&mut waiting, until);
            waiting.is_paused = false;
        }
    }
}

impl Waiting {
    /// What there is to do now.
    fn task(&mut self, agenda: &Agenda, now: Instant) -> Option<Task> {
        if self.is_over {
            return Some(Task::End);
        }
        if now >= agenda.sweep_at {
            return Some(Task::Sweep);
        }
        if agenda.rise_at.is_some_and(|rise_at| now >= rise_at) {
            return Some(Task::Rise);
        }
        if agenda.each_version || self.is_disturbed {
            return self.versions.pop_front().map(Task::Look);
        }
        if now < agenda.look_at {
            return None;
        }
        let latest = self.versions.pop_back();
        self.versions.clear();
        latest.map(Task::Look)
    }
}
