//! The command line without a server: `--open FOLDER` and `:memory:`.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use stratalog_tests::cli::{Done, command, run};
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;

/// A program that has an answer anywhere.
const ONE: &str = "one(1)\n?one(X)";

/// A command that finds no server, whatever the environment says.
fn alone() -> Command {
    let mut command = command();
    command.env("STRATALOG_URL", "127.0.0.1:1").env("XDG_CONFIG_HOME", "/nonexistent");
    for name in ["SERVICE_API_KEY", "STRATALOG_USER", "STRATALOG_PASSWORD", "STRATALOG_PROFILE"] {
        command.env_remove(name);
    }
    command
}

fn done(arguments: &[&str], input: &str) -> Done {
    run(alone(), arguments, input)
}

fn ok(arguments: &[&str], input: &str) -> String {
    let done = done(arguments, input);
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{arguments:?}");
    done.out
}

/// A data folder, as the command line is told.
fn folder() -> (TempDir, String) {
    let place = TempDir::new().unwrap();
    let folder = place.path().join("data").to_str().unwrap().to_owned();
    (place, folder)
}

/// Waits until a folder that was not there is open: what its lock protects comes after the lock.
fn until_open(folder: &str) {
    let until = Instant::now() + PATIENCE;
    while !Path::new(folder).join("graphs/default-1/graph.redb").exists() {
        assert!(Instant::now() < until, "nobody opens it");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn prompt(folder: &str) -> Child {
    let mut command = alone();
    command.args(["--open", folder]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn what_one_run_writes_the_next_one_reads() {
    let (place, folder) = folder();
    let program = "+edge[(1, 2), (2, 3)]\n+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)";
    ok(&["--open", &folder, "-q", "-c", program], "");
    assert_eq!(ok(&["--open", &folder, "--csv", "query", "?path(1, Y:asc)"], ""), "A,Y\n1,2\n1,3\n");
    ok(&["query", "--open", &folder, "-q", ".kg create lab"], "");
    let file = place.path().join("city.csv");
    std::fs::write(&file, "name,people\nUlm,128000\n").unwrap();
    ok(&["--open", &folder, "-q", "--kg", "lab", "import", "city", file.to_str().unwrap()], "");
    assert_eq!(
        ok(&["--open", &folder, "-q", "--kg", "lab", "export", "city", "-", "--format", "csv"], ""),
        "name,people\nUlm,128000\n"
    );
    let why = ok(&["--open", &folder, "-q", "query", ".why ?path(1, 3)"], "");
    assert!(why.contains("edge(2, 3)"), "{why}");
}

#[test]
fn in_memory_nothing_stays() {
    for arguments in
        [&[":memory:", "--csv"][..], &["--open", ":memory:", "--csv"], &["--open=:memory:", "--csv"]]
    {
        assert_eq!(ok(arguments, "edge(1, 2)\n?edge(X, Y)"), "X,Y\n1,2\n");
    }
    let missing = done(&[":memory:", "-c", "?edge(X, Y)"], "");
    assert_eq!(missing.code, Some(1));
    assert!(missing.err.contains("edge"), "{}", missing.err);
}

#[test]
fn a_folder_that_is_open_is_open_to_nobody_else() {
    let (_place, folder) = folder();
    let mut first = prompt(&folder);
    until_open(&folder);
    let second = done(&["--open", &folder, "-c", ONE], "");
    assert_eq!(second.code, Some(3));
    assert!(second.err.contains("is in use by another server or program"), "{}", second.err);
    first.stdin.take().unwrap().write_all(ONE.as_bytes()).unwrap();
    assert!(first.wait().unwrap().success());
    assert_eq!(ok(&["--open", &folder, "--csv", "-c", ONE], ""), "X\n1\n");
}

#[test]
fn what_cannot_be_opened_or_does_not_fit_says_so() {
    let (place, folder) = folder();
    let file = place.path().join("file");
    std::fs::write(&file, "text").unwrap();
    let refused = done(&["--open", file.to_str().unwrap(), "-c", ONE], "");
    assert_eq!(refused.code, Some(3), "{}", refused.err);
    for other in [["--url", "127.0.0.1:1"], ["--user", "ada"], ["--api-key", "k"], ["--profile", "work"]] {
        let refused = done(&["--open", &folder, other[0], other[1], "-c", ONE], "");
        assert_eq!(refused.code, Some(2), "{}", refused.err);
        assert!(refused.err.contains("--open"), "{}", refused.err);
    }
    let refused = done(&["--open", &folder, "-c", ".user list"], "");
    assert_eq!(refused.code, Some(1));
    assert!(
        refused.err.contains("no users here") && refused.err.contains("stratalog-server"),
        "{}",
        refused.err
    );
    let refused = done(&["--open", &folder, "--kg", "nowhere", "-c", ONE], "");
    assert!(refused.err.contains("nowhere"), "{}", refused.err);
}

#[test]
fn a_query_without_end_ends_with_its_time_or_by_a_signal() {
    const ENDLESS: &str = "start(1)\nn(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";
    let late = done(&[":memory:", "--timeout", "0.3", "-c", ENDLESS], "");
    assert_eq!(late.code, Some(124), "{}", late.err);
    let (_place, folder) = folder();
    let mut command = alone();
    command.args(["--open", &folder, "-c", ENDLESS]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut asking = command.spawn().unwrap();
    until_open(&folder);
    std::thread::sleep(Duration::from_millis(200));
    let begin = Instant::now();
    assert!(Command::new("kill").args(["-INT", &asking.id().to_string()]).status().unwrap().success());
    assert_eq!(asking.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < PATIENCE);
    assert_eq!(ok(&["--open", &folder, "--csv", "-c", ONE], ""), "X\n1\n");
}
