//! Searches: the best rows of a relation, each combination of inputs by itself, by an index or row by row.

mod texts;
mod vectors;

use self::texts::{answering, texts};
use self::vectors::nearest;
use std::cmp::Ordering;

use crate::analysis::program::{Argument, Expression, HeadTerm};
use crate::data::{Code, DataType, Relation, Rows, Run, ValueRef, parallel};
use crate::exec::error::ExecError;
use crate::exec::heads::derive::rank;
use crate::exec::heads::ranking::Ranker;
use crate::exec::operators::pipeline::{Pipeline, Sink};
use crate::exec::profile::{Meter, time};
use crate::exec::tables::Tables;
use crate::exec::values::batch::Bindings;
use crate::index::{Measure, Texts};
use crate::plan::LANE_ROWS;
use crate::plan::{RulePlan, SearchPlan, Way, plan_rule};

/// A row that may be among the best.
#[derive(Clone, Copy)]
struct Candidate {
    /// Its distance or score.
    measure: f64,
    id: Code,
}

/// The rows of the head of a search.
pub(super) fn search(
    tables: &Tables<'_>,
    search: &SearchPlan,
    way: Way,
    meter: Option<&Meter>,
) -> Result<Rows, ExecError> {
    tables.budget.check()?;
    let found = time(meter, 0, || {
        let inputs = inputs(tables, search)?;
        let texts = if inputs.len > 0 { texts(tables, search)? } else { None };
        let one = |row: usize| {
            let input: Vec<Code> = inputs.columns.iter().map(|column| column[row]).collect();
            search_one(tables, search, way, texts.as_ref(), &input)
        };
        parallel::map((0..inputs.len).collect(), one).into_iter().collect::<Result<Vec<_>, ExecError>>()
    })?;
    let all = crate::exec::growing::gather(found, search.exact.head_terms.len());
    if let Some(meter) = meter {
        meter.rows(0, all.len);
    }
    Ok(all)
}

/// The combinations of inputs; a single one if there are no inputs.
fn inputs(tables: &Tables<'_>, search: &SearchPlan) -> Result<Rows, ExecError> {
    let Some(from) = &search.from else { return Ok(Rows { columns: Vec::new(), len: 1 }) };
    let mut rows = Rows::empty(search.inputs.len());
    solutions(tables, &plan_rule(from, tables), &mut |solutions| {
        for (column, variable) in rows.columns.iter_mut().zip(&search.inputs) {
            column.extend_from_slice(solutions.column(*variable));
        }
        rows.len += solutions.len;
        tables.budget.charge(solutions.len * search.inputs.len() * size_of::<Code>())?;
        Ok(())
    })?;
    if search.inputs.is_empty() {
        // There is one if what it starts from holds.
        return Ok(Rows { len: rows.len.min(1), ..rows });
    }
    let (distinct, _) = Relation::empty(search.inputs.len()).insert(&rows);
    Ok(distinct.runs().first().map_or_else(|| Rows::empty(search.inputs.len()), Run::live_rows))
}

fn solutions(tables: &Tables<'_>, plan: &RulePlan, sink: &mut Sink<'_>) -> Result<(), ExecError> {
    let pipeline = Pipeline::new(plan, None, tables)?;
    pipeline.run(0..pipeline.source_rows(), sink)
}

fn search_one(
    tables: &Tables<'_>,
    search: &SearchPlan,
    way: Way,
    texts: Option<&Texts>,
    input: &[Code],
) -> Result<Rows, ExecError> {
    tables.budget.check()?;
    let given = with_input(tables, search, input);
    let query = given.evaluator().codes(&search.query, &bindings(search, input, &[]))?[0];
    let query = tables.codec.value(query);
    if !is_fit(query, search.data_type)? {
        return Ok(Rows::empty(search.exact.head_terms.len()));
    }
    if let (Measure::Score(language), Some(texts), ValueRef::Text(text)) = (search.by, texts, query) {
        let best = answering(&given, search, texts, language, text)?;
        return head(&given, search, &best, input);
    }
    if let Way::Index(ef) = way
        && let Some(reader) = search.search.index.hnsw().and_then(|hnsw| hnsw.read(tables.codec.shared()))
        && reader.serves(query)
        && let Some(near) = nearest(&given, search, query, &reader, ef)?
    {
        return head(&given, search, &near, input);
    }
    let plan = plan_rule(&search.exact, &given);
    let Some(ranking) = &plan.ranking else { return Ok(Rows::empty(plan.head_terms.len())) };
    let pipeline = Pipeline::new(&plan, None, &given)?;
    tables.budget.expect_rows(|| pipeline.source_rows())?;
    let lanes = parallel::lanes(pipeline.source_rows(), LANE_ROWS);
    rank(&given, &Ranker::new(&plan.head_terms, ranking), &pipeline.below(ranking, true), lanes)
}

/// The same rows, and beside them those that only this search knows.
fn with_input<'t>(tables: &'t Tables<'_>, search: &SearchPlan, input: &[Code]) -> Tables<'t> {
    let run = Run::new(input.iter().map(|code| vec![*code]).collect(), 1);
    tables.beside(search.given, run)
}

/// Those of the candidates that fulfil the conditions.
fn fulfilling(
    tables: &Tables<'_>,
    search: &SearchPlan,
    candidates: Vec<Candidate>,
) -> Result<Vec<Candidate>, ExecError> {
    let Some(conditions) = &search.conditions else { return Ok(candidates) };
    if candidates.is_empty() {
        return Ok(candidates);
    }
    let numbers = (0..candidates.len() as Code).collect();
    let ids = candidates.iter().map(|candidate| candidate.id).collect();
    let tables = tables.beside(search.candidates, Run::new(vec![numbers, ids], candidates.len()));
    let mut passes = vec![false; candidates.len()];
    let Some(HeadTerm::Expression(Expression::Variable(number))) = conditions.head_terms.first() else {
        return Ok(Vec::new());
    };
    solutions(&tables, &plan_rule(conditions, &tables), &mut |solutions| {
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
fn order(tables: &Tables<'_>, search: &SearchPlan, a: &Candidate, b: &Candidate) -> Ordering {
    let measures = match search.by {
        Measure::Distance(_) => a.measure.total_cmp(&b.measure),
        Measure::Score(_) => b.measure.total_cmp(&a.measure),
    };
    measures.then_with(|| tables.codec.value(a.id).cmp(&tables.codec.value(b.id)))
}

/// Puts candidates in their order, equal ones once.
fn put_in_order(tables: &Tables<'_>, search: &SearchPlan, candidates: &mut Vec<Candidate>) {
    candidates.sort_by(|a, b| order(tables, search, a, b));
    candidates.dedup_by(|a, b| a.id == b.id && a.measure == b.measure);
}

/// Candidates, the best first, as rows of the head.
fn head(
    tables: &Tables<'_>,
    search: &SearchPlan,
    best: &[Candidate],
    input: &[Code],
) -> Result<Rows, ExecError> {
    if best.is_empty() {
        return Ok(Rows::empty(search.exact.head_terms.len()));
    }
    let bindings = bindings(search, input, best);
    let measures = best.iter().map(|candidate| tables.codec.encode(ValueRef::Float(candidate.measure)));
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
            HeadTerm::Expression(expression) => tables.evaluator().codes(expression, &bindings)?.into_owned(),
            // A head that ranks has no other aggregate.
            HeadTerm::Aggregate { .. } => Vec::new(),
        });
    }
    Ok(Rows { columns, len: best.len() })
}

/// The ids of candidates, beside what the search starts from; that alone if there are none.
fn bindings(search: &SearchPlan, input: &[Code], best: &[Candidate]) -> Bindings {
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
