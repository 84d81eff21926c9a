//! Bound questions, by the graph and by which end is bound. What a bound question costs should follow its answer, not
//! the closure: the package graph answers with a few hundred rows, the random graph with most of its nodes.
//! Throughput is rows of the answer a second.

use arrow::array::RecordBatch;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stratalog_benches::{
    answer_rows, define, edges_batch, load, package_dependencies, random_graph, session,
};

/// A graph by name, a question, and the rows of its answer.
type Case = (&'static str, fn() -> Vec<RecordBatch>, &'static str, usize);

fn bound_question(c: &mut Criterion) {
    let mut group = c.benchmark_group("bound_question");
    let random = || vec![edges_batch(&random_graph(2_000, 4_000))];
    let cases: [Case; 3] = [
        ("random/2000/4000/from", random, "?reach(7, Y)", 1_583),
        ("packages/from", package_dependencies, "?reach(\"gnome\", Y)", 1_145),
        ("packages/to", package_dependencies, "?reach(X, \"python3-numpy\")", 990),
    ];
    for (name, edges, question, rows) in cases {
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(name, |b| {
            let mut session = session();
            load(&mut session, "edge", &edges());
            define(&mut session, "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)");
            b.iter(|| assert_eq!(answer_rows(&mut session, question), rows));
        });
    }
    group.finish();
}

criterion_group!(benches, bound_question);
criterion_main!(benches);
