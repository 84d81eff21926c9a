//! A server over the network: a real process, real sockets, JSON and Arrow. The number of connections decides how much
//! waits; the format of large rows, how much of the time is spent on their text.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow::ipc::writer::StreamWriter;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value as Json, json};
use stratalog_protocol::Message;
use stratalog_tests::load::{Fleet, MIX, prepare};
use stratalog_tests::server::{Connection, Frame, Server};
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::Message as Sent;

/// Facts that are asked about.
const FACTS: u64 = 100_000;

/// Rows of a large answer, and facts of a large insert.
const MANY: u64 = 1_000_000;

/// Facts in one message of text.
const JSON_ROWS: usize = 100_000;

/// Bytes in a binary frame that is sent.
const FRAME: usize = 1 << 20;

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads")
}

/// Seconds that so many rounds take; each says how much of itself counts.
async fn rounds(times: u64, mut round: impl AsyncFnMut() -> Duration) -> Duration {
    let mut sum = Duration::ZERO;
    for _ in 0..times {
        sum += round().await;
    }
    sum
}

/// The time until something is done.
async fn timed(work: impl Future<Output = ()>) -> Duration {
    let start = Instant::now();
    work.await;
    start.elapsed()
}

/// Lookups, bound recursive questions and durable inserts, by the number of connections that ask at the same time.
fn mix(c: &mut Criterion) {
    let (runtime, server) = (runtime(), Server::start());
    let key = runtime.block_on(async {
        let mut admin = server.log_in().await;
        prepare(&mut admin, FACTS).await;
        admin.new_key("bench").await
    });
    let mix = MIX.parse().expect("a mix");
    let mut group = c.benchmark_group("network/mix");
    for connections in [1, 8, 64, 256] {
        let mut fleet = runtime.block_on(Fleet::connect(&server, &key, &mix, FACTS, connections));
        let asked = connections as u64;
        group.throughput(Throughput::Elements(asked));
        group.bench_function(format!("{connections}"), |b| {
            b.iter_custom(|times| {
                let ask = async {
                    let figures = fleet.ask(times * asked).await;
                    assert_eq!(figures.errors, 0, "{:?}", figures.error);
                };
                runtime.block_on(timed(ask))
            });
        });
    }
}

/// A million rows of three columns, from the request to the last of them.
fn rows_out(c: &mut Criterion) {
    let (runtime, server) = (runtime(), Server::start());
    let mut connection = runtime.block_on(async {
        let mut connection = server.log_in().await;
        insert(&mut connection, &facts()).await;
        connection
    });
    let mut group = c.benchmark_group("network/rows_out");
    group.throughput(Throughput::Elements(MANY)).sample_size(10);
    for format in ["arrow", "json"] {
        group.bench_function(format, |b| {
            b.iter_custom(|times| {
                runtime.block_on(rounds(times, async || {
                    timed(read(
                        &mut connection,
                        json!({"type": "execute", "program": "?big(X, Y, Z)", "format": format}),
                    ))
                    .await
                }))
            });
        });
    }
    // What cannot be saved: the text alone.
    let rows = rows();
    group.bench_function("json_written_by_serde_json_alone", |b| {
        b.iter(|| serde_json::to_vec(&rows).expect("integers").len());
    });
}

/// Asks, and reads to the end without looking at rows.
async fn read(connection: &mut Connection, message: Json) {
    connection.send_json(message).await;
    let rows = loop {
        match connection.next_unread().await {
            Sent::Text(text) if text.starts_with(r#"{"type":"result_end""#) => {
                let end: Json = serde_json::from_str(&text).expect("JSON");
                break end["row_count"].as_u64();
            }
            Sent::Text(text) if text.starts_with(r#"{"type":"error""#) => panic!("{text}"),
            Sent::Text(_) | Sent::Binary(_) => {}
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(rows, Some(MANY));
}

/// A million facts into an empty relation, until they are durable: in one Arrow stream, which is one commit, and in
/// messages of text, each a commit.
fn facts_in(c: &mut Criterion) {
    let (runtime, server) = (runtime(), Server::start());
    let mut connection = runtime.block_on(server.log_in());
    let facts = facts();
    let mut group = c.benchmark_group("network/facts_in");
    group.throughput(Throughput::Elements(MANY)).sample_size(10);
    group.bench_function("arrow", |b| {
        b.iter_custom(|times| {
            runtime.block_on(rounds(times, async || {
                let time = timed(insert(&mut connection, &facts)).await;
                connection.rows("-big(X, Y, Z) <- big(X, Y, Z)").await;
                time
            }))
        });
    });
    let parts: Vec<Vec<[i64; 3]>> = rows().chunks(JSON_ROWS).map(<[_]>::to_vec).collect();
    let messages: Vec<String> = parts
        .iter()
        .map(|rows| json!({"type": "insert", "relation": "big", "rows": rows}).to_string())
        .collect();
    group.bench_function("json", |b| {
        b.iter_custom(|times| {
            runtime.block_on(rounds(times, async || {
                let time = timed(async {
                    for message in &messages {
                        connection.send(Sent::text(message.clone())).await;
                        acknowledged(connection.receive().await);
                    }
                })
                .await;
                connection.rows("-big(X, Y, Z) <- big(X, Y, Z)").await;
                time
            }))
        });
    });
    // What a server reads before it does anything with the facts, beside the least that anybody would.
    group.bench_function("json_read_as_messages_alone", |b| {
        b.iter(|| messages.iter().for_each(|text| drop(Message::parse(text).expect("a message"))));
    });
    let texts: Vec<Vec<u8>> = parts.iter().map(|rows| serde_json::to_vec(rows).expect("integers")).collect();
    group.bench_function("json_read_by_serde_json_alone", |b| {
        b.iter(|| {
            let read = |text: &Vec<u8>| serde_json::from_slice::<Vec<[i64; 3]>>(text).expect("rows").len();
            assert_eq!(texts.iter().map(read).sum::<usize>(), MANY as usize);
        });
    });
}

/// The facts: columns by the factor that makes them.
const FACTORS: [i64; 3] = [1, 7_919, 104_729];

fn rows() -> Vec<[i64; 3]> {
    (0..MANY as i64).map(|row| FACTORS.map(|factor| row * factor % MANY as i64)).collect()
}

/// An Arrow stream of facts.
fn facts() -> Vec<u8> {
    let rows = rows();
    let column = |place: usize| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(rows.iter().map(|row| row[place])))
    };
    let columns = [("x", column(0)), ("y", column(1)), ("z", column(2))];
    let batch = RecordBatch::try_from_iter(columns).expect("columns of one length");
    let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).expect("a stream");
    for start in (0..batch.num_rows()).step_by(1 << 16) {
        writer.write(&batch.slice(start, (batch.num_rows() - start).min(1 << 16))).expect("written");
    }
    writer.into_inner().expect("the end is written")
}

async fn insert(connection: &mut Connection, stream: &[u8]) {
    connection.send_json(json!({"type": "insert", "relation": "big", "format": "arrow"})).await;
    for frame in stream.chunks(FRAME) {
        connection.send(Sent::binary(frame.to_vec())).await;
    }
    acknowledged(connection.receive().await);
}

fn acknowledged(frame: Frame) {
    match frame {
        Frame::Text(reply) => assert_eq!(reply["type"], "result", "{reply}"),
        other => panic!("{other:?}"),
    }
}

criterion_group!(benches, mix, rows_out, facts_in);
criterion_main!(benches);
