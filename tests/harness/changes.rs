//! Rules of every kind, and random changes of what they follow from.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, prop_oneof};
use proptest::sample::select;

/// Relations, each with its rules; one may read those before it.
pub const KINDS: &[(&str, &str)] = &[
    ("two(X, Z)", "+two(X, Z) <- e(X, Y), e(Y, Z)"),
    ("loops(X)", "+loops(X) <- e(X, X)"),
    ("from_one(Y)", "+from_one(Y) <- e(1, Y)"),
    ("both(X, Y)", "+both(X, Y) <- e(X, Y), e(Y, X)"),
    ("ends(X)", "+ends(X) <- n(X), !e(X, _)"),
    ("apart(X, Y)", "+apart(X, Y) <- n(X), n(Y), !e(X, Y), X != Y"),
    ("alone(X)", "+alone(X) <- n(X), !e(X, _), !e(_, X)"),
    ("next(X, Z)", "+next(X, Z) <- e(X, Y), Z = Y + 1"),
    ("three(X, _, Z)", "+three(X, 3, Z) <- e(X, Y), Z = X + Y, Z > 1"),
    ("heavy(X, Y)", "+heavy(X, Y) <- f(X, Y, W), W > 1"),
    (
        "united(X, Y)",
        "+united(X, Y) <- e(X, Y)\n+united(X, Y) <- f(Y, X, _)\n+united(X, X) <- n(X), !e(X, X)",
    ),
    ("degree(X, N)", "+degree(X, count<Y>) <- e(X, Y)"),
    ("total(S)", "+total(sum<W>) <- f(_, _, W)"),
    ("range(X, A, B)", "+range(X, max<W>, min<Y>) <- f(X, Y, W)"),
    ("heaviest(X, W, N)", "+heaviest(X, max<W>, count<Y>) <- f(X, Y, W)"),
    ("least(W)", "+least(min<W>) <- f(_, _, W)"),
    ("in_all(N, S)", "+in_all(count<X>, sum<X>) <- n(X)"),
    ("to_nodes(X, N)", "+to_nodes(X, count<Y>) <- e(X, Y), n(Y)"),
    ("kinds(X, N)", "+kinds(X, count_distinct<W>) <- f(X, _, W)"),
    ("first(X, Y, W)", "+first(X, top_k<2, Y, W:desc>) <- f(X, Y, W)"),
    ("mean(X, M)", "+mean(X, avg<W>) <- f(X, _, W)"),
    ("moved(Z, N)", "+moved(Z, count<Y>) <- e(X, Y), Z = X + 10"),
    ("mixed(X, N)", "+mixed(X, count<Y>) <- e(X, Y)\n+mixed(X, 0) <- n(X)\n+mixed(X, sum<W>) <- f(X, _, W)"),
    ("spread(N, C)", "+spread(N, count<X>) <- degree(X, N)"),
    ("busy(X)", "+busy(X) <- degree(X, N), N > 1"),
    ("idle(X)", "+idle(X) <- n(X), !busy(X)"),
    ("path(X, Y)", "+path(X, Y) <- e(X, Y)\n+path(X, Z) <- path(X, Y), e(Y, Z)"),
    ("back(X, Y)", "+back(X, Y) <- e(X, Y), X != Y\n+back(X, Z) <- e(X, Y), back(Y, Z)"),
    ("twice(X, Y)", "+twice(X, Y) <- e(X, Y)\n+twice(X, Z) <- twice(X, Y), twice(Y, Z)"),
    (
        "odd(X, Y)",
        "+odd(X, Y) <- e(X, Y)\n+even(X, Z) <- odd(X, Y), e(Y, Z)\n+odd(X, Z) <- even(X, Y), e(Y, Z)",
    ),
    ("even(X, Y)", "+even(X, Y) <- e(X, Y), n(X)"),
    ("alike(X, Y)", "+alike(X, Y) <- e(P, X), e(P, Y)\n+alike(X, Y) <- e(A, X), alike(A, B), e(B, Y)"),
    (
        "climbs(X, Y)",
        "+climbs(X, Y) <- f(X, Y, _)\n+climbs(X, Z) <- climbs(X, Y), f(Y, Z, W), W > 0, !loop_at(Z)\n+loop_at(X) <- e(X, X)",
    ),
    ("hops(X, D)", "+hops(X, 0) <- n(X)\n+hops(Y, D) <- hops(X, C), e(X, Y), C < 4, D = C + 1"),
    ("near(X, D)", "+near(X, min<D>) <- n(X), D = 0\n+near(Y, min<D>) <- near(X, C), f(X, Y, W), D = C + W"),
    (
        "linked(X, Y)",
        "+linked(X, Y) <- e(X, Y)\n+linked(X, Z) <- linked(X, Y), linked(Y, Z), n(Y)\n+linked(Y, X) <- linked(X, Y), f(X, Y, _)",
    ),
    ("rings(X, Y)", "+rings(X, Y) <- e(X, Y)\n+rings(X, Z) <- rings(X, Y), rings(Y, W), rings(W, Z), X != Z"),
    ("tour(S, X, Y)", "+tour(X, X, Y) <- e(X, Y)\n+tour(S, Y, Z) <- tour(S, X, Y), e(Y, Z), !f(Y, Z, _)"),
    (
        "marks(X, K)",
        "+marks(X, 1) <- n(X)\n+marks(Y, K) <- marks(X, K), e(X, Y), marks(Y, 1)\n+marks(X, 2) <- marks(X, 1), f(X, X, _)",
    ),
    (
        "held(X)",
        "+held(X) <- n(X), !e(_, X)\n+held(Y) <- holds(X, Y)\n+holds(X, Y) <- held(X), e(X, Y)\n+holds(Y, X) <- holds(X, Y), linked(Y, X)",
    ),
    ("reach(X, N)", "+reach(X, count<Y>) <- path(X, Y)"),
    ("sinks(X)", "+sinks(X) <- n(X), !path(X, _)"),
    ("cut(X, Y)", "+cut(X, Y) <- path(X, Y), !back(X, Y)\n+cut(X, Y) <- n(X), n(Y), !path(X, Y)"),
    // Values that are no small integers, some of which are stored as well.
    ("price(X, P)", "+price(X, P) <- f(X, _, W), P = W * 1.25 - 2"),
    ("spent(X, S, M)", "+spent(X, sum<P>, avg<P>) <- price(X, P)"),
    ("owed(X, S)", "+owed(X, sum<P>) <- e(X, Y), P = 1 - Y"),
    ("label(X, L)", "+label(X, L) <- owed(X, S), L = concat(\"owes \", S)\n+label(X, \"owes 0\") <- n(X)"),
    ("labels(L, N)", "+labels(L, count<X>) <- label(X, L)"),
    ("named(L, X, _)", "+named(L, top_k<2, X, L:desc>) <- label(X, L)"),
    ("joined(S)", "+joined(string_agg<L, \"; \">) <- labels(L, _)"),
    ("falls(X, D)", "+falls(X, 0) <- n(X)\n+falls(Y, D) <- falls(X, C), e(X, Y), C > -4, D = C - 1"),
    (
        "cheap(X, P)",
        "+cheap(X, min<P>) <- price(X, P)\n+cheap(Y, min<P>) <- cheap(X, Q), f(X, Y, W), P = Q + W * 0.5",
    ),
    (
        "said(A, B)",
        "+said(A, B) <- label(X, A), e(X, Y), label(Y, B)\n+said(A, C) <- said(A, B), label(X, B), e(X, Y), label(Y, C)",
    ),
    ("told(A, B)", "+told(A, B) <- said(A, B)\n+told(A, C) <- told(A, B), said(B, C)"),
    ("mute(X)", "+mute(X) <- label(X, L), !said(L, _)"),
];

/// What changes between two questions.
pub fn change() -> impl Strategy<Value = String> {
    let node = || 0..6_i64;
    let e = || vec((node(), node()), 1..4);
    let list = |facts: Vec<(i64, i64)>| {
        let facts: Vec<String> = facts.into_iter().map(|(x, y)| format!("({x}, {y})")).collect();
        facts.join(", ")
    };
    prop_oneof![
        1 => (node(), node()).prop_map(|(x, y)| format!("+linked({x}, {y})\n-linked({y}, {x})")),
        4 => e().prop_map(move |facts| format!("+e[{}]", list(facts))),
        4 => e().prop_map(move |facts| format!("-e[{}]", list(facts))),
        3 => (node(), node(), 0..4_i64).prop_map(|(x, y, w)| format!("+f({x}, {y}, {w})")),
        1 => (node(), node(), select(vec!["null", "0.5", "2.0", "0.0", "-0.0"])).prop_map(|(x, y, w)| format!("+f({x}, {y}, {w})")),
        2 => (node(), node()).prop_map(|(x, y)| format!("-f(X, Y, W) <- f(X, Y, W), X = {x}, Y = {y}")),
        1 => (node(), 0..4_i64).prop_map(|(x, w)| format!("-f(X, Y, W) <- f(X, Y, W), X = {x}, W < {w}")),
        1 => node().prop_map(|x| format!("+n({x})")),
        1 => node().prop_map(|x| format!("-n({x})")),
        1 => node().prop_map(|x| format!("-e(X, Y) <- e(X, Y), X = {x}")),
        1 => Just("-e(X, Y) <- e(X, Y)".to_owned()),
        // What is stored under the name of what rules derive.
        1 => (node(), node()).prop_map(|(x, y)| format!("+path({x}, {y})\n+united({y}, {x})\n+mixed({x}, {y})")),
        1 => (node(), node()).prop_map(|(x, y)| format!("-path({x}, {y})\n-united({y}, {x})\n-mixed({x}, {y})")),
        // What rules compute as well.
        1 => (node(), select(vec![-2.0, -0.75, 0.5, 1.75])).prop_map(|(x, p)| format!("+price({x}, {p:?})\n-price(0, {p:?})")),
        1 => (node(), -6..3_i64).prop_map(|(x, s)| format!("+owed({x}, {s})\n+label({x}, \"owes {s}\")")),
        1 => (node(), -6..3_i64).prop_map(|(x, s)| format!("-owed({x}, {s})\n-label({x}, \"owes {s}\")")),
        // Several versions, and several relations, between two questions.
        2 => (e(), e(), node()).prop_map(move |(a, b, x)| {
            format!("+e[{}]\n-e[{}]\n+n({x})\n+f({x}, {x}, 1)", list(a), list(b))
        }),
        1 => Just(".compact".to_owned()),
    ]
}

/// What there is before the first change. Some relations take facts beside what rules derive.
pub const FACTS: &str = "+path(x: any, y: any)
+linked(x: any, y: any)
+united(x: any, y: any)
+mixed(x: any, n: any)
+price(x: any, p: any)
+owed(x: any, s: any)
+label(x: any, l: any)
+e[(0, 1), (1, 2), (2, 0), (3, 4)]
+f[(0, 1, 2), (1, 2, 1), (4, 5, 3)]
+n[(0), (1), (2), (3), (9)]";

/// Some kinds, with those that their rules read.
pub fn with_below(chosen: Vec<usize>) -> Vec<usize> {
    let mut kinds = chosen;
    let reads = |kind: &usize, name: &str| KINDS[*kind].1.contains(&format!("{name}("));
    for (number, (head, _)) in KINDS.iter().enumerate().rev() {
        let name = head.split_once('(').expect("a head").0;
        if kinds.iter().any(|kind| *kind != number && reads(kind, name)) && !kinds.contains(&number) {
            kinds.push(number);
        }
    }
    kinds.sort_unstable();
    kinds
}
