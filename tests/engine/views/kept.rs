//! Rows of rules that are kept: never in the way of a change, and read as long as there is none.

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof};
use proptest::{collection::vec, proptest, sample::select};
use stratalog_engine::{Advance, EngineOptions, Session};
use stratalog_tests::value::{Row, Value};

use super::sessions::{run, sessions_of};

/// Rules of every kind: recursive ones, with negation, with aggregates whose values are no small integers, computed
/// text, mutual recursion, best values.
const RULES: &str = "+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+apart(X, Y) <- node(X), node(Y), !path(X, Y)
+degree(X, count<Y>, avg<Y>) <- edge(X, Y)
+balance(X, sum<W>) <- edge(X, Y), W = 2 - 3 * Y
+label(X, L) <- degree(X, _, A), L = concat(\"at \", A)
+even(X, Y) <- edge(X, Y), !odd(Y)
+even(X, Z) <- uneven(X, Y), edge(Y, Z)
+uneven(X, Z) <- even(X, Y), edge(Y, Z)
+nearest(X, min<D>) <- edge(0, X), D = 0.5
+nearest(Y, min<D>) <- nearest(X, E), edge(X, Y), D = E + 0.5";

const QUESTIONS: [&str; 14] = [
    "?path(X, Y)",
    "?path(2, Y)",
    "?path(X, 2)",
    "?apart(X, Y)",
    "?degree(X, N, A)",
    "?balance(X, B)",
    "?label(X, L)",
    "?label(X, L), balance(X, B), degree(X, N, A)",
    "?even(X, Y)",
    "?uneven(1, Y), even(1, Y)",
    "?nearest(X, D)",
    "?nearest(X, D), balance(X, B), D > 0.5",
    "?extra(X), path(X, Y)",
    "?path(X, Y), !even(X, Y)",
];

fn step() -> impl Strategy<Value = String> {
    // Those below zero come and go in the dictionary, which is collected by `.compact`.
    let number = || select(vec![0, 1, 2, -1, -2, -3]);
    prop_oneof![
        6 => select(QUESTIONS.to_vec()).prop_map(str::to_owned),
        3 => (number(), number()).prop_map(|(x, y)| format!("+edge({x}, {y})")),
        2 => (number(), number()).prop_map(|(x, y)| format!("-edge({x}, {y})")),
        1 => number().prop_map(|x| format!("+odd({x})")),
        1 => number().prop_map(|x| format!("-odd({x})")),
        1 => number().prop_map(|x| format!("+node({x})")),
        // A stored row of a derived relation, and other clauses for it.
        1 => (number(), number()).prop_map(|(x, y)| format!("+path({x}, {y})")),
        1 => (number(), number()).prop_map(|(x, y)| format!("-path({x}, {y})")),
        1 => Just("+even(X, X) <- odd(X)".to_owned()),
        1 => Just(".rule remove even 3".to_owned()),
        1 => Just(".rule drop degree\n+degree(X, count<Y>, avg<Y>) <- edge(Y, X)".to_owned()),
        2 => Just(".compact".to_owned()),
        // What only the session knows.
        1 => (number(), number()).prop_map(|(x, y)| format!("edge({x}, {y})")),
        1 => Just("even(X, Y) <- edge(Y, X)".to_owned()),
        1 => Just(".session clear".to_owned()),
        // What is undone.
        1 => (number(), number()).prop_map(|(x, y)| format!("+edge({x}, {y})\n?path(X, Y), X / 0 > 1\n+edge(\"a\")")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn what_is_kept_is_what_is_derived_anew(
        steps in vec((step(), 0..3_usize), 1..40),
        view_memory in select(vec![1_usize << 30, 40_000, 400]),
        advance in select(vec![Advance::Always, Advance::WhereFaster, Advance::Never]),
    ) {
        let mut keeps = sessions_of(EngineOptions { view_memory, advance, ..EngineOptions::default() });
        let mut derives = sessions(0);
        for (session, other) in keeps.iter_mut().zip(&mut derives).take(1) {
            for program in [RULES, "+edge[(0, 1), (1, 2), (2, 0), (3, 4)]\n+node[(0), (1), (2), (3)]\n+odd[(1), (3)]\n+extra[(1), (4)]"] {
                assert!(run(session, program, false).is_ok());
                assert!(run(other, program, false).is_ok());
            }
        }
        for (program, who) in steps {
            // The third is the first, all or nothing.
            let (session, atomic) = (who % 2, who == 2 && !program.contains('.'));
            let found = run(&mut keeps[session], &program, atomic);
            let expected = run(&mut derives[session], &program, atomic);
            assert_eq!(found, expected, "{program}");
        }
    }
}

/// Two sessions of one engine.
fn sessions(view_memory: usize) -> Vec<Session> {
    sessions_of(EngineOptions { view_memory, ..EngineOptions::default() })
}

/// The views that a question would read.
fn views(session: &mut Session, question: &str) -> Vec<String> {
    let lines = run(session, &format!(".explain {question}"), false).expect("a plan");
    let lines = lines.into_iter().flatten().map(|line| line.to_string());
    lines.filter_map(|line| line.trim_matches('"').strip_prefix("kept ").map(str::to_owned)).collect()
}

fn session_with_rules() -> Session {
    let mut session = sessions(1 << 20).remove(0);
    run(&mut session, RULES, false).expect("rules");
    run(&mut session, "+edge[(0, 1), (1, 2), (2, 0), (3, 4)]\n+node[(0), (1)]\n+odd(1)\n+seen(7)", false)
        .expect("facts");
    session
}

#[test]
fn a_change_takes_only_what_depends_on_it() {
    let mut session = session_with_rules();
    for question in ["?path(X, Y)", "?even(X, Y)", "?balance(X, B)"] {
        assert_eq!(views(&mut session, question), [""; 0]);
        run(&mut session, question, false).expect("rows");
    }
    assert_eq!(views(&mut session, "?path(1, Y)"), ["path (10 rows)"]);
    assert_eq!(views(&mut session, "?apart(X, Y)"), ["path (10 rows)"]);
    run(&mut session, "+seen(8)", false).expect("a fact");
    assert_eq!(views(&mut session, "?path(1, Y), even(1, Y)"), ["even (7 rows)", "path (10 rows)"]);
    run(&mut session, "+odd(4)", false).expect("a fact");
    assert_eq!(views(&mut session, "?path(1, Y), even(1, Y)"), ["path (10 rows)"]);
    run(&mut session, "+seen(X) <- balance(X, _)", false).expect("a rule");
    assert_eq!(views(&mut session, "?seen(X)"), ["balance (4 rows)"]);
    run(&mut session, "+balance(X, 0) <- odd(X)", false).expect("a rule");
    assert_eq!(views(&mut session, "?balance(X, Y), path(X, Y)"), ["path (10 rows)"]);
    run(&mut session, "-edge(3, 4)", false).expect("a fact");
    assert_eq!(views(&mut session, "?path(1, Y)"), [""; 0]);
}

/// Their rules come in another order where another one of them is asked for.
#[test]
fn relations_that_need_each_other_are_kept_whichever_is_asked_for() {
    let mut session = session_with_rules();
    run(&mut session, "?even(X, Y)", false).expect("rows");
    assert_eq!(views(&mut session, "?uneven(1, Y)"), ["uneven (6 rows)"]);
    run(&mut session, "+odd(4)\n?uneven(X, Y)", false).expect("rows");
    assert_eq!(views(&mut session, "?even(X, 1)"), ["even (6 rows)"]);
}

#[test]
fn what_a_session_adds_is_not_kept() {
    let mut session = session_with_rules();
    run(&mut session, "?path(X, Y)", false).expect("rows");
    run(&mut session, "edge(4, 5)", false).expect("a fact of the session");
    assert_eq!(views(&mut session, "?path(X, Y)"), [""; 0]);
    assert_eq!(run(&mut session, "?path(3, Y)", false).expect("rows").len(), 2);
    run(&mut session, "?path(X, Y)", false).expect("rows");
    assert_eq!(views(&mut session, "?path(X, Y)"), [""; 0]);
    run(&mut session, ".session clear", false).expect("a command");
    assert_eq!(views(&mut session, "?path(X, Y)"), ["path (10 rows)"]);
}

#[test]
fn what_depends_on_the_request_is_not_kept() {
    let mut session = session_with_rules();
    run(
        &mut session,
        "+late(X) <- odd(X), time_after(time_now(), 0)\n+later(X, T) <- late(X), T = time_now()",
        false,
    )
    .expect("rules");
    run(&mut session, "?late(X), later(X, T)", false).expect("rows");
    assert_eq!(views(&mut session, "?late(X), later(X, T)"), [""; 0]);
}

#[test]
fn what_was_read_last_is_kept_where_memory_is_short() {
    let mut session = sessions(20_000).remove(0);
    let rows: Vec<String> = (0..2_000).map(|n| format!("({n})")).collect();
    run(&mut session, &format!("+n[{}]", rows.join(", ")), false).expect("facts");
    run(&mut session, "+a(X) <- n(X), X > 0\n+b(X) <- n(X), X > 1\n+c(X) <- n(X), X > 2\n+d(X) <- n(X), X > 3\n+e(X, X) <- n(X)\n+f(X, Y, X, X, X, X) <- e(X, Y), X > 5", false).expect("rules");
    let ask = |session: &mut Session, name: &str| run(session, &format!("?{name}(X)"), false).expect("rows");
    for name in ["a", "b", "c", "d", "a", "d"] {
        ask(&mut session, name);
    }
    let kept: Vec<&str> = ["a", "b", "c", "d"]
        .into_iter()
        .filter(|name| !views(&mut session, &format!("?{name}(X)")).is_empty())
        .collect();
    assert!(kept.len() < 4 && kept.ends_with(&["d"]), "{kept:?}");
    // Too large to be kept at all.
    run(&mut session, "?f(X, Y, _, _, _, _)", false).expect("rows");
    assert_eq!(views(&mut session, "?f(X, Y, _, _, _, _)"), ["e (2000 rows)"]);
}

#[test]
fn a_graph_of_the_same_name_begins_without() {
    let mut session = sessions(1 << 20).remove(0);
    run(&mut session, ".kg create lab", false).expect("a graph");
    for rows in 1..3 {
        run(&mut session, "+p(X) <- 1 = 1, X = 5\n+p(X) <- q(X)\n+q(5)", false).expect("rules");
        if rows == 2 {
            run(&mut session, "+q(6)", false).expect("a fact");
        }
        assert_eq!(run(&mut session, "?p(X)", false).expect("rows").len(), rows);
        run(&mut session, ".kg use default\n.kg drop lab\n.kg create lab", false).expect("another graph");
    }
    let unknown = run(&mut session, "?p(X)", false).expect_err("nothing is known");
    assert!(unknown.contains("unknown_relation"), "{unknown}");
}

#[test]
fn what_an_index_finds_is_not_kept() {
    let mut session = sessions(1 << 20).remove(0);
    let mut tell = |program: &str| run(&mut session, program, false).expect("it is done");
    tell("+doc(id: int, v: vector(2))\n+doc[(1, [9, 0]), (2, [1, 1])]\n.index create i on doc(v) metric l2");
    tell("+near(Id) <- hnsw_nearest(\"i\", [1, 0], 1, Id, D)\n+named(Id) <- near(Id)");
    let first = [tell("?near(Id)"), tell("?named(Id)")];
    tell(".index drop i\n.index create i on doc(v) metric cosine");
    // Near the one, in the direction of the other.
    assert_eq!(first, [[[Value::Int(2)]], [[Value::Int(2)]]]);
    assert_eq!([tell("?near(Id)"), tell("?named(Id)")], [[[Value::Int(1)]], [[Value::Int(1)]]]);
    assert_eq!(views(&mut session, "?named(Id)"), [""; 0]);
}

#[test]
fn searches_that_start_from_other_values_share_nothing() {
    let mut session = sessions(1 << 20).remove(0);
    let mut tell = |program: &str| run(&mut session, program, false).expect("it is done");
    tell("+doc(id: int, v: vector(2))\n+doc[(1, [9, 0]), (2, [1, 1])]\n.index create i on doc(v) metric l2");
    tell("+user(name: string, role: string, q: vector(2))\n+user(\"ada\", \"boss\", [1, 0])");
    tell("+sees[(\"ada\", 1), (\"boss\", 2)]");
    let by = |who: &str| format!("?hnsw_nearest(\"i\", Q, 1, Id, D), user(Name, Role, Q), sees({who}, Id)");
    let found = |rows: Vec<Row>| -> Vec<Value> { rows.into_iter().map(|row| row[0].clone()).collect() };
    assert_eq!(found(tell(&by("Name"))), [Value::Int(1)]);
    assert_eq!(found(tell(&by("Role"))), [Value::Int(2)]);
}
