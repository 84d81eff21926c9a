//! What is told is what tells one answer from the next, though nobody has looked at all of either: random changes below rules of
//! every kind, and questions with constants, conditions and aggregates over them.

use std::cell::Cell;
use std::time::Duration;

use proptest::prelude::{ProptestConfig, any};
use proptest::{collection::vec, proptest, sample::select, sample::subsequence};
use stratalog_engine::{Advance, Engine, EngineOptions, Jointly, LiveOptions, Session, Thresholds};
use stratalog_tests::changes::{FACTS, KINDS, change, with_below};
use stratalog_tests::value::Value;

use super::copies::cases;
use super::reader::{Copy, Reader, engine_of, run, session, tell};

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
        quiet in select(vec![Duration::ZERO, Duration::from_millis(2)]),
    )| {
        let kinds = with_below(chosen);
        let live = LiveOptions { jointly, quiet, ..LiveOptions::default() };
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

/// Where much has come at once, it is derived anew, and asks for more than it may: it is answered in full, and followed again.
#[test]
fn what_comes_to_ask_for_too_much_is_told_nevertheless() {
    for advance in [Advance::Always, Advance::WhereFaster] {
        asks_for_too_much(advance);
    }
}

fn asks_for_too_much(advance: Advance) {
    let thresholds = Thresholds { asked_rows: 8, asked_per_row: 0, ..Thresholds::default() };
    let engine = engine_of(EngineOptions { advance, thresholds, ..EngineOptions::default() });
    let mut writer = session(&engine);
    let rules = "+t(X, Z) <- t(X, Y), t(Y, Z)\n+t(X, Y) <- edge(X, A), t(A, B), edge(Y, B)";
    tell(&mut writer, &format!("+edge(1, 8)\n+t(X, Y) <- edge(X, Y)\n{rules}"));
    let mut reader = Reader::new(&writer, "?t(X, 8)", true);
    let edges: Vec<String> =
        (0..4_000).map(|n| format!("({}, {})", n * 17 % 300, (n * n + 3 * n) % 311)).collect();
    let many = format!("+edge[{}]", edges.join(", "));
    for change in ["+edge(40, 8)", &many, "+edge(400, 40)", "-edge(40, 8)", "+edge(401, 8)"] {
        let version = tell(&mut writer, change);
        reader.catch_up(version).expect("an answer");
        let all = run(&mut writer, "?t(X, Y)").expect("rows").1;
        let expected: Copy = all.into_iter().filter(|row| row[1] == Value::Int(8)).collect();
        assert_eq!(reader.copy.len(), expected.len(), "after {}", &change[..12]);
        assert_eq!(reader.copy, expected, "after {}", &change[..12]);
    }
}

#[test]
fn what_is_brought_forward_for_one_is_there_for_all() {
    let engine = engine_of(EngineOptions::default());
    let mut writer = session(&engine);
    let edges: Vec<String> = (0..600).map(|node| format!("({node}, {})", node + 1)).collect();
    tell(&mut writer, &format!("+edge[{}]", edges.join(", ")));
    tell(&mut writer, "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)");
    let mut first = Reader::new(&writer, "?path(X, Y)", true);
    let mut second = Reader::new(&writer, "?count<Y> <- path(X, Y), X < 300", true);
    let has_kept = |writer: &mut Session, rows: usize| {
        let plan = run(writer, ".explain ?path(X, Y)").expect("a plan").1;
        let line = format!("kept path ({rows} rows)");
        plan.iter().flatten().any(|value| value.to_string().contains(&line))
    };
    let mut rows = 600 * 601 / 2;
    for node in 601..604 {
        let version = tell(&mut writer, &format!("+edge({}, {node})", node - 1));
        rows += node;
        first.catch_up(version).expect("an answer");
        assert!(has_kept(&mut writer, rows), "nobody has to derive it, or to bring it forward");
        second.catch_up(version).expect("an answer");
        assert!(has_kept(&mut writer, rows));
        assert_eq!(first.copy.len(), rows);
    }
}
