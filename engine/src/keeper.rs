//! `Keeper`: what a graph is told to keep (`.view keep`) is brought to each version after it was committed, before anybody
//! asks for it.
//!
//! A thread a graph, so that none waits for another. No writer waits for it: several commits are one step, and after a step
//! it rests as long as that took.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::budget::{Budget, BudgetError};
use crate::caller::Anyone;
use crate::context::{Context, Environment};
use crate::data::run_low;
use crate::diagnostic::Span;
use crate::error::Error;
use crate::graph::{Bell, Committed, Event, Graph, GraphId, Listener};
use crate::statements::keep_up;
use crate::syntax::ast::Name;

/// After a step it rests no longer.
const LONGEST_REST: Duration = Duration::from_secs(1);
/// What cannot be kept is tried again when something has been committed, and so much time is over.
const PATIENCE: Duration = Duration::from_secs(30);

/// The threads that keep relations of all graphs.
#[derive(Debug)]
pub(crate) struct Keeper(Arc<Workers>);

#[derive(Debug)]
struct Workers {
    environment: Weak<Environment>,
    /// What one step may take.
    step_time: Duration,
    step_memory: u64,
    /// None where there is nothing to keep.
    by_graph: Mutex<HashMap<GraphId, Worker>>,
}

/// The thread of one graph.
#[derive(Debug)]
struct Worker {
    bell: Bell,
    /// What is being evaluated.
    working: Arc<Mutex<Option<Budget>>>,
    thread: JoinHandle<()>,
}

impl Keeper {
    /// Keeps what the graphs of an engine are told to keep, until it is dropped.
    pub(crate) fn start(environment: &Arc<Environment>, step_time: Duration, step_memory: u64) -> Keeper {
        let (by_graph, weak) = (Mutex::default(), Arc::downgrade(environment));
        let workers = Arc::new(Workers { environment: weak, step_time, step_memory, by_graph });
        environment.graphs.listen(Arc::clone(&workers) as Arc<dyn Listener>);
        for graph in environment.graphs.names().iter().filter_map(|name| environment.graphs.get(name).ok()) {
            if graph.snapshot().catalog().kept().next().is_some() {
                workers.wake(graph.id(), graph.name());
            }
        }
        Keeper(workers)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let workers = std::mem::take(&mut *self.0.by_graph.lock());
        workers.values().for_each(Worker::end);
        // One that panicked has said so, and the files of graphs are to be free when the engine is gone.
        workers.into_values().for_each(|worker| drop(worker.thread.join()));
    }
}

impl Listener for Workers {
    fn heard(&self, committed: &Committed) {
        if committed.events.iter().any(|event| matches!(event, Event::GraphDropped { .. })) {
            // Nobody waits for its thread.
            if let Some(worker) = self.by_graph.lock().remove(&committed.graph) {
                worker.end();
            }
        } else if committed.after.catalog().kept().next().is_some() {
            self.wake(committed.graph, &committed.name);
        }
    }
}

impl Workers {
    /// There may be something to do for a graph.
    fn wake(&self, graph: GraphId, name: &str) {
        let mut workers = self.by_graph.lock();
        if let Some(worker) = workers.get(&graph) {
            worker.bell.ring();
            return;
        }
        let (bell, working) = (Bell::default(), Arc::default());
        let work = Work {
            environment: self.environment.clone(),
            graph,
            name: name.to_owned(),
            bell: bell.clone(),
            working: Arc::clone(&working),
            step_time: self.step_time,
            step_memory: self.step_memory,
        };
        bell.ring();
        match std::thread::Builder::new().name("kept views".to_owned()).spawn(move || work.go_on()) {
            Ok(thread) => drop(workers.insert(graph, Worker { bell, working, thread })),
            Err(error) => tracing::error!("the views of {name} are not kept up: {error}"),
        }
    }
}

impl Worker {
    fn end(&self) {
        self.bell.end();
        if let Some(working) = &*self.working.lock() {
            working.cancel();
        }
    }
}

/// What the thread of a graph works with.
struct Work {
    environment: Weak<Environment>,
    graph: GraphId,
    name: String,
    bell: Bell,
    working: Arc<Mutex<Option<Budget>>>,
    step_time: Duration,
    step_memory: u64,
}

impl Work {
    fn go_on(&self) {
        // Where the processors are not enough, those who ask and commit come first.
        run_low();
        let mut tried_in_vain: HashMap<Arc<str>, Instant> = HashMap::new();
        while self.bell.wait() {
            let Some(environment) = self.environment.upgrade() else { return };
            let graph = environment.graphs.get(&self.name).ok().filter(|graph| graph.id() == self.graph);
            let Some(graph) = graph else { continue };
            let started = Instant::now();
            self.keep_all(&environment, &graph, &mut tried_in_vain);
            // Neither the engine nor the graph waits for the rest.
            drop((graph, environment));
            self.bell.pause(started.elapsed().min(LONGEST_REST));
        }
    }

    fn keep_all(
        &self,
        environment: &Environment,
        graph: &Arc<Graph>,
        tried_in_vain: &mut HashMap<Arc<str>, Instant>,
    ) {
        let snapshot = graph.snapshot();
        let catalog = snapshot.catalog();
        for relation in catalog.kept() {
            if tried_in_vain.get(relation).is_some_and(|tried| tried.elapsed() < PATIENCE) {
                continue;
            }
            let budget = self.budget(environment);
            let mut context = Context::at(environment, &Anyone, graph, Arc::clone(&snapshot), &budget);
            let name = Name { text: relation.to_string(), span: Span::default() };
            let kept = keep_up(&name, &mut context);
            *self.working.lock() = None;
            let trouble = match kept {
                Ok(()) => None,
                Err(Error::Stopped(BudgetError::Cancelled)) => return,
                Err(error) => Some(error.to_string()),
            };
            match &trouble {
                None => drop(tried_in_vain.remove(relation)),
                Some(trouble) => {
                    tracing::warn!("{relation} of {} is not kept: {trouble}", graph.name());
                    tried_in_vain.insert(Arc::clone(relation), Instant::now());
                }
            }
            environment.views.note_trouble(graph.id(), relation, trouble);
        }
        environment.views.pin(graph);
    }

    /// What a step may take, until the end.
    fn budget(&self, environment: &Environment) -> Budget {
        let budget = Budget::new(Some(self.step_time), self.step_memory).giving_way();
        let budget = budget.with_string_bytes(environment.limits.string_bytes);
        *self.working.lock() = Some(budget.clone());
        if self.bell.is_over() {
            budget.cancel();
        }
        budget
    }
}
