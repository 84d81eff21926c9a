//! A server and executors, as processes of their own.

use std::fs;
use std::time::{Duration, Instant};

use process::{APART, Connection, Executor, PATH, SAME, Server, free_address, has_worked, insert_chains};
use serde_json::{Value, json};

mod process;

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn rows(answer: &Value) -> &Value {
    assert_eq!(answer["type"], "result", "{answer}");
    &answer["rows"]
}

#[test]
fn executors_answer_as_the_server_does() {
    let data = tempfile::tempdir().expect("a folder for a while");
    let (store, listen) = (data.path().join("store"), free_address());
    let variables = [
        ("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "120000".to_owned()),
        ("SERVICE_CLUSTER__LISTEN", listen.to_string()),
        ("SERVICE_CLUSTER__STORE", store.display().to_string()),
    ];
    let mut server = Server::start_with(&data.path().join("data"), &variables);
    let mut connection = server.connect();
    insert_chains(&mut connection);
    let here: Vec<Value> =
        [SAME, PATH, APART].map(|asked| rows(&connection.run(asked, "here")).clone()).into();
    let by_plans = |connection: &mut Connection| {
        for (asked, here) in [SAME, PATH, APART].iter().zip(&here) {
            assert_eq!(rows(&connection.run(asked, "cluster")), here);
        }
    };
    // Nobody else is there.
    by_plans(&mut connection);

    let folders = ["first", "second"].map(|name| data.path().join(name));
    let [mut first, mut second] = folders.each_ref().map(|folder| Executor::start(listen, &store, folder));
    until("an executor works", || {
        by_plans(&mut connection);
        folders.iter().all(|folder| has_worked(folder))
    });

    // Who is cancelled does not take a place for ever.
    for _ in 0..4 {
        let soon = json!({ "type": "execute", "program": SAME, "place": "cluster", "timeout_ms": 300 });
        let answer = connection.ask(&soon);
        assert_eq!(answer["code"], "timeout", "{answer}");
    }
    let begun = Instant::now();
    by_plans(&mut connection);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());

    // One of them is gone while it works, at one moment or another.
    for after in [300, 250, 350, 1_000] {
        let begun = Instant::now();
        connection
            .send(&json!({ "type": "execute", "program": SAME, "place": "cluster", "timeout_ms": 120_000 }));
        std::thread::sleep(Duration::from_millis(after));
        first.kill();
        let answer = connection.answer();
        assert_eq!(rows(&answer), &here[0], "killed after {after} ms");
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
        by_plans(&mut connection);
        first = Executor::start(listen, &store, &folders[0]);
        std::thread::sleep(Duration::from_secs(2));
    }
    first.kill();

    // All are.
    second.kill();
    until("the server works alone", || connection.run(SAME, "cluster")["rows"] == here[0]);
    let left: Vec<_> =
        fs::read_dir(&store).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    assert_eq!(left.len(), 2, "that of the process, and its mark: {left:?}");
    drop(connection);
    assert!(server.end(), "it ends as it should");
    assert!(fs::read_dir(&store).expect("a folder").next().is_none(), "nothing is left");
}

#[test]
fn executors_wait_for_their_server() {
    let data = tempfile::tempdir().expect("a folder for a while");
    let (store, folder, listen) = (data.path().join("store"), data.path().join("executor"), free_address());
    let variables = [
        ("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "120000".to_owned()),
        ("SERVICE_CLUSTER__LISTEN", listen.to_string()),
        ("SERVICE_CLUSTER__STORE", store.display().to_string()),
    ];
    // It is there before its server, and longer.
    let _executor = Executor::start(listen, &store, &folder);
    for away in [0, 16] {
        std::thread::sleep(Duration::from_secs(away));
        let mut server = Server::start_with(&data.path().join("data"), &variables);
        let mut connection = server.connect();
        if away == 0 {
            insert_chains(&mut connection);
        }
        until("the executor works", || {
            connection.run(PATH, "cluster");
            has_worked(&folder)
        });
        server.kill();
        fs::remove_dir_all(folder.join("under_way")).expect("what is under way");
        fs::create_dir(folder.join("under_way")).expect("a folder");
    }
}
