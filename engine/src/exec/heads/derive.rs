//! Rules at work: their pipelines in lanes, and what becomes of the solutions.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use crate::analysis::program::HeadTerm;
use crate::data::{Code, Rows, parallel};
use crate::exec::error::ExecError;
use crate::exec::heads::aggregate::{Grouping, Groups};
use crate::exec::heads::ranking::Ranker;
use crate::exec::known::{Known, KnownRows, take_in};
use crate::exec::operators::pipeline::Pipeline;
use crate::exec::profile::{Planned, Products};
use crate::exec::tables::Tables;
use crate::exec::values::batch::Bindings;
use crate::plan::{LANE_ROWS, RulePlan, expected_found, expected_rows, rows_in};

/// Source rows of a lane for each group that it may have,
const ROWS_PER_GROUP: usize = 16;
/// as long as there are so many lanes: groups may turn out to be few.
const FEW_LANES: usize = 8;
/// Lanes whose candidates are held at once.
const WAVE_LANES: usize = 64;
/// Bindings of a lane: from fewer on it takes longer to hand them to a thread, with more of them they leave its cache.
const LANE_BINDINGS: RangeInclusive<usize> = 1 << 10..=1 << 13;

/// Runs one plan; answers the rows that are new.
pub(crate) fn derive(
    tables: &Tables<'_>,
    planned: &Planned,
    known: &mut KnownRows,
) -> Result<Vec<Rows>, ExecError> {
    let plan = &planned.plan;
    let keeps_best = matches!(known.get(&plan.head), Some(Known::Best(_)));
    if !keeps_best && plan.aggregates() {
        let (pipeline, rows) = open(tables, planned)?;
        return Ok(vec![find_groups(tables, plan, &pipeline, rows, known)?]);
    }
    if let Some(Known::Nothing) = known.get(&plan.head) {
        let (pipeline, rows) = open(tables, planned)?;
        return collect(tables, plan, &pipeline, lanes_of(plan, rows, tables));
    }
    let found = derive_round(tables, std::slice::from_ref(planned), known)?;
    Ok(found.into_iter().map(|(_, rows)| rows).collect())
}

/// Runs plans whose heads keep all rows or the best ones, side by side; answers the rows that are new, each with its plan.
/// What one of them finds is not read by another one, but may be known to it where it asks for whole rows.
pub(crate) fn derive_round<'p>(
    tables: &Tables<'_>,
    plans: &'p [Planned],
    known: &mut KnownRows,
) -> Result<Vec<(&'p RulePlan, Rows)>, ExecError> {
    let mut pipelines = Vec::with_capacity(plans.len());
    let mut lanes = Vec::new();
    let mut bindings: usize = 0;
    let is_at_work =
        |planned: &&Planned| planned.products != Products::Do && !finds_nothing(&planned.plan, tables);
    for planned in plans.iter().filter(is_at_work) {
        let (pipeline, rows) = open(tables, planned)?;
        let expected = expected_rows(&planned.plan, tables).max(rows);
        bindings = bindings.saturating_add(expected);
        let of_plan = parallel::lanes(rows, lane_rows(rows, expected)).into_iter();
        lanes.extend(of_plan.map(|lane| (pipelines.len(), lane)));
        pipelines.push((planned, pipeline));
    }
    let is_brief = bindings <= *LANE_BINDINGS.start();
    let mut new = Vec::new();
    for wave in lanes.chunks(WAVE_LANES) {
        tables.budget.check()?;
        let seen = &*known;
        let run = |(number, lane): (usize, Range<usize>)| {
            let (Planned { plan, .. }, pipeline) = &pipelines[number];
            let known = seen.get(&plan.head).unwrap_or(&Known::Nothing);
            let mut found = known.start();
            pipeline.run_beside(seen, lane, &mut |solutions| {
                let columns = head_columns(plan, pipeline, solutions)?;
                let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                known.collect(&columns, solutions.len, &mut found, tables)
            })?;
            Ok::<_, ExecError>(found)
        };
        let found: Vec<_> = match is_brief {
            true => wave.iter().cloned().map(run).collect(),
            false => parallel::map(wave.to_vec(), run),
        };
        let mut found = found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter();
        for lanes in wave.chunk_by(|(one, _), (other, _)| one == other) {
            let (Planned { plan, .. }, pipeline) = &pipelines[lanes[0].0];
            let lanes = found.by_ref().take(lanes.len()).collect();
            let Some(known) = known.get_mut(&plan.head) else { continue };
            let before = known.changed();
            let rows = pipeline.head(|| known.absorb(lanes, tables))?;
            let found: usize = rows.iter().map(|rows| rows.len).sum();
            pipeline.found(found + known.changed() - before);
            new.extend(rows.into_iter().filter(|rows| rows.len > 0).map(|rows| (plan, rows)));
        }
    }
    for (planned, pipeline) in &pipelines {
        pipeline.tell_measured();
        if planned.products == Products::Could {
            tables.measured.add_of_products(pipeline.found_bindings());
        }
    }
    Ok(new)
}

/// Whether a plan has no solutions, as some relation that they need has no rows.
fn finds_nothing(plan: &RulePlan, tables: &Tables<'_>) -> bool {
    plan.needed().any(|access| rows_in(access, tables) == 0)
}

/// The bindings that a plan will have, from those of a few source rows here and there.
pub(crate) fn bindings_of_sample(tables: &Tables<'_>, planned: &Planned) -> Result<u64, ExecError> {
    /// Bindings that say enough, from more and more rows at so many places of the source.
    const ENOUGH: u64 = 1 << 14;
    const PLACES: usize = 8;
    const MORE_ROWS: usize = 8;
    let (pipeline, rows) = open(tables, planned)?;
    let (mut lane_rows, mut looked_at) = (1, 0);
    while looked_at < rows && pipeline.bindings() < ENOUGH {
        // What stands first is often what is most frequent.
        let step = (rows / PLACES).max(lane_rows);
        for start in (step.saturating_sub(lane_rows) / 2..rows).step_by(step) {
            let lane = start..rows.min(start + lane_rows);
            looked_at += lane.len();
            pipeline.run(lane, &mut |_| Ok(()))?;
        }
        lane_rows *= MORE_ROWS;
    }
    Ok((pipeline.bindings() as f64 * rows as f64 / looked_at.max(1) as f64) as u64)
}

/// The pipeline of a plan, and the number of rows that it reads.
fn open<'a>(
    tables: &'a Tables<'_>,
    Planned { plan, meter, most_bindings, .. }: &'a Planned,
) -> Result<(Pipeline<'a>, usize), ExecError> {
    tables.budget.check()?;
    let pipeline = Pipeline::new(plan, meter.as_ref(), tables)?;
    let pipeline = match &plan.ranking {
        Some(ranking) => pipeline.below(ranking, false),
        None => pipeline.keeping_numbers(),
    };
    let pipeline = match most_bindings {
        Some(most) => pipeline.at_most(*most),
        None => pipeline,
    };
    let rows = pipeline.source_rows();
    let most = || if plan.multiplies() { rows.max(expected_rows(plan, tables)) } else { rows };
    tables.budget.expect_rows(most)?;
    Ok((pipeline, rows))
}

/// The lanes of a plan that does not group its solutions.
fn lanes_of(plan: &RulePlan, rows: usize, tables: &Tables<'_>) -> Vec<Range<usize>> {
    parallel::lanes(rows, lane_rows(rows, expected_rows(plan, tables)))
}

/// Runs one plan that groups or ranks its solutions; answers the rows that are new.
fn find_groups(
    tables: &Tables<'_>,
    plan: &RulePlan,
    pipeline: &Pipeline<'_>,
    rows: usize,
    known: &mut KnownRows,
) -> Result<Rows, ExecError> {
    // The groups of each lane are merged one lane after the other.
    let few_lanes = LANE_ROWS.max(rows / WAVE_LANES);
    let found = match &plan.ranking {
        Some(ranking) => {
            let lanes = parallel::lanes(rows, few_lanes);
            rank(tables, &Ranker::new(&plan.head_terms, ranking), pipeline, lanes)?
        }
        None => {
            let for_groups = ROWS_PER_GROUP.saturating_mul(expected_found(plan, tables));
            let lanes = parallel::lanes(rows, few_lanes.max(for_groups.min(rows / FEW_LANES)));
            aggregate(tables, plan, pipeline, lanes)?
        }
    };
    let rows = pipeline.head(|| take_in(tables, known, plan.head, &found))?;
    pipeline.found(rows.len);
    Ok(rows)
}

/// Source rows of a lane where so many rows are expected to become so many bindings at some step: fewer where each becomes
/// many, so that few rows are work for all threads.
fn lane_rows(rows: usize, bindings: usize) -> usize {
    /// As long as there are so many lanes.
    const LANES: usize = 8;
    /// Source rows of a lane, at least.
    const LEAST: usize = 64;
    let bindings_of_lane = (bindings / LANES).clamp(*LANE_BINDINGS.start(), *LANE_BINDINGS.end());
    (rows.saturating_mul(bindings_of_lane) / bindings.max(1)).clamp(LEAST, LANE_ROWS)
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
