//! `Graphs`: the knowledge graphs by name. `SessionState`: what a connection is bound to.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::{Graph, Overlay};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;

/// The graph that always exists.
pub const DEFAULT_GRAPH: &str = "default";

/// All graphs.
#[derive(Debug)]
pub struct Graphs {
    by_name: RwLock<BTreeMap<String, Arc<Graph>>>,
}

/// A session's graph, and what the session has laid over it.
#[derive(Debug)]
pub struct SessionState {
    /// The graph it is bound to.
    pub graph: Arc<Graph>,
    /// Its own facts and rules.
    pub overlay: Overlay,
}

impl SessionState {
    /// A session without facts and rules of its own.
    pub fn new(graph: Arc<Graph>) -> SessionState {
        SessionState { graph, overlay: Overlay::default() }
    }

    /// Binds the session to another graph; its own facts and rules are gone.
    pub fn bind(&mut self, graph: Arc<Graph>) {
        *self = SessionState::new(graph);
    }
}

/// What an engine holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Number of graphs.
    pub knowledge_graphs: usize,
    /// Stored relations of all graphs.
    pub relations: usize,
    /// Derived relations of all graphs.
    pub views: usize,
    /// Stored rows of all graphs.
    pub tuples: usize,
    /// An estimate of the bytes they take.
    pub memory_bytes: usize,
}

impl Default for Graphs {
    fn default() -> Self {
        let default = Arc::new(Graph::new(DEFAULT_GRAPH.to_owned()));
        Graphs { by_name: RwLock::new([(DEFAULT_GRAPH.to_owned(), default)].into()) }
    }
}

impl Graphs {
    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.by_name.read().keys().cloned().collect()
    }

    /// A graph by its name.
    pub fn get(&self, name: &str) -> Result<Arc<Graph>, Error> {
        let graph = self.by_name.read().get(name).cloned();
        graph.ok_or_else(|| Error::refused(graph_not_found(name)))
    }

    /// Whether this very graph is still there, and not another one under its name.
    pub fn holds(&self, graph: &Arc<Graph>) -> bool {
        self.by_name.read().get(graph.name()).is_some_and(|found| Arc::ptr_eq(found, graph))
    }

    /// Creates a graph, if there are fewer than `limit` (0: no limit).
    pub fn create(&self, name: &str, limit: usize) -> Result<Arc<Graph>, Diagnostic> {
        if !is_graph_name(name) {
            let message = format!("`{}` is not the name of a knowledge graph", name.escape_debug());
            return Err(Diagnostic::error(Code::ParseError, message)
                .help("use at most 128 bytes, without `/`, `\\`, `..` and control characters"));
        }
        let mut graphs = self.by_name.write();
        if graphs.contains_key(name) {
            return Err(Diagnostic::error(
                Code::AlreadyExists,
                format!("a knowledge graph {name} exists already"),
            )
            .help(format!("switch to it: .kg use {name}")));
        }
        if limit > 0 && graphs.len() >= limit {
            return Err(Diagnostic::error(
                Code::LimitExceeded,
                format!("there are {limit} knowledge graphs already"),
            )
            .help("drop one, or raise storage.max_knowledge_graphs")
            .limit("max_knowledge_graphs", limit as u64));
        }
        let graph = Arc::new(Graph::new(name.to_owned()));
        graphs.insert(name.to_owned(), Arc::clone(&graph));
        Ok(graph)
    }

    /// Removes a graph; those who still hold it see it as it was.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        match self.by_name.write().remove(name) {
            Some(_) => Ok(()),
            None => Err(Error::refused(graph_not_found(name))),
        }
    }

    /// What is stored in the graphs that count.
    pub fn statistics(&self, counts: impl Fn(&str) -> bool) -> Statistics {
        let mut graphs: Vec<Arc<Graph>> = self.by_name.read().values().cloned().collect();
        graphs.retain(|graph| counts(graph.name()));
        let mut statistics = Statistics { knowledge_graphs: graphs.len(), ..Statistics::default() };
        for graph in graphs {
            let snapshot = graph.snapshot();
            statistics.memory_bytes += graph.dictionary().memory_bytes();
            statistics.views += snapshot.catalog().derived().count();
            for (_, relation) in snapshot.relations() {
                statistics.relations += 1;
                statistics.tuples += relation.len();
                statistics.memory_bytes += relation.memory_bytes();
            }
        }
        statistics
    }
}

fn is_graph_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 128
        && name != "."
        && !name.contains("..")
        && !name.contains(['/', '\\'])
        && !name.chars().any(char::is_control)
}

/// There is no such graph, or none that the caller may know of: both are answered so.
pub fn graph_not_found(name: &str) -> Diagnostic {
    Diagnostic::error(Code::NotFound, format!("knowledge graph {} not found", name.escape_debug()))
        .help("list those there are: .kg list")
}
