//! How live queries begin and end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use stratalog_engine::{
    Advance, Budget, Code, Engine, EngineOptions, Jointly, LiveOptions, Next, Parameters, RunOptions,
    Session, Subscription,
};

use super::reader::{FACTS, RULES, Reader, engine, engine_of, run, session, subscribe, tell, wait_until};

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
    let mut version = 0;
    for n in 3..20 {
        version = tell(&mut writer, &format!("+owner({n}, \"{}\")", ["ada", "bob"][n % 2]));
        wait_until(|| strangers.iter().all(|stranger| stranger.version() >= version));
    }
    let more = engine.statistics().memory_bytes - before;
    assert!(more < 10_000, "{more} bytes more");
    for mut reader in [known, also_known] {
        reader.catch_up(version).expect("an answer");
        assert_eq!(reader.copy, run(&mut writer, reader.question).expect("rows").1, "{}", reader.question);
    }
    // What comes to be known is found.
    tell(&mut writer, &format!("+owner(99, \"{}\")", names[7]));
    wait_until(|| matches!(strangers[7].next(strangers[7].begun().version, false), Ok(Next::Delta { .. })));
}

#[test]
fn what_any_statement_of_a_commit_changes_is_told() {
    let engine = engine(LiveOptions::default());
    let mut writer = session(&engine);
    tell(&mut writer, "+p(1)\n+q(1)");
    let mut reader = Reader::new(&writer, "?p(X)", false);
    for n in 2..10 {
        // What is brought to a version once is only looked at afterwards.
        for program in [format!("+q({n}0)"), format!("+p({n})\n+q({n})")] {
            let prepared = writer.prepare(&program, &Parameters::new()).expect("a program");
            let options = RunOptions { atomic: true, ..RunOptions::default() };
            let version = writer.run(prepared, &options, &Budget::unlimited()).expect("it is done").version;
            reader.catch_up(version).expect("an answer");
        }
        assert_eq!(reader.copy.len(), n);
    }
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
fn what_is_left_looks_as_in_a_fresh_answer() {
    for jointly in [Jointly::Always, Jointly::Never] {
        let live = LiveOptions { jointly, ..LiveOptions::default() };
        let engine = engine_of(EngineOptions { live, advance: Advance::Always, ..EngineOptions::default() });
        let mut writer = session(&engine);
        tell(&mut writer, "+said(x: any, y: any)\n+told(X, Y) <- said(X, Y)");
        tell(
            &mut writer,
            "+said[(1, t\"2024-01-05\"), (1, 2.5), (1, \"a\"), (2, 7), (2, 7.5), (3, t\"2024-01-06\"), (4, 4), (4, \"d\")]",
        );
        let questions = ["?told(1, Y)", "?told(2, Y)", "?told(3, Y)", "?told(4, Y)", "?said(X, Y)"];
        let mut readers = questions.map(|question| Reader::new(&writer, question, false));
        for change in [
            "-said(1, \"a\")",
            "+said(3, 3)",
            "-said(1, 2.5)",
            "-said(3, 3)",
            "-said(2, 7.5)",
            "-said(2, 7)",
            // Where nothing is left, what comes next has its own type.
            "-said(4, Y) <- said(4, Y)",
            "+said(4, t\"2024-01-07\")",
        ] {
            let version = tell(&mut writer, change);
            for reader in &mut readers {
                reader.catch_up(version).expect("an answer");
                let expected = run(&mut writer, reader.question).expect("rows").1;
                assert_eq!(reader.copy, expected, "{} after {change}", reader.question);
            }
        }
    }
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
