//! What may be sent, and how replies find their requests.

use serde_json::json;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::{assert_error, start};

#[tokio::test]
async fn bad_messages_are_refused_and_the_connection_lives() {
    let (_server, mut connection) = start().await;
    let bad = [
        "{",
        "",
        "7",
        "[]",
        r#"{"program":"?a(X)"}"#,
        r#"{"type":7}"#,
        r#"{"type":"query","program":"?a(X)"}"#,
        r#"{"type":"execute"}"#,
        r#"{"type":"execute","program":5}"#,
        r#"{"type":"execute","program":"?a(X)","format":"xml"}"#,
        r#"{"type":"execute","program":"?a(X)","timeout_ms":-1}"#,
        r#"{"type":"insert","relation":"a"}"#,
        r#"{"type":"cancel"}"#,
        r#"{"type":"ping","id":1.5}"#,
    ];
    for text in bad {
        connection.send(Message::text(text)).await;
        let reply = connection.receive_json().await;
        assert_error(&reply, "invalid_message");
    }
    let reply = connection.ask(json!({"type": "execute", "id": 42})).await;
    assert_error(&reply, "invalid_message");
    assert_eq!(reply["id"], 42);
    assert_eq!(connection.ask(json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test]
async fn a_binary_frame_that_was_not_announced_does_no_harm() {
    let (_server, mut connection) = start().await;
    connection.send(Message::binary(vec![1, 2, 3])).await;
    connection.send_json(json!({"type": "ping", "id": "after"})).await;
    loop {
        let reply = connection.receive_json().await;
        if reply == json!({"type": "pong", "id": "after"}) {
            break;
        }
        assert_error(&reply, "invalid_message");
    }
}

#[tokio::test]
async fn what_is_for_a_database_of_the_same_process_is_refused() {
    let (_server, mut connection) = start().await;
    connection.execute("+edge(1, 2)").await;
    let program = json!({"type": "execute", "program": "?edge(X, Y)", "format": "arrow", "in_place": true});
    assert_error(&connection.ask(program).await, "invalid_message");
    // Nobody has left anything here, and no frame names it.
    let frame = [b"deposit:".as_slice(), &1_u64.to_le_bytes()].concat();
    let insert = json!({"type": "insert", "relation": "edge", "format": "arrow", "id": 7});
    connection.send_json(insert).await;
    connection.send(Message::binary(frame)).await;
    // To others it is the beginning of a stream, and the next message breaks that off.
    connection.send_json(json!({"type": "execute", "program": "?edge(X, Y)"})).await;
    assert_error(&connection.receive_json().await, "invalid_message");
    assert_eq!(connection.receive_json().await["row_count"], 1);
}

#[tokio::test]
async fn unknown_fields_are_ignored() {
    let (_server, mut connection) = start().await;
    let message = json!({"type": "execute", "program": "+a(1)", "surplus": {"deep": [1]}, "params": null});
    assert_eq!(connection.ask(message).await["type"], "result");
}

#[tokio::test]
async fn websocket_pings_are_answered() {
    let (_server, mut connection) = start().await;
    connection.send(Message::Ping(Bytes::from_static(b"x"))).await;
    assert_eq!(connection.ask(json!({"type": "ping"})).await, json!({"type": "pong"}));
}

#[tokio::test]
async fn ids_come_back_as_they_were_sent() {
    let (_server, mut connection) = start().await;
    connection.rows("+a(1)").await;
    for id in [json!(1), json!(-7), json!(i64::MAX), json!("text"), json!("é\"\n"), json!("")] {
        let pong = connection.ask(json!({"type": "ping", "id": id})).await;
        assert_eq!(pong, json!({"type": "pong", "id": id}));
        let result = connection.ask(json!({"type": "execute", "program": "?a(X)", "id": id})).await;
        assert_eq!((&result["type"], &result["id"]), (&json!("result"), &id));
        let error = connection.ask(json!({"type": "execute", "program": "?b(X)", "id": id})).await;
        assert_eq!((&error["type"], &error["id"]), (&json!("error"), &id));
    }
    assert!(connection.execute("?a(X)").await.get("id").is_none());
    let long = "x".repeat(129);
    assert_error(&connection.ask(json!({"type": "ping", "id": long})).await, "invalid_message");
}

#[tokio::test]
async fn replies_come_in_the_order_of_the_requests() {
    let (_server, mut connection) = start().await;
    for n in 0..50 {
        connection.send_json(json!({"type": "execute", "program": format!("+a({n})"), "id": n})).await;
    }
    for n in 0..50 {
        assert_eq!(connection.receive_json().await["id"], n);
    }
    assert_eq!(connection.rows("?a(X)").await.as_array().map(Vec::len), Some(50));
}
