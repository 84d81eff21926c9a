//! One thread and two, on work of every kind; how cost grows with the size of the work is what `make scaling` tells.
//! Throughput is rows of the answer a second, and of aggregates facts.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use stratalog_benches::{answer_rows, define, edges_batch, load, orders_batch, random_graph, session_of};
use stratalog_engine::{EngineOptions, Session};

/// Work by name: facts and rules, a question, and the facts to count if it is not the rows of the answer.
type Case = (&'static str, fn(&mut Session), &'static str, Option<u64>);

const ORDERS: usize = 4_000_000;

fn closure(session: &mut Session) {
    load(session, "edge", &[edges_batch(&random_graph(10_000, 30_000))]);
    define(session, "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)");
}

fn same_generation(session: &mut Session) {
    load(session, "parent", &[edges_batch(&random_graph(4_000, 12_000))]);
    define(
        session,
        "+same(X, Y) <- parent(P, X), parent(P, Y), X != Y\n+same(X, Y) <- parent(A, X), same(A, B), parent(B, Y)",
    );
}

fn pairs(session: &mut Session) {
    load(session, "edge", &[edges_batch(&random_graph(200_000, 1_600_000))]);
    define(session, "+two(X, Z) <- edge(X, Y), edge(Y, Z)");
}

fn triangles(session: &mut Session) {
    load(session, "edge", &[edges_batch(&random_graph(20_000, 2_000_000))]);
    define(session, "+triangle(X, Y, Z) <- edge(X, Y), edge(Y, Z), edge(X, Z)");
}

fn star(session: &mut Session) {
    load(session, "order", &[orders_batch(ORDERS, 100_000, 1_000)]);
    let pairs = |n: i64, of: i64| edges_batch(&(0..n).map(|i| (i, i % of)).collect::<Vec<_>>());
    load(session, "region", &[pairs(100_000, 50)]);
    load(session, "kind", &[pairs(1_000, 10)]);
    define(session, "+sold(R, K, sum<Q>) <- order(C, P, Q), region(C, R), kind(P, K)");
}

fn threads(c: &mut Criterion) {
    let cases: [Case; 5] = [
        ("closure", closure, "?reach(X, Y)", None),
        ("same_generation", same_generation, "?same(X, Y)", None),
        ("pairs", pairs, "?two(X, Z)", None),
        ("triangles", triangles, "?triangle(X, Y, Z)", None),
        ("star", star, "?sold(R, K, S)", Some(ORDERS as u64)),
    ];
    let mut group = c.benchmark_group("threads");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (name, prepare, question, facts) in cases {
        for threads in [1, 2] {
            let options =
                EngineOptions { threads: Some(threads), view_memory: 0, ..EngineOptions::default() };
            let mut session = session_of(options);
            prepare(&mut session);
            let rows = answer_rows(&mut session, question);
            group.throughput(Throughput::Elements(facts.unwrap_or(rows as u64)));
            group.bench_function(format!("{name}/{threads}"), |b| {
                b.iter(|| assert_eq!(answer_rows(&mut session, question), rows));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, threads);
criterion_main!(benches);
