//! Edges as runs, for the recursions that go along them.

use crate::analysis::program::Rule;
use crate::data::{Code, Run};
use crate::exec::error::ExecError;
use crate::exec::growing::check_rows;
use crate::exec::heads::derive::head_columns;
use crate::exec::operators::pipeline::Pipeline;
use crate::exec::tables::Tables;
use crate::plan::{Access, Columns, EdgeSource, Statistics, Version, plan_rule};

/// Runs with edges, and the columns in which these begin and end.
pub(crate) fn edge_runs(
    source: &EdgeSource,
    tables: &Tables<'_>,
) -> Result<(Vec<Run>, [usize; 2]), ExecError> {
    match source {
        EdgeSource::Relation(Columns { relation, from, to }) => {
            Ok((tables.runs(Access::of(*relation, Version::All))?, [*from, *to]))
        }
        EdgeSource::Rule(rule) => Ok((vec![derived(rule, tables)?], [0, 1])),
    }
}

/// Rows that are read to find these edges.
pub(crate) fn edges_read(tables: &Tables<'_>, source: &EdgeSource) -> usize {
    match source {
        EdgeSource::Relation(columns) => tables.rows(columns.relation),
        EdgeSource::Rule(rule) => rule.reads().map(|relation| tables.rows(relation)).max().unwrap_or(0),
    }
}

/// The rows of a rule that reads complete relations.
pub(crate) fn derived(rule: &Rule, tables: &Tables<'_>) -> Result<Run, ExecError> {
    let plan = plan_rule(rule, tables);
    let pipeline = Pipeline::new(&plan, None, tables)?;
    let mut columns = vec![Vec::new(); rule.head_terms.len()];
    let mut rows = 0;
    pipeline.run(0..pipeline.source_rows(), &mut |solutions| {
        tables.budget.charge(solutions.len * columns.len() * size_of::<Code>())?;
        for (column, codes) in columns.iter_mut().zip(head_columns(&plan, &pipeline, solutions)?) {
            column.extend_from_slice(&codes);
        }
        rows += solutions.len;
        check_rows(rows)?;
        Ok(())
    })?;
    Ok(Run::new(columns, rows))
}

/// The codes of a column.
pub(crate) fn codes<'r>(runs: impl Iterator<Item = &'r Run>, column: usize) -> Vec<Code> {
    let mut codes = Vec::new();
    for run in runs {
        match run.live() {
            None => codes.extend_from_slice(run.column(column)),
            Some(live) => live.ranges().for_each(|rows| codes.extend_from_slice(&run.column(column)[rows])),
        }
    }
    codes
}

/// The same, each once, in ascending order.
pub(crate) fn distinct_codes<'r>(runs: impl Iterator<Item = &'r Run>, column: usize) -> Vec<Code> {
    let mut codes = codes(runs, column);
    codes.sort_unstable();
    codes.dedup();
    codes
}
