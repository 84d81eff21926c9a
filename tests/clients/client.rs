//! The Rust client on a real server: what its documentation shows, and what it reports when the server goes away.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use stratalog_client::arrow::array::{
    Array, AsArray, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use stratalog_client::arrow::datatypes::Int64Type;
use stratalog_client::files::{OnError, ReadOptions, WriteOptions, rows};
use stratalog_client::{
    Address, Client, ClientError, Code, Credentials, Events, ExecuteOptions, Notification, Scope, Told, Value,
};
use stratalog_tests::restarting::Restarting;
use stratalog_tests::server::{PASSWORD, Server};
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;

/// Never ends by itself.
const ENDLESS: &str = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";

fn admin() -> Credentials {
    Credentials::password("admin", PASSWORD)
}

async fn connect(server: &Server) -> Client {
    Client::connect(&server.url(), admin()).await.expect("a connection")
}

async fn run(client: &Client, program: &str) -> Vec<Vec<Value>> {
    client
        .execute(program, ExecuteOptions::default())
        .await
        .unwrap_or_else(|error| panic!("{program}: {error}"))
        .rows
}

fn numbers(from: i64, to: i64) -> RecordBatch {
    let numbers = Int64Array::from_iter_values(from..to);
    let names = StringArray::from_iter_values((from..to).map(|n| format!("name {}", n % 7)));
    RecordBatch::try_from_iter([("n", Arc::new(numbers) as Arc<dyn Array>), ("name", Arc::new(names))])
        .unwrap()
}

#[tokio::test]
async fn rows_batches_and_parameters() {
    let server = Server::start();
    let client = connect(&server).await;
    let pair = |a: &str, b: i64| vec![Value::Text(a.into()), Value::Int(b)];
    let inserted =
        client.insert_rows("owns", vec![pair("ada", 1), pair("bob", 2), pair("ada", 1)]).await.unwrap();
    assert_eq!((inserted.inserted, inserted.duplicates), (2, 1));
    let options = ExecuteOptions::default().param("who", "ada").limit(10);
    let answer = client.execute("?owns($who, X)", options).await.unwrap();
    assert_eq!(
        (answer.columns.as_slice(), answer.rows.as_slice()),
        (&["A".into(), "X".into()][..], &[pair("ada", 1)][..])
    );
    let inserted =
        client.insert_batches("n", (0..50).map(|i| numbers(i * 10_000, (i + 1) * 10_000))).await.unwrap();
    assert_eq!(inserted.inserted, 500_000);
    assert_eq!(run(&client, "?count<X> <- n(X, _)").await, [[Value::Int(500_000)]]);
    let mine = client.insert("mine", vec![vec![Value::Int(1)]], Scope::Session).await.unwrap();
    assert_eq!(mine.inserted, 1);
    assert!(client.ping().await.unwrap() < PATIENCE);
    client.close().await;
}

#[tokio::test]
async fn answers_come_as_a_stream() {
    let server = Server::start();
    let client = connect(&server).await;
    client.insert_batches("n", [numbers(0, 300_000)]).await.unwrap();
    let mut batches = client.stream("?n(X, Name)", ExecuteOptions::default()).await.unwrap();
    assert_eq!(
        (batches.header().columns.as_slice(), batches.header().total_count),
        (&["n".into(), "name".into()][..], 300_000)
    );
    let (mut sum, mut count) = (0, 0);
    while let Some(batch) = batches.next().await.unwrap() {
        count += 1;
        sum += batch.column(0).as_primitive::<Int64Type>().values().iter().sum::<i64>();
    }
    assert!(count > 1);
    assert_eq!(sum, 300_000 * 299_999 / 2);
    // An answer of values of several types, and one of messages.
    run(&client, "+m[(1), (\"x\"), (2.5), (null)]").await;
    let batches =
        client.stream("?m(X:asc)", ExecuteOptions::default()).await.unwrap().collect().await.unwrap();
    let found: Vec<_> = batches.iter().flat_map(|batch| rows(batch).unwrap()).flatten().collect();
    assert_eq!(found, [Value::Null, Value::Int(1), Value::Float(2.5), Value::Text("x".into())]);
    let mut batches = client.stream("+m(7)", ExecuteOptions::default()).await.unwrap();
    assert!(batches.header().is_message());
    assert_eq!(
        rows(&batches.next().await.unwrap().unwrap()).unwrap(),
        [[Value::Text("inserted 1 fact into m".into())]]
    );
    // A stream that nobody reads on does not stand in the way of others.
    let open = client.stream("?n(X, Name)", ExecuteOptions::default()).await.unwrap();
    assert_eq!(run(&client, "?count<X> <- n(X, _)").await, [[Value::Int(300_000)]]);
    drop(open);
    assert_eq!(run(&client, "?m(7)").await.len(), 1);
}

#[tokio::test]
async fn uploads_are_all_or_nothing() {
    let server = Server::start();
    let client = connect(&server).await;
    let batch = numbers(0, 100_000);
    let mut upload = client.upload("n", &batch.schema(), Scope::Persistent).await.unwrap();
    upload.write(&batch).await.unwrap();
    drop(upload); // nothing was finished
    let error = client.execute("?n(X, Y)", ExecuteOptions::default()).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::UnknownRelation));
    // A refusal comes while the rest is being sent, and the connection stays usable.
    run(&client, "+n(n: int)").await;
    let error = client.insert_batches("n", (0..100).map(|_| numbers(0, 50_000))).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::ArityMismatch));
    assert!(!error.is_uncertain());
    assert_eq!(run(&client, "?count<X> <- n(X)").await, Vec::<Vec<Value>>::new());
}

#[tokio::test]
async fn programs_are_stopped_by_id_by_time_and_by_letting_go() {
    let server = Server::start_with(&[("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "600000")]);
    let client = Arc::new(connect(&server).await);
    run(&client, "+start(1)").await;
    let running = client.start(ENDLESS, ExecuteOptions::default()).await.unwrap();
    assert!(client.cancel(running.id()).await.unwrap());
    assert_eq!(running.answer().await.unwrap_err().code(), Some(Code::Cancelled));
    let options = ExecuteOptions::default().timeout(Duration::from_millis(200));
    let error = client.execute(ENDLESS, options).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::Timeout));
    let other = Arc::clone(&client);
    let task = tokio::spawn(async move { other.execute(ENDLESS, ExecuteOptions::default()).await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    task.abort();
    // It waits for those before it.
    assert_eq!(run(&client, "?start(X)").await, [[Value::Int(1)]]);
}

#[tokio::test]
async fn events_tell_what_others_change() {
    let server = Server::start();
    let client = connect(&server).await;
    let address: Address = server.url().parse().unwrap();
    let mut events = Events::connect(&address, admin(), None).await.unwrap();
    run(&client, "+edge[(1, 2), (2, 3)]").await;
    let Told::Notification(Notification { change, .. }) = events.next().await.unwrap() else {
        panic!("a gap")
    };
    assert!(format!("{change:?}").contains("edge"), "{change:?}");
}

#[tokio::test]
async fn files_go_in_and_out() {
    let server = Server::start();
    let client = connect(&server).await;
    let folder = TempDir::new().unwrap();
    let csv = folder.path().join("city.csv");
    std::fs::write(&csv, "name,people\nOslo,717710\nRome,2748109\n").unwrap();
    let mut told = Vec::new();
    let imported = client
        .insert_file("city", &csv, &ReadOptions::default(), |progress| told.push(progress))
        .await
        .unwrap();
    assert_eq!((imported.inserted, imported.declared.unwrap().len()), (2, 2));
    assert_eq!((told[0].rows, told[0].done), (2, 37));
    let parquet = folder.path().join("city.parquet");
    let how = WriteOptions::default();
    let written =
        client.write_file("?city(N, P)", ExecuteOptions::default(), &parquet, None, &how).await.unwrap();
    assert_eq!(written, 2);
    let imported = client.insert_file("again", &parquet, &ReadOptions::default(), |_| {}).await.unwrap();
    assert_eq!(imported.inserted, 2);
    assert_eq!(
        run(&client, "?again(\"Oslo\", P)").await,
        [[Value::Text("Oslo".into()), Value::Int(717_710)]]
    );
    let error = client
        .insert_file("x", Path::new("/nonexistent.csv"), &ReadOptions::default(), |_| {})
        .await
        .unwrap_err();
    assert!(matches!(error, ClientError::File(_)), "{error}");
}

#[tokio::test]
async fn times_finer_than_milliseconds_are_cut_with_a_warning() {
    let server = Server::start();
    let client = connect(&server).await;
    let insert = |times: Vec<i64>| {
        let times = TimestampMicrosecondArray::from(times).with_timezone("Europe/Oslo");
        let batch = RecordBatch::try_from_iter([("at", Arc::new(times) as Arc<dyn Array>)]).unwrap();
        client.insert_batches("seen", [batch])
    };
    let inserted = insert(vec![1_000, 2_001]).await.unwrap();
    assert_eq!(inserted.inserted, 2);
    let [warning] = inserted.warnings.as_slice() else { panic!("{:?}", inserted.warnings) };
    assert!(
        warning.contains("1 value, `1970-01-01T00:00:00.002001`, is finer than milliseconds"),
        "{warning}"
    );
    let again = insert(vec![1_000, 2_000]).await.unwrap();
    assert_eq!((again.inserted, again.duplicates, again.warnings.len()), (0, 2, 0));
}

#[tokio::test]
async fn a_file_goes_in_parts_where_that_is_asked_for() {
    let server = Server::start();
    let client = connect(&server).await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("codes.csv");
    let lines: String = (0..2500).map(|n| format!("{n}\n")).collect();
    std::fs::write(&file, format!("code\n{lines}wrong\n9999\n")).unwrap();
    let columns = vec!["code: int".parse().unwrap()];
    let options =
        ReadOptions { columns: Some(columns), commit_every: NonZeroU64::new(1000), ..ReadOptions::default() };
    let mut committed = Vec::new();
    let error = client
        .insert_file("code", &file, &options, |progress| committed.push(progress.committed))
        .await
        .unwrap_err();
    let ClientError::PartlyInserted { rows, committed: done, cause } = &error else { panic!("{error}") };
    assert_eq!((*rows, done.inserted, done.duplicates), (2000, 2000, 0));
    assert!(matches!(**cause, ClientError::File(_)), "{cause}");
    assert!(error.to_string().contains("rows are committed, the rest is not"), "{error}");
    assert_eq!(run(&client, "?count<X> <- code(X)").await, [[Value::Int(2000)]]);
    assert_eq!(committed.last(), Some(&2000));

    let options = ReadOptions { on_error: OnError::Skip, ..options };
    let imported = client.insert_file("code", &file, &options, |_| {}).await.unwrap();
    assert_eq!((imported.inserted + imported.duplicates, imported.skipped.count), (2501, 1));
    assert_eq!(run(&client, "?count<X> <- code(X)").await, [[Value::Int(2501)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_after_a_restart_go_to_the_new_server() {
    let mut restarting = Restarting::start();
    let client = connect(restarting.server()).await;
    run(&client, ".kg create lab").await;
    run(&client, "+p(1)").await;
    let before = client.session();
    restarting.restart();
    // Nothing was on its way, so a write may be sent as well as a query.
    run(&client, "+p(2)").await;
    assert_eq!(run(&client, "?p(X:asc)").await, [[Value::Int(1)], [Value::Int(2)]]);
    assert_eq!(client.graph(), "lab");
    assert_ne!(client.session().session_id, before.session_id);
}

/// Waits until another client of the server sees that this is so.
async fn until(restarting: &Restarting, holds: impl AsyncFn(&Client) -> bool) {
    let other = connect(restarting.server()).await;
    let seen = async {
        while !holds(&other).await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, seen).await.expect("in time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_is_repeated_and_a_write_is_not() {
    let mut restarting = Restarting::start();
    let client = Arc::new(connect(restarting.server()).await);
    run(&client, "+start(1)").await;
    let ask = |program: String| {
        let (client, options) =
            (Arc::clone(&client), ExecuteOptions::default().timeout(Duration::from_secs(5)));
        tokio::spawn(async move { client.execute(&program, options).await })
    };
    let read = ask(ENDLESS.to_owned());
    until(&restarting, async |other: &Client| {
        let all = other.requests().all().await.unwrap();
        all.iter().any(|request| request.state == "running" && request.program.contains("start(X)"))
    })
    .await;
    restarting.restart();
    // It is lost with the first server, and ends by the time limit of the second.
    assert_eq!(read.await.unwrap().unwrap_err().code(), Some(Code::Timeout));
    let write = ask(format!("+done(1)\n{ENDLESS}"));
    until(&restarting, async |other: &Client| {
        let all = other.relations().all().await.unwrap();
        all.iter().any(|relation| relation.name == "done")
    })
    .await;
    restarting.restart();
    let error = write.await.unwrap().unwrap_err();
    assert!(matches!(error, ClientError::Closed { .. }) && error.is_uncertain(), "{error}");
    assert!(error.to_string().contains("may have taken effect"), "{error}");
    // It did, in this case, and once.
    assert_eq!(run(&client, "?done(X)").await, [[Value::Int(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_is_lost_is_an_error_and_not_a_short_answer() {
    let mut restarting = Restarting::start();
    let client = connect(restarting.server()).await;
    client.insert_batches("n", (0..30).map(|i| numbers(i * 100_000, (i + 1) * 100_000))).await.unwrap();
    let mut batches = client.stream("?n(X, Name)", ExecuteOptions::default()).await.unwrap();
    assert!(batches.next().await.unwrap().is_some());
    restarting.kill();
    let error = loop {
        match batches.next().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the answer ended early"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, ClientError::Closed { uncertain: false, .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_is_lost_inserts_nothing_and_says_so() {
    let mut restarting = Restarting::start();
    let client = connect(restarting.server()).await;
    let batch = numbers(0, 100_000);
    let mut upload = client.upload("n", &batch.schema(), Scope::Persistent).await.unwrap();
    upload.write(&batch).await.unwrap();
    restarting.restart();
    let error = loop {
        if let Err(error) = upload.write(&batch).await {
            break error;
        }
    };
    // Its end was never sent.
    assert!(matches!(error, ClientError::Closed { uncertain: false, .. }), "{error}");
    drop(upload);
    let error = client.execute("?n(X, Y)", ExecuteOptions::default()).await.unwrap_err();
    assert_eq!(error.code(), Some(Code::UnknownRelation));
}

#[tokio::test(flavor = "multi_thread")]
async fn facts_of_the_session_are_not_lost_in_silence() {
    let mut restarting = Restarting::start();
    let client = connect(restarting.server()).await;
    run(&client, "+p(1)").await;
    run(&client, "p(2)").await;
    restarting.restart();
    let error = client.execute("?p(X)", ExecuteOptions::default()).await.unwrap_err();
    assert!(matches!(error, ClientError::SessionLost), "{error}");
    assert_eq!(run(&client, "?p(X)").await, [[Value::Int(1)]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_go_on_after_a_restart() {
    let mut restarting = Restarting::start();
    let address: Address = restarting.server().url().parse().unwrap();
    let client = connect(restarting.server()).await;
    let mut events = Events::connect(&address, admin(), None).await.unwrap();
    run(&client, "+p(1)").await;
    assert!(matches!(events.next().await.unwrap(), Told::Notification(_)));
    restarting.restart();
    run(&client, "+p(2)").await;
    let next = tokio::time::timeout(PATIENCE, events.next()).await.expect("in time").unwrap();
    assert!(matches!(next, Told::Notification(_) | Told::Gap(_)), "{next:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_reconnecting_a_lost_connection_stays_lost() {
    let mut restarting = Restarting::start();
    let client = connect(restarting.server()).await.reconnecting(Duration::ZERO);
    run(&client, "+p(1)").await;
    restarting.restart();
    for _ in 0..2 {
        let error = client.execute("?p(X)", ExecuteOptions::default()).await.unwrap_err();
        assert!(error.is_disconnect() && !error.is_uncertain(), "{error}");
    }
}

#[tokio::test]
async fn a_column_called_message_is_no_message() {
    let server = Server::start();
    let client = connect(&server).await.reconnecting(Duration::MAX);
    let told = client.execute("+log(message: string)", ExecuteOptions::default()).await.unwrap();
    assert!(told.is_message());
    run(&client, "+log(\"hello\")").await;
    let answer = client.execute("?log(X)", ExecuteOptions::default()).await.unwrap();
    assert_eq!(answer.columns, ["message"]);
    assert!(!answer.is_message());
    let batches = client.stream("?log(X)", ExecuteOptions::default()).await.unwrap();
    assert!(!batches.header().is_message());
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_does_not_wait_for_a_server_that_does_not_read() {
    let server = Server::start();
    let client = connect(&server).await;
    let batch = numbers(0, 100_000);
    let mut upload = client.upload("n", &batch.schema(), Scope::Persistent).await.unwrap();
    let to_server = |name: &str| {
        std::process::Command::new("kill").args([name, &server.pid().to_string()]).status().unwrap();
    };
    to_server("-STOP");
    let writing = tokio::spawn(async move { while upload.write(&batch).await.is_ok() {} });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let closed = tokio::time::timeout(PATIENCE, client.close()).await;
    writing.abort();
    to_server("-CONT");
    assert!(closed.is_ok(), "it waits");
}
