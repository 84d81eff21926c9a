//! A WebSocket client that sends whatever bytes it is told to.

use crate::server::{PASSWORD, Server};
use crate::times::PATIENCE;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// The kind of a text frame.
pub const TEXT: u8 = 1;
/// The kind of a frame that goes on with a message.
pub const CONTINUATION: u8 = 0;
/// Added to the kind of a frame that ends its message.
pub const FIN: u8 = 0x80;

/// A connection after its handshake.
#[derive(Debug)]
pub struct Raw {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Raw {
    /// Shakes hands. Answers the head of the response, too.
    pub async fn open_with(server: &Server, headers: &str) -> (Raw, String) {
        let mut stream = TcpStream::connect(server.address()).await.expect("a connection");
        let request = format!(
            "GET /ws HTTP/1.1\r\nHost: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n",
            server.address()
        );
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut raw = Raw { stream, received: Vec::new() };
        let end = loop {
            if let Some(at) = raw.received.windows(4).position(|window| window == b"\r\n\r\n") {
                break at + 4;
            }
            assert!(raw.more().await, "the server shakes hands");
        };
        let head = String::from_utf8(raw.received.drain(..end).collect()).expect("text").to_ascii_lowercase();
        (raw, head)
    }

    /// The same without further headers.
    pub async fn open(server: &Server) -> Raw {
        Raw::open_with(server, "").await.0
    }

    /// The same, authenticated as admin.
    pub async fn log_in(server: &Server) -> Raw {
        let mut raw = Raw::open(server).await;
        let login = json!({"type": "login", "username": "admin", "password": PASSWORD}).to_string();
        raw.frame(FIN | TEXT, login.as_bytes()).await;
        assert_eq!(raw.reply().await["type"], "authenticated");
        raw
    }

    /// Sends bytes; whether the server still took them.
    pub async fn bytes(&mut self, bytes: &[u8]) -> bool {
        matches!(timeout(PATIENCE, self.stream.write_all(bytes)).await, Ok(Ok(())))
    }

    /// Sends one frame, masked with zeros.
    pub async fn frame(&mut self, kind: u8, payload: &[u8]) -> bool {
        let frame = frame(kind, payload);
        self.bytes(&frame).await
    }

    /// The next text frame.
    pub async fn reply(&mut self) -> Json {
        match self.next().await {
            (0x81, payload) => serde_json::from_slice(&payload).expect("JSON"),
            (kind, payload) => panic!("{kind:#x}: {:?}", String::from_utf8_lossy(&payload)),
        }
    }

    /// The code of the close frame that comes after any text frames; nothing where the connection just ends.
    pub async fn closed(&mut self) -> Option<u16> {
        loop {
            match self.next().await {
                (0x88, payload) => return Some(u16::from_be_bytes([payload[0], payload[1]])),
                (0, _) => return None,
                (_, _) => {}
            }
        }
    }

    /// The payload of the pong that comes next.
    pub async fn pong(&mut self) -> Vec<u8> {
        let (kind, payload) = self.next().await;
        assert_eq!(kind, 0x8a);
        payload
    }

    /// The next frame but pings; zero at the end.
    async fn next(&mut self) -> (u8, Vec<u8>) {
        loop {
            match self.take_frame() {
                Some((0x89, _)) => {}
                Some(frame) => return frame,
                None if self.more().await => {}
                None => return (0, Vec::new()),
            }
        }
    }

    fn take_frame(&mut self) -> Option<(u8, Vec<u8>)> {
        let (&kind, &short) = (self.received.first()?, self.received.get(1)?);
        let (start, length) = match short {
            126 => (4, usize::from(u16::from_be_bytes(self.received.get(2..4)?.try_into().ok()?))),
            127 => (10, u64::from_be_bytes(self.received.get(2..10)?.try_into().ok()?) as usize),
            short => (2, usize::from(short)),
        };
        if self.received.len() < start + length {
            return None;
        }
        let payload = self.received[start..start + length].to_vec();
        self.received.drain(..start + length);
        Some((kind, payload))
    }

    async fn more(&mut self) -> bool {
        let read = timeout(PATIENCE, self.stream.read_buf(&mut self.received)).await;
        matches!(read.expect("the server answers in time"), Ok(count) if count > 0)
    }
}

/// One frame of a client, masked with zeros.
pub fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = head(kind, payload.len() as u64);
    frame.extend_from_slice(payload);
    frame
}

/// What stands before a payload of so many bytes.
pub fn head(kind: u8, length: u64) -> Vec<u8> {
    let mut head = vec![kind];
    match length {
        0..126 => head.push(0x80 | length as u8),
        126..65_536 => {
            head.push(0x80 | 126);
            head.extend_from_slice(&(length as u16).to_be_bytes());
        }
        _ => {
            head.push(0x80 | 127);
            head.extend_from_slice(&length.to_be_bytes());
        }
    }
    head.extend_from_slice(&[0; 4]);
    head
}
