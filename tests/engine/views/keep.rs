//! `.view keep`: what rules derive is brought to each version before anybody asks for it.

use std::time::{Duration, Instant};

use stratalog_engine::{Advance, Engine, EngineOptions, Session, StorageOptions};
use stratalog_tests::value::{Row, Value};

use super::sessions::{engine_of, run};

const RULES: &str = "+edge[(1, 2), (2, 3), (3, 1), (7, 8)]
+path(X, Y) <- edge(X, Y)
+path(X, Z) <- path(X, Y), edge(Y, Z)
+degree(X, count<Y>) <- edge(X, Y)";

fn session_of(engine: &Engine) -> Session {
    engine.open_session("default").expect("the graph `default` exists")
}

fn session(options: EngineOptions) -> (Engine, Session) {
    let engine = engine_of(options);
    let mut session = session_of(&engine);
    run(&mut session, RULES, false).expect("facts and rules");
    (engine, session)
}

fn told(session: &mut Session, program: &str) -> String {
    match run(session, program, false) {
        Ok(rows) => match rows.as_slice() {
            [row] => format!("{}", row[0]),
            rows => format!("{rows:?}"),
        },
        Err(error) => error,
    }
}

/// The lines of `.view list` by relation: kept, rows, behind, trouble.
fn listed(session: &mut Session) -> Vec<Vec<String>> {
    let rows: Vec<Row> = run(session, ".view list", false).expect("a listing");
    rows.iter().map(|row| [0, 1, 2, 4, 9].map(|column| row[column].to_string()).to_vec()).collect()
}

/// Waits until a relation is listed so.
fn wait_for(session: &mut Session, expected: &[&str]) {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let list = listed(session);
        if list.iter().any(|line| line == expected) {
            return;
        }
        assert!(Instant::now() < until, "{expected:?} is not in {list:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn what_is_kept_is_there_at_each_version() {
    for advance in [Advance::Always, Advance::WhereFaster, Advance::Never] {
        let (engine, mut session) = session(EngineOptions { advance, ..EngineOptions::default() });
        let said = told(&mut session, ".view keep path");
        assert!(said.starts_with("\"keeps path: 10 rows, "), "{said}");
        wait_for(&mut session, &["\"path\"", "true", "10", "0", "null"]);
        for (change, rows) in
            [("+edge(8, 9)", "12"), ("-edge(3, 1)", "6"), ("+edge(9, 7)", "12"), ("-edge(1, 2)", "10")]
        {
            run(&mut session, change, false).expect("a change");
            wait_for(&mut session, &["\"path\"", "true", rows, "0", "null"]);
        }
        let steps = engine.views().steps;
        match advance {
            Advance::Always => assert!(steps > 0),
            Advance::Never => assert_eq!(steps, 0),
            // Whoever has to wait for a processor may find that steps are faster.
            Advance::WhereFaster => {}
        }
        assert_eq!(run(&mut session, "?path(X, Y)", false).expect("an answer").len(), 10);
    }
}

#[test]
fn it_is_there_again_after_a_restart() {
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let open = || {
        let storage = StorageOptions::new(folder.path());
        Engine::open(EngineOptions::default(), storage).expect("an engine")
    };
    for is_checkpointed in [false, true] {
        let engine = open();
        let mut session = session_of(&engine);
        run(&mut session, RULES, false).expect("facts and rules");
        run(&mut session, ".view keep path", false).expect("what is derived");
        if is_checkpointed {
            engine.checkpoint().expect("a checkpoint");
        }
        drop((session, engine));
        let engine = open();
        let mut session = session_of(&engine);
        // Nobody has asked for it.
        wait_for(&mut session, &["\"path\"", "true", "10", "0", "null"]);
    }
    let engine = open();
    let mut session = session_of(&engine);
    run(&mut session, ".view drop path", false).expect("what is kept");
    drop((session, engine));
    let engine = open();
    let mut session = session_of(&engine);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(listed(&mut session), Vec::<Vec<String>>::new());
}

#[test]
fn a_restart_finds_what_was_kept() {
    const PROGRAMS: [(&str, bool, bool); 6] = [
        (".rule replace\n+path(X, Y) <- edge(Y, X)", false, true),
        ("+path(X, X) <- edge(X, _)\n.rule remove path 1", true, true),
        (".rule clear path\n+path(X, Y) <- edge(X, Y)", true, true),
        (".rule drop path\n+path(X, Y) <- edge(X, Y)", true, false),
        (".view keep path\n.rule drop path\n+path(X, Y) <- edge(X, Y)\n.view keep path", true, true),
        (".rel drop path", true, false),
    ];
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    let open =
        || Engine::open(EngineOptions::default(), StorageOptions::new(folder.path())).expect("an engine");
    let keeps = |engine: &Engine| {
        let list = listed(&mut session_of(engine));
        list.iter().any(|line| line[0] == "\"path\"" && line[1] == "true")
    };
    for (program, atomic, expected) in PROGRAMS {
        let engine = open();
        let mut session = session_of(&engine);
        run(&mut session, RULES, false).expect("facts and rules");
        run(&mut session, ".view keep path", false).expect("what is derived");
        run(&mut session, program, atomic).expect(program);
        assert_eq!(keeps(&engine), expected, "{program}");
        drop((session, engine));
        assert_eq!(keeps(&open()), expected, "after a restart: {program}");
    }
}

#[test]
fn it_makes_place_for_nothing_else() {
    let (_engine, mut session) = session(EngineOptions { view_memory: 1_000, ..EngineOptions::default() });
    told(&mut session, ".view keep degree");
    for number in 0..20 {
        let rules = format!("+other{number}(X, Y) <- edge(X, Y)\n+other{number}(Y, X) <- edge(X, Y)");
        run(&mut session, &rules, false).expect("a rule");
        run(&mut session, &format!("?other{number}(X, Y)"), false).expect("an answer");
    }
    let list = listed(&mut session);
    assert!(list.len() < 20, "{list:?}");
    wait_for(&mut session, &["\"degree\"", "true", "4", "0", "null"]);
    told(&mut session, ".view drop degree");
    for number in 0..20 {
        run(&mut session, &format!("?other{number}(X, Y)"), false).expect("an answer");
    }
    let list = listed(&mut session);
    assert!(list.iter().all(|line| line[0] != "\"degree\"" && line[1] == "false"), "{list:?}");
}

#[test]
fn it_learns_all_values_of_what_is_kept_and_of_what_that_follows_from() {
    // As many as nobody learns who has not been told to.
    const FACTS: usize = 70_000;
    let (engine, mut session) =
        session(EngineOptions { advance: Advance::Always, ..EngineOptions::default() });
    let facts: Vec<String> = (0..FACTS).map(|n| format!("({n})")).collect();
    run(&mut session, &format!("+n[{}]", facts.join(", ")), false).expect("facts");
    run(&mut session, "+cost(N, C) <- n(N), C = N + 0.25\n+all(sum<C>) <- cost(_, C)", false).expect("rules");
    told(&mut session, ".view keep all");
    wait_for(&mut session, &["\"all\"", "true", "1", "0", "null"]);
    assert!(listed(&mut session).iter().any(|line| line[0] == "\"cost\""));
    let before = engine.views().steps;
    run(&mut session, "+n(-1)", false).expect("a fact");
    wait_for(&mut session, &["\"all\"", "true", "1", "0", "null"]);
    let sum = (0..FACTS).map(|n| n as f64 + 0.25).sum::<f64>() - 0.75;
    assert_eq!(run(&mut session, "?all(S)", false), Ok(vec![vec![Value::Float(sum)]]));
    assert!(engine.views().steps > before, "it is brought forward");
}

#[test]
fn what_cannot_be_kept_is_refused() {
    let (_engine, mut session) = session(EngineOptions { view_memory: 100, ..EngineOptions::default() });
    run(
        &mut session,
        "+since(X, T) <- edge(X, _), T = time_now()\n+big(sum<W>) <- edge(X, _), W = X * 9000000000000000000",
        false,
    )
    .expect("rules");
    for (program, expected) in [
        (".view keep nothing", "there is no rule `nothing`"),
        (".view keep edge", "there is no rule `edge`"),
        (
            ".view keep since",
            "since cannot be kept: it follows from more than the facts and rules of its graph",
        ),
        (".view keep path", "the rows of path do not fit into 100 bytes"),
        (".view keep big", "big cannot be kept: something is to be said of its rows"),
        (".view drop path", "path is not kept by `.view keep`"),
        (".view", "no command reads `.view`"),
        (".view keep", "no command reads `.view keep`"),
    ] {
        let said = told(&mut session, program);
        assert!(said.contains(expected), "{program}: {said}");
    }
    assert!(listed(&mut session).iter().all(|line| line[1] == "false"));
}

#[test]
fn it_goes_with_its_rules() {
    let (_engine, mut session) = session(EngineOptions::default());
    let kept = |session: &mut Session| {
        listed(session).into_iter().any(|line| line[0] == "\"path\"" && line[1] == "true")
    };
    run(&mut session, ".view keep path", false).expect("what is derived");
    run(&mut session, ".rule replace\n+path(X, Y) <- edge(Y, X)", false).expect("another rule");
    wait_for(&mut session, &["\"path\"", "true", "4", "0", "null"]);
    run(&mut session, "+path(X, X) <- edge(X, _)\n.rule remove path 1", false).expect("another clause");
    wait_for(&mut session, &["\"path\"", "true", "4", "0", "null"]);
    run(&mut session, ".rule drop path", false).expect("no rule");
    assert!(!kept(&mut session));
    run(&mut session, "+path(X, Y) <- edge(X, Y)", false).expect("a rule");
    assert!(!kept(&mut session), "a rule of the same name is another one");
    // All or nothing.
    assert!(run(&mut session, ".view keep path\n+edge(\"a\")", true).is_err());
    assert!(!kept(&mut session));
    run(&mut session, ".view keep path\n+edge(5, 6)", true).expect("a transaction");
    wait_for(&mut session, &["\"path\"", "true", "5", "0", "null"]);
    // Twice is once.
    run(&mut session, ".view keep path", false).expect("what is kept already");
    run(&mut session, ".view drop path", false).expect("what is kept");
    assert!(!kept(&mut session));
}

#[test]
fn a_graph_that_is_dropped_takes_it_along() {
    let (engine, mut session) = session(EngineOptions::default());
    let lab = format!(".kg create lab\n{RULES}\n.view keep path");
    run(&mut session, &lab, false).expect("another graph");
    assert_eq!(session.graph(), "lab");
    run(&mut session, ".kg use default\n.kg drop lab", false).expect("a graph that is gone");
    run(&mut session, ".kg create lab\n+path(1, 2)", false).expect("a graph of its name");
    assert_eq!((listed(&mut session).len(), engine.views().views), (0, 0));
}

#[test]
fn an_export_has_it() {
    let (engine, mut session) = session(EngineOptions::default());
    run(&mut session, ".view keep path", false).expect("what is derived");
    let folder = tempfile::TempDir::new().expect("a temporary folder");
    engine.export("default", &folder.path().join("graph")).expect("an export");
    engine.import("copy", &folder.path().join("graph")).expect("an import");
    run(&mut session, ".kg use copy", false).expect("a graph");
    wait_for(&mut session, &["\"path\"", "true", "10", "0", "null"]);
}

#[test]
fn plans_tell_what_becomes_of_rows_of_before() {
    let (_engine, mut session) =
        session(EngineOptions { advance: Advance::Always, ..EngineOptions::default() });
    let mut lines = |program: &str| -> Vec<String> {
        let rows = run(&mut session, program, false).expect(program);
        rows.into_iter().map(|row| row[0].to_string().trim_matches('"').to_owned()).collect()
    };
    let has = |lines: &[String], beginning: &str| lines.iter().any(|line| line.starts_with(beginning));
    lines("?path(X, Y)");
    let plan = lines(".explain ?path(X, Y)");
    assert!(has(&plan, "kept path (10 rows)") && !has(&plan, "older"), "{plan:?}");
    lines("+edge(8, 9)");
    let plan = lines(".explain ?path(X, Y)");
    assert!(has(&plan, "older path (10 rows), to be brought forward") && !has(&plan, "kept"), "{plan:?}");
    let plan = lines(".profile ?path(X, Y)");
    assert!(
        has(&plan, "older path, brought forward to 12 rows by a walk in")
            && has(&plan, "kept path (12 rows)"),
        "{plan:?}"
    );
    let plan = lines(".profile ?path(X, Y)");
    assert!(has(&plan, "kept path (12 rows)") && !has(&plan, "older"), "{plan:?}");
    lines("-edge(8, 9)");
    let plan = lines(".profile json ?path(X, Y)").remove(0);
    assert!(plan.contains("fate") && plan.contains("forward"), "{plan}");
}
