//! What a session sees that has facts of its own, and a transaction before it is committed, follows from what all see.

use std::cell::Cell;

use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_oneof};
use proptest::{collection::vec, proptest, sample::select, sample::subsequence};
use stratalog_engine::{Advance, EngineOptions, Session, Thresholds};
use stratalog_tests::changes::{FACTS, KINDS, change, with_below};

use super::changes::cases;
use super::sessions::{engine_of, run, sessions_of};

/// What one of two sessions does.
fn action() -> impl Strategy<Value = (String, bool)> {
    let node = || 0..6_i64;
    let list = |facts: Vec<(i64, i64)>| {
        let facts: Vec<String> = facts.into_iter().map(|(x, y)| format!("({x}, {y})")).collect();
        facts.join(", ")
    };
    // Those that are asked of more often read more.
    let questions = || select(vec!["path(X, Y)", "two(X, Y)", "twice(X, Y)", "united(X, Y)", "linked(X, Y)"]);
    prop_oneof![
        3 => change().prop_map(|change| (change, false)),
        4 => vec((node(), node()), 1..4).prop_map(move |facts| (format!("e[{}]", list(facts)), false)),
        2 => (node(), node(), 0..4_i64).prop_map(|(x, y, w)| (format!("f({x}, {y}, {w})"), false)),
        1 => (node(), select(vec![0.5, 2.0])).prop_map(|(x, w)| (format!("f({x}, {x}, {w:?})"), false)),
        1 => node().prop_map(|x| (format!("n({x})"), false)),
        1 => (node(), node()).prop_map(|(x, y)| (format!("path({x}, {y})"), false)),
        1 => Just(("path(X, Y) <- e(Y, X)".to_owned(), false)),
        1 => select(vec![".session clear", ".session drop e", ".session drop f"])
            .prop_map(|command| (command.to_owned(), false)),
        2 => (change(), questions(), node(), questions(), any::<bool>()).prop_map(|(change, read, x, asked, fails)| {
            let end = if fails { "+n(\"a\", 1)" } else { "" };
            (format!("{change}\n+n(Y) <- {read}, X = {x}\n-e(X, Y) <- {read}, X = {x}\n{end}\n?{asked}"), true)
        }),
    ]
}

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn what_only_some_see_is_what_is_derived_from_scratch() {
    const ASKED: [&str; 5] = ["path(X, Y)", "two(X, Z)", "twice(X, Y)", "united(X, Y)", "linked(X, Y)"];
    let asked = |kind: &usize| ASKED.contains(&KINDS[*kind].0);
    proptest!(ProptestConfig { cases: cases(), max_shrink_iters: 3_000, ..ProptestConfig::default() }, |(
        chosen in subsequence((0..KINDS.len()).collect::<Vec<_>>(), 1..6),
        actions in vec((any::<bool>(), action(), any::<u32>()), 1..16),
        advance in select(vec![Advance::Always, Advance::Always, Advance::WhereFaster]),
        thresholds in select(vec![Thresholds::default(), Thresholds::lowest()]),
    )| {
        let kinds = with_below((0..KINDS.len()).filter(asked).chain(chosen).collect());
        let thresholds = Thresholds { audits_ranks: true, ..thresholds };
        let start = |options: EngineOptions| {
            let engine = engine_of(options);
            let open = |_| engine.open_session("default").expect("the graph `default` exists");
            let mut sessions: Vec<Session> = (0..2).map(open).collect();
            run(&mut sessions[0], FACTS, false).expect("facts");
            for kind in &kinds {
                run(&mut sessions[0], KINDS[*kind].1, false).expect("rules");
            }
            (engine, sessions)
        };
        let (engine, mut keeps) = start(EngineOptions { advance, thresholds, ..EngineOptions::default() });
        let (_, mut derives) = start(EngineOptions { view_memory: 0, ..EngineOptions::default() });
        for (who, (action, atomic), asked) in &actions {
            let who = usize::from(*who);
            let done = run(&mut keeps[who], action, *atomic);
            assert_eq!(done, run(&mut derives[who], action, *atomic), "{action}");
            for (place, kind) in kinds.iter().enumerate().filter(|(place, _)| asked >> (place % 32) & 1 == 1) {
                let question = format!("?{}", KINDS[*kind].0);
                for who in [place % 2, 1 - place % 2] {
                    let found = run(&mut keeps[who], &question, false);
                    assert_eq!(found, run(&mut derives[who], &question, false), "{question} by {who} after {action}");
                }
            }
        }
        STEPS.set(STEPS.get() + engine.views().steps);
    });
    assert!(STEPS.get() > 5 * u64::from(cases()), "{} steps", STEPS.get());
}

#[test]
fn a_session_with_a_fact_of_its_own_goes_on_from_what_all_see() {
    let mut sessions = sessions_of(EngineOptions { advance: Advance::Always, ..EngineOptions::default() });
    let edges: Vec<String> = (0..300).map(|node| format!("({node}, {})", node + 1)).collect();
    let rules =
        "+path(X, Y) <- e(X, Y)\n+path(X, Z) <- path(X, Y), e(Y, Z)\n+from(X, count<Y>) <- path(X, Y)";
    run(&mut sessions[0], &format!("+e[{}]\n{rules}", edges.join(", ")), false).expect("facts and rules");
    let count = |session: &mut Session| run(session, "?from(0, N)", false).expect("an answer");
    let profile = |session: &mut Session| format!("{:?}", run(session, ".profile ?from(X, N)", false));
    profile(&mut sessions[0]);
    let all = count(&mut sessions[0]);
    run(&mut sessions[1], "e(300, 301)", false).expect("a fact");
    let profiled = profile(&mut sessions[1]);
    assert!(profiled.contains("by a walk") && profiled.contains("by groups"), "{profiled}");
    let profiled = profile(&mut sessions[1]);
    assert!(profiled.contains("kept") && !profiled.contains("by a walk"), "asked again: {profiled}");
    assert_ne!(count(&mut sessions[1]), all);
    assert_eq!(count(&mut sessions[0]), all);
    let program = "+e(301, 302)\n+seen(N) <- from(0, N)\n-e(301, 302)\n?seen(N)";
    let seen = run(&mut sessions[0], program, true).expect("a transaction");
    assert_ne!(seen, all, "a transaction sees what it has done");
    assert_eq!(count(&mut sessions[0]), all);
}
