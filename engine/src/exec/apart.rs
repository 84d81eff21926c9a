//! A rule evaluated in parts, apart for each part of a variable's values: no row and no group of one part can be found in
//! another, so each part has duplicates or groups of its own, few enough for the cache, and threads share nothing.

use super::aggregate::Grouping;
use super::derive::{LANE_ROWS, head_columns};
use super::distinct::Distinct;
use super::error::ExecError;
use super::pipeline::Pipeline;
use super::stratum::{Planned, View};
use crate::analysis::program::{Expression, HeadTerm};
use crate::data::{Code, RelationId, Rows, parallel};
use crate::plan::{RulePlan, Source, Statistics, expected_found, expected_rows};

/// Bindings that a part is expected to have,
const PART_BINDINGS: usize = 1 << 15;
/// and the fewest source rows.
const PART_ROWS: usize = 256;
/// A part with more source rows than these has less than a quarter of all of them: threads would wait for it.
const LARGE_PART: usize = 1 << 12;
/// With more source rows for each row that is found, to put them in order would take longer than it saves.
const SOURCE_ROWS: usize = 8;

/// How work is divided.
struct Division {
    /// What the source reads.
    relation: RelationId,
    /// By the values of this column of it, which are in this column of the head.
    source: usize,
    head: usize,
    /// So many source rows a part.
    part_rows: usize,
    /// Whether what is found are groups.
    aggregates: bool,
}

impl View<'_> {
    /// Runs the only plan of a relation; answers its rows, each once. Nothing if the work is too small to be divided, or
    /// does not fall apart.
    pub(super) fn derive_apart(
        &self,
        Planned { plan, meter }: &Planned,
    ) -> Result<Option<Vec<Rows>>, ExecError> {
        let Some(division) = self.division(plan) else { return Ok(None) };
        self.budget.check()?;
        let rows = self.rows(division.relation);
        self.budget.expect_rows(|| rows.max(expected_rows(plan, self)))?;
        let (source, part_rows) = (division.source, division.part_rows);
        let (pipeline, parts) = Pipeline::in_parts(plan, meter.as_ref(), self, source, part_rows)?;
        let pipeline = pipeline.keeping_numbers();
        if parts.iter().any(|part| part.len() > LARGE_PART.max(rows / 4)) {
            return Ok(None);
        }
        let arity = plan.head_terms.len();
        let grouping = division.aggregates.then(|| Grouping::new(&plan.head_terms));
        let found = parallel::map(parts, |part| {
            if let Some(grouping) = &grouping {
                let groups = self.group(grouping, &pipeline, part)?;
                return grouping.finish(groups, self.codec, &plan.text, &self.remarks, self.budget);
            }
            let mut distinct = Distinct::new(arity, division.head);
            pipeline.run(part, &mut |solutions| {
                let columns = head_columns(plan, &pipeline, solutions)?;
                let columns: Vec<&[Code]> = columns.iter().map(AsRef::as_ref).collect();
                distinct.add(&columns, solutions.len, self.budget)
            })?;
            Ok::<_, ExecError>(distinct.finish(self.budget))
        });
        let found: Vec<Rows> = found.into_iter().collect::<Result<_, _>>()?;
        pipeline.found(found.iter().map(|rows| rows.len).sum());
        Ok(Some(found))
    }

    /// How the work of a plan is divided, if a set of all rows that it finds would not fit the cache.
    fn division(&self, plan: &RulePlan) -> Option<Division> {
        let Source::Scan(scan) = &plan.source else { return None };
        if plan.ranking.is_some() {
            return None;
        }
        let aggregates = plan.head_terms.iter().any(|term| matches!(term, HeadTerm::Aggregate { .. }));
        let found = expected_found(plan, self);
        let rows = self.rows(scan.access.relation);
        if found < self.thresholds.part_rows || found.saturating_mul(SOURCE_ROWS) < rows {
            return None;
        }
        let kept = plan.head_terms.iter().enumerate().filter_map(|(head, term)| match term {
            HeadTerm::Expression(Expression::Variable(kept)) => {
                scan.outputs.iter().find(|(_, variable)| variable == kept).map(|(source, _)| (*source, head))
            }
            HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => None,
        });
        let distinct = |(source, _): &(usize, usize)| self.distinct(scan.access.relation, *source);
        let (source, head) = kept.max_by_key(distinct)?;
        let part_rows = rows.saturating_mul(PART_BINDINGS) / expected_rows(plan, self).max(1);
        let (relation, part_rows) = (scan.access.relation, part_rows.clamp(PART_ROWS, LANE_ROWS));
        Some(Division { relation, source, head, part_rows, aggregates })
    }
}
