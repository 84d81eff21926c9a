//! `Engine`: the graphs and the threads. `Session`: one connection's view of a graph.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;

use crate::analysis;
use crate::answer::Answer;
use crate::attached::Places;
use crate::budget::{Budget, MemoryPool};
use crate::caller::{Anyone, Caller};
use crate::catalog::Catalog;
use crate::check;
use crate::cluster::Cluster;
use crate::commands::{self, CommandFamily};
use crate::context::{Context, Environment};
use crate::data::{Threads, Value};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::exec::Thresholds;
use crate::forms::Forms;
use crate::graph::{
    BackupPlace, BackupSummary, Binding, GraphId, Graphs, Listener, SessionState, SessionView, Statistics,
    StorageOptions, StoredBackup,
};
use crate::keeper::Keeper;
use crate::limits::Limits;
use crate::live::{Live, LiveOptions, LiveStatus, Subscription, Waker};
use crate::need::{Need, Requirement};
use crate::program::{self, RunOptions};
use crate::statements::{self, Inserted, Parameters};
use crate::storage::RecordChange;
use crate::syntax::ast::{Query, Scope, Statement, StatementKind};
use crate::syntax::{self, SyntaxError};
use crate::transfer::{self, Transferred};
use crate::views::{Advance, ViewStatus, Views};

/// How an engine is set up.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// Threads for evaluation; all cores if `None`.
    pub threads: Option<usize>,
    /// Bounds on what is sent and kept.
    pub limits: Limits,
    /// Rewrites that are switched off, by name: see [`crate::rewrite_names`].
    pub disabled_rewrites: Vec<String>,
    /// From when on large rounds are done in other ways than small ones.
    pub thresholds: Thresholds,
    /// Who evaluates what is not evaluated here, if there is somebody.
    pub cluster: Option<Cluster>,
    /// Who reads files that are attached; without it, none can be.
    pub places: Option<Arc<dyn Places>>,
    /// Bytes that may keep rows of rules from one question to the next. With none, each question derives what it needs.
    pub view_memory: usize,
    /// Whether these rows are brought forward when something below them has changed.
    pub advance: Advance,
    /// Bounds on live queries.
    pub live: LiveOptions,
    /// The folder in which `.backup` makes backups; without it there are none.
    pub backups: Option<PathBuf>,
    /// Commands besides the engine's own.
    pub commands: &'static [CommandFamily],
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions {
            threads: None,
            limits: Limits::default(),
            disabled_rewrites: Vec::new(),
            thresholds: Thresholds::default(),
            cluster: None,
            places: None,
            view_memory: 1 << 30,
            advance: Advance::default(),
            live: LiveOptions::default(),
            backups: None,
            commands: &[],
        }
    }
}

/// The knowledge graphs, and the threads that answer questions about them. Clones share them.
#[derive(Debug, Clone)]
pub struct Engine {
    environment: Arc<Environment>,
    live: Arc<Live>,
    /// Works as long as it is there.
    _keeper: Arc<Keeper>,
}

impl Engine {
    /// An engine that keeps its graphs in memory. The graph `default` exists.
    pub fn in_memory(options: EngineOptions) -> Result<Engine, Error> {
        Engine::with(options, |stored_bytes| Ok(Graphs::in_memory(stored_bytes)))
    }

    /// An engine that keeps its graphs in a folder. Graphs that are damaged are not served, and the others are: see
    /// [`Engine::storage_troubles`].
    pub fn open(options: EngineOptions, storage: StorageOptions) -> Result<Engine, Error> {
        Engine::with(options, |stored_bytes| Ok(Graphs::open(storage, stored_bytes)?))
    }

    fn with(
        options: EngineOptions,
        graphs: impl FnOnce(u64) -> Result<Graphs, Error> + Send,
    ) -> Result<Engine, Error> {
        let EngineOptions {
            threads,
            limits,
            disabled_rewrites,
            thresholds,
            cluster,
            places,
            view_memory,
            advance,
            live,
            backups,
            commands,
        } = options;
        let threads = Threads::new(threads).map_err(|error| Error::internal("threads", error))?;
        let graphs = threads.run(|| graphs(limits.stored_bytes))?;
        let environment = Environment {
            graphs,
            threads,
            limits,
            disabled_rewrites,
            thresholds,
            cluster,
            places,
            views: Views::new(view_memory, advance),
            forms: Forms::new(),
            backups,
            commands,
        };
        let environment = Arc::new(environment);
        let keeper = Arc::new(Keeper::start(&environment, live.step_time, live.step_memory));
        let live = Arc::new(Live::new(Arc::clone(&environment), live));
        Ok(Engine { environment, live, _keeper: keeper })
    }

    /// Copies all graphs, and what the server keeps beside them, to a folder that is not there yet, where the data is. Writes go on
    /// meanwhile; everything is copied as it was at one moment.
    pub fn back_up(&self, folder: &Path) -> Result<BackupSummary, Error> {
        self.environment.graphs.back_up(folder)
    }

    /// The same to any place.
    pub fn back_up_to(&self, place: &BackupPlace) -> Result<BackupSummary, Error> {
        self.environment.graphs.back_up_to(place)
    }

    /// Adds a backup to a folder of backups, which share what does not change. The folder is made if it is not there.
    pub fn add_backup(&self, place: &BackupPlace) -> Result<StoredBackup, Error> {
        self.environment.graphs.add_backup(place)
    }

    /// Copies what is new to the archive, and makes a backup if it is time. Whoever has opened the engine with an archive
    /// calls this about once a second.
    pub fn tend_archive(&self) -> Result<(), Error> {
        self.environment.graphs.tend_archive()
    }

    /// Writes a graph, at one version, to a folder that is empty or not there: a Parquet file for each relation, and
    /// `program.dl` with schemas and rules.
    pub fn export(&self, graph: &str, folder: &Path) -> Result<Transferred, Error> {
        let graph = self.environment.graphs.get(graph)?;
        self.environment.threads.run(|| transfer::export(&graph, folder))
    }

    /// Makes a graph of such a folder. If anything is wrong, nothing is left of it.
    pub fn import(&self, graph: &str, folder: &Path) -> Result<Transferred, Error> {
        let environment = &self.environment;
        let is_new = !self.has_graph(graph);
        let target = match is_new {
            true => {
                environment.graphs.create(graph, environment.limits.graphs, &[]).map_err(Error::refused)?
            }
            false => environment.graphs.get(graph)?,
        };
        let catalog = target.snapshot().catalog().clone();
        if catalog.relations().next().is_some() || catalog.derived().next().is_some() {
            return Err(transfer::not_empty(graph));
        }
        let done = environment.threads.run(|| transfer::import(environment, &target, folder));
        if done.is_err() && is_new {
            environment.graphs.remove(graph, &[])?;
        }
        done
    }

    /// What the server keeps beside the graphs, by key: accounts, and what else must survive.
    pub fn records(&self) -> BTreeMap<String, Vec<u8>> {
        self.environment.graphs.records()
    }

    /// Sets such records, or removes them where there is no content: all of them durably, or none. An engine in memory
    /// keeps none.
    pub fn set_records(&self, changes: &[RecordChange]) -> Result<(), Error> {
        self.environment.graphs.set_records(changes)
    }

    /// The graphs whose storage has failed or is damaged, and what is wrong.
    pub fn storage_troubles(&self) -> Vec<(String, String)> {
        let troubles = self.environment.graphs.troubles();
        troubles.into_iter().map(|(name, error)| (name, error.to_string())).collect()
    }

    /// The graphs that take no writes because a sync failed, until their files have been made anew; `*` stands for all
    /// of them, where it is the file beside them.
    pub fn unwritable(&self) -> Vec<String> {
        self.environment.graphs.unwritable()
    }

    /// Whether some graph's storage was busy for this long without a break. Waits as long, if need be.
    pub fn is_storage_contended(&self, patience: Duration) -> bool {
        self.environment.graphs.is_contended(patience)
    }

    /// Writes what only journals hold to files: the next start has less to read.
    pub fn checkpoint(&self) -> Result<(), Error> {
        self.environment.graphs.checkpoint()
    }

    /// The names of all graphs, sorted.
    pub fn graphs(&self) -> Vec<String> {
        self.environment.graphs.names()
    }

    /// Whether a graph of this name exists.
    pub fn has_graph(&self, name: &str) -> bool {
        self.environment.graphs.get(name).is_ok()
    }

    /// The graph that has this name at this moment.
    pub fn graph_id(&self, name: &str) -> Option<GraphId> {
        self.environment.graphs.get(name).ok().map(|graph| graph.id())
    }

    /// Tells somebody of every commit from now on.
    pub fn listen(&self, listener: Arc<dyn Listener>) {
        self.environment.graphs.listen(listener);
    }

    /// A session on a graph, in which everything is allowed.
    pub fn open_session(&self, graph: &str) -> Result<Session, Error> {
        self.open_session_for(Arc::new(Anyone), graph)
    }

    /// A session of somebody on a graph.
    pub fn open_session_for(&self, caller: Arc<dyn Caller>, graph: &str) -> Result<Session, Error> {
        let state = SessionState::new(self.environment.graphs.get(graph)?);
        Ok(Session {
            environment: Arc::clone(&self.environment),
            live: Arc::clone(&self.live),
            _keeper: Arc::clone(&self._keeper),
            caller,
            state,
        })
    }

    /// What is stored.
    pub fn statistics(&self) -> Statistics {
        self.environment.graphs.statistics(|_| true)
    }

    /// The live queries of all graphs.
    pub fn live_queries(&self) -> Vec<LiveStatus> {
        self.live.list()
    }

    /// Ends the live query of a number, and tells all who have subscribed to it; none if there is none.
    pub fn end_live_query(&self, number: u64) -> Option<LiveStatus> {
        self.live.kill(number)
    }

    /// The rows of rules that are kept for later questions.
    pub fn views(&self) -> ViewStatus {
        self.environment.views.status(|_| true)
    }
}

/// One connection's view: a graph, and facts and rules of its own on top.
#[derive(Debug)]
pub struct Session {
    environment: Arc<Environment>,
    live: Arc<Live>,
    /// Works as long as it is there.
    _keeper: Arc<Keeper>,
    caller: Arc<dyn Caller>,
    state: SessionState,
}

/// A program that was parsed and has all its parameters. Nothing of it has run.
#[derive(Debug)]
pub struct Prepared {
    statements: Vec<Statement>,
    needs: Vec<Requirement>,
}

impl Prepared {
    /// The rights that the program asks for, over all its statements.
    pub fn needs(&self) -> &[Requirement] {
        &self.needs
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

    /// Tells at any time which graph the session is bound to.
    pub fn binding(&self) -> &Binding {
        self.state.binding()
    }

    /// From now on somebody else acts in the session.
    pub fn act_as(&mut self, caller: Arc<dyn Caller>) {
        self.caller = caller;
    }

    /// From now on the facts and rules that only this session sees take memory of this. It has none yet.
    pub fn hold(&mut self, pool: MemoryPool) {
        self.state.hold(pool);
    }

    /// Number of facts and of rules that only this session sees.
    pub fn ephemeral(&self) -> (usize, usize) {
        (self.state.overlay.fact_count(), self.state.overlay.rule_count())
    }

    /// Parses a program and fills in its parameters. All its errors are reported at once.
    pub fn prepare(&self, program: &str, parameters: &Parameters) -> Result<Prepared, Error> {
        let (mut statements, errors) = syntax::parse(program, &self.environment.limits);
        let mut found = self.explained(&errors, program);
        found.extend(resolve_commands(&mut statements, program, &errors, &self.environment));
        if !found.is_empty() {
            found.sort_by_key(|diagnostic| diagnostic.statement);
            return Err(Error::Refused(found));
        }
        statements::fill(&mut statements, parameters).map_err(Error::Refused)?;
        let needs = program::needs(&statements, self.graph(), self.environment.commands);
        Ok(Prepared { statements, needs })
    }

    /// What is wrong with a text, in words of the graph.
    fn explained(&self, errors: &[SyntaxError], program: &str) -> Vec<Diagnostic> {
        if errors.is_empty() {
            return Vec::new();
        }
        let view = SessionView::new(self.state.graph.snapshot(), self.state.overlay.clone());
        let known = |name: &str| view.catalog().columns_of(name);
        errors.iter().map(|error| syntax::explain(error, program, known)).collect()
    }

    /// What is wrong with a program, and what deserves a second look, as far as that can be said of this graph and session
    /// without running anything. Parameters may have any value. An error is no fault of the program.
    pub fn check(&self, program: &str, budget: &Budget) -> Result<Vec<Diagnostic>, Error> {
        let Environment { limits, commands, .. } = &*self.environment;
        check::check_in(&self.state, program, commands, limits, budget)
    }

    /// What is defined on this graph, and in this session.
    pub fn catalog(&self) -> Catalog {
        SessionView::new(self.state.graph.snapshot(), self.state.overlay.clone()).catalog().clone()
    }

    /// As [`Session::prepare`], for a text that is one rule of the session and nothing else.
    pub fn prepare_rule(&self, text: &str) -> Result<Prepared, Error> {
        let prepared = self.prepare(text, &Parameters::default())?;
        let is_rule = |statement: &Statement| matches!(&statement.kind, StatementKind::Rule(rule) if rule.scope == Scope::Session);
        let (first, rest) = prepared.statements.split_first().map_or((None, &[][..]), |(f, r)| (Some(f), r));
        let wrong = if first.is_some_and(is_rule) { rest.first() } else { first };
        if first.is_some() && wrong.is_none() {
            return Ok(prepared);
        }
        let mut refusal =
            Diagnostic::error(Code::ParseError, "expected one rule of the session, and nothing else")
                .help("write head <- body, without `+`");
        refusal.span = wrong.map(|statement| statement.span);
        Err(Error::refused(refusal))
    }

    /// Runs a program. Blocks until it is done, or the budget is used up.
    pub fn run(
        &mut self,
        prepared: Prepared,
        options: &RunOptions,
        budget: &Budget,
    ) -> Result<Answer, Error> {
        let (environment, caller, state) = (&self.environment, &*self.caller, &mut self.state);
        let Prepared { statements, needs: _ } = prepared;
        let budget = &budget.clone().with_string_bytes(environment.limits.string_bytes);
        program::run(environment, caller, state, &statements, options, budget)
    }

    /// Subscribes to the one query that a program is. What is told is what the graph answers; the session's own facts and
    /// rules are no part of it.
    pub fn subscribe(
        &self,
        prepared: Prepared,
        waker: Waker,
        budget: &Budget,
    ) -> Result<Subscription, Error> {
        let query = only_query(prepared)?;
        let graph = &self.state.graph;
        self.caller.allows(Need::Read, graph.name()).map_err(Error::refused)?;
        let view = SessionView::new(graph.snapshot(), self.state.overlay.clone());
        // What is wrong is told with its place in this text: the live query has another, which all of its subscribers share.
        let analysed = analysis::analyse_query(&query, view.catalog());
        let program = analysed.map_err(|errors| statements::refused(&errors))?.program;
        if view.is_dirty()
            && let Some(own) = program.relations.iter().find(|relation| view.is_own(&relation.name))
        {
            let message = format!("`{}` has facts or rules of this session, which are not live", own.name);
            let help = "store them in the graph, or drop them: .session clear";
            return Err(Error::refused(Diagnostic::error(Code::NotLive, message).help(help)));
        }
        let budget = budget.clone().with_string_bytes(self.environment.limits.string_bytes);
        self.live.subscribe(graph, query, waker, &budget)
    }

    /// Inserts Arrow batches without program text: one commit, all or nothing. Columns go by name where the relation has
    /// names, else by position; a relation without names gets those of the data, with the types found.
    pub fn insert_batches(
        &mut self,
        relation: &str,
        scope: Scope,
        batches: Vec<RecordBatch>,
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        self.insert(budget, |context| statements::insert_batches(relation, scope, batches, context))
    }

    /// Inserts rows of values without program text: one commit, all or nothing. The names of their columns may be given,
    /// and count as those of batches do.
    #[allow(clippy::needless_pass_by_value, reason = "the rows are of no use to the caller afterwards")]
    pub fn insert_rows(
        &mut self,
        relation: &str,
        scope: Scope,
        names: Option<&[String]>,
        rows: Vec<Vec<Value>>,
        budget: &Budget,
    ) -> Result<Inserted, Error> {
        self.insert(budget, |context| statements::insert_rows(relation, scope, names, &rows, context))
    }

    /// Takes facts of the session away; answers how many there were.
    pub fn retract_rows(
        &mut self,
        relation: &str,
        rows: &[Vec<Value>],
        budget: &Budget,
    ) -> Result<usize, Error> {
        self.insert(budget, |context| statements::retract_rows(relation, rows, context))
    }

    fn insert<T>(
        &mut self,
        budget: &Budget,
        insert: impl FnOnce(&mut Context<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let overlay = self.state.overlay.clone();
        let graph = Arc::clone(&self.state.graph);
        let mut context = Context::new(&self.environment, &*self.caller, &graph, budget, overlay);
        context.check_graph()?;
        let inserted = insert(&mut context)?;
        let overlay = context.overlay;
        self.state.keep(overlay).map_err(|full| Error::refused(full.diagnose()))?;
        Ok(inserted)
    }
}

/// The query that a program consists of.
fn only_query(prepared: Prepared) -> Result<Query, Error> {
    let mut statements = prepared.statements.into_iter();
    let refuse = |span| {
        let refusal =
            Diagnostic::error(Code::NotLive, "what is subscribed to is one query, and nothing else");
        Err(Error::refused(Diagnostic { span, ..refusal }.help("store rules and facts first: execute")))
    };
    match (statements.next(), statements.next()) {
        (Some(Statement { kind: StatementKind::Query(query), .. }), None) => Ok(query),
        (Some(Statement { kind: StatementKind::Query(_), .. }), Some(other)) => refuse(Some(other.span)),
        (Some(other), _) => refuse(Some(other.span)),
        (None, _) => refuse(None),
    }
}

/// Reads the queries of commands. Those that are not well formed, and commands that do not exist, count as what cannot
/// be parsed: nothing of the program runs.
fn resolve_commands(
    statements: &mut [Statement],
    program: &str,
    errors: &[SyntaxError],
    environment: &Environment,
) -> Vec<Diagnostic> {
    let mut wrong = Vec::new();
    for (index, statement) in statements.iter_mut().enumerate() {
        let StatementKind::Command(command) = &mut statement.kind else { continue };
        if errors.len() + wrong.len() == syntax::MAX_ERRORS {
            break;
        }
        if let Err(error) = commands::resolve(command, program, &environment.limits, environment.commands) {
            // Statements that are not well formed are not among these, but count.
            let before = errors.iter().filter(|error| error.span.start < statement.span.start).count();
            let at = |found| Diagnostic { statement: Some(index + before), ..found };
            wrong.extend(error.diagnostics().into_iter().map(at));
        }
    }
    wrong
}
