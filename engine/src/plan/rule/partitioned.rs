//! When a rule that alone makes a relation is evaluated in parts, apart for each part of a variable's values.

use super::estimate::{expected_found, expected_rows};
use super::operators::{RulePlan, Source};
use crate::analysis::program::{Expression, HeadTerm};
use crate::data::RelationId;
use crate::plan::cost::{LANE_ROWS, Thresholds};
use crate::plan::statistics::Statistics;

/// Bindings that a part is expected to have.
const PART_BINDINGS: usize = 1 << 15;
/// The fewest source rows of a part.
const PART_ROWS: usize = 256;
/// With more source rows for each row that is found, to put them in order would take longer than it saves.
const SOURCE_ROWS: usize = 8;

/// How work is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Partitioning {
    /// What the source reads.
    pub relation: RelationId,
    /// The column of it by whose values work is divided.
    pub source: usize,
    /// The column of the head that has these values.
    pub head: usize,
    /// So many source rows a part.
    pub part_rows: usize,
    /// Whether what is found are groups.
    pub aggregates: bool,
}

/// How the work of a plan is divided, if a set of all rows that it finds would not fit the cache.
pub(crate) fn partitioning(
    plan: &RulePlan,
    statistics: &dyn Statistics,
    thresholds: &Thresholds,
) -> Option<Partitioning> {
    let Source::Scan(scan) = &plan.source else { return None };
    if plan.ranking.is_some() {
        return None;
    }
    let relation = scan.access.relation;
    let found = expected_found(plan, statistics);
    let rows = statistics.rows(relation);
    if found < thresholds.part_rows || found.saturating_mul(SOURCE_ROWS) < rows {
        return None;
    }
    let kept = plan.head_terms.iter().enumerate().filter_map(|(head, term)| match term {
        HeadTerm::Expression(Expression::Variable(kept)) => {
            scan.outputs.iter().find(|(_, variable)| variable == kept).map(|(source, _)| (*source, head))
        }
        HeadTerm::Expression(_) | HeadTerm::Aggregate { .. } => None,
    });
    let (source, head) = kept.max_by_key(|(source, _)| statistics.distinct(relation, *source))?;
    let part_rows = rows.saturating_mul(PART_BINDINGS) / expected_rows(plan, statistics).max(1);
    let part_rows = part_rows.clamp(PART_ROWS, LANE_ROWS);
    let aggregates = plan.head_terms.iter().any(|term| matches!(term, HeadTerm::Aggregate { .. }));
    Some(Partitioning { relation, source, head, part_rows, aggregates })
}
