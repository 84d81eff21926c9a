//! Live queries of the Rust client: nothing is lost or told twice, whatever becomes of connection and server.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use stratalog_client::arrow::array::{ArrayRef, Int8Array, RecordBatch, StringArray};
use stratalog_client::arrow::datatypes::{DataType, Field, Schema};
use stratalog_client::arrow::ipc::writer::StreamWriter;
use stratalog_client::files::rows;
use stratalog_client::{
    Client, ClientError, Code, Credentials, ExecuteOptions, Live, LiveChange, LiveOptions, Value,
};
use stratalog_tests::proxy::Proxy;
use stratalog_tests::restarting::Restarting;
use stratalog_tests::server::{PASSWORD, Server};
use stratalog_tests::times::PATIENCE;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

const REACH: &str =
    "+edge[(1, 2), (2, 3)]\n+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)";

fn admin() -> Credentials {
    Credentials::password("admin", PASSWORD)
}

async fn connect(url: &str) -> Client {
    Client::connect(url, admin()).await.expect("a connection")
}

/// Runs a program; the version at which it is done.
async fn run(client: &Client, program: &str) -> u64 {
    let answer = client.execute(program, ExecuteOptions::default()).await;
    answer.unwrap_or_else(|error| panic!("{program}: {error}")).version.expect("a version")
}

async fn next(live: &mut Live) -> LiveChange {
    let next = timeout(PATIENCE, live.next()).await.expect("in time");
    next.unwrap_or_else(|error| panic!("{error}")).expect("a change")
}

fn texts(batches: &[RecordBatch]) -> Vec<String> {
    let mut texts: Vec<String> =
        batches.iter().flat_map(|batch| rows(batch).unwrap()).map(|row| format!("{row:?}")).collect();
    texts.sort();
    texts
}

fn ints(rows: &[&[i64]]) -> Vec<String> {
    let row = |row: &&[i64]| format!("{:?}", row.iter().copied().map(Value::Int).collect::<Vec<_>>());
    let mut texts: Vec<String> = rows.iter().map(row).collect();
    texts.sort();
    texts
}

/// One who applies what is told.
#[derive(Default)]
struct Copy(BTreeSet<String>);

impl Copy {
    fn take(&mut self, change: &LiveChange) {
        if change.reset {
            self.0.clear();
        }
        for row in texts(&change.removed) {
            assert!(self.0.remove(&row), "{row} was not there");
        }
        for row in texts(&change.added) {
            assert!(self.0.insert(row.clone()), "{row} was there");
        }
    }

    async fn until(&mut self, live: &mut Live, is_so: impl Fn(&BTreeSet<String>) -> bool) {
        while !is_so(&self.0) {
            let change = next(live).await;
            self.take(&change);
        }
    }
}

#[tokio::test]
async fn rows_come_and_go() {
    let server = Server::start();
    let client = connect(&server.url()).await;
    run(&client, ".kg create lab").await;
    run(&client, REACH).await;
    let mut live = client.live("?reach($from, Y)", LiveOptions::default().param("from", 1)).await.unwrap();
    assert_eq!((live.token(), live.version()), (None, 0));
    let first = next(&mut live).await;
    assert_eq!((first.reset, first.columns.as_slice()), (true, &["A".to_owned(), "Y".to_owned()][..]));
    assert_eq!((texts(&first.added), first.removed.len()), (ints(&[&[1, 2], &[1, 3]]), 0));
    // It stays on its graph, and knows nothing of the session.
    run(&client, "edge(3, 9)").await;
    let version = run(&client, "+edge[(3, 4), (7, 8)]").await;
    run(&client, ".kg use default").await;
    let change = next(&mut live).await;
    assert_eq!((change.version, change.reset, live.version()), (version, false, version));
    assert_eq!((texts(&change.added), change.removed.len()), (ints(&[&[1, 4]]), 0));
    run(&client, ".kg use lab").await;
    run(&client, "-edge(2, 3)").await;
    assert_eq!(texts(&next(&mut live).await.removed), ints(&[&[1, 3], &[1, 4]]));
    assert!(timeout(Duration::from_millis(200), live.next()).await.is_err());
    run(&client, "+edge(2, 5)").await;
    assert_eq!(texts(&next(&mut live).await.added), ints(&[&[1, 5]]));
    live.close().await;
}

#[tokio::test]
async fn what_is_wrong_is_told_at_once_and_what_ends_it_once() {
    let server = Server::start();
    let client = connect(&server.url()).await;
    run(&client, REACH).await;
    let code = async |query: &str| client.live(query, LiveOptions::default()).await.err().unwrap().code();
    assert_eq!(code("?raech(X, Y)").await, Some(Code::UnknownRelation));
    assert_eq!(code("?edge(X").await, Some(Code::ParseError));
    assert_eq!(code("+edge(1, 1)\n?edge(X, Y)").await, Some(Code::NotLive));
    assert_eq!(code("?edge($x, Y)").await, Some(Code::InvalidParameter));
    for wrong in ["nonsense", "@1", "t@x"] {
        let options = LiveOptions::default().resume(wrong);
        let error = client.live("?edge(X, Y)", options).await.err().unwrap();
        assert!(matches!(&error, ClientError::Invalid { .. }), "{error}");
        assert!(error.to_string().contains(&format!("`{wrong}` is no token")), "{error}");
    }
    let nan = LiveOptions::default().param("x", f64::NAN);
    assert!(matches!(client.live("?edge($x, Y)", nan).await.err(), Some(ClientError::Invalid { .. })));
    let mut live = client.live("?reach(X, Y)", LiveOptions::default()).await.unwrap();
    next(&mut live).await;
    assert!(matches!(live.wait(1).await, Err(ClientError::Invalid { .. })));
    run(&client, ".rule drop reach").await;
    let ended = timeout(PATIENCE, live.next()).await.expect("in time").unwrap_err();
    assert_eq!(ended.code(), Some(Code::UnknownRelation));
    assert_eq!(live.next().await.unwrap(), None);
}

#[tokio::test]
async fn a_large_answer_is_one_change_and_so_is_what_happens_to_it() {
    let server = Server::start();
    let client = connect(&server.url()).await;
    client.insert_rows("n", (0..300_000).map(|n| vec![Value::Int(n)]).collect()).await.unwrap();
    let mut live = client.live("?n(X)", LiveOptions::default()).await.unwrap();
    // Whoever does not wait for all of it misses nothing.
    let first = loop {
        if let Ok(next) = timeout(Duration::from_millis(1), live.next()).await {
            break next.unwrap().unwrap();
        }
    };
    assert!(first.reset && first.added.len() > 1, "it comes in parts");
    assert_eq!(first.added.iter().map(RecordBatch::num_rows).sum::<usize>(), 300_000);
    let mut copy = Copy::default();
    copy.take(&first);
    run(&client, "-n(X) <- n(X), X >= 100000").await;
    copy.take(&next(&mut live).await);
    assert_eq!(copy.0.len(), 100_000);
}

#[tokio::test]
async fn columns_may_get_other_types() {
    let server = Server::start();
    let client = connect(&server.url()).await;
    run(&client, "+v[(1), (2)]").await;
    let mut live = client.live("?v(X)", LiveOptions::default()).await.unwrap();
    let mut copy = Copy::default();
    copy.take(&next(&mut live).await);
    for program in
        ["+v[(\"a\"), (1.0), (true)]", "+v[([1, 2]), (null)]", "-v(1)", "-v[(\"a\"), (true), (1.0)]"]
    {
        run(&client, program).await;
        let change = next(&mut live).await;
        assert!(!change.reset);
        copy.take(&change);
    }
    let all = client.stream("?v(X)", ExecuteOptions::default()).await.unwrap().collect().await.unwrap();
    assert_eq!(copy.0.iter().cloned().collect::<Vec<_>>(), texts(&all));
}

#[tokio::test]
async fn it_waits_for_ones_own_write() {
    let server = Server::start();
    let client = connect(&server.url()).await;
    run(&client, REACH).await;
    let mut live = client.live("?reach(1, Y)", LiveOptions::default().progress()).await.unwrap();
    let written = run(&client, "+edge(3, 4)").await;
    let unrelated = run(&client, "+other(1)").await;
    let mut copy = Copy::default();
    for version in [written, unrelated] {
        let changes = timeout(PATIENCE, live.wait(version)).await.expect("in time").unwrap();
        changes.iter().for_each(|change| copy.take(change));
        assert!(copy.0.contains(&ints(&[&[1, 4]])[0]));
    }
    // What has come while somebody waited in vain is not lost.
    let (taken, later) = (live.version(), run(&client, "+edge(4, 5)").await);
    assert!(timeout(Duration::from_secs(1), live.wait(later + 1)).await.is_err());
    assert_eq!(live.version(), taken, "nothing was taken");
    copy.take(&next(&mut live).await);
    assert_eq!((copy.0.len(), live.version()), (4, later));
}

#[tokio::test]
async fn it_goes_on_where_it_was() {
    let server = Server::start();
    let (client, proxy) = (connect(&server.url()).await, Proxy::to(server.address()));
    run(&client, REACH).await;
    let distant = connect(&proxy.url()).await;
    let mut live = distant.live("?reach(1, Y)", LiveOptions::default()).await.unwrap();
    next(&mut live).await;
    let token = live.token().unwrap();
    proxy.cut();
    run(&client, "+edge(3, 4)").await;
    let change = next(&mut live).await;
    assert_eq!((change.reset, texts(&change.added)), (false, ints(&[&[1, 4]])));
    // So does another one, with the token.
    let options = || LiveOptions::default().resume(token.clone());
    let mut other = client.live("?reach(1, Y)", options()).await.unwrap();
    assert_eq!(other.token().as_ref(), Some(&token));
    let change = next(&mut other).await;
    assert_eq!((change.reset, texts(&change.added)), (false, ints(&[&[1, 4]])));
    assert_eq!(other.token(), live.token());
    // That of another query is of no use.
    let mut other = client.live("?reach(2, Y)", options()).await.unwrap();
    assert!(next(&mut other).await.reset);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_outlives_the_server() {
    let mut restarting = Restarting::start();
    let client = connect(&restarting.server().url()).await;
    run(&client, REACH).await;
    let mut live = client.live("?reach(1, Y)", LiveOptions::default().progress()).await.unwrap();
    let mut copy = Copy::default();
    copy.take(&next(&mut live).await);
    let written = run(&client, "+edge(3, 4)").await;
    restarting.kill();
    let waiting = tokio::spawn(async move {
        while live.version() < written || copy.0.len() < 4 {
            let change = next(&mut live).await;
            copy.take(&change);
        }
        (live, copy)
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    restarting.restart();
    run(&client, "+edge(4, 5)").await;
    let (mut live, mut copy) = waiting.await.unwrap();
    copy.until(&mut live, |rows| rows.len() == 4).await;
    // What it has now is good again.
    let token = live.token().unwrap();
    let mut other = client.live("?reach(1, Y)", LiveOptions::default().resume(token)).await.unwrap();
    run(&client, "-edge(1, 2)").await;
    let change = next(&mut other).await;
    assert_eq!((change.reset, change.removed.iter().map(RecordBatch::num_rows).sum::<usize>()), (false, 4));
    copy.until(&mut live, BTreeSet::is_empty).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_takes_nothing_for_a_while_misses_nothing() {
    let server = Server::start();
    let client = connect(&server.url()).await;
    let wide = |from: i64| -> Vec<Vec<Value>> {
        (from..from + 10_000).map(|n| vec![Value::Int(n), Value::Text("x".repeat(100))]).collect()
    };
    client.insert_rows("wide", wide(0)).await.unwrap();
    let mut live = client.live("?wide(X, Y)", LiveOptions::default()).await.unwrap();
    let mut copy = Copy::default();
    copy.take(&next(&mut live).await);
    for n in 1..=20 {
        client.insert_rows("wide", wide(n * 10_000)).await.unwrap();
        run(&client, &format!("-wide(X, Y) <- wide(X, Y), X < {}", n * 10_000 - 5_000)).await;
    }
    run(&client, "+wide(-1, \"the last\")").await;
    copy.until(&mut live, |rows| rows.iter().any(|row| row.contains("the last"))).await;
    assert_eq!(copy.0.len(), 15_001);
}

/// A connection of a live query to a server that does nothing by itself.
async fn alone() -> (Live, WebSocketStream<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string().parse().unwrap();
    let server = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        for reply in [
            r#"{"type":"authenticated","session_id":"s","knowledge_graph":"default","version":"0.1.0","role":"admin"}"#,
            r#"{"type":"subscribed","subscription":1,"columns":["X"],"knowledge_graph":"default","version":3,"resumed":true,"token":"t","id":1}"#,
        ] {
            socket.next().await.unwrap().unwrap();
            socket.send(Message::text(reply)).await.unwrap();
        }
        socket
    });
    let options = LiveOptions::default().resume("t@3");
    let live = Live::connect(&address, admin(), "?p(X)", options).await.unwrap();
    (live, server.await.unwrap())
}

/// A change of one row.
fn delta(from: u64) -> [Message; 2] {
    let version = from + 1;
    let heading = format!(
        r#"{{"type":"delta","subscription":1,"from":{from},"version":{version},"format":"arrow","last":true}}"#
    );
    let fields = vec![Field::new("_diff", DataType::Int8, false), Field::new("X", DataType::Utf8, true)];
    let schema = Arc::new(Schema::new(fields));
    let text = format!("{version} {}", "x".repeat(100_000));
    let columns: Vec<ArrayRef> =
        vec![Arc::new(Int8Array::from(vec![1])), Arc::new(StringArray::from(vec![text]))];
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    writer.write(&RecordBatch::try_new(schema, columns).unwrap()).unwrap();
    writer.finish().unwrap();
    [Message::text(heading), Message::binary(writer.into_inner().unwrap())]
}

#[tokio::test(flavor = "multi_thread")]
async fn signs_of_life_are_given_while_nobody_takes_anything() {
    let (live, mut server) = alone().await;
    server.send(Message::Ping(b"there?".as_slice().into())).await.unwrap();
    let answered = async {
        while server.next().await.unwrap().unwrap() != Message::Pong(b"there?".as_slice().into()) {}
    };
    timeout(PATIENCE, answered).await.expect("in time");
    drop(live);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_takes_is_not_held_without_end() {
    let (mut live, mut server) = alone().await;
    let most = 100 << 20;
    let (mut sent, mut last) = (0, 3);
    // Until it is not listened to any more; what is sent then waits in sockets.
    while sent < most {
        let [heading, rows] = delta(last);
        sent += rows.len();
        let sending = async {
            server.feed(heading).await.unwrap();
            server.send(rows).await.unwrap();
        };
        if timeout(Duration::from_secs(2), sending).await.is_err() {
            break;
        }
        last += 1;
    }
    assert!(sent < most, "{sent} bytes are held");
    for version in 4..=last {
        assert_eq!(next(&mut live).await.version, version);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_that_stands_on_something_else_is_refused() {
    let (mut live, mut server) = alone().await;
    for message in delta(4) {
        server.send(message).await.unwrap();
    }
    let error = timeout(PATIENCE, live.next()).await.expect("in time").unwrap_err();
    assert!(matches!(&error, ClientError::Protocol { .. }), "{error}");
    assert!(error.to_string().contains("after version 4; known is version 3"), "{error}");
    assert_eq!(live.next().await.unwrap(), None);
}
