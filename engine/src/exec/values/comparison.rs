//! Comparisons over whole columns of bindings.

use std::borrow::Cow;

use crate::analysis::program::{Expression, Test};
use crate::data::{Code, INLINE_END, Number, Value, equality};
use crate::exec::error::ExecError;
use crate::exec::values::batch::Bindings;
use crate::exec::values::expression::{Column, Evaluator, inline_ints};
use crate::exec::values::numbers::{Numbers, Side};
use crate::syntax::ast::Comparison;

impl Evaluator<'_> {
    /// For which rows a comparison holds.
    pub(crate) fn compare(
        &self,
        test: Test,
        left: &Expression,
        right: &Expression,
        bindings: &Bindings,
    ) -> Result<Vec<bool>, ExecError> {
        if let Test::Not(comparison) = test {
            let found = self.compare(Test::ByValue(comparison), left, right, bindings)?;
            return Ok(found.into_iter().map(|holds| !holds).collect());
        }
        let comparison = test.comparison();
        if matches!(test, Test::ByValue(_)) && (is_null(left) || is_null(right)) {
            return Ok(vec![comparison == Comparison::NotEqual; bindings.len]);
        }
        let by_identity = match test {
            Test::Same | Test::Different => true,
            Test::ByValue(Comparison::Equal | Comparison::NotEqual) => {
                is_only_itself(left) || is_only_itself(right)
            }
            Test::ByValue(_) | Test::Not(_) => false,
        };
        let left = self.evaluate(left, bindings)?;
        let right = self.evaluate(right, bindings)?;
        let rows = bindings.len;
        if by_identity {
            let (left, right) = (self.to_codes(left, rows)?, self.to_codes(right, rows)?);
            let wanted = comparison == Comparison::Equal;
            return Ok(left.iter().zip(right.iter()).map(|(a, b)| (a == b) == wanted).collect());
        }
        if let (Some(a), Some(b)) = (small_ints(&left), small_ints(&right)) {
            return Ok(compare_all(comparison, &a, &b, rows));
        }
        // What is compared with mostly stands on the right: where it is no integer, the left side is not looked at.
        if let Some(b) = self.ints(&right)
            && let Some(a) = self.ints(&left)
        {
            return Ok(compare_all(comparison, &a, &b, rows));
        }
        if let (Some(a), Some(b)) = (self.floats(&left), self.floats(&right)) {
            return Ok(compare_all(comparison, &a, &b, rows));
        }
        let holds_at = |row| {
            let (a, b) = (self.at(&left, row), self.at(&right, row));
            match comparison {
                Comparison::Equal => equality::is_equal(a, b),
                Comparison::NotEqual => !equality::is_equal(a, b),
                Comparison::Less
                | Comparison::LessOrEqual
                | Comparison::Greater
                | Comparison::GreaterOrEqual => {
                    equality::order(a, b).is_some_and(|order| comparison.holds(order))
                }
            }
        };
        Ok((0..rows).map(holds_at).collect())
    }

    /// A column whose values are all integers.
    fn ints<'c>(&self, column: &'c Column<'_>) -> Option<Side<'c, i64>> {
        match column {
            Column::Constant(code) => match self.codec.number(*code)? {
                Number::Int(n) => Some(Side::One(n)),
                Number::Float(_) => None,
            },
            Column::Codes(codes) => Some(Side::Each(Cow::Owned(inline_ints(codes)?))),
            Column::Numbers(Numbers::Ints(ints)) => Some(Side::Each(Cow::Borrowed(ints))),
            Column::Numbers(Numbers::Floats(_) | Numbers::Mixed(_)) => None,
        }
    }

    /// A column whose values are all numbers that floats hold exactly.
    fn floats<'c>(&self, column: &'c Column<'_>) -> Option<Side<'c, f64>> {
        Some(match column {
            Column::Constant(code) => Side::One(self.codec.number(*code)?.exact()?),
            Column::Codes(codes) => {
                Side::Each(codes.iter().map(|code| self.codec.number(*code)?.exact()).collect::<Option<_>>()?)
            }
            Column::Numbers(Numbers::Floats(floats)) => Side::Each(Cow::Borrowed(floats)),
            Column::Numbers(Numbers::Ints(ints)) => {
                Side::Each(ints.iter().map(|n| Number::Int(*n).exact()).collect::<Option<_>>()?)
            }
            Column::Numbers(Numbers::Mixed(_)) => return None,
        })
    }
}

fn compare_all<T: Copy + PartialOrd>(
    operator: Comparison,
    left: &Side<'_, T>,
    right: &Side<'_, T>,
    rows: usize,
) -> Vec<bool> {
    match operator {
        Comparison::Equal => left.with(right, rows, |a, b| a == b),
        Comparison::NotEqual => left.with(right, rows, |a, b| a != b),
        Comparison::Less => left.with(right, rows, |a, b| a < b),
        Comparison::LessOrEqual => left.with(right, rows, |a, b| a <= b),
        Comparison::Greater => left.with(right, rows, |a, b| a > b),
        Comparison::GreaterOrEqual => left.with(right, rows, |a, b| a >= b),
    }
}

/// Codes of small integers order as they do.
fn small_ints<'c>(column: &'c Column<'_>) -> Option<Side<'c, Code>> {
    let is_small = |code: &Code| *code < INLINE_END;
    match column {
        Column::Constant(code) => is_small(code).then_some(Side::One(*code)),
        Column::Codes(codes) => codes.iter().all(is_small).then_some(Side::Each(Cow::Borrowed(codes))),
        Column::Numbers(_) => None,
    }
}

/// Whether this is the literal `null`, which equals nothing in a comparison.
fn is_null(expression: &Expression) -> bool {
    matches!(expression, Expression::Constant(Value::Null))
}

/// Whether this is a constant that equals, by value, nothing but itself.
fn is_only_itself(expression: &Expression) -> bool {
    match expression {
        Expression::Constant(value) => match value {
            Value::Bool(_) | Value::Text(_) | Value::Vector(_) | Value::VectorInt8(_) | Value::List(_) => {
                true
            }
            Value::Null | Value::Int(_) | Value::Float(_) | Value::Timestamp(_) => false,
        },
        Expression::Variable(_) | Expression::Arithmetic { .. } | Expression::Call { .. } => false,
    }
}
