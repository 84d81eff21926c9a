//! Live queries over the network. How many subscribe decides how much is told after a commit, and whether a commit waits for
//! any of that: it must not. How long a question takes decides how soon its rows are in the client.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use serde_json::json;
use stratalog_benches::{define, edges_batch, load, random_graph, session_of};
use stratalog_engine::{Advance, Budget, EngineOptions, Parameters, RunOptions, Subscription, Waker};
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

/// An edge that comes or goes, until each of a thousand live queries that differ in a parameter is at its version; beside that the
/// same without anything that is kept from one version to the next.
fn parameters(c: &mut Criterion) {
    const NODES: i64 = 100_000;
    let mut group = c.benchmark_group("live/parameters");
    group.sample_size(10);
    for (way, advance) in [("forward", Advance::WhereFaster), ("anew", Advance::Never)] {
        let mut session = session_of(EngineOptions { advance, ..EngineOptions::default() });
        load(&mut session, "edge", &[edges_batch(&random_graph(NODES as u64, 90_000))]);
        define(&mut session, "+reach(X, Y) <- edge(X, Y)\n+reach(X, Z) <- reach(X, Y), edge(Y, Z)");
        let subscribe = |node: i64| {
            let question = format!("?reach({node}, Y)");
            let prepared = session.prepare(&question, &Parameters::new()).expect("a question");
            session.subscribe(prepared, Waker::new(|| ()), &Budget::unlimited()).expect("an answer")
        };
        let subscriptions: Vec<Subscription> = (0..1_000).map(subscribe).collect();
        let mut number = 0;
        group.bench_function(way, |b| {
            b.iter(|| {
                number += 1;
                let (sign, edge) = (if number % 2 == 1 { '+' } else { '-' }, (number + 1) / 2);
                let (from, to) = (edge * 37 % NODES, edge * 91 % NODES);
                let program = format!("{sign}edge({from}, {to})");
                let prepared = session.prepare(&program, &Parameters::new()).expect("a program");
                let version = session.run(prepared, &RunOptions::default(), &Budget::unlimited());
                let version = version.expect("it is done").version;
                while subscriptions.iter().any(|subscription| subscription.version() < version) {
                    std::thread::sleep(Duration::from_micros(50));
                }
            });
        });
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads")
}

criterion_group!(benches, commits, told, parameters);
criterion_main!(benches);
