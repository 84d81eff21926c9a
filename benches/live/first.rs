//! The first answer over the network, of a question that others follow already, and the same for who comes back and has
//! missed nothing (L10). Nothing is evaluated for either.

use std::io::Cursor;
use std::time::{Duration, Instant};

use arrow::ipc::reader::StreamReader;
use criterion::Criterion;
use serde_json::{Value as Json, json};
use stratalog_benches::distinct_edges;
use stratalog_tests::server::{Connection, Server};
use tokio_tungstenite::tungstenite::{Bytes, Message as Received};

use crate::group::Group;
use crate::network::runtime;

const RULES: &str = "+path(X, Y) <- edge(X, Y)\n+path(X, Z) <- path(X, Y), edge(Y, Z)";

/// So many there are in the closure.
const ROWS: u64 = 2_511_171;

/// All rows in Arrow, from the request until the last of their bytes are there; and from the request of who has them until
/// it is told that nothing has changed.
pub(crate) fn answers(c: &mut Criterion) {
    let runtime = runtime();
    let begin = || runtime.block_on(Followed::begin());
    let mut followed = None;
    let mut group = Group::of(c, "live/first");
    group.rows(ROWS);
    group.bench("arrow".to_owned(), &mut followed, begin, |followed| runtime.block_on(followed.first()));
    group.end();
    let mut group = Group::of(c, "live/resume");
    group.bench("nothing_new".to_owned(), &mut followed, begin, |followed| {
        runtime.block_on(followed.resume())
    });
    group.end();
}

/// A question that somebody follows, who has it kept.
struct Followed {
    _server: Server,
    _follower: Connection,
    connection: Connection,
    /// What to go on with.
    resume: Json,
}

impl Followed {
    async fn begin() -> Followed {
        // More questions of one connection than servers are meant for.
        let server = Server::start_with(&[("SERVICE_HTTP__RATE_LIMIT__WS_MAX_MESSAGES_PER_SEC", "0")]);
        let mut writer = server.log_in().await;
        let edges = distinct_edges(2_000, 4_000, 1);
        let reply = writer.ask(json!({"type": "insert", "relation": "edge", "rows": edges})).await;
        assert_eq!(reply["type"], "result", "{reply}");
        writer.rows(RULES).await;
        // Who comes now is told nothing of that.
        let mut follower = server.log_in().await;
        let reply = follower.ask(subscribe()).await;
        let resume = json!({"token": reply["token"], "version": reply["version"]});
        let streams = all(&mut follower).await;
        assert_eq!(streams.into_iter().map(row_count).sum::<usize>(), ROWS as usize);
        let connection = server.log_in().await;
        Followed { _server: server, _follower: follower, connection, resume }
    }

    async fn first(&mut self) -> Duration {
        let begun = Instant::now();
        let reply = self.connection.ask(subscribe()).await;
        assert_eq!(reply["resumed"], false, "{reply}");
        let streams = all(&mut self.connection).await;
        let took = begun.elapsed();
        drop(streams);
        self.leave(&reply).await;
        took
    }

    async fn resume(&mut self) -> Duration {
        let mut request = subscribe();
        request["resume"] = self.resume.clone();
        let begun = Instant::now();
        let reply = self.connection.ask(request).await;
        let took = begun.elapsed();
        assert_eq!(reply["resumed"], true, "{reply}");
        self.leave(&reply).await;
        took
    }

    async fn leave(&mut self, subscribed: &Json) {
        let message = json!({"type": "unsubscribe", "subscription": subscribed["subscription"]});
        let reply = self.connection.ask(message).await;
        assert_eq!(reply["type"], "unsubscribed", "{reply}");
    }
}

fn subscribe() -> Json {
    json!({"type": "subscribe", "query": "?path(X, Y)", "format": "arrow"})
}

/// The Arrow streams of a first answer, each after a message that says whether it is the last.
async fn all(connection: &mut Connection) -> Vec<Bytes> {
    let mut streams = Vec::new();
    loop {
        let Received::Text(header) = connection.next_unread().await else { panic!("a header") };
        assert!(header.starts_with(r#"{"type":"delta""#), "{header}");
        let Received::Binary(stream) = connection.next_unread().await else { panic!("an Arrow stream") };
        streams.push(stream);
        if header.contains(r#""last":true"#) {
            return streams;
        }
    }
}

fn row_count(stream: Bytes) -> usize {
    let batches = StreamReader::try_new(Cursor::new(stream), None).expect("an Arrow stream");
    batches.map(|batch| batch.expect("a batch").num_rows()).sum()
}
