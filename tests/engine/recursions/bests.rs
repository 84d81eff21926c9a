//! Rules that keep the best of a value look only for the best rows on one side of a number. Where no ranges are looked up they
//! look at all rows: they find the same.

use stratalog_engine::Thresholds;

use super::compositions::{plan, rows};
use super::from;

/// What leaves where, when, and arrives when; with times that are floats, of two kinds, and not all numbers.
const TRIPS: &str =
    "+trip(X, Y, D, A) <- edge(X, Y, W), edge(Y, Z, V), node(N), N < 8, D = W * 3 + N, A = D + V * N
+halves(X, Y, D, A) <- trip(X, Y, E, A), D = E / 2.0
+mixed(X, Y, D, A) <- trip(X, Y, D, A), A > 4
+mixed(X, Y, D, A) <- trip(X, Y, E, A), D = E / 2.0
+named(X, Y, D, A) <- trip(X, Y, D, A)
+named(X, Y, D, A) <- name(X, D), edge(X, Y, A)
";

/// Rules after these; the question; and whether only best rows are looked for.
const BESTS: &[(&str, &str, bool)] = &[
    (
        "+at(X, min<T>) <- X = 5, T = 0
+at(Y, min<A>) <- at(X, T), trip(X, Y, D, A), T <= D",
        "?at(X, T)",
        true,
    ),
    (
        "+at(X, min<T>) <- odd(X), T = 3
+at(Y, min<A>) <- at(X, T), D > T, trip(X, Y, D, A)",
        "?at(X, T)",
        true,
    ),
    // The last way to leave so that one arrives in time.
    (
        "+by(Y, max<T>) <- odd(Y), T = 9
+by(X, max<D>) <- by(Y, T), trip(X, Y, D, A), A <= T",
        "?by(X, T)",
        true,
    ),
    (
        "+by(Y, max<T>) <- odd(Y), T = 9
+by(X, max<D>) <- by(Y, T), trip(X, Y, D, A), T > A",
        "?by(X, T)",
        true,
    ),
    // From everywhere, with conditions on what else is bound.
    (
        "+at(S, S, min<T>) <- odd(S), T = 1
+at(S, Y, min<A>) <- at(S, X, T), trip(X, Y, D, A), T <= D, !odd(Y), edge(Y, _, W), W > 0",
        "?at(S, X, T)",
        true,
    ),
    // The largest of what begins early, as far as a condition allows it, and without.
    (
        "+at(X, max<T>) <- odd(X), T = 2
+at(Y, max<A>) <- at(X, T), trip(X, Y, D, A), T >= D, A < 30",
        "?at(X, T)",
        false,
    ),
    (
        "+at(X, max<T>) <- odd(X), T = 2
+at(Y, max<A>) <- at(X, T), trip(X, Y, D, A), T >= D",
        "?at(X, T)",
        true,
    ),
    // More is asked of the number.
    (
        "+at(X, min<T>) <- odd(X), T = 0
+at(Y, min<A>) <- at(X, T), trip(X, Y, D, A), T <= D, D != 4",
        "?at(X, T)",
        false,
    ),
    (
        "+at(X, min<T>) <- odd(X), T = 0
+at(Y, min<A>) <- at(X, T), trip(X, Y, D, A), T + 1 <= D",
        "?at(X, T)",
        true,
    ),
    (
        "+at(X, min<T>) <- odd(X), T = 0
+at(Y, min<A>) <- at(X, T), trip(X, Y, D, A), T <= D, trip(Y, _, D, _)",
        "?at(X, T)",
        false,
    ),
    // Numbers that floats are, of two kinds, and what is no number: the last two have no such index.
    (
        "+at(X, min<T>) <- odd(X), T = 0
+at(Y, min<A>) <- at(X, T), halves(X, Y, D, A), T <= D",
        "?at(X, T)",
        true,
    ),
    (
        "+at(X, min<T>) <- odd(X), T = 0
+at(Y, min<A>) <- at(X, T), mixed(X, Y, D, A), T < D",
        "?at(X, T)",
        true,
    ),
    (
        "+at(X, min<T>) <- odd(X), T = 0
+at(Y, min<A>) <- at(X, T), named(X, Y, D, A), T <= D",
        "?at(X, T)",
        true,
    ),
];

/// Questions that only ask whether there is such a row, after the same rules; and whether one row is looked for.
const WITNESSES: &[(&str, bool)] = &[
    // What is not the last, or not the first.
    ("?X, Y, D, A <- trip(X, Y, D, A), trip(X, _, E, _), E > D", true),
    ("?X, Y, A <- trip(X, Y, D, A), trip(X, _, _, B), A > B", true),
    ("?X, D <- trip(X, Y, D, A), trip(X, _, E, _), E >= D + 2", true),
    ("?X, D <- trip(X, Y, D, A), trip(X, _, E, _), D - 1 >= E", true),
    ("?X, D <- trip(X, Y, D, A), trip(X, _, E, _), E >= 20", true),
    // More is asked of the number.
    ("?X, D <- trip(X, Y, D, A), trip(X, _, E, _), E >= D + 2, E != 9", false),
    ("?X, D <- trip(X, Y, D, A), trip(X, _, E, _), E * 2 > D", false),
    ("?X, D <- trip(X, Y, D, A), trip(X, _, E, B), E > B - D", false),
    // For each of what else is bound.
    ("?X, Y, D, Z <- trip(X, Y, D, _), trip(X, Z, E, _), E > D", true),
    ("?X, Z <- trip(X, _, D, _), trip(X, Z, E, _), E > D", true),
    ("?X <- trip(X, _, D, _), trip(X, _, E, _), E < D", true),
    // Several of them, that wait for each other or do not.
    ("?X <- node(X), trip(X, _, D, _), trip(X, _, E, _), E < D, trip(X, _, _, A), A > 20", true),
    ("?X, D <- trip(X, Y, D, A), trip(Y, _, E, B), E > A, B < D", true),
    // Each solution counts, or the number is wanted.
    ("?X, count<E> <- trip(X, _, D, _), trip(X, _, E, _), E > D", false),
    ("?X, E <- trip(X, _, _, _), trip(X, _, E, _), E > X", false),
    // Floats, two kinds of numbers, what is none.
    ("?X, D <- halves(X, Y, D, A), halves(X, _, E, _), E > D", true),
    ("?X, D <- mixed(X, Y, D, A), mixed(X, _, E, _), E > D", true),
    ("?X, D <- named(X, Y, D, A), named(X, _, E, _), E > D", true),
    ("?X, D <- trip(X, Y, D, A), mixed(X, _, E, _), E > D", true),
];

#[test]
fn one_row_stands_for_all_where_only_one_has_to_be_there() {
    for graph in [(12, 24, 1), (60, 200, 1), (130, 150, 40_000_000)] {
        for (question, is_best) in WITNESSES {
            let all = Thresholds { range_rows: usize::MAX, ..Thresholds::default() };
            let expected = rows(TRIPS, question, graph, all, 1);
            for (thresholds, threads) in
                [(Thresholds::rounds_alone(), 1), (Thresholds::rounds_alone(), 2), (Thresholds::default(), 2)]
            {
                let found = rows(TRIPS, question, graph, thresholds, threads);
                assert!(found == expected, "{graph:?}, {thresholds:?}: {question}");
            }
            let plan = plan(TRIPS, question, Thresholds::rounds_alone());
            assert_eq!(plan.contains("by best"), *is_best, "{question}\n{plan}");
        }
    }
}

#[test]
fn best_rows_are_those_of_all_rows() {
    for graph in [(12, 24, 1), (60, 200, 1), (130, 150, 40_000_000)] {
        for (rules, question, is_best) in BESTS {
            let rules = format!("{TRIPS}{rules}");
            let all = Thresholds { range_rows: usize::MAX, replan_bindings: usize::MAX, ..from(usize::MAX) };
            let expected = rows(&rules, question, graph, all, 1);
            assert!(!expected.is_empty());
            for (thresholds, threads) in [
                (Thresholds::rounds_alone(), 1),
                (Thresholds { replan_bindings: usize::MAX, ..Thresholds::rounds_alone() }, 2),
                (Thresholds::lowest(), 1),
                (Thresholds::default(), 2),
            ] {
                let found = rows(&rules, question, graph, thresholds, threads);
                assert!(found == expected, "{graph:?}, {thresholds:?}:\n{rules}\n{question}");
            }
            let plan = plan(&rules, question, Thresholds::rounds_alone());
            assert_eq!(plan.contains("by best"), *is_best, "{rules}\n{plan}");
        }
    }
}
