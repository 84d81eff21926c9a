//! How rows are brought forward: each kind of rules has its way, which profiles tell, and goes on with it.

use stratalog_engine::{Advance, EngineOptions, Thresholds};

use super::sessions::{engine_of, run};

const FACTS: &str = "+e[(1, 2), (2, 3), (3, 1), (3, 4), (4, 5)]
+f[(1, 2, 5), (2, 3, 7)]
+n[(1), (2), (3), (4), (5)]";

/// A relation, its rules, and the way.
const WAYS: [(&str, &str, &str); 10] = [
    ("two(X, Z)", "+two(X, Z) <- e(X, Y), e(Y, Z)", "by joins"),
    ("ends(X)", "+ends(X) <- n(X), !e(X, _)", "by joins"),
    ("out(X, N)", "+out(X, count<Y>) <- e(X, Y)", "by groups"),
    ("same(X, Y)", "+same(X, Y) <- e(X, Y)", "by sharing"),
    ("path(X, Y)", "+path(X, Y) <- e(X, Y)\n+path(X, Z) <- path(X, Y), e(Y, Z)", "by a walk"),
    (
        "far(X, D)",
        "+far(X, min<D>) <- n(X), D = 0\n+far(Y, min<D>) <- far(X, C), e(X, Y), D = C + 1",
        "by best values",
    ),
    (
        "alike(X, Y)",
        "+alike(X, Y) <- e(P, X), e(P, Y)\n+alike(X, Y) <- e(A, X), alike(A, B), e(B, Y)",
        "by ranks",
    ),
    (
        "odd(X, Y)",
        "+odd(X, Y) <- e(X, Y)\n+even(X, Z) <- odd(X, Y), e(Y, Z), !f(Y, Z, _)\n+odd(X, Z) <- even(X, Y), e(Y, Z)",
        "by ranks",
    ),
    (
        "tour(S, X, Y)",
        "+tour(X, X, Y) <- e(X, Y)\n+tour(S, Y, Z) <- tour(S, X, Y), e(Y, Z), !f(Y, Z, _)",
        "by ranks",
    ),
    (
        "near(X, Y)",
        "+near(X, Y) <- e(X, Y)\n+near(X, Z) <- near(X, Y), near(Y, Z)\n+near(X, Y) <- f(X, A, K), near(A, B), f(Y, B, K)",
        "by ranks",
    ),
];

/// What becomes of older rows of a relation, with each change.
fn ways(rules: &str, head: &str, thresholds: Thresholds) -> Vec<String> {
    let engine =
        engine_of(EngineOptions { advance: Advance::Always, thresholds, ..EngineOptions::default() });
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    for program in [FACTS, rules, &format!("?{head}")] {
        run(&mut session, program, false).expect(program);
    }
    let name = head.split('(').next().expect("a name");
    let changes = ["+e[(5, 6), (2, 5)]", "-e(2, 3)", "+e(2, 3)\n-e(3, 1)", "-e(X, Y) <- e(X, Y), X < 3"];
    let ways = changes.map(|change| {
        run(&mut session, change, false).expect("a change");
        let profile = run(&mut session, &format!(".profile ?{head}"), false).expect("a profile");
        let lines = profile.into_iter().map(|row| row[0].to_string());
        let line = lines.into_iter().find(|line| line.contains(&format!("older {name}")));
        line.unwrap_or_default()
    });
    ways.to_vec()
}

#[test]
fn each_kind_of_rules_has_its_way() {
    for (head, rules, way) in WAYS {
        for line in ways(rules, head, Thresholds::rounds_alone()) {
            assert!(line.contains(&format!(" {way} in ")), "{head}: {line}");
        }
    }
}

#[test]
fn parts_matrices_and_mixtures_tell_when_their_rows_were_found() {
    let parts = Thresholds { part_rows: 0, part_new_rows: 0, ..Thresholds::rounds_alone() };
    for ((head, rules, _), thresholds) in
        [(WAYS[8], parts), (WAYS[6], Thresholds::lowest()), (WAYS[9], Thresholds::lowest())]
    {
        let ways = ways(rules, head, thresholds);
        assert!(ways.iter().all(|line| line.contains(" by ranks in ")), "{ways:?}");
    }
}
