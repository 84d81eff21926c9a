//! Searches: the best rows of a relation, each combination of inputs by itself, by an index or row by row.

mod texts;
mod vectors;

use std::cmp::Ordering;

use super::batch::Bindings;
use super::derive::LANE_ROWS;
use super::error::ExecError;
use super::pipeline::{Pipeline, Sink};
use super::profile::{Meter, time};
use super::ranking::Ranker;
use super::stratum::View;
use crate::analysis::program::{Argument, Expression, HeadTerm};
use crate::data::{Code, DataType, Relation, Rows, Run, ValueRef, parallel};
use crate::index::{Measure, Texts};
use crate::plan::{RulePlan, SearchPlan, Way, plan_rule};

/// A row that may be among the best.
#[derive(Clone, Copy)]
struct Candidate {
    /// Its distance or score.
    measure: f64,
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
        let found = time(meter, 0, || {
            let inputs = self.inputs(search)?;
            let texts = if inputs.len > 0 { self.texts(search)? } else { None };
            let one = |row: usize| {
                let input: Vec<Code> = inputs.columns.iter().map(|column| column[row]).collect();
                self.search_one(search, way, texts.as_ref(), &input)
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
        if search.inputs.is_empty() {
            // There is one if what it starts from holds.
            return Ok(Rows { len: rows.len.min(1), ..rows });
        }
        let (distinct, _) = Relation::empty(search.inputs.len()).insert(&rows);
        Ok(distinct.runs().first().map_or_else(|| Rows::empty(search.inputs.len()), Run::live_rows))
    }

    fn solutions(&self, plan: &RulePlan, sink: &mut Sink<'_>) -> Result<(), ExecError> {
        let pipeline = Pipeline::new(plan, None, self)?;
        pipeline.run(0..pipeline.source_rows(), sink)
    }

    fn search_one(
        &self,
        search: &SearchPlan,
        way: Way,
        texts: Option<&Texts>,
        input: &[Code],
    ) -> Result<Rows, ExecError> {
        self.budget.check()?;
        let given = self.with_input(search, input);
        let query = given.evaluator().codes(&search.query, &self.bindings(search, input, &[]))?[0];
        let query = self.codec.value(query);
        if !is_fit(query, search.data_type)? {
            return Ok(Rows::empty(search.exact.head_terms.len()));
        }
        if let (Measure::Score(language), Some(texts), ValueRef::Text(text)) = (search.by, texts, query) {
            let best = given.answering(search, texts, language, text)?;
            return given.head(search, &best, input);
        }
        if let Way::Index(ef) = way
            && let Some(reader) = search.search.index.hnsw().and_then(|hnsw| hnsw.read(self.codec.shared()))
            && reader.serves(query)
            && let Some(near) = given.nearest(search, query, &reader, ef)?
        {
            return given.head(search, &near, input);
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

    /// The best first; of those that are equally good, in the order of their ids.
    fn order(&self, search: &SearchPlan, a: &Candidate, b: &Candidate) -> Ordering {
        let measures = match search.by {
            Measure::Distance(_) => a.measure.total_cmp(&b.measure),
            Measure::Score(_) => b.measure.total_cmp(&a.measure),
        };
        measures.then_with(|| self.codec.value(a.id).cmp(&self.codec.value(b.id)))
    }

    /// Puts candidates in their order, equal ones once.
    fn put_in_order(&self, search: &SearchPlan, candidates: &mut Vec<Candidate>) {
        candidates.sort_by(|a, b| self.order(search, a, b));
        candidates.dedup_by(|a, b| a.id == b.id && a.measure == b.measure);
    }

    /// Candidates, the best first, as rows of the head.
    fn head(&self, search: &SearchPlan, best: &[Candidate], input: &[Code]) -> Result<Rows, ExecError> {
        if best.is_empty() {
            return Ok(Rows::empty(search.exact.head_terms.len()));
        }
        let bindings = self.bindings(search, input, best);
        let measures = best.iter().map(|candidate| self.codec.encode(ValueRef::Float(candidate.measure)));
        let measures = measures.collect::<Result<Vec<Code>, _>>()?;
        let numbered = search.exact.ranking.as_ref().filter(|ranking| ranking.is_numbered);
        let rank = numbered.map(|ranking| ranking.columns.end - 1);
        let mut columns = Vec::with_capacity(search.exact.head_terms.len());
        for (column, term) in search.exact.head_terms.iter().enumerate() {
            columns.push(match term {
                _ if rank == Some(column) => (1..=best.len() as Code).collect(),
                HeadTerm::Expression(Expression::Variable(variable)) if *variable == search.measure => {
                    measures.clone()
                }
                HeadTerm::Expression(expression) => {
                    self.evaluator().codes(expression, &bindings)?.into_owned()
                }
                // A head that ranks has no other aggregate.
                HeadTerm::Aggregate { .. } => Vec::new(),
            });
        }
        Ok(Rows { columns, len: best.len() })
    }

    /// The ids of candidates, beside what the search starts from; that alone if there are none.
    fn bindings(&self, search: &SearchPlan, input: &[Code], best: &[Candidate]) -> Bindings {
        let mut bindings = Bindings::one(search.exact.variables.len());
        bindings.len = best.len().max(1);
        for (variable, code) in search.inputs.iter().zip(input) {
            bindings.column_mut(*variable).resize(best.len().max(1), *code);
        }
        if let Argument::Variable(id) = search.id {
            bindings.column_mut(id).extend(best.iter().map(|candidate| candidate.id));
        }
        bindings
    }
}

/// Whether this value can be looked for: Null cannot, and what is no value of the column's type is a mistake.
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
        (ValueRef::Text(_), DataType::Text) => (DataType::Text, true),
        (query, _) => (DataType::of(&query.to_value()), false),
    };
    if fits { Ok(true) } else { Err(ExecError::SearchType { expected: data_type, found }) }
}
