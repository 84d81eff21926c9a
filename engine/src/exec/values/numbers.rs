//! `Numbers`: a column of numbers that were computed, and have no codes yet.

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

    /// Row by row. Integers stay integers but for `/`; `saturated` is set where one was cut off at the end of their range.
    pub(crate) fn arithmetic(self, operator: Arithmetic, right: Numbers, saturated: &AtomicBool) -> Numbers {
        match (self, right) {
            (Numbers::Ints(a), Numbers::Ints(b)) => ints(operator, &a, &b, saturated),
            (Numbers::Floats(a), Numbers::Floats(b)) => floats(operator, &a, &b),
            (Numbers::Ints(a), Numbers::Floats(b)) => floats(operator, &as_floats(&a), &b),
            (Numbers::Floats(a), Numbers::Ints(b)) => floats(operator, &a, &as_floats(&b)),
            (left, right) => {
                let (left, right) = (left.widen(), right.widen());
                let one = |(a, b): (&Option<Number>, &Option<Number>)| one(operator, (*a)?, (*b)?, saturated);
                Numbers::narrowest(left.iter().zip(&right).map(one).collect())
            }
        }
    }
}

fn as_floats(ints: &[i64]) -> Vec<f64> {
    ints.iter().map(|n| *n as f64).collect()
}

fn ints(operator: Arithmetic, a: &[i64], b: &[i64], saturated: &AtomicBool) -> Numbers {
    fn each(a: &[i64], b: &[i64], result: impl Fn(i64, i64) -> i64) -> Numbers {
        Numbers::Ints(a.iter().zip(b).map(|(a, b)| result(*a, *b)).collect())
    }
    match operator {
        Arithmetic::Add => each(a, b, |a, b| sum(a, b, saturated)),
        Arithmetic::Subtract => each(a, b, |a, b| difference(a, b, saturated)),
        Arithmetic::Multiply => each(a, b, |a, b| product(a, b, saturated)),
        Arithmetic::Divide => floats(operator, &as_floats(a), &as_floats(b)),
        Arithmetic::Remainder => {
            Numbers::narrowest(a.iter().zip(b).map(|(a, b)| remainder(*a, *b).map(Number::Int)).collect())
        }
    }
}

fn floats(operator: Arithmetic, a: &[f64], b: &[f64]) -> Numbers {
    Numbers::finite(a.iter().zip(b).map(|(a, b)| float(operator, *a, *b)).collect())
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
