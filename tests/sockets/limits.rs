//! What one user may take away from others: nothing. Over a socket, against the real executable.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array};
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Frame as Answer, Server};
use stratalog_tests::times::PATIENCE;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

/// A rule without end, and what runs it.
const ENDLESS: &str = "?n(X)";

async fn define_divergence(connection: &mut Connection) {
    connection.rows("+n(0)").await;
    connection.rows("+n(Y) <- n(X), Y = X + 1").await;
}

/// Creates a user with the role editor and logs in.
async fn user(server: &Server, admin: &mut Connection, name: &str) -> Connection {
    admin.rows(&format!(".user create {name} {name}-password editor")).await;
    server.log_in_as(name, &format!("{name}-password")).await
}

/// The rows of `.query list` but that of the listing itself.
async fn listed(admin: &mut Connection) -> Vec<Json> {
    let rows = admin.rows(".query list").await;
    let others = rows.as_array().expect("rows").iter().filter(|row| row[7] != ".query list");
    others.cloned().collect()
}

async fn wait_for_requests(admin: &mut Connection, count: usize) -> Vec<Json> {
    let until = Instant::now() + PATIENCE;
    loop {
        let rows = listed(admin).await;
        if rows.len() == count {
            return rows;
        }
        assert!(Instant::now() < until, "expected {count} requests, found {rows:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits for something to be in the log, which the harness reads as it comes.
async fn until_logged(server: &Server, text: &str) {
    let until = Instant::now() + PATIENCE;
    while !server.log().contains(text) {
        assert!(Instant::now() < until, "`{text}` is not in the log:\n{}", server.log());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn short_queries_are_answered_while_more_long_ones_run_than_have_places() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__MAX_CONCURRENT_QUERIES", "2"),
        ("SERVICE_LIMITS__MAX_SHORT_QUERIES", "2"),
    ]);
    let mut admin = server.log_in().await;
    define_divergence(&mut admin).await;
    admin.rows("+edge[(1,2),(2,3)]").await;
    let long = ["?n(X)", "+total(count<X>) <- n(X)\n?total(X)", "?cross(X)"];
    let pairs: Vec<String> = (0..2000).map(|i| format!("({i})")).collect();
    admin.rows(&format!("+a[{}]", pairs.join(","))).await;
    admin.rows("+cross(count<X>) <- a(X), a(Y), a(Z), a(W), X + Y + Z + W < 0").await;
    let mut mallory = Vec::new();
    for i in 0..9 {
        let mut connection = server.log_in().await;
        connection.send_json(json!({"type": "execute", "program": long[i % 3], "id": i})).await;
        mallory.push(connection);
    }
    wait_for_requests(&mut admin, 9).await;
    let mut ada = user(&server, &mut admin, "ada").await;
    for i in 0..100 {
        let program = if i % 10 == 9 { format!("+seen({i})") } else { "?edge(1, X)".to_owned() };
        let reply = ada.execute(&program).await;
        assert_eq!(reply["type"], "result", "{reply}");
    }
    // All of that was answered before any of the long ones, of which there are more than places.
    assert_eq!(listed(&mut admin).await.len(), 9);
    for mut connection in mallory {
        assert_eq!(connection.receive_within(Duration::ZERO).await, None);
    }
    wait_for_requests(&mut admin, 0).await;
}

#[tokio::test]
async fn an_administrator_sees_and_stops_what_runs() {
    let server = Server::start();
    let mut admin = server.log_in().await;
    define_divergence(&mut admin).await;
    let mut ada = user(&server, &mut admin, "ada").await;
    let mut bob = user(&server, &mut admin, "bob").await;
    ada.send_json(json!({"type": "execute", "program": "?n(X),\n X > 5", "id": "a"})).await;
    bob.send_json(json!({"type": "execute", "program": ENDLESS, "id": "b"})).await;
    let reply = admin.execute(".query list").await;
    assert_eq!(
        reply["columns"],
        json!([
            "id",
            "user",
            "knowledge_graph",
            "session",
            "state",
            "started",
            "elapsed_ms",
            "program",
            "rounds",
            "rows",
            "memory_bytes"
        ])
    );
    let until = Instant::now() + PATIENCE;
    let is_far = |row: &Json| (8..11).all(|column| row[column].as_u64() > Some(0));
    let mut rows = wait_for_requests(&mut admin, 2).await;
    while !rows.iter().all(is_far) {
        assert!(Instant::now() < until, "{rows:?}");
        rows = wait_for_requests(&mut admin, 2).await;
    }
    let of_ada = rows.iter().find(|row| row[1] == "ada").expect("ada's request");
    assert_eq!(
        (&of_ada[2], &of_ada[4], &of_ada[7]),
        (&json!("default"), &json!("running"), &json!("?n(X), X > 5"))
    );
    assert!(of_ada[3].as_str().is_some_and(|session| session.len() == 36), "{of_ada}");
    let stopped = admin.rows(&format!(".query kill {}", of_ada[0])).await;
    assert_eq!(stopped, json!([[format!("stopped request {} of ada", of_ada[0])]]));
    let reply = ada.receive_json().await;
    assert_eq!((&reply["code"], &reply["id"]), (&json!("cancelled"), &json!("a")), "{reply}");
    assert_eq!(reply["message"], "an administrator stopped the request");
    assert_eq!(ada.rows("+after(1)\n?after(X)").await, json!([[1]]));
    let rows = wait_for_requests(&mut admin, 1).await;
    assert_eq!(rows[0][1], "bob");
    let reply = admin.execute(&format!(".query kill {}", of_ada[0])).await;
    assert_eq!(reply["code"], "not_found", "{reply}");
    assert_eq!(admin.execute(".query kill x").await["code"], "not_found");
    for command in [".query list", ".query kill 1"] {
        assert_eq!(ada.execute(command).await["code"], "access_denied");
    }
    until_logged(&server, "of ada stopped").await;
}

#[tokio::test]
async fn a_listed_program_shows_no_password() {
    let server = Server::start_with(&[("SERVICE_LOGGING__SLOW_QUERY_MS", "1")]);
    let mut admin = server.log_in().await;
    let mut other = server.log_in().await;
    // Making a hash takes a while.
    other.send_json(json!({"type": "execute", "program": ".user create eve s3cret-s3cret viewer"})).await;
    let mut seen = Vec::new();
    let reply = loop {
        seen.extend(listed(&mut admin).await);
        if let Some(reply) = other.receive_within(Duration::from_millis(1)).await {
            break reply;
        }
    };
    assert!(matches!(&reply, Answer::Text(json) if json["type"] == "result"), "{reply:?}");
    assert!(
        seen.iter().any(|row| row[7].as_str().is_some_and(|text| text.starts_with(".user create eve ***")))
    );
    assert!(!seen.iter().any(|row| row.to_string().contains("s3cret")));
    until_logged(&server, ".user create eve ***").await;
    let log = server.log();
    assert!(log.contains("a slow query") && !log.contains("s3cret"), "{log}");
}

#[tokio::test]
async fn all_queries_together_have_so_much_memory() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__QUERY_MEMORY_BYTES", "1000000000"),
        ("SERVICE_LIMITS__TOTAL_MEMORY_BYTES", "60000000"),
    ]);
    let mut admin = server.log_in().await;
    let key = admin.new_key("ops").await;
    let numbers: Vec<String> = (0..3000).map(|i| format!("({i})")).collect();
    admin.rows(&format!("+a[{}]", numbers.join(","))).await;
    admin.rows("+all(X, Y) <- a(X), a(Y)").await;
    admin.rows("+some(X, Y) <- a(X), a(Y), X < 200").await;
    let reply = admin.execute("?all(X, Y)").await;
    assert_eq!((&reply["type"], &reply["code"]), (&json!("error"), &json!("overloaded")), "{reply}");
    assert_eq!(reply["limit"], json!({"name": "total_memory_bytes", "value": 60_000_000}));
    assert!(reply["help"].is_string() && reply["retry_after_ms"].is_u64(), "{reply}");
    // One of these fits; what one has used is there again for the next.
    for _ in 0..5 {
        let reply = admin.execute("+size(count<X>) <- some(X, Y)\n?size(N)").await;
        assert_eq!(reply["type"], "result", "{reply}");
    }
    let (_, _, body) = server.get_with("/metrics", &format!("Authorization: Bearer {key}\r\n"));
    let memory = serde_json::from_str::<Json>(&body).expect("JSON")["data"]["memory_usage_bytes"].as_u64();
    assert!(
        memory.is_some_and(|bytes| bytes < 20_000_000),
        "nothing runs, and yet {memory:?} bytes are in use"
    );
}

#[tokio::test]
async fn streams_that_come_in_share_the_memory_of_all() {
    let server = Server::start_with(&[("SERVICE_LIMITS__TOTAL_MEMORY_BYTES", "8000000")]);
    let mut connection = server.log_in().await;
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2_000_000));
    let batch = RecordBatch::try_from_iter([("n", column)]).expect("a batch");
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a stream");
    writer.write(&batch).expect("written");
    let stream = writer.into_inner().expect("the end is written");
    for (bytes, code) in [(stream.as_slice(), "overloaded"), (&stream[..7_000_000], "invalid_message")] {
        // The second one only ends too early: what the first one took is free again.
        connection.send_json(json!({"type": "insert", "relation": "t", "format": "arrow", "id": 1})).await;
        for frame in bytes.chunks(1 << 20) {
            connection.send(Message::binary(frame.to_vec())).await;
        }
        connection.send_json(json!({"type": "execute", "program": ".rel", "id": 2})).await;
        let reply = connection.receive_json().await;
        assert_eq!((&reply["code"], &reply["id"]), (&json!(code), &json!(1)), "{reply}");
        let after = connection.receive_json().await;
        assert_eq!((&after["rows"], &after["id"]), (&json!([]), &json!(2)), "{after}");
    }
}

/// The beginning of a text message that never ends.
fn unfinished(bytes: usize, kind: Data) -> Message {
    Message::Frame(Frame::message(vec![b' '; bytes], OpCode::Data(kind), false))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_on_their_way_share_the_memory_of_all() {
    let server = Server::start_with(&[("SERVICE_LIMITS__TOTAL_MEMORY_BYTES", "60000000")]);
    let mut admin = server.log_in().await;
    admin.rows("+edge[(1,2),(2,3)]").await;
    // A message that would become too large when it is read is refused, by its id, and the connection goes on.
    let long = format!("?edge(1, X) // {}", "x".repeat(8_000_000));
    let reply = admin.ask(json!({"type": "execute", "program": long, "id": "long"})).await;
    assert_eq!((&reply["code"], &reply["id"]), (&json!("overloaded"), &json!("long")), "{reply}");
    assert_eq!(reply["limit"], json!({"name": "total_memory_bytes", "value": 60_000_000}));
    assert!(reply["help"].is_string() && reply["retry_after_ms"].is_u64(), "{reply}");
    let before = server.resident();
    let mut pending = Vec::new();
    for _ in 0..60 {
        let mut connection = server.log_in().await;
        // Pings between its pieces do not make it shorter.
        for kind in [Data::Text, Data::Continue, Data::Continue] {
            connection.send(unfinished(1_000_000, kind)).await;
            connection.send(Message::Ping(Vec::new().into())).await;
        }
        pending.push(connection);
    }
    let mut refused = 0;
    for connection in &mut pending {
        if let Some(frame) = connection.receive_within(Duration::from_millis(50)).await {
            let Answer::Text(error) = frame else { panic!("{frame:?}") };
            assert_eq!(error["code"], "overloaded", "{error}");
            assert!(error["help"].is_string() && error["retry_after_ms"].is_u64(), "{error}");
            assert_eq!(connection.closed(&[]).await, Some(1008));
            refused += 1;
        }
    }
    assert!(refused >= 60 - 20, "only {refused} of 60 messages were refused");
    let grown = server.resident().saturating_sub(before);
    assert!(grown < 300_000_000, "the server grew by {grown} bytes");
    // Those who ask something small are answered meanwhile or told when to come back, and what was taken is given back.
    assert_eq!(admin.ask(json!({"type": "ping"})).await["type"], "pong");
    drop(pending);
    let until = Instant::now() + PATIENCE;
    let short = format!("?edge(1, X) // {}", "x".repeat(2_000_000));
    loop {
        let reply = admin.execute(&short).await;
        if reply["type"] == "result" {
            break;
        }
        assert!(reply["code"] == "overloaded" && Instant::now() < until, "{reply}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Processor time of the server so far.
fn processor_time(server: &Server) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", server.pid())).expect("the server runs");
    let after_name = stat.rsplit_once(')').expect("the name stands in parentheses").1;
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    // utime and stime, in ticks of 10 ms.
    let ticks: u64 = fields[11..13].iter().map(|ticks| ticks.parse::<u64>().expect("a number")).sum();
    Duration::from_millis(ticks * 10)
}

/// How much processor time the server takes in a while.
async fn load(server: &Server, time: Duration) -> Duration {
    let before = processor_time(server);
    tokio::time::sleep(time).await;
    processor_time(server) - before
}

#[tokio::test]
async fn a_rule_without_end_is_stopped_at_its_limit_and_its_work_is_gone() {
    let server = Server::start_with(&[("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "5000")]);
    let mut admin = server.log_in().await;
    admin.rows("+edge[(1,2),(2,3)]").await;
    let mut mallory = user(&server, &mut admin, "mallory").await;
    let mut ada = user(&server, &mut admin, "ada").await;
    define_divergence(&mut mallory).await;
    mallory.send_json(json!({"type": "execute", "program": ENDLESS, "id": 1})).await;
    wait_for_requests(&mut admin, 1).await;
    while load(&server, Duration::from_millis(20)).await == Duration::ZERO {
        // It has not begun, or the machine has no time for it.
    }
    let mut answers = 0;
    let error = loop {
        assert_eq!(ada.rows("?edge(1, X)").await, json!([[1, 2]]));
        answers += 1;
        if let Some(frame) = mallory.receive_within(Duration::from_millis(1)).await {
            break frame;
        }
    };
    let Answer::Text(error) = error else { panic!("{error:?}") };
    assert_eq!((&error["code"], &error["id"]), (&json!("timeout"), &json!(1)), "{error}");
    assert_eq!(error["limit"], json!({"name": "query_timeout_ms", "value": 5000}));
    assert!(error["help"].is_string());
    assert!(answers >= 5, "ada was answered {answers} times meanwhile");
    assert_eq!(listed(&mut admin).await, Vec::<Json>::new());
    // Soon after its end nothing is left of it: what went on would take all of the time.
    let until = Instant::now() + PATIENCE;
    while load(&server, Duration::from_millis(500)).await > Duration::from_millis(50) {
        assert!(Instant::now() < until, "the server is busy with nothing");
    }
    // Its memory limit, if that is less, stops it as well.
    let reply = mallory.execute("+m(X, Y) <- n(X), n(Y)\n?m(X, Y)").await;
    assert_eq!(reply["code"], "timeout", "{reply}");
}

#[tokio::test]
async fn one_users_long_requests_leave_places_to_others() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__MAX_CONCURRENT_QUERIES", "2"),
        ("SERVICE_LIMITS__MAX_SHORT_QUERIES", "2"),
        ("SERVICE_LIMITS__MAX_PAUSED_QUERIES", "4"),
        ("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "50000"),
    ]);
    let mut admin = server.log_in().await;
    define_divergence(&mut admin).await;
    let numbers: Vec<String> = (0..2000).map(|n| format!("({n})")).collect();
    admin.rows(&format!("+a[{}]", numbers.join(","))).await;
    admin.rows("+busy(count<X>) <- a(X), a(Y), X + Y * 2 > 7").await;
    let mut ada = user(&server, &mut admin, "ada").await;
    admin.rows(".user create eve eve-password editor").await;
    let mut eves = Vec::new();
    for _ in 0..12 {
        let mut eve = server.log_in_as("eve", "eve-password").await;
        eve.send_json(json!({"type": "execute", "program": ENDLESS})).await;
        eves.push(eve);
    }
    // She may have one of the two long places, and all of those that wait: as many are told that there is none.
    wait_for_requests(&mut admin, 5).await;
    for _ in 0..3 {
        let reply = ada.execute("?busy(N)").await;
        assert_eq!(reply["type"], "result", "{reply}");
    }
    let mut refused = 0;
    for eve in &mut eves {
        if let Some(Answer::Text(reply)) = eve.receive_within(Duration::from_millis(20)).await {
            assert_eq!(reply["code"], "overloaded", "{reply}");
            assert!(reply["retry_after_ms"].is_u64(), "{reply}");
            refused += 1;
        }
    }
    assert!(refused >= 7, "{refused} of 12 were refused");
}

#[tokio::test]
async fn all_requests_of_one_user_have_so_much_memory() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__QUERY_MEMORY_BYTES", "1000000000"),
        ("SERVICE_LIMITS__TOTAL_MEMORY_BYTES", "1000000000"),
        ("SERVICE_LIMITS__USER__MEMORY_BYTES", "20000000"),
    ]);
    let mut admin = server.log_in().await;
    let numbers: Vec<String> = (0..2000).map(|n| format!("({n})")).collect();
    admin.rows(&format!("+a[{}]", numbers.join(","))).await;
    admin.rows("+all(X, Y) <- a(X), a(Y)").await;
    let mut ada = user(&server, &mut admin, "ada").await;
    let reply = ada.execute("+size(count<X>) <- all(X, Y)\n?size(N)\n?all(X, Y)").await;
    assert_eq!(reply["code"], "limit_exceeded", "{reply}");
    assert_eq!(reply["limit"], json!({"name": "user.memory_bytes", "value": 20_000_000}));
    assert_eq!(admin.all_rows("?all(X, Y), X < 500").await.len(), 1_000_000);
    assert_eq!(ada.rows("?a(7)").await, json!([[7]]));
}

/// A rule of a session that takes so many bytes.
fn long_rule(name: &str, bytes: usize) -> String {
    format!("{name}(X) <- a(X), X != \"{}\"", "x".repeat(bytes))
}

#[tokio::test]
async fn facts_and_rules_of_sessions_have_so_much_memory() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__MAX_SESSION_BYTES", "2000000"),
        ("SERVICE_LIMITS__USER__SESSION_MEMORY_BYTES", "3000000"),
        ("SERVICE_LIMITS__SESSION_MEMORY_BYTES", "5000000"),
        ("SERVICE_HTTP__SESSION_GRACE_MS", "0"),
    ]);
    let mut admin = server.log_in().await;
    let key = admin.new_key("ops").await;
    let held = || {
        let (_, _, body) =
            server.get_with("/metrics/prometheus", &format!("Authorization: Bearer {key}\r\n"));
        let line = body.lines().find_map(|line| line.strip_prefix("service_ephemeral_bytes "));
        line.and_then(|number| number.parse::<u64>().ok()).expect("a number")
    };
    admin.rows("+a[(1),(2)]").await;
    admin.rows(".user create ada ada-password editor\n.user create bob bob-password viewer").await;
    assert_eq!(held(), 0);
    let limit = |reply: &Json| (reply["code"].clone(), reply["limit"]["name"].clone());
    let mut one = server.log_in_as("ada", "ada-password").await;
    one.rows(&long_rule("r1", 900_000)).await;
    one.rows(&long_rule("r2", 900_000)).await;
    assert!(held() > 1_800_000, "{}", held());
    // A session, in whatever way it asks.
    let reply = one.execute(&long_rule("r3", 900_000)).await;
    assert_eq!(limit(&reply), (json!("limit_exceeded"), json!("max_session_bytes")), "{reply}");
    let text = "y".repeat(900_000);
    let fact = format!("f(\"{text}\")");
    let reply = one.execute(&fact).await;
    assert_eq!(limit(&reply), (json!("limit_exceeded"), json!("max_session_bytes")), "{reply}");
    assert_eq!(one.rows("?r1(X)").await, json!([[1], [2]]), "what was there is there");
    // All sessions of a user.
    let mut two = server.log_in_as("ada", "ada-password").await;
    two.rows(&fact).await;
    let reply = two.execute(&long_rule("r1", 900_000)).await;
    assert_eq!(limit(&reply), (json!("limit_exceeded"), json!("user.session_memory_bytes")), "{reply}");
    assert!(reply["message"].as_str().is_some_and(|text| text.contains("3000000 bytes")), "{reply}");
    // All sessions.
    let mut bob = server.log_in_as("bob", "bob-password").await;
    bob.rows(&long_rule("r1", 900_000)).await;
    bob.rows(&long_rule("r2", 900_000)).await;
    let mut more = server.log_in_as("bob", "bob-password").await;
    let reply = more.execute(&long_rule("r1", 900_000)).await;
    assert_eq!(limit(&reply), (json!("overloaded"), json!("session_memory_bytes")), "{reply}");
    // What is cleared, or goes with its session, is there for others.
    two.rows(".session clear").await;
    more.rows(&long_rule("r1", 900_000)).await;
    drop((one, two, bob, more));
    let until = Instant::now() + PATIENCE;
    while held() > 0 {
        assert!(Instant::now() < until, "{} bytes are held by nobody", held());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
