//! Functions of vectors of 32-bit floats. Distances of vectors of different lengths are infinite, so they are Null.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::math::float;
use crate::data::{Metric, Probe, Value, ValueRef};

type Results = Result<Column, FunctionError>;

pub(super) fn euclidean(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Euclidean)
}

pub(super) fn manhattan(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Manhattan)
}

pub(super) fn cosine(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Cosine)
}

pub(super) fn dot(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    distance(arguments, circumstances, Metric::Dot)
}

fn distance(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>, metric: Metric) -> Results {
    distances(arguments, circumstances, metric, |value| matches!(value, ValueRef::Vector(_)))
}

/// Distances of vectors of one kind. Where the second argument is the same in all rows, it is looked at once.
pub(super) fn distances(
    arguments: &Arguments<'_>,
    circumstances: &Circumstances<'_>,
    metric: Metric,
    is_vector: impl Fn(ValueRef<'_>) -> bool,
) -> Results {
    let mut stopped = Ok(());
    let constant = arguments.constant(1).map(|query| Probe::new(metric, query));
    let column = arguments.floats(|row| {
        let a = arguments.at(0, row);
        if stopped.is_err() || !is_vector(a) {
            return None;
        }
        stopped = circumstances.work(length(a));
        // Of another kind than the first, the second is no distance away.
        constant.map_or_else(|| metric.of(a, arguments.at(1, row)), |probe| probe.distance(a))
    });
    stopped.and(column)
}

fn length(vector: ValueRef<'_>) -> usize {
    match vector {
        ValueRef::Vector(elements) => elements.len(),
        ValueRef::VectorInt8(elements) => elements.len(),
        _ => 0,
    }
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

pub(super) fn vector(value: ValueRef<'_>) -> Option<&[f32]> {
    match value {
        ValueRef::Vector(elements) => Some(elements),
        _ => None,
    }
}
