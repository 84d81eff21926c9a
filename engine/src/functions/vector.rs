//! Functions of vectors of 32-bit floats. Distances of vectors of different lengths are infinite, so they are Null.
//!
//! Sums are folds from zero: `Iterator::sum` over nothing is the other zero, which is another value.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::math::float;
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

pub(super) fn euclidean(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    measure(arguments, circumstances, |a, b| {
        let squares = a.iter().zip(b).fold(0.0_f32, |sum, (x, y)| sum + (x - y) * (x - y));
        (a.len() == b.len()).then(|| f64::from(squares).sqrt())
    })
}

pub(super) fn manhattan(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    measure(arguments, circumstances, |a, b| {
        let sum = a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + (f64::from(*x) - f64::from(*y)).abs());
        (a.len() == b.len()).then_some(sum)
    })
}

pub(super) fn cosine(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    measure(arguments, circumstances, |a, b| {
        if a.len() != b.len() {
            return None;
        }
        let product = |a: &[f32], b: &[f32]| f64::from(a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>());
        Some(cosine_distance(product(a, b), product(a, a), product(b, b)))
    })
}

/// From the products of two vectors with each other and with themselves. A zero vector has no direction: 1.
pub(super) fn cosine_distance(dot: f64, a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 1.0;
    }
    (1.0 - dot / (a.sqrt() * b.sqrt())).clamp(0.0, 2.0)
}

pub(super) fn dot(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    measure(arguments, circumstances, |a, b| {
        if a.len() != b.len() {
            return Some(0.0);
        }
        Some(a.iter().zip(b).fold(0.0, |sum, (x, y)| sum + f64::from(*x) * f64::from(*y)))
    })
}

pub(super) fn normalize(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match arguments.at(0, row) {
        ValueRef::Vector(elements) => {
            let squares: f64 = elements.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
            let length = squares.sqrt();
            let scaled = |x: &f32| if length == 0.0 { *x } else { (f64::from(*x) / length) as f32 };
            circumstances.vector(elements.iter().map(scaled).collect())
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn vec_dim(arguments: &Arguments<'_>, _: &Circumstances<'_>) -> Results {
    arguments.ints(|row| i64::try_from(vector(arguments.at(0, row))?.len()).ok())
}

pub(super) fn vec_add(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), arguments.at(1, row)) {
        (ValueRef::Vector(a), ValueRef::Vector(b)) if a.len() == b.len() => {
            circumstances.vector(a.iter().zip(b).map(|(x, y)| x + y).collect())
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn vec_scale(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), float(arguments.at(1, row))) {
        (ValueRef::Vector(elements), Some(factor)) => {
            circumstances.vector(elements.iter().map(|x| (f64::from(*x) * factor) as f32).collect())
        }
        _ => Ok(Value::Null),
    })
}

/// A number of two vectors.
fn measure(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    function: impl Fn(&[f32], &[f32]) -> Option<f64>,
) -> Results {
    let mut stopped = Ok(());
    let column = arguments.floats(|row| {
        let (a, b) = (vector(arguments.at(0, row))?, vector(arguments.at(1, row))?);
        if stopped.is_ok() {
            stopped = circumstances.work(a.len());
        }
        stopped.is_ok().then(|| function(a, b)).flatten()
    });
    stopped.and(column)
}

pub(super) fn vector(value: ValueRef<'_>) -> Option<&[f32]> {
    match value {
        ValueRef::Vector(elements) => Some(elements),
        _ => None,
    }
}
