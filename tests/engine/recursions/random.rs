//! Random recursions over one graph. What they share with walks, chains and relaxations, and where they leave them, is
//! up to chance.

use std::collections::BTreeSet;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::{collection::vec, proptest, sample::select, sample::subsequence};

use super::demand::QUESTIONS;
use super::ways_agree;

const GRAPHS: [(i64, usize, i64); 3] = [(12, 24, 1), (25, 34, 1), (11, 40, 30_000_000)];

/// Rules of relations of two columns, of three and of one: chains, what looks like one, and what does not.
const PIECES: [&str; 18] = [
    "+t(X, Z) <- t(X, Y), t(Y, Z)",
    "+t(X, Z) <- t(X, Y), t(Y, Z), X > 5",
    "+t(X, Z) <- t(X, Y), t(Y, Z), Z > 5",
    "+t(X, Z) <- t(X, Y), t(Y, Z), X != Z",
    "+t(X, Z) <- t(X, Y), t(Y, Z), odd(X)",
    "+t(X, Y) <- edge(A, X, 1), t(A, B), edge(B, Y, 2)",
    "+t(X, Y) <- edge(X, A, K), t(A, B), edge(Y, B, K)",
    "+t(Y, X) <- t(X, Y), edge(X, Y, W), W > 1",
    "+t(X, Y) <- u(X, Y, K), K > 0",
    "+u(X, Y, K) <- t(X, A), edge(A, Y, K)",
    "+u(X, Z, K) <- u(X, Y, K), u(Y, Z, K)",
    "+t(X, Z) <- v(X, Y), t(Y, Z)",
    "+v(X, Y) <- t(Y, X), edge(X, Y, _)",
    "+v(X, Z) <- v(X, Y), v(Y, Z)",
    "+v(X, Z) <- v(X, Y), t(Z, Y), X < Z",
    "+m(Y) <- t(3, Y)",
    "+t(X, Y) <- m(X), edge(X, Y, _), m(Y)",
    "+t(X, V) <- t(X, Y), edge(Y, X, W), V = W - 90",
];

/// A condition of a body, of variables by their number; others are constants.
#[derive(Debug, Clone)]
enum Literal {
    Own(&'static str, u8, u8),
    Edge(u8, u8, &'static str),
    Odd(bool, u8),
    Differ(u8, u8),
}

fn literal() -> impl Strategy<Value = Literal> {
    let argument = || prop_oneof![12 => 0..4_u8, 1 => Just(4_u8), 1 => Just(5_u8)];
    prop_oneof![
        6 => (select(vec!["t", "t", "t", "u"]), argument(), argument()).prop_map(|(name, a, b)| Literal::Own(name, a, b)),
        5 => (argument(), argument(), select(vec!["_", "0", "1", "2"])).prop_map(|(a, b, w)| Literal::Edge(a, b, w)),
        1 => (any::<bool>(), 0..4_u8).prop_map(|(holds, a)| Literal::Odd(holds, a)),
        1 => (0..4_u8, 0..4_u8).prop_map(|(a, b)| Literal::Differ(a, b)),
    ]
}

fn argument(number: u8) -> &'static str {
    ["X", "Y", "Z", "W", "8", "_"][usize::from(number)]
}

/// A rule with these conditions, as far as atoms bind what they read; none if they bind nothing for the head.
fn rule(head: &str, columns: (u8, u8), body: &[Literal]) -> Option<String> {
    let mut bound = BTreeSet::new();
    for literal in body {
        match literal {
            Literal::Own(_, a, b) | Literal::Edge(a, b, _) => bound.extend([*a, *b]),
            Literal::Odd(true, a) => bound.extend([*a]),
            Literal::Odd(false, _) | Literal::Differ(..) => {}
        }
    }
    let variables: Vec<u8> = bound.into_iter().filter(|number| *number < 4).collect();
    let pick = |choice: u8| match choice {
        0 => Some("5"),
        _ => variables.get(usize::from(choice) % variables.len().max(1)).map(|number| argument(*number)),
    };
    let is_bound = |number: &u8| variables.contains(number);
    let conditions: Vec<String> = body
        .iter()
        .filter_map(|literal| match literal {
            Literal::Own(name, a, b) => Some(format!("{name}({}, {})", argument(*a), argument(*b))),
            Literal::Edge(a, b, weight) => {
                Some(format!("edge({}, {}, {weight})", argument(*a), argument(*b)))
            }
            Literal::Odd(true, a) => Some(format!("odd({})", argument(*a))),
            Literal::Odd(false, a) => is_bound(a).then(|| format!("!odd({})", argument(*a))),
            Literal::Differ(a, b) => (is_bound(a) && is_bound(b) && a != b)
                .then(|| format!("{} != {}", argument(*a), argument(*b))),
        })
        .collect();
    if conditions.is_empty() {
        return None;
    }
    Some(format!("+{head}({}, {}) <- {}", pick(columns.0)?, pick(columns.1)?, conditions.join(", ")))
}

/// Rules that hand a best value on.
fn relaxing_rule(
    head: &str,
    start: &str,
    [from, to]: [&str; 2],
    value: &str,
    condition: &str,
    aggregate: &str,
) -> String {
    let computed = if value == "L" { String::new() } else { format!(", D = {value}") };
    let best = if value == "L" { "L" } else { "D" };
    format!("+t({head}, {aggregate}<{best}>) <- t({start}, L), edge({from}, {to}, W){condition}{computed}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), max_shrink_iters: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn relations_of_two_columns(
        rules in vec((select(vec!["t", "t", "t", "u"]), (0..12_u8, 0..12_u8), vec(literal(), 1..5)), 1..4),
        question in select(QUESTIONS.to_vec()),
        graph in select(GRAPHS.to_vec()),
    ) {
        let base = "+t(X, Y) <- edge(X, Y, 0)\n+u(X, Y) <- edge(Y, X, 1)".to_owned();
        let rules = rules.iter().filter_map(|(head, columns, body)| rule(head, *columns, body));
        let rules: Vec<String> = std::iter::once(base).chain(rules).collect();
        ways_agree(&rules.join("\n"), question, graph);
    }

    #[test]
    fn products_beside_tuples(
        rules in subsequence(PIECES.to_vec(), 2..8).prop_shuffle(),
        question in select(vec!["?t(X, Y)", "?t(X, Y)", "?u(X, Y, K)", "?v(X, Y)", "?t(3, Y)"]),
        graph in select(GRAPHS.to_vec()),
    ) {
        let base = "+t(X, Y) <- edge(X, Y, 0)\n+u(X, Y, K) <- edge(Y, X, K), K > 2\n+v(X, Y) <- edge(Y, X, 1)\n+m(7)";
        let rules: Vec<&str> = std::iter::once(base).chain(rules).collect();
        assert!(ways_agree(&rules.join("\n"), question, graph), "refused: {rules:?}");
    }

    #[test]
    fn best_values(
        rules in vec(
            (
                select(vec!["X", "Y", "Y", "9"]),
                select(vec!["X", "X", "Y", "8"]),
                select(vec![["X", "Y"], ["X", "Y"], ["Y", "X"], ["X", "X"], ["Y", "8"]]),
                select(vec!["L", "L + W", "W + L", "L + 1", "L + 2147483640", "L + W + 1", "max_val(L, W)", "min_val(3, L)"]),
                select(vec!["", "", ", odd(Y)", ", !odd(X)", ", W < 2", ", X != Y", ", L < 7", ", edge(Y, X, _)"]),
            ),
            1..4,
        ),
        question in select(vec!["?t(X, D)", "?t(7, D)", "?odd(X), t(X, D)"]),
        graph in select(GRAPHS.to_vec()),
    ) {
        let base = "+t(X, min<D>) <- edge(3, X, D)\n+t(X, min<X>) <- edge(X, _, 2)".to_owned();
        let rules = rules.iter().map(|(head, start, ends, value, condition)| {
            relaxing_rule(head, start, *ends, value, condition, "min")
        });
        let rules: Vec<String> = std::iter::once(base).chain(rules).collect();
        ways_agree(&rules.join("\n"), question, graph);
    }

    #[test]
    fn best_values_of_several_nodes(
        rules in vec(
            (
                select(vec![["A", "Y"], ["A", "Y"], ["A", "Y"], ["Y", "A"], ["A", "9"], ["X", "A"]]),
                select(vec!["X", "X", "X", "Y", "A", "8"]),
                select(vec![["X", "Y"], ["X", "Y"], ["Y", "X"], ["A", "Y"], ["X", "8"]]),
                select(vec!["L", "L + W", "L + 1", "max_val(L, W)", "min_val(L, W)", "L + A"]),
                select(vec![
                    "", "", "", ", odd(A)", ", !odd(A)", ", odd(Y)", ", W < 2", ", A != Y", ", edge(A, _, W)", ", edge(A, Y, _)", ", A > 4",
                ]),
            ),
            1..3,
        ),
        question in select(vec!["?t(A, X, D)", "?t(7, X, D)", "?t(A, 7, D)", "?t(3, 7, D)", "?odd(X), t(X, Y, D)"]),
        graph in select(GRAPHS.to_vec()),
    ) {
        let base = "+t(X, Y, min<D>) <- edge(X, Y, D)".to_owned();
        let rules = rules.iter().map(|(head, start, [from, to], value, condition)| {
            let computed = if *value == "L" { String::new() } else { format!(", D = {value}") };
            let best = if *value == "L" { "L" } else { "D" };
            let [first, second] = head;
            format!("+t({first}, {second}, min<{best}>) <- t(A, {start}, L), edge({from}, {to}, W){condition}{computed}")
        });
        let rules: Vec<String> = std::iter::once(base).chain(rules).collect();
        ways_agree(&rules.join("\n"), question, graph);
    }
}

/// So many programs of each kind: `STRATALOG_RECURSIONS` asks for more.
fn cases() -> u32 {
    std::env::var("STRATALOG_RECURSIONS").ok().and_then(|number| number.parse().ok()).unwrap_or(150)
}
