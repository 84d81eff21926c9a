//! What is stored comes back: after a restart, a checkpoint, a loss of power at any step, and never after damage.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use stratalog_engine::{
    Caller, Committed, DEFAULT_GRAPH, Diagnostic, Engine, EngineOptions, Error, Keep, Listener, Need, Origin,
    StorageOptions, restore_on,
};
use stratalog_tests::power_loss::{PowerLoss, Unsynced};
use stratalog_tests::stored::{STATEMENTS, contents, run, session, table};

/// An engine on a medium; checkpoints happen when asked for.
fn open(medium: &PowerLoss) -> Result<Engine, Error> {
    let storage = StorageOptions {
        medium: Arc::new(medium.clone()),
        checkpoint_bytes: u64::MAX,
        background: false,
        ..StorageOptions::new("/data")
    };
    Engine::open(EngineOptions { threads: Some(1), ..EngineOptions::default() }, storage)
}

#[test]
fn everything_comes_back_after_a_restart_and_after_a_checkpoint() {
    for compact_every in [1, 3, usize::MAX] {
        let medium = PowerLoss::default();
        for (i, statement) in STATEMENTS.iter().enumerate() {
            let engine = open(&medium).unwrap();
            let mut here = session(&engine);
            run(&mut here, statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
            if (i + 1) % compact_every == 0 {
                run(&mut here, ".compact").unwrap();
            }
            let before = contents(&mut here).unwrap();
            drop((here, engine));
            medium.restart(Unsynced::Lost);
            let after = contents(&mut session(&open(&medium).unwrap())).unwrap();
            assert_eq!(after, before, "after {statement}");
        }
    }
}

/// Codes are given anew when files are read, so rows may stand in a file in another order than that in which they are
/// looked up. Builds before 0.1.0 wrote them in the order of their last columns.
#[test]
fn rows_are_found_in_whatever_order_a_file_has_them() {
    let medium = PowerLoss::default();
    let restarted = |statement: &str| {
        let engine = open(&medium).unwrap();
        let mut here = session(&engine);
        run(&mut here, statement).unwrap();
        run(&mut here, ".compact").unwrap();
        drop((here, engine));
        medium.restart(Unsynced::Lost);
        open(&medium).unwrap()
    };
    let numbers = |engine: &Engine| {
        let mut here = session(engine);
        ["a", "b", "c", "d"].map(|key| {
            let found = table(&run(&mut here, &format!("?read_last(\"{key}\", N)")).unwrap());
            found.iter().map(|row| row.rsplit('|').next().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
        })
    };
    // The first file that is read gives the last value the first code.
    let engine = restarted(
        "+read_last[(\"a\", 1), (\"a\", 2), (\"b\", 1), (\"c\", 3)]\n+first_read[(\"c\"), (\"b\")]",
    );
    assert_eq!(numbers(&engine), ["Int(1) Int(2)", "Int(1)", "Int(3)", ""]);
    drop(engine);
    let engine = restarted("-read_last[(\"a\", 2), (\"b\", 1)]\n+read_last(\"d\", 4)");
    assert_eq!(numbers(&engine), ["Int(1)", "", "Int(3)", "Int(4)"]);
    drop(engine);
    let engine = restarted("+read_last[(\"a\", 1), (\"b\", 5)]");
    assert_eq!(numbers(&engine), ["Int(1)", "Int(5)", "Int(3)", "Int(4)"]);
    assert_eq!(table(&run(&mut session(&engine), "?count<K> <- read_last(K, _)").unwrap()), ["Int(4)"]);
}

/// Runs the statements with a checkpoint after each third, until the power goes. Answers what was acknowledged.
fn run_until_dark(medium: &PowerLoss) -> usize {
    let Ok(engine) = open(medium) else { return 0 };
    let mut here = session(&engine);
    for (i, statement) in STATEMENTS.iter().enumerate() {
        if run(&mut here, statement).is_err() {
            return i;
        }
        if i % 3 == 2 {
            // A checkpoint that fails loses nothing.
            let _ = run(&mut here, ".compact");
        }
    }
    STATEMENTS.len()
}

#[test]
fn a_loss_of_power_at_any_step_loses_nothing_that_was_acknowledged() {
    // What a graph holds after each number of statements.
    let mut states = Vec::new();
    let medium = PowerLoss::default();
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    states.push(contents(&mut here).unwrap());
    for statement in STATEMENTS {
        run(&mut here, statement).unwrap();
        states.push(contents(&mut here).unwrap());
    }
    drop((here, engine));
    let whole = PowerLoss::default();
    assert_eq!(run_until_dark(&whole), STATEMENTS.len());
    let steps = whole.steps();
    assert!(steps > 200, "the medium is asked for {steps} steps only");
    for step in 0..steps {
        for unsynced in [Unsynced::Lost, Unsynced::Kept, Unsynced::Mixed] {
            let medium = PowerLoss::default();
            medium.fail_at(step);
            let acknowledged = run_until_dark(&medium);
            medium.restart(unsynced);
            let engine = open(&medium)
                .unwrap_or_else(|error| panic!("step {step}, {unsynced:?}: cannot open: {error}"));
            let troubles = engine.storage_troubles();
            assert!(troubles.is_empty(), "step {step}, {unsynced:?}: {troubles:?}");
            let found = contents(&mut session(&engine)).unwrap();
            // The statement under way when the power went is there or not, but whole.
            let next = (acknowledged + 1).min(STATEMENTS.len());
            assert!(
                found == states[acknowledged] || found == states[next],
                "step {step}, {unsynced:?}: {acknowledged} statements were acknowledged, found {found:#?}"
            );
            // And the graph takes writes.
            run(&mut session(&engine), "+afterwards(1)").unwrap();
        }
    }
}

/// A stored graph, and what it holds.
fn stored() -> (PowerLoss, Vec<String>) {
    let medium = PowerLoss::default();
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    for statement in STATEMENTS {
        run(&mut here, statement).unwrap();
    }
    run(&mut here, ".compact").unwrap();
    run(&mut here, "-edge(1, 2)\n+edge(7, 8)").unwrap();
    run(&mut here, "+other(1)").unwrap();
    let expected = contents(&mut here).unwrap();
    drop((here, engine));
    medium.restart(Unsynced::Lost);
    (medium, expected)
}

/// What a damaged folder gives: the same answers, or an error that names a file.
fn check_damaged(medium: &PowerLoss, path: &Path, what: &str, expected: &[String]) -> bool {
    let name = path.display().to_string();
    let (found, message) = match open(medium) {
        Err(error) => (None, error.to_string()),
        Ok(engine) => match engine.open_session("default") {
            Err(error) => (None, error.to_string()),
            Ok(mut here) => (Some(contents(&mut here).unwrap()), String::new()),
        },
    };
    match found {
        Some(found) => assert_eq!(found, expected, "{name}: {what}: served wrong"),
        None => assert!(message.contains("/data/"), "{name}: {what}: the message names no file: {message}"),
    }
    message.is_empty()
}

#[test]
fn damage_is_an_error_that_names_the_file_and_never_an_answer() {
    let (medium, expected) = stored();
    let files = medium.files();
    assert!(files.len() >= 6, "{files:?}");
    let mut noticed = 0;
    let mut tried = 0;
    for path in files {
        let length = medium.read_len(&path);
        // Every byte of small files, and a sample of large ones; pages of zeros beyond the content are many.
        let stride = (length / 400).max(1);
        for offset in (0..length).step_by(stride) {
            let damaged = medium.copy();
            damaged.damage(&path, |bytes| bytes[offset] ^= 0x41);
            tried += 1;
            noticed +=
                usize::from(!check_damaged(&damaged, &path, &format!("byte {offset} flipped"), &expected));
        }
        for length in [0, 1, length / 2, length - 1] {
            let damaged = medium.copy();
            damaged.damage(&path, |bytes| bytes.truncate(length));
            let what = format!("cut to {length} bytes");
            assert!(
                !check_damaged(&damaged, &path, &what, &expected),
                "{}: {what}: not noticed",
                path.display()
            );
        }
        let foreign = medium.copy();
        foreign.damage(&path, |bytes| *bytes = b"PAR1 this is something else altogether".repeat(200));
        assert!(
            !check_damaged(&foreign, &path, "foreign", &expected),
            "{} foreign: not noticed",
            path.display()
        );
        let missing = medium.copy();
        missing.remove_file(&path);
        assert!(
            !check_damaged(&missing, &path, "missing", &expected),
            "{} missing: not noticed",
            path.display()
        );
    }
    // Flips in pages that hold nothing change nothing.
    assert!(noticed * 5 > tried, "only {noticed} of {tried} flips were noticed");
}

#[test]
fn damage_in_one_graph_leaves_the_others_served() {
    let medium = PowerLoss::default();
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    run(&mut here, "+a(1)").unwrap();
    run(&mut here, ".kg create other").unwrap();
    run(&mut here, "+b(2)").unwrap();
    run(&mut here, ".compact").unwrap();
    drop((here, engine));
    medium.restart(Unsynced::Lost);
    let of_other = |path: &PathBuf| path.to_string_lossy().contains("other") && path.ends_with("graph.redb");
    let path = medium.files().into_iter().find(of_other).unwrap();
    medium.damage(&path, |bytes| bytes.fill(7));
    let engine = open(&medium).unwrap();
    assert_eq!(table(&run(&mut session(&engine), "?a(X)").unwrap()), ["Int(1)"]);
    let error = engine.open_session("other").unwrap_err();
    assert_eq!(error.code().as_str(), "storage_unavailable");
    assert!(error.to_string().contains("graph.redb"), "{error}");
    assert_eq!(engine.storage_troubles().len(), 1);
}

#[test]
fn a_dropped_graph_frees_its_disk() {
    let medium = PowerLoss::default();
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    run(&mut here, ".kg create other").unwrap();
    run(&mut here, "+b(2)").unwrap();
    run(&mut here, ".compact").unwrap();
    run(&mut here, ".kg use default").unwrap();
    run(&mut here, ".kg drop other").unwrap();
    assert!(
        medium.files().iter().all(|path| !path.to_string_lossy().contains("other")),
        "{:?}",
        medium.files()
    );
}

#[test]
fn a_full_disk_refuses_writes_and_takes_them_again_when_there_is_space() {
    let (medium, _) = stored();
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    let before = contents(&mut here).unwrap();
    medium.fill(true);
    let large =
        format!("+large[{}]", (0..200_000).map(|i| format!("({i}, \"{i}\")")).collect::<Vec<_>>().join(", "));
    for _ in 0..3 {
        let error = run(&mut here, &large).unwrap_err();
        assert_eq!(error.code().as_str(), "storage_unavailable", "{error}");
        assert!(error.to_string().contains("graph.redb"), "{error}");
        assert_eq!(engine.storage_troubles().len(), 1);
        // Nothing of it is there, and reads go on.
        assert_eq!(contents(&mut here).unwrap(), before);
    }
    let error = run(&mut here, ".compact").unwrap_err();
    assert_eq!(error.code().as_str(), "storage_unavailable", "{error}");
    assert_eq!(contents(&mut here).unwrap(), before);
    medium.fill(false);
    run(&mut here, &large).unwrap();
    run(&mut here, ".compact").unwrap();
    assert!(engine.storage_troubles().is_empty());
    let after = contents(&mut here).unwrap();
    assert!(after.len() > 200_000);
    drop((here, engine));
    medium.restart(Unsynced::Lost);
    assert_eq!(contents(&mut session(&open(&medium).unwrap())).unwrap(), after);
}

/// Whoever acts in the session `here`.
#[derive(Debug)]
struct Here;

impl Caller for Here {
    fn allows(&self, _: Need, _: &str) -> Result<(), Diagnostic> {
        Ok(())
    }

    fn session(&self) -> Option<Origin> {
        Some("here".into())
    }

    fn creating(&self, _: &str, keep: Keep<'_>) -> Result<(), Error> {
        keep(&[])
    }

    fn dropping(&self, _: &str, keep: Keep<'_>) -> Result<Vec<String>, Error> {
        keep(&[])?;
        Ok(Vec::new())
    }
}

/// Takes a note of who made each commit.
#[derive(Debug, Default)]
struct Makers(Mutex<Vec<Option<Origin>>>);

impl Listener for Makers {
    fn heard(&self, committed: &Committed) {
        self.0.lock().unwrap().push(committed.origin.clone());
    }
}

#[test]
fn a_commit_of_which_a_call_fails_is_stored_or_is_not_there() {
    let (medium, before) = stored();
    for step in 0.. {
        let medium = medium.copy();
        let engine = open(&medium).unwrap();
        let makers = Arc::new(Makers::default());
        engine.listen(makers.clone());
        let mut here = engine.open_session_for(Arc::new(Here), DEFAULT_GRAPH).unwrap();
        // One call fails, as a bad cable might make it, and everything works again.
        medium.fail_once_after(step);
        let outcome = run(&mut here, "+edge[(100, 101), (101, 102)]");
        let has_failed = medium.has_failed();
        medium.fail_once_after(u64::MAX);
        let found = contents(&mut here).unwrap();
        match &outcome {
            Ok(_) => assert_ne!(found, before),
            Err(error) => {
                assert!(is_of_storage(error), "step {step}: {error}");
                assert_eq!(found, before, "step {step}");
            }
        }
        run(&mut here, "+edge(200, 201)").unwrap();
        let made = 1 + usize::from(outcome.is_ok());
        assert_eq!(*makers.0.lock().unwrap(), vec![Some("here".into()); made], "step {step}");
        let after = contents(&mut here).unwrap();
        drop((here, engine));
        medium.restart(Unsynced::Lost);
        assert_eq!(contents(&mut session(&open(&medium).unwrap())).unwrap(), after, "step {step}");
        if !has_failed {
            assert!(step > 3, "a commit takes {step} steps only");
            break;
        }
    }
}

fn is_of_storage(error: &Error) -> bool {
    matches!(error.code().as_str(), "storage_unavailable" | "outcome_unknown")
}

/// How the process comes to its end.
#[derive(Debug, Clone, Copy)]
enum End {
    Power(Unsynced),
    /// It is started again on the same page cache, and only then the power goes.
    Restart,
}

const ENDS: [End; 4] =
    [End::Power(Unsynced::Lost), End::Power(Unsynced::Kept), End::Power(Unsynced::Mixed), End::Restart];

/// Runs a program of which one sync fails, for each of its syncs: what is acknowledged then is there after any end.
fn with_each_sync_failing(program: &str) {
    let (medium, before) = stored();
    for (sync, end) in (0..).flat_map(|sync| ENDS.map(|end| (sync, end))) {
        let medium = medium.copy();
        let engine = open(&medium).unwrap();
        let mut here = session(&engine);
        medium.fail_sync_after(sync);
        let outcome = run(&mut here, program);
        if !medium.has_failed() {
            assert!(sync > 0, "{program} syncs nothing");
            break;
        }
        let what = format!("{program}, sync {sync}, {end:?}");
        // No sync stands for the one that failed.
        let error = outcome.unwrap_err();
        assert!(is_of_storage(&error), "{what}: {error}");
        assert_eq!(contents(&mut here).unwrap(), before, "{what}: reads go on from what was stored");
        run(&mut here, "+edge(200, 201)").unwrap_or_else(|error| panic!("{what}: {error}"));
        let mut expected = contents(&mut here).unwrap();
        drop((here, engine));
        match end {
            End::Power(unsynced) => medium.restart(unsynced),
            End::Restart => {
                medium.kill();
                let engine = open(&medium).unwrap();
                let mut here = session(&engine);
                assert_eq!(contents(&mut here).unwrap(), expected, "{what}: after the start");
                run(&mut here, "+edge(300, 301)").unwrap();
                expected = contents(&mut here).unwrap();
                medium.restart(Unsynced::Lost);
            }
        }
        let engine = open(&medium).unwrap();
        assert!(engine.storage_troubles().is_empty(), "{what}: {:?}", engine.storage_troubles());
        assert_eq!(contents(&mut session(&engine)).unwrap(), expected, "{what}");
    }
}

#[test]
fn a_commit_whose_sync_fails_is_never_acknowledged_and_nothing_is_built_on_it() {
    with_each_sync_failing("+edge[(100, 101), (101, 102)]");
}

#[test]
fn a_checkpoint_whose_sync_fails_loses_nothing() {
    with_each_sync_failing(".compact");
}

#[test]
fn a_process_that_ends_after_a_failed_sync_serves_what_it_then_keeps() {
    let (medium, before) = stored();
    let engine = open(&medium).unwrap();
    medium.fail_sync_after(0);
    let error = run(&mut session(&engine), "+edge(100, 101)").unwrap_err();
    assert_eq!(error.code().as_str(), "outcome_unknown", "{error}");
    drop(engine);
    medium.kill();
    // The page cache shows the commit; the disk has never seen it.
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    let served = contents(&mut here).unwrap();
    assert!(served == before || served.len() == before.len() + 1, "{served:#?}");
    run(&mut here, "+edge(200, 201)").unwrap();
    let expected = contents(&mut here).unwrap();
    drop((here, engine));
    medium.restart(Unsynced::Lost);
    assert_eq!(contents(&mut session(&open(&medium).unwrap())).unwrap(), expected);
}

#[test]
fn a_disk_that_does_not_sync_ends_writing_and_not_reading() {
    let (medium, before) = stored();
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    medium.make_sick(true);
    let error = run(&mut here, "+edge(100, 101)").unwrap_err();
    assert_eq!(error.code().as_str(), "outcome_unknown", "{error}");
    for _ in 0..3 {
        let error = run(&mut here, "+edge(102, 103)").unwrap_err();
        assert_eq!(error.code().as_str(), "storage_unavailable", "{error}");
        assert!(error.to_string().contains("/data/graphs/default-1/"), "{error}");
        assert_eq!(contents(&mut here).unwrap(), before);
        let troubles = engine.storage_troubles();
        assert_eq!(troubles.len(), 1, "{troubles:?}");
        assert_eq!(troubles[0].0, DEFAULT_GRAPH);
        assert!(troubles[0].1.contains("/data/graphs/default-1/"), "{troubles:?}");
        assert_eq!(engine.unwritable(), [DEFAULT_GRAPH]);
    }
    assert!(engine.back_up(Path::new("/backup")).is_err(), "what is not on disk is no backup");
    medium.make_sick(false);
    run(&mut here, "+edge(104, 105)").unwrap();
    assert!(engine.storage_troubles().is_empty());
    let after = contents(&mut here).unwrap();
    assert_eq!(after.len(), before.len() + 1);
    drop((here, engine));
    medium.restart(Unsynced::Lost);
    assert_eq!(contents(&mut session(&open(&medium).unwrap())).unwrap(), after);
}

#[test]
fn a_start_on_a_full_disk_serves_and_takes_writes_when_there_is_space() {
    let (medium, before) = stored();
    medium.fill(true);
    let engine = open(&medium).unwrap();
    let mut here = session(&engine);
    assert_eq!(contents(&mut here).unwrap(), before);
    let error = run(&mut here, "+edge(100, 101)").unwrap_err();
    assert_eq!(error.code().as_str(), "storage_unavailable", "{error}");
    medium.fill(false);
    run(&mut here, "+edge(100, 101)").unwrap();
    let after = contents(&mut here).unwrap();
    drop((here, engine));
    medium.restart(Unsynced::Lost);
    assert_eq!(contents(&mut session(&open(&medium).unwrap())).unwrap(), after);
}

#[test]
fn a_graph_that_is_made_or_dropped_while_a_call_fails_is_what_the_answer_says() {
    let medium = PowerLoss::default();
    let engine = open(&medium).unwrap();
    run(&mut session(&engine), ".kg create kept\n+a(1)\n.kg create lab\n+b(1)\n.kg use default").unwrap();
    drop(engine);
    medium.restart(Unsynced::Lost);
    for program in [".kg create new", ".kg drop lab"] {
        for (call, end) in (0..).flat_map(|call| ENDS.map(|end| (call, end))) {
            let medium = medium.copy();
            let engine = open(&medium).unwrap();
            let before = engine.graphs();
            medium.fail_once_after(call);
            let outcome = run(&mut session(&engine), program);
            let has_failed = medium.has_failed();
            medium.fail_once_after(u64::MAX);
            let what = format!("{program}, call {call}, {end:?}");
            let now = engine.graphs();
            assert_eq!(outcome.is_err(), now == before, "{what}: {outcome:?}");
            assert!(outcome.as_ref().err().is_none_or(is_of_storage), "{what}: {outcome:?}");
            // Another graph goes; those that are there take writes, and keep them.
            run(&mut session(&engine), ".kg drop kept").unwrap();
            let now: Vec<String> = now.into_iter().filter(|name| name != "kept").collect();
            for name in &now {
                run(&mut engine.open_session(name).unwrap(), "+later(7)").unwrap();
            }
            drop(engine);
            match end {
                End::Power(unsynced) => medium.restart(unsynced),
                End::Restart => medium.kill(),
            }
            let engine = open(&medium).unwrap();
            assert_eq!(engine.graphs(), now, "{what}");
            assert!(engine.storage_troubles().is_empty(), "{what}: {:?}", engine.storage_troubles());
            for name in &now {
                let mut there = engine.open_session(name).unwrap();
                assert_eq!(table(&run(&mut there, "?later(X)").unwrap()), ["Int(7)"], "{what}");
            }
            if !has_failed {
                assert!(call > 5, "{program} takes {call} calls only");
                break;
            }
        }
    }
}

#[test]
fn a_backup_holds_everything_and_damage_to_it_is_found() {
    let (medium, expected) = stored();
    let engine = open(&medium).unwrap();
    let summary = engine.back_up(Path::new("/backup")).unwrap();
    assert_eq!(summary.graphs.keys().collect::<Vec<_>>(), ["default"]);
    // What comes after it is not in it.
    run(&mut session(&engine), "+later(1)").unwrap();
    let error = engine.back_up(Path::new("/backup")).unwrap_err();
    assert!(error.to_string().contains("not empty"), "{error}");
    drop(engine);
    let restored = medium.copy();
    restored.remove_under(Path::new("/data"));
    restore_on(&restored, Path::new("/backup"), Path::new("/data")).unwrap();
    assert_eq!(contents(&mut session(&open(&restored).unwrap())).unwrap(), expected);
    let files = medium.files().into_iter().filter(|path| path.starts_with("/backup"));
    for path in files {
        let length = medium.read_len(&path);
        for offset in (0..length).step_by((length / 50).max(1)) {
            let damaged = medium.copy();
            damaged.remove_under(Path::new("/data"));
            damaged.damage(&path, |bytes| bytes[offset] ^= 0x11);
            match restore_on(&damaged, Path::new("/backup"), Path::new("/data")) {
                Err(error) => {
                    assert!(error.to_string().contains("/backup"), "{error}");
                    assert!(
                        damaged.files().iter().all(|path| !path.starts_with("/data")),
                        "something was written"
                    );
                }
                // A digit of a version, say: what is restored is right all the same.
                Ok(_) => {
                    assert!(path.ends_with("backup.json"), "{}: byte {offset} not noticed", path.display());
                    assert_eq!(contents(&mut session(&open(&damaged).unwrap())).unwrap(), expected);
                }
            }
        }
    }
}

/// Leaves out what is known of a relation's columns.
fn without_types_of(name: &str, contents: &[String]) -> Vec<String> {
    let lines = contents.iter().filter(|line| !line.starts_with(&format!(".rel describe {name}")));
    lines
        .map(|line| match line.contains(&format!("Text(\"{name}\")")) {
            true => format!("{name} is there"),
            false => line.clone(),
        })
        .collect()
}

#[test]
fn an_exported_graph_can_be_imported() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("out");
    let engine = Engine::in_memory(EngineOptions::default()).unwrap();
    let mut here = session(&engine);
    for statement in STATEMENTS {
        run(&mut here, statement).unwrap();
    }
    run(&mut here, ".rule drop best").unwrap();
    run(&mut here, "+there() <- edge(1, 2)").unwrap();
    // Where questions about a graph go is not a part of it.
    run(&mut here, ".kg cluster off").unwrap();
    let expected = contents(&mut here).unwrap();
    let exported = engine.export("default", &path).unwrap();
    assert_eq!(engine.import("copy", &path).unwrap(), exported);
    let mut copy = engine.open_session("copy").unwrap();
    // What an empty relation without a schema once held is forgotten, but not the relation.
    let found = contents(&mut copy).unwrap();
    assert_eq!(without_types_of("gone", &found), without_types_of("gone", &expected));
    assert_eq!(engine.import("copy", &path).unwrap_err().code().as_str(), "already_exists");
    // A file that is no Parquet: nothing is left of the graph.
    std::fs::write(path.join("edge.parquet"), b"nonsense").unwrap();
    let error = engine.import("other", &path).unwrap_err();
    assert!(error.to_string().contains("edge.parquet"), "{error}");
    assert!(!engine.has_graph("other"));
}
