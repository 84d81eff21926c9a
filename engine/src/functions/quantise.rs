//! Vectors of 8-bit integers: from floats and back, and distances in integer arithmetic.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::math::float;
use super::vector::distances;
use crate::data::{Metric, Value, ValueRef};

type Results = Result<Column, FunctionError>;

pub(super) fn quantize_linear(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    quantize(arguments, circumstances, |elements| {
        let least = elements.iter().copied().fold(f32::INFINITY, f32::min);
        let most = elements.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let span = f64::from(most) - f64::from(least);
        let byte = |x: &f32| ((f64::from(*x) - f64::from(least)) / span * 255.0 - 128.0).round() as i8;
        elements.iter().map(|x| if span > 0.0 { byte(x) } else { 0 }).collect()
    })
}

pub(super) fn quantize_symmetric(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    quantize(arguments, circumstances, |elements| {
        let most = elements.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max);
        let byte = |x: &f32| (f64::from(*x) * 127.0 / most).round().clamp(-127.0, 127.0) as i8;
        elements.iter().map(|x| if most > 0.0 { byte(x) } else { 0 }).collect()
    })
}

fn quantize(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    function: impl Fn(&[f32]) -> Vec<i8>,
) -> Results {
    arguments.try_each(|row| match arguments.at(0, row) {
        ValueRef::Vector(elements) => circumstances.vector_int8(function(elements)),
        _ => Ok(Value::Null),
    })
}

pub(super) fn dequantize(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match arguments.at(0, row) {
        ValueRef::VectorInt8(elements) => {
            circumstances.vector(elements.iter().map(|q| f32::from(*q)).collect())
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn dequantize_scaled(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| match (arguments.at(0, row), float(arguments.at(1, row))) {
        (ValueRef::VectorInt8(elements), Some(scale)) => {
            circumstances.vector(elements.iter().map(|q| (f64::from(*q) * scale) as f32).collect())
        }
        _ => Ok(Value::Null),
    })
}

pub(super) fn euclidean_int8(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Euclidean)
}

pub(super) fn manhattan_int8(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Manhattan)
}

pub(super) fn dot_int8(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Dot)
}

pub(super) fn cosine_int8(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Cosine)
}

fn distance(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>, metric: Metric) -> Results {
    distances(arguments, circumstances, metric, |value| matches!(value, ValueRef::VectorInt8(_)))
}
