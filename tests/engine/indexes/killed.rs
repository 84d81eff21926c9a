//! A server that is killed while rows come and go: after each start its index finds what is there and nothing else.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::times::PATIENCE;

use super::random::Random;

const DIMENSION: usize = 16;
const K: usize = 10;
/// Fewer than ten thousand are looked at row by row.
const ROWS: usize = 13_000;
const ROUNDS: usize = 4;
const QUERIES: usize = 20;

type Docs = BTreeMap<i64, Vec<f64>>;

#[tokio::test]
async fn an_index_is_right_after_every_kill() {
    let mut random = Random::new(11);
    let centres: Vec<Vec<f32>> =
        (0..20).map(|_| (0..DIMENSION).map(|_| 2.0 * random.normal()).collect()).collect();
    let vector = |random: &mut Random| -> Vec<f32> {
        let centre = &centres[random.below(centres.len())];
        centre.iter().map(|x| x + random.normal()).collect()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Server::start_in(folder.path(), &[]);
    let mut admin = server.log_in().await;
    admin
        .rows(&format!("+doc(id: int, v: vector({DIMENSION}))\n.index create near on doc(v) metric l2"))
        .await;
    let mut next = 0;
    let mut more = |random: &mut Random, count: usize| {
        let rows: Vec<Json> = (next..next + count).map(|id| json!([id, vector(random)])).collect();
        next += count;
        json!({"type": "insert", "relation": "doc", "rows": rows})
    };
    admin.ask(more(&mut random, ROWS)).await;
    for round in 0..ROUNDS {
        for _ in 0..3 + random.below(4) {
            let change = match random.below(3) {
                0 => {
                    let (divisor, rest) = (11 + random.below(20), random.below(11));
                    let program = format!("-doc(Id, V) <- doc(Id, V), Id % {divisor} = {rest}");
                    json!({"type": "execute", "program": program})
                }
                _ => more(&mut random, 300),
            };
            admin.ask(change).await;
        }
        // Enough for the index to be asked, even if a seventh goes now.
        let missing = ROWS.saturating_sub(docs(&mut admin).await.len());
        admin.ask(more(&mut random, missing.max(1))).await;
        // Nobody knows of the last ones how far they get.
        admin.send_json(json!({"type": "execute", "program": "-doc(Id, V) <- doc(Id, V), Id % 7 = 3"})).await;
        admin.send_json(more(&mut random, 2_000)).await;
        tokio::time::sleep(Duration::from_millis(random.below(40) as u64)).await;
        drop(server);
        server = Server::start_in(folder.path(), &[]);
        admin = server.log_in().await;
        let docs = docs(&mut admin).await;
        assert!(docs.len() > 10_000, "round {round}: {} rows are left", docs.len());
        built(&mut admin).await;
        let mut hits = 0;
        for _ in 0..QUERIES {
            hits += ask(&mut admin, &docs, &vector(&mut random)).await;
        }
        assert!(hits * 100 >= QUERIES * K * 95, "round {round}: {hits} of {} found", QUERIES * K);
    }
}

/// What is there.
async fn docs(admin: &mut Connection) -> Docs {
    let rows = admin.all_rows("?doc(Id, V)").await;
    let vector = |json: &Json| -> Vec<f64> { serde_json::from_value(json.clone()).expect("a vector") };
    rows.iter().map(|row| (row[0].as_i64().expect("an id"), vector(&row[1]))).collect()
}

async fn built(admin: &mut Connection) {
    let built = async {
        while admin.rows(".index list").await[0][6] != json!(true) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(3 * PATIENCE, built).await.expect("the index is built");
}

/// Compares an answer with all that is there; how many of the nearest it has.
async fn ask(admin: &mut Connection, docs: &Docs, query: &[f32]) -> usize {
    let away = |vector: &[f64]| -> f64 {
        vector.iter().zip(query).map(|(x, y)| (x - f64::from(*y)).powi(2)).sum::<f64>().sqrt()
    };
    let mut distances: Vec<f64> = docs.values().map(|vector| away(vector)).collect();
    distances.sort_by(f64::total_cmp);
    let program = format!("?hnsw_nearest(\"near\", {query:?}, {K}, Id, D)");
    let plan = admin.rows(&format!(".explain {program}")).await.to_string();
    assert!(plan.contains("approximate"), "{plan}");
    let rows = admin.rows(&program).await;
    let rows = rows.as_array().expect("rows");
    assert_eq!(rows.len(), K);
    let mut hits = 0;
    for row in rows {
        let (id, distance) = (row[0].as_i64().expect("an id"), row[1].as_f64().expect("a distance"));
        let vector = docs.get(&id).unwrap_or_else(|| panic!("{id} is not there"));
        assert!((away(vector) - distance).abs() < 1e-3, "{id} is {} away, not {distance}", away(vector));
        hits += usize::from(distance <= distances[K - 1] + 1e-3);
    }
    hits
}
