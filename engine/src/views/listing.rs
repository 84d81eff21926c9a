//! What there is of kept relations, for people to look at.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::kept::View;
use super::{Reading, Views};
use crate::data::RelationId;
use crate::graph::{Graph, GraphId, Snapshot};

/// One relation that is kept.
#[derive(Debug, Clone)]
pub(crate) struct KeptView {
    pub(crate) relation: Arc<str>,
    pub(crate) rows: usize,
    pub(crate) memory_bytes: usize,
    /// The version of the graph at which these are its rows.
    pub(crate) version: u64,
    /// How long it took to derive it from scratch, with what it follows from.
    pub(crate) anew: Duration,
    /// How long it took to bring it forward, the last time,
    pub(crate) last_step: Option<Duration>,
    /// how often that was done,
    pub(crate) steps: u64,
    /// and how often given up.
    pub(crate) given_up: u64,
}

impl Views {
    /// So many bytes of rows are kept at most.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// Whether the rows of a relation, as they are in the state of a question, are kept.
    pub(crate) fn holds(&self, reading: &Reading, relation: RelationId) -> bool {
        let Some(origin) = reading.origin(relation) else { return false };
        let kept = self.kept.read();
        let view = kept.get(&origin.meaning).filter(|view| view.state == origin.state);
        if let Some(view) = view {
            view.last_read.store(self.now(), Ordering::Relaxed);
        }
        view.is_some()
    }

    /// What a graph says is to be kept will be, as far as it is there.
    pub(crate) fn pin(&self, graph: &Graph) {
        let (id, snapshot) = (graph.id(), graph.snapshot());
        for view in self.kept.write().values_mut().filter(|view| view.graph == id) {
            view.is_pinned = snapshot.catalog().keeps(&view.name);
        }
    }

    /// What is kept of a graph's relations as rules define them now, by name.
    pub(crate) fn list(&self, graph: GraphId, snapshot: &Snapshot) -> Vec<KeptView> {
        let kept = self.kept.read();
        let views = kept.values().filter(|view| view.graph == graph && view.is_of_use(snapshot));
        let anew: HashMap<&str, Duration> = kept
            .values()
            .filter(|view| view.graph == graph)
            .map(|view| (&*view.name, view.cost.anew))
            .collect();
        let of_all = |view: &View| -> Duration {
            let below = view.below.keys().filter(|name| **name != *view.name);
            below.filter_map(|name| anew.get(name.as_str())).sum()
        };
        let mut list: Vec<KeptView> = views
            .map(|view| KeptView {
                relation: Arc::clone(&view.name),
                rows: view.rows.len(),
                memory_bytes: view.memory_bytes(),
                // Whatever was committed since has changed nothing below it.
                version: if view.is_right(snapshot) { snapshot.version() } else { view.version },
                anew: view.cost.anew + of_all(view),
                last_step: view.cost.last_step,
                steps: view.cost.steps,
                given_up: view.cost.failures,
            })
            .collect();
        // Of two of one name, which a transaction may have left, the later one.
        list.sort_unstable_by(|a, b| a.relation.cmp(&b.relation).then(b.version.cmp(&a.version)));
        list.dedup_by(|a, b| a.relation == b.relation);
        list
    }

    /// Takes note of why a relation that is to be kept is not there, or that it is.
    pub(crate) fn note_trouble(&self, graph: GraphId, relation: &Arc<str>, trouble: Option<String>) {
        let (mut troubles, key) = (self.troubles.lock(), (graph, Arc::clone(relation)));
        match trouble {
            Some(trouble) => drop(troubles.insert(key, trouble)),
            None => drop(troubles.remove(&key)),
        }
    }

    /// Why a relation that is to be kept is not there.
    pub(crate) fn trouble(&self, graph: GraphId, relation: &Arc<str>) -> Option<String> {
        self.troubles.lock().get(&(graph, Arc::clone(relation))).cloned()
    }
}
