//! A rule evaluated in parts, apart for each part of a variable's values, as its plan says. No row and no group of one part
//! can be found in another, so each part has duplicates or groups of its own, few enough for the cache, and threads share
//! nothing.

use super::aggregate::Grouping;
use super::derive::{group, head_columns};
use super::distinct::Distinct;
use crate::data::{Code, Rows, parallel};
use crate::exec::error::ExecError;
use crate::exec::operators::pipeline::Pipeline;
use crate::exec::profile::Planned;
use crate::exec::tables::Tables;
use crate::plan::{Partitioning, Statistics, expected_rows};

/// A part with more source rows than these has less than a quarter of all of them: threads would wait for it.
const LARGE_PART: usize = 1 << 12;
/// Runs the only plan of a relation; answers its rows, each once. `None` if the values are so uneven that work does not fall
/// apart.
pub(crate) fn derive_in_parts(
    tables: &Tables<'_>,
    Planned { plan, meter, .. }: &Planned,
    partitioning: &Partitioning,
) -> Result<Option<Vec<Rows>>, ExecError> {
    tables.budget.check()?;
    let rows = tables.rows(partitioning.relation);
    tables.budget.expect_rows(|| rows.max(expected_rows(plan, tables)))?;
    let (source, part_rows) = (partitioning.source, partitioning.part_rows);
    let (pipeline, parts) = Pipeline::in_parts(plan, meter.as_ref(), tables, source, part_rows)?;
    let pipeline = pipeline.keeping_numbers();
    if parts.iter().any(|part| part.len() > LARGE_PART.max(rows / 4)) {
        return Ok(None);
    }
    let arity = plan.head_terms.len();
    let grouping = partitioning.aggregates.then(|| Grouping::new(&plan.head_terms));
    let found = parallel::map(parts, |part| {
        if let Some(grouping) = &grouping {
            let groups = group(tables, grouping, &pipeline, part)?;
            return grouping.finish(groups, tables.codec, &plan.text, &tables.remarks, tables.budget);
        }
        let mut distinct = Distinct::new(arity, partitioning.head);
        pipeline.run(part, &mut |solutions| {
            let columns = head_columns(plan, &pipeline, solutions)?;
            let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
            distinct.add(&columns, solutions.len, tables.budget)
        })?;
        Ok::<_, ExecError>(distinct.finish(tables.budget))
    });
    let found: Vec<Rows> = found.into_iter().collect::<Result<_, _>>()?;
    pipeline.found(found.iter().map(|rows| rows.len).sum());
    Ok(Some(found))
}
