//! Values that nobody uses any more are let go, while others go on reading, writing and learning.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use stratalog_engine::{Budget, Engine, EngineOptions, Parameters, RunOptions, StorageOptions};
use stratalog_tests::stored::{run, session, table};
use tempfile::TempDir;

fn engine() -> Engine {
    Engine::in_memory(EngineOptions::default()).expect("an engine")
}

/// Facts `name(n, "name n …")` with texts of a kilobyte, for `+` and for sessions.
fn facts(name: &str, numbers: impl Iterator<Item = usize>) -> String {
    let fact = |n| format!("({n}, \"{name} {n} {}\")", "x".repeat(1_000));
    format!("{name}[{}]", numbers.map(fact).collect::<Vec<_>>().join(", "))
}

/// Bytes that the values and rows of all graphs take.
fn memory(engine: &Engine) -> usize {
    engine.statistics().memory_bytes
}

#[test]
fn deleted_facts_refused_facts_and_ended_sessions_leave_nothing() {
    let engine = engine();
    let mut writer = session(&engine);
    run(&mut writer, &format!("+{}", facts("t", 0..500))).expect("inserted");
    let before = memory(&engine);
    let mut other = session(&engine);
    run(&mut other, &facts("own", 0..500)).expect("facts of a session");
    // The program is refused as a whole, at its last statement.
    let program = format!("+{}\n+t(1)", facts("u", 0..500));
    let prepared = writer.prepare(&program, &Parameters::default()).expect("a program");
    let atomic = RunOptions { atomic: true, ..RunOptions::default() };
    assert!(writer.run(prepared, &atomic, &Budget::unlimited()).is_err());
    run(&mut writer, "-t(N, T) <- t(N, T), N >= 10").expect("deleted");
    run(&mut writer, ".compact").expect("compacted");
    // What the session has is in use.
    assert_eq!(table(&run(&mut other, "?own(7, T), T = \"own 7\"").expect("an answer")).len(), 0);
    assert_eq!(table(&run(&mut other, "?own(N, T), substr(T, 0, 4) = \"own \"").expect("rows")).len(), 500);
    let with_session = memory(&engine);
    assert!((500_000..before * 5 / 4).contains(&with_session), "{with_session} of {before}");
    drop(other);
    run(&mut writer, ".compact").expect("compacted");
    let after = memory(&engine);
    assert!(after < 30_000, "{after}");
    assert_eq!(table(&run(&mut writer, "?t(N, T), substr(T, 0, 2) = \"t \"").expect("rows")).len(), 10);
}

#[test]
fn what_a_session_has_left_keeps_its_values() {
    let engine = engine();
    let (mut own, mut writer) = (session(&engine), session(&engine));
    for dropped in [".session drop found", ".session remove found 1", ".session drop 1"] {
        run(&mut own, "own[(0, 0.5), (1, 1.5), (2, 2.5)]").expect("facts");
        run(&mut own, "found(V) <- own(_, V)").expect("a rule");
        run(&mut own, dropped).expect("dropped");
        run(&mut writer, ".compact").expect("compacted");
        run(&mut writer, "+others[(8.125), (9.125), (10.125), (11.125)]").expect("others");
        let found = table(&run(&mut own, "?own(N:asc, V), N > 0").expect("rows"));
        assert_eq!(found, ["Int(1)|Float(1.5)", "Int(2)|Float(2.5)"], "after {dropped}");
        run(&mut own, ".session clear").expect("cleared");
    }
}

#[test]
fn a_stored_graph_collects_of_its_own_accord() {
    let folder = TempDir::new().expect("a temporary folder");
    let open =
        || Engine::open(EngineOptions::default(), StorageOptions::new(folder.path())).expect("it opens");
    let engine = open();
    let mut writer = session(&engine);
    for round in 0..10 {
        let texts = (0..100).map(|n| format!("({n}, \"{round} {n} {}\")", "x".repeat(20_000)));
        run(&mut writer, &format!("+t[{}]", texts.collect::<Vec<_>>().join(", "))).expect("inserted");
        run(&mut writer, &format!("-t(N, T) <- t(N, T), substr(T, 0, 2) != \"{round} \"")).expect("deleted");
    }
    // Twenty megabytes went through, two of them are there.
    let deadline = Instant::now() + Duration::from_secs(60);
    while memory(&engine) > 6_000_000 {
        assert!(Instant::now() < deadline, "{} bytes", memory(&engine));
        std::thread::sleep(Duration::from_millis(10));
    }
    let rows = "?t(N, T), substr(T, 0, 2) = \"9 \"";
    assert_eq!(table(&run(&mut writer, rows).expect("rows")).len(), 100);
    drop((writer, engine));
    assert_eq!(table(&run(&mut session(&open()), rows).expect("rows")).len(), 100);
}

#[test]
fn vectors_are_found_whichever_stood_in_their_place() {
    let engine = engine();
    let mut session = session(&engine);
    run(&mut session, "+p(id: int, v: vector[2])\n.index create near on p(v) metric l2").expect("an index");
    let vector = |n: usize| format!("[{}.5, {}.25]", n % 97, n / 97);
    for round in 0..30_usize {
        let ids = || round * 100..round * 100 + 200;
        let rows: Vec<String> = ids().map(|n| format!("({n}, {})", vector(n))).collect();
        run(&mut session, &format!("+p[{}]", rows.join(", "))).expect("inserted");
        run(&mut session, &format!("-p(I, V) <- p(I, V), I < {}", round * 100)).expect("deleted");
        run(&mut session, ".compact").expect("compacted");
        for n in ids().step_by(37) {
            let question = format!("?p(I, V), hnsw_nearest(\"near\", {}, 1, I, D)", vector(n));
            let found = table(&run(&mut session, &question).expect("an answer"));
            assert_eq!(found.len(), 1, "{question}: {found:?}");
            assert!(found[0].starts_with(&format!("Int({n})|")), "{question}: {found:?}");
        }
    }
}

/// So often values are collected while others work.
const COLLECTIONS: usize = 150;

#[test]
fn whoever_reads_writes_or_learns_meanwhile_sees_nothing_of_it() {
    let engine = engine();
    let mut first = session(&engine);
    run(&mut first, "+t(0, \"text 0\")\n+shown(N, T, \"seen\") <- t(N, T)").expect("a beginning");
    let is_over = AtomicBool::new(false);
    let works = [AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)];
    let work = |number: usize, work: &mut dyn FnMut(&mut stratalog_engine::Session, usize)| {
        let mut session = session(&engine);
        let mut step = 0;
        while !is_over.load(Ordering::Relaxed) || step < 20 {
            work(&mut session, step);
            step += 1;
        }
        works[number].fetch_add(step, Ordering::Relaxed);
    };
    let expect = |session: &mut stratalog_engine::Session, program: &str| {
        table(&run(session, program).unwrap_or_else(|error| panic!("{program}: {error:?}")))
    };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            work(0, &mut |session, step| {
                let texts: Vec<String> =
                    (step * 7..step * 7 + 50).map(|n| format!("({n}, \"text {n}\")")).collect();
                expect(session, &format!("+t[{}]", texts.join(", ")));
                expect(session, &format!("-t(N, T) <- t(N, T), N < {}", step * 7 + 20));
            });
        });
        for _ in 0..2 {
            scope.spawn(|| {
                work(1, &mut |session, step| {
                    assert!(expect(session, "?t(N, T), T != concat(\"text \", N)").is_empty());
                    assert!(expect(session, "?shown(N, T, S), S != \"seen\"").is_empty());
                    assert!(expect(session, "?shown(N, T, S), T != concat(\"text \", N)").is_empty());
                    let n = step * 7 + 30;
                    let found = expect(session, &format!("?t(N, \"text {n}\")"));
                    assert!(
                        found.is_empty() || found == [format!("Int({n})|Text(\"text {n}\")")],
                        "{found:?}"
                    );
                });
            });
        }
        scope.spawn(|| {
            work(2, &mut |session, step| {
                expect(session, &format!("own[({step}, \"text {step}\"), (1, \"mine {step}\")]"));
                let found = expect(session, "?own(N, T), T != concat(\"text \", N)");
                assert_eq!(found, [format!("Int(1)|Text(\"mine {step}\")")]);
                let found = expect(session, "?own(N, T), t(N, U), T != U, N != 1");
                assert!(found.is_empty(), "{found:?}");
                expect(session, ".session clear");
            });
        });
        let mut compacts = session(&engine);
        for _ in 0..COLLECTIONS {
            run(&mut compacts, ".compact").expect("compacted");
        }
        is_over.store(true, Ordering::Relaxed);
    });
    assert!(works.iter().all(|work| work.load(Ordering::Relaxed) >= 20), "{works:?}");
}
