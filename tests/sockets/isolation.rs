//! Readers and writers at the same time: every query sees exactly one version, versions only grow, and what was
//! acknowledged on one connection is there on every other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value as Json, json};
use stratalog_tests::server::{Connection, Server};
use tokio::task::JoinHandle;

/// How long writers and readers are at it.
const TIME: Duration = Duration::from_secs(2);

/// How often each has to come to its turn.
const ENOUGH: i64 = 10;

/// Set when everybody is to stop.
type Over = Arc<AtomicBool>;

/// Asks the same again and again and looks at each answer; `state` is the reader's own. Answers how often.
fn read<S: Send + 'static>(
    server: &Server,
    over: &Over,
    query: &'static str,
    mut state: S,
    look: fn(&mut S, Json),
) -> JoinHandle<i64> {
    let (url, over) = (server.url(), over.clone());
    tokio::spawn(async move {
        let mut connection = Connection::open(&url).await.expect("a connection");
        let mut times = 0;
        while times <= ENOUGH || !over.load(Ordering::Relaxed) {
            look(&mut state, connection.rows(query).await);
            times += 1;
        }
        times
    })
}

/// Runs programs, made of the number of the step, until it is over. Answers how many.
fn write(server: &Server, over: &Over, program: impl Fn(i64) -> String + Send + 'static) -> JoinHandle<i64> {
    let (url, over) = (server.url(), over.clone());
    tokio::spawn(async move {
        let mut connection = Connection::open(&url).await.expect("a connection");
        let mut step = 0;
        while step <= ENOUGH || !over.load(Ordering::Relaxed) {
            connection.rows(&program(step)).await;
            step += 1;
        }
        step
    })
}

/// Lets them work.
async fn finish(over: &Over, tasks: Vec<JoinHandle<i64>>) {
    tokio::time::sleep(TIME).await;
    over.store(true, Ordering::Relaxed);
    for task in tasks {
        task.await.expect("nobody saw anything wrong");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn money_moves_and_never_appears_or_vanishes() {
    let (server, over) = (Server::start(), Over::default());
    let mut connection = server.log_in().await;
    let accounts: Vec<String> = (0..20).map(|i| format!("({i}, 100)")).collect();
    connection.rows(&format!("+account[{}]", accounts.join(", "))).await;
    connection.rows("+total(sum<B>) <- account(_, B)\n+holders(count<A>) <- account(A, _)").await;
    let transfer = |writer: i64| {
        move |step: i64| {
            let from = (writer * 5 + step) % 20;
            let to = (from + 1 + (writer * 7 + step * 3) % 19) % 20;
            format!(
                "-account({from}, A), -account({to}, B), +account({from}, C), +account({to}, D) <- \
                 account({from}, A), account({to}, B), A > 0, C = A - 1, D = B + 1"
            )
        }
    };
    let mut tasks: Vec<_> = (0..4).map(|writer| write(&server, &over, transfer(writer))).collect();
    for _ in 0..2 {
        tasks.push(read(&server, &over, "?total(T)", (), |(), sum| assert_eq!(sum, json!([[2000]]))));
        tasks.push(read(&server, &over, "?holders(N)", (), |(), count| assert_eq!(count, json!([[20]]))));
    }
    finish(&over, tasks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bulk_insert_is_seen_whole_or_not_at_all() {
    const BULK: i64 = 500;
    let (server, over) = (Server::start(), Over::default());
    server.log_in().await.rows("+fact(-1, -1)\n-fact(-1, -1)").await;
    let bulk = |writer: i64| {
        move |step: i64| {
            let rows: Vec<String> = (0..BULK).map(|i| format!("({}, {i})", step * 2 + writer)).collect();
            // Every other one is deleted again, as a whole.
            match step % 2 {
                0 => format!("+fact[{}]", rows.join(", ")),
                _ => format!("-fact(X, I) <- fact(X, I), X = {}", (step - 1) * 2 + writer),
            }
        }
    };
    let mut tasks: Vec<_> = (0..2).map(|writer| write(&server, &over, bulk(writer))).collect();
    for _ in 0..3 {
        tasks.push(read(&server, &over, "?X, count<I> <- fact(X, I)", (), |(), counts| {
            for row in counts.as_array().expect("rows") {
                assert_eq!(row[1], json!(BULK), "{counts}");
            }
        }));
    }
    finish(&over, tasks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_reader_sees_an_earlier_version_after_a_later_one() {
    let (server, over) = (Server::start(), Over::default());
    server.log_in().await.rows("+counter(0)\n+twice(M) <- counter(N), M = N * 2").await;
    let count = |_| "-counter(N), +counter(M) <- counter(N), M = N + 1".to_owned();
    let mut tasks = vec![write(&server, &over, count)];
    for _ in 0..3 {
        tasks.push(read(&server, &over, "?counter(N), twice(M)", 0, |last: &mut i64, rows| {
            let (now, twice) = (rows[0][0].as_i64().expect("a number"), rows[0][1].as_i64());
            assert_eq!(rows.as_array().map(Vec::len), Some(1), "{rows}");
            assert_eq!(twice, Some(now * 2), "two versions in one answer");
            assert!(now >= *last, "{now} after {last}");
            *last = now;
        }));
    }
    finish(&over, tasks).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_acknowledged_is_there_on_every_connection() {
    let (server, over) = (Server::start(), Over::default());
    server.log_in().await.rows("+n(0)").await;
    let acknowledged = Arc::new(AtomicI64::new(0));
    let writer = {
        let (url, over, acknowledged) = (server.url(), over.clone(), acknowledged.clone());
        tokio::spawn(async move {
            let mut connection = Connection::open(&url).await.expect("a connection");
            let mut next = 1;
            while next <= ENOUGH || !over.load(Ordering::Relaxed) {
                connection.rows(&format!("+n({next})")).await;
                acknowledged.store(next, Ordering::SeqCst);
                next += 1;
            }
            next
        })
    };
    let mut tasks = vec![writer];
    for _ in 0..3 {
        let (url, over, acknowledged) = (server.url(), over.clone(), acknowledged.clone());
        tasks.push(tokio::spawn(async move {
            let mut connection = Connection::open(&url).await.expect("a connection");
            let mut times = 0;
            while times <= ENOUGH || !over.load(Ordering::Relaxed) {
                let latest = acknowledged.load(Ordering::SeqCst);
                assert_eq!(connection.rows(&format!("?n({latest})")).await, json!([[latest]]));
                times += 1;
            }
            times
        }));
    }
    finish(&over, tasks).await;
}
