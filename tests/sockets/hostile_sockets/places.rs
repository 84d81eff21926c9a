//! Those who take all places there are, or keep theirs without ever reading.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::times::PATIENCE;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// As few connections as a test can fill.
const CONNECTIONS: (&str, &str) = ("SERVICE_HTTP__RATE_LIMIT__MAX_CONNECTIONS", "20");

async fn idle(server: &Server, address: &str, count: usize) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for _ in 0..count {
        held.push(server.tcp_from(address).await);
    }
    held
}

fn code(body: &str) -> String {
    let body: Json = serde_json::from_str(body).expect("JSON");
    assert_eq!(body["success"], false, "{body}");
    body["error"]["code"].as_str().expect("a code").to_owned()
}

/// A user who is no administrator.
async fn create_ada(admin: &mut Connection) {
    admin.rows(".user create ada ada-password viewer").await;
}

async fn log_in_ada(connection: &mut Connection) -> Json {
    connection.log_in_as("ada", "ada-password").await
}

#[tokio::test]
async fn probes_and_administrators_are_answered_whatever_one_address_holds() {
    let server = Server::start_with(&[CONNECTIONS]);
    let mut first = server.log_in().await;
    create_ada(&mut first).await;
    // They say nothing, and there are many more than places.
    let _held = idle(&server, "127.0.0.1", 200).await;
    let (status, head, body) = server.get("/metrics");
    assert_eq!((status, code(&body).as_str()), (503, "SERVICE_UNAVAILABLE"));
    assert!(head.contains("retry-after: 1"), "{head}");
    for path in ["/live", "/ready", "/health", "/v1/live"].iter().cycle().take(40) {
        let (status, _, body) = server.get(path);
        assert_eq!(status, 200, "{path}: {body}");
    }
    let mut ada = server.connect().await;
    let refused = log_in_ada(&mut ada).await;
    assert_eq!((&refused["type"], &refused["code"]), (&json!("error"), &json!("overloaded")), "{refused}");
    assert_eq!(refused["limit"], json!({"name": "max_connections", "value": 20}));
    assert!(refused["retry_after_ms"].is_u64(), "{refused}");
    assert_eq!(ada.closed(&[]).await, Some(1013));
    let mut admin = server.log_in().await;
    let _more = idle(&server, "127.0.0.1", 200).await;
    assert_eq!(admin.rows("+a(1)\n?a(X)").await, json!([[1]]), "she stays, whoever comes");
}

#[tokio::test]
async fn who_is_silent_without_a_place_is_told_why() {
    let server = Server::start_with(&[CONNECTIONS]);
    let _held = idle(&server, "127.0.0.1", 20).await;
    let mut silent = idle(&server, "127.0.0.1", 100).await;
    for (n, stream) in silent.iter_mut().enumerate() {
        let mut answer = String::new();
        let read = tokio::time::timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
        read.expect("it is told").expect("it can be read");
        assert!(
            answer.starts_with("HTTP/1.1 503 ") && answer.contains("SERVICE_UNAVAILABLE"),
            "{n}: {answer}"
        );
    }
}

#[tokio::test]
async fn an_address_has_so_many_connections() {
    let server = Server::start_with(&[("SERVICE_HTTP__RATE_LIMIT__MAX_CONNECTIONS_PER_ADDRESS", "5")]);
    let mut admin = server.log_in().await;
    create_ada(&mut admin).await;
    let held = idle(&server, "127.0.0.2", 5).await;
    let mut sixth = server.tcp_from("127.0.0.2").await;
    sixth.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("sent");
    let mut answer = String::new();
    sixth.read_to_string(&mut answer).await.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 429 ") && answer.contains("RATE_LIMITED"), "{answer}");
    let mut refused = server.connect_from("127.0.0.2").await.expect("administrators may come");
    let reply = log_in_ada(&mut refused).await;
    assert_eq!(reply["limit"], json!({"name": "max_connections_per_address", "value": 5}), "{reply}");
    // Others have places of their own, and this one again when it has closed some.
    assert_eq!(log_in_ada(&mut server.connect().await).await["type"], "authenticated");
    drop(held);
    let until = Instant::now() + PATIENCE;
    loop {
        let mut again = server.connect_from("127.0.0.2").await.expect("a connection");
        if log_in_ada(&mut again).await["type"] == "authenticated" {
            break;
        }
        assert!(Instant::now() < until, "the places are never free again");
    }
}

#[tokio::test]
async fn places_that_are_kept_are_for_administrators() {
    let server = Server::start_with(&[
        ("SERVICE_HTTP__RATE_LIMIT__MAX_WS_CONNECTIONS", "1"),
        ("SERVICE_HTTP__RATE_LIMIT__KEPT_FOR_ADMINISTRATORS", "1"),
    ]);
    let mut first = server.log_in().await;
    create_ada(&mut first).await;
    let reply = log_in_ada(&mut server.connect().await).await;
    assert_eq!(reply["limit"], json!({"name": "max_ws_connections", "value": 1}), "{reply}");
    let mut admin = server.log_in().await;
    assert_eq!(admin.ask(json!({"type": "ping"})).await["type"], "pong");
    let mut third = server.connect().await;
    assert_eq!(third.log_in(stratalog_tests::server::PASSWORD).await["code"], "overloaded");
    assert_eq!(third.closed(&[]).await, Some(1013));
}

#[tokio::test]
async fn a_user_has_so_many_connections_and_graphs() {
    let server = Server::start_with(&[
        ("SERVICE_LIMITS__USER__MAX_SOCKETS", "2"),
        ("SERVICE_LIMITS__USER__MAX_GRAPHS", "1"),
    ]);
    let mut admin = server.log_in().await;
    admin.rows(".user create ada ada-password editor").await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut connection = server.connect().await;
        assert_eq!(log_in_ada(&mut connection).await["type"], "authenticated");
        held.push(connection);
    }
    let mut third = server.connect().await;
    let refused = log_in_ada(&mut third).await;
    assert_eq!(refused["code"], "limit_exceeded", "{refused}");
    assert_eq!(refused["limit"], json!({"name": "user.max_sockets", "value": 2}));
    assert_eq!(third.closed(&[]).await, Some(1008));
    for _ in 0..3 {
        server.log_in().await;
    }
    let ada = &mut held[0];
    ada.rows(".kg create one").await;
    let refused = ada.execute(".kg create two").await;
    assert_eq!(refused["code"], "limit_exceeded", "{refused}");
    assert_eq!(refused["limit"], json!({"name": "user.max_graphs", "value": 1}));
    ada.rows(".kg use default").await;
    ada.rows(".kg drop one").await;
    ada.rows(".kg create two").await;
    admin.rows(".kg create three").await;
    admin.rows(".kg create four").await;
}

/// A million rows, which no buffer holds.
async fn million(connection: &mut Connection) -> &'static str {
    let numbers: Vec<String> = (0..1000).map(|n| format!("({n})")).collect();
    connection.rows(&format!("+a[{}]", numbers.join(","))).await;
    connection.rows("+all(X, Y) <- a(X), a(Y)").await;
    "?all(X, Y)"
}

fn metric(server: &Server, key: &str, name: &str) -> u64 {
    let (_, _, body) = server.get_with("/metrics/prometheus", &format!("Authorization: Bearer {key}\r\n"));
    let line = body.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("{name} in {body}"))
}

#[tokio::test]
async fn who_never_reads_an_answer_loses_the_place() {
    let server = Server::start_with(&[("SERVICE_HTTP__SEND_TIMEOUT_MS", "1000")]);
    let mut admin = server.log_in().await;
    let key = admin.new_key("ops").await;
    let question = million(&mut admin).await;
    let mut silent = Vec::new();
    for _ in 0..3 {
        let mut connection = server.connect_narrow("/ws").await;
        assert_eq!(connection.log_in(stratalog_tests::server::PASSWORD).await["type"], "authenticated");
        connection.send_json(json!({"type": "execute", "program": question})).await;
        silent.push(connection);
    }
    // Requests over HTTP whose answers are not read either.
    let mut pipelined = server.tcp_from("127.0.0.1").await;
    let request = b"GET /api/ws-docs/nothing HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000);
    let until = Instant::now() + PATIENCE;
    let flood = async { while pipelined.write_all(&request).await.is_ok() {} };
    tokio::time::timeout(PATIENCE, flood).await.expect("it is ended");
    while metric(&server, &key, "service_websockets") > 1 {
        assert!(Instant::now() < until, "those who never read keep their places");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(admin.rows("?a(1)").await, json!([[1]]));
}

#[tokio::test]
async fn who_reads_slowly_gets_all_of_the_answer() {
    let server = Server::start_with(&[("SERVICE_HTTP__SEND_TIMEOUT_MS", "2000")]);
    let mut admin = server.log_in().await;
    let question = million(&mut admin).await;
    let mut slow = server.log_in().await;
    slow.send_json(json!({"type": "execute", "program": question})).await;
    let (start, mut rows) = (Instant::now(), 0);
    loop {
        let frame = slow.receive_json().await;
        rows += frame["rows"].as_array().map_or(0, Vec::len);
        match frame["type"].as_str() {
            Some("result_end") => break,
            Some("result_start" | "result_chunk") => tokio::time::sleep(Duration::from_millis(4)).await,
            _ => panic!("{frame}"),
        }
    }
    assert_eq!(rows, 1_000_000);
    assert!(start.elapsed() > Duration::from_millis(2000), "it was read in {:?}", start.elapsed());
}
