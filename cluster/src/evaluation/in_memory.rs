//! A stratum by the engine: what it reads is brought to memory.

use std::time::Duration;

use stratalog_engine::analysis::program::{Program, Rule, Stratum};
use stratalog_engine::data::RelationId;
use stratalog_engine::exec::{ExecError, execute};
use stratalog_engine::functions::FunctionError;
use stratalog_engine::{Budget, Thresholds};

use super::Evaluation;
use crate::inputs::Inputs;
use crate::table::Table;

/// How long what reads little is tried in memory,
const MOMENT: Duration = Duration::from_millis(100);
/// and how many times the bytes that it may read.
const SMALL_TIMES: usize = 8;

impl Evaluation<'_> {
    /// Whether a stratum reads so little that it is tried in memory first.
    pub(super) fn is_small(&self, stratum: &Stratum) -> bool {
        if self.settings.small_bytes == 0 {
            return false;
        }
        let read = stratum.rules.iter().flat_map(Rule::reads).chain(stratum.relations.iter().copied());
        read.map(|relation| self.table(relation).bytes()).sum::<usize>() <= self.settings.small_bytes
    }

    /// Evaluates a stratum by the engine, if that takes but a moment and little memory. Answers whether it did.
    pub(super) fn at_once(&mut self, stratum: &Stratum) -> Result<bool, ExecError> {
        let whole = self.computation.budget().clone();
        let memory = self.settings.small_bytes.saturating_mul(SMALL_TIMES) as u64;
        // Whoever wants to stop the request does so after that moment.
        let little = Budget::new(Some(MOMENT), memory).with_string_bytes(whole.string_bytes());
        match self.in_memory(stratum, &little) {
            Ok(()) => {
                whole.charge(little.used())?;
                Ok(true)
            }
            Err(ExecError::Budget(_) | ExecError::Function(FunctionError::Budget(_))) => {
                whole.check()?;
                Ok(false)
            }
            Err(other) => Err(other),
        }
    }

    /// Evaluates a stratum by the engine with these means.
    pub(super) fn in_memory(&mut self, stratum: &Stratum, budget: &Budget) -> Result<(), ExecError> {
        let read =
            stratum.rules.iter().flat_map(Rule::reads).filter(|read| !stratum.relations.contains(read));
        let mut inputs = Inputs::default();
        for relation in read.chain(stratum.relations.iter().copied()) {
            let name = &self.program.relations[relation.index()].name;
            if !inputs.0.contains_key(name) {
                let runs = match stratum.relations.contains(&relation) {
                    true => self.stored(relation).runs,
                    false => self.runs(relation)?,
                };
                inputs.0.insert(name.clone(), runs);
            }
        }
        let mut relations = self.program.relations.clone();
        for (id, relation) in relations.iter_mut().enumerate() {
            relation.stored |= !stratum.relations.contains(&RelationId::new(id));
        }
        let goal = stratum.relations[0];
        let strata = vec![Stratum { auxiliaries: Vec::new(), ..stratum.clone() }];
        let alone = Program { relations, strata, goal, warnings: Vec::new() };
        let codec = self.computation.codec();
        let mut outcome = execute(&alone, &inputs, codec, budget, Thresholds::default(), None)?;
        self.findings.add(&outcome);
        for relation in &stratum.relations {
            let runs = match *relation == goal {
                true => std::mem::take(&mut outcome.runs),
                false => outcome.complete.remove(relation).unwrap_or_default(),
            };
            let arity = self.program.relations[relation.index()].arity;
            self.tables.insert(*relation, Table::of_runs(arity, runs));
        }
        Ok(())
    }
}
