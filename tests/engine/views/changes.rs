//! What is brought forward is what is derived from scratch: random changes of what rules of every kind follow from.

use std::cell::Cell;

use proptest::prelude::{ProptestConfig, any};
use proptest::{collection::vec, proptest, sample::select, sample::subsequence};
use stratalog_engine::{Advance, Budget, Engine, EngineOptions, Session, Thresholds};
use stratalog_tests::changes::{FACTS, KINDS, change, with_below};

use super::sessions::{engine_of, run, run_within};

fn start(options: EngineOptions, kinds: &[usize]) -> (Engine, Session) {
    let engine = engine_of(options);
    let mut session = engine.open_session("default").expect("the graph `default` exists");
    run(&mut session, FACTS, false).expect("facts");
    for kind in kinds {
        run(&mut session, KINDS[*kind].1, false).expect("rules");
    }
    (engine, session)
}

/// So many random sequences: `STRATALOG_VIEWS` asks for more.
pub(crate) fn cases() -> u32 {
    std::env::var("STRATALOG_VIEWS").ok().and_then(|number| number.parse().ok()).unwrap_or(150)
}

thread_local! {
    static STEPS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

#[test]
fn what_is_brought_forward_is_what_is_derived_from_scratch() {
    proptest!(ProptestConfig { cases: cases(), max_shrink_iters: 3_000, ..ProptestConfig::default() }, |(
        chosen in subsequence((0..KINDS.len()).collect::<Vec<_>>(), 1..8),
        changes in vec((change(), any::<u32>(), any::<u16>()), 1..20),
        advance in select(vec![Advance::Always, Advance::Always, Advance::Always, Advance::WhereFaster]),
        thresholds in select(vec![
            Thresholds::default(),
            Thresholds::lowest(),
            Thresholds { falls_in_vain: 8, ..Thresholds::lowest() },
            Thresholds::rounds_alone(),
        ]),
    )| {
        let (kinds, thresholds) = (with_below(chosen), Thresholds { audits_ranks: true, ..thresholds });
        let (engine, mut keeps) = start(EngineOptions { advance, thresholds, ..EngineOptions::default() }, &kinds);
        let (_, mut derives) = start(EngineOptions { view_memory: 0, ..EngineOptions::default() }, &kinds);
        let check = |keeps: &mut Session, derives: &mut Session, asked: u32, after: &str| {
            for (place, kind) in kinds.iter().enumerate() {
                if asked >> (place % 32) & 1 == 0 {
                    continue;
                }
                let question = format!("?{}", KINDS[*kind].0);
                let found = run(keeps, &question, false);
                assert!(found.is_ok() || after != "the beginning", "{question}: {found:?}");
                assert_eq!(found, run(derives, &question, false), "{question} after {after}");
            }
        };
        check(&mut keeps, &mut derives, u32::MAX, "the beginning");
        for (change, asked, memory) in &changes {
            let (done, expected) = (run(&mut keeps, change, false), run(&mut derives, change, false));
            assert_eq!(done.is_ok(), expected.is_ok(), "{change}: {done:?}");
            // Memory that runs out somewhere on the way leaves what was there.
            let question = format!("?{}", KINDS[kinds[*asked as usize % kinds.len()]].0);
            let little = Budget::new(None, u64::from(*memory));
            if let Ok(found) = run_within(&mut keeps, &question, false, &little) {
                assert_eq!(Ok(found), run(&mut derives, &question, false), "{question} in {memory} bytes");
            }
            check(&mut keeps, &mut derives, *asked, change);
        }
        check(&mut keeps, &mut derives, u32::MAX, "the end");
        let (status, (steps, given_up)) = (engine.views(), STEPS.get());
        STEPS.set((steps + status.steps, given_up + status.given_up));
    });
    let (steps, given_up) = STEPS.get();
    assert!(steps > 5 * u64::from(cases()) && steps > given_up, "{steps} steps, {given_up} given up");
}

#[test]
fn computed_values_are_brought_forward() {
    let kinds = with_below((0..KINDS.len()).filter(|kind| COMPUTED.contains(&KINDS[*kind].0)).collect());
    let (engine, mut keeps) =
        start(EngineOptions { advance: Advance::Always, ..EngineOptions::default() }, &kinds);
    let (_, mut derives) = start(EngineOptions { view_memory: 0, ..EngineOptions::default() }, &kinds);
    let changes =
        ["+f(2, 5, 3)", "-e(0, 1)", "+e[(4, 5), (0, 3)]", "+f(0, 2, 2)\n+price(0, -0.75)", "-f(0, 1, 2)"];
    for question in COMPUTED.map(|head| format!("?{head}")) {
        run(&mut keeps, &question, false).expect("an answer");
    }
    for change in changes {
        for session in [&mut keeps, &mut derives] {
            run(session, change, false).expect("a change");
        }
        let before = engine.views().steps;
        for question in COMPUTED.map(|head| format!("?{head}")) {
            let found = run(&mut keeps, &question, false);
            assert_eq!(found, run(&mut derives, &question, false), "{question} after {change}");
        }
        assert!(engine.views().steps > before, "{change}");
    }
    assert_eq!(engine.views().given_up, 0);
}

/// Relations with values that are no small integers.
const COMPUTED: [&str; 7] = [
    "price(X, P)",
    "spent(X, S, M)",
    "owed(X, S)",
    "label(X, L)",
    "labels(L, N)",
    "joined(S)",
    "falls(X, D)",
];
