//! Rows that come in as JSON or Arrow, without program text.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};
use stratalog_tests::answers::rows_of;
use stratalog_tests::server::{Connection, Frame};
use stratalog_tests::value::Value;
use tokio_tungstenite::tungstenite::Message;

use super::{assert_error, start};

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

/// Numbers in brackets are a vector, unless their column is declared to hold lists: that keeps them as they are.
#[tokio::test]
async fn numbers_in_brackets_are_vectors_or_lists() {
    let (_server, mut connection) = start().await;
    connection.rows("+l(k: int, l: list)\n+v(k: int, v: vector[2])").await;
    let rows = json!([[1, [1, 9_007_199_254_740_993_i64]], [2, [0.1, 1e300]], [3, []]]);
    for relation in ["l", "v", "any"] {
        let reply = connection.ask(json!({"type": "insert", "relation": relation, "rows": rows})).await;
        if relation == "l" {
            assert_eq!(reply["rows"][0][1], 3, "{reply}");
        } else {
            assert_error(&reply, "type_mismatch");
            assert!(reply["message"].as_str().unwrap().starts_with("row 2: 1e300 is beyond"), "{reply}");
        }
    }
    assert_eq!(connection.rows("?l(K:asc, L)").await, rows);
    assert_eq!(connection.rows("?l(K, L), X in L, X > 9").await[0][2], 9_007_199_254_740_993_i64);
    connection.ask(json!({"type": "insert", "relation": "any", "rows": [[1, [1, 2]]]})).await;
    assert_eq!(connection.rows("?any(1, V), X = to_string(V)").await[0][2], "[1.0000, 2.0000]");
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

/// Columns of several types go in as they come out: the JSON of each value.
#[tokio::test]
async fn mixed_columns_go_in_as_they_come_out() {
    let (_server, mut connection) = start().await;
    let batch = |texts: &[Option<&str>]| {
        let marked = [("stratalog.type".to_owned(), "any".to_owned())].into();
        let field = Field::new("value", DataType::Utf8, true).with_metadata(marked);
        let column: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
        RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column]).expect("one column")
    };
    let texts = [Some("1"), Some("1.0"), Some("\"1\""), Some("true"), Some("[0.5, 2]"), None, Some("null")];
    let reply = upload(&mut connection, "m", &batch(&texts)).await;
    assert_eq!(reply["rows"], json!([["m", 6, 1]]), "{reply}");
    let rows = connection.rows("?m(X:asc)").await;
    assert_eq!(rows, json!([[null], [true], [1], [1.0], ["1"], [[0.5, 2.0]]]));
    let listed = upload(&mut connection, "listed", &batch(&[Some("[\"a\", 1, [null]]")])).await;
    assert_eq!(listed["rows"], json!([["listed", 1, 0]]), "{listed}");
    assert_eq!(connection.rows("?listed(X)").await, json!([[["a", 1, [null]]]]));
    for text in ["{}", "1 2", "[\"a\"", "[1e300]", "99999999999999999999"] {
        assert_error(&upload(&mut connection, "m", &batch(&[Some(text)])).await, "type_mismatch");
    }
    connection.rows("+n(value: int)").await;
    assert_error(&upload(&mut connection, "n", &batch(&texts)).await, "type_mismatch");
    let reply = upload(&mut connection, "n", &batch(&[Some("7"), None])).await;
    assert_eq!(reply["rows"], json!([["n", 2, 0]]), "{reply}");
}

async fn upload(connection: &mut Connection, relation: &str, batch: &RecordBatch) -> Json {
    connection.send_json(json!({"type": "insert", "relation": relation, "format": "arrow"})).await;
    connection.send(Message::binary(stream(std::slice::from_ref(batch)))).await;
    connection.receive_json().await
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
    assert_eq!((&start["columns"], &start["total_count"]), (&json!(["id", "name", "weight"]), &json!(5000)));
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
