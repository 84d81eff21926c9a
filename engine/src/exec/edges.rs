//! Edges as runs, for the recursions that go along them.

use super::derive::head_columns;
use super::error::ExecError;
use super::growing::check_rows;
use super::pipeline::Pipeline;
use super::stratum::View;
use crate::analysis::program::Rule;
use crate::data::{Code, Run};
use crate::plan::{Access, EdgeSource, Version, plan_rule};

/// Runs with edges, and the columns in which these begin and end.
pub(super) fn edge_runs(source: &EdgeSource, view: &View<'_>) -> Result<(Vec<Run>, [usize; 2]), ExecError> {
    match source {
        EdgeSource::Relation { relation, from, to } => {
            Ok((view.runs(Access { relation: *relation, version: Version::All }), [*from, *to]))
        }
        EdgeSource::Rule(rule) => Ok((vec![derived(rule, view)?], [0, 1])),
    }
}

/// The rows of a rule that reads complete relations.
pub(super) fn derived(rule: &Rule, view: &View<'_>) -> Result<Run, ExecError> {
    let plan = plan_rule(rule, view);
    let pipeline = Pipeline::new(&plan, None, view)?;
    let mut columns = vec![Vec::new(); rule.head_terms.len()];
    let mut rows = 0;
    pipeline.run(0..pipeline.source_rows(), &mut |solutions| {
        view.budget.charge(solutions.len * columns.len() * size_of::<Code>())?;
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
pub(super) fn codes<'r>(runs: impl Iterator<Item = &'r Run>, column: usize) -> Vec<Code> {
    let mut codes = Vec::new();
    for run in runs {
        match run.live() {
            None => codes.extend_from_slice(run.column(column)),
            Some(live) => codes.extend(live.set_indices().map(|row| run.column(column)[row])),
        }
    }
    codes
}
