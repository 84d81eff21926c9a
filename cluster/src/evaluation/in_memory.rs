//! A stratum by the engine: what it reads is brought to memory.

use foldhash::{HashMap, HashMapExt};
use stratalog_engine::Thresholds;
use stratalog_engine::analysis::program::{Program, Rule, Stratum};
use stratalog_engine::data::{RelationId, Run};
use stratalog_engine::exec::{ExecError, Relations, execute};

use super::Evaluation;
use crate::table::Table;

impl Evaluation<'_> {
    /// Evaluates a stratum by the engine.
    pub(super) fn in_memory(&mut self, stratum: &Stratum) -> Result<(), ExecError> {
        let read =
            stratum.rules.iter().flat_map(Rule::reads).filter(|read| !stratum.relations.contains(read));
        let mut inputs = Inputs { runs: HashMap::new() };
        for relation in read.chain(stratum.relations.iter().copied()) {
            let name = &self.program.relations[relation.index()].name;
            if !inputs.runs.contains_key(name) {
                let runs = match stratum.relations.contains(&relation) {
                    true => self.stored(relation).runs,
                    false => self.runs(relation)?,
                };
                inputs.runs.insert(name.clone(), runs);
            }
        }
        let mut relations = self.program.relations.clone();
        for (id, relation) in relations.iter_mut().enumerate() {
            relation.stored |= !stratum.relations.contains(&RelationId::new(id));
        }
        let goal = stratum.relations[0];
        let strata = vec![Stratum { auxiliaries: Vec::new(), ..stratum.clone() }];
        let alone = Program { relations, strata, goal, warnings: Vec::new() };
        let (codec, budget) = (self.computation.codec(), self.computation.budget());
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

/// What the engine reads of a stratum's inputs.
struct Inputs {
    runs: HashMap<String, Vec<Run>>,
}

impl Relations for Inputs {
    fn runs(&self, relation: &str) -> Vec<Run> {
        self.runs.get(relation).cloned().unwrap_or_default()
    }
}
