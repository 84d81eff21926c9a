//! One program, stratum by stratum: by plans where there are any, and by the engine where there are none.

/// Relations whose rows are in files elsewhere.
mod attached;

/// A stratum by the engine.
mod in_memory;

/// A recursion in rounds.
mod rounds;

/// A recursion that falls apart.
mod parts;

use std::sync::Arc;
use std::time::Duration;

use arrow::array::RecordBatch;
use datafusion_common::DataFusionError;
use datafusion_physical_plan::union::UnionExec;
use foldhash::HashMap;
use stratalog_engine::analysis::program::{Argument, Expression, HeadTerm, Literal, Program, Stratum};
use stratalog_engine::data::{RelationId, Rows, Run, sorted_run};
use stratalog_engine::exec::{Computation, ExecError, Relations};
use stratalog_engine::plan::{Course, RelationNote, Size, StrategyNote, StratumNote};

use crate::batches::append;
use crate::failure::{is_out_of_memory, said};
use crate::findings::Findings;
use crate::lower::{Lowering, Plan, Refusal, Way, distinct, refusal, scan};
use crate::nodes::{SinkExec, layer_of};
use crate::runner::Runner;
use crate::scratch::Scratch;
use crate::settings::Settings;
use crate::table::{Layer, Table};

/// A program that is being evaluated.
pub(crate) struct Evaluation<'e> {
    pub(crate) program: &'e Program,
    pub(crate) relations: &'e dyn Relations,
    pub(crate) computation: Computation,
    pub(crate) settings: &'e Settings,
    pub(crate) runner: &'e dyn Runner,
    pub(crate) scratch: Arc<Scratch>,
    pub(crate) findings: Arc<Findings>,
    /// What is complete: stored rows, and those of earlier strata.
    pub(crate) tables: HashMap<RelationId, Table>,
}

/// How a stratum was evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// By plans; so many rounds of them, if it is recursive.
    InRounds { way: Way, rounds: usize },
    /// By a plan whose parts are evaluated apart.
    InParts { way: Way },
    /// Not at all: its rows are those of another relation.
    Same,
    /// By the engine, as there is little to do.
    Small,
    /// By the engine, as there is no plan.
    InMemory(Refusal),
}

impl Evaluation<'_> {
    /// Evaluates a stratum: its relations are complete afterwards.
    pub(crate) fn evaluate(&mut self, stratum: &Stratum) -> Result<Done, ExecError> {
        if let Some(refusal) = refusal(stratum, self.program) {
            self.in_memory(stratum, &self.computation.budget().clone())?;
            return Ok(Done::InMemory(refusal));
        }
        if let Some(other) = same_as(stratum, self.program) {
            self.tables.insert(stratum.relations[0], self.table(other));
            return Ok(Done::Same);
        }
        if self.is_small(stratum) && self.at_once(stratum)? {
            return Ok(Done::Small);
        }
        let mut way = Way::default();
        loop {
            let made = match self.falls_apart(stratum) {
                Some(partitions) => {
                    self.in_parts(stratum, partitions, way).map(|tables| (tables, Done::InParts { way }))
                }
                None => self
                    .in_rounds(stratum, way)
                    .map(|(tables, rounds)| (tables, Done::InRounds { way, rounds })),
            };
            match made {
                // What holds a side of a join got no more memory; what sorts both does not hold them.
                Err(error) if !way.sorts && is_out_of_memory(&error, self.settings.pool_bytes) => {
                    way.sorts = true;
                }
                // A sum of a piece is beyond what integers hold, and that of all pieces may not be.
                Err(ExecError::NotWorth) if !way.whole_groups => way.whole_groups = true,
                Err(ExecError::NoRank { .. }) => {
                    self.in_memory(stratum, &self.computation.budget().clone())?;
                    return Ok(Done::InMemory(Refusal::Value));
                }
                made => {
                    let (tables, done) = made?;
                    self.tables.extend(tables);
                    return Ok(done);
                }
            }
        }
    }

    /// What is told of a stratum that is complete.
    pub(crate) fn note(&self, stratum: &Stratum, done: Done, time: Duration) -> StratumNote {
        let relation = |id: &RelationId| RelationNote {
            name: self.program.relations[id.index()].name.clone(),
            size: Size::Found(self.table(*id).rows()),
        };
        let (strategy, rounds) = match done {
            Done::InRounds { rounds, .. } => (StrategyNote::Plans, rounds),
            Done::InParts { .. } => (StrategyNote::PlansInParts, 1),
            Done::Same => (StrategyNote::NoPlan { why: "the same rows" }, 1),
            Done::Small => (StrategyNote::NoPlan { why: "few rows" }, 1),
            Done::InMemory(refusal) => (StrategyNote::NoPlan { why: refusal.why() }, 1),
        };
        StratumNote {
            relations: stratum.relations.iter().map(relation).collect(),
            recursive: stratum.recursive,
            is_alternative: false,
            strategy: Some(strategy),
            rules: Vec::new(),
            course: Some(Course { rounds, switched: Some(time), time }),
        }
    }

    /// The rows of a relation that is complete.
    pub(crate) fn table(&self, relation: RelationId) -> Table {
        self.tables.get(&relation).cloned().unwrap_or_else(|| self.stored(relation))
    }

    /// The stored rows of a relation.
    fn stored(&self, relation: RelationId) -> Table {
        let known = &self.program.relations[relation.index()];
        let runs = if known.stored { self.relations.runs(&known.name) } else { Vec::new() };
        Table::of_runs(known.arity, runs)
    }

    /// All rows of a relation, in memory.
    pub(crate) fn runs(&self, relation: RelationId) -> Result<Vec<Run>, ExecError> {
        let table = self.table(relation);
        let budget = self.computation.budget();
        let mut runs = table.runs.clone();
        for layer in &table.layers {
            budget.charge(Rows::bytes_to_store(table.arity, layer.rows()))?;
            let files = Table::of_layers(table.arity, table.key.clone(), vec![layer.clone()]);
            let mut rows = Rows::empty(table.arity);
            for batch in self.run(self.scan(&files)?)? {
                append(&mut rows, &batch);
            }
            runs.push(sorted_run(rows).0);
        }
        Ok(runs)
    }

    /// The rows of a relation that no recursion derives, each once and cut into parts by a key.
    fn exits(
        &self,
        relation: RelationId,
        stratum: &Stratum,
        key: &[usize],
        way: Way,
    ) -> Result<Option<Plan>, ExecError> {
        let is_own = |relation: RelationId| stratum.relations.contains(&relation);
        let rules = stratum.rules.iter().filter(|rule| rule.head == relation);
        let lowering = self.lowering(way);
        let read = |_: usize, relation: RelationId| self.table(relation);
        let derived = rules
            .filter(|rule| !rule.reads().any(is_own))
            .map(|rule| lowering.derived(rule, self.program, None, &read));
        let mut plans: Vec<Plan> = derived.collect::<Result<_, _>>().map_err(|error| self.said(&error))?;
        let stored = self.stored(relation);
        if stored.rows() > 0 {
            plans.push(self.scan(&stored)?);
        }
        self.distinct(plans, key)
    }

    /// Rows of several plans, each once and cut into parts by a key.
    fn distinct(&self, plans: Vec<Plan>, key: &[usize]) -> Result<Option<Plan>, ExecError> {
        if plans.is_empty() {
            return Ok(None);
        }
        let all = UnionExec::try_new(plans).and_then(|all| distinct(all, key, self.settings.partitions));
        all.map(Some).map_err(|error| self.said(&error))
    }

    /// The rows of a plan in files; they come cut by a key.
    fn written(&self, plan: Plan, key: &[usize]) -> Result<Layer, ExecError> {
        let parts = self.settings.partitions;
        let sink = SinkExec::new(plan, Arc::clone(&self.scratch), key.to_vec(), parts);
        Ok(layer_of(&self.run(Arc::new(sink))?))
    }

    fn scan(&self, table: &Table) -> Result<Plan, ExecError> {
        scan(table, &self.scratch, self.settings.partitions).map_err(|error| self.said(&error))
    }

    fn run(&self, plan: Plan) -> Result<Vec<RecordBatch>, ExecError> {
        self.runner.run(plan, self.computation.budget())
    }

    fn lowering(&self, way: Way) -> Lowering<'_> {
        Lowering {
            settings: self.settings,
            computation: &self.computation,
            findings: &self.findings,
            scratch: &self.scratch,
            way,
        }
    }

    fn said(&self, error: &DataFusionError) -> ExecError {
        said(error, self.settings.pool_bytes)
    }
}

/// The relation whose rows those of a stratum are, if it does no more than to name it anew.
fn same_as(stratum: &Stratum, program: &Program) -> Option<RelationId> {
    let ([relation], [rule]) = (&stratum.relations[..], &stratum.rules[..]) else { return None };
    let [Literal::Atom(atom)] = &rule.body[..] else { return None };
    let is_derived_alone = !stratum.recursive && !program.relations[relation.index()].stored;
    let mut seen = Vec::new();
    let is_in_place = |(term, argument): (&HeadTerm, &Argument)| match (term, argument) {
        (HeadTerm::Expression(Expression::Variable(kept)), Argument::Variable(read)) => {
            let is_new = !seen.contains(read);
            seen.push(*read);
            is_new && kept == read
        }
        _ => false,
    };
    let is_same = is_derived_alone
        && rule.ranking.is_none()
        && rule.head_terms.len() == atom.arguments.len()
        && rule.head_terms.iter().zip(&atom.arguments).all(is_in_place);
    is_same.then_some(atom.relation)
}
