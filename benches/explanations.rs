//! Explanations: one row is asked for, and the same row with its proof, so what a proof takes beyond its answer stands beside
//! it. Then what is missing for a row, and what a change would change, where the relation is kept and where it is not.

use criterion::{Criterion, criterion_group, criterion_main};
use stratalog_benches::{
    answer, answer_rows, define, edges_batch, load, orders_batch, package_dependencies, pointer_statements,
    random_graph, session, session_of,
};
use stratalog_engine::{EngineOptions, Session};

/// What is derived, and of which row it is asked why.
struct Case {
    name: &'static str,
    rules: &'static str,
    load: fn(&mut Session),
    /// Its answer is one row.
    question: &'static str,
}

const CASES: [Case; 10] = [
    Case {
        name: "step_last",
        rules: "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)",
        load: edges,
        question: "?reach(7, 1999)",
    },
    Case {
        name: "step_first",
        rules: "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- edge(X, Y), reach(Y, Z)",
        load: edges,
        question: "?reach(7, 1999)",
    },
    Case {
        name: "path_after_path",
        rules: "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), reach(Y, Z)",
        load: edges,
        question: "?reach(7, 1999)",
    },
    Case {
        name: "derived_steps",
        rules: "+step(X, Y) <- edge(X, Y), X != Y\n+reach(X, Y) <- step(X, Y)\n+reach(X, Z) <- reach(X, Y), reach(Y, Z)",
        load: edges,
        question: "?reach(7, 1999)",
    },
    Case {
        name: "packages",
        rules: "+needs(X, Y) <- edge(X, Y)\n+needs(X, Z) <- needs(X, Y), edge(Y, Z)",
        load: |session| load(session, "edge", &package_dependencies()),
        question: "?needs(\"gnome\", \"libc6\")",
    },
    Case {
        name: "shortest_path",
        rules: "+far(X, min<D>) <- X = 7, D = 0\n+far(Y, min<D>) <- far(X, E), edge(X, Y), D = E + 1",
        load: edges,
        question: "?far(1999, D)",
    },
    Case {
        name: "groups",
        rules: "+bought(C, count<P>, sum<Q>) <- order(C, P, Q)",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 1_000)]),
        question: "?bought(7, N, S)",
    },
    Case {
        name: "negated_groups",
        rules: "+sold(P, count<C>) <- order(C, P, _)\n+busy(P) <- sold(P, N), N > 100000\n\
                +near(C, D) <- order(C, P, _), order(D, P, _), !busy(P), C < D, D < C + 10",
        load: |session| load(session, "order", &[orders_batch(1_000_000, 50_000, 1_000)]),
        question: "?near(7, D), limit(1)",
    },
    Case {
        name: "points_to",
        rules: "+points(X, O) <- new(X, O)\n+points(X, O) <- assign(X, Y), points(Y, O)\n\
                +points(X, O) <- load(X, Y), points(Y, P), points(P, O)\n\
                +points(P, O) <- store(X, Y), points(X, P), points(Y, O)",
        load: |session| {
            for (relation, rows) in pointer_statements(20_000) {
                load(session, relation, &[rows]);
            }
        },
        question: "?points(X, O), limit(1)",
    },
    // Nearly all pairs hold, and each follows in hundreds of ways from others.
    Case {
        name: "each_other",
        rules: "+trust(X, Y) <- vouches(X, Y)\n+trust(X, Z) <- trust(X, Y), ally(Y, Z), !doubts(X, Z)\n\
                +ally(X, Y) <- friend(X, Y)\n+ally(X, Z) <- ally(X, Y), trust(Y, Z), !doubts(Z, X)\n\
                +ally(X, Y) <- ally(Y, X)",
        load: |session| {
            for (relation, edges) in [("vouches", 900), ("friend", 600), ("doubts", 300)] {
                load(session, relation, &[edges_batch(&random_graph(300, edges))]);
            }
        },
        question: "?trust(X, Y), limit(1)",
    },
];

fn edges(session: &mut Session) {
    load(session, "edge", &[edges_batch(&random_graph(2_000, 4_000))]);
}

/// A session in which a case is loaded and defined.
fn prepared(case: &Case, mut session: Session) -> Session {
    (case.load)(&mut session);
    define(&mut session, case.rules);
    session
}

fn why(c: &mut Criterion) {
    let mut group = c.benchmark_group("why");
    group.sample_size(20);
    for case in &CASES {
        let mut session = prepared(case, session());
        for (form, question) in
            [("asked", case.question.to_owned()), ("why", format!(".why {}", case.question))]
        {
            group.bench_function(format!("{}/{form}", case.name), |b| {
                b.iter(|| assert_eq!(answer_rows(&mut session, &question), 1));
            });
        }
    }
    group.finish();
}

/// Where all rows are kept that a proof may go through.
fn why_kept(c: &mut Criterion) {
    let mut group = c.benchmark_group("why_kept");
    for (name, all, rows) in [
        ("points_to", "?points(X, O)", [1, 10]),
        ("shortest_path", "?far(Y, D)", [1, 10]),
        ("each_other", "?trust(X, Y)", [1, 100]),
    ] {
        let case = CASES.iter().find(|case| case.name == name).expect("a case");
        let mut session = prepared(case, session_of(EngineOptions::default()));
        answer(&mut session, all);
        for rows in rows {
            let question = format!(".why {all}, limit({rows})");
            group.bench_function(format!("{name}/{rows}"), |b| {
                b.iter(|| assert_eq!(answer_rows(&mut session, &question), rows));
            });
        }
    }
    group.finish();
}

fn suppositions(c: &mut Criterion) {
    let mut group = c.benchmark_group("suppositions");
    group.sample_size(10);
    for (state, options) in [
        ("kept", EngineOptions::default()),
        ("anew", EngineOptions { view_memory: 0, ..EngineOptions::default() }),
    ] {
        let mut session = prepared(&CASES[0], session_of(options));
        for _ in 0..2 {
            answer_rows(&mut session, "?reach(X, Y)");
        }
        for (name, question) in [
            ("what_if", ".what_if +edge(1, 77) ?reach(1, Y)"),
            ("what_if_of_all", ".what_if +edge(1, 77) ?reach(X, Y)"),
            ("impact", ".impact +edge(1, 77)"),
            ("why_not", ".why_not reach(7, 2001)"),
        ] {
            group.bench_function(format!("{name}/{state}"), |b| b.iter(|| answer(&mut session, question)));
        }
    }
    group.finish();
}

criterion_group!(benches, why, why_kept, suppositions);
criterion_main!(benches);
