//! Several connections at once.

use serde_json::json;

use super::start;

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
