//! Bound questions, by the graph and by which end is bound. What a bound question costs should follow its answer, not
//! the closure: the package graph answers with a few hundred rows, the random graph with most of its nodes, and a million
//! nodes in chains of ten with a few. Then by how the rules are written, which should not matter; and of what an earlier
//! question has left. Throughput is rows of the answer a second.

use arrow::array::RecordBatch;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use stratalog_benches::{
    answer_rows, define, edges_batch, load, package_dependencies, random_graph, roads, session, session_of,
};
use stratalog_engine::EngineOptions;

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

/// The same closure, written in four ways.
const FORMS: [(&str, &str); 4] = [
    ("step_last", "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)"),
    ("step_first", "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- edge(X, Y), reach(Y, Z)"),
    ("path_after_path", "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), reach(Y, Z)"),
    (
        "derived_steps",
        "+step(X, Y) <- edge(X, Y), X != Y\n+reach(X, Y) <- step(X, Y)\n+reach(X, Z) <- reach(X, Y), reach(Y, Z)",
    ),
];

/// A million edges in chains of ten, and four million between other nodes, which nobody asks for.
fn large_graph() -> RecordBatch {
    const NODES: i64 = 1_000_000;
    let chains = (0..NODES).filter(|node| node % 10 < 9).map(|node| (node, node + 1));
    let others = random_graph(NODES as u64, 4_000_000).into_iter().map(|(x, y)| (x + NODES, y + NODES));
    edges_batch(&chains.chain(others).collect::<Vec<_>>())
}

fn of_a_large_graph(c: &mut Criterion) {
    let mut group = c.benchmark_group("large_graph");
    group.sample_size(20).throughput(Throughput::Elements(7));
    let edges = [large_graph()];
    for (name, rules) in FORMS {
        let mut session = session();
        load(&mut session, "edge", &edges);
        define(&mut session, rules);
        group.bench_function(format!("{name}/from"), |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, "?reach(500002, Y)"), 7));
        });
        group.bench_function(format!("{name}/to"), |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, "?reach(X, 500007)"), 7));
        });
    }
    group.finish();
}

fn kept(c: &mut Criterion) {
    let mut group = c.benchmark_group("kept");
    let mut session = session_of(EngineOptions::default());
    load(&mut session, "edge", &[edges_batch(&random_graph(2_000, 4_000))]);
    define(&mut session, FORMS[0].1);
    let all = answer_rows(&mut session, "?reach(X, Y)");
    for (name, question, rows) in
        [("point", "?reach(7, 1999)", 1), ("from", "?reach(7, Y)", 1_583), ("whole", "?reach(X, Y)", all)]
    {
        group.throughput(Throughput::Elements(rows as u64));
        group.bench_function(name, |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, question), rows));
        });
    }
    group.finish();
}

/// The best ways between all places, of which those from one place, or between two, are asked for.
const WAYS: [(&str, &str); 3] = [
    (
        "fewest",
        "+way(X, Y, min<D>) <- road(X, Y, _), D = 1\n+way(X, Z, min<D>) <- way(X, Y, A), road(Y, Z, _), D = A + 1",
    ),
    (
        "shortest",
        "+way(X, Y, min<D>) <- road(X, Y, D)\n+way(X, Z, min<D>) <- way(X, Y, A), road(Y, Z, B), D = A + B",
    ),
    (
        "widest",
        "+way(X, Y, max<D>) <- road(X, Y, D)\n+way(X, Z, max<D>) <- way(X, Y, A), road(Y, Z, B), D = min_val(A, B)",
    ),
];

fn best_ways(c: &mut Criterion) {
    let mut group = c.benchmark_group("best_ways");
    group.sample_size(10);
    let roads = [roads(100_000, 500_000)];
    for (name, rules) in WAYS {
        let mut session = session();
        load(&mut session, "road", &roads);
        define(&mut session, rules);
        for (from, question) in [("from", "?way(7, Y, D)"), ("between", "?way(7, 77, D)")] {
            let rows = answer_rows(&mut session, question);
            group.throughput(Throughput::Elements(rows as u64));
            group.bench_function(format!("{name}/{from}"), |b| {
                b.iter(|| assert_eq!(answer_rows(&mut session, question), rows));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, bound_question, of_a_large_graph, kept, best_ways);
criterion_main!(benches);
