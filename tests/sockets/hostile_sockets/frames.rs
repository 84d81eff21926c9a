//! Frames that break the protocol, and messages in very many pieces.

use serde_json::json;

use super::Siege;
use stratalog_tests::raw::{CONTINUATION, FIN, Raw, TEXT, frame, head};

#[tokio::test]
async fn broken_frames_close_their_connection_with_a_reason() {
    let siege = Siege::begin(&[]).await;
    let ping = 9;
    let broken: &[(&str, Vec<u8>, u16)] = &[
        ("text that is not UTF-8", frame(FIN | TEXT, b"{\"type\":\"\xff\xfe\"}"), 1007),
        ("half a character", frame(FIN | TEXT, &"é".as_bytes()[..1]), 1007),
        ("a surrogate", frame(FIN | TEXT, b"\xed\xa0\x80"), 1007),
        ("an unknown kind", frame(FIN | 3, b"x"), 1002),
        (
            "a reserved bit, as of a compressed message",
            frame(FIN | 0x40 | TEXT, b"\xf2H\xcd\xc9\xc9\x07\x00"),
            1002,
        ),
        ("no mask", vec![FIN | TEXT, 1, b'x'], 1002),
        ("a continuation of nothing", frame(FIN | CONTINUATION, b"x"), 1002),
        ("two beginnings", [frame(TEXT, b"{"), frame(TEXT, b"}")].concat(), 1002),
        ("a long ping", frame(FIN | ping, &[0; 126]), 1002),
        ("a ping in pieces", frame(ping, b"x"), 1002),
        ("an impossible length", head(FIN | TEXT, u64::MAX >> 1), 1009),
        ("a length of more than 63 bits", head(FIN | TEXT, u64::MAX), 1009),
    ];
    for (what, bytes, code) in broken {
        for mut raw in [Raw::open(&siege.server).await, Raw::log_in(&siege.server).await] {
            raw.bytes(bytes).await;
            assert_eq!(raw.closed().await, Some(*code), "{what}");
        }
    }
    siege.end().await;
}

#[tokio::test]
async fn compression_is_not_agreed_to() {
    let siege = Siege::begin(&[]).await;
    for offer in ["permessage-deflate", "permessage-deflate; client_max_window_bits, x-webkit-deflate-frame"]
    {
        let (_, head) =
            Raw::open_with(&siege.server, &format!("Sec-WebSocket-Extensions: {offer}\r\n")).await;
        assert!(head.starts_with("http/1.1 101") && !head.contains("sec-websocket-extensions"), "{head}");
    }
    siege.end().await;
}

#[tokio::test]
async fn a_message_may_come_in_very_many_pieces() {
    let siege = Siege::begin(&[]).await;
    let mut raw = Raw::log_in(&siege.server).await;
    let message =
        json!({"type": "execute", "program": format!("?edge(1, X) // {}", "é".repeat(30_000)), "id": 1});
    let bytes = message.to_string().into_bytes();
    let mut frames = frame(TEXT, &[]);
    for byte in &bytes {
        // Characters are cut in the middle, and pings come in between.
        frames.extend(frame(CONTINUATION, &[*byte]));
        frames.extend(frame(CONTINUATION, &[]));
    }
    frames.extend(frame(FIN | 9, b"?"));
    frames.extend(frame(FIN | CONTINUATION, &[]));
    raw.bytes(&frames).await;
    assert_eq!(raw.pong().await, b"?");
    assert_eq!(raw.reply().await["rows"], json!([[1, 2]]));
    siege.end().await;
}

#[tokio::test]
async fn a_message_without_end_is_cut_off() {
    let siege = Siege::begin(&[
        ("SERVICE_HTTP__MAX_MESSAGE_BYTES", "1000000"),
        ("SERVICE_HTTP__WS_IDLE_TIMEOUT_MS", "2000"),
    ])
    .await;
    // Too much in the end.
    let mut raw = Raw::log_in(&siege.server).await;
    raw.frame(TEXT, b"{").await;
    while raw.frame(CONTINUATION, &[b' '; 10_000]).await {}
    assert_eq!(raw.closed().await, Some(1009));
    // Nothing, again and again, is no sign of life.
    let mut raw = Raw::log_in(&siege.server).await;
    raw.frame(TEXT, b"{").await;
    let empty = frame(CONTINUATION, &[]).repeat(1000);
    while raw.bytes(&empty).await {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    assert_eq!(raw.closed().await, Some(1001));
    siege.end().await;
}
