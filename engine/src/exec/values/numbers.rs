//! `Numbers`: a column of numbers that were computed, and have no codes yet.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::data::{Code, Codec, DictionaryFull, NULL, Number, ValueRef, float_of, inline_int};
use crate::syntax::ast::Arithmetic;

/// Computed numbers, a row each.
#[derive(Debug, Clone)]
pub(crate) enum Numbers {
    Ints(Vec<i64>),
    /// All of them finite.
    Floats(Vec<f64>),
    /// `None` is Null.
    Mixed(Vec<Option<Number>>),
}

impl Numbers {
    /// Integers or floats if there is nothing else.
    pub(crate) fn narrowest(mixed: Vec<Option<Number>>) -> Numbers {
        let int = |number: &Option<Number>| match number {
            Some(Number::Int(n)) => Some(*n),
            Some(Number::Float(_)) | None => None,
        };
        let float = |number: &Option<Number>| match number {
            Some(Number::Float(x)) => Some(*x),
            Some(Number::Int(_)) | None => None,
        };
        if let Some(ints) = mixed.iter().map(int).collect() {
            return Numbers::Ints(ints);
        }
        match mixed.iter().map(float).collect() {
            Some(floats) => Numbers::Floats(floats),
            None => Numbers::Mixed(mixed),
        }
    }

    /// What is not finite is Null.
    pub(crate) fn finite(floats: Vec<f64>) -> Numbers {
        match floats.iter().fold(true, |all, x| all & x.is_finite()) {
            true => Numbers::Floats(floats),
            false => Numbers::Mixed(floats.into_iter().map(Number::finite).collect()),
        }
    }

    pub(crate) fn at(&self, row: usize) -> Option<Number> {
        match self {
            Numbers::Ints(ints) => Some(Number::Int(ints[row])),
            Numbers::Floats(floats) => Some(Number::Float(floats[row])),
            Numbers::Mixed(mixed) => mixed[row],
        }
    }

    /// Their codes; new values go to the query's own dictionary.
    pub(crate) fn codes(&self, codec: &Codec) -> Result<Vec<Code>, DictionaryFull> {
        let int = |n: &i64| match inline_int(*n) {
            Some(code) => Ok(code),
            None => codec.encode(ValueRef::Int(*n)),
        };
        let float = |x: &f64| codec.encode(ValueRef::Float(*x));
        match self {
            Numbers::Ints(ints) => ints.iter().map(int).collect(),
            Numbers::Floats(floats) => floats.iter().map(float).collect(),
            Numbers::Mixed(mixed) => mixed
                .iter()
                .map(|number| match number {
                    None => Ok(NULL),
                    Some(Number::Int(n)) => int(n),
                    Some(Number::Float(x)) => float(x),
                })
                .collect(),
        }
    }

    /// Those of these rows.
    pub(crate) fn gather(&self, positions: &[u32]) -> Numbers {
        let rows = positions.iter().map(|position| *position as usize);
        match self {
            Numbers::Ints(ints) => Numbers::Ints(rows.map(|row| ints[row]).collect()),
            Numbers::Floats(floats) => Numbers::Floats(rows.map(|row| floats[row]).collect()),
            Numbers::Mixed(mixed) => Numbers::Mixed(rows.map(|row| mixed[row]).collect()),
        }
    }

    fn widen(self) -> Vec<Option<Number>> {
        match self {
            Numbers::Ints(ints) => ints.into_iter().map(|n| Some(Number::Int(n))).collect(),
            Numbers::Floats(floats) => floats.into_iter().map(|x| Some(Number::Float(x))).collect(),
            Numbers::Mixed(mixed) => mixed,
        }
    }
}

/// Numbers of one type: the same in every row, or a row each.
pub(crate) enum Side<'c, T: Copy> {
    One(T),
    Each(Cow<'c, [T]>),
}

impl<T: Copy> Side<'_, T> {
    /// What is found of both sides in each of so many rows.
    #[inline]
    pub(crate) fn with<R: Clone>(
        &self,
        other: &Side<'_, T>,
        rows: usize,
        mut find: impl FnMut(T, T) -> R,
    ) -> Vec<R> {
        match (self, other) {
            (Side::One(a), Side::One(b)) => vec![find(*a, *b); rows],
            (Side::One(a), Side::Each(b)) => b.iter().map(|b| find(*a, *b)).collect(),
            (Side::Each(a), Side::One(b)) => a.iter().map(|a| find(*a, *b)).collect(),
            (Side::Each(a), Side::Each(b)) => a.iter().zip(b.iter()).map(|(a, b)| find(*a, *b)).collect(),
        }
    }

    fn all(&self, holds: impl Fn(T) -> bool) -> bool {
        match self {
            Side::One(one) => holds(*one),
            // Not the first that does not hold, but all of them: a loop without a way out is a few instructions a row.
            Side::Each(each) => each.iter().fold(true, |all, one| all & holds(*one)),
        }
    }

    fn each(self, rows: usize) -> Vec<T> {
        match self {
            Side::One(one) => vec![one; rows],
            Side::Each(each) => each.into_owned(),
        }
    }
}

/// A side of an arithmetic operation.
pub(crate) enum Operand {
    Ints(Side<'static, i64>),
    Floats(Side<'static, f64>),
    /// `None` is Null, or no number.
    Mixed(Vec<Option<Number>>),
}

impl Operand {
    /// The same in every row.
    pub(crate) fn constant(number: Option<Number>, rows: usize) -> Operand {
        match number {
            Some(Number::Int(n)) => Operand::Ints(Side::One(n)),
            Some(Number::Float(x)) => Operand::Floats(Side::One(x)),
            None => Operand::Mixed(vec![None; rows]),
        }
    }

    /// Row by row. Integers stay integers but for `/`; `saturated` is set where one was cut off at the end of their range.
    pub(crate) fn arithmetic(
        self,
        operator: Arithmetic,
        right: Operand,
        rows: usize,
        saturated: &AtomicBool,
    ) -> Numbers {
        match (self, right) {
            (Operand::Ints(a), Operand::Ints(b)) => ints(operator, &a, &b, rows, saturated),
            (Operand::Floats(a), Operand::Floats(b)) => floats(operator, &a, &b, rows),
            (Operand::Ints(a), Operand::Floats(b)) => floats(operator, &as_floats(&a), &b, rows),
            (Operand::Floats(a), Operand::Ints(b)) => floats(operator, &a, &as_floats(&b), rows),
            (left, right) => {
                let (left, right) = (left.widen(rows), right.widen(rows));
                let one = |(a, b): (&Option<Number>, &Option<Number>)| one(operator, (*a)?, (*b)?, saturated);
                Numbers::narrowest(left.iter().zip(&right).map(one).collect())
            }
        }
    }

    fn widen(self, rows: usize) -> Vec<Option<Number>> {
        match self {
            Operand::Ints(ints) => Numbers::Ints(ints.each(rows)).widen(),
            Operand::Floats(floats) => Numbers::Floats(floats.each(rows)).widen(),
            Operand::Mixed(mixed) => mixed,
        }
    }
}

impl From<Numbers> for Operand {
    fn from(numbers: Numbers) -> Operand {
        match numbers {
            Numbers::Ints(ints) => Operand::Ints(Side::Each(Cow::Owned(ints))),
            Numbers::Floats(floats) => Operand::Floats(Side::Each(Cow::Owned(floats))),
            Numbers::Mixed(mixed) => Operand::Mixed(mixed),
        }
    }
}

fn as_floats(ints: &Side<'_, i64>) -> Side<'static, f64> {
    match ints {
        Side::One(n) => Side::One(*n as f64),
        Side::Each(ints) => Side::Each(ints.iter().map(|n| *n as f64).collect()),
    }
}

fn ints(
    operator: Arithmetic,
    a: &Side<'_, i64>,
    b: &Side<'_, i64>,
    rows: usize,
    saturated: &AtomicBool,
) -> Numbers {
    Numbers::Ints(match operator {
        Arithmetic::Add => {
            let wrapping = |a: i64, b: i64| {
                let sum = a.wrapping_add(b);
                (sum, (a ^ sum) & (b ^ sum))
            };
            unless_cut(a, b, rows, wrapping, |a, b| sum(a, b, saturated))
        }
        Arithmetic::Subtract => {
            let wrapping = |a: i64, b: i64| {
                let difference = a.wrapping_sub(b);
                (difference, (a ^ b) & (a ^ difference))
            };
            unless_cut(a, b, rows, wrapping, |a, b| difference(a, b, saturated))
        }
        Arithmetic::Multiply => {
            let is_small = |n: i64| i32::try_from(n).is_ok();
            match a.all(is_small) && b.all(is_small) {
                true => a.with(b, rows, i64::wrapping_mul),
                false => a.with(b, rows, |a, b| product(a, b, saturated)),
            }
        }
        Arithmetic::Divide => return floats(operator, &as_floats(a), &as_floats(b), rows),
        Arithmetic::Remainder => {
            return Numbers::narrowest(a.with(b, rows, |a, b| remainder(a, b).map(Number::Int)));
        }
    })
}

/// Most integers are far from the ends of their range: results are computed as if all were. Each comes with a number that is
/// negative where it left the range; if one did, all are computed again.
fn unless_cut(
    a: &Side<'_, i64>,
    b: &Side<'_, i64>,
    rows: usize,
    wrapping: impl Fn(i64, i64) -> (i64, i64),
    exact: impl FnMut(i64, i64) -> i64,
) -> Vec<i64> {
    let mut left = 0;
    let found = a.with(b, rows, |a, b| {
        let (result, has_left) = wrapping(a, b);
        left |= has_left;
        result
    });
    if left < 0 { a.with(b, rows, exact) } else { found }
}

fn floats(operator: Arithmetic, a: &Side<'_, f64>, b: &Side<'_, f64>, rows: usize) -> Numbers {
    Numbers::finite(match operator {
        Arithmetic::Add => a.with(b, rows, |a, b| a + b),
        Arithmetic::Subtract => a.with(b, rows, |a, b| a - b),
        Arithmetic::Multiply => a.with(b, rows, |a, b| a * b),
        Arithmetic::Divide => a.with(b, rows, |a, b| a / b),
        Arithmetic::Remainder => a.with(b, rows, |a, b| a % b),
    })
}

/// One operation.
fn one(operator: Arithmetic, a: Number, b: Number, saturated: &AtomicBool) -> Option<Number> {
    if let (Number::Int(a), Number::Int(b)) = (a, b) {
        match operator {
            Arithmetic::Add => return Some(Number::Int(sum(a, b, saturated))),
            Arithmetic::Subtract => return Some(Number::Int(difference(a, b, saturated))),
            Arithmetic::Multiply => return Some(Number::Int(product(a, b, saturated))),
            Arithmetic::Remainder => return remainder(a, b).map(Number::Int),
            Arithmetic::Divide => {}
        }
    }
    Number::finite(float(operator, float_of(a), float_of(b)))
}

#[inline]
fn float(operator: Arithmetic, a: f64, b: f64) -> f64 {
    match operator {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => a % b,
    }
}

fn sum(a: i64, b: i64, saturated: &AtomicBool) -> i64 {
    a.checked_add(b).unwrap_or_else(|| cut(a.saturating_add(b), saturated))
}

fn difference(a: i64, b: i64, saturated: &AtomicBool) -> i64 {
    a.checked_sub(b).unwrap_or_else(|| cut(a.saturating_sub(b), saturated))
}

fn product(a: i64, b: i64, saturated: &AtomicBool) -> i64 {
    a.checked_mul(b).unwrap_or_else(|| cut(a.saturating_mul(b), saturated))
}

fn remainder(a: i64, b: i64) -> Option<i64> {
    (b != 0).then(|| a.wrapping_rem(b))
}

fn cut(end: i64, saturated: &AtomicBool) -> i64 {
    saturated.store(true, Ordering::Relaxed);
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATORS: [Arithmetic; 5] = [
        Arithmetic::Add,
        Arithmetic::Subtract,
        Arithmetic::Multiply,
        Arithmetic::Divide,
        Arithmetic::Remainder,
    ];

    /// Columns give what each row alone gives, and tell whether something was cut off, wherever a side is a constant.
    #[test]
    fn columns_are_computed_as_their_rows_are() {
        let ends = [i64::MIN, i64::MIN + 1, -(1 << 32), -3, -1, 0, 1, 2, 7, 1 << 31, 1 << 32, i64::MAX];
        let small = [-(1 << 31), -9, 0, 3, (1 << 31) - 1];
        for (operator, ints) in OPERATORS.into_iter().flat_map(|o| [(o, &ends[..]), (o, &small[..])]) {
            let pairs: Vec<(i64, i64)> =
                ints.iter().flat_map(|a| ints.iter().map(move |b| (*a, *b))).collect();
            let (left, right): (Vec<i64>, Vec<i64>) = pairs.iter().copied().unzip();
            assert_rows(operator, &Numbers::Ints(left), &Numbers::Ints(right));
            for n in ints {
                assert_with_constant(operator, &Numbers::Ints(ints.to_vec()), Number::Int(*n));
                assert_with_constant(operator, &Numbers::Floats(vec![-1.5, 0.0, 1e300]), Number::Int(*n));
            }
            assert_with_constant(operator, &Numbers::Ints(ints.to_vec()), Number::Float(0.5));
        }
    }

    fn rows(numbers: &Numbers, len: usize) -> Vec<Option<Number>> {
        (0..len).map(|row| numbers.at(row)).collect()
    }

    fn length(numbers: &Numbers) -> usize {
        match numbers {
            Numbers::Ints(ints) => ints.len(),
            Numbers::Floats(floats) => floats.len(),
            Numbers::Mixed(mixed) => mixed.len(),
        }
    }

    fn assert_rows(operator: Arithmetic, left: &Numbers, right: &Numbers) {
        let len = length(left);
        let (saturated, expected_saturated) = (AtomicBool::new(false), AtomicBool::new(false));
        let found = Operand::from(left.clone()).arithmetic(operator, right.clone().into(), len, &saturated);
        let expected: Vec<Option<Number>> = (0..len)
            .map(|row| one(operator, left.at(row).unwrap(), right.at(row).unwrap(), &expected_saturated))
            .collect();
        assert_eq!(rows(&found, len), expected, "{operator:?}");
        assert_eq!(saturated.into_inner(), expected_saturated.into_inner(), "{operator:?}");
    }

    fn assert_with_constant(operator: Arithmetic, column: &Numbers, number: Number) {
        let len = length(column);
        let constant = || Operand::constant(Some(number), len);
        for constant_first in [false, true] {
            let (saturated, expected_saturated) = (AtomicBool::new(false), AtomicBool::new(false));
            let column_side = || Operand::from(column.clone());
            let found = match constant_first {
                true => constant().arithmetic(operator, column_side(), len, &saturated),
                false => column_side().arithmetic(operator, constant(), len, &saturated),
            };
            let at = |row| {
                let own = column.at(row).unwrap();
                let (a, b) = if constant_first { (number, own) } else { (own, number) };
                one(operator, a, b, &expected_saturated)
            };
            let expected: Vec<Option<Number>> = (0..len).map(at).collect();
            assert_eq!(rows(&found, len), expected, "{operator:?} {number:?} {constant_first}");
            assert_eq!(saturated.into_inner(), expected_saturated.into_inner(), "{operator:?} {number:?}");
        }
    }
}
