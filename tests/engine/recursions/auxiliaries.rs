//! Conditions that do not depend on a recursion, joined once: rules that read them find what they find otherwise.

use std::collections::BTreeSet;

use stratalog_engine::{Engine, EngineOptions, Thresholds};

use super::compositions::rows;
use super::{fill, from, run};

/// Rules, a question about them, and how many relations they are offered.
const RULES: &[(&str, &str, usize)] = &[
    // Two steps, and what stands between them.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, A, V), edge(A, Z, W), W < V + 2, !odd(A)",
        "?t(X, Y)",
        1,
    ),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- edge(Y, A, V), t(X, Y), node(A), edge(A, Z, V)", "?t(X, Y)", 1),
    // One atom and what it must not have.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, W), !odd(W)", "?t(X, Y)", 1),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, W), W < 3, X != Z", "?t(X, Y)", 1),
    // What only says whether there is something.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(Y, X) <- t(X, Y), edge(Y, A, _), edge(A, B, _), odd(B)", "?t(X, Y)", 1),
    // Two rules that have the same conditions in other words, and one that has others.
    (
        "+t(X, Y) <- edge(X, Y, 0)
+t(X, Z) <- t(X, Y), edge(Y, A, _), edge(A, Z, 1)
+t(P, Z) <- t(Z, Q), edge(Q, B, _), edge(B, P, 1)
+t(X, Z) <- t(X, Y), edge(Y, A, _), edge(A, Z, 2)",
        "?t(X, Y)",
        2,
    ),
    // Beside two atoms of the recursion, on either side of them, and with more columns.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, A), edge(A, M, V), edge(M, B, V), t(B, Z)", "?t(X, Y)", 1),
    (
        "+t(X, Y, W) <- edge(X, Y, W), W < 2
+t(X, Z, V) <- edge(A, B, V), t(X, Y, V), edge(Y, A, _), t(B, Z, W), V < W + 3",
        "?t(X, Y, W)",
        1,
    ),
    // Relations that need each other; parts of questions.
    (
        "+t(X, Y) <- edge(X, Y, 3)
+t(X, Z) <- u(X, Y), edge(Y, A, W), edge(A, Z, W)
+u(X, Z) <- t(X, Y), edge(Y, A, W), edge(A, Z, W)
+u(X, Z) <- t(Z, X)",
        "?u(X, Y)",
        1,
    ),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, A, _), edge(A, Z, _)", "?t(3, Y)", 1),
    // The best rows only.
    (
        "+d(Y, min<W>) <- edge(_, Y, W)
+d(Z, min<W>) <- d(Y, E), edge(Y, A, V), edge(A, Z, V), W = E + V",
        "?d(X, W)",
        1,
    ),
    // Conditions that would stop if they were asked of rows that the recursion does not reach.
    (
        "+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, W), 100000000000000000 * Z * W >= 0, odd(Z)",
        "?t(X, Y)",
        1,
    ),
    // Nothing that belongs together.
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), edge(Y, Z, W)", "?t(X, Y)", 0),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), node(Y), edge(Y, Z, _), X < Z", "?t(X, Y)", 0),
    ("+t(X, Y) <- edge(X, Y, 0)\n+t(X, Z) <- t(X, Y), node(Z), odd(Y)", "?t(X, Y)", 0),
];

#[test]
fn what_is_joined_once_is_what_is_joined_in_each_round() {
    for graph in [(12, 30, 1), (60, 90, 1), (130, 200, 40_000_000)] {
        for (rules, question, offered) in RULES {
            let off = Thresholds { joined_bindings: usize::MAX, ..from(usize::MAX) };
            let expected = rows(rules, question, graph, off, 1);
            for (thresholds, threads) in [
                (Thresholds::rounds_alone(), 1),
                (Thresholds::rounds_alone(), 2),
                (Thresholds { joined_bindings: 200, ..Thresholds::rounds_alone() }, 2),
                (Thresholds { joined_bindings: 1, ..Thresholds::rounds_alone() }, 1),
                (from(0), 2),
                (Thresholds::default(), 2),
            ] {
                let found = rows(rules, question, graph, thresholds, threads);
                assert!(found == expected, "{graph:?}, {thresholds:?}:\n{rules}\n{question}");
            }
            // A part may be no recursion, or over before it begins.
            if !question.contains(char::is_numeric) {
                assert_eq!(joined(rules, question).len(), *offered, "{rules}");
            }
        }
    }
}

/// Conditions that bind more variables than a relation can have columns.
#[test]
fn what_is_too_wide_for_a_relation_is_joined_in_each_round() {
    let names = |prefix: &str| (0..200).map(|n| format!("{prefix}{n}")).collect::<Vec<_>>().join(", ");
    let (left, right) = (names("L"), names("R"));
    let compared: String = (0..200).map(|n| format!(", X + L{n} + R{n} < 500")).collect();
    let ones = ["1"; 200].join(", ");
    let rules = format!(
        "+left(Y, 1, {ones}) <- node(Y)
+right[(1, {ones})]
+t(X, Y) <- edge(X, Y, 0)
+t(X, Z) <- t(X, Y), left(Y, K, {left}), right(K, {right}), edge(Y, Z, _){compared}",
    );
    let off = Thresholds { joined_bindings: usize::MAX, ..from(usize::MAX) };
    let expected = rows(&rules, "?t(X, Y)", (12, 30, 1), off, 1);
    assert!(expected.len() > 12);
    assert_eq!(rows(&rules, "?t(X, Y)", (12, 30, 1), Thresholds::rounds_alone(), 2), expected);
}

/// The auxiliary relations that a question derives where it may.
fn joined(rules: &str, question: &str) -> BTreeSet<String> {
    let options = EngineOptions { thresholds: Thresholds::rounds_alone(), ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    fill(&mut session, 12, 24, 1);
    run(&mut session, rules);
    let lines = run(&mut session, &format!(".profile {question}")).expect("rows");
    let lines = lines.iter().map(|line| format!("{line:?}"));
    let names =
        lines.filter_map(|line| Some(line.split_once("emit ?joined_")?.1.split('(').next()?.to_owned()));
    names.collect()
}
