//! Backups by the real executable: they are of one moment, whatever is written meanwhile; restoring one is done or not
//! done, and touches nothing but its target.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value as Json, json};
use stratalog_engine::storage::file_hash;
use stratalog_engine::{Engine, EngineOptions, StorageOptions, restore_on};
use stratalog_tests::power_loss::PowerLoss;
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::stored::{contents, run, session, table};
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

/// Runs the executable in a folder, for something beside serving.
fn execute(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Server::command(folder, &[]);
    command.args(arguments).output().expect("the executable runs")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every file below a folder with its content.
fn tree(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut all, mut left) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => left.push(path),
                false => all.push((path.clone(), fs::read(&path).unwrap_or_default())),
            }
        }
    }
    all.sort();
    all
}

/// A data folder with some facts, and a backup of it in `from/backup`.
fn backed_up() -> TempDir {
    let place = folder();
    fs::create_dir(place.path().join("from")).expect("a folder");
    let engine = Engine::open(EngineOptions::default(), StorageOptions::new(place.path().join("data")));
    let engine = engine.expect("a new folder opens");
    run(&mut session(&engine), "+edge[(1, 2), (2, 3)]\n.compact\n+edge(3, 4)").expect("facts");
    drop(engine);
    let done = execute(place.path(), &["backup", "from/backup"]);
    assert!(done.status.success(), "{}", told(&done));
    place
}

fn change_summary(place: &Path, change: impl FnOnce(&mut Json)) {
    let path = place.join("from/backup/backup.json");
    let mut summary: Json = serde_json::from_slice(&fs::read(&path).expect("a summary")).expect("JSON");
    change(&mut summary);
    fs::write(&path, summary.to_string()).expect("the summary can be changed");
}

#[test]
fn a_restore_writes_nothing_outside_its_target() {
    let evil = b"somebody else's";
    let outside = folder();
    let absolute = outside.path().join("evil").display().to_string();
    for path in ["../evil", "graphs/../../evil", "graphs/default-1/runs/../../../../evil", &absolute, "evil"]
    {
        let place = backed_up();
        // The backup has such a file, with the right hash, wherever it is looked for.
        for at in ["from/evil", "from/backup/evil"] {
            fs::write(place.path().join(at), evil).expect("a file");
        }
        fs::write(&absolute, evil).expect("a file");
        let file = json!({"bytes": evil.len(), "xxh3": file_hash(evil)});
        change_summary(place.path(), |summary| summary["files"][path] = file);
        fs::create_dir(place.path().join("to")).expect("a folder");
        let before = tree(place.path());
        let done = execute(place.path(), &["restore", "from/backup", "--data-dir", "to/data"]);
        assert_eq!(done.status.code(), Some(1), "{path}: {}", told(&done));
        assert!(told(&done).contains("backup.json"), "{path}: {}", told(&done));
        assert!(tree(place.path()) == before && !place.path().join("to/data").exists(), "{path}");
    }
}

#[test]
fn backups_of_earlier_releases_are_restored() {
    let place = backed_up();
    // They knew of no moment.
    change_summary(place.path(), |summary| {
        summary.as_object_mut().and_then(|summary| summary.remove("moment")).expect("a moment");
    });
    let done = execute(place.path(), &["restore", "from/backup", "to"]);
    assert!(done.status.success(), "{}", told(&done));
    let of =
        |name: &str| Engine::open(EngineOptions::default(), StorageOptions::new(place.path().join(name)));
    let all = |name: &str| contents(&mut session(&of(name).expect("it opens"))).expect("contents");
    assert_eq!(all("to"), all("data"));
    // One backup has one moment.
    let done = execute(place.path(), &["restore", "from/backup", "other", "--until", "2026-01-01"]);
    assert_eq!(done.status.code(), Some(1), "{}", told(&done));
    assert!(told(&done).contains("one backup"), "{}", told(&done));
}

#[test]
fn links_in_a_backup_are_not_followed() {
    for path in ["system.redb", "graphs/default-1", "graphs", "backup.json"] {
        let place = backed_up();
        let elsewhere = place.path().join("elsewhere");
        let link = place.path().join("from/backup").join(path);
        fs::rename(&link, &elsewhere).expect("it can be moved");
        symlink(&elsewhere, &link).expect("a link");
        let done = execute(place.path(), &["restore", "from/backup", "--data-dir", "to/data"]);
        assert_eq!(done.status.code(), Some(1), "{path}: {}", told(&done));
        assert!(told(&done).contains("link"), "{path}: {}", told(&done));
        assert!(!place.path().join("to").exists(), "{path}");
    }
}

#[test]
fn a_restore_that_fails_leaves_nothing_and_one_into_a_used_folder_touches_nothing() {
    let place = backed_up();
    fs::create_dir(place.path().join("used")).expect("a folder");
    fs::write(place.path().join("used/mine"), "mine").expect("a file");
    let before = tree(place.path());
    let done = execute(place.path(), &["restore", "from/backup", "--data-dir", "used"]);
    assert_eq!(done.status.code(), Some(1), "{}", told(&done));
    assert!(told(&done).contains("not empty"), "{}", told(&done));
    assert_eq!(tree(place.path()), before);

    // Whatever call fails, nothing is left; then it is done.
    let medium = PowerLoss::default();
    let storage = || StorageOptions { medium: Arc::new(medium.clone()), ..StorageOptions::new("/data") };
    let engine = Engine::open(EngineOptions::default(), storage()).expect("it opens");
    run(&mut session(&engine), "+edge[(1, 2), (2, 3)]\n.compact\n+edge(3, 4)").expect("facts");
    engine.back_up(Path::new("/backup")).expect("a backup");
    let expected = contents(&mut session(&engine)).expect("contents");
    drop(engine);
    medium.remove_under(Path::new("/data"));
    for step in 0.. {
        medium.fail_once_after(step);
        let restored = restore_on(&medium, Path::new("/backup"), Path::new("/data"));
        let has_failed = medium.has_failed();
        medium.fail_once_after(u64::MAX);
        if !has_failed {
            restored.expect("nothing fails");
            assert!(step > 10, "a restore takes {step} steps only");
            break;
        }
        restored.expect_err("a call failed");
        let left: Vec<_> = medium.files().into_iter().filter(|path| path.starts_with("/data")).collect();
        assert!(left.is_empty(), "step {step}: {left:?}");
    }
    let engine = Engine::open(EngineOptions::default(), storage()).expect("it opens");
    assert_eq!(contents(&mut session(&engine)).expect("contents"), expected);
}

/// A folder's name in the store of somebody else's backup leads nowhere, either.
#[test]
fn a_store_whose_folders_are_paths_is_damaged() {
    use stratalog_engine::storage::{Disk, SystemContents, SystemStore};
    for (is_graph, name) in
        [(true, "../../elsewhere"), (true, ".."), (true, "/tmp/elsewhere"), (false, "../elsewhere")]
    {
        let place = folder();
        let mut contents = SystemContents::default();
        match is_graph {
            true => drop(contents.graphs.insert("default".to_owned(), name.to_owned())),
            false => drop(contents.leftovers.insert(name.to_owned())),
        }
        SystemStore::write(&Disk, &place.path().join("system.redb"), &contents).expect("a store");
        let opened = Engine::open(EngineOptions::default(), StorageOptions::new(place.path()));
        let error = opened.expect_err("it is no data folder of ours").to_string();
        assert!(error.contains("system.redb") && error.contains("no folder's name"), "{error}");
    }
}

/// Somebody who writes until it is over.
fn write(
    server: &Server,
    over: &Arc<AtomicBool>,
    step: impl Fn(i64) -> Vec<String> + Send + 'static,
) -> tokio::task::JoinHandle<()> {
    let (url, over) = (server.url(), over.clone());
    tokio::spawn(async move {
        let mut connection = Connection::open(&url).await.expect("a connection");
        let mut number = 1;
        while !over.load(Ordering::Relaxed) {
            for program in step(number) {
                connection.rows(&program).await;
            }
            number += 1;
        }
    })
}

const LEVELS: [&str; 3] = ["viewer", "editor", "owner"];

/// What a restored backup has of a graph: the largest number.
fn largest(engine: &Engine, graph: &str) -> i64 {
    let mut here = engine.open_session(graph).expect("the graph is served");
    let found = table(&run(&mut here, "?max<N> <- number(N)").expect("an answer"));
    let text = found.first().expect("a number");
    text.trim_start_matches("Int(").trim_end_matches(')').parse().expect("a number")
}

/// The level that a user has on a graph.
fn level(engine: &Engine, user: &str, graph: &str) -> String {
    let records = engine.records();
    let of = |text: &String| text.contains(&format!("\"{user}\"")) && text.contains(&format!("\"{graph}\""));
    let texts = records.values().map(|record| String::from_utf8_lossy(record).into_owned());
    let entry = texts.filter(of).find_map(|text| LEVELS.into_iter().find(|level| text.contains(level)));
    entry.expect("an entry").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_is_of_one_moment_of_all_graphs_and_of_access() {
    let place = folder();
    let server = Server::start_in(place.path(), &[("SERVICE_STORAGE__CHECKPOINT_BYTES", "20000")]);
    let mut admin = server.log_in().await;
    admin.rows(".user create bob bobby viewer").await;
    for graph in ["left", "right"] {
        admin.rows(&format!(".kg create {graph}")).await;
        admin.rows("+number(0)").await;
        let rows: Vec<String> = (0..40_000).map(|n| format!("({n}, \"text {n}\")")).collect();
        admin.rows(&format!("+much[{}]", rows.join(","))).await;
    }
    admin.rows(".kg acl grant left bob viewer\n.kg use default").await;
    let over = Arc::new(AtomicBool::new(false));
    // First the one graph, then the other, then a level: so they are seen in this order, always.
    let ordered = write(&server, &over, |n| {
        vec![
            format!(".kg use left\n+number({n})"),
            format!(".kg use right\n+number({n})"),
            format!(".kg acl grant left bob {}", LEVELS[n as usize % 3]),
        ]
    });
    // Somebody makes and drops graphs meanwhile.
    let restless = write(&server, &over, |n| {
        vec![format!(".kg create some{n}\n+a(1)\n.kg use default\n.kg drop some{n}")]
    });
    let mut seen = BTreeSet::new();
    for number in 0..12 {
        admin.rows(&format!(".backup b{number}")).await;
        let restored = folder();
        let target = restored.path().join("data");
        stratalog_engine::restore(&place.path().join(format!("backups/b{number}")), &target)
            .expect("a backup can be restored");
        let engine = Engine::open(EngineOptions::default(), StorageOptions::new(&target)).expect("it opens");
        assert!(engine.storage_troubles().is_empty(), "{:?}", engine.storage_troubles());
        let (left, right) = (largest(&engine, "left"), largest(&engine, "right"));
        let level = level(&engine, "bob", "left");
        let of = |n: i64| LEVELS[usize::try_from(n).unwrap_or(0) % 3];
        let fits = if left == right + 1 {
            level == of(right)
        } else {
            left == right && (level == of(right) || level == of(right - 1))
        };
        assert!(fits, "backup {number}: left {left}, right {right}, {level}");
        seen.insert(left);
    }
    over.store(true, Ordering::Relaxed);
    ordered.await.expect("the writer does not panic");
    restless.await.expect("the other does not, either");
    assert!(seen.len() > 6, "hardly anything was written meanwhile: {seen:?}");
}
