//! Files in a store that speaks the protocol of S3.

#[path = "../../tests/harness/object_store.rs"]
#[allow(dead_code, unreachable_pub, reason = "not all of what suites share is used here")]
mod object_store;
mod process;

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use object_store::{BUCKET, ObjectStore, Presence};
use process::{Executor, PATH, SAME, Server, free_address, has_worked, insert_chains};
use serde_json::json;

fn start(data: &Path, listen: SocketAddr, store: &ObjectStore) -> Server {
    let mut variables = store.variables();
    variables.extend([
        ("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "120000".to_owned()),
        ("SERVICE_CLUSTER__LISTEN", listen.to_string()),
        ("SERVICE_CLUSTER__STORE", format!("s3://{BUCKET}/work")),
    ]);
    Server::start_with(&data.join("data"), &variables)
}

/// Somebody has last written the files below a folder a long while ago.
fn age(folder: &Path) {
    let then = SystemTime::now() - Duration::from_hours(25);
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        match entry.path() {
            path if path.is_dir() => age(&path),
            path => File::options()
                .append(true)
                .open(path)
                .and_then(|file| file.set_modified(then))
                .expect("a file"),
        }
    }
}

#[test]
fn a_bucket_is_what_server_and_executors_see() {
    let (data, store, listen) =
        (tempfile::tempdir().expect("a folder for a while"), ObjectStore::start(), free_address());
    let mut server = start(data.path(), listen, &store);
    let mut connection = server.connect();
    insert_chains(&mut connection);
    let here = [PATH, SAME].map(|asked| (asked, connection.run(asked, "here")["rows"].clone()));
    let folder = data.path().join("executor");
    // No executor needs a folder in common with the server.
    let mut command = Executor::command(listen, &format!("s3://{BUCKET}/work"), &folder);
    command.envs(store.variables());
    let _executor = Executor::of(command);
    let begun = Instant::now();
    while !has_worked(&folder) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not work");
        for (asked, here) in &here {
            let answer = connection.run(asked, "cluster");
            assert_eq!(&answer["rows"], here, "{answer}");
        }
    }
    assert_eq!(store.names("work").len(), 1, "the server's");

    // A store that is away makes no answer a wrong one, and is back later.
    store.be(Presence::Away);
    connection.send(&json!({ "type": "execute", "program": PATH, "place": "cluster", "timeout_ms": 3_000 }));
    let answer = connection.answer();
    assert_eq!(answer["type"], "error", "{answer}");
    store.be(Presence::There);
    let answer = connection.run(PATH, "cluster");
    assert_eq!(answer["rows"], here[0].1, "{answer}");

    drop(connection);
    assert!(server.end(), "it ends as it should");
    assert_eq!(store.names("work"), [""; 0], "nothing is left");
}

#[test]
fn the_dead_are_swept_after_a_day_and_others_never() {
    let (data, store, listen) =
        (tempfile::tempdir().expect("a folder for a while"), ObjectStore::start(), free_address());
    start(data.path(), listen, &store).kill();
    let dead = store.names("work");
    assert_eq!(dead.len(), 1);
    let sales = store.path("work/sales/2026.parquet");
    fs::create_dir_all(sales.parent().expect("a folder")).expect("a folder");
    fs::write(&sales, "rows of somebody else").expect("a file");

    start(data.path(), listen, &store).kill();
    assert_eq!(store.names("work").len(), 3, "both may live, and there are others");
    age(&store.path("work").join(&dead[0]));
    age(&store.path("work").join("sales"));
    let mut server = start(data.path(), listen, &store);
    let left = store.names("work");
    assert!(!left.contains(&dead[0]) && left.len() == 3, "{left:?}");
    assert!(sales.exists(), "it is not of a process");
    assert!(server.end(), "it ends as it should");
    assert_eq!(store.names("work").len(), 2);
}
