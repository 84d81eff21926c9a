//! Functions of vectors, and the buckets of locality-sensitive hashing.

use std::hash::{DefaultHasher, Hasher};

use super::{Function, Kind, entry, float, rounded};
use crate::value::Value;

const ONE: &[Kind] = &[Kind::Vector];
const TWO: &[Kind] = &[Kind::Vector, Kind::Vector];

pub(super) const FUNCTIONS: &[Function] = &[
    rounded("euclidean", TWO, Kind::Number, |a| {
        // The squares are added as they are stored.
        of_pair(a, |pairs| f64::from(pairs.fold(0.0_f32, |sum, (x, y)| sum + (x - y) * (x - y))).sqrt())
    }),
    rounded("manhattan", TWO, Kind::Number, |a| {
        of_pair(a, |pairs| pairs.map(|(x, y)| (f64::from(x) - f64::from(y)).abs()).fold(0.0, |a, b| a + b))
    }),
    rounded("cosine", TWO, Kind::Number, |a| match a {
        [Value::Vector(a), Value::Vector(b)] if a.len() == b.len() => {
            let (product, a, b) = (product(a, b), product(a, a), product(b, b));
            if a == 0.0 || b == 0.0 {
                return Value::Float(1.0);
            }
            float((1.0 - f64::from(product) / (f64::from(a).sqrt() * f64::from(b).sqrt())).clamp(0.0, 2.0))
        }
        _ => Value::Null,
    }),
    rounded("dot", TWO, Kind::Number, |a| match a {
        [Value::Vector(v), Value::Vector(w)] if v.len() != w.len() => Value::Float(0.0),
        _ => of_pair(a, |pairs| pairs.map(|(x, y)| f64::from(x) * f64::from(y)).fold(0.0, |a, b| a + b)),
    }),
    rounded("normalize", ONE, Kind::Vector, |a| match a {
        [Value::Vector(elements)] => {
            let squares: f64 = elements.iter().map(|x| f64::from(*x).powi(2)).sum();
            if squares == 0.0 {
                return Value::Vector(elements.clone());
            }
            scaled(elements, |x| x / squares.sqrt())
        }
        _ => Value::Null,
    }),
    entry("vec_dim", ONE, Kind::Number, |a| match a {
        [Value::Vector(elements)] => Value::Int(elements.len() as i64),
        _ => Value::Null,
    }),
    entry("vec_add", TWO, Kind::Vector, |a| match a {
        [Value::Vector(a), Value::Vector(b)] if a.len() == b.len() => {
            finite(a.iter().zip(b).map(|(x, y)| x + y).collect())
        }
        _ => Value::Null,
    }),
    entry("vec_scale", &[Kind::Vector, Kind::Number], Kind::Vector, |a| match a {
        [Value::Vector(elements), Value::Int(n)] => scaled(elements, |x| x * *n as f64),
        [Value::Vector(elements), Value::Float(factor)] => scaled(elements, |x| x * factor),
        _ => Value::Null,
    }),
    entry("lsh_bucket", &[Kind::Vector, Kind::Small, Kind::Small], Kind::Number, |a| match a {
        [Value::Vector(elements), Value::Int(table), Value::Int(planes)] => {
            let above = |h: &i64| {
                let products = elements.iter().zip(0..).map(|(x, d)| x * component(*table, *h, d));
                products.sum::<f32>() > 0.0
            };
            Value::Int((0..*planes).filter(above).map(|h| 1 << h).sum())
        }
        _ => Value::Null,
    }),
    entry("lsh_probes", &[Kind::Small, Kind::Small, Kind::Small], Kind::Vector, |a| match a {
        [Value::Int(bucket), Value::Int(bits), Value::Int(count)] => {
            let mut flips: Vec<u64> = (0..1 << *bits).filter(|flip: &u64| flip.count_ones() <= 3).collect();
            // By the number of bits, and among as many by the lowest, then the next lowest bit.
            flips.sort_by_key(|flip| (flip.count_ones(), std::cmp::Reverse(flip.reverse_bits())));
            let probes = flips.into_iter().take(*count as usize).map(|flip| (bucket ^ flip as i64) as f32);
            Value::Vector(probes.collect())
        }
        _ => Value::Null,
    }),
];

/// A number of two vectors of one length.
fn of_pair(arguments: &[Value], measure: fn(&mut dyn Iterator<Item = (f32, f32)>) -> f64) -> Value {
    match arguments {
        [Value::Vector(a), Value::Vector(b)] if a.len() == b.len() => {
            float(measure(&mut a.iter().copied().zip(b.iter().copied())))
        }
        _ => Value::Null,
    }
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

pub(super) fn scaled(elements: &[f32], scale: impl Fn(f64) -> f64) -> Value {
    finite(elements.iter().map(|x| scale(f64::from(*x)) as f32).collect())
}

pub(super) fn finite(elements: Vec<f32>) -> Value {
    if elements.iter().all(|x| x.is_finite()) { Value::Vector(elements) } else { Value::Null }
}

/// One component of one plane of a table.
fn component(table: i64, plane: i64, dimension: u64) -> f32 {
    let seed = (table as u64)
        .wrapping_mul(1_000_000_007)
        .wrapping_add((plane as u64).wrapping_mul(31_337))
        .wrapping_add(dimension);
    let mut hasher = DefaultHasher::new();
    hasher.write(&seed.to_le_bytes());
    let low = hasher.finish() as u32;
    (2.0 * f64::from(low) / 4_294_967_295.0 - 1.0) as f32
}
