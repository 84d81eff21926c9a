//! Locality-sensitive hashing: the bucket of a vector is the sides of random planes on which it lies, a bit a plane.
//!
//! Planes are not stored: each component is a hash of the table, the plane and the dimension (SipHash-1-3 without key),
//! so a bucket number means the same in every graph and every version.

use super::kernel::{Arguments, Circumstances, Column, FunctionError};
use super::vector::vector;
use crate::data::{Value, ValueRef};

type Results = Result<Column, FunctionError>;

/// A bucket is an integer without sign bit.
const MOST_PLANES: usize = 62;

/// Components of planes that are kept from row to row.
const MOST_KEPT: usize = 1 << 20;

pub(super) fn lsh_bucket(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    let mut planes = Planes::default();
    let mut stopped = Ok(());
    let column = arguments.ints(|row| {
        let elements = vector(arguments.at(0, row))?;
        let (table, count) = (int(arguments.at(1, row))?, plane_count(arguments.at(2, row))?);
        if stopped.is_ok() {
            stopped = circumstances.work(elements.len() * count);
        }
        stopped.is_ok().then(|| planes.bucket(elements, table, count))
    });
    stopped.and(column)
}

pub(super) fn lsh_probes(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    arguments.try_each(|row| {
        let numbers =
            (int(arguments.at(0, row)), plane_count(arguments.at(1, row)), count(arguments.at(2, row)));
        let (Some(bucket), Some(planes), Some(wanted)) = numbers else { return Ok(Value::Null) };
        let bits: Vec<usize> = (0..planes).collect();
        circumstances.vector(probes(bucket, &bits, wanted))
    })
}

pub(super) fn lsh_multi_probe(arguments: &Arguments<'_>, circumstances: &Circumstances<'_>) -> Results {
    let mut planes = Planes::default();
    arguments.try_each(|row| {
        let numbers = (
            vector(arguments.at(0, row)),
            int(arguments.at(1, row)),
            plane_count(arguments.at(2, row)),
            count(arguments.at(3, row)),
        );
        let (Some(elements), Some(table), Some(count), Some(wanted)) = numbers else {
            return Ok(Value::Null);
        };
        circumstances.work(elements.len() * count)?;
        let bucket = planes.bucket(elements, table, count);
        let mut bits: Vec<(f64, usize)> = match elements {
            [] => Vec::new(),
            _ => (0..count).map(|plane| (planes.distance(elements, table, plane), plane)).collect(),
        };
        bits.sort_by(|a, b| a.0.total_cmp(&b.0));
        let bits: Vec<usize> = bits.into_iter().map(|(_, plane)| plane).collect();
        circumstances.vector(probes(bucket, &bits, wanted))
    })
}

/// The bucket, then those that differ in one bit, in two, in three; bits are taken in the given order.
fn probes(bucket: i64, bits: &[usize], wanted: usize) -> Vec<f32> {
    let one = |i: usize| 1_i64 << bits[i];
    let n = bits.len();
    let singles = (0..n).map(one);
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))).map(|(i, j)| one(i) | one(j));
    let triples = (0..n)
        .flat_map(|i| (i + 1..n).flat_map(move |j| (j + 1..n).map(move |k| (i, j, k))))
        .map(|(i, j, k)| one(i) | one(j) | one(k));
    let flips = std::iter::once(0).chain(singles).chain(pairs).chain(triples);
    flips.take(wanted).map(|flip| (bucket ^ flip) as f32).collect()
}

/// The planes that the last row used, so that a column of vectors of one kind hashes each component once.
#[derive(Default)]
struct Planes {
    table: i64,
    dimensions: usize,
    /// Plane after plane.
    components: Vec<f32>,
}

impl Planes {
    fn bucket(&mut self, elements: &[f32], table: i64, count: usize) -> i64 {
        self.prepare(elements.len(), table, count);
        let mut bucket = 0;
        for plane in 0..count {
            let mut dot = 0.0_f32;
            for (dimension, x) in elements.iter().enumerate() {
                dot += x * self.component(table, plane, dimension);
            }
            bucket |= i64::from(dot > 0.0) << plane;
        }
        bucket
    }

    /// How far from the plane a vector lies.
    fn distance(&self, elements: &[f32], table: i64, plane: usize) -> f64 {
        let products = elements
            .iter()
            .enumerate()
            .map(|(dimension, x)| f64::from(*x) * f64::from(self.component(table, plane, dimension)));
        products.sum::<f64>().abs()
    }

    fn prepare(&mut self, dimensions: usize, table: i64, count: usize) {
        if self.table != table || self.dimensions != dimensions {
            self.components.clear();
            (self.table, self.dimensions) = (table, dimensions);
        }
        if dimensions == 0 || dimensions * count > MOST_KEPT {
            return;
        }
        for plane in self.components.len() / dimensions..count {
            self.components.extend((0..dimensions).map(|dimension| component(table, plane, dimension)));
        }
    }

    fn component(&self, table: i64, plane: usize, dimension: usize) -> f32 {
        let kept = self.components.get(plane * self.dimensions + dimension);
        kept.copied().unwrap_or_else(|| component(table, plane, dimension))
    }
}

/// A component between -1 and 1.
fn component(table: i64, plane: usize, dimension: usize) -> f32 {
    let seed = (table as u64)
        .wrapping_mul(1_000_000_007)
        .wrapping_add((plane as u64).wrapping_mul(31_337))
        .wrapping_add(dimension as u64);
    let low = sip_hash_1_3(seed) as u32;
    (2.0 * f64::from(low) / f64::from(u32::MAX) - 1.0) as f32
}

/// SipHash (Aumasson and Bernstein, 2012) with one round a block, three at the end, and a key of zeros, of the eight
/// bytes of a word. The standard library has it too, but does not promise to keep it.
fn sip_hash_1_3(word: u64) -> u64 {
    // "somepseudorandomlygeneratedbytes"
    let mut state =
        [0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573];
    // The last block holds no bytes, only how many there were.
    for block in [word, 8 << 56] {
        state[3] ^= block;
        sip_round(&mut state);
        state[0] ^= block;
    }
    state[2] ^= 0xff;
    for _ in 0..3 {
        sip_round(&mut state);
    }
    state[0] ^ state[1] ^ state[2] ^ state[3]
}

fn sip_round([a, b, c, d]: &mut [u64; 4]) {
    *a = a.wrapping_add(*b);
    *c = c.wrapping_add(*d);
    *b = b.rotate_left(13) ^ *a;
    *d = d.rotate_left(16) ^ *c;
    *a = a.rotate_left(32);
    *c = c.wrapping_add(*b);
    *a = a.wrapping_add(*d);
    *b = b.rotate_left(17) ^ *c;
    *d = d.rotate_left(21) ^ *a;
    *c = c.rotate_left(32);
}

fn int(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Int(n) => Some(n),
        _ => None,
    }
}

fn plane_count(value: ValueRef<'_>) -> Option<usize> {
    count(value).map(|count| count.min(MOST_PLANES))
}

fn count(value: ValueRef<'_>) -> Option<usize> {
    int(value).and_then(|n| usize::try_from(n).ok())
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use super::{Planes, probes, sip_hash_1_3};

    #[test]
    fn the_hash_is_siphash_1_3() {
        for word in [0, 1, 31_337, u64::MAX, 0x0123_4567_89ab_cdef] {
            let mut hasher = DefaultHasher::new();
            hasher.write(&word.to_le_bytes());
            assert_eq!(sip_hash_1_3(word), hasher.finish());
        }
    }

    #[test]
    fn buckets_are_those_on_record() {
        let mut planes = Planes::default();
        assert_eq!(planes.bucket(&[1.0, 0.0], 0, 8), 56);
        assert_eq!(planes.bucket(&[0.0, 2.0], 0, 8), 200);
        assert_eq!(planes.bucket(&[3.0, 4.0], 0, 8), 136);
        assert_eq!(planes.bucket(&[], 0, 8), 0);
        // What was kept for fewer planes, or other ones, is no hindrance.
        assert_eq!(planes.bucket(&[1.0, 0.0], 0, 3), 0);
        assert_eq!(planes.bucket(&[1.0, 0.0], 0, 62) & 0xff, 56);
    }

    #[test]
    fn probes_flip_one_bit_then_two_then_three() {
        assert_eq!(probes(5, &[0, 1, 2], 100), [5.0, 4.0, 7.0, 1.0, 6.0, 0.0, 3.0, 2.0]);
        assert_eq!(probes(0, &[2, 0], 4), [0.0, 4.0, 1.0, 5.0]);
        assert_eq!(probes(5, &[], 3), [5.0]);
        assert_eq!(probes(5, &[0], 0), [0.0; 0]);
    }
}
