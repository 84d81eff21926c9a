//! The thread that builds indexes: after each commit it takes in what is new. Nobody waits for it; what it has not
//! taken in yet, searches look at row by row.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use super::bell::Bell;
use super::events::{Committed, Listener};
use super::opened::ByName;
use super::{Graph, Snapshot};
use crate::data::run_low;

/// The thread that builds indexes.
#[derive(Debug)]
pub(super) struct Indexer {
    bell: Bell,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Rings when something was committed to a graph with indexes.
#[derive(Debug)]
struct Waker(Bell);

impl Listener for Waker {
    fn heard(&self, committed: &Committed) {
        if committed.is_indexed {
            self.0.ring();
        }
    }
}

impl Indexer {
    /// Starts the thread. Without one, searches look at each row.
    pub(super) fn start(graphs: Arc<ByName>) -> Indexer {
        let (bell, is_over) = (Bell::default(), Arc::new(AtomicBool::new(false)));
        let (listening, ends) = (bell.clone(), Arc::clone(&is_over));
        let work = move || {
            run_low();
            while listening.wait() {
                let open: Vec<Arc<Graph>> = graphs.read().values().flatten().cloned().collect();
                open.iter().for_each(|graph| maintain(graph, &ends));
            }
        };
        let thread = std::thread::Builder::new().name("indexes".to_owned()).spawn(work);
        let thread = thread.inspect_err(|error| tracing::error!("indexes are not built: {error}")).ok();
        Indexer { bell, is_over, thread }
    }

    /// Somebody who wakes it.
    pub(super) fn waker(&self) -> Arc<dyn Listener> {
        Arc::new(Waker(self.bell.clone()))
    }

    /// There may be something to do.
    pub(super) fn wake(&self) {
        self.bell.ring();
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.bell.end();
        if let Some(thread) = self.thread.take() {
            // One that panicked has said so; what it built is made anew at the next start.
            let _ = thread.join();
        }
    }
}

/// Brings all indexes of a graph up to its published state.
fn maintain(graph: &Graph, is_over: &AtomicBool) {
    let mut snapshot = graph.snapshot();
    loop {
        maintain_for(graph, &snapshot, is_over);
        let latest = graph.snapshot();
        // An index takes in nothing of a dictionary that is none of the latest state's any more.
        if Arc::ptr_eq(latest.dictionary(), snapshot.dictionary()) {
            return;
        }
        snapshot = latest;
    }
}

fn maintain_for(graph: &Graph, snapshot: &Snapshot, is_over: &AtomicBool) {
    for index in snapshot.catalog().indexes() {
        let runs = snapshot.runs_of(index);
        if !index.is_current(runs) {
            let is_there = || {
                let now = graph.snapshot();
                now.catalog().index(&index.definition.name).is_some_and(|known| Arc::ptr_eq(known, index))
            };
            let room = |bytes: u64| {
                let refusal = graph.index_share.check_more(bytes).err();
                if index.note_room(refusal.is_none())
                    && let Some(refusal) = &refusal
                {
                    let (name, graph) = (&index.definition.name, graph.name());
                    tracing::warn!("the index {name} of {graph} does not grow: {}", refusal.message);
                }
                refusal.is_none()
            };
            let go_on = || !is_over.load(Ordering::Relaxed) && is_there();
            index.maintain(runs, snapshot.dictionary(), &go_on, &room);
            graph.count_indexes(&graph.snapshot());
        }
    }
}
