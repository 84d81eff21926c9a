//! Closures, by graph. The axes are size and shape: how many rows the answer has, and how many times each is derived.
//!
//! Random graphs have one giant cycle from about one edge a node on, so nearly every pair is in the closure and most
//! derivations are duplicates; the package graph is deep, skewed and has text for nodes. Throughput is rows of the
//! answer a second.

use arrow::array::RecordBatch;
use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use stratalog_benches::{
    answer_rows, define, edges_batch, load, package_dependencies, random_graph, session,
};

const CLOSURE: &str = "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)";

/// A graph by name, and the rows of its closure.
type Case = (&'static str, fn() -> Vec<RecordBatch>, usize);

fn closure(c: &mut Criterion) {
    let mut group = c.benchmark_group("closure");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    let graphs: [Case; 3] = [
        ("random/2000/4000", || vec![edges_batch(&random_graph(2_000, 4_000))], 2_512_939),
        ("random/5000/25000", || vec![edges_batch(&random_graph(5_000, 25_000))], 24_631_370),
        ("packages", package_dependencies, 3_453_579),
    ];
    for (name, edges, rows) in graphs {
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(name, |b| {
            let mut session = session();
            load(&mut session, "edge", &edges());
            define(&mut session, CLOSURE);
            b.iter(|| assert_eq!(answer_rows(&mut session, "?reach(X, Y)"), rows));
        });
    }
    group.finish();
}

criterion_group!(benches, closure);
criterion_main!(benches);
