//! What is read while a stratum is evaluated: the rows of relations that are complete, and of those that grow.

use std::sync::Arc;
use std::time::Instant;

use foldhash::{HashMap, HashMapExt};

use crate::analysis::program::{Program, Stratum};
use crate::budget::{Budget, BudgetError};
use crate::data::{Code, Codec, RelationId, Run, Sample, Value};
use crate::exec::error::ExecError;
use crate::exec::growing::Growing;
use crate::exec::measured::Measured;
use crate::exec::relations::Relations;
use crate::exec::remarks::Remarks;
use crate::exec::rounds::Rounds;
use crate::exec::values::expression::Evaluator;
use crate::plan::{
    Access, Layout, Statistics, Thresholds, Version, distinct_of, rows_in, rows_of, sample_of,
};

/// The relations of a program, and what an evaluation of them needs.
pub(super) struct Tables<'a> {
    pub(super) program: &'a Program,
    pub(super) codec: &'a Codec,
    pub(super) budget: &'a Budget,
    pub(super) thresholds: Thresholds,
    /// Relations of earlier strata, and stored ones.
    pub(super) complete: HashMap<RelationId, Vec<Run>>,
    /// Relations of the current stratum.
    pub(super) growing: HashMap<RelationId, Growing>,
    /// When the rows of a relation of the current stratum were found, where rounds have found them.
    pub(super) found_in: HashMap<RelationId, Rounds>,
    pub(super) remarks: Arc<Remarks>,
    /// What rounds of the current stratum have measured, and how many there were.
    pub(super) measured: Arc<Measured>,
    pub(super) rounds: usize,
    /// When the evaluation began, and how many rows others may be asked for by.
    pub(super) started: Instant,
    pub(super) most_asked: usize,
}

impl<'a> Tables<'a> {
    pub(super) fn new(
        program: &'a Program,
        relations: &'a dyn Relations,
        codec: &'a Codec,
        budget: &'a Budget,
        thresholds: Thresholds,
    ) -> Tables<'a> {
        let stored = program.relations.iter().enumerate().filter(|(_, relation)| relation.stored);
        let complete = stored.map(|(id, relation)| (RelationId::new(id), relations.runs(&relation.name)));
        let complete: HashMap<RelationId, Vec<Run>> = complete.collect();
        let stored_rows: usize = complete.values().map(|runs| rows_of(runs)).sum();
        let most_asked = thresholds.asked_rows.max(stored_rows.saturating_mul(thresholds.asked_per_row));
        Tables {
            program,
            codec,
            budget,
            thresholds,
            complete,
            growing: HashMap::new(),
            found_in: HashMap::new(),
            remarks: Arc::default(),
            measured: Arc::default(),
            rounds: 0,
            started: Instant::now(),
            most_asked,
        }
    }

    /// Fails where a stratum asks for more than it may.
    pub(super) fn may_ask(&self, stratum: &Stratum) -> Result<(), ExecError> {
        let asked: usize = stratum.asking.iter().map(|relation| self.rows(*relation)).sum();
        match asked > self.most_asked {
            true => Err(ExecError::AsksMuch { after: self.started.elapsed() }),
            false => Ok(()),
        }
    }

    /// The same, in which one more relation has these rows and none grows.
    pub(super) fn beside(&self, relation: RelationId, run: Run) -> Tables<'_> {
        let mut complete = self.complete.clone();
        complete.insert(relation, vec![run]);
        let (remarks, measured) = (Arc::clone(&self.remarks), Arc::default());
        let (growing, found_in) = (HashMap::new(), HashMap::new());
        Tables { complete, growing, found_in, remarks, measured, ..*self }
    }

    /// What is complete, apart from the stratum that is evaluated: what is found out there is not said of this one.
    pub(super) fn apart(&self) -> Tables<'a> {
        let (complete, remarks, measured) = (self.complete.clone(), Arc::default(), Arc::default());
        let (growing, found_in) = (HashMap::new(), HashMap::new());
        Tables { complete, growing, found_in, remarks, measured, rounds: 0, ..*self }
    }

    /// The rows that the last round has found.
    pub(super) fn rows_of_round(&self) -> usize {
        self.growing.values().filter_map(Growing::delta).map(Run::len).sum()
    }

    /// The same, in which only this relation grows.
    pub(super) fn growing_alone(&self, relation: RelationId, growing: Growing) -> Tables<'a> {
        Tables {
            complete: self.complete.clone(),
            growing: HashMap::from_iter([(relation, growing)]),
            found_in: HashMap::new(),
            remarks: Arc::clone(&self.remarks),
            measured: Arc::clone(&self.measured),
            ..*self
        }
    }

    /// The runs of a relation, in one of its versions. Of what grows they are copies, but for what the last round found.
    pub(super) fn runs(&self, access: Access) -> Result<Vec<Run>, BudgetError> {
        Ok(match self.growing.get(&access.relation) {
            None => self.complete.get(&access.relation).cloned().unwrap_or_default(),
            Some(growing) => match access.version {
                Version::All => self.first(growing, growing.rows(), access.generators)?,
                Version::Old => self.first(growing, growing.old_rows(), access.generators)?,
                Version::Delta if access.generators => growing.new_generators().into_iter().collect(),
                Version::Delta => growing.delta().cloned().into_iter().collect(),
            },
        })
    }

    /// A copy of the first rows of a relation that grows.
    fn first(&self, growing: &Growing, rows: usize, generators: bool) -> Result<Vec<Run>, BudgetError> {
        if rows == 0 {
            return Ok(Vec::new());
        }
        self.budget.check()?;
        Ok(vec![growing.first(rows, generators)?])
    }

    pub(super) fn evaluator(&'a self) -> Evaluator<'a> {
        Evaluator::new(self.codec, &self.remarks.saturated, self.budget)
    }

    pub(super) fn arity(&self, relation: RelationId) -> usize {
        // Relations beside those of the program have rows.
        let beside = || {
            let runs = self.complete.get(&relation).and_then(|runs| runs.first());
            runs.map_or(0, |run| run.batch().num_columns())
        };
        self.program.relations.get(relation.index()).map_or_else(beside, |known| known.arity)
    }
}

impl Statistics for Tables<'_> {
    fn rows(&self, relation: RelationId) -> usize {
        match self.growing.get(&relation) {
            None => self.complete.get(&relation).map_or(0, |runs| rows_of(runs)),
            Some(growing) => growing.rows(),
        }
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        match self.growing.get(&relation) {
            None => self.complete.get(&relation).map_or(1, |runs| distinct_of(runs, column)),
            Some(growing) => growing.sample(&[column]).distinct(),
        }
    }

    fn layout(&self, relation: RelationId) -> Option<Layout<'_>> {
        if self.growing.contains_key(&relation) {
            return None;
        }
        Some(Layout::of(self.complete.get(&relation).map_or(&[], Vec::as_slice)))
    }

    fn code(&self, value: &Value) -> Option<Code> {
        self.codec.encode(value.as_ref()).ok()
    }

    fn delta(&self, relation: RelationId) -> Option<usize> {
        let growing = self.growing.get(&relation)?;
        Some(growing.delta().map_or(0, Run::len))
    }

    fn generators(&self, relation: RelationId) -> Option<usize> {
        self.growing.get(&relation).map(Growing::generators)
    }

    fn sample(&self, relation: RelationId, columns: &[usize]) -> Option<Arc<Sample>> {
        match self.growing.get(&relation) {
            None => sample_of(self.complete.get(&relation)?, columns),
            Some(growing) => Some(growing.sample(columns)),
        }
    }

    fn fan_out(&self, access: Access, columns: &[usize]) -> Option<f64> {
        self.measured.fan_out(access, columns, rows_in(access, self))
    }

    fn range_rows(&self) -> usize {
        self.thresholds.range_rows
    }

    fn index_uses(&self) -> usize {
        self.thresholds.index_uses
    }

    fn as_written(&self) -> bool {
        self.thresholds.as_written
    }

    fn rounds(&self) -> usize {
        self.rounds
    }
}
