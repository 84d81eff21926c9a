//! Recursions asked for a part of their rows.

use super::forms::{CHAINS, WALKS};
use super::ways_agree;

/// Questions about two columns: for all rows, from one end, from the other, from both, and from many values at once.
pub(crate) const QUESTIONS: &[&str] = &[
    "?t(X, Y)",
    "?t(3, Y)",
    "?t(X, 8)",
    "?t(3, 8)",
    "?odd(X), t(X, Y)",
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
