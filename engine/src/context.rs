//! What statements and commands work on: the graph as this program sees it, its budget, and what it has to say.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::answer::Rows;
use crate::attached::Places;
use crate::budget::Budget;
use crate::caller::Caller;
use crate::cluster::{Cluster, EvaluationPlace};
use crate::data::{Threads, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::error::Error;
use crate::exec::Thresholds;
use crate::forms::Forms;
use crate::graph::{
    ChangeSet, Graph, Graphs, Origin, Overlay, SessionState, SessionView, Snapshot, Supposed, Transaction,
};
use crate::limits::Limits;
use crate::need::Need;
use crate::provenance::Detail;
use crate::syntax::ast::{Name, Query, Scope, Statement};
use crate::views::Views;

/// Commands that belong together.
#[derive(Debug)]
pub struct CommandFamily {
    /// What they are about, for the manual.
    pub title: &'static str,
    /// Its commands, in the order of the manual.
    pub entries: &'static [CommandEntry],
}

/// A dot command.
#[derive(Debug)]
pub struct CommandEntry {
    /// Its words; aliases of a word are separated by `|`.
    pub words: &'static [&'static str],
    /// How to write its arguments. The text of a `QUERY` is read before anything runs; the argument `KG` is
    /// the graph that the command concerns, in place of the session's.
    pub usage: &'static str,
    /// One sentence for the manual.
    pub doc: &'static str,
    /// How it is typed, for the manual.
    pub example: &'static str,
    /// The right it asks for.
    pub need: Need,
    /// At least so many arguments.
    pub arguments: usize,
    /// What it does.
    pub run: Run,
}

/// What a command does with its arguments.
pub(crate) type Run = fn(&[Name], &mut Context<'_>, &mut SessionState) -> Result<Outcome, Error>;

/// So many warnings of one program are reported.
pub(crate) const MAX_WARNINGS: usize = 100;

/// What every request shares: the graphs, the threads, and how the engine is set up.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) graphs: Graphs,
    pub(crate) threads: Threads,
    pub(crate) limits: Limits,
    pub(crate) disabled_rewrites: Vec<String>,
    pub(crate) thresholds: Thresholds,
    pub(crate) cluster: Option<Cluster>,
    /// Of which places files may be attached, and who reads them.
    pub(crate) places: Option<Arc<dyn Places>>,
    pub(crate) views: Views,
    pub(crate) forms: Forms,
    /// Where backups go.
    pub(crate) backups: Option<PathBuf>,
    /// Commands besides the engine's own.
    pub(crate) commands: &'static [CommandFamily],
}

/// What a statement works on.
pub struct Context<'s> {
    pub(crate) caller: &'s dyn Caller,
    pub(crate) graph: &'s Arc<Graph>,
    pub(crate) budget: &'s Budget,
    pub(crate) environment: &'s Environment,
    /// Where questions are to be evaluated.
    pub(crate) place: EvaluationPlace,
    /// The transaction of an atomic program.
    transaction: Option<Transaction<'s>>,
    /// What is supposed, where writes are suppositions.
    supposed: Option<Supposed>,
    /// The state of the graph that is looked at, where that need not be the latest.
    pinned: Option<Arc<Snapshot>>,
    /// The session's facts and rules, with those of this program.
    pub(crate) overlay: Overlay,
    pub(crate) warnings: Vec<Diagnostic>,
    /// The version of the graph that was written or looked at last.
    pub(crate) version: Option<u64>,
    /// The query of the command that runs, if it takes one.
    pub(crate) query: Option<Query>,
    /// The changes that it takes as suppositions.
    pub(crate) changes: Vec<Statement>,
    /// The heads whose rules this program has replaced, if it replaces any.
    pub(crate) replaced_rules: Option<HashSet<(String, Scope, String)>>,
}

impl<'s> Context<'s> {
    pub(crate) fn new(
        environment: &'s Environment,
        caller: &'s dyn Caller,
        graph: &'s Arc<Graph>,
        budget: &'s Budget,
        overlay: Overlay,
    ) -> Self {
        Context {
            caller,
            graph,
            budget,
            environment,
            place: EvaluationPlace::Auto,
            transaction: None,
            supposed: None,
            pinned: None,
            overlay,
            warnings: Vec::new(),
            version: None,
            query: None,
            changes: Vec::new(),
            replaced_rules: None,
        }
    }

    /// The same without a session, at one state of the graph.
    pub(crate) fn at(
        environment: &'s Environment,
        caller: &'s dyn Caller,
        graph: &'s Arc<Graph>,
        snapshot: Arc<Snapshot>,
        budget: &'s Budget,
    ) -> Self {
        let context = Context::new(environment, caller, graph, budget, Overlay::default());
        Context { pinned: Some(snapshot), ..context }
    }

    /// Whether a rule of this program takes the place of those that there were before it: the first one of its head does,
    /// in a program that replaces rules.
    pub(crate) fn replaces_rules(&mut self, scope: Scope, head: &str) -> bool {
        let key = || (self.graph.name().to_owned(), scope, head.to_owned());
        self.replaced_rules.as_mut().is_some_and(|replaced| replaced.insert(key()))
    }

    /// Who runs the program.
    pub fn caller(&self) -> &dyn Caller {
        self.caller
    }

    /// Whether a graph of this name exists, served or damaged.
    pub fn has_graph(&self, name: &str) -> bool {
        self.environment.graphs.contains(name)
    }

    /// A dropped graph answers no more, even if another one has got its name.
    pub(crate) fn check_graph(&self) -> Result<(), Error> {
        if self.environment.graphs.holds(self.graph) {
            return Ok(());
        }
        let message = format!("knowledge graph {} was dropped", self.graph.name());
        Err(Error::refused(
            Diagnostic::error(Code::NotFound, message).help("switch to another one: .kg use default"),
        ))
    }

    /// From here on, writes wait for [`Context::commit`].
    pub(crate) fn begin(&mut self) -> Result<(), Error> {
        self.transaction = Some(self.graph.begin(self.budget)?);
        Ok(())
    }

    /// Whether writes wait.
    pub(crate) fn is_atomic(&self) -> bool {
        self.transaction.is_some()
    }

    /// Makes the writes that waited durable and visible.
    pub(crate) fn commit(&mut self) -> Result<(), Error> {
        let origin = self.caller.session();
        match self.transaction.take() {
            Some(transaction) => self.commit_now(transaction, origin),
            None => Ok(()),
        }
    }

    /// The same place at one of its states, in which all that is written is only supposed, and what the session adds is gone
    /// with it.
    pub(crate) fn supposing(&self, snapshot: Arc<Snapshot>) -> Context<'s> {
        let context =
            Context::new(self.environment, self.caller, self.graph, self.budget, self.overlay.clone());
        Context { supposed: Some(Supposed::of(snapshot)), place: self.place, ..context }
    }

    /// The same place without the session's own facts and rules, and outside of any transaction.
    pub(crate) fn aside(&self) -> Context<'s> {
        let context =
            Context::new(self.environment, self.caller, self.graph, self.budget, Overlay::default());
        Context { place: self.place, ..context }
    }

    /// The graph's state, with what this program has done to it.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        match (&self.supposed, &self.transaction, &self.pinned) {
            (Some(supposed), _, _) => Arc::clone(supposed.snapshot()),
            (None, Some(transaction), _) => Arc::clone(transaction.snapshot()),
            (None, None, Some(pinned)) => Arc::clone(pinned),
            (None, None, None) => self.graph.snapshot(),
        }
    }

    /// The version of the graph at which this program's writes are, or its answer is; else the latest.
    pub(crate) fn version(&self) -> u64 {
        self.version.unwrap_or_else(|| self.graph.snapshot().version())
    }

    /// What queries see.
    pub(crate) fn view(&self) -> SessionView {
        SessionView::new(self.snapshot(), self.overlay.clone())
    }

    /// Replaces the session's facts and rules, unless they are too many.
    pub(crate) fn lay(&mut self, overlay: Overlay) -> Result<(), Error> {
        let limits = &self.environment.limits;
        let snapshot = self.snapshot();
        let bytes = overlay.bytes(snapshot.dictionary());
        let counts = [
            (overlay.fact_count(), limits.session_facts, "facts", "max_session_facts"),
            (overlay.rule_count(), limits.session_rules, "rules", "max_session_rules"),
            (bytes, limits.session_bytes, "bytes of facts and rules", "max_session_bytes"),
        ];
        for (count, limit, what, name) in counts {
            if count > limit {
                let message = format!("{count} {what} are more than the {limit} that a session may have");
                let diagnostic = Diagnostic::error(Code::LimitExceeded, message).limit(name, limit as u64);
                return Err(Error::refused(diagnostic.help("drop what is not needed: .session clear")));
            }
        }
        // Those of a program of several statements are gone with the request, and count as its memory.
        let more = bytes.saturating_sub(self.overlay.bytes(snapshot.dictionary()));
        self.budget.charge(more).map_err(Error::Stopped)?;
        self.set_overlay(overlay);
        Ok(())
    }

    /// Replaces the session's facts and rules.
    pub(crate) fn set_overlay(&mut self, overlay: Overlay) {
        self.graph.use_values_of(&overlay);
        self.overlay = overlay;
    }

    /// Makes changes to the graph: `decide` sees the state that they will apply to. Answers what each change changed.
    pub(crate) fn write<T>(
        &mut self,
        decide: impl FnOnce(&Arc<Snapshot>, &mut Vec<Diagnostic>) -> Result<(ChangeSet, T), Error>,
    ) -> Result<(Vec<usize>, T), Error> {
        if let Some(supposed) = &mut self.supposed {
            let (changes, decision) = decide(supposed.snapshot(), &mut self.warnings)?;
            return Ok((supposed.apply(&changes, self.budget, &self.environment.threads)?, decision));
        }
        if let Some(transaction) = &mut self.transaction {
            let (changes, decision) = decide(transaction.snapshot(), &mut self.warnings)?;
            return Ok((transaction.apply(changes, &self.environment.threads)?, decision));
        }
        let mut transaction = self.graph.begin(self.budget)?;
        let (changes, decision) = decide(transaction.snapshot(), &mut self.warnings)?;
        let counts = transaction.apply(changes, &self.environment.threads)?;
        let origin = self.caller.session();
        self.commit_now(transaction, origin)?;
        Ok((counts, decision))
    }

    fn commit_now(&mut self, transaction: Transaction<'_>, origin: Option<Origin>) -> Result<(), Error> {
        self.version = Some(transaction.commit(origin, &self.environment.threads)?);
        self.environment.views.refresh(self.graph);
        Ok(())
    }
}

/// What a statement other than a query gives.
#[derive(Debug)]
pub enum Outcome {
    /// One sentence.
    Message(String),
    /// A table.
    Listing(Rows),
    /// The session is bound to another graph now.
    Switched(String, String),
    /// Something to answer when all statements have run, like a query.
    Question(Question),
}

impl Outcome {
    /// A table of values.
    pub fn listing(columns: &[&str], rows: Vec<Vec<Value>>) -> Result<Outcome, Error> {
        Ok(Outcome::Listing(Rows::listing(columns, rows)?))
    }
}

/// What a command asks.
#[derive(Debug)]
pub enum Question {
    /// A query.
    Query(Query),
    /// A query that the cluster is to answer.
    ByCluster(Query),
    /// How a query would be answered.
    Plan(Query, PlanForm),
    /// What answering a query takes.
    Profile(Query, PlanForm),
    /// The stored rows of a relation, without the session's.
    Stored(Name),
    /// The rows of a query, and why each is one.
    Why(Query, Detail),
    /// Why a fact does not hold.
    WhyNot(Query),
    /// What would come to the answer of a query, and go, with some changes.
    WhatIf(Vec<Statement>, Query),
    /// The same of everything that rules derive.
    Impact(Vec<Statement>),
}

/// How a plan is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanForm {
    /// Lines of text, a row each.
    Text,
    /// One JSON object, in one row.
    Json,
}
