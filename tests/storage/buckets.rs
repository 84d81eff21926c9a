//! Backups and archive in an object store: a real server, and a real store that speaks the protocol of S3.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

use stratalog_tests::certificates::Authority;
use stratalog_tests::object_store::{BUCKET, ObjectStore, Presence};
use stratalog_tests::server::Server;
use stratalog_tests::stored::{contents, numbers, open, run, session};
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;

fn folder() -> TempDir {
    TempDir::new().expect("a temporary folder")
}

fn place() -> String {
    format!("s3://{BUCKET}/lab/many")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs the executable as somebody whom the store knows.
fn execute(store: &ObjectStore, folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Server::command(folder, &[]);
    command.envs(store.variables()).args(arguments).output().expect("the executable runs")
}

fn done(store: &ObjectStore, folder: &Path, arguments: &[&str]) -> String {
    let output = execute(store, folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", told(&output));
    told(&output)
}

/// A server that archives.
fn archiving(store: &ObjectStore, folder: &Path) -> Server {
    let place = place();
    let settings = [
        ("SERVICE_BACKUP__FOLDER", place.as_str()),
        ("SERVICE_BACKUP__INTERVAL_SECS", "86400"),
        ("SERVICE_BACKUP__KEEP", "2"),
        ("SERVICE_STORAGE__CHECKPOINT_BYTES", "4096"),
    ];
    let mut command = Server::command(folder, &settings);
    Server::launch(command.envs(store.variables())).unwrap_or_else(|refusal| panic!("{}", refusal.log))
}

/// How many numbers there are, and the largest, in what the bucket is restored to.
fn restored(store: &ObjectStore, folder: &Path, until: &[&str]) -> Result<String, String> {
    let target = folder.join("again");
    let _ = fs::remove_dir_all(&target);
    let place = place();
    let output = execute(store, folder, &[["restore", &place, "again"].as_slice(), until].concat());
    match output.status.success() {
        true => Ok(numbers(&open(&target), "default")),
        false => {
            assert!(!target.exists(), "nothing is left of what fails");
            Err(told(&output))
        }
    }
}

#[tokio::test]
async fn a_data_folder_is_restored_from_a_bucket_as_it_was_at_any_version() {
    let (store, home) = (ObjectStore::start(), folder());
    let server = archiving(&store, home.path());
    server.until("the first backup", || store.names("lab/many/000001").len() > 2).await;
    let mut admin = server.log_in().await;
    admin.rows(".user create bob bobby viewer\n.kg create lab\n.kg acl grant lab bob viewer").await;
    for n in 1..=4 {
        let segments = store.names("lab/many/archive").len();
        admin.rows(&format!(".kg use default\n+n({n})")).await;
        server.until("a segment", || store.names("lab/many/archive").len() > segments).await;
    }
    assert_eq!(admin.rows(".backup list").await.as_array().expect("rows").len(), 1);
    admin.rows("+n(5)\n.backup\n+n(6)").await;
    assert_eq!(admin.rows(".backup list").await.as_array().expect("rows").len(), 2);
    drop(admin);
    server.stop();

    assert_eq!(restored(&store, home.path(), &[]).expect("the end"), "Int(6)|Int(6)");
    let again = open(&home.path().join("again"));
    assert_eq!(again.graphs(), ["default", "lab"]);
    assert_eq!(again.records(), open(&home.path().join("data")).records());
    drop(again);
    for n in 1..=6 {
        let at = format!("default@{n}");
        let expected = format!("Int({n})|Int({n})");
        assert_eq!(restored(&store, home.path(), &["--until", &at]).expect("a version"), expected, "{at}");
    }
    let missing = restored(&store, home.path(), &["--until", "default@7"]).expect_err("there is none");
    assert!(
        missing.contains("version 7 of the knowledge graph default") && missing.contains(&place()),
        "{missing}"
    );

    // A server on what is restored begins an archive of its own beside it, and old backups go.
    fs::remove_dir_all(home.path().join("data")).expect("it goes");
    done(&store, home.path(), &["restore", &place(), "--until", "default@3"]);
    let server = archiving(&store, home.path());
    server.until("another backup", || !store.names("lab/many/000003").is_empty()).await;
    server.log_in().await.rows("+n(1000)\n.backup").await;
    server.stop();
    let backups =
        store.names("lab/many").into_iter().filter(|name| name.starts_with("00")).collect::<Vec<_>>();
    assert_eq!(backups, ["000003", "000004"]);
    assert_eq!(restored(&store, home.path(), &[]).expect("the end"), "Int(4)|Int(1000)");
}

#[tokio::test]
async fn a_store_that_is_away_costs_nothing_but_the_age_of_the_archive() {
    let (store, home) = (ObjectStore::start(), folder());
    let server = archiving(&store, home.path());
    server.until("the first backup", || store.names("lab/many/000001").len() > 2).await;
    let mut admin = server.log_in().await;
    let key = admin.new_key("metrics").await;
    let metric = |name: &str| -> u64 {
        let (_, _, text) =
            server.get_with("/metrics/prometheus", &format!("Authorization: Bearer {key}\r\n"));
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name} is in {text}")).parse().expect("a number")
    };
    assert_eq!(metric("service_archive_failures_total"), 0);
    store.be(Presence::Away);
    for n in 1..=20 {
        admin.rows(&format!("+n({n})")).await;
    }
    server.until("a failure", || metric("service_archive_failures_total") > 0).await;
    assert!(metric("service_archive_age_seconds") > 0);
    assert!(server.log().contains("backups and archive wait"), "{}", server.log());
    assert_eq!(server.get("/ready").0, 200);
    drop(admin);
    // Nobody waits for an answer at the end either, and nothing is lost to the archive.
    store.be(Presence::Silent);
    server.stop();
    store.be(Presence::Away);
    let refused = execute(&store, home.path(), &["restore", &place(), "again"]);
    assert!(!refused.status.success() && told(&refused).contains(&place()), "{}", told(&refused));
    store.be(Presence::There);
    let server = archiving(&store, home.path());
    let mut admin = server.log_in().await;
    admin.rows("+n(21)").await;
    let age =
        |rows: serde_json::Value| rows[0].as_array().and_then(|row| row.last()?.as_i64()).expect("an age");
    let begun = Instant::now();
    while age(admin.rows(".status").await) > 1 || store.names("lab/many/archive").is_empty() {
        assert!(begun.elapsed() < PATIENCE, "{}", server.log());
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    drop(admin);
    server.stop();
    assert_eq!(store.names("lab/many").iter().filter(|name| name.starts_with("00")).count(), 1);
    assert_eq!(restored(&store, home.path(), &[]).expect("the end"), "Int(21)|Int(21)");
}

#[test]
fn backups_of_large_runs_go_in_parts_and_what_is_spoilt_is_found() {
    let (store, home) = (ObjectStore::start(), folder());
    let data = home.path().join("data");
    let engine = open(&data);
    // Texts that nothing compresses: some parts of eight megabytes.
    let mut state = 1_u64;
    let mut text = || {
        let step = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{state:016x}")
        };
        (0..64).map(step).collect::<String>()
    };
    for batch in 0..10 {
        let rows: Vec<String> =
            (0..4_000).map(|n| format!("({}, \"{}\")", batch * 4_000 + n, text())).collect();
        run(&mut session(&engine), &format!("+long[{}]", rows.join(","))).expect("facts");
    }
    engine.checkpoint().expect("a checkpoint");
    let expected = contents(&mut session(&engine)).expect("contents");
    drop(engine);
    let single = format!("s3://{BUCKET}/single");
    done(&store, home.path(), &["backup", &single]);
    done(&store, home.path(), &["backup", "--incremental", &place()]);
    done(&store, home.path(), &["backup", "--incremental", &place()]);
    let runs = store.names("lab/many/runs");
    let length = |name: &String| {
        fs::metadata(store.path(&format!("lab/many/runs/{name}"))).map_or(0, |file| file.len())
    };
    assert!(runs.iter().map(length).max() > Some(16 << 20), "{runs:?}");
    // One backup is in one place.
    let again = execute(&store, home.path(), &["backup", &single]);
    assert!(!again.status.success() && told(&again).contains("not empty"), "{}", told(&again));
    for from in [single, place()] {
        let _ = fs::remove_dir_all(home.path().join("again"));
        done(&store, home.path(), &["restore", &from, "again"]);
        let engine = open(&home.path().join("again"));
        assert_eq!(contents(&mut session(&engine)).expect("contents"), expected, "{from}");
    }
    let run = runs.iter().max_by_key(|name| length(name)).expect("a run");
    let path = store.path(&format!("lab/many/runs/{run}"));
    let mut bytes = fs::read(&path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).expect("it can be spoilt");
    let message = restored(&store, home.path(), &[]).expect_err("it is spoilt");
    assert!(message.contains("checksum") && message.contains(run), "{message}");
}

#[test]
fn who_is_unknown_to_the_store_and_places_that_are_none_are_told() {
    let (store, home) = (ObjectStore::start(), folder());
    drop(open(&home.path().join("data")));
    let mut command = Server::command(home.path(), &[]);
    command.envs(store.variables()).env("AWS_SECRET_ACCESS_KEY", "guessed");
    let refused = command.args(["backup", &place()]).output().expect("it runs");
    assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
    assert!(told(&refused).contains(&place()) && !told(&refused).contains("guessed"), "{}", told(&refused));
    for bad in ["gs://vault/many", "s3://", "s3:///many", "s3://vault/../many"] {
        let refused = execute(&store, home.path(), &["backup", bad]);
        assert_eq!(refused.status.code(), Some(1), "{}", told(&refused));
        assert!(
            told(&refused).contains(bad) && told(&refused).contains("s3://BUCKET/FOLDER"),
            "{}",
            told(&refused)
        );
        let refusal = Server::launch(&mut Server::command(home.path(), &[("SERVICE_BACKUP__FOLDER", bad)]));
        let refusal = refusal.map(drop).expect_err("it does not start");
        assert_eq!(refusal.code, Some(2), "{}", refusal.log);
        assert!(refusal.log.contains("backup.folder") && refusal.log.contains(bad), "{}", refusal.log);
    }
    assert!(store.names("").is_empty());
}

#[test]
fn a_store_with_tls_shows_who_it_is() {
    let home = folder();
    let authority = Authority::new(home.path(), "authority.crt");
    let store = ObjectStore::start_with(Some(authority.identity(&["localhost"])));
    drop(open(&home.path().join("data")));
    let backup = |trusted: Option<&Path>| {
        let mut command = Server::command(home.path(), &[]);
        command.envs(store.variables()).envs(trusted.map(|file| ("SSL_CERT_FILE", file)));
        // A bucket is a folder, too.
        command.args(["backup", &format!("s3://{BUCKET}/")]).output().expect("it runs")
    };
    let refused = backup(None);
    assert!(!refused.status.success(), "nobody knows who that is");
    assert!(store.names("").is_empty());
    let done = backup(Some(&authority.file));
    assert!(done.status.success(), "{}", told(&done));
    assert_eq!(store.names(""), ["backup.json", "graphs", "system.redb"]);
}
