//! Distances of vectors: the loops that functions and searches share, so both give the same numbers.
//!
//! Sums go to as many accumulators as fit wide registers, which the compiler then uses; the elements that are left over
//! are added one by one. Euclidean and cosine distances add in 32 bits, the others in 64.

use super::ValueRef;

/// How far two vectors are from each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Metric {
    /// One minus the cosine of the angle between them.
    Cosine,
    /// The length of their difference.
    Euclidean,
    /// Their product; what is similar has a large one.
    Dot,
    /// The sum of the differences of their elements.
    Manhattan,
}

/// Accumulators of a sum.
const LANES: usize = 16;

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 4] = [Metric::Cosine, Metric::Euclidean, Metric::Dot, Metric::Manhattan];

    /// Of two vectors of floats. Nothing where their lengths differ, but that their product is zero.
    #[inline]
    pub fn of_floats(self, a: &[f32], b: &[f32]) -> Option<f64> {
        if a.len() != b.len() {
            return (self == Metric::Dot).then_some(0.0);
        }
        Some(match self {
            Metric::Cosine => {
                cosine(f64::from(product(a, b)), f64::from(product(a, a)), f64::from(product(b, b)))
            }
            Metric::Euclidean => f64::from(fold(a, b, |x, y| (x - y) * (x - y))).sqrt(),
            Metric::Dot => fold(a, b, |x, y| f64::from(x) * f64::from(y)),
            Metric::Manhattan => fold(a, b, |x, y| (f64::from(x) - f64::from(y)).abs()),
        })
    }

    /// Of two quantised vectors.
    #[inline]
    pub fn of_bytes(self, a: &[i8], b: &[i8]) -> Option<f64> {
        if a.len() != b.len() {
            return (self == Metric::Dot).then_some(0.0);
        }
        let difference = |x: i8, y: i8| i32::from(x) - i32::from(y);
        Some(match self {
            Metric::Cosine => cosine(dot_bytes(a, b), dot_bytes(a, a), dot_bytes(b, b)),
            Metric::Euclidean => whole(a, b, |x, y| difference(x, y) * difference(x, y)).sqrt(),
            Metric::Dot => dot_bytes(a, b),
            Metric::Manhattan => whole(a, b, |x, y| difference(x, y).abs()),
        })
    }

    /// Of two vectors of one kind; nothing of anything else, and where it is not finite.
    #[inline]
    pub fn of(self, a: ValueRef<'_>, b: ValueRef<'_>) -> Option<f64> {
        match (a, b) {
            (ValueRef::Vector(a), ValueRef::Vector(b)) => self.of_floats(a, b),
            (ValueRef::VectorInt8(a), ValueRef::VectorInt8(b)) => self.of_bytes(a, b),
            _ => None,
        }
        .filter(|distance| distance.is_finite())
    }
}

/// A vector from which the distances of many are measured.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'q> {
    metric: Metric,
    query: ValueRef<'q>,
    /// Its product with itself, where the metric asks for it.
    square: f64,
}

impl<'q> Probe<'q> {
    /// Measures from this vector.
    pub fn new(metric: Metric, query: ValueRef<'q>) -> Probe<'q> {
        let square = match (metric, query) {
            (Metric::Cosine, ValueRef::Vector(query)) => f64::from(product(query, query)),
            (Metric::Cosine, ValueRef::VectorInt8(query)) => dot_bytes(query, query),
            _ => 0.0,
        };
        Probe { metric, query, square }
    }

    /// The distance of a value: just as [`Metric::of`] has it.
    #[inline]
    pub fn distance(&self, value: ValueRef<'_>) -> Option<f64> {
        match (self.metric, value, self.query) {
            (Metric::Cosine, ValueRef::Vector(a), ValueRef::Vector(b)) if a.len() == b.len() => {
                Some(cosine(f64::from(product(a, b)), f64::from(product(a, a)), self.square))
            }
            (Metric::Cosine, ValueRef::VectorInt8(a), ValueRef::VectorInt8(b)) if a.len() == b.len() => {
                Some(cosine(dot_bytes(a, b), dot_bytes(a, a), self.square))
            }
            (metric, value, query) => return metric.of(value, query),
        }
        .filter(|distance| distance.is_finite())
    }

    /// What is measured from.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// What is compared with all others.
    pub fn query(&self) -> ValueRef<'q> {
        self.query
    }
}

/// From the products of two vectors with each other and with themselves. A zero vector has no direction: 1.
fn cosine(dot: f64, a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        return 1.0;
    }
    (1.0 - dot / (a.sqrt() * b.sqrt())).clamp(0.0, 2.0)
}

fn product(a: &[f32], b: &[f32]) -> f32 {
    fold(a, b, |x, y| x * y)
}

fn dot_bytes(a: &[i8], b: &[i8]) -> f64 {
    whole(a, b, |x, y| i32::from(x) * i32::from(y))
}

/// The sum over pairs of elements. Starts from zero, as a sum over nothing is the other zero, which is another value.
#[inline]
fn fold<X: Copy, S: Copy + Default + std::ops::Add<Output = S>>(
    a: &[X],
    b: &[X],
    term: impl Fn(X, X) -> S,
) -> S {
    let (a_parts, a_rest) = a.as_chunks::<LANES>();
    let (b_parts, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [S::default(); LANES];
    for (a, b) in a_parts.iter().zip(b_parts) {
        for lane in 0..LANES {
            sums[lane] = sums[lane] + term(a[lane], b[lane]);
        }
    }
    let sum = sums.into_iter().fold(S::default(), |sum, lane| sum + lane);
    a_rest.iter().zip(b_rest).fold(sum, |sum, (x, y)| sum + term(*x, *y))
}

/// A sum of integers, none larger than 2^16: parts are short enough for 32 bits.
fn whole(a: &[i8], b: &[i8], term: impl Fn(i8, i8) -> i32) -> f64 {
    const PART: usize = 1 << 14;
    let parts = a.chunks(PART).zip(b.chunks(PART));
    parts.map(|(a, b)| i64::from(fold(a, b, &term))).sum::<i64>() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_vectors_have_the_distances_of_a_plain_sum() {
        for length in [0, 1, 15, 16, 17, 40_000] {
            let a: Vec<f32> = (0..length).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..length).map(|i| (i % 5) as f32 - 1.0).collect();
            let sum = |term: fn(f64, f64) -> f64| {
                a.iter().zip(&b).map(|(x, y)| term(f64::from(*x), f64::from(*y))).sum::<f64>()
            };
            let (dot, squares) = (sum(|x, y| x * y), sum(|x, y| (x - y) * (x - y)));
            let lengths = sum(|x, _| x * x).sqrt() * sum(|_, y| y * y).sqrt();
            let expected = [
                if lengths == 0.0 { 1.0 } else { 1.0 - dot / lengths },
                squares.sqrt(),
                dot,
                sum(|x, y| (x - y).abs()),
            ];
            let bytes = |v: &[f32]| v.iter().map(|x| *x as i8).collect::<Vec<i8>>();
            for (metric, expected) in Metric::ALL.into_iter().zip(expected) {
                let found = [metric.of_floats(&a, &b), metric.of_bytes(&bytes(&a), &bytes(&b))];
                for found in found {
                    assert!((found.unwrap() - expected).abs() < 1e-6, "{metric:?} of {length}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn vectors_of_different_lengths_have_no_distance() {
        assert_eq!(Metric::Euclidean.of_floats(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(Metric::Dot.of_floats(&[1.0], &[1.0, 2.0]), Some(0.0));
        assert_eq!(Metric::Cosine.of_bytes(&[0, 0], &[1, 2]), Some(1.0));
        assert_eq!(Metric::Euclidean.of(ValueRef::Vector(&[1e30]), ValueRef::Vector(&[-1e30])), None);
    }
}
