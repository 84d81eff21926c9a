//! What writing and storing takes of memory: it is known before it is taken, and has bounds. Over a socket, against the
//! real executable.

use std::sync::Arc;

use arrow::array::{ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray, StringViewArray};
use arrow::datatypes::Int32Type;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Server};
use tempfile::TempDir;
use tokio_tungstenite::tungstenite::Message;

const MB: u64 = 1 << 20;

/// A request may use so much.
const QUERY_MEMORY: &[(&str, &str)] = &[("SERVICE_LIMITS__QUERY_MEMORY_BYTES", "134217728")];

fn numbers(count: usize) -> String {
    (0..count).map(|n| format!("({n})")).collect::<Vec<_>>().join(",")
}

async fn insert_arrow(connection: &mut Connection, relation: &str, batch: &RecordBatch) -> Json {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a stream");
    writer.write(batch).expect("written");
    let stream = writer.into_inner().expect("the end is written");
    connection.send_json(json!({"type": "insert", "relation": relation, "format": "arrow", "id": 1})).await;
    for frame in stream.chunks(1 << 20) {
        connection.send(Message::binary(frame.to_vec())).await;
    }
    connection.receive_json().await
}

#[tokio::test]
async fn a_long_text_beside_many_numbers_is_written_once() {
    const ROWS: usize = 1_500;
    let folder = TempDir::new().expect("a temporary folder");
    let server = Server::start_in(folder.path(), QUERY_MEMORY);
    let mut admin = server.log_in().await;
    admin.rows(&format!("+t(\"{}\")", "x".repeat(1_000_000))).await;
    admin.rows(&format!("+n[{}]", numbers(ROWS))).await;
    admin.rows("+a(T, N) <- t(T), n(N)").await;
    // The same as a column of several types, and as vectors.
    admin.rows("+mixed(T, N) <- t(T), n(N), N > 0\n+mixed(1, 0)\n+mixed(null, 0)").await;
    let vector = vec!["0.5"; 100_000].join(",");
    admin.rows(&format!("+v([{vector}])")).await;
    admin.rows("+near(V, N) <- v(V), n(N)").await;
    assert!(server.peak() < 700 * MB, "{} MB", server.peak() / MB);
    drop(server);
    let counted = "?count<N> <- a(_, N)\n?count<N> <- mixed(_, N)\n?count<N> <- near(_, N)";
    for _ in 0..2 {
        // The first start reads the journal, the second one what a checkpoint wrote.
        let server = Server::start_in(folder.path(), QUERY_MEMORY);
        let mut admin = server.log_in().await;
        for (statement, count) in counted.lines().zip([ROWS, ROWS, ROWS]) {
            assert_eq!(admin.rows(statement).await, json!([[count]]), "{statement}");
        }
        assert_eq!(admin.rows("?t(T), a(T, 7)").await[0][0].as_str().map(str::len), Some(1_000_000));
        admin.rows(".compact").await;
        assert!(server.peak() < 700 * MB, "{} MB", server.peak() / MB);
    }
}

#[tokio::test]
async fn arrow_that_shares_a_text_among_rows_is_never_spread_out() {
    const ROWS: usize = 5_000;
    let server = Server::start_with(QUERY_MEMORY);
    let mut admin = server.log_in().await;
    let text = "x".repeat(1_000_000);
    let n: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS as i64));
    let values: ArrayRef = Arc::new(StringArray::from(vec![text.as_str()]));
    let keys = Int32Array::from(vec![0; ROWS]);
    let dictionary: ArrayRef = Arc::new(DictionaryArray::<Int32Type>::new(keys, values));
    let one = StringViewArray::from(vec![text.as_str()]);
    let shared = vec![one.views()[0]; ROWS];
    let views = StringViewArray::try_new(shared.into(), one.data_buffers().to_vec(), None);
    let views: ArrayRef = Arc::new(views.expect("views of one buffer"));
    for (name, column) in [("d", dictionary), ("v", views)] {
        let batch = RecordBatch::try_from_iter([("t", column), ("n", Arc::clone(&n))]).expect("a batch");
        let reply = insert_arrow(&mut admin, name, &batch).await;
        assert_eq!((&reply["type"], &reply["inserted"]), (&json!("inserted"), &json!(ROWS)), "{reply}");
        assert_eq!(admin.rows(&format!("?count<N> <- {name}(_, N)")).await, json!([[ROWS]]));
    }
    assert!(server.peak() < 500 * MB, "{} MB", server.peak() / MB);
}

#[tokio::test]
async fn a_write_that_takes_too_much_is_refused_with_the_figures() {
    let server = Server::start_with(&[("SERVICE_LIMITS__QUERY_MEMORY_BYTES", "8388608")]);
    let mut admin = server.log_in().await;
    for text in ["a", "b", "c"] {
        admin.rows(&format!("+t(\"{}\")", text.repeat(900_000))).await;
    }
    admin.rows(&format!("+n[{}]", numbers(5))).await;
    // Eight columns of long texts, none of which are the same side by side.
    let wide = "+w(A, B, C, D, E, F, G, H, N) <- t(A), t(B), t(C), t(D), t(E), t(F), t(G), t(H), n(N), \
                A != B, C != D, E != F, G != H";
    let reply = admin.execute(wide).await;
    assert_eq!(reply["code"], "limit_exceeded", "{reply}");
    assert_eq!(reply["limit"]["name"], "query_memory_bytes", "{reply}");
    assert_eq!(admin.execute("?w(A, B, C, D, E, F, G, H, N)").await["code"], "unknown_relation");
    // Columns without bytes on the wire take memory here all the same.
    let nothing: ArrayRef = Arc::new(arrow::array::NullArray::new(4_000_000));
    let bits: ArrayRef = Arc::new(arrow::array::BooleanArray::from(vec![true; 4_000_000]));
    let columns = (0..30).map(|n| (format!("c{n}"), Arc::clone(&nothing))).chain([("b".to_owned(), bits)]);
    let batch = RecordBatch::try_from_iter(columns).expect("a batch");
    let reply = insert_arrow(&mut admin, "empty", &batch).await;
    assert_eq!(reply["code"], "limit_exceeded", "{reply}");
    assert!(server.peak() < 300 * MB, "{} MB", server.peak() / MB);
}
