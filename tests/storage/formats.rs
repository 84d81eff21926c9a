//! Folders that earlier releases wrote open, and hold what they held. `WRITE_FIXTURE=1` writes the folder of this
//! release, once a format version.

use std::fs;
use std::path::{Path, PathBuf};

use stratalog_engine::{Engine, EngineOptions, StorageOptions};
use stratalog_tests::stored::{STATEMENTS, contents, run, session};
use tempfile::TempDir;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn open(folder: &Path) -> Engine {
    let options = EngineOptions { threads: Some(1), ..EngineOptions::default() };
    Engine::open(options, StorageOptions::new(folder)).expect("the folder opens")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").map(|entry| entry.expect("an entry")) {
        let target = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}

/// Long values that many rows have: a text, and in other relations a vector and values of several types.
fn repeated(name: &str) -> String {
    let (text, vector) = ("long ".repeat(100), vec!["0.5"; 200].join(", "));
    let rows = |value: &str| (0..20).map(|n| format!("({value}, {n})")).collect::<Vec<_>>().join(", ");
    let of_all = rows(&format!("\"{text}\"")) + ", (1, 1), (null, 2), " + &rows(&format!("[{vector}]"));
    format!(
        "+{name}_text[{}]\n+{name}_vector[{}]\n+{name}_mixed[{of_all}]",
        rows(&format!("\"{text}\"")),
        rows(&format!("[{vector}]"))
    )
}

/// Sealed runs, deleted rows in them, and a journal on top.
fn write_fixture(folder: &Path) {
    let data = folder.join("data");
    let _ = fs::remove_dir_all(folder);
    let engine = open(&data);
    let mut here = session(&engine);
    for statement in STATEMENTS {
        run(&mut here, statement).expect("the statement runs");
    }
    run(&mut here, &repeated("before")).expect("the statement runs");
    run(&mut here, ".compact").expect("a checkpoint");
    run(&mut here, "-edge(1, 2)\n+edge(7, 8)").expect("the statement runs");
    run(&mut here, &repeated("after")).expect("the statement runs");
    fs::write(folder.join("contents.txt"), contents(&mut here).expect("contents").join("\n"))
        .expect("written");
}

/// A folder of each format version there has been.
const VERSIONS: &[&str] = &["storage-v1", "storage-v2"];

#[test]
fn folders_of_every_format_version_open_and_hold_what_they_held() {
    if std::env::var_os("WRITE_FIXTURE").is_some() {
        write_fixture(&fixtures().join("storage-v2"));
    }
    for version in VERSIONS {
        let fixture = fixtures().join(version);
        let expected = fs::read_to_string(fixture.join("contents.txt")).expect("what the folder held");
        let folder = TempDir::new().expect("a temporary folder");
        copy(&fixture.join("data"), folder.path());
        let engine = open(folder.path());
        assert_eq!(contents(&mut session(&engine)).expect("contents").join("\n"), expected, "{version}");
    }
}
