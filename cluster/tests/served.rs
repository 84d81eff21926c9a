//! `stratalog-cluster server`, as a process, asked over a socket.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use process::Server;
use serde_json::json;

mod process;

/// The entries of a folder that say whose other ones are.
fn marks(folder: &Path) -> usize {
    let names = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    names.filter(|path| path.extension().is_some_and(|extension| extension == "lock")).count()
}

/// A recursion that does not fall apart, goes on for long, and finds more than is tried in memory first.
const LONG: &str =
    "same(X, Y) <- edge(X, Y)\nsame(X, Z) <- same(X, Y), same(Y, Z)\n?count<X>, Y <- same(X, Y)";

#[test]
fn a_server_answers_from_files_and_leaves_none_of_them() {
    let data = tempfile::tempdir().expect("a folder for a while");
    let mut server = Server::start(data.path());
    let mut connection = server.connect();
    let edges: Vec<String> = (0..6_000).map(|n| format!("({n}, {})", n + 1)).collect();
    let inserted = connection.run(&format!("+edge[{}]", edges.join(", ")), "auto");
    assert_eq!(inserted["type"], "result", "{inserted}");
    let refused = connection.run("?edge(1, X)", "cluster");
    assert_eq!(refused["code"], "cluster_unavailable", "{refused}");
    connection.run(".kg cluster on", "auto");
    for place in ["auto", "here", "cluster"] {
        let answer = connection.run("two(X, Z) <- edge(X, Y), edge(Y, Z)\n?count<X> <- two(X, _)", place);
        assert_eq!(answer["rows"], json!([[5_999]]), "{place}: {answer}");
    }
    let wrong = connection.run("?edge(1, X)", "moon");
    assert_eq!(wrong["code"], "invalid_message", "{wrong}");

    // It is killed while it works, and has files.
    let folder = data.path().join("cluster");
    connection.send(&json!({ "type": "execute", "program": LONG, "place": "cluster" }));
    let begun = Instant::now();
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let has_files = || {
        let of_processes = entries(&folder).flat_map(|path| entries(&path));
        of_processes.into_iter().any(|path| path.file_name().is_some_and(|name| name != "spilled"))
    };
    while !has_files() {
        assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(10));
    }
    server.kill();
    assert_eq!(marks(&folder), 1);
    let left: Vec<_> =
        fs::read_dir(&folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();

    let mut again = Server::start(data.path());
    assert_eq!(marks(&folder), 1, "that of the process that runs");
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    let mut connection = again.connect();
    let uses = connection.run(".kg cluster", "auto");
    assert_eq!(uses["rows"][0][0], "on", "{uses}");
    let answer = connection.run("?count<X> <- edge(X, _)", "cluster");
    assert_eq!(answer["rows"], json!([[6_000]]), "{answer}");
    drop(connection);
    assert!(again.end(), "it ends as it should");
    assert_eq!(marks(&folder), 0);
}
