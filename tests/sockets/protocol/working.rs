//! How far a request is, told while its answer is waited for.

use std::time::Duration;

use serde_json::{Value as Json, json};

use super::{DIVERGE, assert_error, define_divergence, start};

#[tokio::test]
async fn whoever_asks_is_told_how_far_a_request_is() {
    let (_server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    connection.send_json(json!({"type": "execute", "program": DIVERGE, "progress": true, "id": "far"})).await;
    let mut told = Vec::new();
    for _ in 0..3 {
        let working = connection.receive_json().await;
        assert_eq!((&working["type"], &working["id"]), (&json!("working"), &json!("far")), "{working}");
        assert_eq!(working["state"], "running", "{working}");
        told.push(working);
    }
    for name in ["elapsed_ms", "rounds", "rows"] {
        let numbers: Vec<u64> = told.iter().filter_map(|working| working[name].as_u64()).collect();
        assert!(numbers.len() == 3 && numbers.is_sorted_by(|one, next| one < next), "{name}: {told:?}");
    }
    assert!(told.iter().all(|working| working["memory_bytes"].as_u64() > Some(0)), "{told:?}");
    connection.send_json(json!({"type": "cancel", "target": "far", "id": 9})).await;
    let mut replies = Vec::new();
    while replies.len() < 2 {
        let reply = connection.receive_json().await;
        if reply["type"] != "working" {
            replies.push(reply);
        }
    }
    assert_error(replies.iter().find(|reply| reply["id"] == "far").expect("its end"), "cancelled");
    // After the answer nothing more is told of it.
    assert_eq!(connection.receive_within(Duration::from_millis(1_200)).await, None);
}

#[tokio::test]
async fn what_is_answered_soon_and_whoever_has_not_asked_are_told_nothing() {
    let (_server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    let reply = connection.ask(json!({"type": "execute", "program": "?n(X), X = 0, limit(1)", "progress": null, "timeout_ms": 1_200})).await;
    assert_error(&reply, "timeout");
    let reply = connection.ask(json!({"type": "execute", "program": "+m(1)\n?m(X)", "progress": true})).await;
    assert_eq!((&reply["type"], &reply["rows"]), (&json!("result"), &json!([[1]])), "{reply}");
    let reply =
        connection.ask(json!({"type": "execute", "program": "?m(X)", "progress": "yes", "id": 3})).await;
    assert_error(&reply, "invalid_message");
    assert_eq!(reply["id"], Json::from(3));
}
