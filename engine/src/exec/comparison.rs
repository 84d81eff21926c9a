//! Comparisons over whole columns of bindings.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::batch::Bindings;
use super::error::ExecError;
use super::expression::{Column, Evaluator};
use super::numbers::Numbers;
use crate::analysis::program::Expression;
use crate::data::{Code, INLINE_END, Number, Value, ValueRef, compare_numbers, float_of};
use crate::syntax::ast::Comparison;

/// Floats and numeric literals that are this close count as equal.
const TOLERANCE: f64 = 1e-10;

impl Evaluator<'_> {
    /// For which rows a comparison holds.
    pub(super) fn compare(
        &self,
        operator: Comparison,
        left: &Expression,
        right: &Expression,
        bindings: &Bindings,
    ) -> Result<Vec<bool>, ExecError> {
        let typed = is_typed_equality(left, right);
        let tolerant = is_number(left) || is_number(right);
        let left = self.evaluate(left, bindings)?;
        let right = self.evaluate(right, bindings)?;
        let rows = bindings.len;
        let is_equality = matches!(operator, Comparison::Equal | Comparison::NotEqual);
        let wanted = operator == Comparison::Equal;
        if is_equality && typed {
            let (left, right) = (self.to_codes(left, rows)?, self.to_codes(right, rows)?);
            return Ok(left.iter().zip(right.iter()).map(|(a, b)| (a == b) == wanted).collect());
        }
        if let (Some(a), Some(b)) = (small_ints(&left), small_ints(&right)) {
            return Ok(compare_all(operator, &a, &b, rows));
        }
        if let (Some(a), Some(b)) = (self.floats(&left), self.floats(&right)) {
            return Ok(match is_equality && tolerant {
                true => a.with(&b, rows, |a, b| ((a - b).abs() <= TOLERANCE) == wanted),
                false => compare_all(operator, &a, &b, rows),
            });
        }
        let holds_at = |row| match is_equality {
            true => self.equal(&left, &right, row, tolerant) == wanted,
            false => self.order(&left, &right, row).is_some_and(|order| operator.holds(order)),
        };
        Ok((0..rows).map(holds_at).collect())
    }

    /// A column whose values are all numbers that floats hold exactly.
    fn floats<'c>(&self, column: &'c Column<'_>) -> Option<Side<'c, f64>> {
        Some(match column {
            Column::Constant(code) => Side::One(exact(self.codec.number(*code))?),
            Column::Codes(codes) => {
                Side::Each(codes.iter().map(|code| exact(self.codec.number(*code))).collect::<Option<_>>()?)
            }
            Column::Numbers(Numbers::Floats(floats)) => Side::Each(Cow::Borrowed(floats)),
            Column::Numbers(Numbers::Ints(ints)) => {
                Side::Each(ints.iter().map(|n| exact(Some(Number::Int(*n)))).collect::<Option<_>>()?)
            }
            Column::Numbers(Numbers::Mixed(_)) => return None,
        })
    }

    /// Numbers are equal by value across kinds; all else is equal if it is the same value. Null equals nothing here.
    fn equal(&self, left: &Column<'_>, right: &Column<'_>, row: usize, tolerant: bool) -> bool {
        match (self.number_at(left, row), self.number_at(right, row)) {
            (Some(Number::Int(a)), Some(Number::Int(b))) => a == b,
            (Some(a), Some(b)) if tolerant => (float_of(a) - float_of(b)).abs() <= TOLERANCE,
            (Some(a), Some(b)) => compare_numbers(a, b).is_eq(),
            (None, None) => {
                let (a, b) = (self.at(left, row), self.at(right, row));
                a == b && !matches!(a, ValueRef::Null)
            }
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// The order of two values that can be ordered by `<`: numbers by value, texts by code point, booleans.
    fn order(&self, left: &Column<'_>, right: &Column<'_>, row: usize) -> Option<Ordering> {
        match (self.number_at(left, row), self.number_at(right, row)) {
            (Some(a), Some(b)) => Some(compare_numbers(a, b)),
            (None, None) => match (self.at(left, row), self.at(right, row)) {
                (ValueRef::Text(a), ValueRef::Text(b)) => Some(a.cmp(b)),
                (ValueRef::Bool(a), ValueRef::Bool(b)) => Some(a.cmp(&b)),
                _ => None,
            },
            (Some(_), None) | (None, Some(_)) => None,
        }
    }
}

/// One side of a comparison, of one type.
enum Side<'c, T: Copy> {
    One(T),
    Each(Cow<'c, [T]>),
}

impl<T: Copy> Side<'_, T> {
    /// For which rows something holds of both sides.
    fn with(&self, other: &Self, rows: usize, holds: impl Fn(T, T) -> bool) -> Vec<bool> {
        match (self, other) {
            (Side::One(a), Side::One(b)) => vec![holds(*a, *b); rows],
            (Side::One(a), Side::Each(b)) => b.iter().map(|b| holds(*a, *b)).collect(),
            (Side::Each(a), Side::One(b)) => a.iter().map(|a| holds(*a, *b)).collect(),
            (Side::Each(a), Side::Each(b)) => a.iter().zip(b.iter()).map(|(a, b)| holds(*a, *b)).collect(),
        }
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

/// The float that is this number.
fn exact(number: Option<Number>) -> Option<f64> {
    const END: u64 = 1 << 53;
    match number? {
        Number::Float(x) => Some(x),
        Number::Int(n) => (n.unsigned_abs() <= END).then_some(n as f64),
    }
}

/// Variables, and constants that are neither numbers nor Null, are compared as joins compare: the same value of the
/// same type.
fn is_typed_equality(left: &Expression, right: &Expression) -> bool {
    let plain = |expression: &Expression| match expression {
        Expression::Variable(_) => true,
        Expression::Constant(Value::Null) => false,
        Expression::Constant(value) => value.as_ref().as_number().is_none(),
        Expression::Arithmetic { .. } | Expression::Call { .. } => false,
    };
    plain(left) && plain(right)
}

fn is_number(expression: &Expression) -> bool {
    matches!(expression, Expression::Constant(value) if value.as_ref().as_number().is_some())
}
