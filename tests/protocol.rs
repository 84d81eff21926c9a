//! Every message and every state of the protocol, over a socket, against the real executable.

use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};
use stratalog_tests::answers::rows_of;
use stratalog_tests::server::{Connection, Frame, PASSWORD, Server};
use stratalog_tests::value::Value;
use tokio_tungstenite::tungstenite::{Bytes, Message};

/// A session on a server of its own.
async fn start() -> (Server, Connection) {
    let server = Server::start();
    let connection = server.log_in().await;
    (server, connection)
}

/// A rule without end, and the question that runs it.
const DIVERGE: &str = "?n(X)";

async fn define_divergence(connection: &mut Connection) {
    connection.rows("+n(0)").await;
    connection.rows("+n(Y) <- n(X), Y = X + 1").await;
}

fn assert_error(reply: &Json, code: &str) {
    assert_eq!(reply["type"], "error", "{reply}");
    assert_eq!(reply["code"], code, "{reply}");
    assert!(reply["message"].as_str().is_some_and(|message| !message.is_empty()), "{reply}");
}

// Authentication.

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
        match connection.receive_within(Duration::from_secs(35)).await {
            Some(Frame::Text(json)) => assert_eq!(json["type"], "auth_error"),
            Some(Frame::Closed(code)) => {
                assert_eq!(code, Some(1008));
                break;
            }
            other => panic!("expected the end, received {other:?}"),
        }
    }
    let waited = start.elapsed();
    assert!((28..33).contains(&waited.as_secs()), "closed after {waited:?}");
}

// Messages.

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

// Results.

#[tokio::test]
async fn a_result_has_exactly_these_fields() {
    let (_server, mut connection) = start().await;
    connection.rows(r#"+v[(1, 2.0, "a\"é", true, null, [1, 2.5])]"#).await;
    let mut reply = connection.execute("?v(A, B, C, D, E, F)").await;
    let time = reply["execution_time_ms"].take();
    assert!(time.is_u64(), "{time}");
    let fields = reply.as_object_mut().expect("an object");
    // Optional by protocol.md 3.2.
    for optional in ["row_provenance", "timing_breakdown"] {
        fields.remove(optional);
    }
    assert_eq!(
        reply,
        json!({
            "type": "result", "columns": ["A", "B", "C", "D", "E", "F"],
            "rows": [[1, 2.0, "a\"é", true, null, [1.0, 2.5]]],
            "row_count": 1, "total_count": 1, "truncated": false, "execution_time_ms": null
        })
    );
}

#[tokio::test]
async fn floats_travel_with_a_fraction_and_large_integers_whole() {
    let (_server, mut connection) = start().await;
    connection.rows("+v[(9007199254740993, 2.0), (9223372036854775807, 1e300)]").await;
    connection.send_json(json!({"type": "execute", "program": "?v(A, B)"})).await;
    let Frame::Text(reply) = connection.receive().await else { panic!("a text frame") };
    assert_eq!(reply["rows"][0][0].as_i64(), Some(9_007_199_254_740_993));
    assert_eq!(reply["rows"][1][0].as_i64(), Some(i64::MAX));
    assert!(reply["rows"][0][1].is_f64(), "{reply}");
}

#[tokio::test]
async fn messages_are_a_table_with_one_column() {
    let (_server, mut connection) = start().await;
    let reply = connection.execute("+a(1)\n+a(2)").await;
    assert_eq!(reply["columns"], json!(["message"]));
    assert_eq!(reply["row_count"], 2);
    assert!(reply["rows"][0][0].is_string());
}

#[tokio::test]
async fn an_empty_result_keeps_its_columns() {
    let (_server, mut connection) = start().await;
    connection.rows("+a(1, 2)").await;
    let reply = connection.execute("?a(X, Y), X > 5").await;
    assert_eq!((&reply["columns"], &reply["rows"]), (&json!(["X", "Y"]), &json!([])));
}

#[tokio::test]
async fn limit_cuts_and_says_so() {
    let (_server, mut connection) = start().await;
    connection.rows("+a[1, 2, 3, 4, 5]").await;
    let message = json!({"type": "execute", "program": "?a(X:desc)", "limit": 2});
    let reply = connection.ask(message).await;
    assert_eq!(reply["rows"], json!([[5], [4]]));
    assert_eq!((&reply["row_count"], &reply["total_count"]), (&json!(2), &json!(5)));
    assert_eq!(reply["truncated"], true);
}

#[tokio::test]
async fn parameters_stand_for_values_and_never_for_text() {
    let (_server, mut connection) = start().await;
    let ask = |program: &str, params: Json| json!({"type": "execute", "program": program, "params": params});
    let text = "x\"), (\"y";
    let reply = connection.ask(ask("+p[(1, $t), (2, $n)]", json!({"t": text, "n": null}))).await;
    assert_eq!(reply["type"], "result", "{reply}");
    let reply = connection.ask(ask("?p(X, $t)", json!({"t": text}))).await;
    assert_eq!(reply["rows"], json!([[1, text]]));
    for params in [json!({}), json!({"t": 1, "surplus": 2})] {
        assert_error(&connection.ask(ask("?p(X, $t)", params)).await, "invalid_parameter");
    }
}

#[tokio::test]
async fn an_atomic_program_leaves_no_trace_when_it_fails() {
    let (_server, mut connection) = start().await;
    connection.rows("+a(0)").await;
    let message = json!({"type": "execute", "program": "+a(1)\n+a(1, 2)", "atomic": true});
    assert_error(&connection.ask(message).await, "arity_mismatch");
    assert_eq!(connection.rows("?a(X)").await, json!([[0]]));
}

#[tokio::test]
async fn large_results_come_in_chunks() {
    let (_server, mut connection) = start().await;
    let text = "x".repeat(100);
    let rows: Vec<Json> = (0..20_000).map(|n| json!([n, text])).collect();
    let reply = connection.ask(json!({"type": "insert", "relation": "big", "rows": rows})).await;
    assert_eq!(reply["type"], "result", "{reply}");
    connection.send_json(json!({"type": "execute", "program": "?big(N, T)", "id": "b"})).await;
    let start = connection.receive_json().await;
    assert_eq!(start["type"], "result_start");
    assert_eq!(start["columns"], json!(["N", "T"]));
    assert_eq!((&start["total_count"], &start["truncated"]), (&json!(20_000), &json!(false)));
    assert!(start["execution_time_ms"].is_u64());
    let (mut chunks, mut seen) = (0, vec![false; 20_000]);
    let end = loop {
        let message = connection.receive_json().await;
        assert_eq!(message["id"], "b");
        if message["type"] == "result_end" {
            break message;
        }
        assert_eq!(message["type"], "result_chunk");
        assert_eq!(message["chunk_index"], chunks);
        let rows = message["rows"].as_array().expect("rows");
        assert!((1..=500).contains(&rows.len()));
        for row in rows {
            let n = row[0].as_u64().expect("a number") as usize;
            assert!(!std::mem::replace(&mut seen[n], true), "row {n} came twice");
        }
        chunks += 1;
    };
    assert!(seen.iter().all(|seen| *seen));
    assert_eq!((&end["row_count"], &end["chunk_count"]), (&json!(20_000), &json!(chunks)));
    assert_eq!(connection.ask(json!({"type": "ping"})).await["type"], "pong");
}

// Inserts without text.

#[tokio::test]
async fn json_rows_are_inserted_as_one() {
    let (_server, mut connection) = start().await;
    let insert = |rows: Json| json!({"type": "insert", "relation": "e", "rows": rows, "id": 3});
    let reply = connection.ask(insert(json!([[1, "a"], [2, null], [1, "a"]]))).await;
    assert_eq!(reply["columns"], json!(["relation", "inserted", "duplicates"]), "{reply}");
    assert_eq!(reply["rows"], json!([["e", 2, 1]]));
    assert_eq!(reply["id"], 3);
    assert_error(&connection.ask(insert(json!([[3, "c"], [4]]))).await, "arity_mismatch");
    let refused = connection.ask(insert(json!([[{}, 1]]))).await;
    assert_eq!(refused["type"], "error", "{refused}");
    assert_eq!(connection.rows("?e(X:asc, Y)").await, json!([[1, "a"], [2, null]]));
}

fn batch(start: i64, rows: i64) -> RecordBatch {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(start..start + rows));
    let names: ArrayRef = Arc::new(StringArray::from_iter(
        (start..start + rows).map(|n| (n % 3 != 0).then(|| format!("name {}", n % 5))),
    ));
    let weights: ArrayRef =
        Arc::new(Float64Array::from_iter_values((start..start + rows).map(|n| n as f64 / 2.0)));
    RecordBatch::try_from_iter_with_nullable([
        ("id", ids, true),
        ("name", names, true),
        ("weight", weights, true),
    ])
    .expect("columns of one length")
}

fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).expect("a stream begins");
    for batch in batches {
        writer.write(batch).expect("a batch is written");
    }
    writer.into_inner().expect("a stream ends")
}

#[tokio::test]
async fn arrow_frames_go_in_and_come_out() {
    let (_server, mut connection) = start().await;
    connection.send_json(json!({"type": "insert", "relation": "t", "format": "arrow", "id": "in"})).await;
    let bytes = stream(&[batch(0, 3000), batch(3000, 2000)]);
    for part in bytes.chunks(20_000) {
        connection.send(Message::binary(part.to_vec())).await;
    }
    let reply = connection.receive_json().await;
    assert_eq!(reply["rows"], json!([["t", 5000, 0]]), "{reply}");
    assert_eq!(reply["id"], "in");

    let question = json!({"type": "execute", "program": "?t(I, N, W)", "format": "arrow", "id": "out"});
    let start = connection.ask(question).await;
    assert_eq!(start["type"], "result_start", "{start}");
    assert_eq!((&start["format"], &start["id"]), (&json!("arrow"), &json!("out")));
    assert_eq!((&start["columns"], &start["total_count"]), (&json!(["I", "N", "W"]), &json!(5000)));
    let (mut bytes, mut frames) = (Vec::new(), 0);
    let end = loop {
        match connection.receive().await {
            Frame::Binary(frame) => {
                bytes.extend(frame);
                frames += 1;
            }
            Frame::Text(end) => break end,
            Frame::Closed(code) => panic!("closed with {code:?}"),
        }
    };
    assert_eq!(end["type"], "result_end");
    assert_eq!((&end["row_count"], &end["id"]), (&json!(5000), &json!("out")));
    assert!(frames >= 1);
    let reader = StreamReader::try_new(bytes.as_slice(), None).expect("the frames form one stream");
    let mut rows: Vec<_> = reader.flat_map(|batch| rows_of(&batch.expect("a batch"))).collect();
    rows.sort();
    let expected: Vec<_> = rows_of(&batch(0, 5000));
    assert_eq!(rows, expected);
    assert_eq!(rows[3], [Value::Int(3), Value::Null, Value::Float(1.5)]);
}

#[tokio::test]
async fn an_empty_arrow_answer_still_has_its_schema() {
    let (_server, mut connection) = start().await;
    connection.rows("+a(1)").await;
    connection.send_json(json!({"type": "execute", "program": "?a(X), X > 5", "format": "arrow"})).await;
    assert_eq!(connection.receive_json().await["type"], "result_start");
    let mut bytes = Vec::new();
    while let Frame::Binary(frame) = connection.receive().await {
        bytes.extend(frame);
    }
    let reader = StreamReader::try_new(bytes.as_slice(), None).expect("a stream without batches");
    assert_eq!(reader.schema().field(0).name(), "X");
    assert_eq!(reader.map(|batch| batch.expect("a batch").num_rows()).sum::<usize>(), 0);
}

#[tokio::test]
async fn a_malformed_arrow_stream_inserts_nothing() {
    let (_server, mut connection) = start().await;
    connection.rows("+t(-1, \"kept\", 0.5)").await;
    let good = stream(&[batch(0, 2000), batch(2000, 2000)]);
    let mut garbled = good.clone();
    let middle = garbled.len() / 2;
    garbled[middle..middle + 64].fill(0xff);
    let mut header = good.clone();
    header[4..12].fill(0x7f);
    let mut length = good.clone();
    // The length of the second message.
    let at = 8 + u32::from_le_bytes([good[4], good[5], good[6], good[7]]) as usize;
    length[at + 4..at + 8].fill(0x7f);
    for (what, bytes) in [
        ("noise", b"this is no stream at all, and long enough to see".to_vec()),
        ("header", header),
        ("length", length),
    ] {
        connection.send_json(json!({"type": "insert", "relation": "t", "format": "arrow", "id": what})).await;
        connection.send(Message::binary(bytes)).await;
        // A length that is wrong looks like a stream that goes on; the next message ends it at the latest.
        connection.send_json(json!({"type": "execute", "program": "?t(I, N, W)"})).await;
        let reply = connection.receive_json().await;
        assert_eq!((&reply["type"], &reply["id"]), (&json!("error"), &json!(what)), "{reply}");
        assert_ne!(reply["code"], "internal", "{what}: {reply}");
        assert_eq!(connection.receive_json().await["rows"], json!([[-1, "kept", 0.5]]), "after {what}");
    }
    // Whether garbled values are noticed depends on where they fall; the connection must survive them.
    connection.send_json(json!({"type": "insert", "relation": "u", "format": "arrow"})).await;
    connection.send(Message::binary(garbled)).await;
    let reply = connection.receive_json().await;
    assert!(reply["type"] == "error" || reply["type"] == "result", "{reply}");
    assert_ne!(reply["code"], "internal", "{reply}");
    assert_eq!(connection.ask(json!({"type": "ping"})).await["type"], "pong");
}

#[tokio::test]
async fn an_arrow_stream_that_breaks_off_inserts_nothing() {
    let (_server, mut connection) = start().await;
    connection.rows("+t(-1, \"kept\", 0.5)").await;
    let good = stream(&[batch(0, 2000), batch(2000, 2000)]);
    connection.send_json(json!({"type": "insert", "relation": "t", "format": "arrow", "id": 1})).await;
    connection.send(Message::binary(good[..good.len() / 2].to_vec())).await;
    // A text message where a frame was announced: the stream has ended too early.
    connection.send_json(json!({"type": "execute", "program": "?t(I, N, W)", "id": 2})).await;
    let reply = connection.receive_json().await;
    assert_eq!((&reply["type"], &reply["id"]), (&json!("error"), &json!(1)), "{reply}");
    let reply = connection.receive_json().await;
    assert_eq!((&reply["rows"], &reply["id"]), (&json!([[-1, "kept", 0.5]]), &json!(2)), "{reply}");
}

#[tokio::test]
async fn arrow_columns_that_do_not_fit_are_refused() {
    let (_server, mut connection) = start().await;
    connection.rows("+t(id: int, name: string)").await;
    connection.send_json(json!({"type": "insert", "relation": "t", "format": "arrow"})).await;
    connection.send(Message::binary(stream(&[batch(0, 10)]))).await;
    assert_error(&connection.receive_json().await, "arity_mismatch");
    connection.rows("+s(id: string, name: string, weight: float)").await;
    connection.send_json(json!({"type": "insert", "relation": "s", "format": "arrow"})).await;
    connection.send(Message::binary(stream(&[batch(0, 10)]))).await;
    assert_error(&connection.receive_json().await, "type_mismatch");
    assert_eq!(connection.rows("?s(A, B, C)").await, json!([]));
}

// Stopping.

#[tokio::test]
async fn cancel_stops_a_running_query() {
    let (_server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    connection.send_json(json!({"type": "execute", "program": DIVERGE, "id": "forever"})).await;
    assert_eq!(connection.receive_within(Duration::from_millis(500)).await, None);
    let asked = Instant::now();
    connection.send_json(json!({"type": "cancel", "target": "forever", "id": 9})).await;
    let replies = [connection.receive_json().await, connection.receive_json().await];
    assert!(asked.elapsed() < Duration::from_secs(1), "stopped after {:?}", asked.elapsed());
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
    let start = Instant::now();
    let reply =
        connection.ask(json!({"type": "execute", "program": DIVERGE, "timeout_ms": 200, "id": 1})).await;
    assert_error(&reply, "timeout");
    assert_eq!(reply["id"], 1);
    let time = start.elapsed();
    assert!((150..1500).contains(&time.as_millis()), "stopped after {time:?}");
    assert_eq!(connection.rows("+after(1)\n?after(X)").await, json!([[1]]));
}

#[tokio::test]
async fn a_query_ends_when_its_client_leaves() {
    let (mut server, mut connection) = start().await;
    define_divergence(&mut connection).await;
    // As many as could fill every place for queries if they went on.
    for _ in 0..10 {
        let mut leaving = server.log_in().await;
        leaving.send_json(json!({"type": "execute", "program": DIVERGE})).await;
        drop(leaving);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    assert_eq!(connection.rows("+after(1)\n?after(X)").await, json!([[1]]));
    assert!(start.elapsed() < Duration::from_millis(500), "answered after {:?}", start.elapsed());
    assert!(server.is_running());
}

// Errors.

#[tokio::test]
async fn errors_say_what_and_where() {
    let (_server, mut connection) = start().await;
    connection.rows("+edge[(1, 2), (2, 3)]\n+typed(a: int, b: string)").await;
    connection.rows("+p(X) <- edge(X, _), !q(X)").await;
    let cases = [
        ("?edge(X, ", "parse_error", None),
        ("+edge(1, 2)\n+edge(3 4)", "parse_error", Some((2, 9))),
        ("?edgee(X, Y)", "unknown_relation", Some((1, 2))),
        ("?edge(X, Y), nodes(X)", "unknown_relation", Some((1, 14))),
        ("?edge(X, Y, Z)", "arity_mismatch", None),
        ("+edge(1, 2, 3)", "arity_mismatch", None),
        ("+typed[(1, \"a\"), (\"b\", \"é\")]", "type_mismatch", None),
        ("+r(X, Y) <- edge(X, _)", "unsafe_rule", Some((1, 7))),
        ("+q(X) <- edge(X, _), !p(X)", "unstratifiable", None),
        ("+p(1)", "derived_relation", None),
    ];
    for (program, code, place) in cases {
        let reply = connection.execute(program).await;
        assert_error(&reply, code);
        let span = &reply["span"];
        for field in ["line", "column", "length", "offset"] {
            assert!(span[field].is_u64(), "{program}: {reply}");
        }
        let (line, column) = (span["line"].as_u64().unwrap_or(0), span["column"].as_u64().unwrap_or(0));
        if let Some(place) = place {
            assert_eq!((line, column), place, "{program}: {reply}");
        }
        let before: usize = program.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
        let within = program[before..].chars().take(column as usize - 1).map(char::len_utf8).sum::<usize>();
        assert_eq!(span["offset"], before + within, "{program}: {reply}");
        assert!(reply["diagnostics"].as_array().is_some_and(|all| !all.is_empty()), "{program}: {reply}");
        assert_eq!(reply["diagnostics"][0]["severity"], "error");
        assert_eq!(reply["diagnostics"][0]["code"], code);
    }
    assert_eq!(
        connection.rows("?edge(X, Y)").await.as_array().map(Vec::len),
        Some(2),
        "nothing was inserted"
    );
}

#[tokio::test]
async fn every_parse_error_of_a_program_is_reported() {
    let (_server, mut connection) = start().await;
    let reply = connection.execute("+a(1)\n+b(\n+c(2)\n?d(,)").await;
    assert_error(&reply, "parse_error");
    let errors = reply["validation_errors"].as_array().expect("the list that older clients read");
    assert!(!errors.is_empty());
    for error in errors {
        assert!(error["line"].is_u64() && error["statement_index"].is_u64() && error["error"].is_string());
    }
    assert_error(&connection.execute("?a(X)").await, "unknown_relation");
}

#[tokio::test]
async fn an_empty_program_is_an_error() {
    let (_server, mut connection) = start().await;
    for program in ["", "\n  \n", "// nothing\n% at all", "/* here */"] {
        assert_error(&connection.execute(program).await, "parse_error");
    }
}

// Several clients.

#[tokio::test]
async fn clients_see_each_others_writes() {
    let (server, mut ada) = start().await;
    let mut bob = server.log_in().await;
    ada.rows("+shared(1)").await;
    assert_eq!(bob.rows("?shared(X)").await, json!([[1]]));
    bob.rows("+shared(2)").await;
    bob.rows("+double(Y) <- shared(X), Y = X * 2").await;
    assert_eq!(ada.rows("?double(X:asc)").await, json!([[2], [4]]));
    ada.rows("-shared(1)").await;
    assert_eq!(bob.rows("?double(X)").await, json!([[4]]));
}

#[tokio::test]
async fn clients_that_write_at_once_lose_nothing() {
    let (server, mut reader) = start().await;
    let mut writers = Vec::new();
    for writer in 0..4 {
        let mut connection = server.log_in().await;
        writers.push(tokio::spawn(async move {
            for n in 0..50 {
                connection.rows(&format!("+w({writer}, {n})")).await;
            }
        }));
    }
    for writer in writers {
        writer.await.expect("every write succeeds");
    }
    assert_eq!(reader.execute("?w(A, B)").await["row_count"], 200);
}

// HTTP.

#[test]
fn probes_answer_at_the_root_and_below_v1() {
    let server = Server::start();
    for prefix in ["", "/v1"] {
        let (status, head, body) = server.get(&format!("{prefix}/health"));
        assert_eq!(status, 200);
        assert!(head.contains("x-api-version: v"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let health: Json = serde_json::from_str(&body).expect("the body is JSON");
        assert_eq!(health["success"], true);
        assert_eq!(health["data"]["status"], "healthy");
        assert!(health["data"]["version"].is_string());
        assert!(health["data"]["uptime_secs"].is_u64());
        for probe in ["/live", "/ready"] {
            let (status, _, body) = server.get(&format!("{prefix}{probe}"));
            assert_eq!((status, body.as_str()), (200, ""), "{prefix}{probe}");
        }
    }
    let (status, head, body) = server.get("/nothing");
    assert!(head.contains("x-api-version: v"), "{head}");
    assert!(status == 401 || status == 404, "{status}");
    assert!(!body.contains("\"success\":true"), "{body}");
}

#[tokio::test]
async fn a_plain_request_to_the_socket_is_refused() {
    let server = Server::start();
    let (status, _, _) = server.get("/ws");
    assert_eq!(status, 400);
}
