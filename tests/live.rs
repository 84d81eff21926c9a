//! Live queries in the engine: whoever applies what is told has, at each version that is told, what a query answers there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::{Just, ProptestConfig, Strategy, prop_oneof};
use proptest::{collection::vec, proptest, sample::select};
use stratalog_engine::{
    Budget, Code, Content, Delta, Engine, EngineOptions, Error, Jointly, LiveOptions, Next, Pace, Parameters,
    RunOptions, Session, Subscription, Waker, Work,
};
use stratalog_tests::answers::rows_of;
use stratalog_tests::value::Row;

const RULES: &str = "+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+apart(X, Y) <- node(X), node(Y), !path(X, Y)
+degree(X, count<Y>, avg<Y>) <- edge(X, Y)
+balance(X, sum<W>) <- edge(X, Y), W = 2000000000 - 3000000000 * Y
+label(X, L) <- degree(X, _, A), L = concat(\"at \", A)
+nearest(X, min<D>) <- edge(0, X), D = 0.5
+nearest(Y, min<D>) <- nearest(X, E), edge(X, Y), D = E + 0.5";

const FACTS: &str =
    "+edge[(0, 1), (1, 2), (2, 0), (3, 4)]\n+node[(0), (1), (2), (3)]\n+said[(1, \"a\"), (2, 5), (3, 2.5)]";

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

type Copy = BTreeSet<Row>;

/// One who applies what is told.
struct Reader {
    question: &'static str,
    subscription: Subscription,
    version: u64,
    copy: Copy,
    every_version: bool,
}

impl Reader {
    fn new(session: &Session, question: &'static str, every_version: bool) -> Reader {
        let waker = Waker::new(|| {});
        let waker = if every_version { waker.of_each_version() } else { waker };
        let subscription = subscribe_with(session, question, waker).expect("it can be live");
        let begun = subscription.begun();
        let (version, copy) = (begun.version, set(&begun.rows));
        Reader { question, subscription, version, copy, every_version }
    }

    /// Takes what there is to tell; answers whether there was anything. An error is the end.
    fn read(&mut self) -> Result<bool, Error> {
        match self.subscription.next(self.version, self.every_version)? {
            Next::Nothing { .. } => return Ok(false),
            Next::Delta { version, delta } => {
                assert!(version > self.version, "{version} after {}", self.version);
                self.apply(&delta);
                self.version = version;
            }
            Next::Reset { version, rows } => {
                assert!(version >= self.version, "{version} after {}", self.version);
                (self.version, self.copy) = (version, set(&rows));
            }
            Next::Ended { error, .. } => return Err(error),
        }
        Ok(true)
    }

    fn apply(&mut self, delta: &Delta) {
        assert!(!delta.is_empty(), "nothing is told");
        for row in set(&delta.removed) {
            assert!(self.copy.remove(&row), "{}: {row:?} was not there", self.question);
        }
        for row in set(&delta.added) {
            assert!(self.copy.insert(row.clone()), "{}: {row:?} was there", self.question);
        }
    }

    /// Reads until nothing is left, at a version that is this or later.
    fn catch_up(&mut self, version: u64) -> Result<(), Error> {
        wait_until(|| self.subscription.version() >= version || self.ended());
        while self.read()? {}
        Ok(())
    }

    fn ended(&self) -> bool {
        matches!(self.subscription.next(self.version, false), Ok(Next::Ended { .. }))
    }
}

fn set(rows: &stratalog_engine::Rows) -> Copy {
    rows_of(&rows.batch(0, rows.row_count())).into_iter().collect()
}

fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "it never holds");
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn engine(live: LiveOptions) -> Engine {
    let options = EngineOptions { threads: Some(1), live, ..EngineOptions::default() };
    Engine::in_memory(options).expect("an engine in memory")
}

fn session(engine: &Engine) -> Session {
    engine.open_session("default").expect("the graph `default` exists")
}

fn subscribe(session: &Session, question: &str) -> Result<Subscription, Error> {
    subscribe_with(session, question, Waker::new(|| {}))
}

fn subscribe_with(session: &Session, question: &str, waker: Waker) -> Result<Subscription, Error> {
    let prepared = session.prepare(question, &Parameters::new())?;
    session.subscribe(prepared, waker, &Budget::unlimited())
}

/// Whatever was done, they rest for so many milliseconds.
#[derive(Debug)]
struct Rest(u64);

impl Pace for Rest {
    fn rest(&self, _: &Work) -> Duration {
        Duration::from_millis(self.0)
    }
}

/// The rows of an answer and its version.
fn run(session: &mut Session, program: &str) -> Result<(u64, Copy), Error> {
    let prepared = session.prepare(program, &Parameters::new())?;
    let answer = session.run(prepared, &RunOptions::default(), &Budget::unlimited())?;
    let rows = match &answer.content {
        Content::Rows(rows) => set(rows),
        Content::Messages(_) => Copy::new(),
    };
    Ok((answer.version, rows))
}

fn tell(session: &mut Session, program: &str) -> u64 {
    run(session, program).expect("it is done").0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn each_copy_is_what_a_query_answers(
        steps in vec((step(), select(vec![true, true, false])), 1..30),
        log_bytes in select(vec![64 << 20, 40_000, 0]),
        rest in select(vec![0, 1, 3]),
    ) {
        let engine = engine(LiveOptions { log_bytes, pace: Arc::new(Rest(rest)), ..LiveOptions::default() });
        let mut writer = session(&engine);
        tell(&mut writer, RULES);
        tell(&mut writer, FACTS);
        let mut readers: Vec<Reader> = Vec::new();
        for every_version in [true, false] {
            for question in QUESTIONS {
                readers.push(Reader::new(&session(&engine), question, every_version));
            }
        }
        for (program, all_read) in steps {
            let version = match run(&mut writer, &program) {
                Ok((version, _)) => version,
                Err(_) => continue,
            };
            // Every other time only some take what there is.
            for (number, reader) in readers.iter_mut().enumerate().filter(|(n, _)| all_read || n % 3 == 0) {
                if let Err(error) = reader.catch_up(version) {
                    // Between a rule that is dropped and its successor there is no answer.
                    assert_eq!(error.code(), Code::UnknownRelation, "{program}: {error}");
                    *reader = Reader::new(&session(&engine), reader.question, number % 2 == 0);
                }
                let expected = run(&mut writer, reader.question).expect("rows").1;
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
        committed_meanwhile(rest);
    }
}

fn committed_meanwhile(rest: u64) {
    let engine = Arc::new(engine(LiveOptions { pace: Arc::new(Rest(rest)), ..LiveOptions::default() }));
    let mut writer = session(&engine);
    tell(&mut writer, RULES);
    let start = tell(&mut writer, FACTS);
    let (is_over, last) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let readers: Vec<_> = QUESTIONS
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
        let answers = QUESTIONS.iter().map(|question| run(writer, question).expect("rows").1).collect();
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
        let place = QUESTIONS.iter().position(|other| *other == question).expect("it is one of them");
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
fn subscriptions_to_one_text_are_one_live_query() {
    let engine = engine(LiveOptions { queries: 2, ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, FACTS);
    let first = subscribe(&writer, "?edge(X, Y)").expect("a subscription");
    let second = subscribe(&writer, "?edge( X,Y )").expect("a subscription");
    let other = subscribe(&writer, "?edge(X, 2)").expect("a subscription");
    let mut known: Vec<(String, usize)> =
        engine.live_queries().into_iter().map(|live| (live.text, live.subscribers)).collect();
    known.sort();
    assert_eq!(known, [("?edge(X, 2)".to_owned(), 1), ("?edge(X, Y)".to_owned(), 2)]);
    let refused = subscribe(&writer, "?node(X)").expect_err("there are two");
    assert_eq!(refused.code(), Code::LimitExceeded);
    subscribe(&writer, "?edge(A, B)").expect_err("it has other columns");
    drop((first, other));
    assert_eq!(second.begun().rows.row_count(), 4);
    assert_eq!(engine.live_queries().iter().map(|live| live.subscribers).sum::<usize>(), 1);
}

#[test]
fn what_cannot_be_live_is_refused() {
    let engine = engine(LiveOptions::default());
    let mut session = session(&engine);
    tell(&mut session, FACTS);
    tell(&mut session, "+late(X) <- node(X), time_after(time_now(), X)");
    let code = |session: &Session, question: &str| {
        subscribe(session, question).map(|_| ()).map_err(|error| error.code())
    };
    assert_eq!(code(&session, "?node(X), T = time_now()"), Err(Code::NotLive));
    assert_eq!(code(&session, "?late(X)"), Err(Code::NotLive));
    assert_eq!(code(&session, "+node(7)\n?node(X)"), Err(Code::NotLive));
    assert_eq!(code(&session, "?node(X)\n?edge(X, Y)"), Err(Code::NotLive));
    assert_eq!(code(&session, ".status"), Err(Code::NotLive));
    assert_eq!(code(&session, ""), Err(Code::ParseError));
    assert_eq!(code(&session, "?nodes(X)"), Err(Code::UnknownRelation));
    tell(&mut session, "node(7)");
    assert_eq!(code(&session, "?node(X)"), Err(Code::NotLive));
    assert_eq!(code(&session, "?edge(X, Y)"), Ok(()));
    assert_eq!(engine.live_queries().len(), 1, "nothing is left of those that failed");
}

#[test]
fn it_ends_where_there_is_no_answer_any_more() {
    let engine = engine(LiveOptions::default());
    let mut writer = session(&engine);
    tell(&mut writer, ".kg create lab");
    tell(&mut writer, RULES);
    tell(&mut writer, FACTS);
    let mut reader = Reader::new(&writer, "?apart(X, Y)", false);
    tell(&mut writer, "+other(1)");
    let version = tell(&mut writer, ".rule drop apart");
    let error = reader.catch_up(version).expect_err("it is gone");
    assert_eq!(error.code(), Code::UnknownRelation, "{error}");
    let mut reader = Reader::new(&writer, "?path(X, Y)", false);
    tell(&mut writer, ".kg use default\n.kg drop lab");
    wait_until(|| reader.ended());
    assert_eq!(reader.read().expect_err("the graph is gone").code(), Code::NotFound);
    assert_eq!(engine.live_queries().len(), 0);
}

#[test]
fn what_takes_too_long_ends_and_nobody_else_waits() {
    let engine = engine(LiveOptions { step_time: Duration::from_millis(100), ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, "+n(X) <- start(X)\n+n(Y) <- n(X), Y = X + 1, X < 1000\n+start(1000)\n+m(1)");
    let mut endless = Reader::new(&writer, "?n(X)", false);
    let mut quick = Reader::new(&writer, "?m(X)", false);
    tell(&mut writer, ".rule drop n\n+n(X) <- start(X)\n+n(Y) <- n(X), Y = X + 1");
    let version = tell(&mut writer, "+m(2)");
    quick.catch_up(version).expect("an answer");
    assert_eq!(quick.copy.len(), 2);
    wait_until(|| endless.ended());
    let error = endless.read().expect_err("it has no end");
    assert!(matches!(error.code(), Code::Timeout | Code::UnknownRelation), "{error}");
}

#[test]
fn columns_that_get_other_names_begin_anew() {
    let engine = engine(LiveOptions::default());
    let mut writer = session(&engine);
    tell(
        &mut writer,
        "+town(name: string, size: int)\n+town[(\"a\", 1), (\"b\", 2)]\n+big(N, S) <- town(N, S), S > 1",
    );
    let mut reader = Reader::new(&writer, "?town(\"a\", _)", false);
    let version = tell(&mut writer, "+town(\"c\", 3)");
    reader.catch_up(version).expect("an answer");
    assert_eq!(
        (reader.version < version, reader.copy.len()),
        (true, 1),
        "nothing is told of what is not asked"
    );
}

#[test]
fn an_engine_that_is_gone_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    for round in 1..4 {
        let storage = stratalog_engine::StorageOptions::new(folder.path());
        let engine = Engine::open(EngineOptions::default(), storage).expect("an engine");
        let mut writer = session(&engine);
        tell(&mut writer, &format!("+p({round})"));
        let mut reader = Reader::new(&writer, "?p(X)", false);
        assert_eq!(reader.copy.len(), round);
        let version = tell(&mut writer, "+p(0)\n-p(0)\n+q(1)");
        reader.catch_up(version).expect("an answer");
        assert_eq!(reader.copy.len(), round);
    }
}

#[test]
fn asking_teaches_a_graph_nothing() {
    let engine = engine(LiveOptions { jointly: Jointly::Always, ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, "+owner[(1, \"ada\"), (2, \"bob\")]");
    let question = |name: &str| format!("?owner(X, \"{name}\")");
    let names: Vec<String> = (0..40).map(|n| format!("{n} {}", "x".repeat(10_000))).collect();
    let strangers: Vec<Subscription> =
        names.iter().map(|name| subscribe(&writer, &question(name)).expect("it can be live")).collect();
    let known = Reader::new(&writer, "?owner(X, \"ada\")", false);
    let also_known = Reader::new(&writer, "?owner(X, \"bob\")", false);
    let before = engine.statistics().memory_bytes;
    for n in 3..20 {
        let version = tell(&mut writer, &format!("+owner({n}, \"{}\")", ["ada", "bob"][n % 2]));
        wait_until(|| strangers.iter().all(|stranger| stranger.version() >= version));
    }
    let more = engine.statistics().memory_bytes - before;
    assert!(more < 10_000, "{more} bytes more");
    for mut reader in [known, also_known] {
        reader.catch_up(0).expect("an answer");
        assert_eq!(reader.copy, run(&mut writer, reader.question).expect("rows").1, "{}", reader.question);
    }
    // What comes to be known is found.
    tell(&mut writer, &format!("+owner(99, \"{}\")", names[7]));
    wait_until(|| matches!(strangers[7].next(strangers[7].begun().version, false), Ok(Next::Delta { .. })));
}

#[test]
fn whoever_comes_while_a_question_is_ended_is_told_so_or_goes_on() {
    let engine = Arc::new(engine(LiveOptions::default()));
    let mut writer = session(&engine);
    tell(&mut writer, "+edge(1, 2)");
    let is_over = Arc::new(AtomicBool::new(false));
    let killer = {
        let (engine, is_over) = (Arc::clone(&engine), Arc::clone(&is_over));
        std::thread::spawn(move || {
            while !is_over.load(Ordering::SeqCst) {
                for live in engine.live_queries() {
                    engine.end_live_query(live.number);
                }
            }
        })
    };
    let mut ended = 0;
    for n in 0..3_000 {
        let subscription = match subscribe(&writer, "?edge(X, Y)") {
            Ok(subscription) => subscription,
            Err(error) => {
                assert_eq!(error.code(), Code::Cancelled, "{error}");
                continue;
            }
        };
        let version = tell(&mut writer, &format!("+edge({n}, 0)"));
        // Nobody is left behind without a word.
        wait_until(|| match subscription.next(subscription.begun().version, false) {
            Ok(Next::Ended { .. }) => {
                ended += 1;
                true
            }
            _ => subscription.version() >= version,
        });
    }
    is_over.store(true, Ordering::SeqCst);
    killer.join().expect("it does not panic");
    assert!(ended > 0, "none was ended");
}

/// Somebody who reads when they are woken, and how often that was.
struct Woken {
    reader: Reader,
    wakes: Arc<AtomicU64>,
}

fn woken(session: &Session, question: &'static str, every_version: bool) -> Woken {
    let wakes = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&wakes);
    let waker = Waker::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
    });
    let waker = if every_version { waker.of_each_version() } else { waker };
    let subscription = subscribe_with(session, question, waker).expect("it can be live");
    let (version, copy) = (subscription.begun().version, set(&subscription.begun().rows));
    Woken { reader: Reader { question, subscription, version, copy, every_version }, wakes }
}

#[test]
fn whoever_rests_is_told_several_versions_as_one_and_who_wants_each_is_told_each() {
    const REST: u64 = 50;
    let engine = engine(LiveOptions { pace: Arc::new(Rest(REST)), ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, "+p(0)");
    let (mut each, mut some) = (woken(&writer, "?p(X)", true), woken(&writer, "?p(X)", false));
    let mut alone = woken(&writer, "?p(X), X >= 0", false);
    let (started, mut told, mut taken) = (Instant::now(), Vec::new(), 0);
    for n in 1..300 {
        let version = tell(&mut writer, &format!("+p({n})"));
        each.reader.catch_up(version).expect("an answer");
        assert_eq!(each.reader.version, version);
        told.push(version);
        let wakes = some.wakes.load(Ordering::SeqCst);
        if wakes > taken {
            taken = wakes;
            some.reader.catch_up(0).expect("an answer");
        }
    }
    let rests = started.elapsed().as_millis() as u64 / REST;
    // Who rests is woken when that is over, without another commit.
    for rested in [&mut some, &mut alone] {
        let before = rested.reader.version;
        wait_until(|| {
            rested.reader.catch_up(0).expect("an answer");
            rested.reader.version == *told.last().expect("a version")
        });
        assert!(rested.reader.version >= before);
        assert_eq!(rested.reader.copy, each.reader.copy);
        let wakes = rested.wakes.load(Ordering::SeqCst);
        assert!((1..=rests + 3).contains(&wakes), "{wakes} times in {rests} rests");
    }
    assert!(each.wakes.load(Ordering::SeqCst) >= told.len() as u64);
}

#[test]
fn whoever_comes_while_others_rest_sees_what_is_there() {
    let engine = engine(LiveOptions { pace: Arc::new(Rest(3_600_000)), ..LiveOptions::default() });
    let mut writer = session(&engine);
    tell(&mut writer, "+p(0)");
    let mut first = Reader::new(&writer, "?p(X)", false);
    let version = tell(&mut writer, "+p(1)");
    first.catch_up(version).expect("an answer");
    let version = tell(&mut writer, "+p(2)");
    std::thread::sleep(Duration::from_millis(50));
    assert!(first.subscription.version() < version, "they rest for an hour");
    let mut second = Reader::new(&writer, "?p(X)", false);
    for reader in [&mut first, &mut second] {
        reader.catch_up(version).expect("an answer");
        assert_eq!((reader.version, reader.copy.len()), (version, 3));
    }
    // What concerns nobody does not wait for the end of a rest either.
    let version = tell(&mut writer, "+q(1)");
    wait_until(|| first.subscription.version() >= version);
    assert!(
        matches!(first.subscription.next(first.version, false), Ok(Next::Nothing { version: v }) if v == version)
    );
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

#[test]
fn whoever_begins_while_others_are_brought_further_is_brought_there_too() {
    let engine = Arc::new(engine(LiveOptions::default()));
    let mut writer = session(&engine);
    let facts: Vec<String> = (0..2_000).map(|n| format!("({n})")).collect();
    tell(&mut writer, &format!("+p[{}]", facts.join(", ")));
    let _first = subscribe(&writer, "?p(X), X != -1").expect("a subscription");
    for round in 0..300 {
        let committed = {
            let engine = Arc::clone(&engine);
            std::thread::spawn(move || tell(&mut session(&engine), &format!("+p({})", 10_000 + round)))
        };
        let subscription = subscribe(&writer, &format!("?p(X), X != {round}")).expect("a subscription");
        let version = committed.join().expect("it does not panic");
        wait_until(|| subscription.version() >= version);
        let known = set(&subscription.begun().rows).len();
        let told = match subscription.next(subscription.begun().version, false).expect("an answer") {
            Next::Delta { delta, .. } => delta.added.row_count(),
            Next::Nothing { .. } => 0,
            other => panic!("{other:?}"),
        };
        assert_eq!(known + told, 2_000 + round);
    }
}
