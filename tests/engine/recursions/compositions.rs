//! Rules that compose a relation with itself read only rows that are not composed on one side. The same rules with a condition
//! on the middle, which every value fulfils, read all rows on both: they find the same.

use std::collections::BTreeSet;

use stratalog_engine::{Engine, EngineOptions, Thresholds};
use stratalog_tests::value::Row;

use super::{fill, from, run};

/// Rules in which `MIDDLE` stands where a condition on the middle may, `Y`; the question; and whether the rules are taken for
/// such that compose.
const COMPOSITIONS: &[(&str, &str, bool)] = &[
    // Beside a rule that is no chain.
    (
        "+t(X, Y) <- edge(X, Y, 0)
         +t(X, Z) <- t(X, Y), t(Y, Z)MIDDLE
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
        "?t(X, Y)",
        true,
    ),
    // Ends that differ, in either order.
    (
        "+t(X, Y) <- edge(X, Y, 0)
         +t(X, Z) <- t(X, Y), t(Y, Z), X != ZMIDDLE
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K), K > 0",
        "?t(X, Y)",
        true,
    ),
    (
        "+t(Z, X) <- edge(X, Z, 0)
         +t(Z, X) <- Z != X, t(Y, X), t(Z, Y)MIDDLE
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K), K > 0",
        "?t(X, Y)",
        true,
    ),
    // Conditions on one end, with what nothing else reads, with comparisons and negations.
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- odd(X), t(X, Y), t(Y, Z)MIDDLE
         +t(X, Y) <- t(Y, X), odd(Y)",
        "?t(X, Y)",
        true,
    ),
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z), !odd(Z), edge(Z, W, _), W != 3MIDDLE
         +t(X, Y) <- t(Y, X), odd(Y)",
        "?t(X, Y)",
        true,
    ),
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z), X < 9, t(X, X)MIDDLE
         +t(X, Y) <- t(Y, X), odd(Y)",
        "?t(X, Y)",
        true,
    ),
    // Two rules, each with a condition on another end.
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z), odd(X)MIDDLE
         +t(X, Z) <- t(X, Y), t(Y, Z), !odd(Z)MIDDLE
         +t(X, Y) <- t(Y, X), odd(Y), X > 5",
        "?t(X, Y)",
        true,
    ),
    // Conditions on both ends: what is composed of more than two rows need not come about.
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z), odd(X), !odd(Z)MIDDLE
         +t(X, Y) <- t(Y, X), odd(Y), X > 5",
        "?t(X, Y)",
        false,
    ),
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z), X < ZMIDDLE
         +t(X, Y) <- t(Y, X), odd(Y), X > 5",
        "?t(X, Y)",
        false,
    ),
    // Beside columns that are handed on, and constants.
    (
        "+t(K, X, Y) <- edge(X, Y, K)
         +t(K, X, Z) <- t(K, X, Y), t(K, Y, Z)MIDDLE
         +t(L, X, Y) <- t(K, X, Y), odd(X), L = K + 1, L < 4",
        "?t(K, X, Y)",
        true,
    ),
    (
        "+t(X, K, Y) <- edge(X, Y, K)
         +t(X, 1, Z) <- t(X, 1, Y), t(Y, 1, Z)MIDDLE
         +t(X, K, Z) <- t(5, K, 7), t(X, K, Y), t(Y, K, Z)MIDDLE
         +t(X, 2, Z) <- t(X, 2, Y), t(Z, 2, Y), X != Z
         +t(Y, K, X) <- t(X, K, Y), t(8, K, 9)
         +t(5, 2, 7) <- t(8, 1, 9)
         +t(X, L, Y) <- t(X, K, Y), odd(X), L = K - 1, L > 0",
        "?t(X, K, Y)",
        true,
    ),
    // Stored rows are not composed, nor are those of another relation of the stratum.
    (
        "+edge(X, Z, 1) <- edge(X, Y, 1), edge(Y, Z, 1)MIDDLE
         +u(Y, X) <- edge(X, Y, 1), odd(X)
         +edge(X, Y, 1) <- u(X, Y), !odd(Y)",
        "?edge(X, Y, K)",
        true,
    ),
    // Other shapes of the same relation.
    (
        "+t(X, Y) <- edge(X, Y, 1)
         +t(X, Z) <- t(X, Y), t(Y, Z)MIDDLE
         +t(X, Z) <- t(X, Y), t(Z, Y)
         +t(X, Z) <- t(Y, X), t(Z, Y), odd(Y)",
        "?t(X, Y)",
        true,
    ),
    // A question from one end.
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z)MIDDLE
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
        "?t(8, Y)",
        true,
    ),
    (
        "+t(X, Y) <- edge(X, Y, _)
         +t(X, Z) <- t(X, Y), t(Y, Z)MIDDLE
         +t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
        "?t(X, 9)",
        true,
    ),
];

#[test]
fn compositions_find_what_all_pairs_find() {
    for graph in [(12, 24, 1), (60, 110, 1), (130, 150, 40_000_000)] {
        for (rules, question, composes) in COMPOSITIONS {
            // A line that begins further to the right goes on with the one before.
            let rules = rules.replace("\n         ", "\n");
            let expected = rows(&rules.replace("MIDDLE", ", node(Y)"), question, graph, from(usize::MAX), 1);
            let rules = rules.replace("MIDDLE", "");
            for (thresholds, threads) in [
                (from(usize::MAX), 1),
                (from(usize::MAX), 2),
                (Thresholds::rounds_alone(), 1),
                (from(20), 2),
                (Thresholds::default(), 2),
            ] {
                let found = rows(&rules, question, graph, thresholds, threads);
                let differences = expected.symmetric_difference(&found).count();
                assert_eq!(differences, 0, "{graph:?}, {thresholds:?}:\n{rules}\n{question}");
            }
            // How the whole relation would be derived.
            let whole = question.replace('8', "X").replace('9', "Y");
            let plan = plan(&rules, &whole, Thresholds::default());
            assert_eq!(plan.contains("generators"), *composes, "{rules}\n{plan}");
        }
    }
}

/// The rows of a question about rules, in an engine of its own.
pub(super) fn rows(
    rules: &str,
    question: &str,
    (nodes, edges, spread): (i64, usize, i64),
    thresholds: Thresholds,
    threads: usize,
) -> BTreeSet<Row> {
    let options = EngineOptions { threads: Some(threads), thresholds, ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine in memory");
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    fill(&mut session, nodes, edges, spread);
    run(&mut session, rules);
    let rows = run(&mut session, question).expect("rows");
    let found: BTreeSet<Row> = rows.iter().cloned().collect();
    assert_eq!(found.len(), rows.len(), "rows come twice: {rules}");
    found
}

/// What a question about rules would do.
pub(super) fn plan(rules: &str, question: &str, thresholds: Thresholds) -> String {
    let engine = Engine::in_memory(EngineOptions { thresholds, ..EngineOptions::default() });
    let mut session = engine.expect("an engine in memory").open_session("default").expect("a graph");
    fill(&mut session, 12, 24, 1);
    run(&mut session, rules);
    let lines = run(&mut session, &format!(".explain {question}")).expect("rows");
    lines.iter().map(|line| format!("{line:?}\n")).collect()
}
