//! Random graphs and tables as Arrow batches.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};

use crate::facts::columns_batch;

/// A small generator with good enough bits (Steele, Lea, Flood: SplitMix64, 2014): the same numbers everywhere.
#[derive(Debug)]
pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> i64 {
        (self.next() % bound) as i64
    }

    /// From 0 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// So many edges between so many nodes, each end drawn uniformly.
pub fn random_graph(nodes: u64, edges: usize) -> Vec<(i64, i64)> {
    let mut random = SplitMix(nodes ^ edges as u64);
    (0..edges).map(|_| (random.below(nodes), random.below(nodes))).collect()
}

/// The same from some seed, no two edges the same.
pub fn distinct_edges(nodes: u64, edges: usize, seed: u64) -> Vec<(i64, i64)> {
    let (mut random, mut known) = (SplitMix(seed), HashSet::with_capacity(edges));
    let mut drawn = Vec::with_capacity(edges);
    while drawn.len() < edges {
        let edge = (random.below(nodes), random.below(nodes));
        if known.insert(edge) {
            drawn.push(edge);
        }
    }
    drawn
}

/// Edges with a length from 1 to 99.
pub fn roads(nodes: u64, edges: usize) -> RecordBatch {
    let mut random = SplitMix(5);
    let (from, to): (Vec<i64>, Vec<i64>) = distinct_edges(nodes, edges, 6).into_iter().unzip();
    let lengths = from.iter().map(|_| 1 + random.below(99)).collect();
    columns_batch(vec![from, to, lengths])
}

/// Edges as a batch of two integer columns.
pub fn edges_batch(edges: &[(i64, i64)]) -> RecordBatch {
    let from: ArrayRef = Arc::new(Int64Array::from_iter_values(edges.iter().map(|edge| edge.0)));
    let to: ArrayRef = Arc::new(Int64Array::from_iter_values(edges.iter().map(|edge| edge.1)));
    batch(vec![("from", from), ("to", to)])
}

/// Orders (customer, product, quantity): what a three-way join starts from.
pub fn orders_batch(rows: usize, customers: u64, products: u64) -> RecordBatch {
    let mut random = SplitMix(rows as u64);
    let mut column = |bound: u64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..rows).map(|_| random.below(bound))))
    };
    let (customer, product, quantity) = (column(customers), column(products), column(100));
    batch(vec![("customer", customer), ("product", product), ("quantity", quantity)])
}

/// Orders (number, customer, product, amount), no two with the same number. A customer has a hundred of them, a product a thousand.
pub fn priced_orders(rows: usize) -> RecordBatch {
    let mut random = SplitMix(rows as u64);
    let mut column = |bound: usize| (0..rows).map(|_| random.below(bound as u64)).collect();
    let (customers, products, amounts) = (column(rows / 100), column(rows / 1_000), column(1_000_000));
    columns_batch(vec![(0..rows as i64).collect(), customers, products, amounts])
}

/// Facts of three columns: a key, a text out of a thousand, a number.
pub fn wide_facts(rows: usize) -> RecordBatch {
    let mut random = SplitMix(3);
    let key: ArrayRef = Arc::new(Int64Array::from_iter_values(0..rows as i64));
    let names: Vec<String> = (0..rows).map(|_| format!("name {}", random.below(1_000))).collect();
    let name: ArrayRef = Arc::new(StringArray::from(names));
    let number: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|_| random.below(1 << 40))));
    batch(vec![("key", key), ("name", name), ("number", number)])
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}
