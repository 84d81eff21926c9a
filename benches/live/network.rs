//! Live queries over the network (L8). How many subscribe decides how much is told after a commit, and whether a commit waits for
//! any of that: it must not. How long a question takes decides how soon its rows are in the client.
//!
//! What many who commit at once notice of live queries (L9) is measured by `make load`.

use std::time::{Duration, Instant};

use criterion::Criterion;
use serde_json::{Value as Json, json};
use stratalog_tests::load::{LINKED, SEEN, prepare, prepare_live, subscribe_aside};
use stratalog_tests::server::{Connection, Server};
use stratalog_tests::subscriber::{Subscriber, set};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

use crate::group::Group;

/// Nodes, in chains of ten.
const FACTS: u64 = 100_000;

/// Subscriptions of a crowd.
const MANY: u64 = 1_000;

/// What one sees of what [`SEEN`] asks.
const SEEN_BY: &str = "?seen($by, N), label(N, Name)";

/// What subscribes to the question of a number.
type Question = fn(u64) -> Json;

/// Live queries rest after a commit, about as long as it took to tell of it, and so long for each who was told.
const REST: Duration = Duration::from_micros(200);

/// A durable commit, from its request to its answer, while so many are told of it, or are not.
pub(crate) fn commits(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = Group::of(c, "live/commit");
    let seen = |_| json!({"query": SEEN});
    let idle = |least| json!({"query": format!("?quiet(X), X >= {least}")});
    let kinds: [(&str, u64, Question); 5] = [
        ("of_one_text", 0, seen),
        ("of_one_text", 1, seen),
        ("of_one_text", 100, seen),
        ("of_one_text", MANY, seen),
        ("idle", MANY, idle),
    ];
    for (name, count, question) in kinds {
        let begin = async || {
            let (writer, subscribers) = Writer::begin(count, question).await;
            (writer, listen(subscribers))
        };
        let mut begun = None;
        group.bench(
            format!("{name}/{count}"),
            &mut begun,
            || runtime.block_on(begin()),
            |(writer, _)| {
                let begun = Instant::now();
                runtime.block_on(writer.commit(1));
                begun.elapsed()
            },
        );
        if let Some((_writer, mut readers)) = begun {
            runtime.block_on(readers.shutdown());
        }
    }
    group.end();
}

/// Lets each apply what it is told.
fn listen(subscribers: Vec<Subscriber>) -> JoinSet<()> {
    let mut readers = JoinSet::new();
    for mut subscriber in subscribers {
        readers.spawn(async move {
            loop {
                // What is idle is told nothing, for longer than others wait.
                let told = subscriber.all(Duration::from_secs(1)).await;
                told.expect("the question has an answer");
            }
        });
    }
    readers
}

/// From the request of a commit until its rows are in the last client that is told.
pub(crate) fn told(c: &mut Criterion) {
    let runtime = runtime();
    let mut group = Group::of(c, "live/told");
    let brief = |_| json!({"query": SEEN});
    let recursive = |_| json!({"query": LINKED});
    let own = |by| json!({"query": SEEN_BY, "params": {"by": by}});
    // How many have subscribed, of how many rows a commit is, and how many are told of it.
    let kinds: [(&str, u64, u64, u64, Question); 5] = [
        ("brief", 1, 1, 1, brief),
        ("recursive", 1, 1, 1, recursive),
        ("of_one_text", MANY, 1, MANY, brief),
        ("of_parameters", MANY, 1, 1, own),
        ("of_parameters", MANY, 10, 10, own),
    ];
    for (name, count, rows, told, question) in kinds {
        let mut begun = None;
        group.bench(
            format!("{name}/{told}"),
            &mut begun,
            || runtime.block_on(Writer::begin(count, question)),
            |(writer, subscribers)| runtime.block_on(tell(writer, rows, &mut subscribers[..told as usize])),
        );
        if let Some((mut writer, subscribers)) = begun {
            runtime.block_on(writer.compare(&subscribers[..told as usize]));
        }
    }
    group.end();
}

async fn tell(writer: &mut Writer, rows: u64, subscribers: &mut [Subscriber]) -> Duration {
    // Whoever commits when they have rested waits for nothing else.
    tokio::time::sleep(writer.last + REST * subscribers.len() as u32).await;
    let begun = Instant::now();
    let told = async {
        for subscriber in subscribers {
            subscriber.next().await.expect("the question has an answer");
        }
    };
    tokio::join!(told, writer.commit(rows));
    writer.last = begun.elapsed();
    writer.last
}

/// One who commits on a server of its own.
struct Writer {
    connection: Connection,
    number: u64,
    /// How long it took to tell of the last commit.
    last: Duration,
    _server: Server,
}

impl Writer {
    /// With so many who have subscribed, each to a question of its number.
    async fn begin(count: u64, question: Question) -> (Writer, Vec<Subscriber>) {
        // More subscriptions of one user, and more who come at once, than servers are meant for.
        let settings = [
            ("SERVICE_HTTP__RATE_LIMIT__MAX_REQUESTS_PER_SEC_PER_ADDRESS", "0"),
            ("SERVICE_LIVE__MAX_PER_USER", "0"),
            ("SERVICE_LIVE__MAX_QUERIES", "2000"),
        ];
        let server = Server::start_with(&settings);
        let mut connection = server.log_in().await;
        prepare(&mut connection, FACTS).await;
        prepare_live(&mut connection).await;
        let key = connection.new_key("bench").await;
        let mut subscribers = Vec::new();
        for number in 0..count {
            let mut reader = server.connect().await;
            assert_eq!(reader.authenticate(&key).await["type"], "authenticated");
            subscribers.push(subscribe_aside(reader, question(number)).await);
        }
        (Writer { connection, number: 0, last: Duration::ZERO, _server: server }, subscribers)
    }

    /// So many see a node, or have not seen it; each changes its answer.
    async fn commit(&mut self, count: u64) {
        let sign = if self.number.is_multiple_of(2) { '+' } else { '-' };
        // In the chain of node 0, and so linked with it, are those before.
        let node = 10 + self.number / 2 % (FACTS - 10);
        self.number += 1;
        let rows: Vec<String> = (0..count).map(|by| format!("({by}, {node})")).collect();
        let reply = self.connection.execute(&format!("{sign}seen[{}]", rows.join(", "))).await;
        assert_eq!(reply["type"], "result", "{reply}");
        self.connection.forget_notifications();
    }

    /// Each copy is what a query answers.
    async fn compare(&mut self, subscribers: &[Subscriber]) {
        for subscriber in subscribers {
            let mut message = subscriber.request.clone();
            (message["type"], message["program"]) = (json!("execute"), message["query"].take());
            let reply = self.connection.ask(message).await;
            assert_eq!(reply["type"], "result", "{reply}");
            assert_eq!(subscriber.copy, set(&reply["rows"]), "{reply}");
        }
    }
}

pub(crate) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("threads")
}
