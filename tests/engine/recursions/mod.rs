//! Recursions with tuples, as walks with sets of sources, and as products of bit matrices, as a whole and as far as a
//! question needs them, and rules without recursion as a whole and in parts: the same rows.

mod auxiliaries;
mod bests;
mod compositions;
mod demand;
mod forms;
mod random;

use std::collections::BTreeSet;
use std::time::Duration;

use stratalog_engine::{
    Budget, Code, Content, Engine, EngineOptions, Parameters, RunOptions, Scope, Session, Thresholds,
};
use stratalog_tests::answers::{batches_of, rows_of};
use stratalog_tests::value::{Row, Value};

use self::forms::{CHAINS, MIXED, PROJECTIONS, RELAXATIONS, WALKS};

#[test]
fn relaxations_find_what_rounds_find() {
    compare(RELAXATIONS, &[(12, 30, 1), (70, 250, 1), (1_100, 1_500, 1), (130, 300, 4_000_000)]);
}

#[test]
fn walks_find_what_tuples_find() {
    // Fewer than 64 sources, more than 64, and more than 512; sparse and dense.
    compare(WALKS, &[(40, 70, 1), (200, 190, 1), (700, 1_000, 1), (300, 320, 40_000_000)]);
}

#[test]
fn products_find_what_tuples_find() {
    compare(CHAINS, &[(12, 30, 1), (70, 150, 1), (300, 420, 1), (130, 200, 40_000_000)]);
}

#[test]
fn products_beside_tuples_find_what_tuples_find() {
    compare(MIXED, &[(12, 30, 1), (70, 150, 1), (130, 200, 40_000_000)]);
}

#[test]
fn parts_find_what_a_whole_finds() {
    // In the last graph there are so many solutions that they are divided into more than two parts.
    compare(PROJECTIONS, &[(12, 30, 1), (70, 150, 1), (130, 200, 40_000_000), (500, 20_000, 1)]);
}

/// Thresholds at which a recursion is large with so many known rows.
fn from(rows: usize) -> Thresholds {
    Thresholds {
        walk_rows: rows,
        lone_walk_rows: rows,
        matrix_rows: rows,
        relax_rows: rows,
        part_rows: rows,
        swaps_turns: rows == 0,
        ..Thresholds::lowest()
    }
}

fn compare(recursions: &[(&str, &str)], graphs: &[(i64, usize, i64)]) {
    for &graph in graphs {
        for (rules, question) in recursions {
            assert!(ways_agree(rules, question, graph), "refused: {rules}");
        }
    }
}

/// Asks a question about rules in every way; false if the rules are refused.
fn ways_agree(rules: &str, question: &str, (nodes, edges, spread): (i64, usize, i64)) -> bool {
    let rows = |thresholds, threads, disabled: &[&str]| {
        let options = EngineOptions {
            threads: Some(threads),
            thresholds,
            disabled_rewrites: disabled.iter().map(|name| (*name).to_owned()).collect(),
            ..EngineOptions::default()
        };
        let engine = Engine::in_memory(options).expect("an engine in memory");
        let mut session = engine.open_session("default").expect("the graph `default` exists");
        fill(&mut session, nodes, edges, spread);
        let prepared = session.prepare(rules, &Parameters::new()).expect("rules");
        session.run(prepared, &RunOptions::default(), &Budget::unlimited()).ok()?;
        let rows = run(&mut session, question).expect("rows");
        let found: BTreeSet<Row> = rows.iter().cloned().collect();
        assert_eq!(found.len(), rows.len(), "rows come twice: {rules}");
        Some(found)
    };
    let Some(tuples) = rows(from(usize::MAX), 1, stratalog_engine::rewrite_names()) else { return false };
    // At once, in the midst, and when it pays.
    for (thresholds, threads) in [
        (from(usize::MAX), 1),
        (from(0), 1),
        (from(0), 2),
        (from(20), 1),
        (from(150), 2),
        // However much is asked for.
        (Thresholds { asked_rows: usize::MAX, ..from(0) }, 1),
        (Thresholds::default(), 2),
    ] {
        let found = rows(thresholds, threads, &[]).expect("the same rules");
        let context = || format!("{nodes} nodes, {edges} edges, {thresholds:?}:\n{rules}\n{question}");
        assert_eq!(found.len(), tuples.len(), "{}", context());
        assert!(found == tuples, "{}", context());
    }
    true
}

#[test]
fn walks_are_stopped_by_time_memory_and_people() {
    stopped("+t(X, Y) <- edge(X, Y)\n+t(X, Z) <- t(X, Y), edge(Y, Z)");
}

#[test]
fn products_beside_tuples_are_stopped_by_time_memory_and_people() {
    stopped(
        "+t(X, Y) <- edge(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(Z, Z) <- t(X, Y), edge(Y, Z), X + Y > Z",
    );
}

#[test]
fn products_are_stopped_by_time_memory_and_people() {
    stopped("+t(X, Y) <- edge(X, Y)\n+t(X, Y) <- t(X, A), t(A, B), t(B, Y)");
}

/// 32 million rows are stopped on their way.
fn stopped(rules: &str) {
    let engine = Engine::in_memory(EngineOptions::default()).expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    let rows: Vec<Row> = (0..8_000).map(|n| vec![Value::Int(n), Value::Int(n + 1)]).collect();
    session
        .insert_batches("edge", Scope::Persistent, batches_of(&rows), &Budget::unlimited())
        .expect("the rows fit");
    run(&mut session, rules);
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    let late = Budget::new(Some(Duration::from_millis(2)), u64::MAX);
    // Enough for what is reached, and not for the 32 million rows.
    let small = Budget::new(None, 64 << 20);
    for (budget, code) in [(cancelled, Code::Cancelled), (late, Code::Timeout), (small, Code::LimitExceeded)]
    {
        let prepared = session.prepare("?t(X, Y)", &Parameters::new()).expect("a query");
        let stopped = session.run(prepared, &RunOptions::default(), &budget).expect_err("it is stopped");
        assert_eq!(stopped.code(), code);
    }
}

/// A graph with weights. Some edges are deleted again, and nodes lie `spread` apart.
fn fill(session: &mut Session, nodes: i64, edges: usize, spread: i64) {
    let mut state = 7_u64;
    let mut draw = |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % below
    };
    // The nodes that rules name stay where they are.
    let node = |n: i64| Value::Int(if n < 10 { n } else { n * spread });
    let edge: BTreeSet<(i64, i64, i64)> =
        (0..edges).map(|_| (draw(nodes), draw(nodes), draw(4))).chain([(8, 9, 8), (9, 8, 9)]).collect();
    let tables: [(&str, Vec<Row>); 5] = [
        ("edge", edge.iter().map(|(x, y, w)| vec![node(*x), node(*y), Value::Int(*w)]).collect()),
        ("node", (0..nodes).map(|n| vec![node(n)]).collect()),
        (
            "down",
            edge.iter()
                .filter(|(x, y, _)| x > y)
                .map(|(x, y, w)| vec![node(*x), node(*y), Value::Int(*w)])
                .collect(),
        ),
        (
            "name",
            (0..nodes).step_by(3).map(|n| vec![node(n), Value::Text(format!("n{}", n * 7 % 100))]).collect(),
        ),
        ("odd", (0..nodes).filter(|n| n % 2 == 1).map(|n| vec![node(n)]).collect()),
    ];
    for (relation, rows) in tables {
        let batches = batches_of(&rows);
        session
            .insert_batches(relation, Scope::Persistent, batches, &Budget::unlimited())
            .expect("the rows fit");
    }
    run(session, "+never(-1)\n+flag(1)\n-edge(X, Y, W) <- edge(X, Y, W), X = 6");
}

/// The rows of a question.
fn run(session: &mut Session, program: &str) -> Option<Vec<Row>> {
    let prepared = session.prepare(program, &Parameters::new());
    let answer = prepared.and_then(|p| session.run(p, &RunOptions::default(), &Budget::unlimited()));
    match answer.unwrap_or_else(|error| panic!("{}", error.render(program))).content {
        Content::Rows(rows) => Some(rows_of(&rows.batch(0, rows.row_count()))),
        Content::Messages(_) => None,
    }
}
