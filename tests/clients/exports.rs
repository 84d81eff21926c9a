//! What the command line writes to, and what it leaves alone.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use stratalog_tests::place::Place;
use stratalog_tests::times::PATIENCE;

/// A column that is called like a variable of ours is a column like others.
#[test]
fn every_fact_of_a_relation_is_exported() {
    let place = Place::new();
    place.ok(&["-c", "+t(V2: int, b: int, V__1: int)\n+t[(1, 1, 0), (1, 2, 0), (3, 4, 0)]"]);
    place.ok(&["export", "t", "t.csv"]);
    let mut lines: Vec<String> = place.read("t.csv").lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["1,1,0", "1,2,0", "3,4,0", "V2,b,V__1"]);
}

#[test]
fn what_does_not_exist_is_not_exported() {
    let place = Place::new();
    place.ok(&["-c", "+edge(1, 2)\n+node(X) <- edge(X, _)\n+node(X) <- edge(_, X)"]);
    place.ok(&["export", "node", "node.csv"]);
    assert_eq!(place.read("node.csv").lines().count(), 3);
    let done = place.run(&["export", "edgy", "edgy.csv"]);
    assert_eq!(done.code, Some(1));
    assert!(
        done.err.contains("there is no relation `edgy`") && done.err.contains("did you mean `edge`"),
        "{}",
        done.err
    );
    assert_eq!(place.names(), ["node.csv"]);
}

#[test]
fn rights_links_and_other_files_stay() {
    let place = Place::new();
    place.ok(&["-c", "+t(1)"]);
    place.write("private.csv", "old");
    fs::set_permissions(place.path("private.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    place.write("private.csv.partial", "mine");
    symlink("private.csv", place.path("link.csv")).unwrap();
    place.ok(&["export", "t", "link.csv"]);
    assert!(place.path("link.csv").is_symlink());
    assert_eq!(place.read("private.csv"), "A\n1\n");
    assert_eq!(fs::metadata(place.path("private.csv")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(place.read("private.csv.partial"), "mine");
    // A new file has the rights of new files.
    place.ok(&["export", "t", "new.csv"]);
    fs::write(place.path("other"), "").unwrap();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode();
    assert_eq!(mode("new.csv"), mode("other"));
    // What cannot be written to stays as it was.
    fs::create_dir(place.path("folder.csv")).unwrap();
    let done = place.run(&["export", "t", "folder.csv"]);
    assert_eq!(done.code, Some(1));
    assert!(done.err.contains("folder.csv: Is a directory"), "{}", done.err);
    let names = ["folder.csv", "link.csv", "new.csv", "other", "private.csv", "private.csv.partial"];
    assert_eq!(place.names(), names);
}

#[test]
fn pipes_are_written_to() {
    let place = Place::new();
    place.ok(&["-c", "+t(1)"]);
    assert!(Command::new("mkfifo").arg(place.path("pipe.csv")).status().unwrap().success());
    let path = place.path("pipe.csv");
    let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
    place.ok(&["export", "t", "pipe.csv"]);
    assert_eq!(reader.join().unwrap(), "A\n1\n");
    assert!(fs::symlink_metadata(place.path("pipe.csv")).unwrap().file_type().is_fifo());
    assert_eq!(place.ok(&["-c", "?t(X)", "--csv", "-o", "/dev/stdout"]), "X\n1\n");
    assert_eq!(place.names(), ["pipe.csv"]);
}

/// Whoever is told to end leaves no half of a file; a name that was taken keeps its file.
#[test]
fn nothing_partial_stays_after_a_signal() {
    let place = Place::new();
    place.ok(&["-c", "+n[(0), (1), (2), (3), (4), (5), (6), (7), (8), (9)]"]);
    let large = "?A, B, C, D, E, F, G <- n(A), n(B), n(C), n(D), n(E), n(F), n(G)";
    // Whoever is started by `nohup` goes on, and so do those that they start.
    let signals = [("TERM", 143), ("HUP", 129)];
    for (signal, code) in signals.into_iter().filter(|(signal, _)| *signal != "HUP" || !ignores_hangups()) {
        place.write("out.csv", "before");
        let mut process = place.command().args(["-c", large, "-o", "out.csv"]).spawn().unwrap();
        let begun = Instant::now();
        while place.names().len() < 2 {
            assert!(begun.elapsed() < PATIENCE && process.try_wait().unwrap().is_none());
            std::thread::sleep(Duration::from_millis(2));
        }
        let kill = Command::new("kill").args([format!("-{signal}"), process.id().to_string()]).status();
        assert!(kill.unwrap().success());
        assert_eq!(process.wait().unwrap().code(), Some(code), "{signal}");
        assert_eq!((place.names(), place.read("out.csv")), (vec!["out.csv".to_owned()], "before".to_owned()));
    }
}

fn ignores_hangups() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// A reader who has seen enough is no error, in any format.
#[test]
fn a_broken_pipe_is_no_error() {
    let place = Place::new();
    let rows: Vec<String> = (0..50_000).map(|n| format!("({n}, \"text {}\")", n * 7919 % 50_000)).collect();
    place.write("facts.dl", &format!("+t[{}]", rows.join(", ")));
    place.ok(&["run", "facts.dl"]);
    for format in ["parquet", "arrow", "csv", "jsonl"] {
        let mut command = place.command();
        command.args(["export", "t", "-", "--format", format]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        drop(process.stdout.take());
        let mut err = String::new();
        process.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((process.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{format}");
    }
}
