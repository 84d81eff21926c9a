//! Who a connection is: login, wrong passwords, and what ends it.

use std::time::Instant;

use serde_json::json;
use stratalog_tests::server::{Frame, PASSWORD, Server};
use stratalog_tests::times::PATIENCE;
use tokio_tungstenite::tungstenite::{Bytes, Message};

use super::assert_error;

#[tokio::test]
async fn login_is_answered_with_the_session() {
    let server = Server::start();
    let mut connection = server.connect().await;
    let reply = connection.log_in(PASSWORD).await;
    assert_eq!(reply["type"], "authenticated");
    assert_eq!(reply["knowledge_graph"], "default");
    assert_eq!(reply["role"], "admin");
    assert!(reply["session_id"].as_str().is_some_and(|id| id.len() == 36), "{reply}");
    assert!(reply["version"].is_string());
    assert_eq!(reply.as_object().map(serde_json::Map::len), Some(5), "{reply}");
    let again = connection.log_in(PASSWORD).await;
    assert_eq!(again["type"], "error", "{again}");
    assert_eq!(connection.ask(json!({"type": "ping"})).await, json!({"type": "pong"}));
}

#[tokio::test]
async fn a_wrong_password_leaves_the_connection_open() {
    let server = Server::start();
    let mut connection = server.connect().await;
    let wrong = connection.log_in("wrong").await;
    assert_eq!(wrong["type"], "auth_error");
    let message = json!({"type": "login", "username": "nobody", "password": "wrong"});
    let unknown = connection.ask(message).await;
    assert_eq!(unknown["message"], wrong["message"], "unknown user and wrong password are told apart");
    let key = connection.ask(json!({"type": "authenticate", "api_key": "00"})).await;
    assert_eq!(key["type"], "auth_error", "{key}");
    assert_eq!(connection.log_in(PASSWORD).await["type"], "authenticated");
}

#[tokio::test]
async fn five_wrong_passwords_close_the_connection() {
    let server = Server::start();
    let mut connection = server.connect().await;
    for _ in 0..5 {
        assert_eq!(connection.log_in("wrong").await["type"], "auth_error");
    }
    assert_eq!(connection.closed(&["auth_error"]).await, Some(1008));
    server.log_in().await;
}

#[tokio::test]
async fn anything_but_an_authentication_first_closes_the_connection() {
    let server = Server::start();
    let first_messages = [
        Message::text(r#"{"type":"ping"}"#),
        Message::text(r#"{"type":"execute","program":"+a(1)"}"#),
        Message::text(r#"{"type":"nonsense"}"#),
        Message::text(r#"{"type":"login","username":"admin"}"#),
        Message::text("{"),
        Message::text(""),
        Message::binary(Bytes::from_static(b"\x00")),
    ];
    for message in first_messages {
        let mut connection = server.connect().await;
        connection.send(message.clone()).await;
        assert_eq!(connection.closed(&["auth_error"]).await, Some(1008), "after {message:?}");
    }
    let mut connection = server.log_in().await;
    assert_error(&connection.execute("?a(X)").await, "unknown_relation");
}

#[tokio::test]
async fn a_graph_that_does_not_exist_is_refused() {
    let server = Server::start();
    let Ok(mut connection) = server.connect_to("/ws?kg=nowhere").await else { return };
    let message = json!({"type": "login", "username": "admin", "password": PASSWORD});
    let reply = connection.ask(message).await;
    assert_eq!(reply["type"], "error", "{reply}");
    connection.closed(&[]).await;
}

#[tokio::test]
async fn silence_before_authentication_ends_after_thirty_seconds() {
    let server = Server::start();
    let mut connection = server.connect().await;
    let start = Instant::now();
    loop {
        match connection.receive_within(PATIENCE + PATIENCE).await {
            Some(Frame::Text(json)) => assert_eq!(json["type"], "auth_error"),
            Some(Frame::Closed(code)) => {
                assert_eq!(code, Some(1008));
                break;
            }
            other => panic!("expected the end, received {other:?}"),
        }
    }
    let waited = start.elapsed();
    assert!(waited.as_secs() >= 28, "closed after {waited:?}");
}
