//! Walks through graphs of every form, brought forward: chains, circles, trees, what hangs together closely.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof};
use proptest::{proptest, sample::select};
use stratalog_engine::{Advance, EngineOptions, Session};

use crate::changes::cases;
use crate::sessions::{engine_of, run};

/// What `t` is: closures, walks from other starts, along several relations, in either direction, and some that are no walks of
/// the kind that starts and edges are looked up for.
const WALKS: [&str; 14] = [
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
    let relation = || select(vec!["e", "e", "e", "e", "s", "t"]);
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

#[test]
fn walks_that_are_brought_forward_are_walked_anew() {
    let with_graph = select(vec![4_i64, 9, 25, 60])
        .prop_flat_map(|nodes| (graph(nodes), graph(nodes), vec(change(nodes), 1..15)));
    proptest!(ProptestConfig { cases: cases(), max_shrink_iters: 3_000, ..ProptestConfig::default() }, |(
        rules in select(WALKS.to_vec()),
        (edges, starts, changes) in with_graph,
    )| {
        let start = |advance| {
            let engine = engine_of(EngineOptions { advance, ..EngineOptions::default() });
            let mut session = engine.open_session("default").expect("the graph `default` exists");
            let facts = format!("+e[{}]\n+s[{}]\n+n[(0), (1)]\n+f[(0, 1, 2), (1, 2, 0)]", list(&edges), list(&starts));
            run(&mut session, &facts, false).expect("facts");
            run(&mut session, rules, false).expect("rules");
            (engine, session)
        };
        let (engine, mut keeps) = start(Advance::Always);
        let (_, mut derives) = start(Advance::Never);
        let mut check = |keeps: &mut Session, after: &str| {
            let expected = run(&mut derives, after, false);
            assert_eq!(run(keeps, after, false).is_ok(), expected.is_ok(), "{after}: {expected:?}");
            let (found, expected) = (run(keeps, "?t(X, Y)", false), run(&mut derives, "?t(X, Y)", false));
            assert_eq!(found, expected, "after {after}");
        };
        check(&mut keeps, "?e(X, Y)");
        for change in &changes {
            check(&mut keeps, change);
        }
        let (status, (steps, given_up)) = (engine.views(), STEPS.get());
        STEPS.set((steps + status.steps, given_up + status.given_up));
    });
    let (steps, given_up) = STEPS.get();
    assert!(steps > 2 * u64::from(cases()) && given_up == 0, "{steps} steps, {given_up} given up");
}
