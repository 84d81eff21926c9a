//! Rows of closures whose proofs are ways that are searched for: the same proofs as where everything is evaluated.

use stratalog_engine::{Proof, Session};
use stratalog_tests::modes::{Mode, Recursions};

use super::{rows, run};

/// Rules of `t`, along edges of some of `e`, `f` and `w`. All are named by what is special about them.
const CLOSURES: &[(&str, &str)] = &[
    ("a step at the end", "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)"),
    ("a step at the end, named first", "+t(X, Z) <- e(Y, Z), t(X, Y)\n+t(X, Y) <- e(X, Y)"),
    ("a step at the start", "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- e(X, Y), t(Y, Z)"),
    ("two halves", "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)"),
    ("two halves, the back one first", "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(Y, Z), t(X, Y)"),
    ("against the edges", "+t(X, Y) <- e(Y, X)\n+t(X, Z) <- t(X, Y), e(Z, Y)"),
    (
        "in both directions",
        "+t(X, Y) <- e(X, Y)\n+t(X, Y) <- e(Y, X)\n+t(X, Z) <- t(X, Y), e(Y, Z)\n+t(X, Z) <- t(X, Y), e(Z, Y)",
    ),
    (
        "two kinds of edges",
        "+t(X, Y) <- f(X, Y)\n+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)\n+t(X, Z) <- t(X, Y), f(Y, Z)",
    ),
    (
        "two kinds of edges at the start",
        "+t(X, Y) <- f(X, Y)\n+t(X, Y) <- e(X, Y)\n+t(X, Z) <- f(X, Y), t(Y, Z)\n+t(X, Z) <- e(X, Y), t(Y, Z)",
    ),
    (
        "two kinds of edges in halves",
        "+t(X, Y) <- f(X, Y)\n+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)",
    ),
    ("other kinds later on", "+t(X, Y) <- f(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)"),
    ("edges with weights", "+t(X, Y) <- w(X, Y, _)\n+t(X, Z) <- t(X, Y), w(Y, Z, _)"),
    ("weights that have names", "+t(X, Y) <- w(X, Y, V)\n+t(X, Z) <- t(X, Y), w(Y, Z, V)"),
    (
        "edges of rules",
        "+s(X, Y) <- e(X, Y)\n+s(X, Y) <- f(X, Y)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), s(Y, Z)",
    ),
    (
        "edges of rules that go deep",
        "+r(X, Y) <- e(X, Y)\n+s(X, Z) <- r(X, Y), f(Y, Z)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- s(X, Y), t(Y, Z)",
    ),
    ("edges of rules in halves", "+s(X, Y) <- e(X, Y)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)"),
    (
        "edges of rules beside facts",
        "+s[(1, 4), (4, 1)]\n+s(X, Y) <- e(X, Y)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), s(Y, Z)",
    ),
    (
        "edges of rules with a negation",
        "+s(X, Y) <- e(X, Y), !f(X, Y)\n+s(X, Y) <- w(X, Y, K), K > 1\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- s(X, Y), t(Y, Z)",
    ),
    (
        "edges that are the best",
        "+s(X, min<Y>) <- e(X, Y)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), s(Y, Z)",
    ),
    (
        "edges that are ways",
        "+s(X, Y) <- f(X, Y)\n+s(X, Z) <- s(X, Y), f(Y, Z)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), s(Y, Z)",
    ),
    (
        "edges at two heights",
        "+s(X, Y) <- f(X, Y)\n+t(X, Y) <- e(X, Y)\n+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)\n+t(X, Z) <- t(X, Y), s(Y, Z)",
    ),
    ("facts among what follows", "+t[(1, 5), (6, 2)]\n+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)"),
    ("a condition", "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z), X != Z"),
];

pub(super) const NODES: u64 = 6;

/// Edges between the first nodes, sparse ones and many.
pub(super) fn edges(seed: u64) -> String {
    let mut mixed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut next = || {
        mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9).wrapping_add(1);
        mixed >> 33
    };
    let mut pairs = |count: u64| {
        (0..count).map(|_| format!("{}, {}", next() % NODES, next() % NODES)).collect::<Vec<_>>()
    };
    let (e, f) = (pairs(5 + seed % 9), pairs(3 + seed % 4));
    let listed = |pairs: &[String], more: &str| {
        pairs.iter().map(|pair| format!("({pair}{more})")).collect::<Vec<_>>().join(", ")
    };
    let w = [listed(&e, ", 1"), listed(&f, ", 2"), listed(&e[..2], ", 3")].join(", ");
    format!("+e[{}]\n+f[{}]\n+w[{w}]", listed(&e, ""), listed(&f, ""))
}

/// All rows of a goal, and why they are.
pub(super) fn explained(session: &mut Session, goal: &str) -> Vec<(String, Proof)> {
    let found = rows(session, &format!(".why full ?{goal}")).expect("proofs");
    let printed: Vec<String> = (0..found.row_count())
        .map(|row| format!("{:?}", stratalog_tests::answers::rows_of(&found.batch(row, 1))))
        .collect();
    let mut all: Vec<(String, Proof)> =
        printed.into_iter().zip(found.proofs().expect("proofs").iter().cloned()).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// All that is asked of one state.
fn all(session: &mut Session) -> Vec<(String, Proof)> {
    let mut all = Vec::new();
    for from in 0..NODES {
        all.extend(explained(session, &format!("t({from}, X)")));
        for to in 0..NODES {
            all.extend(explained(session, &format!("t({from}, {to})")));
        }
    }
    for goal in ["t(X, 3)", "t(X, X)", "t(2, X), X = 5", "t(X, Y), X = 1, Y = 4"] {
        all.extend(explained(session, goal));
    }
    all
}

/// What follows one after the other: everything is kept, facts go and come, and the session has some of its own.
const CHANGES: [&str; 6] = [
    "",
    "?t(X, Y)",
    "-e(X, Y) <- e(X, Y), X < 3\n?t(X, Y)",
    "+e[(2, 5), (5, 2)]\n?t(X, Y)",
    "e(4, 5)\nf(5, 0)",
    "?t(X, Y)",
];

#[test]
fn a_way_that_is_searched_for_is_the_one_that_is_evaluated() {
    let evaluated = Mode { threads: 1, without: &[], recursions: Recursions::Replanned, keeps_views: false };
    let usual = Mode { recursions: Recursions::AsUsual, keeps_views: true, ..evaluated };
    let by_strategies = Mode { threads: 2, recursions: Recursions::ByStrategies, ..evaluated };
    for (number, (name, rules)) in CLOSURES.iter().enumerate() {
        for seed in 0..2 {
            let edges = edges(seed * 100 + number as u64);
            let mut sessions = [evaluated, usual, by_strategies].map(|mode| {
                let mut session = mode.engine().open_session("default").expect("a session");
                run(&mut session, &format!("{edges}\n{rules}")).expect("a program");
                session
            });
            for change in CHANGES {
                let [expected, usual, by_strategies] = sessions.each_mut().map(|session| {
                    if !change.is_empty() {
                        run(session, change).expect("a change");
                        if rules.contains("+s(") {
                            run(session, "?s(X, Y)").expect("rows");
                        }
                    }
                    all(session)
                });
                assert!(!expected.is_empty());
                for (way, found) in [("usual", usual), ("by strategies", by_strategies)] {
                    assert_eq!(found, expected, "{name}, seed {seed}, {change:?}, {way}");
                }
            }
        }
    }
}

/// Proofs are told down to 250 levels; what lies below is cut off, and says so.
#[test]
fn a_long_way_is_explained_as_far_as_proofs_are_told() {
    let usual = Mode { threads: 1, without: &[], recursions: Recursions::AsUsual, keeps_views: true };
    let evaluated = Mode { recursions: Recursions::Replanned, ..usual };
    let chain: Vec<String> = (0..400).map(|node| format!("({node}, {})", node + 1)).collect();
    for (name, rules) in &CLOSURES[..5] {
        let [searched, expected] = [usual, evaluated].map(|mode| {
            let mut session = mode.engine().open_session("default").expect("a session");
            run(&mut session, &format!("+e[{}]\n{rules}", chain.join(", "))).expect("a program");
            let asked = ["t(0, 249)", "t(0, 250)", "t(0, 251)", "t(0, 252)", "t(3, 400)"];
            asked.map(|goal| explained(&mut session, goal))
        });
        assert_eq!(searched, expected, "{name}");
    }
}
