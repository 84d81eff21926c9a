//! Recursions asked for a part of their rows.

use std::collections::BTreeSet;

use stratalog_engine::{Advance, Budget, Engine, EngineOptions, Scope, Session};
use stratalog_tests::answers::batches_of;
use stratalog_tests::value::{Row, Value};

use super::forms::{CHAINS, WALKS};
use super::{fill, run, ways_agree};

/// Questions about two columns: for all rows, from one end, from the other, from both, and from many values at once.
pub(crate) const QUESTIONS: &[&str] = &[
    "?t(X, Y)",
    "?t(3, Y)",
    "?t(X, 8)",
    "?t(3, 8)",
    "?t(8, 3)",
    "?odd(X), t(X, Y)",
    "?node(Y), !t(3, Y)",
    "?odd(Y), t(X, Y)",
    "?edge(3, X, _), t(X, Y), t(Y, 9)",
];

/// Rules for `t` that are read from one end or turned round when they are asked for a part, and what looks like that.
const ASKED: &[&str] = &[
    // The same closure in its forms, of one step and of two.
    "+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(X, Y), edge(Y, Z, _)",
    "+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- edge(X, Y, _), t(Y, Z)",
    "+t(X, Y) <- edge(X, Y, _)\n+t(X, Z) <- t(Y, Z), t(X, Y)",
    "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Y) <- edge(Y, X, 1), odd(X)\n+t(X, Z) <- t(X, Y), t(Y, Z)",
    "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Y) <- edge(Y, X, 1), odd(X)\n+t(A, C) <- edge(A, B, 0), t(B, C)\n+t(A, C) <- edge(B, A, 1), odd(A), t(B, C)",
    // A step with a condition between its ends, and one that is computed.
    "+t(X, Y) <- edge(X, Y, W), W < 3, X != Y\n+t(X, Z) <- edge(X, Y, W), W < 3, X != Y, t(Y, Z)",
    "+t(X, Y) <- edge(X, _, W), Y = X + W\n+t(X, Z) <- t(X, Y), edge(Y, _, W), Z = Y + W, Z < 40",
    "+t(X, Y) <- edge(X, _, W), Y = X + W, Y < 40\n+t(X, Z) <- t(X, Y), edge(Y, _, W), Z = Y + W, Z < 40",
    // Steps that are derived.
    "+step(X, Y) <- edge(X, Y, W), !odd(W)\n+t(X, Y) <- step(X, Y)\n+t(X, Z) <- step(X, Y), t(Y, Z)",
    "+step(X, Y) <- edge(X, Y, W), !odd(W)\n+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- step(X, Y), t(Y, Z)",
    "+step(X, Y) <- edge(X, Y, 0)\n+step(X, Z) <- edge(X, Y, 1), step(Y, Z)\n+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- step(X, Y), t(Y, Z)\n+t(X, Y) <- step(Y, X)",
    "+far(X) <- edge(_, X, 3), !edge(X, _, 3)\n+t(X, Y) <- edge(X, Y, 2)\n+t(X, Z) <- edge(X, Y, _), !far(Y), t(Y, Z)",
    // Rows that are stored count too.
    "+t[(3, 4), (4, 8), (5, 3)]\n+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)",
    "+t[(3, 4), (4, 8), (5, 3)]\n+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- edge(X, Y, 0), t(Y, Z)",
    "+t[(3, 4), (4, 8), (5, 3)]\n+t(X, Z) <- t(X, Y), edge(Y, Z, 1)",
    // Other steps than what a path begins or ends with.
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, Y, 0), t(Y, Z)\n+t(X, Z) <- edge(Y, X, 1), t(Y, Z)",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 0)\n+t(X, Z) <- t(X, Y), edge(Z, Y, 1)",
    // From both sides, which cannot be turned.
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, Y, 0), t(Y, Z)\n+t(X, Z) <- t(X, Y), edge(Y, Z, 1)",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Y) <- edge(A, X, 0), t(A, B), edge(B, Y, 1)",
    // Steps that begin or end in a constant, or lead nowhere; rows that need no step.
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, 8, _), t(8, Z)",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(8, Z) <- edge(8, Y, _), t(Y, Z)",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(3, Z) <- t(8, Z)",
    "+t(3, Y) <- edge(_, Y, 3)\n+t(X, Z) <- edge(X, Y, _), t(Y, Z)",
    "+t(X, 8) <- node(X)\n+t(X, Z) <- edge(X, Y, 1), t(Y, Z)",
    // What is handed on is looked at, comes twice, or takes part in the step.
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, Y, _), t(Y, Z), odd(Z)",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, Y, _), t(Y, Z), X != Z",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, X) <- edge(X, Y, _), t(Y, X)",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, Y, Z), t(Y, Z)",
    // The place that a step leads to is found by the recursion only.
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- t(Y, Z), X = Y + 1, X < 9",
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- odd(X), t(Y, Z), Y < X",
    // Two relations that need each other.
    "+t(X, Y) <- edge(X, Y, 3)\n+t(X, Z) <- edge(X, Y, 0), u(Y, Z)\n+u(X, Z) <- edge(X, Y, 1), t(Y, Z)",
];

#[test]
fn parts_are_what_the_whole_says() {
    for rules in ASKED {
        for question in QUESTIONS {
            for graph in [(12, 30, 1), (60, 90, 1), (130, 200, 40_000_000)] {
                assert!(ways_agree(rules, question, graph), "refused: {rules}");
            }
        }
    }
}

/// Where a part is bound so far that it is no recursion of its own, it keeps the best rows nevertheless.
#[test]
fn best_rows_of_a_part_are_those_of_the_whole() {
    let counted =
        "+d(S, 0, min<D>) <- odd(S), D = S\n+d(S, L, min<D>) <- d(S, K, E), L = K + 1, L <= 3, D = E + 1";
    let walked = "+d(S, S, 0, max<D>) <- odd(S), D = 0\n+d(S, Y, L, max<D>) <- d(S, X, K, E), edge(X, Y, W), L = K + 1, L <= 2, D = E + W";
    for question in ["?d(S, L, D)", "?d(3, L, D)", "?d(3, 2, D)", "?d(3, 0, D)", "?d(S, 2, D)", "?d(3, 2, 5)"]
    {
        assert!(ways_agree(counted, question, (12, 30, 1)));
    }
    for question in ["?d(3, Y, 0, D)", "?d(S, 3, 0, D)", "?d(3, 3, L, D)", "?d(S, Y, 2, D)", "?d(3, Y, 2, D)"]
    {
        assert!(ways_agree(walked, question, (12, 30, 1)));
    }
}

/// Much lies before one node, and much can be reached from another: too much to be looked through in the first turn.
#[test]
fn what_is_asked_by_both_ends_is_found_from_either() {
    let chain = |nodes: std::ops::Range<i64>| nodes.map(|n| (n, n + 1));
    let before = (0..100_000).map(|n| (1_000_000 + n, 50));
    let behind = (0..100_000).map(|n| (100, 2_000_000 + n));
    let edges: Vec<Row> = chain(0..50)
        .chain(chain(90..100))
        .chain(before)
        .chain(behind)
        .map(|(from, to)| vec![Value::Int(from), Value::Int(to)])
        .collect();
    for longer in ["t(X, Y), edge(Y, Z)", "edge(X, Y), t(Y, Z)", "t(X, Y), t(Y, Z)"] {
        for threads in [1, 2] {
            let options = EngineOptions { threads: Some(threads), ..EngineOptions::default() };
            let engine = Engine::in_memory(options).expect("an engine in memory");
            let mut session = engine.open_session("default").expect("the graph `default` exists");
            session
                .insert_batches("edge", Scope::Persistent, batches_of(&edges), &Budget::unlimited())
                .expect("the rows fit");
            run(&mut session, &format!("+t(X, Y) <- edge(X, Y)\n+t(X, Z) <- {longer}"));
            let mut holds = |from: i64, to: i64| {
                let plain = run(&mut session, &format!("?t({from}, {to})")).expect("rows").len();
                let explained = run(&mut session, &format!(".why ?t({from}, {to})")).expect("rows").len();
                assert_eq!(plain, explained, "{longer}: t({from}, {to})");
                plain == 1
            };
            assert!(holds(0, 50) && holds(90, 2_000_005) && holds(1_000_003, 50));
            assert!(!holds(0, 100) && !holds(50, 0) && !holds(90, 50) && !holds(50, 50));
            run(&mut session, "+edge(2000007, 1000007)");
            let rows = run(&mut session, "?t(90, 50)").expect("rows").len();
            assert_eq!(rows, 1, "{longer}, {threads} threads");
        }
    }
}

/// Ways that match ask for pairs of ends, many more than there are edges: what is evaluated in full is found sooner, and kept.
#[test]
fn what_asks_for_too_much_is_evaluated_in_full() {
    let engine = Engine::in_memory(EngineOptions::default()).expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    fill(&mut session, 700, 1_400, 1);
    let rules = "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)";
    run(&mut session, rules);
    let mut profile = |question: &str| {
        let lines = run(&mut session, &format!(".profile {question}")).expect("a profile");
        lines.iter().map(|line| line[0].to_string()).collect::<Vec<_>>().join("\n")
    };
    let given_up = "makes ?t_fb, ?magic_t_fb, ?t_bb, ?magic_t_bb, ?t_bf, ?magic_t_bf; given up";
    let first = profile("?t(X, 8)");
    assert!(first.contains(given_up) && !first.contains("rule ?magic_t_fb"), "{first}");
    assert!(profile("?t(X, 9)").contains("kept t ("));
    let rows = |session: &mut Session, question: &str| -> BTreeSet<Row> {
        run(session, question).expect("rows").into_iter().collect()
    };
    let all = rows(&mut session, "?t(X, Y)");
    let part = all.iter().filter(|row| row[1] == Value::Int(8)).cloned().collect::<BTreeSet<Row>>();
    assert!(!part.is_empty() && part == rows(&mut session, "?t(X, 8)"));
}

/// Rows of an earlier state are of no use to what is evaluated in part, but to what is evaluated in full.
#[test]
fn what_asks_for_too_much_reads_what_was_kept_before() {
    let session = |advance: Advance| {
        let options = EngineOptions { advance, ..EngineOptions::default() };
        let engine = Engine::in_memory(options).expect("an engine in memory");
        let mut session = engine.open_session("default").expect("the graph `default` exists");
        fill(&mut session, 700, 1_400, 1);
        let rules = "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)";
        run(&mut session, rules);
        session
    };
    let asked = |session: &mut Session, question: &str| {
        let rows = run(session, question).expect("rows");
        rows.iter().map(|row| format!("{row:?}")).collect::<BTreeSet<String>>()
    };
    let (mut advancing, mut from_scratch) = (session(Advance::Always), session(Advance::Never));
    asked(&mut advancing, "?t(X, 8)");
    for change in ["+edge(8, 1, 0)\n+edge(700, 8, 0)", "-edge(700, 8, 0)"] {
        run(&mut advancing, change);
        run(&mut from_scratch, change);
        let lines = run(&mut advancing, ".profile ?t(X, 8)").expect("a profile");
        let text = lines.iter().map(|line| line[0].to_string()).collect::<Vec<_>>().join("\n");
        assert!(text.contains("older t, brought forward") && text.contains("given up"), "{text}");
        let found = asked(&mut advancing, "?t(X, 8)");
        assert!(!found.is_empty() && found == asked(&mut from_scratch, "?t(X, 8)"));
    }
}

/// Each pair, asked for alone, is there as the whole closure says: with edges of two kinds, some of which are deleted or known to the
/// session alone, and with codes that lie side by side or far apart.
#[test]
fn pairs_asked_one_by_one_are_those_of_the_whole() {
    const NODES: i64 = 30;
    let rules = "+t(X, Y) <- edge(X, Y)\n+t(X, Z) <- t(X, Y), edge(Y, Z)\n+t(X, Z) <- t(X, Y), link(Z, Y)";
    for spread in [1, 70_000_001] {
        let engine = Engine::in_memory(EngineOptions::default()).expect("an engine in memory");
        let mut session = engine.open_session("default").expect("the graph `default` exists");
        let mut facts = |sign: &str, relation: &str, pairs: &[(i64, i64)]| {
            let facts =
                pairs.iter().map(|(x, y)| format!("{sign}{relation}({}, {})", x * spread, y * spread));
            run(&mut session, &facts.collect::<Vec<_>>().join("\n"));
        };
        let steps =
            |by: i64, some: i64| (0..NODES).filter(move |n| n % some != 0).map(move |n| (n, n * by % NODES));
        facts("+", "edge", &steps(7, 3).chain(steps(11, 4)).collect::<Vec<_>>());
        facts("+", "link", &steps(13, 6).collect::<Vec<_>>());
        facts("-", "edge", &steps(11, 4).step_by(2).collect::<Vec<_>>());
        facts("", "edge", &[(9, 4), (28, 9)]);
        run(&mut session, rules);
        let whole: BTreeSet<Row> = run(&mut session, "?t(X, Y)").expect("rows").iter().cloned().collect();
        let pairs = (0..NODES).flat_map(|x| (0..NODES).map(move |y| (x * spread, y * spread)));
        let asked: BTreeSet<Row> = pairs
            .flat_map(|(x, y)| run(&mut session, &format!("?t({x}, {y})")).expect("rows").to_vec())
            .collect();
        assert!(whole.len() > 50 && whole.len() < 800, "{}", whole.len());
        // Several at once, of one beginning and of several.
        let targets: String = (0..NODES).map(|n| format!("+target({})\n", n * spread)).collect();
        run(&mut session, &format!("{targets}+source({})\n+source({})", 7 * spread, 22 * spread));
        let several = |session: &mut Session, question: &str| {
            let rows = run(session, question).expect("rows");
            rows.iter().map(|row| row[..2].to_vec()).collect::<BTreeSet<Row>>()
        };
        let of_two = several(&mut session, "?t(X, Y), source(X), target(Y)");
        let from: Vec<Value> = [7, 22].map(|n| Value::Int(n * spread)).into();
        let expected: BTreeSet<Row> = whole.iter().filter(|row| from.contains(&row[0])).cloned().collect();
        assert!(of_two == expected, "{of_two:?} {expected:?}");
        assert_eq!(asked.len(), whole.len());
        assert!(asked == whole);
    }
}

/// Asked by both ends, a recursion may have more columns, which say nothing of where it leads.
#[test]
fn what_lies_between_two_ends_has_all_its_rows() {
    let counted =
        "+p(X, Y, 1) <- edge(X, Y, _)\n+p(X, Z, L) <- p(X, Y, K), edge(Y, Z, W), L = K + 1, L + W <= 5";
    let first =
        "+p(X, Y, W) <- edge(X, Y, W), !odd(Y)\n+p(X, Z, L) <- edge(X, Y, V), p(Y, Z, K), L = K + V, L < 7";
    let joined = "+p(X, Y, W) <- edge(X, Y, W)\n+p(X, Z, W) <- p(X, Y, V), edge(Y, Z, W), edge(Z, _, V)";
    for rules in [counted, first, joined] {
        for question in
            ["?p(3, 8, L)", "?p(8, 3, L)", "?p(3, 8, 2)", "?odd(X), p(X, 8, L)", "?edge(X, Y, 3), p(Y, X, L)"]
        {
            for graph in [(12, 30, 1), (60, 90, 1), (130, 200, 40_000_000)] {
                assert!(ways_agree(rules, question, graph), "refused: {rules}");
            }
        }
    }
}

#[test]
fn what_is_computed_meets_what_is_asked_as_in_a_join() {
    let rules = "+a[(1, null), (2, 5), (3, 5.5), (4, 6.0)]\n+q[(1, null), (1, 6), (1, 6.5), (1, 7.0)]\n+t(X, Y) <- a(X, W), Y = W + 1";
    assert!(ways_agree(rules, "?q(1, Y), t(X, Y)", (12, 30, 1)));
}

#[test]
fn parts_of_walks_and_products_are_what_the_whole_says() {
    for (rules, question) in WALKS.iter().chain(CHAINS) {
        if *question == "?t(X, Y)" {
            for question in QUESTIONS {
                assert!(ways_agree(rules, question, (40, 70, 1)), "refused: {rules}");
            }
        }
    }
}
