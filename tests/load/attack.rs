//! What others do meanwhile: programs without end, and input that is meant to hurt.

use std::time::Duration;

use serde_json::json;
use stratalog_tests::raw::{CONTINUATION, FIN, Raw, TEXT, frame};
use stratalog_tests::server::{Connection, Server};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::settings::Settings;

const PASSWORD: &str = "mallory-4711";

/// Connections that only exist.
const IDLE: usize = 2_000;

/// What goes on until the end.
pub(crate) struct Noise {
    _idle: Vec<Connection>,
    tasks: JoinSet<()>,
}

pub(crate) async fn begin(server: &Server, admin: &mut Connection, settings: &Settings) -> Noise {
    let (mut idle, mut tasks) = (Vec::new(), JoinSet::new());
    let mallory = || async { server.log_in_as("mallory", PASSWORD).await };
    if settings.divergence || settings.attack {
        admin.execute(&format!(".user create mallory {PASSWORD} editor")).await;
        let mut first = mallory().await;
        // Where an earlier run has made it, it is there.
        first.execute(".kg create hell").await;
        first.execute(".kg use hell").await;
        first.execute("+n(0)\n+n(Y) <- n(X), Y = X + 1\n+a[(1),(2),(3)]\n+b(X, Y) <- n(X), n(Y)").await;
    }
    if settings.divergence {
        for program in ["?n(X)", "?b(X, Y)", "?count<X> <- n(X)", "?n(X), n(Y), n(Z), X + Y + Z < 0"] {
            let mut connection = mallory().await;
            connection.rows(".kg use hell").await;
            tasks.spawn(async move {
                loop {
                    let ask = json!({"type": "execute", "program": program, "timeout_ms": 3_000});
                    let reply = connection.ask(ask).await;
                    assert_eq!(reply["type"], "error", "{reply}");
                }
            });
        }
    }
    if settings.attack {
        let key = admin.new_key(&format!("idle-{}", server.resident())).await;
        for _ in 0..IDLE {
            let mut connection = server.connect().await;
            assert_eq!(connection.authenticate(&key).await["type"], "authenticated");
            idle.push(connection);
        }
        for _ in 0..200 {
            let stream = TcpStream::connect(server.address()).await.expect("a connection");
            tasks.spawn(slowly(stream));
        }
        for raw in [Raw::log_in(server).await, Raw::log_in(server).await] {
            tasks.spawn(hundred_megabytes(raw));
        }
        tasks.spawn(endless_pieces(Raw::log_in(server).await));
        tasks.spawn(deep(server.log_in().await));
    }
    Noise { _idle: idle, tasks }
}

pub(crate) async fn end(mut noise: Noise) {
    noise.tasks.abort_all();
    while let Some(ended) = noise.tasks.join_next().await {
        assert!(ended.is_ok() || ended.is_err_and(|error| error.is_cancelled()), "an attacker was surprised");
    }
    // What was cancelled ends.
    tokio::time::sleep(Duration::from_secs(1)).await;
}

/// A header that never ends.
async fn slowly(mut stream: TcpStream) {
    while stream.write_all(b"x").await.is_ok() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Messages that are too large; the connection is closed in the middle of the first.
async fn hundred_megabytes(mut raw: Raw) {
    let block = vec![b' '; 1 << 20];
    raw.frame(TEXT, b"{").await;
    for _ in 0..100 {
        if !raw.frame(CONTINUATION, &block).await {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A message of empty pieces.
async fn endless_pieces(mut raw: Raw) {
    raw.frame(TEXT, b"{").await;
    let empty = frame(CONTINUATION, &[]).repeat(1_000);
    while raw.bytes(&empty).await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    raw.frame(FIN | CONTINUATION, b"}").await;
}

/// Programs that are nothing but parentheses.
async fn deep(mut connection: Connection) {
    let nested = format!("?edge(X, Y), Y = {}1{}", "(".repeat(100_000), ")".repeat(100_000));
    loop {
        assert_eq!(connection.execute(&nested).await["type"], "error");
    }
}
