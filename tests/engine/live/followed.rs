//! What is told is what tells one answer from the next, though nobody has looked at all of either: random changes below rules of
//! every kind, and questions with constants, conditions and aggregates over them.

use std::cell::Cell;

use proptest::prelude::{ProptestConfig, any};
use proptest::{collection::vec, proptest, sample::select, sample::subsequence};
use stratalog_engine::{Advance, Engine, EngineOptions, Jointly, LiveOptions, Session, Thresholds};
use stratalog_tests::changes::{FACTS, KINDS, change, with_below};

use super::copies::cases;
use super::reader::{Reader, engine_of, run, session, tell};

/// The ways to ask for a relation, as its head is written.
const WAYS: usize = 6;

fn question(head: &str, way: usize) -> String {
    let (name, rest) = head.split_once('(').expect("a head");
    let first = rest.split([',', ')']).next().expect("a column");
    let bound = format!("{name}(1{}", &rest[first.len()..]);
    let of_first = first.starts_with(|c: char| c.is_ascii_uppercase());
    match way {
        1 => format!("?{bound}"),
        2 if of_first => format!("?{head}, !e({first}, _)"),
        3 if of_first => format!("?count<{first}> <- {head}"),
        4 if of_first => format!("?{head}, n({first}), {first} != 2"),
        5 if of_first => format!("?{first} <- {head}, e({first}, Other), n(Other)"),
        _ => format!("?{head}"),
    }
}

fn start(options: EngineOptions, kinds: &[usize]) -> (Engine, Session) {
    let engine = engine_of(options);
    let mut session = session(&engine);
    tell(&mut session, FACTS);
    kinds.iter().for_each(|kind| _ = tell(&mut session, KINDS[*kind].1));
    (engine, session)
}

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

#[test]
fn what_is_told_is_what_tells_one_answer_from_the_next() {
    proptest!(ProptestConfig { cases: cases(100), max_shrink_iters: 3_000, ..ProptestConfig::default() }, |(
        chosen in subsequence((0..KINDS.len()).collect::<Vec<_>>(), 1..5),
        ways in vec(0..WAYS, 1..4),
        changes in vec((change(), any::<bool>()), 1..15),
        advance in select(vec![Advance::Always, Advance::Always, Advance::Always, Advance::WhereFaster]),
        thresholds in select(vec![Thresholds::default(), Thresholds::lowest()]),
        jointly in select(vec![Jointly::Never, Jointly::WhereFaster, Jointly::Always]),
    )| {
        let kinds = with_below(chosen);
        let live = LiveOptions { jointly, ..LiveOptions::default() };
        let (engine, mut writer) = start(EngineOptions { advance, thresholds, live, ..EngineOptions::default() }, &kinds);
        let (_, mut derives) = start(EngineOptions { view_memory: 0, ..EngineOptions::default() }, &kinds);
        let mut readers = Vec::new();
        for kind in &kinds {
            for way in &ways {
                let question: &'static str = Box::leak(question(KINDS[*kind].0, *way).into_boxed_str());
                readers.push(Reader::new(&writer, question, true));
            }
        }
        for (change, all_read) in &changes {
            let told = run(&mut writer, change);
            assert_eq!(told.is_ok(), run(&mut derives, change).is_ok(), "{change}");
            let Ok((version, _)) = told else { continue };
            for (number, reader) in readers.iter_mut().enumerate().filter(|(n, _)| *all_read || n % 2 == 0) {
                reader.catch_up(version).expect("an answer");
                let expected = run(&mut derives, reader.question).expect("rows").1;
                assert_eq!(reader.copy, expected, "{} after {change} ({number})", reader.question);
            }
        }
        STEPS.set(STEPS.get() + engine.views().steps);
    });
    assert!(STEPS.get() > 8 * u64::from(cases(100)), "{} steps", STEPS.get());
}
