//! Vectors of bytes: from floats and back, and their distances.

use super::vector::scaled;
use super::{Function, Kind, entry, float, rounded};
use crate::value::Value;

const TWO: &[Kind] = &[Kind::Bytes, Kind::Bytes];

pub(super) const FUNCTIONS: &[Function] = &[
    entry("quantize_linear", &[Kind::Vector], Kind::Bytes, |a| match a {
        [Value::Vector(elements)] => {
            let wide: Vec<f64> = elements.iter().map(|x| f64::from(*x)).collect();
            let least = wide.iter().copied().fold(f64::INFINITY, f64::min);
            let most = wide.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let byte =
                |x: &f64| if most > least { (x - least) / (most - least) * 255.0 - 128.0 } else { 0.0 };
            Value::Bytes(wide.iter().map(|x| byte(x).round() as i8).collect())
        }
        _ => Value::Null,
    }),
    entry("quantize_symmetric", &[Kind::Vector], Kind::Bytes, |a| match a {
        [Value::Vector(elements)] => {
            let most = elements.iter().map(|x| f64::from(x.abs())).fold(0.0, f64::max);
            let byte = |x: &f32| if most > 0.0 { f64::from(*x) * 127.0 / most } else { 0.0 };
            Value::Bytes(elements.iter().map(|x| byte(x).round().clamp(-127.0, 127.0) as i8).collect())
        }
        _ => Value::Null,
    }),
    entry("dequantize", &[Kind::Bytes], Kind::Vector, |a| match a {
        [Value::Bytes(bytes)] => Value::Vector(bytes.iter().map(|q| f32::from(*q)).collect()),
        _ => Value::Null,
    }),
    entry("dequantize_scaled", &[Kind::Bytes, Kind::Number], Kind::Vector, |a| match a {
        [Value::Bytes(bytes), scale @ (Value::Int(_) | Value::Float(_))] => {
            let scale = scale.number().unwrap_or_default();
            scaled(&bytes.iter().map(|q| f32::from(*q)).collect::<Vec<_>>(), |x| x * scale)
        }
        _ => Value::Null,
    }),
    rounded("euclidean_int8", TWO, Kind::Number, |a| {
        of_pair(a, |pairs| (pairs.iter().map(|(x, y)| (x - y).pow(2)).sum::<i64>() as f64).sqrt())
    }),
    entry("manhattan_int8", TWO, Kind::Number, |a| {
        of_pair(a, |pairs| pairs.iter().map(|(x, y)| (x - y).abs()).sum::<i64>() as f64)
    }),
    entry("dot_int8", TWO, Kind::Number, |a| match a {
        [Value::Bytes(a), Value::Bytes(b)] if a.len() != b.len() => Value::Float(0.0),
        _ => of_pair(a, |pairs| pairs.iter().map(|(x, y)| x * y).sum::<i64>() as f64),
    }),
];

/// A number of two quantised vectors of one length.
fn of_pair(arguments: &[Value], measure: fn(&[(i64, i64)]) -> f64) -> Value {
    match arguments {
        [Value::Bytes(a), Value::Bytes(b)] if a.len() == b.len() => {
            let pairs: Vec<(i64, i64)> = a.iter().zip(b).map(|(x, y)| ((*x).into(), (*y).into())).collect();
            float(measure(&pairs))
        }
        _ => Value::Null,
    }
}
