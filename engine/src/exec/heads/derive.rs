//! One rule at work: its pipeline in lanes, and what becomes of the solutions.

use std::borrow::Cow;
use std::ops::Range;

use crate::analysis::program::HeadTerm;
use crate::data::{Code, Rows, parallel};
use crate::exec::error::ExecError;
use crate::exec::heads::aggregate::{Grouping, Groups};
use crate::exec::heads::best_rows::BestRows;
use crate::exec::heads::known::{Known, KnownRows, take_in};
use crate::exec::heads::ranking::Ranker;
use crate::exec::operators::pipeline::Pipeline;
use crate::exec::profile::Planned;
use crate::exec::tables::Tables;
use crate::exec::values::batch::Bindings;
use crate::plan::{LANE_ROWS, RulePlan, expected_found, expected_rows};

/// Source rows of a lane for each group that it may have,
const ROWS_PER_GROUP: usize = 16;
/// as long as there are so many lanes: groups may turn out to be few.
const FEW_LANES: usize = 8;
/// Lanes whose candidates are held at once.
const WAVE_LANES: usize = 64;

/// Runs one plan; answers the rows that are new.
pub(crate) fn derive(
    tables: &Tables<'_>,
    Planned { plan, meter }: &Planned,
    known: &mut KnownRows,
) -> Result<Vec<Rows>, ExecError> {
    tables.budget.check()?;
    let pipeline = Pipeline::new(plan, meter.as_ref(), tables)?;
    let pipeline = match &plan.ranking {
        Some(ranking) => pipeline.below(ranking, false),
        None => pipeline.keeping_numbers(),
    };
    let new = take_solutions(tables, plan, &pipeline, known)?;
    pipeline.tell_measured();
    Ok(new)
}

fn take_solutions(
    tables: &Tables<'_>,
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    known: &mut KnownRows,
) -> Result<Vec<Rows>, ExecError> {
    let rows = pipeline.source_rows();
    let expected = expected_rows(plan, tables);
    tables.budget.expect_rows(|| rows.max(expected))?;
    let aggregates = plan.aggregates() && !matches!(known.get(&plan.head), Some(Known::Best(_)));
    // The groups of each lane are merged one lane after the other.
    let lane_rows = match (aggregates, &plan.ranking) {
        (false, _) => lane_rows(rows, expected),
        (true, Some(_)) => LANE_ROWS.max(rows / WAVE_LANES),
        (true, None) => {
            let for_groups = ROWS_PER_GROUP.saturating_mul(expected_found(plan, tables));
            LANE_ROWS.max(rows / WAVE_LANES).max(for_groups.min(rows / FEW_LANES))
        }
    };
    let lanes = parallel::lanes(rows, lane_rows);
    if let Some(Known::Best(best)) = known.get_mut(&plan.head) {
        improve(tables, plan, pipeline, &lanes, best)?;
        return Ok(Vec::new());
    }
    if aggregates {
        let found = match &plan.ranking {
            Some(ranking) => rank(tables, &Ranker::new(&plan.head_terms, ranking), pipeline, lanes)?,
            None => aggregate(tables, plan, pipeline, lanes)?,
        };
        let rows = pipeline.head(|| take_in(tables, known, plan.head, &found))?;
        pipeline.found(rows.len);
        return Ok(vec![rows]);
    }
    if let Some(Known::Nothing) = known.get(&plan.head) {
        return collect(tables, plan, pipeline, lanes);
    }
    let Some(Known::All(set)) = known.get_mut(&plan.head) else { return Ok(Vec::new()) };
    let mut new = Vec::new();
    for wave in lanes.chunks(WAVE_LANES) {
        let known = &*set;
        let candidates = parallel::map(wave.to_vec(), |lane| {
            let mut candidates = known.candidates();
            pipeline.run(lane, &mut |solutions| {
                let columns = head_columns(plan, pipeline, solutions)?;
                let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                known.collect(&columns, solutions.len, &mut candidates, tables.budget)
            })?;
            Ok::<_, ExecError>(candidates)
        });
        let candidates = candidates.into_iter().collect::<Result<_, _>>()?;
        let rows = pipeline.head(|| set.absorb(candidates, tables.budget))?;
        pipeline.found(rows.len);
        if rows.len > 0 {
            new.push(rows);
        }
    }
    Ok(new)
}

/// Source rows of a lane where so many rows are expected to become so many bindings at some step: fewer where each becomes
/// many, so that few rows are work for all threads.
fn lane_rows(rows: usize, bindings: usize) -> usize {
    /// Bindings of a lane.
    const BINDINGS: usize = 1 << 13;
    /// Source rows of a lane, at least.
    const LEAST: usize = 64;
    (rows.saturating_mul(BINDINGS) / bindings.max(1)).clamp(LEAST, LANE_ROWS)
}

/// Runs one plan that makes no row twice.
fn collect(
    tables: &Tables<'_>,
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    lanes: Vec<Range<usize>>,
) -> Result<Vec<Rows>, ExecError> {
    let arity = plan.head_terms.len();
    let found = parallel::map(lanes, |lane| {
        let mut rows = Rows::empty(arity);
        pipeline.run(lane, &mut |solutions| {
            tables.budget.charge(solutions.len * arity * size_of::<Code>())?;
            for (column, codes) in rows.columns.iter_mut().zip(head_columns(plan, pipeline, solutions)?) {
                column.extend_from_slice(&codes);
            }
            rows.len += solutions.len;
            Ok(())
        })?;
        Ok::<_, ExecError>(rows)
    });
    let found: Vec<Rows> = found.into_iter().collect::<Result<_, _>>()?;
    pipeline.found(found.iter().map(|rows| rows.len).sum());
    Ok(found)
}

/// Runs one plan of a relation that keeps its best rows.
fn improve(
    tables: &Tables<'_>,
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    lanes: &[Range<usize>],
    best: &mut BestRows,
) -> Result<(), ExecError> {
    for wave in lanes.chunks(WAVE_LANES) {
        tables.budget.check()?;
        let known = &*best;
        let improvements = parallel::map(wave.to_vec(), |lane| {
            let mut improvements = known.improvements();
            pipeline.run(lane, &mut |solutions| {
                let columns = head_columns(plan, pipeline, solutions)?;
                let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                known.collect(&columns, &mut improvements, tables.codec, tables.budget)
            })?;
            Ok::<_, ExecError>(improvements)
        });
        let improvements = improvements.into_iter().collect::<Result<_, _>>()?;
        let before = best.changed();
        pipeline.head(|| best.absorb(improvements, tables.codec, tables.budget))?;
        pipeline.found(best.changed() - before);
    }
    Ok(())
}

fn aggregate(
    tables: &Tables<'_>,
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    lanes: Vec<Range<usize>>,
) -> Result<Rows, ExecError> {
    let grouping = Grouping::new(&plan.head_terms);
    let partial = parallel::map(lanes, |lane| group(tables, &grouping, pipeline, lane));
    pipeline.head(|| {
        let mut all = grouping.start(pipeline.source_rows());
        for groups in partial {
            grouping.merge(&mut all, groups?, tables.codec);
        }
        grouping.finish(all, tables.codec, &plan.text, &tables.remarks, tables.budget)
    })
}

/// The groups of some source rows.
pub(crate) fn group(
    tables: &Tables<'_>,
    grouping: &Grouping<'_>,
    pipeline: &Pipeline<'_>,
    rows: Range<usize>,
) -> Result<Groups, ExecError> {
    let mut groups = grouping.start(rows.len());
    pipeline.run(rows, &mut |solutions| {
        grouping.add(&mut groups, pipeline, tables.codec, solutions, tables.budget)
    })?;
    Ok(groups)
}

/// The best solutions.
pub(crate) fn rank(
    tables: &Tables<'_>,
    ranker: &Ranker<'_>,
    pipeline: &Pipeline<'_>,
    lanes: Vec<Range<usize>>,
) -> Result<Rows, ExecError> {
    let lanes = parallel::map(lanes, |lane| {
        let mut contenders = ranker.start();
        pipeline.run(lane, &mut |solutions| {
            ranker.add(&mut contenders, pipeline, tables.codec, solutions, tables.budget)
        })?;
        Ok::<_, ExecError>(contenders)
    });
    let lanes = lanes.into_iter().collect::<Result<_, _>>()?;
    Ok(pipeline.head(|| ranker.finish(lanes, tables.codec)))
}

/// The columns of the head that solutions become.
pub(crate) fn head_columns<'b>(
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    solutions: &'b Bindings,
) -> Result<Vec<Cow<'b, [Code]>>, ExecError> {
    plan.head_terms
        .iter()
        .map(|term| match term {
            HeadTerm::Expression(expression) => pipeline.evaluator().codes(expression, solutions),
            // Of each group the best row is kept: every value is offered.
            HeadTerm::Aggregate { argument, .. } => pipeline.evaluator().variable(*argument, solutions),
        })
        .collect()
}
