//! Requests that end before they are done.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use stratalog_tests::server::Server;
use stratalog_tests::times::PATIENCE;

use super::{DIVERGE, assert_error, define_divergence, start};

#[tokio::test]
async fn cancel_stops_a_running_query() {
    let (_server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    connection.send_json(json!({"type": "execute", "program": DIVERGE, "id": "forever"})).await;
    assert_eq!(connection.receive_within(Duration::from_millis(500)).await, None);
    connection.send_json(json!({"type": "cancel", "target": "forever", "id": 9})).await;
    let replies = [connection.receive_json().await, connection.receive_json().await];
    let of = |id: Json| replies.iter().find(|reply| reply["id"] == id).expect("a reply to each");
    assert_error(of(json!("forever")), "cancelled");
    let cancelled = of(json!(9));
    assert_eq!((&cancelled["columns"], &cancelled["rows"]), (&json!(["cancelled"]), &json!([[true]])));
    let late = connection.ask(json!({"type": "cancel", "target": "forever"})).await;
    assert_eq!(late["rows"], json!([[false]]));
    assert_eq!(connection.rows("+after(1)\n?after(X)").await, json!([[1]]));
}

#[tokio::test]
async fn cancel_stops_a_request_that_waits() {
    let (_server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    connection.send_json(json!({"type": "execute", "program": DIVERGE, "id": 1})).await;
    connection.send_json(json!({"type": "execute", "program": "+never(1)", "id": 2})).await;
    connection.send_json(json!({"type": "ping", "id": 3})).await;
    assert_eq!(connection.receive_json().await, json!({"type": "pong", "id": 3}));
    connection.send_json(json!({"type": "cancel", "target": 2, "id": 4})).await;
    connection.send_json(json!({"type": "cancel", "target": 1, "id": 5})).await;
    let mut replies = Vec::new();
    for _ in 0..4 {
        replies.push(connection.receive_json().await);
    }
    for (id, code) in [(1, "cancelled"), (2, "cancelled")] {
        assert_error(replies.iter().find(|reply| reply["id"] == id).expect("a reply to each"), code);
    }
    assert_error(&connection.execute("?never(X)").await, "unknown_relation");
}

#[tokio::test]
async fn a_request_may_have_less_time_than_the_server_allows() {
    let (_server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    let reply =
        connection.ask(json!({"type": "execute", "program": DIVERGE, "timeout_ms": 200, "id": 1})).await;
    assert_error(&reply, "timeout");
    assert_eq!(reply["id"], 1);
    assert_eq!(reply["limit"], json!({"name": "query_timeout_ms", "value": 200}));
    assert_eq!(connection.rows("+after(1)\n?after(X)").await, json!([[1]]));
}

#[tokio::test]
async fn a_query_ends_when_its_client_leaves() {
    let mut server = Server::start_with(&[("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "600000")]);
    let mut connection = server.log_in().await;
    define_divergence(&mut connection).await;
    // As many as could fill every place for queries if they went on.
    for _ in 0..10 {
        let mut leaving = server.log_in().await;
        leaving.send_json(json!({"type": "execute", "program": DIVERGE})).await;
        drop(leaving);
    }
    // Long before their own time is over.
    let until = Instant::now() + PATIENCE;
    while connection.rows(".query list").await.as_array().expect("rows").len() > 1 {
        assert!(Instant::now() < until, "they go on");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(connection.rows("+after(1)\n?after(X)").await, json!([[1]]));
    assert!(server.is_running());
}
