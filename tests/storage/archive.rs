//! Folders of backups: what does not change is in them once, and between backups the archive has everything, so that a
//! data folder can be made as it was at any moment, people and rights included.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stratalog_engine::storage::{Disk, Medium};
use stratalog_engine::{
    ArchiveOptions, BackupPlace, BackupSummary, Engine, EngineOptions, Error, StorageOptions, Until, restore,
    restore_to,
};
use stratalog_tests::power_loss::{PowerLoss, Unsynced};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::stored::{contents, numbers, open, run, session};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn execute(folder: &Path, arguments: &[&str]) -> Output {
    Server::command(folder, &[]).args(arguments).output().expect("the executable runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_folder_of_backups_has_what_does_not_change_once() {
    let place = folder();
    let (data, many) = (place.path().join("data"), place.path().join("many"));
    let mut states = Vec::new();
    let mut runs = Vec::new();
    for number in 1..=4 {
        let engine = open(&data);
        let rows: Vec<String> = (0..2_000).map(|n| format!("({number}, {n})")).collect();
        run(&mut session(&engine), &format!("+of_{number}[{}]\n+latest({number})", rows.join(",")))
            .expect("facts");
        engine.checkpoint().expect("a checkpoint");
        states.push(contents(&mut session(&engine)).expect("contents"));
        drop(engine);
        let done = execute(place.path(), &["backup", "--incremental", "many"]);
        assert!(done.status.success(), "{}", told(&done));
        runs.push(names(&many.join("runs")));
    }
    // A large relation is copied when it is new, and never again.
    for (before, after) in runs.iter().zip(&runs[1..]) {
        assert!(before.is_subset(after) && after.len() - before.len() <= 2, "{before:?}\n{after:?}");
    }
    // Whichever is removed, the others lack nothing.
    fs::remove_dir_all(many.join("000002")).expect("a backup can be removed");
    fs::remove_dir_all(many.join("000004")).expect("a backup can be removed");
    let done = execute(place.path(), &["restore", "many", "again"]);
    assert!(done.status.success(), "{}", told(&done));
    assert_eq!(contents(&mut session(&open(&place.path().join("again")))).expect("contents"), states[2]);
    // What is damaged is found before anything is written, whatever it is.
    let summaries = |path: &Path| names(path).into_iter().find(|name| name.starts_with("backup-"));
    let summary = summaries(&many.join("000003")).expect("a summary");
    let length = |name: &&String| fs::metadata(many.join("runs").join(name)).map_or(0, |file| file.len());
    let run = runs[0].iter().max_by_key(length).expect("a run").clone();
    for path in [format!("runs/{run}"), format!("000003/{summary}"), "000003/system.redb".to_owned()] {
        let path = many.join(path);
        let good = fs::read(&path).expect("a file");
        let mut bad = good.clone();
        let middle = bad.len() / 2;
        bad[middle] ^= 1;
        fs::write(&path, bad).expect("it can be damaged");
        let done = execute(place.path(), &["restore", "many", "never"]);
        assert_eq!(done.status.code(), Some(1), "{}", path.display());
        assert!(told(&done).contains("checksum"), "{}: {}", path.display(), told(&done));
        assert!(!place.path().join("never").exists(), "{}", path.display());
        fs::write(&path, good).expect("it can be mended");
    }
}

/// A server that archives.
fn archiving(place: &Path, interval: &str, keep: &str) -> Server {
    let settings = [
        ("SERVICE_BACKUP__FOLDER", "many"),
        ("SERVICE_BACKUP__INTERVAL_SECS", interval),
        ("SERVICE_BACKUP__KEEP", keep),
        ("SERVICE_STORAGE__CHECKPOINT_BYTES", "4096"),
    ];
    Server::start_in(place, &settings)
}

/// Restores; answers what it says or the folder that it made.
fn restored(place: &Path, until: &Until) -> Result<(TempDir, BackupSummary), String> {
    let made = folder();
    let medium: Arc<dyn Medium> = Arc::new(Disk);
    let summary =
        restore_to(&BackupPlace::on_disk(place.join("many")), &medium, &made.path().join("data"), until);
    summary.map(|summary| (made, summary)).map_err(|error| error.to_string())
}

fn version(graph: &str, version: u64) -> Until {
    Until::Version { graph: graph.to_owned(), version }
}

/// Whether bob has an entry for a graph.
fn has_entry(engine: &Engine, graph: &str) -> bool {
    let records = engine.records();
    let mut texts = records.values().map(|record| String::from_utf8_lossy(record).into_owned());
    texts.any(|text| text.contains("\"bob\"") && text.contains(&format!("\"{graph}\"")))
}

#[tokio::test]
async fn a_data_folder_is_restored_as_it_was_at_any_version_with_people_and_rights() {
    let place = folder();
    let server = archiving(place.path(), "86400", "7");
    let many = place.path().join("many");
    server.until("the first backup", || many.join("000001/system.redb").exists()).await;
    let mut admin = server.log_in().await;
    admin.rows(".user create bob bobby viewer\n.kg create lab").await;
    for step in [
        "+n(1)",
        ".kg acl grant lab bob viewer",
        "+n(2)",
        ".kg acl revoke lab bob",
        "+n(3)",
        ".kg create extra\n+n(10)\n+n(20)\n.kg use lab",
        "+n(4)",
        ".kg drop extra",
        "+n(5)",
        ".compact",
        "+n(6)",
    ] {
        admin.rows(step).await;
        // Some steps are in segments of their own, some are not.
        if step.len() % 2 == 0 {
            tokio::time::sleep(Duration::from_millis(1200)).await;
        }
    }
    drop(admin);
    server.stop();

    let mut seen = Vec::new();
    for number in 1.. {
        let (made, summary) = match restored(place.path(), &version("lab", number)) {
            Ok(restored) => restored,
            Err(message) => {
                assert!(
                    message.contains(&format!("version {number} of the knowledge graph lab")),
                    "{message}"
                );
                break;
            }
        };
        assert_eq!(summary.graphs["lab"], number);
        let engine = open(&made.path().join("data"));
        let extra = engine.has_graph("extra").then(|| numbers(&engine, "extra"));
        seen.push((numbers(&engine, "lab"), has_entry(&engine, "lab"), extra));
    }
    let state = |n: i64, entry: bool, extra: Option<&str>| {
        (format!("Int({n})|Int({n})"), entry, extra.map(str::to_owned))
    };
    seen.dedup();
    let expected = [
        state(1, false, None),
        state(2, true, None),
        state(3, false, None),
        state(4, false, Some("Int(2)|Int(20)")),
        state(5, false, None),
        state(6, false, None),
    ];
    assert_eq!(seen, expected);
    // As far as it goes: what the data folder has.
    let (made, _) = restored(place.path(), &Until::End).expect("the end");
    let (now, then) = (open(&place.path().join("data")), open(&made.path().join("data")));
    assert_eq!(now.graphs(), then.graphs());
    assert_eq!(now.records(), then.records());
    let contents_of =
        |engine: &Engine| contents(&mut engine.open_session("lab").expect("lab")).expect("contents");
    assert_eq!(contents_of(&now), contents_of(&then));
}

#[tokio::test]
async fn what_is_missing_in_an_archive_is_named() {
    let place = folder();
    let server = archiving(place.path(), "86400", "7");
    let segments = place.path().join("many/archive");
    server.until("the first backup", || place.path().join("many/000001/system.redb").exists()).await;
    let mut admin = server.log_in().await;
    for n in 1..=4 {
        let before = names(&segments).len();
        admin.rows(&format!("+n({n})")).await;
        server.until("a segment", || names(&segments).len() > before).await;
    }
    drop(admin);
    server.stop();
    let (made, summary) = restored(place.path(), &Until::End).expect("all of it");
    let last = summary.graphs["default"];
    assert_eq!(numbers(&open(&made.path().join("data")), "default"), "Int(4)|Int(4)");
    let moment = summary.moment.expect("a moment");

    // A moment that the archive does not reach yet.
    let far = Until::Moment(stratalog_engine::storage::Moment(moment.0 + 3_600_000_000));
    let message = restored(place.path(), &far).expect_err("that is to come");
    assert!(message.contains(&format!("what was stored after {moment}")), "{message}");
    let early = Until::Moment(stratalog_engine::storage::Moment(1));
    let message = restored(place.path(), &early).expect_err("there was nothing");
    assert!(message.contains("there is no backup of 1970"), "{message}");
    // The executable says the same, with times that it reads as it writes them.
    let done = execute(place.path(), &["restore", "many", "exact", "--until", &moment.to_string()]);
    assert!(done.status.success() && told(&done).contains(&moment.to_string()), "{}", told(&done));
    let done = execute(place.path(), &["restore", "many", "other", "--until", "yesterday"]);
    assert_eq!(done.status.code(), Some(2), "{}", told(&done));

    // A segment in the middle is gone.
    let all: Vec<String> = names(&segments).into_iter().collect();
    fs::rename(segments.join(&all[1]), place.path().join("away")).expect("it can be moved");
    let message = restored(place.path(), &Until::End).expect_err("there is a gap");
    assert!(message.contains("what was stored between"), "{message}");
    assert!(restored(place.path(), &version("default", last)).is_err());
    fs::rename(place.path().join("away"), segments.join(&all[1])).expect("it can be put back");
    // A bit of one has rotted.
    let path = segments.join(&all[0]);
    let mut bytes = fs::read(&path).expect("a segment");
    bytes[20] ^= 1;
    fs::write(&path, bytes).expect("it can be damaged");
    let message = restored(place.path(), &Until::End).expect_err("it is damaged");
    assert!(message.contains(&all[0]) && message.contains("checksum"), "{message}");
}

/// Inserts numbers, each acknowledged, and changes keys meanwhile. Answers the next number.
async fn count_on(admin: &mut Connection, from: i64, count: i64) -> i64 {
    for n in from..from + count {
        admin.rows(&format!("+n({n})")).await;
        if n % 5 == 0 {
            admin.rows(&format!(".apikey create key{n}")).await;
        }
    }
    from + count
}

#[tokio::test]
async fn an_archive_goes_on_after_kills_and_checkpoints_and_old_backups_go() {
    let place = folder();
    let mut next = 1;
    for round in 0..4 {
        let server = archiving(place.path(), "1", "2");
        let mut admin = server.log_in().await;
        next = count_on(&mut admin, next, 25).await;
        if round == 1 {
            admin.rows(".compact").await;
        }
        if round == 2 {
            let begun = Instant::now();
            while begun.elapsed().as_millis() < 2500 {
                next = count_on(&mut admin, next, 5).await;
            }
        }
        drop(admin);
        match round {
            // `kill -9`.
            0 | 2 => drop(server),
            _ => server.stop(),
        }
    }
    let backups = names(&place.path().join("many")).into_iter().filter(|name| name.starts_with("00")).count();
    assert!(backups <= 2, "{backups} backups are kept");
    let (made, summary) = restored(place.path(), &Until::End).expect("the end");
    let state = |engine: &Engine| numbers(engine, "default");
    assert_eq!(state(&open(&made.path().join("data"))), format!("Int({})|Int({0})", next - 1));
    // Every version that is still there is whole: a number is there with those before it, and with the keys.
    let last = summary.graphs["default"];
    let mut tried = 0;
    for number in (1..=last).rev().take(30) {
        let Ok((made, _)) = restored(place.path(), &version("default", number)) else { break };
        let engine = open(&made.path().join("data"));
        let text = numbers(&engine, "default");
        let (count, largest) = text.split_once('|').expect("two numbers");
        assert_eq!(count, largest, "version {number}");
        let count: usize = count.trim_start_matches("Int(").trim_end_matches(')').parse().expect("a number");
        let keys = engine.records().values().filter(|r| r.windows(4).any(|w| w == b"\"key")).count();
        let expected = [(count - 1) / 5, count / 5];
        assert!(expected.contains(&keys), "version {number}: {count} numbers and {keys} keys");
        tried += 1;
    }
    assert!(tried > 5, "only {tried} versions can be restored");
}

#[tokio::test]
async fn checkpoints_forget_nothing_that_is_not_archived() {
    let place = folder();
    let server = archiving(place.path(), "86400", "7");
    let segments = place.path().join("many/archive");
    server.until("the first backup", || place.path().join("many/000001/system.redb").exists()).await;
    let mut admin = server.log_in().await;
    admin.rows("+n(1)").await;
    server.until("a segment", || !names(&segments).is_empty()).await;
    // The archive cannot be written to for a while.
    fs::rename(&segments, place.path().join("away")).expect("it can be moved");
    fs::write(&segments, "in the way").expect("a file");
    admin
        .rows("+n(2)\n.compact\n+n(3)\n.compact\n.kg create short\n+n(7)\n.kg use default\n.kg drop short")
        .await;
    server.until("a complaint", || server.log().contains("backups and archive wait")).await;
    drop(admin);
    // Nor does a kill in between.
    drop(server);
    fs::remove_file(&segments).expect("it goes");
    fs::rename(place.path().join("away"), &segments).expect("it can be put back");
    let server = archiving(place.path(), "86400", "7");
    server.log_in().await.rows("+n(4)").await;
    server.stop();
    assert_eq!(names(&place.path().join("many")).iter().filter(|name| name.starts_with("00")).count(), 1);
    let (made, summary) = restored(place.path(), &Until::End).expect("the end");
    assert_eq!(numbers(&open(&made.path().join("data")), "default"), "Int(4)|Int(4)");
    let mut seen = BTreeSet::new();
    for number in 1..=summary.graphs["default"] {
        let (made, _) = restored(place.path(), &version("default", number)).expect("every version is there");
        seen.insert(numbers(&open(&made.path().join("data")), "default"));
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
    // The graph that was there for a moment is, too.
    let (made, _) = restored(place.path(), &version("short", 1)).expect("a graph that was dropped");
    assert_eq!(numbers(&open(&made.path().join("data")), "short"), "Int(1)|Int(7)");
    // And nothing of it is left in the data folder.
    assert_eq!(names(&place.path().join("data/graphs")).len(), 1);
}

#[tokio::test]
async fn what_is_restored_begins_an_archive_of_its_own_and_the_old_one_stays() {
    let place = folder();
    let server = archiving(place.path(), "86400", "7");
    server.until("the first backup", || place.path().join("many/000001/system.redb").exists()).await;
    let mut admin = server.log_in().await;
    admin.rows("+n(1)\n+n(2)").await;
    assert_eq!(admin.rows(".backup list").await.as_array().expect("rows").len(), 1);
    drop(admin);
    server.stop();
    let (_, end) = restored(place.path(), &Until::End).expect("the end");
    let first = end.graphs["default"] - 1;

    // Somebody goes back one version, and on from there.
    fs::rename(place.path().join("data"), place.path().join("old")).expect("it can be moved");
    let at = format!("default@{first}");
    let done = execute(place.path(), &["restore", "many", "--until", &at]);
    assert!(done.status.success(), "{}", told(&done));
    let server = archiving(place.path(), "86400", "7");
    let mut admin = server.log_in().await;
    assert_eq!(admin.rows("?n(N)").await, serde_json::json!([[1]]));
    server.until("a second backup", || place.path().join("many/000002/system.redb").exists()).await;
    admin.rows("+n(1000)\n.backup").await;
    assert_eq!(admin.rows(".backup list").await.as_array().expect("rows").len(), 3);
    drop(admin);
    server.stop();
    let (made, _) = restored(place.path(), &Until::End).expect("the end of the new one");
    assert_eq!(numbers(&open(&made.path().join("data")), "default"), "Int(2)|Int(1000)");
    let old = Until::Moment(end.moment.expect("a moment"));
    let (made, _) = restored(place.path(), &old).expect("the end of the old one");
    assert_eq!(numbers(&open(&made.path().join("data")), "default"), "Int(2)|Int(2)");

    // What happens without an archive is in none: another one begins afterwards.
    drop(open(&place.path().join("data")));
    let server = archiving(place.path(), "86400", "7");
    server.until("a fourth backup", || place.path().join("many/000004/system.redb").exists()).await;
    server.stop();
    assert!(restore(&place.path().join("many"), &place.path().join("last")).is_ok());
}

/// The folder of backups on a medium that loses power.
fn many(medium: PowerLoss) -> BackupPlace {
    BackupPlace { files: Arc::new(medium), folder: "/many".into() }
}

/// An engine on a medium that loses power, with its archive on the same.
fn open_archiving(medium: &PowerLoss) -> Result<Engine, Error> {
    open_with_interval(medium, Duration::from_millis(1))
}

fn open_with_interval(medium: &PowerLoss, interval: Duration) -> Result<Engine, Error> {
    let archive = Some(ArchiveOptions { place: many(medium.clone()), interval, keep: 2 });
    let storage = StorageOptions {
        archive,
        medium: Arc::new(medium.clone()),
        checkpoint_bytes: u64::MAX,
        background: false,
        ..StorageOptions::new("/data")
    };
    Engine::open(EngineOptions { threads: Some(1), ..EngineOptions::default() }, storage)
}

/// Writes, archives and makes checkpoints until the power goes. Answers how many numbers were acknowledged.
fn archive_until_dark(medium: &PowerLoss) -> i64 {
    let Ok(engine) = open_archiving(medium) else { return 0 };
    for n in 1..=6 {
        if run(&mut session(&engine), &format!("+n({n})")).is_err() {
            return n - 1;
        }
        // What fails of these loses nothing.
        let _ = engine.tend_archive();
        if n % 2 == 0 {
            let _ = run(&mut session(&engine), ".compact");
        }
    }
    6
}

#[test]
fn a_loss_of_power_leaves_an_archive_that_goes_on() {
    let whole = PowerLoss::default();
    assert_eq!(archive_until_dark(&whole), 6);
    let steps = whole.steps();
    assert!(steps > 300, "the medium is asked for {steps} steps only");
    for (sample, step) in (0..steps).step_by(usize::try_from(steps / 45).expect("a number")).enumerate() {
        let unsynced = [Unsynced::Lost, Unsynced::Kept, Unsynced::Mixed][sample % 3];
        let medium = PowerLoss::default();
        medium.fail_at(step);
        let acknowledged = archive_until_dark(&medium);
        medium.restart(unsynced);
        let what = format!("step {step}, {unsynced:?}");
        let engine = open_archiving(&medium).unwrap_or_else(|error| panic!("{what}: {error}"));
        engine.tend_archive().unwrap_or_else(|error| panic!("{what}: {error}"));
        run(&mut session(&engine), "+n(100)").expect("it takes writes");
        engine.tend_archive().unwrap_or_else(|error| panic!("{what}: {error}"));
        let expected = contents(&mut session(&engine)).expect("contents");
        drop(engine);
        let shared: Arc<dyn Medium> = Arc::new(medium.clone());
        restore_to(&many(medium.clone()), &shared, Path::new("/again"), &Until::End)
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let storage = StorageOptions { medium: shared, ..StorageOptions::new("/again") };
        let engine = Engine::open(EngineOptions::default(), storage).expect("what is restored opens");
        assert_eq!(contents(&mut session(&engine)).expect("contents"), expected, "{what}");
        let text = numbers(&engine, "default");
        let count: i64 =
            text.split(')').next().and_then(|t| t.trim_start_matches("Int(").parse().ok()).expect("a number");
        assert!(count > acknowledged, "{what}: {acknowledged} were acknowledged, {text}");
    }
}

/// What a folder of backups on this medium is restored to.
fn restored_on(medium: &PowerLoss, until: &Until) -> Result<Engine, String> {
    let copy = medium.copy();
    let place = many(copy.clone());
    let copy: Arc<dyn Medium> = Arc::new(copy);
    restore_to(&place, &copy, Path::new("/again"), until).map_err(|error| error.to_string())?;
    let storage = StorageOptions { medium: copy, background: false, ..StorageOptions::new("/again") };
    Engine::open(EngineOptions::default(), storage).map_err(|error| error.to_string())
}

fn backup_count(medium: &PowerLoss) -> usize {
    let backups = medium.files().into_iter().filter(|file| file.ends_with("system.redb"));
    backups.filter(|file| file.starts_with("/many")).count()
}

const DAY: Duration = Duration::from_secs(86_400);

#[test]
fn a_failed_sync_leaves_no_gap_in_the_archive() {
    let before = PowerLoss::default();
    let engine = open_with_interval(&before, DAY).expect("it opens");
    run(&mut session(&engine), "+n(1)").expect("facts");
    engine.tend_archive().expect("the archive begins");
    // These are in no segment yet, and the checkpoint leaves them in the journal for one.
    run(&mut session(&engine), "+n(2)").expect("facts");
    run(&mut session(&engine), ".compact").expect("a checkpoint");
    run(&mut session(&engine), "+n(3)").expect("facts");
    drop(engine);
    for program in ["+n(4)", ".compact", ".kg create other"] {
        for sync in 0.. {
            let medium = before.copy();
            let engine = open_with_interval(&medium, DAY).expect("it opens");
            medium.fail_sync_after(sync);
            let outcome = run(&mut session(&engine), program);
            if !medium.has_failed() {
                assert!(sync > 0, "{program} syncs nothing");
                break;
            }
            let what = format!("{program}, sync {sync}");
            assert!(outcome.is_err(), "{what} is acknowledged");
            run(&mut session(&engine), "+n(5)").unwrap_or_else(|error| panic!("{what}: {error}"));
            engine.tend_archive().unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(backup_count(&medium), 1, "{what}: the archive goes on");
            let expected = contents(&mut session(&engine)).expect("contents");
            let graphs = engine.graphs();
            drop(engine);
            let engine = restored_on(&medium, &Until::End).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!(contents(&mut session(&engine)).expect("contents"), expected, "{what}");
            assert_eq!(engine.graphs(), graphs, "{what}");
            let engine = restored_on(&medium, &version("default", 2)).expect("a moment in between");
            assert_eq!(numbers(&engine, "default"), "Int(2)|Int(2)", "{what}");
        }
    }
}

#[test]
fn an_archive_that_lost_commits_ends_and_another_one_begins() {
    let medium = PowerLoss::default();
    let engine = open_with_interval(&medium, DAY).expect("it opens");
    run(&mut session(&engine), "+n(1)").expect("facts");
    engine.tend_archive().expect("the archive begins");
    run(&mut session(&engine), "+n(2)").expect("facts");
    medium.fail_sync_after(0);
    run(&mut session(&engine), "+n(3)").expect_err("its sync fails");
    assert!(medium.has_failed());
    // What the journal holds cannot be read any more.
    let journal = medium.files().into_iter().find(|file| file.ends_with("graph.redb")).expect("a journal");
    medium.damage(&journal, |bytes| bytes.fill(0));
    run(&mut session(&engine), "+n(4)").expect("the graph goes on in a new file");
    engine.tend_archive().expect("another archive begins");
    assert_eq!(backup_count(&medium), 2);
    run(&mut session(&engine), "+n(5)").expect("facts");
    engine.tend_archive().expect("it goes on");
    assert_eq!(backup_count(&medium), 2);
    drop(engine);
    let engine = restored_on(&medium, &Until::End).expect("it is whole");
    assert_eq!(numbers(&engine, "default"), "Int(4)|Int(5)");
    let lost = restored_on(&medium, &version("default", 2)).map(drop).expect_err("it is in no archive");
    assert!(lost.contains("version 2"), "{lost}");
}

#[test]
fn changes_that_are_not_archived_yet_survive_that_the_system_store_is_written_anew() {
    let medium = PowerLoss::default();
    let open = || open_with_interval(&medium, DAY).expect("it opens");
    let engine = open();
    engine.tend_archive().expect("the archive begins");
    run(&mut session(&engine), ".kg create lab").expect("a graph");
    run(&mut session(&engine), ".kg create gone").expect("a graph");
    run(&mut session(&engine), ".kg drop gone").expect("it can be dropped");
    drop(engine);
    // Each start writes it anew, and so does a failed sync.
    let engine = open();
    medium.fail_sync_after(0);
    run(&mut session(&engine), ".kg create never").expect_err("its sync fails");
    drop(engine);
    let engine = open();
    engine.tend_archive().expect("it goes on");
    assert_eq!(backup_count(&medium), 1);
    let graphs = engine.graphs();
    assert!(graphs.contains(&"lab".to_owned()), "{graphs:?}");
    drop(engine);
    assert_eq!(restored_on(&medium, &Until::End).expect("it is whole").graphs(), graphs);
}

#[test]
fn a_graph_that_was_dropped_before_a_backup_is_not_looked_for_after_it() {
    let medium = PowerLoss::default();
    let engine = open_with_interval(&medium, DAY).expect("it opens");
    engine.tend_archive().expect("the archive begins");
    run(&mut session(&engine), ".kg create lab\n+n(1)").expect("a graph");
    engine.tend_archive().expect("its first commit is archived");
    run(&mut session(&engine), ".kg use lab\n+n(2)").expect("facts");
    run(&mut session(&engine), ".kg drop lab").expect("it can be dropped");
    // Its last commit is in no segment yet.
    run(&mut session(&engine), ".backup").expect("a backup");
    assert_eq!(backup_count(&medium), 2);
    run(&mut session(&engine), "+n(3)").expect("facts");
    engine.tend_archive().expect("the archive goes on");
    drop(engine);
    let engine = restored_on(&medium, &Until::End).expect("it is whole");
    assert_eq!((numbers(&engine, "default").as_str(), engine.graphs().len()), ("Int(1)|Int(3)", 1));
    let engine = restored_on(&medium, &version("lab", 2)).expect("the first backup has what it takes");
    assert_eq!(numbers(&engine, "lab"), "Int(2)|Int(2)");
}
