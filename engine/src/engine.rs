//! `Engine`: the graphs and the threads. `Session`: one connection's view of a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::RecordBatch;
use parking_lot::RwLock;

use crate::answer::Answer;
use crate::budget::Budget;
use crate::data::{Threads, Value};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::graph::{Graph, Overlay};
use crate::limits::Limits;
use crate::statements::{self, Context, Inserted, Need, Parameters, RunOptions};
use crate::syntax::ast::{Scope, Statement};
use crate::syntax::{self, ParseLimits};

/// The graph that always exists.
pub const DEFAULT_GRAPH: &str = "default";

/// How an engine is set up.
#[derive(Debug, Clone, Default)]
pub struct EngineOptions {
    /// Threads for evaluation; all cores if `None`.
    pub threads: Option<usize>,
    /// Bounds on what is sent and kept.
    pub limits: Limits,
    /// Rewrites that are switched off, by name: see [`crate::rewrite_names`].
    pub disabled_rewrites: Vec<String>,
}

/// The knowledge graphs, and the threads that answer questions about them. Clones share them.
#[derive(Debug, Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    options: EngineOptions,
    threads: Threads,
    graphs: RwLock<BTreeMap<String, Arc<Graph>>>,
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

impl Engine {
    /// An engine that keeps its graphs in memory. The graph `default` exists.
    pub fn in_memory(options: EngineOptions) -> Result<Engine, Error> {
        let threads = Threads::new(options.threads).map_err(|error| Error::internal("threads", error))?;
        let default = Arc::new(Graph::new(DEFAULT_GRAPH.to_owned()));
        let graphs = RwLock::new([(DEFAULT_GRAPH.to_owned(), default)].into());
        Ok(Engine { shared: Arc::new(Shared { options, threads, graphs }) })
    }

    /// The names of all graphs, sorted.
    pub fn graphs(&self) -> Vec<String> {
        self.shared.graphs.read().keys().cloned().collect()
    }

    /// Whether a graph of this name exists.
    pub fn has_graph(&self, name: &str) -> bool {
        self.shared.graphs.read().contains_key(name)
    }

    /// A session on a graph.
    pub fn open_session(&self, graph: &str) -> Result<Session, Error> {
        Ok(Session { engine: self.clone(), graph: self.graph(graph)?, overlay: Overlay::default() })
    }

    /// What is stored.
    pub fn statistics(&self) -> Statistics {
        let graphs: Vec<Arc<Graph>> = self.shared.graphs.read().values().cloned().collect();
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

    pub(crate) fn create_graph(&self, name: &str) -> Result<(), Diagnostic> {
        if !is_graph_name(name) {
            let message = format!("`{}` is not the name of a knowledge graph", name.escape_debug());
            return Err(Diagnostic::error(Code::ParseError, message)
                .help("use at most 128 bytes, without `/`, `\\`, `..` and control characters"));
        }
        let mut graphs = self.shared.graphs.write();
        if graphs.contains_key(name) {
            return Err(Diagnostic::error(Code::AlreadyExists, format!("a knowledge graph {name} exists already"))
                .help(format!("switch to it: .kg use {name}")));
        }
        let limit = self.options().limits.graphs;
        if limit > 0 && graphs.len() >= limit {
            return Err(Diagnostic::error(Code::LimitExceeded, format!("there are {limit} knowledge graphs already"))
                .help("drop one, or raise storage.max_knowledge_graphs"));
        }
        graphs.insert(name.to_owned(), Arc::new(Graph::new(name.to_owned())));
        Ok(())
    }

    pub(crate) fn drop_graph(&self, name: &str) -> Result<(), Error> {
        match self.shared.graphs.write().remove(name) {
            Some(_) => Ok(()),
            None => Err(Error::refused(not_found(name))),
        }
    }

    fn graph(&self, name: &str) -> Result<Arc<Graph>, Error> {
        let graph = self.shared.graphs.read().get(name).cloned();
        graph.ok_or_else(|| Error::refused(not_found(name)))
    }

    pub(crate) fn options(&self) -> &EngineOptions {
        &self.shared.options
    }

    pub(crate) fn threads(&self) -> &Threads {
        &self.shared.threads
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

fn not_found(name: &str) -> Diagnostic {
    Diagnostic::error(Code::NotFound, format!("knowledge graph {} not found", name.escape_debug()))
        .help("list those there are: .kg list")
}

/// One connection's view: a graph, and facts and rules of its own on top.
#[derive(Debug)]
pub struct Session {
    engine: Engine,
    graph: Arc<Graph>,
    overlay: Overlay,
}

/// A program that was parsed and has all its parameters. Nothing of it has run.
#[derive(Debug)]
pub struct Prepared {
    statements: Vec<Statement>,
}

impl Prepared {
    /// The right that the program asks for: the greatest over all its statements.
    pub fn need(&self) -> Need {
        Need::of_program(&self.statements)
    }

    /// Number of statements.
    pub fn statement_count(&self) -> usize {
        self.statements.len()
    }
}

impl Session {
    /// The name of the graph that the session is bound to.
    pub fn graph(&self) -> &str {
        self.graph.name()
    }

    /// Number of facts and of rules that only this session sees.
    pub fn ephemeral(&self) -> (usize, usize) {
        (self.overlay.fact_count(), self.overlay.rule_count())
    }

    /// Parses a program and fills in its parameters. All its errors are reported at once.
    pub fn prepare(&self, program: &str, parameters: &Parameters) -> Result<Prepared, Error> {
        let limits = &self.engine.options().limits;
        let parse_limits = ParseLimits {
            program_bytes: limits.program_bytes,
            statements: limits.statements,
            nesting: limits.nesting,
            insert_tuples: limits.insert_tuples,
            string_bytes: limits.string_bytes,
            columns: limits.columns,
        };
        let (mut statements, errors) = syntax::parse(program, &parse_limits);
        if !errors.is_empty() {
            return Err(Error::Refused(errors.iter().map(Diagnose::diagnose).collect()));
        }
        statements::fill(&mut statements, parameters).map_err(Error::Refused)?;
        Ok(Prepared { statements })
    }

    /// Runs a program. Blocks until it is done, or the budget is used up.
    pub fn run(&mut self, prepared: Prepared, options: &RunOptions, budget: &Budget) -> Result<Answer, Error> {
        self.check_graph()?;
        let Prepared { statements } = prepared;
        statements::run(self, &statements, options, budget)
    }

    /// Inserts Arrow batches without program text: one commit, all or nothing. Columns go by position; a relation that
    /// does not exist is made with the types found.
    pub fn insert_batches(
        &mut self,
        relation: &str,
        scope: Scope,
        batches: &[RecordBatch],
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        self.insert(budget, |context| statements::insert_batches(relation, scope, batches, context))
    }

    /// Inserts rows of values without program text: one commit, all or nothing.
    #[allow(clippy::needless_pass_by_value, reason = "the rows are of no use to the caller afterwards")]
    pub fn insert_rows(
        &mut self,
        relation: &str,
        scope: Scope,
        rows: Vec<Vec<Value>>,
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        self.insert(budget, |context| statements::insert_rows(relation, scope, &rows, context))
    }

    fn insert(
        &mut self,
        budget: &Budget,
        insert: impl FnOnce(&mut Context<'_>) -> Result<Inserted, Error>,
    ) -> Result<Inserted, Error> {
        self.check_graph()?;
        let mut context = Context::new(&self.engine, &self.graph, budget, self.overlay.clone());
        let inserted = insert(&mut context)?;
        self.overlay = context.overlay;
        Ok(inserted)
    }

    /// A dropped graph answers no more, even if another one has got its name.
    fn check_graph(&self) -> Result<(), Error> {
        match self.engine.shared.graphs.read().get(self.graph.name()) {
            Some(graph) if Arc::ptr_eq(graph, &self.graph) => Ok(()),
            _ => Err(Error::refused(
                Diagnostic::error(Code::NotFound, format!("knowledge graph {} was dropped", self.graph.name()))
                    .help("switch to another one: .kg use default"),
            )),
        }
    }

    pub(crate) fn bind(&mut self, engine: &Engine, graph: &str) -> Result<(), Error> {
        self.graph = engine.graph(graph)?;
        self.overlay = Overlay::default();
        Ok(())
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    pub(crate) fn graph_handle(&self) -> &Arc<Graph> {
        &self.graph
    }

    pub(crate) fn overlay(&self) -> &Overlay {
        &self.overlay
    }

    pub(crate) fn set_overlay(&mut self, overlay: Overlay) {
        self.overlay = overlay;
    }
}
