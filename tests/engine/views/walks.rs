//! Walks through graphs, and best values of their nodes, brought forward: chains, circles, trees, what hangs together closely.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof};
use proptest::{proptest, sample::select};
use stratalog_engine::{Advance, EngineOptions, Session};

use super::changes::cases;
use super::sessions::{engine_of, run};

/// What `t` is: closures, walks from other starts, along several relations, in either direction, and some that are no walks of
/// the kind that starts and edges are looked up for.
const WALKS: [&str; 24] = [
    "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- e(X, Y), t(Y, Z)",
    "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)",
    "+t(X, Y) <- e(Y, X)\n+t(X, Z) <- t(X, Y), e(Z, Y)",
    "+t(X, X) <- n(X)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, Y) <- s(Y, X)\n+t(Z, Y) <- t(X, Y), e(Z, X)",
    "+t(X, Y) <- e(X, Y)\n+t(X, Y) <- f(X, Y, _)\n+t(X, Z) <- t(X, Y), e(Y, Z)\n+t(X, Z) <- t(X, Y), f(Y, Z, _)",
    "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)\n+t(X, Z) <- t(X, Y), e(Z, Y)",
    "+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Z) <- t(X, Y), f(Y, Z, _)",
    "+t(X, Y) <- f(X, _, Y)\n+t(X, Z) <- t(X, Y), f(Y, _, Z)",
    "+t(X, Y) <- both(X, Y)\n+both(X, Y) <- e(X, Y), e(Y, X)\n+t(X, Z) <- t(X, Y), both(Y, Z)",
    "+t(X, Y) <- e(X, Y), n(X)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, Y) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z), !n(Y)",
    "+t(X, Y) <- s(X, Y), X != Y\n+t(X, X) <- n(X), !s(X, _)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(L, Y) <- s(X, Y), L = concat(\"from \", X)\n+t(L, Z) <- t(L, Y), e(Y, Z)",
    "+t(X, Y) <- s(X, Y), n(X)\n+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, count<Y>) <- e(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, max<Y>) <- s(X, Y)\n+t(X, Z) <- t(X, Y), e(Y, Z)",
    "+t(X, Y) <- f(X, Y, 1)\n+t(X, Z) <- t(X, Y), f(Y, Z, 1)",
    "+t(X, Y) <- f(X, Y, W), W > 0\n+t(X, Z) <- t(X, Y), f(Y, Z, W), W > 0\n+t(X, Z) <- t(X, Y), e(Y, Z), Y != Z",
    "+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), f(Z, Y, Y)\n+t(X, Z) <- t(X, Y), f(Y, Z, W), W != 2, Z >= W",
    "+l(X, Y, K) <- f(X, Y, W), K = concat(\"k\", W)\n+t(X, Y) <- l(X, Y, \"k1\")\n+t(X, Z) <- t(X, Y), l(Y, Z, K), K <= \"k2\"",
    "+t(X, Y) <- s(X, Y)\n+t(X, Z) <- t(X, Y), f(Y, Z, 1.0)\n+t(X, Z) <- t(X, Y), f(Y, Z, W), W = 2.0",
];

/// The same for `t` as what is reached, with or without the best of values: from facts, from constants, by conditions; by sums,
/// by steps, labels that are handed on as they are, sums that are too large.
const BESTS: [&str; 23] = [
    "+t(X) <- n(X)\n+t(Y) <- t(X), e(X, Y)",
    "+t(Y) <- e(0, Y)\n+t(Y) <- t(X), e(X, Y)",
    "+t(X) <- X = 1\n+t(Y) <- t(X), e(X, Y)\n+t(Y) <- t(X), f(Y, X, _)",
    "+t(X) <- s(X, Y), Y > 2\n+t(Y) <- t(X), e(X, Y)",
    "+t(X) <- s(X, _), !n(X)\n+t(X) <- s(1, X)\n+t(Y) <- t(X), e(X, Y)",
    "+t(X, min<D>) <- n(X), D = 0\n+t(Y, min<D>) <- t(X, C), f(X, Y, W), D = C + W",
    "+t(X, min<D>) <- X = 0, D = 3\n+t(Y, min<D>) <- t(X, C), e(X, Y), D = C + 1",
    "+t(X, min<D>) <- s(X, D)\n+t(Y, min<D>) <- t(X, C), e(X, Y), D = C + 2\n+t(Y, min<D>) <- t(X, D), f(X, Y, _)",
    "+t(X, min<L>) <- e(X, _), L = X\n+t(Y, min<L>) <- t(X, L), e(X, Y)\n+t(X, min<L>) <- t(Y, L), e(X, Y)",
    "+t(X, max<L>) <- s(X, L)\n+t(Y, max<L>) <- t(X, L), e(X, Y)",
    "+t(X, min<D>) <- s(X, _), D = 1200000000\n+t(Y, min<D>) <- t(X, C), e(X, Y), D = C + 500000000",
    "+t(X, min<D>) <- n(X), D = 0.5\n+t(Y, min<D>) <- t(X, C), e(X, Y), D = C + 1",
    "+t(min<D>, X) <- s(X, D), D != 1\n+t(min<D>, Y) <- t(C, X), f(X, Y, W), D = C + W\n+t(min<D>, Y) <- t(D, X), e(Y, X)",
    "+t(X, min<D>) <- n(X), D = 0\n+t(Y, min<D>) <- t(X, C), f(X, Y, W), D = C + W, W != 1",
    "+t(X) <- f(X, _, 1)\n+t(Y) <- t(X), f(X, Y, W), W < 2",
    "+t(X, min<D>) <- f(X, D, 0)\n+t(Y, min<D>) <- t(X, C), f(X, Y, W), W > 0, D = C + W",
    "+t(X, min<D>) <- n(X), D = 0\n+t(Y, min<D>) <- t(X, C), f(X, Y, 1), D = C + 1\n+t(Y, min<D>) <- t(X, C), e(X, Y), X < Y, D = C + 3",
    "+g(X, Y, V) <- f(X, Y, W), V = W * 0.1\n+t(X, min<D>) <- n(X), D = 0\n+t(Y, min<D>) <- t(X, C), g(X, Y, V), D = C + V",
    "+g(X, Y, V) <- e(X, Y), V = X / 7.0 + 0.25\n+t(X, min<D>) <- s(X, _), D = 0.5\n+t(Y, min<D>) <- t(X, C), g(X, Y, V), D = C + V",
    "+t(X, min<L>) <- s(X, Y), L = 1 - Y\n+t(Y, min<L>) <- t(X, L), e(X, Y)",
    "+t(X, max<L>) <- s(X, Y), L = 1 - Y\n+t(Y, max<L>) <- t(X, L), e(X, Y)",
    "+t(X, max<L>) <- s(X, Y), L = Y * 0.5\n+t(Y, max<L>) <- t(X, L), e(X, Y)",
    "+t(X, min<L>) <- s(X, Y), L = concat(\"at \", Y)\n+t(Y, min<L>) <- t(X, L), e(X, Y)",
];

type Edge = (i64, i64);

fn list(pairs: &[Edge]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(x, y)| format!("({x}, {y})")).collect();
    pairs.join(", ")
}

/// Edges between so many nodes.
fn graph(nodes: i64) -> impl Strategy<Value = Vec<Edge>> {
    let random = move |most: usize| vec((0..nodes, 0..nodes), 1..most);
    let chain = (0..nodes - 1).map(|x| (x, x + 1)).collect::<Vec<_>>();
    let circle = (0..nodes).map(|x| (x, (x + 1) % nodes)).collect::<Vec<_>>();
    let tree = (1..nodes).map(|x| (x / 2, x)).collect::<Vec<_>>();
    prop_oneof![
        2 => random(nodes as usize),
        3 => random(3 * nodes as usize),
        1 => Just(chain),
        1 => Just(circle),
        1 => Just(tree),
    ]
}

fn change(nodes: i64) -> impl Strategy<Value = String> {
    let node = move || 0..nodes;
    let pairs = move |most: usize| vec((node(), node()), 1..most);
    let relation = || select(vec!["e", "e", "e", "e", "s", "s", "t"]);
    prop_oneof![
        4 => (relation(), pairs(4)).prop_map(|(relation, pairs)| format!("+{relation}[{}]", list(&pairs))),
        2 => (relation(), pairs(20)).prop_map(|(relation, pairs)| format!("-{relation}[{}]", list(&pairs))),
        // Pairs are seldom edges: these have some.
        4 => (relation(), node()).prop_map(|(relation, x)| format!("-{relation}(X, Y) <- {relation}(X, Y), X = {x}")),
        4 => (relation(), node()).prop_map(|(relation, y)| format!("-{relation}(X, Y) <- {relation}(X, Y), Y = {y}")),
        1 => (relation(), node()).prop_map(|(relation, x)| format!("-{relation}(X, Y) <- {relation}(X, Y), X > {x}")),
        2 => (node(), node(), 0..3_i64).prop_map(|(x, y, z)| format!("+f[({x}, {y}, {z}), ({x}, {y}, {x}), ({y}, {z}, {z})]")),
        2 => (node(), 0..3_i64).prop_map(|(x, z)| format!("-f(X, Y, Z) <- f(X, Y, Z), X = {x}, Z != {z}")),
        2 => (node(), node()).prop_map(|(x, y)| format!("+n[({x}), ({y})]")),
        1 => node().prop_map(|x| format!("-n({x})")),
        2 => (pairs(3), node()).prop_map(|(pairs, x)| {
            format!("-e(X, Y) <- e(X, Y), X = {x}\n+e[{}]\n-s(X, Y) <- s(X, Y), Y = {x}\n+n({x})", list(&pairs))
        }),
    ]
}

thread_local! {
    static STEPS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

fn are_as_anew(rules: &'static [&'static str], question: impl Fn(&str) -> &'static str) -> (u64, u64) {
    let with_graph = select(vec![4_i64, 9, 25, 100])
        .prop_flat_map(|nodes| (graph(nodes), graph(nodes), vec(change(nodes), 1..15)));
    STEPS.set((0, 0));
    proptest!(ProptestConfig { cases: cases(), max_shrink_iters: 3_000, ..ProptestConfig::default() }, |(
        rules in select(rules),
        (edges, starts, changes) in with_graph,
    )| {
        let question = question(rules);
        let start = |advance| {
            let engine = engine_of(EngineOptions { advance, ..EngineOptions::default() });
            let mut session = engine.open_session("default").expect("the graph `default` exists");
            let facts = format!("+e[{}]\n+s[{}]\n+n[(0), (1)]\n+f[(0, 1, 2), (1, 2, 0)]", list(&edges), list(&starts));
            run(&mut session, &facts, false).expect("facts");
            let declared = if question == "?t(X)" { "+t(x: any)" } else { "+t(x: any, y: any)" };
            // Best values are made by rules alone.
            if !rules.contains("min<") && !rules.contains("max<") {
                run(&mut session, declared, false).expect("a declaration");
            }
            run(&mut session, rules, false).expect("rules");
            (engine, session)
        };
        let (engine, mut keeps) = start(Advance::Always);
        let (_, mut derives) = start(Advance::Never);
        let mut check = |keeps: &mut Session, after: &str| {
            let expected = run(&mut derives, after, false);
            assert_eq!(run(keeps, after, false).is_ok(), expected.is_ok(), "{after}: {expected:?}");
            let (found, expected) = (run(keeps, question, false), run(&mut derives, question, false));
            assert_eq!(found, expected, "after {after}");
        };
        check(&mut keeps, "?e(X, Y)");
        for change in &changes {
            check(&mut keeps, change);
        }
        let (status, (steps, given_up)) = (engine.views(), STEPS.get());
        STEPS.set((steps + status.steps, given_up + status.given_up));
    });
    STEPS.get()
}

#[test]
fn walks_that_are_brought_forward_are_walked_anew() {
    let (steps, given_up) = are_as_anew(&WALKS, |_| "?t(X, Y)");
    assert!(steps > 2 * u64::from(cases()) && given_up == 0, "{steps} steps, {given_up} given up");
}

#[test]
fn best_values_that_are_brought_forward_are_as_anew() {
    let (steps, given_up) = are_as_anew(&BESTS, |rules| {
        if rules.contains("<D>") || rules.contains("<L>") { "?t(X, Y)" } else { "?t(X)" }
    });
    assert!(steps > u64::from(cases()) && steps > given_up, "{steps} steps, {given_up} given up");
}
