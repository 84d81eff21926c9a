//! The server is killed under the command line: it says what happened, repeats no write, and goes on where that is safe.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use stratalog_tests::cli;
use stratalog_tests::restarting::Restarting;

/// Never ends by itself.
const ENDLESS: &str = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";

/// A server that can come back, and the command line beside it.
struct Place(Restarting);

impl Place {
    fn new() -> Place {
        Place(Restarting::start())
    }

    fn command(&self) -> Command {
        let mut command = cli::at(self.0.server());
        command.current_dir(self.0.folder()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, arguments: &[&str]) -> Child {
        self.command().args(arguments).spawn().expect("the command line starts")
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command().args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn until_one_runs(&self) {
        cli::until_one_runs(self.0.server());
    }

    fn kill(&mut self) {
        self.0.kill();
    }

    fn restart(&mut self) {
        self.0.restart();
    }

    fn file(&self, name: &str) -> std::path::PathBuf {
        self.0.folder().join(name)
    }
}

/// Exit code and standard error.
fn ended(process: Child) -> (Option<i32>, String) {
    let output = process.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_query_is_repeated_when_the_server_comes_back() {
    let mut place = Place::new();
    place.ok(&["-c", "+start(1)"]);
    let process = place.start(&["-c", ENDLESS, "--timeout", "3"]);
    place.until_one_runs();
    place.kill();
    place.restart();
    let (code, err) = ended(process);
    assert_eq!(code, Some(124), "{err}");
    // Where it stays away, the error says so.
    let process = place.start(&["-c", ENDLESS]);
    place.until_one_runs();
    place.kill();
    let (code, err) = ended(process);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("cannot connect") && !err.contains("may have taken effect"), "{err}");
}

#[test]
fn a_write_is_sent_once_and_its_outcome_is_left_open() {
    let mut place = Place::new();
    place.ok(&["-c", "+start(1)"]);
    let process = place.start(&["-c", &format!("+written(1)\n{ENDLESS}")]);
    place.until_one_runs();
    while !place.command().args(["-c", "?written(X)"]).output().unwrap().status.success() {}
    place.kill();
    place.restart();
    let (code, err) = ended(process);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("may have taken effect or not"), "{err}");
    assert_eq!(place.ok(&["-c", "?written(X)", "--csv", "--no-header"]), "1\n");
}

#[test]
fn an_import_that_breaks_off_inserts_nothing() {
    let mut place = Place::new();
    let mut command = place.command();
    command.args(["import", "large", "-", "--format", "csv"]).stdin(Stdio::piped());
    let mut process = command.spawn().expect("the command line starts");
    // More than a pipe holds, so some of it is on its way; the end comes when the server is another.
    let mut input = process.stdin.take().expect("a pipe");
    let text: String = (0..300_000).map(|n| format!("{n},name {n}\n")).collect();
    input.write_all(format!("n,name\n{text}").as_bytes()).unwrap();
    place.kill();
    place.restart();
    drop(input);
    let (code, err) = ended(process);
    assert_eq!(code, Some(3), "{err}");
    assert!(err.contains("the connection ended") && !err.contains("may have taken effect"), "{err}");
    let output = place.command().args(["-c", "?large(X, Y)"]).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("unknown_relation"));
}

#[test]
fn an_export_that_breaks_off_leaves_no_file() {
    let mut place = Place::new();
    let text: String = (0..2_000_000).map(|n| format!("{n},{}\n", n % 1000)).collect();
    fs::write(place.file("n.csv"), format!("a,b\n{text}")).unwrap();
    place.ok(&["import", "n", "n.csv"]);
    let mut process = place.start(&["export", "n", "out.jsonl"]);
    // Under another name as long as it is not complete.
    let folder = place.file("");
    while written_in(&folder) == 0 {
        assert!(process.try_wait().unwrap().is_none(), "it writes nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!place.file("out.jsonl").exists(), "its name comes last");
    place.kill();
    let (code, err) = ended(process);
    assert_eq!(code, Some(3), "{err}");
    assert_eq!(written_in(&folder), 0);
}

/// How many files there are whose names begin as that of the export.
fn written_in(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().starts_with("out.jsonl")).count()
}

#[test]
fn events_go_on_after_a_restart() {
    let mut place = Place::new();
    place.ok(&["-c", "+edge(1, 2)\n+told(1)"]);
    let mut events = place.start(&["events"]);
    let mut told = BufReader::new(events.stdout.take().unwrap()).lines();
    // Events tell what changes from when they are connected.
    let (sender, first) = std::sync::mpsc::channel();
    let telling = std::thread::spawn(move || {
        sender.send(told.next().unwrap().unwrap()).unwrap();
        told
    });
    let first = loop {
        place.ok(&["-c", "-told(1)\n+told(1)"]);
        if let Ok(line) = first.recv_timeout(Duration::from_millis(100)) {
            break line;
        }
    };
    assert!(first.contains("\"knowledge_graph\""), "{first}");
    let mut told = telling.join().unwrap();
    place.kill();
    place.restart();
    place.ok(&["-c", "+edge(3, 4)"]);
    // What could have been missed meanwhile is told as a gap.
    let next = told.find(|line| line.as_ref().unwrap().contains("\"edge\""));
    assert!(next.is_some_and(|line| line.unwrap().contains("\"insert\"")));
    events.kill().unwrap();
    events.wait().unwrap();
}
