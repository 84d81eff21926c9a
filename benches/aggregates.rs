//! Aggregates, inside a recursion and outside. Inside, the axes are the shape of the graph and how often a value is
//! bettered before it is final: weights of one never are, random weights many times. Outside it is the number of groups,
//! which decides whether the accumulators stay in cache, how many aggregates share a pass, and whether what they take is
//! stored or computed. Throughput is groups of the answer a second for recursions, and facts a second for groupings.

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use stratalog_benches::{answer_rows, define, edges_batch, load, orders_batch, random_graph, session};

const NODES: u64 = 5_000;
const EDGES: usize = 25_000;

/// Edges get a weight from a second relation, so that both cases run the same joins.
const PATHS: &str = "+far(0, min<D>) <- D = 0
+far(Y, min<D>) <- far(X, A), edge(X, Y), weight(Y, B), D = A + B";

const COMPONENTS: &str = "+link(X, Y) <- edge(X, Y)
+link(Y, X) <- edge(X, Y)
+component(X, min<X>) <- link(X, _)
+component(Y, min<C>) <- component(X, C), link(X, Y)";

fn recursive_min(c: &mut Criterion) {
    let mut group = c.benchmark_group("recursive_min");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    for (name, largest) in [("shortest_paths/unit", 1), ("shortest_paths/random", 100)] {
        let mut session = session();
        load(&mut session, "edge", &[edges_batch(&random_graph(NODES, EDGES))]);
        let weights: Vec<(i64, i64)> = (0..NODES as i64).map(|n| (n, 1 + n * 7_919 % largest)).collect();
        load(&mut session, "weight", &[edges_batch(&weights)]);
        define(&mut session, PATHS);
        let reached = answer_rows(&mut session, "?far(X, D)");
        group.throughput(Throughput::Elements(reached as u64));
        group.bench_function(name, |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, "?far(X, D)"), reached));
        });
    }
    for (name, edges) in [("components/sparse", EDGES / 10), ("components/dense", EDGES * 4)] {
        let mut session = session();
        load(&mut session, "edge", &[edges_batch(&random_graph(NODES * 4, edges))]);
        define(&mut session, COMPONENTS);
        let members = answer_rows(&mut session, "?component(X, C)");
        group.throughput(Throughput::Elements(members as u64));
        group.bench_function(name, |b| {
            b.iter(|| assert_eq!(answer_rows(&mut session, "?component(X, C)"), members));
        });
    }
    group.finish();
}

fn group_by(c: &mut Criterion) {
    const FACTS: usize = 1_000_000;
    let mut group = c.benchmark_group("group_by");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).throughput(Throughput::Elements(FACTS as u64));
    for groups in [100, 100_000] {
        let mut session = session();
        load(&mut session, "order", &[orders_batch(FACTS, groups, 1_000_000)]);
        for (name, query) in [
            ("sum", "?C, sum<Q> <- order(C, _, Q)"),
            ("count_distinct", "?C, count_distinct<Q> <- order(C, _, Q)"),
            ("five", "?C, count<Q>, sum<Q>, min<Q>, max<Q>, avg<Q> <- order(C, _, Q)"),
            ("top_k", "?C, top_k<3, P, Q:desc> <- order(C, P, Q)"),
            ("sum_of_computed", "?C, sum<V> <- order(C, P, Q), V = Q * (1 + P / 1000.0)"),
            ("max_where_computed", "?C, max<V> <- order(C, P, Q), V = Q * (1 + P / 1000.0), V > 40000"),
        ] {
            group.bench_function(format!("{name}/{groups}"), |b| b.iter(|| answer_rows(&mut session, query)));
        }
    }
    group.finish();
}

criterion_group!(benches, recursive_min, group_by);
criterion_main!(benches);
