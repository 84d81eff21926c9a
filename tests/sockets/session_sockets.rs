//! `/sessions/ID/ws`: another socket on a session, who may have it, and how long a session waits for its client.

use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Frame, PASSWORD, Server};
use tokio_tungstenite::tungstenite;

/// The password of every user but `admin`.
const LACE: &str = "lace-1815";

/// A connection of a user, with the id of its session.
async fn open(server: &Server, user: &str, password: &str) -> (Connection, String) {
    let mut connection = server.connect().await;
    let reply = connection.log_in_as(user, password).await;
    assert_eq!(reply["type"], "authenticated", "{reply}");
    let id = reply["session_id"].as_str().expect("an id").to_owned();
    (connection, id)
}

/// Another socket on a session, and what the server says to this user.
async fn attach(server: &Server, id: &str, user: &str, password: &str) -> (Connection, Json) {
    let mut connection =
        server.connect_to(&format!("/sessions/{id}/ws")).await.expect("the session is there");
    let reply = connection.log_in_as(user, password).await;
    (connection, reply)
}

/// The HTTP status with which a session's socket is refused.
async fn refused(server: &Server, id: &str) -> u16 {
    match server.connect_to(&format!("/sessions/{id}/ws")).await {
        Err(tungstenite::Error::Http(response)) => response.status().as_u16(),
        other => panic!("{:?}", other.map(|_| "connected")),
    }
}

/// Waits until a session is gone.
async fn gone(server: &Server, id: &str) {
    for _ in 0..200 {
        if server.connect_to(&format!("/sessions/{id}/ws")).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the session is still there");
}

async fn with_users() -> (Server, Connection) {
    with_users_and(&[]).await
}

async fn with_users_and(settings: &[(&str, &str)]) -> (Server, Connection) {
    let server = Server::start_with(settings);
    let mut admin = server.log_in().await;
    for user in ["ada", "bob"] {
        admin.rows(&format!(".user create {user} {LACE} editor")).await;
    }
    (server, admin)
}

#[tokio::test]
async fn two_sockets_share_one_session() {
    let (server, _admin) = with_users().await;
    let (mut first, id) = open(&server, "ada", LACE).await;
    first.rows("own(1)").await;
    let (mut second, greeting) = attach(&server, &id, "ada", LACE).await;
    assert_eq!(greeting["type"], "authenticated");
    assert_eq!(greeting["session_id"], *id);
    assert_eq!(greeting["knowledge_graph"], "default");
    assert_eq!(greeting["role"], "editor");
    assert_eq!(second.rows("?own(X)").await, json!([[1]]));
    second.rows("own(2)").await;
    assert_eq!(first.rows("?own(X:asc)").await, json!([[1], [2]]));
    // The session and its first socket stay when the second goes.
    drop(second);
    assert_eq!(first.rows("?own(X:asc)").await, json!([[1], [2]]));
    first.rows(".kg create lab").await;
    let (_third, greeting) = attach(&server, &id, "ada", LACE).await;
    assert_eq!(greeting["knowledge_graph"], "lab");
}

#[tokio::test]
async fn only_its_user_and_administrators_get_a_session() {
    let (server, _admin) = with_users().await;
    let (mut ada, id) = open(&server, "ada", LACE).await;
    ada.rows("own(1)").await;
    let (mut bob, refusal) = attach(&server, &id, "bob", LACE).await;
    assert_eq!((&refusal["type"], &refusal["code"]), (&json!("error"), &json!("access_denied")), "{refusal}");
    assert_eq!(bob.next().await, Frame::Closed(Some(1008)));
    let (mut admin, greeting) = attach(&server, &id, "admin", PASSWORD).await;
    assert_eq!((&greeting["type"], &greeting["role"]), (&json!("authenticated"), &json!("admin")));
    assert_eq!(admin.rows("?own(X)").await, json!([[1]]));
    // Each acts with their own rights, on the same session.
    assert_eq!(admin.execute(".user list").await["type"], "result");
    assert_eq!(ada.execute(".user list").await["code"], "access_denied");
    // Without credentials there is nothing to be had.
    let mut nobody = server.connect_to(&format!("/sessions/{id}/ws")).await.expect("a connection");
    assert_eq!(nobody.execute("?own(X)").await["type"], "auth_error");
    assert_eq!(nobody.closed(&[]).await, Some(1008));
    let (_, wrong) = attach(&server, &id, "ada", "wrong").await;
    assert_eq!(wrong["type"], "auth_error");
}

#[tokio::test]
async fn a_session_that_does_not_exist_is_404() {
    let server = Server::start();
    for id in ["7", "x", "00000000-0000-4000-8000-000000000000"] {
        assert_eq!(refused(&server, id).await, 404);
        let (status, head, body) = server.get(&format!("/v1/sessions/{id}/ws"));
        assert_eq!(status, 404);
        assert!(head.contains("content-type: application/json"), "{head}");
        assert!(body.contains("\"NOT_FOUND\""), "{body}");
    }
    let (_owner, id) = open(&server, "admin", PASSWORD).await;
    assert_eq!(server.get(&format!("/sessions/{id}/ws")).0, 400, "no handshake");
}

#[tokio::test]
async fn the_messages_of_the_session_change_it_and_nothing_else() {
    let (server, mut admin) = with_users().await;
    admin.rows("+edge(1, 2)").await;
    let (_owner, id) = open(&server, "ada", LACE).await;
    let (mut ada, _) = attach(&server, &id, "ada", LACE).await;
    let insert = json!({"type": "insert_facts", "relation": "edge", "tuples": [[2, 3], [2, 4]], "id": 1});
    let reply = ada.ask(insert).await;
    assert_eq!((&reply["type"], &reply["id"]), (&json!("ack"), &json!(1)), "{reply}");
    let reply = ada.ask(json!({"type": "add_rule", "rule": "path(X, Z) <- edge(X, Y), edge(Y, Z)"})).await;
    assert_eq!(reply["type"], "ack", "{reply}");
    let reply = ada.ask(json!({"type": "query", "query": "?path(X, Y:asc)"})).await;
    assert_eq!(reply["rows"], json!([[1, 3], [1, 4]]), "{reply}");
    let reply =
        ada.ask(json!({"type": "retract_facts", "relation": "edge", "tuples": [[2, 4], [7, 7]]})).await;
    assert_eq!(reply["message"], "retracted 1 fact(s) from edge of this session");
    // A fact of the graph is not the session's to take away.
    ada.ask(json!({"type": "retract_facts", "relation": "edge", "tuples": [[1, 2]]})).await;
    assert_eq!(ada.rows("?path(X, Y)").await, json!([[1, 3]]));
    assert_eq!(admin.rows("?edge(X, Y)").await, json!([[1, 2]]));
    assert_eq!(ada.ask(json!({"type": "ping", "id": 9})).await, json!({"type": "pong", "id": 9}));
}

#[tokio::test]
async fn what_the_session_cannot_take_is_refused() {
    let (server, mut admin) = with_users().await;
    admin.rows("+person(name: string)").await;
    admin.rows(&format!(".user create eve {LACE} viewer")).await;
    let (mut ada, _) = open(&server, "ada", LACE).await;
    for (message, code) in [
        (json!({"type": "insert_facts", "relation": "person", "tuples": [[{"a": 1}]]}), "invalid_message"),
        (json!({"type": "insert_facts", "relation": "person", "tuples": [[1]]}), "type_mismatch"),
        (json!({"type": "insert_facts", "relation": "person", "tuples": [["a", "b"]]}), "arity_mismatch"),
        (json!({"type": "insert_facts", "relation": "__p", "tuples": [[1]]}), "parse_error"),
        (json!({"type": "insert_facts", "relation": "person"}), "invalid_message"),
        (json!({"type": "add_rule", "rule": "+p(X) <- person(X)"}), "parse_error"),
        (json!({"type": "add_rule", "rule": "p(X) <- person(X)\nq(X) <- p(X)"}), "parse_error"),
        (json!({"type": "add_rule", "rule": "?person(X)"}), "parse_error"),
        (json!({"type": "add_rule", "rule": ""}), "parse_error"),
        (json!({"type": "add_rule", "rule": "p(X, Y) <- person(X)"}), "unsafe_rule"),
    ] {
        let reply = ada.ask(message.clone()).await;
        assert_eq!(reply["type"], "error", "{message}: {reply}");
        assert_eq!(reply["code"], code, "{message}: {reply}");
    }
    // A viewer may have rules for herself, but no facts.
    let (mut eve, _) = open(&server, "eve", LACE).await;
    let facts = json!({"type": "insert_facts", "relation": "p", "tuples": [[1]]});
    assert_eq!(eve.ask(facts).await["code"], "access_denied");
    let rule = json!({"type": "add_rule", "rule": "p(X) <- person(X)"});
    assert_eq!(eve.ask(rule).await["type"], "ack");
}

#[tokio::test]
async fn a_session_waits_for_its_client_and_then_ends() {
    let (server, _admin) = with_users_and(&[("SERVICE_HTTP__SESSION_GRACE_MS", "2000")]).await;
    let (mut first, id) = open(&server, "ada", LACE).await;
    first.rows("own(1)").await;
    drop(first);
    let (mut again, greeting) = attach(&server, &id, "ada", LACE).await;
    assert_eq!(greeting["type"], "authenticated");
    assert_eq!(again.rows("?own(X)").await, json!([[1]]));
    // As long as a socket is on it, no time runs.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert_eq!(again.rows("?own(X)").await, json!([[1]]));
    drop(again);
    gone(&server, &id).await;
}

#[tokio::test]
async fn without_a_grace_time_a_session_ends_with_its_connection() {
    let (server, _admin) = with_users_and(&[("SERVICE_HTTP__SESSION_GRACE_MS", "0")]).await;
    let (first, id) = open(&server, "ada", LACE).await;
    drop(first);
    gone(&server, &id).await;
}

#[tokio::test]
async fn a_session_ends_with_the_password_key_or_user_that_opened_it() {
    let (server, mut admin) = with_users().await;
    let key = admin.new_key("ci").await;
    let (ada, adas) = open(&server, "ada", LACE).await;
    let (bob, bobs) = open(&server, "bob", LACE).await;
    let mut ci = server.connect().await;
    let keys = ci.authenticate(&key).await["session_id"].as_str().expect("an id").to_owned();
    // Admin is on ada's session when it ends.
    let (mut guest, _) = attach(&server, &adas, "admin", PASSWORD).await;
    drop((ada, bob, ci));
    admin.rows(".user password ada other-1815").await;
    admin.rows(".user drop bob").await;
    admin.rows(&format!(".user create bob {LACE} editor")).await;
    admin.rows(".apikey revoke ci").await;
    assert_eq!(guest.closed(&["error"]).await, Some(1008));
    for id in [adas, bobs, keys] {
        assert_eq!(refused(&server, &id).await, 404);
    }
}

#[tokio::test]
async fn an_idle_session_is_ended_and_told_so() {
    let settings = [("SERVICE_HTTP__SESSION_IDLE_MS", "1500"), ("SERVICE_HTTP__WS_IDLE_TIMEOUT_MS", "0")];
    let (server, _admin) = with_users_and(&settings).await;
    let (mut idle, id) = open(&server, "ada", LACE).await;
    let (mut busy, _) = open(&server, "ada", LACE).await;
    let mut ended = None;
    for _ in 0..100 {
        assert_eq!(busy.ask(json!({"type": "ping"})).await["type"], "pong");
        if let Some(frame) = idle.receive_within(Duration::from_millis(100)).await {
            ended = Some(frame);
            break;
        }
    }
    let Some(Frame::Text(reason)) = ended else { panic!("not ended: {ended:?}") };
    assert_eq!(reason["code"], "timeout", "{reason}");
    assert_eq!(idle.next().await, Frame::Closed(Some(1001)));
    assert_eq!(refused(&server, &id).await, 404);
    busy.rows("own(1)").await;
}

#[tokio::test]
async fn sessions_are_limited_and_one_that_waits_makes_room() {
    let server = Server::start_with(&[("SERVICE_LIMITS__MAX_SESSIONS", "2")]);
    let (first, waiting) = open(&server, "admin", PASSWORD).await;
    let (_second, _) = open(&server, "admin", PASSWORD).await;
    let mut third = server.connect().await;
    let refusal = third.log_in(PASSWORD).await;
    assert_eq!(
        (&refusal["type"], &refusal["code"]),
        (&json!("error"), &json!("limit_exceeded")),
        "{refusal}"
    );
    assert_eq!(refusal["limit"], json!({"name": "max_sessions", "value": 2}));
    assert_eq!(third.next().await, Frame::Closed(Some(1008)));
    drop(first);
    // The server notices the end of a connection a moment later.
    let mut room = None;
    for _ in 0..100 {
        let mut connection = server.connect().await;
        if connection.log_in(PASSWORD).await["type"] == "authenticated" {
            room = Some(connection);
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(room.is_some(), "no room was made");
    assert_eq!(refused(&server, &waiting).await, 404);
}

#[tokio::test]
async fn sockets_of_one_session_wait_for_each_other_and_hold_up_nobody_else() {
    let settings = [("SERVICE_LIMITS__MAX_CONCURRENT_QUERIES", "2")];
    let (server, mut admin) = with_users_and(&settings).await;
    admin.rows("+start(0)").await;
    let (mut first, id) = open(&server, "ada", LACE).await;
    let endless = "n(X) <- start(X)\nn(Y) <- n(X), Y = X + 1\n?n(X)";
    first.send_json(json!({"type": "execute", "program": endless, "id": "endless"})).await;
    let mut others = Vec::new();
    for _ in 0..5 {
        let (mut other, greeting) = attach(&server, &id, "ada", LACE).await;
        assert_eq!(greeting["type"], "authenticated");
        other.send_json(json!({"type": "execute", "program": "?start(X)", "id": 1})).await;
        others.push(other);
    }
    // Those wait, and take no place for queries meanwhile.
    assert_eq!(admin.rows("?start(X)").await, json!([[0]]));
    let stopped = others[0].ask(json!({"type": "cancel", "target": 1, "id": 2})).await;
    let replies = [stopped, others[0].receive_json().await];
    assert!(replies.iter().any(|reply| reply["code"] == "cancelled"), "{replies:?}");
    first.send_json(json!({"type": "cancel", "target": "endless", "id": 3})).await;
    for other in &mut others[1..] {
        assert_eq!(other.receive_json().await["rows"], json!([[0]]));
    }
}

#[tokio::test]
async fn notifications_come_to_every_socket_of_a_session() {
    let (server, mut admin) = with_users().await;
    let (mut first, id) = open(&server, "ada", LACE).await;
    let (mut second, _) = attach(&server, &id, "ada", LACE).await;
    admin.rows("+fact(1)").await;
    second.rows("+fact(2)").await;
    for connection in [&mut first, &mut second] {
        for expected in [1, 2] {
            assert_eq!(connection.notification().await["seq"], expected);
        }
    }
}
