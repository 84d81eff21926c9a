//! `Engine`: the graphs and the threads. `Session`: one connection's view of a graph.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow::array::RecordBatch;

use crate::answer::Answer;
use crate::budget::Budget;
use crate::context::{Context, Environment};
use crate::data::{Threads, Value};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::graph::{Graphs, SessionState, Statistics};
use crate::limits::Limits;
use crate::need::Need;
use crate::program::{self, RunOptions};
use crate::statements::{self, Inserted, Parameters};
use crate::syntax;
use crate::syntax::ast::{Scope, Statement};

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
    environment: Arc<Environment>,
}

impl Engine {
    /// An engine that keeps its graphs in memory. The graph `default` exists.
    pub fn in_memory(options: EngineOptions) -> Result<Engine, Error> {
        let EngineOptions { threads, limits, disabled_rewrites } = options;
        let threads = Threads::new(threads).map_err(|error| Error::internal("threads", error))?;
        let environment = Environment { graphs: Graphs::default(), threads, limits, disabled_rewrites };
        Ok(Engine { environment: Arc::new(environment) })
    }

    /// The names of all graphs, sorted.
    pub fn graphs(&self) -> Vec<String> {
        self.environment.graphs.names()
    }

    /// Whether a graph of this name exists.
    pub fn has_graph(&self, name: &str) -> bool {
        self.environment.graphs.get(name).is_ok()
    }

    /// A session on a graph.
    pub fn open_session(&self, graph: &str) -> Result<Session, Error> {
        let state = SessionState::new(self.environment.graphs.get(graph)?);
        Ok(Session { environment: Arc::clone(&self.environment), state })
    }

    /// What is stored.
    pub fn statistics(&self) -> Statistics {
        self.environment.graphs.statistics()
    }
}

/// One connection's view: a graph, and facts and rules of its own on top.
#[derive(Debug)]
pub struct Session {
    environment: Arc<Environment>,
    state: SessionState,
}

/// A program that was parsed and has all its parameters. Nothing of it has run.
#[derive(Debug)]
pub struct Prepared {
    statements: Vec<Statement>,
}

impl Prepared {
    /// The rights that the program asks for, over all its statements.
    pub fn needs(&self) -> BTreeSet<Need> {
        program::needs(&self.statements)
    }

    /// Number of statements.
    pub fn statement_count(&self) -> usize {
        self.statements.len()
    }
}

impl Session {
    /// The name of the graph that the session is bound to.
    pub fn graph(&self) -> &str {
        self.state.graph.name()
    }

    /// Number of facts and of rules that only this session sees.
    pub fn ephemeral(&self) -> (usize, usize) {
        (self.state.overlay.fact_count(), self.state.overlay.rule_count())
    }

    /// Parses a program and fills in its parameters. All its errors are reported at once.
    pub fn prepare(&self, program: &str, parameters: &Parameters) -> Result<Prepared, Error> {
        let (mut statements, errors) = syntax::parse(program, &self.environment.limits.parsing());
        if !errors.is_empty() {
            return Err(Error::Refused(errors.iter().map(Diagnose::diagnose).collect()));
        }
        statements::fill(&mut statements, parameters).map_err(Error::Refused)?;
        Ok(Prepared { statements })
    }

    /// Runs a program. Blocks until it is done, or the budget is used up.
    pub fn run(
        &mut self,
        prepared: Prepared,
        options: &RunOptions,
        budget: &Budget,
    ) -> Result<Answer, Error> {
        self.check_graph()?;
        let Prepared { statements } = prepared;
        program::run(&self.environment, &mut self.state, &statements, options, budget)
    }

    /// Inserts Arrow batches without program text: one commit, all or nothing. Columns go by name where
    /// they are declared, else by position; a relation that does not exist is made with the types found.
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
        let mut context =
            Context::new(&self.environment, &self.state.graph, budget, self.state.overlay.clone());
        let inserted = insert(&mut context)?;
        self.state.overlay = context.overlay;
        Ok(inserted)
    }

    /// A dropped graph answers no more, even if another one has got its name.
    fn check_graph(&self) -> Result<(), Error> {
        if self.environment.graphs.holds(&self.state.graph) {
            return Ok(());
        }
        let message = format!("knowledge graph {} was dropped", self.graph());
        Err(Error::refused(
            Diagnostic::error(Code::NotFound, message).help("switch to another one: .kg use default"),
        ))
    }
}
