//! Nearest vectors for `peers/vectors.py`: `nearest ROWS QUERIES DIMENSION METRIC EF..`, with files of 32-bit floats. Prints
//! as JSON how long it took to load the rows and to build the index, the seconds of all questions row by row and with
//! each number of candidates, and the ids that were found.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of the command line")]

use std::path::Path;
use std::time::Instant;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use serde_json::{Value as Json, json};
use stratalog_benches::{answer, define, load, session, settle, vector_rows};
use stratalog_engine::{Budget, Content, Parameters, Rows, RunOptions, Session, Value};

/// Questions that are answered row by row: they take long.
const EXACT: usize = 20;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [rows, queries, dimension, metric, candidates @ ..] = arguments.as_slice() else {
        eprintln!("usage: nearest ROWS QUERIES DIMENSION METRIC EF..");
        std::process::exit(2);
    };
    let dimension: usize = dimension.parse().expect("a number");
    let queries: Vec<Vec<f32>> = floats(Path::new(queries)).chunks(dimension).map(<[f32]>::to_vec).collect();
    let mut session = session();
    define(&mut session, &format!("+doc(id: int, v: vector({dimension}))"));
    let start = Instant::now();
    load(&mut session, "doc", &[vector_rows(floats(Path::new(rows)), dimension)]);
    let load_s = start.elapsed().as_secs_f64();
    let loaded_mb = memory_mb();
    let function = if metric == "l2" { "euclidean" } else { metric.as_str() };
    let exact = format!("?top_k<10, Id, D:asc> <- doc(Id, V), D = {function}(V, $q)");
    ask(&mut session, &exact, &queries[0]);
    let (exact_s, exact_ids) = timed(&mut session, &exact, &queries[..EXACT.min(queries.len())]);

    let mut found = json!({
        "load_s": load_s,
        "loaded_mb": loaded_mb,
        "exact_s": exact_s / exact_ids.len() as f64,
        "exact_ids": exact_ids,
    });
    if !candidates.is_empty() {
        let start = Instant::now();
        define(&mut session, &format!(".index create near on doc(v) metric {metric}"));
        settle(&mut session);
        found["build_s"] = json!(start.elapsed().as_secs_f64());
        found["built_mb"] = json!(memory_mb());
        let stats = answer(&mut session, ".index stats near");
        let stats = stats.batch(0, 1);
        let ef = stats.column_by_name("ef_search").expect("a column").as_primitive::<Int64Type>().value(0);
        found["ef"] = json!(ef);
    }
    let mut searches = Vec::new();
    for ef in candidates {
        let question = format!("?hnsw_nearest(\"near\", $q, 10, Id, D, {ef})");
        ask(&mut session, &question, &queries[0]);
        let (seconds, ids) = timed(&mut session, &question, &queries);
        searches.push(json!({ "ef": ef.parse::<u64>().expect("a number"), "seconds": seconds, "ids": ids }));
    }
    found["searches"] = json!(searches);
    println!("{found}");
}

/// The seconds of all questions, and the ids that each found.
fn timed(session: &mut Session, question: &str, queries: &[Vec<f32>]) -> (f64, Vec<Json>) {
    let start = Instant::now();
    let answers: Vec<Rows> = queries.iter().map(|query| ask(session, question, query)).collect();
    let seconds = start.elapsed().as_secs_f64();
    let ids = answers.iter().map(|rows| {
        let batch = rows.batch(0, rows.row_count());
        json!(batch.column(0).as_primitive::<Int64Type>().values().to_vec())
    });
    (seconds, ids.collect())
}

fn ask(session: &mut Session, question: &str, query: &[f32]) -> Rows {
    let parameters = Parameters::from([("q".to_owned(), Value::Vector(query.into()))]);
    let prepared = session.prepare(question, &parameters);
    let answer = prepared.and_then(|p| session.run(p, &RunOptions::default(), &Budget::unlimited()));
    match answer.unwrap_or_else(|error| panic!("{}", error.render(question))).content {
        Content::Rows(rows) => rows,
        Content::Messages(messages) => panic!("{question} is no query: {messages:?}"),
    }
}

fn floats(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).expect("a file of floats");
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// The memory that the process has at this moment.
fn memory_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) / 1_024
}
