//! Relations that are put together, `edge(X, Y) <- calls(X, Y)` and `edge(X, Y) <- imports(X, Y)`: by merging and by looking
//! rows up, the same as a set of all rows.

use std::collections::BTreeSet;

use proptest::collection::{btree_set, vec};
use proptest::prelude::{ProptestConfig, any};
use proptest::{proptest, sample::select};
use stratalog_engine::{Budget, Content, Engine, EngineOptions, Parameters, RunOptions, Session, Thresholds};
use stratalog_tests::answers::rows_of;

type Pair = (i64, i64);

/// Heads and bodies, and whether the columns change places.
const RULES: [(&str, &str, bool); 5] = [
    ("u(X, Y)", "a(X, Y)", false),
    ("u(X, Y)", "b(X, Y)", false),
    ("u(Y, X)", "c(X, Y)", true),
    ("u(X, Y)", "a(Y, X)", true),
    ("u(A, B)", "a(A, B)", false),
];

fn session(union_rows: usize) -> Session {
    let thresholds = Thresholds { union_rows, ..Thresholds::default() };
    let options = EngineOptions { thresholds, threads: Some(2), ..EngineOptions::default() };
    let engine = Engine::in_memory(options).expect("an engine in memory");
    engine.open_session("default").expect("the graph `default` exists")
}

fn run(session: &mut Session, program: &str) -> Vec<String> {
    let prepared = session.prepare(program, &Parameters::new()).expect("a program");
    let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited());
    match answer.unwrap_or_else(|error| panic!("{}", error.render(program))).content {
        Content::Rows(rows) => {
            let rows = rows_of(&rows.batch(0, rows.row_count()));
            rows.iter().map(|row| row.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")).collect()
        }
        Content::Messages(messages) => messages,
    }
}

fn facts(sign: &str, relation: &str, pairs: &BTreeSet<Pair>) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(x, y)| format!("({x}, {y})")).collect();
    if pairs.is_empty() { String::new() } else { format!("{sign}{relation}[{}]\n", pairs.join(", ")) }
}

fn pairs() -> impl proptest::strategy::Strategy<Value = BTreeSet<Pair>> {
    // Some have codes of the dictionary.
    btree_set((-2_i64..12, -2_i64..40), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn every_row_of_any_is_there_once(
        (a, b, c, own) in (pairs(), pairs(), pairs(), pairs()),
        (later, gone) in (pairs(), pairs()),
        rules in vec(select(RULES.to_vec()), 2..5),
        has_own in any::<bool>(),
    ) {
        let mut expected = BTreeSet::new();
        for (_, body, turned) in &rules {
            let mut rows: BTreeSet<Pair> = match &body[..1] {
                "a" => a.union(&later).copied().collect::<BTreeSet<_>>().difference(&gone).copied().collect(),
                "b" => b.clone(),
                _ => c.clone(),
            };
            if *turned {
                rows = rows.into_iter().map(|(x, y)| (y, x)).collect();
            }
            expected.append(&mut rows);
        }
        if has_own {
            expected.extend(&own);
        }
        let mut wanted: Vec<String> = expected.iter().map(|(x, y)| format!("{x} {y}")).collect();
        wanted.sort();
        for union_rows in [0, usize::MAX] {
            let mut session = session(union_rows);
            run(&mut session, "+a(x: int, y: int)\n+b(x: int, y: int)\n+c(x: int, y: int)\n+u(x: int, y: int)");
            let mut program: String = [("a", &a), ("b", &b), ("c", &c)].map(|(name, rows)| facts("+", name, rows)).concat();
            if has_own {
                program += &facts("+", "u", &own);
            }
            if !program.is_empty() {
                run(&mut session, &program);
            }
            for (head, body, _) in &rules {
                run(&mut session, &format!("+{head} <- {body}"));
            }
            for change in [facts("+", "a", &later), facts("-", "a", &gone)] {
                if !change.is_empty() {
                    run(&mut session, &change);
                }
            }
            let mut found = run(&mut session, "?u(X, Y)");
            found.sort();
            assert_eq!(found, wanted, "merged from {union_rows} rows on");
            // And what reads it.
            let firsts: BTreeSet<i64> = expected.iter().map(|(x, _)| *x).collect();
            if !firsts.is_empty() {
                let count = run(&mut session, "?count_distinct<X> <- u(X, Y)");
                assert_eq!(count, [firsts.len().to_string()]);
            }
        }
    }
}

#[test]
fn a_plan_says_what_is_put_together() {
    let mut session = session(0);
    run(&mut session, "+a[(1, 2), (2, 3)]\n+b[(2, 3), (3, 4)]\n+u(X, Y) <- a(X, Y)\n+u(X, Y) <- b(X, Y)");
    let united = |lines: Vec<String>| lines.iter().filter(|line| line.contains("unite ")).count();
    assert_eq!(united(run(&mut session, ".explain ?u(X, Y)")), 2);
    assert_eq!(united(run(&mut session, ".profile ?u(X, Y)")), 2);
}
