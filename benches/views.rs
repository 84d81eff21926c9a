//! Kept views: one fact comes or goes, and a question reads what follows from it. Beside that, the same derived from scratch
//! each time. What is asked reads all rows of the view and answers few, so it takes a pass over them in both.

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use stratalog_benches::{
    answer_rows, define, edges_batch, load, orders_batch, package_dependencies, random_graph, session_of,
};
use stratalog_engine::{Advance, EngineOptions, Session};

/// What is kept, and what changes below it.
struct Case {
    name: &'static str,
    rules: &'static str,
    question: &'static str,
    load: fn(&mut Session),
    /// A fact that is not there, for each number.
    fact: fn(i64) -> String,
}

const CASES: [Case; 11] = [
    Case {
        name: "closure",
        rules: "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)",
        question: "?path(X, Y), X = Y",
        load: |session| load(session, "edge", &[edges_batch(&random_graph(2_000, 4_000))]),
        fact: |n| format!("edge({}, {})", n * 37 % 2_000, n * 91 % 2_000),
    },
    Case {
        name: "packages",
        rules: "+needs(X, Y) <- edge(X, Y)\n+needs(X, Z) <- needs(X, Y), edge(Y, Z)",
        question: "?needs(X, Y), X = Y",
        load: |session| load(session, "edge", &package_dependencies()),
        fact: |n| format!("edge(\"new{}\", \"gnome\")", n % 100),
    },
    Case {
        name: "join",
        rules: "+near(X, Z) <- edge(X, Y), edge(Y, Z), X != Z",
        question: "?near(X, Y), X = Y",
        load: |session| load(session, "edge", &[edges_batch(&random_graph(200_000, 1_000_000))]),
        fact: |n| format!("edge({}, {})", n * 37_003 % 200_000, n * 91_009 % 200_000),
    },
    Case {
        name: "negation",
        rules: "+one_way(X, Y) <- edge(X, Y), !edge(Y, X)",
        question: "?one_way(X, Y), X = Y",
        load: |session| load(session, "edge", &[edges_batch(&random_graph(200_000, 1_000_000))]),
        fact: |n| format!("edge({}, {})", n * 37_003 % 200_000, n * 91_009 % 200_000),
    },
    Case {
        name: "groups",
        rules: "+bought(C, count<P>, sum<Q>) <- order(C, P, Q)",
        question: "?bought(C, N, S), C = N",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 1_000)]),
        fact: |n| format!("order({}, {}, 7777)", n * 37 % 50_000, n % 1_000),
    },
    Case {
        name: "large_groups",
        rules: "+sold(P, count<C>, sum<Q>, max<Q>) <- order(C, P, Q)\n+all(count<C>, sum<Q>) <- order(C, _, Q)",
        question: "?sold(P, N, S, M), all(M, S)",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 10)]),
        fact: |n| format!("order({}, {}, 7777)", n * 37 % 50_000, n % 10),
    },
    Case {
        name: "fractions",
        rules: "+cost(C, P, V) <- order(C, P, Q), V = Q * 1.19\n+spent(C, sum<V>) <- cost(C, _, V)",
        question: "?spent(C, S), C = S",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 1_000)]),
        fact: |n| format!("order({}, {}, 7777)", n * 37 % 50_000, n % 1_000),
    },
    Case {
        name: "labelled",
        rules: "+path(X, Y) <- link(X, Y, 1)\n+path(X, Z) <- path(X, Y), link(Y, Z, 1)\n\
                +link(X, Y, 1) <- edge(X, Y)\n+link(X, Y, 2) <- edge(Y, X)",
        question: "?path(X, Y), X = Y",
        load: |session| load(session, "edge", &[edges_batch(&random_graph(2_000, 4_000))]),
        fact: |n| format!("edge({}, {})", n * 37 % 2_000, n * 91 % 2_000),
    },
    Case {
        name: "routes",
        rules: "+road(X, Y, W) <- edge(X, Y), W = (X + Y) / 100000.0\n+far(X, min<D>) <- X = 0, D = 0\n\
                +far(Y, min<D>) <- far(X, E), road(X, Y, W), D = E + W",
        question: "?far(X, D), X = D",
        load: |session| load(session, "edge", &[edges_batch(&random_graph(200_000, 1_000_000))]),
        fact: |n| format!("edge({}, {})", n * 37_003 % 200_000, n * 91_009 % 200_000),
    },
    Case {
        name: "best_of_groups",
        rules: "+best(C, top_k<3, P, Q:desc>) <- order(C, P, Q)",
        question: "?best(C, P, Q), C = Q",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 1_000)]),
        fact: |n| format!("order({}, {}, 7777)", n * 37 % 50_000, n % 1_000),
    },
    Case {
        name: "levels",
        rules: "+bought(C, count<P>) <- order(C, P, _)\n+busy(C) <- bought(C, N), N > 20\n\
                +few(P, count<C>) <- order(C, P, _), !busy(C)",
        question: "?few(P, N), P = N",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 1_000)]),
        fact: |n| format!("order({}, {}, 7777)", n * 37 % 50_000, n % 1_000),
    },
];

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("views");
    group.sample_size(10);
    for case in &CASES {
        for (way, advance) in [("forward", Advance::WhereFaster), ("anew", Advance::Never)] {
            let mut session = session_of(EngineOptions { advance, ..EngineOptions::default() });
            (case.load)(&mut session);
            define(&mut session, case.rules);
            answer_rows(&mut session, case.question);
            let mut number = 0;
            group.bench_function(BenchmarkId::new(case.name, way), |b| {
                b.iter(|| {
                    number += 1;
                    // Comes, and goes again.
                    let sign = if number % 2 == 1 { '+' } else { '-' };
                    define(&mut session, &format!("{sign}{}", (case.fact)((number + 1) / 2)));
                    answer_rows(&mut session, case.question)
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, steps);
criterion_main!(benches);
