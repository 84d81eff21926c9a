//! Messages that are too large or too deep, and answers that nobody reads.

use std::time::Duration;

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;

use super::Siege;
use stratalog_tests::raw::{CONTINUATION, FIN, Raw, TEXT, head};

const MEGABYTE: usize = 1 << 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn messages_of_a_hundred_megabytes_are_refused() {
    let siege = Siege::begin(&[]).await;
    let block = vec![b' '; MEGABYTE];
    let mut senders = Vec::new();
    for in_pieces in [true, false, true, false] {
        let mut raw = Raw::log_in(&siege.server).await;
        let block = block.clone();
        senders.push(tokio::spawn(async move {
            if in_pieces {
                raw.frame(TEXT, b"{").await;
            } else {
                raw.bytes(&head(FIN | TEXT, 100 * MEGABYTE as u64)).await;
            }
            for _ in 0..100 {
                let sent =
                    if in_pieces { raw.frame(CONTINUATION, &block).await } else { raw.bytes(&block).await };
                if !sent {
                    break;
                }
            }
            assert_eq!(raw.closed().await, Some(1009));
        }));
    }
    for sender in senders {
        sender.await.expect("it is refused");
    }
    // Before authentication far less is taken.
    let mut raw = Raw::open(&siege.server).await;
    raw.frame(TEXT, b"{").await;
    for _ in 0..100 {
        if !raw.frame(CONTINUATION, &block).await {
            break;
        }
    }
    assert_eq!(raw.closed().await, Some(1009));
    siege.end().await;
}

#[tokio::test]
async fn deep_nesting_is_refused_and_the_connection_goes_on() {
    let siege = Siege::begin(&[]).await;
    let mut connection = siege.server.log_in().await;
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    let objects = "{\"a\":".repeat(100_000) + "1" + &"}".repeat(100_000);
    for message in [
        format!("{open}{close}"),
        objects.clone(),
        format!(r#"{{"type":"execute","program":"?edge(X, Y)","params":{{"a":{open}1{close}}}}}"#),
        format!(r#"{{"type":"insert","relation":"r","rows":{open}1{close}}}"#),
        format!(r#"{{"type":"insert_facts","relation":"r","tuples":[[{objects}]]}}"#),
        format!(r#"{{"type":{open}{close}}}"#),
        format!(r#"{{"type":"ping","id":{open}{close}}}"#),
        json!({"type": "execute", "program": format!("?edge(X, Y), Y = {}1{}", "(".repeat(100_000), ")".repeat(100_000))}).to_string(),
        json!({"type": "execute", "program": format!("+r({open}1{close})")}).to_string(),
        json!({"type": "execute", "program": format!("?edge(X, Y), Y = {}1", "-".repeat(100_000))}).to_string(),
        json!({"type": "execute", "program": format!("{}?edge(X, Y)", "/*".repeat(100_000))}).to_string(),
    ] {
        let shown: String = message.chars().take(60).collect();
        connection.send(Message::text(message)).await;
        let reply = connection.receive_json().await;
        assert_eq!(reply["type"], "error", "{shown}");
        assert_ne!(reply["code"], "internal", "{shown}: {reply}");
        assert!(reply.to_string().len() < 10_000, "{shown}: the answer is as long as the question");
    }
    // A field that nobody knows is not looked into.
    let unknown = format!(r#"{{"type":"execute","program":"?edge(1, X)","x":{objects}}}"#);
    connection.send(Message::text(unknown)).await;
    assert_eq!(connection.receive_json().await["rows"], json!([[1, 2]]));
    siege.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_reads_take_no_memory() {
    let siege = Siege::begin(&[]).await;
    let mut admin = siege.server.log_in().await;
    let numbers: Vec<String> = (0..2_000).map(|n| format!("({n})")).collect();
    admin.rows(&format!("+n[{}]\n+pair(X, Y) <- n(X), n(Y), X < 1000", numbers.join(","))).await;
    let mut deaf = Vec::new();
    for id in 0..8 {
        let mut connection = siege.server.connect_narrow("/ws").await;
        assert_eq!(connection.log_in(stratalog_tests::server::PASSWORD).await["type"], "authenticated");
        let format = if id % 2 == 0 { "json" } else { "arrow" };
        // Two million rows, a hundred times.
        for _ in 0..100 {
            connection
                .send_json(json!({"type": "execute", "program": "?pair(X, Y)", "format": format}))
                .await;
        }
        deaf.push(connection);
    }
    tokio::time::sleep(Duration::from_secs(5)).await;
    let waiting = siege.server.resident();
    assert!(waiting < super::MEMORY, "the server takes {} MiB", waiting >> 20);
    // When they are gone, so are their requests.
    drop(deaf);
    for _ in 0..200 {
        if admin.rows(".query list").await.as_array().is_some_and(|rows| rows.len() <= 2) {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let left = admin.rows(".query list").await;
    assert!(left.as_array().is_some_and(|rows| rows.len() <= 2), "{left}");
    siege.end().await;
}
