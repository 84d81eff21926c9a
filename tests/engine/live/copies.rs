//! Whoever applies what is told has, at each version that is told, what a query answers there.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof};
use proptest::{collection::vec, proptest, sample::select};
use stratalog_engine::{Advance, Code, EngineOptions, Jointly, LiveOptions, Session};

use super::reader::{Copy, FACTS, RULES, Reader, Rest, engine, engine_of, run, session, tell};

const QUESTIONS: [&str; 12] = [
    "?path(X, Y)",
    "?path(2, Y)",
    "?path(X, X)",
    "?apart(X, Y)",
    "?degree(X, N, A)",
    "?balance(X, B)",
    "?label(X, L)",
    "?label(X, L), balance(X, B), degree(X, N, A)",
    "?nearest(X, D)",
    "?said(X, Y)",
    "?balance(X, B:desc), limit(2)",
    "?path(1, 2)",
];

/// Those that differ in constants only.
const FAMILIES: [&str; 30] = [
    "?path(0, Y)",
    "?path(1, Y)",
    "?path(2, Y)",
    "?path(-1, Y)",
    "?path(99, Y)",
    "?path(0, 2)",
    "?path(2, 2)",
    "?path(X, 0)",
    "?path(X, 1)",
    "?path(2, X), node(X)",
    "?path(1, X), node(X)",
    "?Y, X <- path(0, Y), edge(Y, X)",
    "?Y, X <- path(1, Y), edge(Y, X)",
    "?edge(X, Y), path(Y, 0)",
    "?edge(X, Y), path(Y, 2)",
    "?label(0, L)",
    "?label(1, L)",
    "?label(X, \"at 2\")",
    "?label(X, \"at 1\")",
    "?label(X, \"at nothing\"), X > 0",
    "?said(1, Y)",
    "?said(2, Y)",
    "?said(X, 5)",
    "?said(X, 7)",
    "?nearest(1, D)",
    "?degree(X, 1, A)",
    "?said(X, Y), Y > 5",
    "?said(X, Y), Y > 1",
    "?path(X, Y), X <= 0, Y != 2",
    "?path(X, Y), X <= 1, Y != 0",
];

fn step() -> impl Strategy<Value = String> {
    // Those below zero come and go in the dictionary, which is collected by `.compact`.
    let number = || select(vec![0, 1, 2, -1, -2, -3]);
    let said =
        || select(vec!["\"a\"", "\"at 1\"", "null", "7", "-2000000000", "2.5", "1.5", "t\"2024-01-05\""]);
    prop_oneof![
        6 => (number(), number()).prop_map(|(x, y)| format!("+edge({x}, {y})")),
        5 => (number(), number()).prop_map(|(x, y)| format!("-edge({x}, {y})")),
        2 => number().prop_map(|x| format!("+node({x})")),
        2 => number().prop_map(|x| format!("-node({x})")),
        3 => (number(), said()).prop_map(|(x, y)| format!("+said({x}, {y})")),
        3 => (number(), said()).prop_map(|(x, y)| format!("-said({x}, {y})")),
        1 => (number(), number()).prop_map(|(x, y)| format!("+path({x}, {y})")),
        1 => (number(), number()).prop_map(|(x, y)| format!("-path({x}, {y})")),
        1 => Just("+path(X, X) <- node(X)".to_owned()),
        1 => Just(".rule remove path 3".to_owned()),
        2 => Just("-said(X, 2.5) <- said(X, 2.5)\n-said(X, 7) <- said(X, 7)\n-said(X, \"a\") <- said(X, \"a\")".to_owned()),
        1 => Just(".rule drop degree\n+degree(X, count<Y>, avg<Y>) <- edge(Y, X)".to_owned()),
        2 => Just(".compact".to_owned()),
    ]
}

/// So many random sequences: `STRATALOG_LIVE` asks for more.
pub(crate) fn cases(usual: u32) -> u32 {
    std::env::var("STRATALOG_LIVE").ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), ..ProptestConfig::default() })]

    #[test]
    fn each_copy_is_what_a_query_answers(
        steps in vec((step(), select(vec![true, true, false])), 1..30),
        log_bytes in select(vec![64 << 20, 40_000, 0]),
        rest in select(vec![0, 1, 3]),
        advance in select(vec![Advance::Always, Advance::Always, Advance::WhereFaster]),
    ) {
        let live = LiveOptions { log_bytes, pace: Arc::new(Rest(rest)), ..LiveOptions::default() };
        let engine = engine_of(EngineOptions { live, advance, ..EngineOptions::default() });
        let derives = engine_of(EngineOptions { view_memory: 0, ..EngineOptions::default() });
        let (mut writer, mut derives) = (session(&engine), session(&derives));
        for program in [RULES, FACTS] {
            tell(&mut writer, program);
            tell(&mut derives, program);
        }
        let mut readers: Vec<Reader> = Vec::new();
        for every_version in [true, false] {
            for question in QUESTIONS {
                readers.push(Reader::new(&session(&engine), question, every_version));
            }
        }
        for (program, all_read) in steps {
            let told = run(&mut writer, &program);
            assert_eq!(told.is_ok(), run(&mut derives, &program).is_ok(), "{program}");
            let Ok((version, _)) = told else { continue };
            // Every other time only some take what there is.
            for (number, reader) in readers.iter_mut().enumerate().filter(|(n, _)| all_read || n % 3 == 0) {
                if let Err(error) = reader.catch_up(version) {
                    // Between a rule that is dropped and its successor there is no answer.
                    assert_eq!(error.code(), Code::UnknownRelation, "{program}: {error}");
                    *reader = Reader::new(&session(&engine), reader.question, number % 2 == 0);
                }
                let expected = run(&mut derives, reader.question).expect("rows").1;
                assert_eq!(reader.copy, expected, "{} after {program}", reader.question);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn questions_that_are_evaluated_as_one_have_their_own_rows(
        steps in vec((step(), select(vec![true, true, false])), 1..20),
        jointly in select(vec![Jointly::Always, Jointly::WhereFaster, Jointly::Never]),
        rest in select(vec![0, 2]),
    ) {
        let engine = engine(LiveOptions { jointly, pace: Arc::new(Rest(rest)), ..LiveOptions::default() });
        let mut writer = session(&engine);
        tell(&mut writer, RULES);
        tell(&mut writer, FACTS);
        let reader = |question| Reader::new(&session(&engine), question, false);
        // Some come later.
        let mut readers: Vec<Reader> = FAMILIES.iter().step_by(2).map(|question| reader(question)).collect();
        for (number, (program, all_read)) in steps.into_iter().enumerate() {
            let Ok((version, _)) = run(&mut writer, &program) else { continue };
            for reader in readers.iter_mut().filter(|_| all_read) {
                if let Err(error) = reader.catch_up(version) {
                    assert_eq!(error.code(), Code::UnknownRelation, "{program}: {error}");
                    *reader = Reader::new(&session(&engine), reader.question, false);
                }
                let expected = run(&mut writer, reader.question).expect("rows").1;
                assert_eq!(reader.copy, expected, "{} after {program}", reader.question);
            }
            if number % 3 == 0 {
                readers.push(reader(FAMILIES[(1 + number) % FAMILIES.len()]));
            }
        }
    }
}

#[test]
fn whatever_is_committed_meanwhile_each_version_that_is_told_is_right() {
    for rest in [0, 1, 20] {
        committed_meanwhile(&QUESTIONS, Jointly::WhereFaster, rest);
        // Who comes while those of the same form are brought to a version is not there yet.
        committed_meanwhile(&FAMILIES, Jointly::Always, rest);
    }
}

fn committed_meanwhile(questions: &[&'static str], jointly: Jointly, rest: u64) {
    let live = LiveOptions { jointly, pace: Arc::new(Rest(rest)), ..LiveOptions::default() };
    let engine = Arc::new(engine(live));
    let mut writer = session(&engine);
    tell(&mut writer, RULES);
    let start = tell(&mut writer, FACTS);
    let (is_over, last) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let readers: Vec<_> = questions
        .iter()
        .enumerate()
        .flat_map(|(n, question)| [(n, *question, true), (n, *question, false)])
        .map(|(n, question, every_version)| {
            let (engine, is_over, last) = (Arc::clone(&engine), Arc::clone(&is_over), Arc::clone(&last));
            std::thread::spawn(move || {
                // They come one after the other, and read at different speeds.
                std::thread::sleep(Duration::from_millis(5 * n as u64));
                let mut reader = Reader::new(&session(&engine), question, every_version);
                let mut told = vec![(reader.version, reader.copy.clone())];
                loop {
                    let over = is_over.load(Ordering::SeqCst)
                        && reader.subscription.version() >= last.load(Ordering::SeqCst);
                    while reader.read().expect("an answer") {
                        told.push((reader.version, reader.copy.clone()));
                    }
                    if over {
                        return (question, told);
                    }
                    std::thread::sleep(Duration::from_millis(n as u64));
                }
            })
        })
        .collect();
    let mut expected: BTreeMap<u64, Vec<Copy>> = BTreeMap::new();
    let mut note = |version: u64, writer: &mut Session| {
        let answers = questions.iter().map(|question| run(writer, question).expect("rows").1).collect();
        expected.insert(version, answers);
    };
    note(start, &mut writer);
    let mut state = 7_u64;
    for _ in 0..300 {
        let mut next = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % n
        };
        let (x, y) = (next(6), next(6));
        let program = match next(5) {
            0 | 1 => format!("+edge({x}, {y})"),
            2 => format!("-edge({x}, {y})"),
            3 => format!("+said({x}, \"at {y}\")"),
            _ => format!("-said({x}, \"at {y}\")\n+node({y})"),
        };
        let version = tell(&mut writer, &program);
        note(version, &mut writer);
    }
    last.store(tell(&mut writer, "+node(99)"), Ordering::SeqCst);
    note(last.load(Ordering::SeqCst), &mut writer);
    is_over.store(true, Ordering::SeqCst);
    for reader in readers {
        let (question, told) = reader.join().expect("it does not panic");
        let place = questions.iter().position(|other| *other == question).expect("it is one of them");
        for (version, copy) in &told {
            // Two statements are two versions; in between nobody has asked.
            if let Some(answers) = expected.get(version) {
                assert_eq!(*copy, answers[place], "{question} at {version}");
            }
        }
        let (_, end) = told.last().expect("the first answer");
        assert_eq!(*end, expected[&last.load(Ordering::SeqCst)][place], "{question} in the end");
    }
}

#[test]
fn searches_follow_what_they_search() {
    let engine = engine(LiveOptions::default());
    let mut writer = session(&engine);
    tell(
        &mut writer,
        "+doc(id: int, title: string, embedding: vector(2))
+doc[(1, \"old cat\", [0.0, 1.0]), (2, \"new dog\", [5.0, 5.0])]
.index create about on doc(title) type text
.index create near on doc(embedding) metric l2
+found(I, S) <- text_search(\"about\", \"cat\", 3, I, S)",
    );
    let questions = [
        "?text_search(\"about\", \"cat\", 3, Id, Score)",
        "?found(Id, Score)",
        "?hnsw_nearest(\"near\", [0.0, 0.0], 2, Id, Distance)",
        "?Id, T <- hnsw_nearest(\"near\", [0.0, 0.0], 2, Id, _), doc(Id, T, _)",
    ];
    let mut readers: Vec<Reader> =
        questions.iter().map(|question| Reader::new(&writer, question, false)).collect();
    for program in [
        "+doc(3, \"another cat\", [0.0, 0.5])",
        "-doc(1, \"old cat\", [0.0, 1.0])",
        "+doc(4, \"cat and cat\", [0.0, 0.1])",
        "-doc(X, T, E) <- doc(X, T, E)",
    ] {
        let version = tell(&mut writer, program);
        for reader in &mut readers {
            let before = reader.copy.clone();
            reader.catch_up(version).expect("an answer");
            assert_eq!(
                reader.copy,
                run(&mut writer, reader.question).expect("rows").1,
                "{}",
                reader.question
            );
            assert_ne!(reader.copy, before, "{} after {program}", reader.question);
        }
    }
}
