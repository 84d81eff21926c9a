//! Searches: the nearest rows of a relation, each combination of inputs by itself, by an index or row by row.
//!
//! An index knows vectors and nothing of rows. So whatever it finds is looked up in the rows that this evaluation sees,
//! rows with vectors that it does not know are looked at one by one, and it is asked for more until there are enough
//! rows that fulfil the conditions. Where that does not come to an end soon, all rows are looked at.

use std::cmp::Ordering;

use super::batch::Bindings;
use super::derive::LANE_ROWS;
use super::error::ExecError;
use super::pipeline::Pipeline;
use super::profile::Meter;
use super::ranking::Ranker;
use super::stratum::View;
use crate::analysis::program::{Expression, HeadTerm};
use crate::data::{Code, DataType, Metric, Probe, Relation, Rows, Run, ValueRef, parallel};
use crate::index::Reader;
use crate::plan::{Access, SearchPlan, Version, Way, plan_rule};

/// So many rows with vectors that an index does not know are looked at beside it.
const MOST_STRANGERS: usize = 50_000;
/// Where conditions leave a smaller share of rows than this, to look at all of them is no quicker.
const LEAST_SHARE: f64 = 0.1;

/// A row that may be among the nearest.
#[derive(Clone, Copy)]
struct Candidate {
    distance: f64,
    id: Code,
}

impl View<'_> {
    /// The rows of the head of a search.
    pub(super) fn search(
        &self,
        search: &SearchPlan,
        way: Way,
        meter: Option<&Meter>,
    ) -> Result<Rows, ExecError> {
        self.budget.check()?;
        let found = super::profile::time(meter, 0, || {
            let inputs = self.inputs(search)?;
            let one = |row: usize| {
                let input: Vec<Code> = inputs.columns.iter().map(|column| column[row]).collect();
                self.search_one(search, way, &input)
            };
            parallel::map((0..inputs.len).collect(), one).into_iter().collect::<Result<Vec<_>, ExecError>>()
        })?;
        let all = super::growing::gather(found, search.exact.head_terms.len());
        if let Some(meter) = meter {
            meter.rows(0, all.len);
        }
        Ok(all)
    }

    /// The combinations of inputs; a single one if there are no inputs.
    fn inputs(&self, search: &SearchPlan) -> Result<Rows, ExecError> {
        let Some(from) = &search.from else { return Ok(Rows { columns: Vec::new(), len: 1 }) };
        let mut rows = Rows::empty(search.inputs.len());
        self.solutions(&plan_rule(from, self), &mut |solutions| {
            for (column, variable) in rows.columns.iter_mut().zip(&search.inputs) {
                column.extend_from_slice(solutions.column(*variable));
            }
            rows.len += solutions.len;
            self.budget.charge(solutions.len * search.inputs.len() * size_of::<Code>())?;
            Ok(())
        })?;
        let (distinct, _) = Relation::empty(search.inputs.len()).insert(&rows);
        Ok(distinct.runs().first().map_or_else(|| Rows::empty(search.inputs.len()), Run::live_rows))
    }

    fn solutions(
        &self,
        plan: &crate::plan::RulePlan,
        sink: &mut super::pipeline::Sink<'_>,
    ) -> Result<(), ExecError> {
        let pipeline = Pipeline::new(plan, None, self)?;
        pipeline.run(0..pipeline.source_rows(), sink)
    }

    fn search_one(&self, search: &SearchPlan, way: Way, input: &[Code]) -> Result<Rows, ExecError> {
        self.budget.check()?;
        let given = self.with_input(search, input);
        let mut bindings = Bindings::one(search.exact.variables.len());
        for (variable, code) in search.inputs.iter().zip(input) {
            bindings.column_mut(*variable).push(*code);
        }
        let query = given.evaluator().codes(&search.query, &bindings)?[0];
        let query = self.codec.value(query);
        if !is_fit(query, search.data_type)? {
            return Ok(Rows::empty(search.exact.head_terms.len()));
        }
        if let Way::Index(ef) = way
            && let Some(reader) = search.search.index.hnsw().and_then(|hnsw| hnsw.read(self.codec.shared()))
            && reader.serves(query)
            && let Some(rows) = given.nearest(search, query, &reader, ef, input)?
        {
            return Ok(rows);
        }
        let plan = plan_rule(&search.exact, &given);
        let Some(ranking) = &plan.ranking else { return Ok(Rows::empty(plan.head_terms.len())) };
        let pipeline = Pipeline::new(&plan, None, &given)?;
        self.budget.expect_rows(|| pipeline.source_rows())?;
        let lanes = parallel::lanes(pipeline.source_rows(), LANE_ROWS);
        given.rank(&Ranker::new(&plan.head_terms, ranking), &pipeline.below(ranking, true), lanes)
    }

    /// The same rows, and beside them those that only this search knows.
    fn with_input(&self, search: &SearchPlan, input: &[Code]) -> View<'_> {
        let run = Run::new(input.iter().map(|code| vec![*code]).collect(), 1);
        self.beside(search.given, run)
    }

    /// The nearest rows, as far as the index finds them; nothing if it is better to look at all rows.
    fn nearest(
        &self,
        search: &SearchPlan,
        query: ValueRef<'_>,
        reader: &Reader<'_>,
        ef: usize,
        input: &[Code],
    ) -> Result<Option<Rows>, ExecError> {
        let runs = self.runs(Access { relation: search.relation, version: Version::All });
        let probe = Probe::new(search.metric, query);
        let Some(strangers) = self.strangers(search, &runs, reader, &probe)? else { return Ok(None) };
        let strangers = self.fulfilling(search, strangers)?;
        // Of so many candidates one is among the nearest for certain enough: the number of candidates that an index has
        // of its own accord is measured for ten rows.
        let margin = search.margin(ef);
        let mut want = search.candidates(ef).min(reader.len());
        loop {
            self.budget.check()?;
            let Some(codes) = reader.search(query, want) else { return Ok(None) };
            // Parts of the graph may not be reached from where a search starts.
            let is_all = codes.len() >= reader.len();
            if codes.len() < want && !is_all {
                return Ok(None);
            }
            let radius = if is_all { f64::INFINITY } else { self.radius(search, &probe, &codes, margin) };
            let mut near = self.fulfilling(search, self.rows_with(search, &runs, &codes, &probe)?)?;
            let share = near.len().max(1) as f64 / codes.len().max(1) as f64;
            near.extend_from_slice(&strangers);
            near.sort_by(|a, b| self.order(a, b));
            near.dedup_by(|a, b| a.id == b.id && a.distance == b.distance);
            near.truncate(search.count);
            let is_enough =
                near.len() == search.count && near.last().is_some_and(|last| last.distance <= radius);
            if is_all || is_enough {
                return self.head(search, &near, input);
            }
            let expected = 1.25 * (margin * search.count) as f64 / share;
            want = (2 * want).max(expected as usize).min(reader.len());
            let by_index = want.saturating_mul(self.thresholds.candidate_rows) as f64;
            if by_index > share.max(LEAST_SHARE) * reader.len() as f64 {
                return Ok(None);
            }
        }
    }

    /// How far the nearest of so many candidates are for certain.
    fn radius(&self, search: &SearchPlan, probe: &Probe<'_>, codes: &[Code], margin: usize) -> f64 {
        let mut distances: Vec<f64> =
            codes.iter().filter_map(|code| self.distance(search, probe, *code)).collect();
        distances.sort_by(f64::total_cmp);
        let certain = (distances.len() / margin).saturating_sub(1);
        distances.get(certain).copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Rows whose vectors the index does not know, and those that it keeps aside; nothing if they are many.
    fn strangers(
        &self,
        search: &SearchPlan,
        runs: &[Run],
        reader: &Reader<'_>,
        probe: &Probe<'_>,
    ) -> Result<Option<Vec<Candidate>>, ExecError> {
        let mut found = self.rows_with(search, runs, reader.aside(), probe)?;
        for run in runs.iter().filter(|run| !reader.covers(run)) {
            let codes = run.column(search.column);
            for row in (0..run.stored_len()).filter(|row| run.is_live(*row) && !reader.knows(codes[*row])) {
                if found.len() == MOST_STRANGERS {
                    return Ok(None);
                }
                if let Some(distance) = self.distance(search, probe, codes[row]) {
                    found.push(Candidate { distance, id: run.column(0)[row] });
                }
            }
        }
        Ok(Some(found))
    }

    /// The rows that hold these vectors.
    fn rows_with(
        &self,
        search: &SearchPlan,
        runs: &[Run],
        codes: &[Code],
        probe: &Probe<'_>,
    ) -> Result<Vec<Candidate>, ExecError> {
        let mut found = Vec::new();
        let distances: Vec<Option<f64>> =
            codes.iter().map(|code| self.distance(search, probe, *code)).collect();
        for run in runs.iter().filter(|_| !codes.is_empty()) {
            let ids = run.column(0);
            let index = self
                .budget
                .build(run.index_cost(&[search.column]), |go_on| run.index(&[search.column], go_on))?;
            index.probe(&[codes], 0, codes.len(), |position, rows| {
                if let Some(distance) = distances[position] {
                    let live = rows.iter().filter(|row| run.is_live(**row as usize));
                    found.extend(live.map(|row| Candidate { distance, id: ids[*row as usize] }));
                }
                true
            });
        }
        Ok(found)
    }

    /// As the rule computes it; vectors of another length are nowhere.
    fn distance(&self, search: &SearchPlan, probe: &Probe<'_>, code: Code) -> Option<f64> {
        let value = self.codec.value(code);
        let is_comparable = match (value, probe.query()) {
            (ValueRef::Vector(a), ValueRef::Vector(b)) => a.len() == b.len(),
            (ValueRef::VectorInt8(a), ValueRef::VectorInt8(b)) => a.len() == b.len(),
            _ => false,
        };
        let distance = probe.distance(value).filter(|_| is_comparable)?;
        Some(if search.metric == Metric::Dot { 0.0 - distance } else { distance })
    }

    /// Those of the candidates that fulfil the conditions.
    fn fulfilling(
        &self,
        search: &SearchPlan,
        candidates: Vec<Candidate>,
    ) -> Result<Vec<Candidate>, ExecError> {
        let Some(conditions) = &search.conditions else { return Ok(candidates) };
        if candidates.is_empty() {
            return Ok(candidates);
        }
        let numbers = (0..candidates.len() as Code).collect();
        let ids = candidates.iter().map(|candidate| candidate.id).collect();
        let view = self.beside(search.candidates, Run::new(vec![numbers, ids], candidates.len()));
        let mut passes = vec![false; candidates.len()];
        let Some(HeadTerm::Expression(Expression::Variable(number))) = conditions.head_terms.first() else {
            return Ok(Vec::new());
        };
        view.solutions(&plan_rule(conditions, &view), &mut |solutions| {
            solutions.column(*number).iter().for_each(|number| passes[*number as usize] = true);
            Ok(())
        })?;
        Ok(candidates
            .into_iter()
            .zip(passes)
            .filter(|(_, passes)| *passes)
            .map(|(candidate, _)| candidate)
            .collect())
    }

    /// By distance, then by id: the order of values.
    fn order(&self, a: &Candidate, b: &Candidate) -> Ordering {
        let ids = || self.codec.value(a.id).cmp(&self.codec.value(b.id));
        a.distance.total_cmp(&b.distance).then_with(ids)
    }

    /// Candidates as rows of the head; nothing if the head computes something.
    fn head(
        &self,
        search: &SearchPlan,
        near: &[Candidate],
        input: &[Code],
    ) -> Result<Option<Rows>, ExecError> {
        let mut columns = Vec::with_capacity(search.exact.head_terms.len());
        for term in &search.exact.head_terms {
            columns.push(match term {
                HeadTerm::Expression(Expression::Variable(variable)) if *variable == search.id => {
                    near.iter().map(|candidate| candidate.id).collect()
                }
                HeadTerm::Expression(Expression::Variable(variable)) if *variable == search.distance => {
                    let codes = near.iter().map(|near| self.codec.encode(ValueRef::Float(near.distance)));
                    codes.collect::<Result<Vec<Code>, _>>()?
                }
                HeadTerm::Expression(Expression::Variable(variable)) => {
                    let Some(position) = search.inputs.iter().position(|input| input == variable) else {
                        return Ok(None);
                    };
                    vec![input[position]; near.len()]
                }
                HeadTerm::Expression(Expression::Constant(value)) => {
                    vec![self.codec.encode(value.as_ref())?; near.len()]
                }
                HeadTerm::Expression(Expression::Arithmetic { .. } | Expression::Call { .. })
                | HeadTerm::Aggregate { .. } => return Ok(None),
            });
        }
        Ok(Some(Rows { columns, len: near.len() }))
    }
}

/// Whether rows may be near this value: nothing is near Null, and what is no vector of the column's type is a mistake.
fn is_fit(query: ValueRef<'_>, data_type: DataType) -> Result<bool, ExecError> {
    let length = |elements: usize| u32::try_from(elements).ok();
    let (found, fits) = match (query, data_type) {
        (ValueRef::Null, _) => return Ok(false),
        (ValueRef::Vector(elements), DataType::Vector(expected)) => {
            let found = length(elements.len());
            (DataType::Vector(found), expected.is_none() || expected == found)
        }
        (ValueRef::VectorInt8(elements), DataType::VectorInt8(expected)) => {
            let found = length(elements.len());
            (DataType::VectorInt8(found), expected.is_none() || expected == found)
        }
        (query, _) => (DataType::of(&query.to_value()), false),
    };
    if fits { Ok(true) } else { Err(ExecError::SearchType { expected: data_type, found }) }
}
