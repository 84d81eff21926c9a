//! Those who are slow, silent, or gone without a word.

use std::time::Duration;

use serde_json::json;
use stratalog_tests::server::PASSWORD;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::Siege;
use stratalog_tests::raw::{FIN, Raw, TEXT, frame};
use stratalog_tests::times::PATIENCE;

/// Sends a byte now and then until the server ends the connection.
async fn trickle(mut stream: TcpStream, bytes: &'static [u8]) {
    let start = tokio::time::Instant::now();
    let mut received = Vec::new();
    for byte in bytes.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() {
            break;
        }
        match tokio::time::timeout(Duration::from_millis(200), stream.read_buf(&mut received)).await {
            Err(_) => {}
            Ok(Ok(0) | Err(_)) => break,
            Ok(Ok(_)) => {}
        }
        assert!(start.elapsed() < PATIENCE, "it is never ended");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_requests_are_ended_and_hold_up_nobody() {
    let siege = Siege::begin(&[]).await;
    let mut slow = Vec::new();
    for n in 0..400 {
        let mut stream = TcpStream::connect(siege.server.address()).await.expect("a connection");
        let (start, rest): (&[u8], &'static [u8]) = match n % 4 {
            0 => (b"G", b"E"),
            1 => (b"GET /health HTTP/1.1\r\n", b"x-a: b\r\n"),
            2 => (b"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n", b"x-a: b\r\n"),
            _ => (b"\r\n", b"\r\n"),
        };
        stream.write_all(start).await.expect("sent");
        slow.push(tokio::spawn(trickle(stream, rest)));
    }
    for slow in slow {
        slow.await.expect("it is ended");
    }
    siege.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_never_say_who_they_are_have_few_places_and_half_a_minute() {
    let siege = Siege::begin(&[]).await;
    let mut strangers = Vec::new();
    for _ in 0..64 {
        strangers.push(Raw::open(&siege.server).await);
    }
    // The first bytes of a login that never goes on do not help.
    for stranger in &mut strangers {
        stranger.bytes(&frame(FIN | TEXT, br#"{"type":"login"}"#)[..12]).await;
    }
    // The places of this address are taken, and who says at once who they are needs none of them.
    siege.server.log_in().await;
    for mut stranger in strangers {
        assert_eq!(stranger.closed().await, Some(1008));
    }
    siege.server.log_in().await;
    siege.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_idle_connections_take_little() {
    let siege = Siege::begin(&[("SERVICE_HTTP__RATE_LIMIT__MAX_REQUESTS_PER_SEC_PER_ADDRESS", "0")]).await;
    rlimit::increase_nofile_limit(4_096).expect("files may be opened");
    let mut admin = siege.server.log_in().await;
    let key = admin.new_key("idle").await;
    let before = siege.server.resident();
    let mut idle = Vec::new();
    for _ in 0..2_000 {
        let mut connection = siege.server.connect().await;
        assert_eq!(connection.authenticate(&key).await["type"], "authenticated");
        idle.push(connection);
    }
    let each = (siege.server.resident().saturating_sub(before)) / 2_000;
    eprintln!("an idle connection takes {each} bytes");
    assert!(each < 250_000, "an idle connection takes {each} bytes");
    assert_eq!(admin.rows("?edge(1, X)").await, json!([[1, 2]]));
    siege.end().await;
}

#[tokio::test]
async fn who_neither_reads_nor_answers_is_let_go() {
    let siege = Siege::begin(&[
        ("SERVICE_HTTP__WS_IDLE_TIMEOUT_MS", "3000"),
        ("SERVICE_HTTP__SESSION_GRACE_MS", "0"),
    ])
    .await;
    let mut admin = siege.server.log_in().await;
    let key = admin.new_key("ops").await;
    let mut silent = Vec::new();
    for _ in 0..20 {
        let mut connection = siege.server.connect_narrow("/ws").await;
        assert_eq!(connection.log_in(PASSWORD).await["type"], "authenticated");
        connection.send_json(json!({"type": "execute", "program": "?edge(X, Y)"})).await;
        silent.push(connection);
        // Whoever is there is not idle.
        admin.rows(".status").await;
    }
    // They are half open: nothing ever comes from them again, not even an answer to a ping.
    let sessions = || {
        let (_, _, body) = siege.server.get_with("/metrics", &format!("Authorization: Bearer {key}\r\n"));
        serde_json::from_str::<serde_json::Value>(&body).expect("JSON")["data"]["sessions"]["total"].as_u64()
    };
    for _ in 0..400 {
        if sessions() <= Some(2) {
            break;
        }
        admin.rows(".status").await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(sessions() <= Some(2), "{:?}", sessions());
    siege.end().await;
}
