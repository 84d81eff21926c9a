//! What an answer holds.

use serde_json::{Value as Json, json};
use stratalog_tests::server::Frame;

use super::{assert_error, start};

#[tokio::test]
async fn a_result_has_exactly_these_fields() {
    let (_server, mut connection) = start().await;
    connection.rows(r#"+v[(1, 2.0, "a\"é", true, null, [1, 2.5])]"#).await;
    let mut reply = connection.execute("?v(A, B, C, D, E, F)").await;
    let time = reply["execution_time_ms"].take();
    assert!(time.is_u64(), "{time}");
    assert_eq!(reply["version"].take(), 1, "one commit was made");
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
            "row_count": 1, "total_count": 1, "truncated": false, "execution_time_ms": null, "version": null
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
    assert_eq!(start["version"], 1);
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
