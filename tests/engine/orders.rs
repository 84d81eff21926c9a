//! Answers in order: rows as a plain sort of values has them, however many there are; stopped like any other work.

use std::cmp::Ordering;
use std::time::Duration;

use stratalog_engine::{
    Budget, Code, Content, Engine, EngineOptions, Parameters, RunOptions, Scope, Session,
};
use stratalog_tests::answers::{batches_of, rows_of};
use stratalog_tests::value::{Row, Value};

/// Columns with few values, with numbers of both kinds, texts and Null, and one that tells rows apart.
fn rows(count: i64) -> Vec<Row> {
    let mut state = 11_u64;
    let mut draw = |below: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as i64 % below
    };
    let mut row = |id: i64| {
        let number = draw(1 << 31) - (1 << 30);
        let text = if draw(9) == 0 { Value::Null } else { Value::text(&format!("t{}", draw(count / 3 + 1))) };
        let half = Value::Float(draw(200) as f64 / 2.0 - 50.0);
        vec![Value::Int(draw(7)), Value::Int(number), half, text, Value::Int(id * 3)]
    };
    (0..count).map(&mut row).collect()
}

fn session_with(rows: &[Row], threads: usize) -> Session {
    let options = EngineOptions { threads: Some(threads), ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    session
        .insert_batches("t", Scope::Persistent, batches_of(rows), &Budget::unlimited())
        .expect("the rows fit");
    session
}

fn ask(session: &mut Session, question: &str, budget: &Budget) -> Result<Vec<Row>, Code> {
    let prepared = session.prepare(question, &Parameters::new()).expect("a query");
    let answer = session.run(prepared, &RunOptions::default(), budget).map_err(|error| error.code())?;
    let Content::Rows(rows) = answer.content else { panic!("a query answers rows") };
    Ok(rows_of(&rows.batch(0, rows.row_count())))
}

#[test]
fn rows_come_in_the_order_that_was_asked_for() {
    type Key = (usize, bool);
    let orders: [&[Key]; 7] = [
        &[(0, false)],
        &[(1, true)],
        &[(2, false), (1, false)],
        &[(3, true), (0, false)],
        &[(3, false), (2, true), (4, true)],
        &[(0, true), (2, true), (3, true)],
        &[(4, false)],
    ];
    for (count, threads) in [(1, 1), (300, 1), (5_000, 2), (70_000, 2)] {
        let rows = rows(count);
        let mut session = session_with(&rows, threads);
        for order in orders {
            let direction = |column: usize| match order.iter().find(|(key, _)| *key == column) {
                None => "",
                Some((_, false)) => ":asc",
                Some((_, true)) => ":desc",
            };
            let by = |keys: &[Key], a: &Row, b: &Row| {
                let compare = |(column, descending): &Key| {
                    let order = a[*column].cmp(&b[*column]);
                    if *descending { order.reverse() } else { order }
                };
                keys.iter().map(compare).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            };
            // The first column named in an order counts first, and columns are named in their order.
            let mut keys = order.to_vec();
            keys.sort_by_key(|(column, _)| *column);
            let named: Vec<String> = ["A", "B", "C", "D", "E"]
                .iter()
                .enumerate()
                .map(|(column, name)| format!("{name}{}", direction(column)))
                .collect();
            let question = format!("?t({})", named.join(", "));
            let found = ask(&mut session, &question, &Budget::unlimited()).expect("it is answered");
            assert!(found.is_sorted_by(|a, b| by(&keys, a, b).is_le()), "{question}, {count} rows");
            let all = |mut rows: Vec<Row>| {
                rows.sort();
                rows
            };
            assert_eq!(all(found), all(rows.clone()), "{question}, {count} rows");
            // A limit decides between rows that are equal so far.
            let mut expected = rows.clone();
            let ties: Vec<Key> = (0..5)
                .filter(|column| keys.iter().all(|(key, _)| key != column))
                .map(|column| (column, false))
                .collect();
            expected.sort_by(|a, b| by(&keys, a, b).then_with(|| by(&ties, a, b)));
            for (limit, offset) in [(3, 0), (10, 4), (usize::MAX >> 1, 7), (count as usize * 2 / 3, 1)] {
                let question = format!("?t({}), limit({limit}, {offset})", named.join(", "));
                let found = ask(&mut session, &question, &Budget::unlimited()).expect("it is answered");
                let expected: Vec<Row> = expected.iter().skip(offset).take(limit).cloned().collect();
                assert_eq!(found, expected, "{question}, {count} rows");
            }
        }
    }
}

#[test]
fn sorting_is_stopped_by_time_memory_and_people() {
    let rows: Vec<Row> =
        (0..2_000_000).map(|n: i64| vec![Value::Int(n), Value::Int(-n * 7 % 1_000_003)]).collect();
    let mut session = session_with(&rows, 2);
    let cancelled = Budget::unlimited();
    cancelled.cancel();
    for (budget, code) in [
        (cancelled, Code::Cancelled),
        (Budget::new(Some(Duration::from_millis(2)), u64::MAX), Code::Timeout),
        (Budget::new(None, 8 << 20), Code::LimitExceeded),
    ] {
        assert_eq!(ask(&mut session, "?t(A, B:desc)", &budget).err(), Some(code));
    }
}

#[test]
fn building_an_index_is_stopped_by_time_and_done_by_who_asks_next() {
    let rows: Vec<Row> =
        (0..2_000_000).map(|n: i64| vec![Value::Int(n), Value::Int(n * 7 % 1_000_003)]).collect();
    let mut session = session_with(&rows, 2);
    let question = "?t(1999999, B), t(B, C), t(C, 5)";
    let late = Budget::new(Some(Duration::from_millis(2)), u64::MAX);
    assert_eq!(ask(&mut session, question, &late).err(), Some(Code::Timeout));
    let found = ask(&mut session, question, &Budget::unlimited()).expect("it is answered");
    let step = |n: i64| n * 7 % 1_000_003;
    assert_eq!(found.is_empty(), step(step(step(1_999_999))) != 5);
}
