//! Comparisons with constants as a range of a column: where an index knows rows in the order of that column, only those
//! of the range are read. The comparisons stay where they are; they find nothing more to drop.

use std::ops::Bound;

use crate::analysis::program::{Expression, Test};
use crate::data::Value;
use crate::plan::rule::operators::{ColumnRange, Scan, Step};
use crate::plan::statistics::Statistics;
use crate::syntax::ast::Comparison;

/// The range that the steps leave of the first column for which there is one.
pub(crate) fn range_of(scan: &Scan, steps: &[Step], statistics: &dyn Statistics) -> Option<ColumnRange> {
    scan.outputs.iter().find_map(|(column, variable)| {
        let (mut from, mut to) = (Bound::Unbounded, Bound::Unbounded);
        for step in steps {
            let Step::Filter { operator, left, right, .. } = step else { continue };
            let Test::ByValue(operator) = operator else { continue };
            let (operator, value) = match (left, right) {
                (Expression::Variable(compared), Expression::Constant(value)) if compared == variable => {
                    (*operator, value)
                }
                (Expression::Constant(value), Expression::Variable(compared)) if compared == variable => {
                    (operator.turned(), value)
                }
                _ => continue,
            };
            if !is_ordered(value) {
                continue;
            }
            match operator {
                Comparison::Greater => from = Bound::Excluded(value.clone()),
                Comparison::GreaterOrEqual => from = Bound::Included(value.clone()),
                Comparison::Less => to = Bound::Excluded(value.clone()),
                Comparison::LessOrEqual => to = Bound::Included(value.clone()),
                Comparison::Equal | Comparison::NotEqual => {}
            }
        }
        let is_range = !matches!((&from, &to), (Bound::Unbounded, Bound::Unbounded));
        (is_range && has_sorted_index(scan, *column, statistics)).then_some(ColumnRange {
            column: *column,
            from,
            to,
        })
    })
}

fn has_sorted_index(scan: &Scan, column: usize, statistics: &dyn Statistics) -> bool {
    statistics.layout(scan.access.relation).is_some_and(|layout| layout.has_sorted_index(column))
}

/// Whether `<` compares anything with it.
fn is_ordered(value: &Value) -> bool {
    match value {
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Timestamp(_) | Value::Text(_) => true,
        Value::Null | Value::Vector(_) | Value::VectorInt8(_) | Value::List(_) => false,
    }
}
