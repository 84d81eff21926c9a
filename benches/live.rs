//! Live queries over the network. How many subscribe decides how much is told after a commit, and whether a commit waits for
//! any of that: it must not. How long a question takes decides how soon its rows are in the client.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::json;
use stratalog_tests::load::{LINKED, SEEN, prepare, prepare_live, subscribe_aside};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::subscriber::Subscriber;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Nodes, in chains of ten.
const FACTS: u64 = 100_000;

fn start(runtime: &Runtime) -> (Arc<Server>, Connection) {
    // More subscriptions of one user than servers are meant for.
    let settings = [("SERVICE_LIVE__MAX_PER_USER", "0"), ("SERVICE_LIVE__MAX_QUERIES", "2000")];
    let server = Arc::new(Server::start_with(&settings));
    let writer = runtime.block_on(async {
        let mut admin = server.log_in().await;
        prepare(&mut admin, FACTS).await;
        prepare_live(&mut admin).await;
        admin
    });
    (server, writer)
}

async fn subscriber(server: &Server, question: &str) -> Subscriber {
    subscribe_aside(server.log_in().await, json!({"query": question})).await
}

/// Inserts a fact, or deletes it again; each changes every answer.
async fn commit(writer: &mut Connection, number: u64) {
    let sign = if number.is_multiple_of(2) { '+' } else { '-' };
    // In the chain of node 0, and so linked with it, are those before.
    let node = 10 + number / 2 % (FACTS - 10);
    let reply = writer.execute(&format!("{sign}seen(0, {node})")).await;
    assert_eq!(reply["type"], "result", "{reply}");
}

/// A durable commit, from its request to its answer, while so many are told of it, or are not.
fn commits(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = c.benchmark_group("live/commit");
    group.sample_size(20);
    let idle: Vec<String> = (0..1_000).map(|least| format!("?quiet(X), X >= {least}")).collect();
    let same = |count| vec![SEEN.to_owned(); count];
    for (name, questions) in [
        ("of_one_text", same(0)),
        ("of_one_text", same(1)),
        ("of_one_text", same(100)),
        ("of_one_text", same(1_000)),
        ("idle", idle),
    ] {
        let (server, mut writer) = start(&runtime);
        let mut readers = runtime.block_on(async {
            let mut readers = JoinSet::new();
            for question in &questions {
                let mut subscriber = subscriber(&server, question).await;
                readers.spawn(async move {
                    loop {
                        // What is idle is told nothing, for longer than others wait.
                        let told = subscriber.all(Duration::from_secs(1)).await;
                        told.expect("the question has an answer");
                    }
                });
            }
            readers
        });
        let mut number = 0;
        group.bench_function(BenchmarkId::new(name, questions.len()), |b| {
            b.iter_custom(|times| {
                runtime.block_on(async {
                    let begun = Instant::now();
                    for _ in 0..times {
                        commit(&mut writer, number).await;
                        number += 1;
                    }
                    begun.elapsed()
                })
            });
        });
        runtime.block_on(readers.shutdown());
    }
}

/// From the request of a commit to its rows in the client, one after the other.
fn told(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = c.benchmark_group("live/told");
    group.sample_size(20);
    for (name, question) in [("brief", SEEN), ("recursive", LINKED)] {
        let (server, mut writer) = start(&runtime);
        let mut subscriber = runtime.block_on(subscriber(&server, question));
        let mut number = 0;
        group.bench_function(name, |b| {
            b.iter_custom(|times| {
                runtime.block_on(async {
                    let begun = Instant::now();
                    for _ in 0..times {
                        let request = commit(&mut writer, number);
                        let (told, ()) = tokio::join!(subscriber.next(), request);
                        told.expect("the question has an answer");
                        number += 1;
                    }
                    begun.elapsed()
                })
            });
        });
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads")
}

criterion_group!(benches, commits, told);
criterion_main!(benches);
