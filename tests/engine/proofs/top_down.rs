//! Rows of recursions that are kept, or derived first, whose proofs are looked up from the top down: the same as where everything
//! is evaluated.

use stratalog_engine::{Proof, Session};
use stratalog_tests::modes::{Mode, Recursions};

use super::run;
use super::searched::{NODES, edges, explained};

/// Rules over some of `e`, `f` and `w`, named by what is special about them, and goals whose rows are explained.
const PROGRAMS: &[(&str, &str, &[&str])] = &[
    (
        "what a variable points to",
        "+p(X, O) <- e(X, O)\n+p(X, O) <- f(X, Y), p(Y, O)\n+h(A, O) <- w(X, Y, 1), p(X, A), p(Y, O)\n\
         +p(X, O) <- w(X, Y, 2), p(Y, A), h(A, O)",
        &["p(X, Y)", "h(X, Y)"],
    ),
    (
        "even and odd",
        "+odd(X, Y) <- e(X, Y)\n+even(X, Z) <- odd(X, Y), e(Y, Z)\n+odd(X, Z) <- even(X, Y), e(Y, Z)",
        &["even(X, Y)", "odd(X, Y)"],
    ),
    (
        "the same generation",
        "+s(X, Y) <- e(P, X), e(P, Y)\n+s(X, Y) <- e(P, X), s(P, Q), e(Q, Y)",
        &["s(X, Y)"],
    ),
    (
        "a recursion over another one",
        "+t(X, Y) <- f(X, Y)\n+t(X, Z) <- t(X, Y), f(Y, Z)\n+u(X, Y) <- e(X, Y)\n+u(X, Z) <- t(X, Y), u(Y, V), t(V, Z)",
        &["u(X, Y)", "t(X, Y)"],
    ),
    (
        "a recursion over one in halves",
        "+t(X, Y) <- f(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+u(X, Y) <- e(X, Y)\n+u(X, Z) <- t(X, Y), u(Y, V), t(V, Z)",
        &["u(X, Y)"],
    ),
    (
        "what is not reached",
        "+t(X, Y) <- f(X, Y)\n+t(X, Z) <- t(X, Y), f(Y, Z)\n+u(X, Y) <- e(X, Y), !t(X, Y)\n+u(X, Z) <- u(X, Y), u(Y, Z), !t(Z, X)",
        &["u(X, Y)"],
    ),
    (
        "three columns",
        "+t(X, Y, 1) <- e(X, Y)\n+t(X, Z, N) <- t(X, Y, M), e(Y, Z), N = M + 1, N < 5",
        &["t(X, Y, Z)", "t(0, Y, 3)"],
    ),
    (
        "counted",
        "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z), X != Z\n+c(X, count<Y>) <- t(X, Y)\n+d(X, Y) <- c(X, N), c(Y, M), e(X, Y), N < M",
        &["c(X, Y)", "d(X, Y)"],
    ),
    (
        "the least of what follows",
        "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z), X != Z\n+m(X, min<Y>) <- t(X, Y)\n+m(X, max<Y>) <- f(X, Y), t(Y, X)",
        &["t(X, Y)"],
    ),
    (
        "the least, and what rests on it",
        "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z), X != Z\n+m(X, min<Y>) <- t(X, Y)\n+n(X, Z) <- m(X, Y), t(Y, Z), !f(X, Z)",
        &["m(X, Y)", "n(X, Y)"],
    ),
    (
        "shortest ways",
        "+d(X, Y, min<V>) <- w(X, Y, V)\n+d(X, Z, min<V>) <- d(X, Y, A), w(Y, Z, B), V = A + B",
        &["d(X, Y, V)", "d(1, Y, V)"],
    ),
    (
        "what is offered last",
        "+m(X, max<V>) <- w(X, _, V)\n+m(Y, max<V>) <- m(X, _), w(X, Y, V)",
        &["m(X, V)"],
    ),
    (
        "the best two",
        "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z), X != Z\n+b(X, top_k<2, Y>) <- t(X, Y)",
        &["b(X, Y)"],
    ),
    (
        "constants, and what may be anything",
        "+t(X, Y) <- w(X, Y, _)\n+t(X, Z) <- t(X, Y), w(Y, Z, 1), w(_, X, _)\n+t(X, 7) <- t(X, 3), t(2, X)\n+u(X) <- t(X, 7), e(_, X)\n+u(Y) <- u(X), f(X, Y)",
        &["u(X)", "t(X, 7)"],
    ),
    (
        "facts among what follows",
        "+p[(1, 5), (6, 2)]\n+p(X, O) <- e(X, O)\n+p(X, O) <- f(X, Y), p(Y, O), X != O",
        &["p(X, Y)"],
    ),
    (
        "steps that are derived at several heights",
        "+r(X, Y) <- e(X, Y)\n+s(X, Y) <- r(X, Y)\n+s(X, Y) <- f(X, Y)\n+t(X, Y) <- s(X, Y), X < Y\n+t(X, Z) <- t(X, Y), s(Y, Z), t(Y, _)",
        &["t(X, Y)", "s(X, Y)"],
    ),
    (
        "two of each other, of which nearly all pairs hold",
        "+a(X, Y) <- e(X, Y)\n+a(X, Z) <- a(X, Y), b(Y, Z), !f(X, Z)\n+a(X, Z) <- a(X, Y), a(Y, Z), w(X, Z, _)\n\
         +b(X, Y) <- f(X, Y)\n+b(X, Z) <- b(X, Y), a(Y, Z)\n+b(X, Y) <- b(Y, X)\n+c(X) <- a(X, Y), b(Y, X), !e(Y, X)",
        &["a(X, Y)", "b(X, Y)", "c(X)"],
    ),
    (
        "products of steps that are derived at one height",
        "+r(X, Y) <- e(X, Y), X != Y\n+t(X, Y) <- r(X, Y)\n+t(X, Z) <- t(X, Y), t(Z, Y)\n+t(X, Z) <- r(Y, X), t(Y, Z)",
        &["t(X, Y)"],
    ),
    (
        "chains of three of each other",
        "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), u(V, Y), t(V, Z)\n+u(X, Y) <- f(X, Y)\n+u(X, Z) <- u(X, Y), t(Y, Z)",
        &["t(X, Y)", "u(X, Y)"],
    ),
];

/// What follows one after the other: facts go and come, and the session has some of its own.
const CHANGES: [&str; 6] = [
    "",
    "-e(X, Y) <- e(X, Y), X < 2",
    "+e[(2, 5), (5, 2)]\n+w[(3, 5, 1)]",
    "e(4, 5)\nf(5, 0)",
    "-f(X, Y) <- f(X, Y), Y = 1",
    "+f[(1, 1), (5, 3)]",
];

/// Reads the whole of all relations, so that they are kept.
fn read_all(session: &mut Session, rules: &str) {
    for rule in rules.lines().filter(|line| line.contains("<-")) {
        let name = rule.trim_start_matches('+').split('(').next().unwrap_or_default();
        run(session, &format!(".rule {name}")).expect("rows");
    }
}

/// All that is asked of one state, row by row as well.
fn all(session: &mut Session, goals: &[&str]) -> Vec<(String, Proof)> {
    let of_node =
        |goal: &&str| (0..NODES).map(|node| goal.replacen('X', &node.to_string(), 1)).collect::<Vec<_>>();
    let mut goals: Vec<String> =
        goals.iter().flat_map(of_node).chain(goals.iter().map(|goal| (*goal).to_owned())).collect();
    goals.sort();
    goals.dedup();
    goals.iter().flat_map(|goal| explained(session, goal)).collect()
}

#[test]
fn what_is_looked_up_from_the_top_down_is_what_is_evaluated() {
    let evaluated = Mode { threads: 1, without: &[], recursions: Recursions::Replanned, keeps_views: false };
    let usual = Mode { recursions: Recursions::AsUsual, keeps_views: true, ..evaluated };
    // What proofs go through is derived for each question, or for the first that needs it, and then looked up.
    let derived = Mode { threads: 2, recursions: Recursions::ByStrategies, ..evaluated };
    let derived_once = Mode { keeps_views: true, ..derived };
    let modes = [(evaluated, false), (usual, true), (derived, false), (derived_once, false)];
    for (number, (name, rules, goals)) in PROGRAMS.iter().enumerate() {
        for seed in 0..3 {
            let edges = edges(seed * 100 + number as u64);
            let mut sessions = modes.map(|(mode, reads_all)| {
                let mut session = mode.engine().open_session("default").expect("a session");
                run(&mut session, &format!("{edges}\n{rules}")).expect("a program");
                (session, reads_all)
            });
            for change in CHANGES {
                let [expected, found @ ..] = sessions.each_mut().map(|(session, reads_all)| {
                    if !change.is_empty() {
                        run(session, change).expect("a change");
                    }
                    if *reads_all {
                        read_all(session, rules);
                    }
                    all(session, goals)
                });
                for found in found {
                    assert_eq!(found.len(), expected.len(), "{name}, seed {seed}, {change:?}");
                    for (found, expected) in found.iter().zip(&expected) {
                        assert_eq!(found, expected, "{name}, seed {seed}, {change:?}");
                    }
                }
            }
        }
    }
}
