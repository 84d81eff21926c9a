//! `Conditions`: what is asked of single rows, as codes.

use crate::analysis::program::Test;
use crate::data::{Code, Codec, EMPTY, Value, ValueRef, equality};
use crate::plan::{Condition, Operand};
use crate::syntax::ast::Comparison;

/// Conditions that rows are to fulfil.
#[derive(Debug)]
pub(super) struct Conditions {
    codec: Codec,
    checks: Vec<Check>,
}

#[derive(Debug)]
enum Check {
    /// A column has this code.
    Is(usize, Code),
    /// What this says.
    Holds(Condition),
}

impl Conditions {
    pub(super) fn of(conditions: &[Condition], codec: &Codec) -> Conditions {
        let check = |condition: &Condition| match condition {
            Condition {
                test: Test::Same,
                left: Operand::Column(column),
                right: Operand::Constant(value),
            } => {
                // What the graph does not know no row has.
                Check::Is(*column, codec.shared().find_all([value.as_ref()].into_iter())[0])
            }
            condition => Check::Holds(condition.clone()),
        };
        Conditions { codec: codec.clone(), checks: conditions.iter().map(check).collect() }
    }

    /// Whether a row fulfils them that has these codes in its columns.
    #[inline]
    pub(super) fn hold(&self, code: impl Fn(usize) -> Code) -> bool {
        self.checks.iter().all(|check| match check {
            Check::Is(column, wanted) => code(*column) == *wanted && *wanted != EMPTY,
            Check::Holds(condition) => self.holds(condition, &code),
        })
    }

    fn holds(&self, Condition { test, left, right }: &Condition, code: &impl Fn(usize) -> Code) -> bool {
        let is_null = |side: &Operand| matches!(side, Operand::Constant(Value::Null));
        let has_null = is_null(left) || is_null(right);
        let [left, right] = [left, right].map(|side| match side {
            Operand::Column(column) => self.codec.value(code(*column)),
            Operand::Constant(value) => value.as_ref(),
        });
        match test {
            Test::Same => left == right,
            Test::Different => left != right,
            Test::ByValue(comparison) => compare(*comparison, left, right, has_null),
            Test::Not(comparison) => !compare(*comparison, left, right, has_null),
        }
    }
}

/// Compares by value. Only the literal `null` equals nothing.
fn compare(comparison: Comparison, left: ValueRef<'_>, right: ValueRef<'_>, has_null: bool) -> bool {
    match comparison {
        Comparison::Equal => !has_null && equality::is_equal(left, right),
        Comparison::NotEqual => has_null || !equality::is_equal(left, right),
        Comparison::Less | Comparison::LessOrEqual | Comparison::Greater | Comparison::GreaterOrEqual => {
            equality::order(left, right).is_some_and(|order| comparison.holds(order))
        }
    }
}
