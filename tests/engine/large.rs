//! Large relations, where work is split among threads: the engine against plain loops, in every mode.

use std::collections::{BTreeMap, BTreeSet};

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use stratalog_engine::{Budget, Content, Parameters, Rows, RunOptions, Scope, Session};
use stratalog_tests::answers::{batches_of, rows_of};
use stratalog_tests::modes::{Mode, Recursions, modes};
use stratalog_tests::value::{Row, Value};

/// Nodes of the graph, and edges among them.
const NODES: i64 = 3000;
const EDGES: usize = 30_000;

/// Nodes in each ring of the second graph.
const RING: i64 = 50;

#[test]
fn large_relations_are_answered_as_by_plain_loops() {
    let edges = edges();
    let expected = expected(&edges);
    let more_threads = Mode { threads: 4, without: &[], recursions: Recursions::AsUsual, keeps_views: false };
    for mode in modes().into_iter().chain([more_threads]) {
        let mut session = mode.engine().open_session("default").expect("the graph `default` exists");
        fill(&mut session, &edges);
        for (query, rows) in &expected {
            let found: BTreeSet<Row> = decode(&run(&mut session, query)).into_iter().collect();
            assert!(&found == rows, "{mode}: {query}: {} rows, expected {}", found.len(), rows.len());
        }
    }
}

#[test]
fn an_answer_can_be_read_in_pieces() {
    let mut session = modes()[1].engine().open_session("default").expect("the graph `default` exists");
    fill(&mut session, &edges());
    let answer = run(&mut session, "?edge(X:asc, Y:desc, W)");
    let mut pieces = Vec::new();
    for offset in (0..answer.row_count() + 5000).step_by(777) {
        pieces.extend(rows_of(&answer.batch(offset, 777)));
    }
    assert_eq!(pieces, decode(&answer));
    assert_eq!(pieces.len(), edges().len());
    assert!(pieces.is_sorted_by(|a, b| (&a[0], &b[1]) <= (&b[0], &a[1])));
}

/// Rounds of this closure are large enough for the engine to go on in parts, along the column that its rule hands
/// through: the first in one direction, the second in the other.
#[test]
fn a_closure_in_parts_is_the_closure_by_search() {
    const SMALL: i64 = 1000;
    let edges: BTreeSet<(i64, i64)> =
        edges().into_iter().map(|(x, y, _)| (x, y)).filter(|(x, y)| *x < SMALL && *y < SMALL).collect();
    let mut expected: BTreeSet<(i64, i64)> = BTreeSet::new();
    for start in 0..SMALL {
        let mut open = vec![start];
        while let Some(x) = open.pop() {
            let next = edges.range((x, i64::MIN)..=(x, i64::MAX)).map(|(_, y)| *y);
            open.extend(next.filter(|y| expected.insert((start, *y))));
        }
    }
    assert!(expected.len() > 500_000, "{} rows are too few to matter", expected.len());
    for threads in [1, 2] {
        let mut session = Mode { threads, without: &[], recursions: Recursions::AsUsual, keeps_views: false }
            .engine()
            .open_session("default")
            .expect("it exists");
        let rows: Vec<Row> = edges.iter().map(|(x, y)| vec![Value::Int(*x), Value::Int(*y)]).collect();
        session
            .insert_batches("edge", Scope::Persistent, batches_of(&rows), &Budget::unlimited())
            .expect("the rows fit");
        run_all(
            &mut session,
            "+onward(X, Y) <- edge(X, Y)\n+onward(X, Z) <- onward(X, Y), edge(Y, Z)\n\
             +back(X, Y) <- edge(X, Y)\n+back(X, Z) <- edge(X, Y), back(Y, Z)",
        );
        for query in ["?onward(X, Y)", "?back(X, Y)"] {
            let rows = run(&mut session, query);
            let found: Vec<(i64, i64)> = pairs(&rows);
            assert_eq!(found.len(), expected.len(), "{query} on {threads} threads");
            assert!(found.iter().all(|pair| expected.contains(pair)), "{query} on {threads} threads");
        }
    }
}

/// Two columns of integers.
fn pairs(rows: &Rows) -> Vec<(i64, i64)> {
    let batch = rows.batch(0, rows.row_count());
    let column = |i: usize| batch.column(i).as_primitive::<Int64Type>().clone();
    column(0).values().iter().copied().zip(column(1).values().iter().copied()).collect()
}

/// A graph that is the same every time: source, target, weight in halves.
fn edges() -> BTreeSet<(i64, i64, i64)> {
    let mut state = 1_u64;
    let mut draw = |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % below
    };
    (0..EDGES).map(|_| (draw(NODES), draw(NODES), draw(10))).collect()
}

fn fill(session: &mut Session, edges: &BTreeSet<(i64, i64, i64)>) {
    let weight = |halves: i64| Value::Float(halves as f64 / 2.0);
    let rows: Vec<Row> =
        edges.iter().map(|(x, y, w)| vec![Value::Int(*x), Value::Int(*y), weight(*w)]).collect();
    let names: Vec<Row> = (0..NODES).map(|n| vec![Value::Int(n), Value::Text(name(n))]).collect();
    for (relation, rows) in [("edge", rows), ("name", names)] {
        session
            .insert_batches(relation, Scope::Persistent, batches_of(&rows), &Budget::unlimited())
            .expect("the rows fit");
    }
    run_all(
        session,
        "+ring(X, Y) <- name(X, _), X % 50 < 49, Y = X + 1\n\
         +ring(X, Y) <- name(X, _), X % 50 = 49, Y = X - 49\n\
         +round(X, Y) <- ring(X, Y)\n\
         +round(X, Z) <- round(X, Y), ring(Y, Z)\n\
         +hop(X, Z) <- edge(X, Y, _), edge(Y, Z, _)\n\
         +reach(0)\n\
         +reach(Y) <- reach(X), edge(X, Y, _)\n\
         +leaving(X, count<Y>, sum<W>, max<W>, avg<W>) <- edge(X, Y, W)\n\
         +labelled(N, count<X>) <- name(X, N), edge(X, _, _)\n\
         +sink(X) <- name(X, _), !edge(X, _, _)",
    );
}

/// Few names, so that groups are large.
fn name(n: i64) -> String {
    format!("name {}", n % 7)
}

/// Each query with its answer, by the plainest loops.
fn expected(edges: &BTreeSet<(i64, i64, i64)>) -> Vec<(&'static str, BTreeSet<Row>)> {
    let int = Value::Int;
    let half = |halves: i64| Value::Float(halves as f64 / 2.0);
    let mut next: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
    for (x, y, w) in edges {
        next.entry(*x).or_default().push((*y, *w));
    }
    let from = |x: i64| next.get(&x).into_iter().flatten();
    let round = (0..NODES).flat_map(|x| (0..RING).map(move |i| vec![int(x), int(x / RING * RING + i)]));
    let hop = edges.iter().flat_map(|(x, y, _)| from(*y).map(|(z, _)| vec![int(*x), int(*z)]));
    let mut reached = BTreeSet::from([0]);
    let mut open = vec![0];
    while let Some(x) = open.pop() {
        open.extend(from(x).map(|(y, _)| *y).filter(|y| reached.insert(*y)));
    }
    let leaving = next.iter().map(|(x, out)| {
        let sum: i64 = out.iter().map(|(_, w)| w).sum();
        let max = out.iter().map(|(_, w)| *w).max().unwrap_or_default();
        let mean = Value::Float(sum as f64 / 2.0 / out.len() as f64);
        vec![int(*x), int(out.len() as i64), half(sum), half(max), mean]
    });
    let mut labels: BTreeMap<String, i64> = BTreeMap::new();
    for (x, _, _) in edges {
        *labels.entry(name(*x)).or_default() += 1;
    }
    let sink = (0..NODES).filter(|x| !next.contains_key(x)).map(|x| vec![int(x)]);
    let heavy = edges.iter().filter(|(x, y, w)| *w > 6 && x < y);
    vec![
        ("?round(X, Y)", round.collect()),
        ("?round(1234, Y)", (1200..1250).map(|y| vec![int(1234), int(y)]).collect()),
        ("?hop(X, Z)", hop.collect()),
        ("?reach(X)", reached.iter().map(|x| vec![int(*x)]).collect()),
        ("?leaving(X, C, S, M, A)", leaving.collect()),
        ("?labelled(N, C)", labels.into_iter().map(|(label, n)| vec![Value::Text(label), int(n)]).collect()),
        ("?sink(X)", sink.collect()),
        ("?edge(X, Y, W), W > 3.0, X < Y", heavy.map(|(x, y, w)| vec![int(*x), int(*y), half(*w)]).collect()),
    ]
}

fn run_all(session: &mut Session, program: &str) -> Content {
    let prepared = session.prepare(program, &Parameters::new()).expect("the program is right");
    session.run(prepared, &RunOptions::default(), &Budget::unlimited()).expect("the program runs").content
}

fn run(session: &mut Session, query: &str) -> Rows {
    match run_all(session, query) {
        Content::Rows(rows) => rows,
        Content::Messages(messages) => panic!("messages instead of rows: {messages:?}"),
    }
}

fn decode(rows: &Rows) -> Vec<Row> {
    rows_of(&rows.batch(0, rows.row_count()))
}
