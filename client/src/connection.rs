//! The connection: frames out, frames in, and every reply to the request that waits for it.
//!
//! Two tasks own the two halves of the socket, so that a server busy sending rows never waits for a client busy
//! sending facts.

use crate::address::Address;
use crate::credentials::Credentials;
use crate::errors::ClientError;
use crate::goodbye::{GOODBYE, closed, goodbye};
use crate::tls;
use crate::waiting::{Kind, Replies, Waiting};
use bytes::Bytes;
use futures_util::{SinkExt, Stream, StreamExt};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use stratalog_protocol::{Authenticated, Cancel, Message, Reply, Request, RequestId, Response};
use tokio::sync::{OwnedMutexGuard, mpsc};
use tokio::task::{AbortHandle, JoinHandle};
use tokio::time::{interval, timeout};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode};
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

pub(crate) type Socket = WebSocketStream<tls::Stream>;

/// The buffer for what comes. The usual one has 128 KiB, all of which are zeroed each time that it is read.
const READ_BUFFER: usize = 16 << 10;

/// How long the network and the upgrade may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a login may take; the server makes those wait who fail too often, up to 30 seconds.
const LOGIN: Duration = Duration::from_secs(40);
/// The longest frame that is accepted; rows come in chunks of about 1 MiB.
const LONGEST_FRAME: usize = 256 << 20;
/// Frames that may wait to be sent; those of an upload have a mebibyte each.
const QUEUE: usize = 8;
/// How often a frame is sent at least, so that a connection that only waits is not taken for a dead one.
const SIGN_OF_LIFE: Duration = Duration::from_secs(60);
/// How long nothing may come. The server pings twice a minute, and answers signs of life.
const SILENCE: Duration = Duration::from_secs(150);

/// Opens the WebSocket, and logs in.
pub(crate) async fn enter(
    address: &Address,
    credentials: &Credentials,
) -> Result<(Socket, Authenticated), ClientError> {
    let mut socket = open(address).await?;
    let session = log_in(&mut socket, credentials.clone().into_request()).await?;
    Ok((socket, session))
}

async fn open(address: &Address) -> Result<Socket, ClientError> {
    let failed = |(reason, missing)| ClientError::Connect { address: address.to_string(), reason, missing };
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER)
        .max_message_size(Some(LONGEST_FRAME))
        .max_frame_size(Some(LONGEST_FRAME));
    let opened = timeout(CONNECT, async {
        let stream = tls::connect(address).await.map_err(|reason| (reason, false))?;
        client_async_with_config(address.url(), stream, Some(config)).await.map_err(|error| reason(&error))
    });
    match opened.await {
        Err(_) => Err(failed((format!("no answer within {} seconds", CONNECT.as_secs()), false))),
        Ok(Err(reason)) => Err(failed(reason)),
        Ok(Ok((socket, _))) => Ok(socket),
    }
}

/// What a failed upgrade has to say: the message of the server's envelope, where there is one; and whether that is that
/// there is nothing.
fn reason(error: &tungstenite::Error) -> (String, bool) {
    match error {
        tungstenite::Error::Http(response) => {
            let body = response.body().as_deref().unwrap_or_default();
            let envelope: Option<serde_json::Value> = serde_json::from_slice(body).ok();
            let message =
                envelope.as_ref().and_then(|e| e.pointer("/error/message")).and_then(|m| m.as_str());
            let message = message.unwrap_or("there is no Stratalog server at this path");
            let status = response.status();
            (format!("{status}: {message}"), status.as_u16() == 404)
        }
        tungstenite::Error::Io(error) => (error.to_string(), false),
        other => (other.to_string(), false),
    }
}

/// Says who is there, and waits for the server's word.
async fn log_in(socket: &mut Socket, request: Request) -> Result<Authenticated, ClientError> {
    let frame = Frame::text(Message::from(request).to_json());
    socket.send(frame).await.map_err(|error| closed(error.to_string()))?;
    let answered = timeout(LOGIN, async {
        while let Some(frame) = socket.next().await {
            let text = match frame.map_err(|error| closed(error.to_string()))? {
                Frame::Text(text) => text,
                Frame::Close(frame) => return Err(goodbye(frame)),
                _ => continue,
            };
            match Reply::parse(&text).map_err(|invalid| ClientError::protocol(invalid.problem))?.response {
                Response::Authenticated(session) => return Ok(session),
                Response::AuthError(error) => {
                    return Err(ClientError::Authentication { message: error.message });
                }
                Response::Error(failure) => return Err(ClientError::Refused(Box::new(failure))),
                _ => return Err(ClientError::protocol("the first message is no reply to a login")),
            }
        }
        Err(closed(""))
    });
    let late = || Err(closed(format!("no answer to the login within {} seconds", LOGIN.as_secs())));
    answered.await.unwrap_or_else(|_| late())
}

/// The next frame; or how the connection has ended, also where nobody says so.
async fn next(
    frames: &mut (impl Stream<Item = tungstenite::Result<Frame>> + Unpin),
    silence: Duration,
) -> Result<Frame, ClientError> {
    match timeout(silence, frames.next()).await {
        Ok(Some(frame)) => frame.map_err(|error| closed(error.to_string())),
        Ok(None) => Err(goodbye(None)),
        Err(_) => Err(closed(format!("nothing came for {} seconds", silence.as_secs()))),
    }
}

/// A connection that is logged in. Dropping it says goodbye in the background.
pub(crate) struct Connection {
    outgoing: mpsc::Sender<Frame>,
    waiting: Arc<Waiting>,
    /// Held by an upload: any other request in between would break it off.
    sending: Arc<tokio::sync::Mutex<()>>,
    writer: Mutex<Option<JoinHandle<()>>>,
    reader: AbortHandle,
}

impl Connection {
    /// Starts the two tasks.
    pub(crate) fn start(socket: Socket) -> Connection {
        let waiting = Arc::new(Waiting::default());
        let (outgoing, mut queue) = mpsc::channel::<Frame>(QUEUE);
        let (mut sink, mut stream) = socket.split();

        let shared = Arc::clone(&waiting);
        let mut reader = tokio::spawn(async move {
            let end = loop {
                match next(&mut stream, SILENCE).await {
                    Ok(Frame::Text(text)) => shared.deliver(&text),
                    Ok(Frame::Binary(bytes)) => shared.deliver_frame(bytes),
                    Ok(Frame::Close(frame)) => break goodbye(frame),
                    Ok(_) => {}
                    Err(lost) => break lost,
                }
                shared.room().await;
            };
            shared.end(end);
            while let Some(Ok(_)) = stream.next().await {} // lets the closing handshake finish
        });

        let (reading, shared) = (reader.abort_handle(), Arc::clone(&waiting));
        let writer = tokio::spawn(async move {
            let mut alive = interval(SIGN_OF_LIFE);
            loop {
                let frame = tokio::select! {
                    frame = queue.recv() => frame,
                    _ = alive.tick() => Some(Frame::Ping(Bytes::new())),
                };
                let Some(frame) = frame else { break };
                let last = frame.is_close();
                if last || sink.send(frame).await.is_err() {
                    break;
                }
            }
            queue.close();
            let normal = CloseFrame { code: CloseCode::Normal, reason: "".into() };
            let _ = sink.send(Frame::Close(Some(normal))).await; // it may be gone already
            if timeout(GOODBYE, &mut reader).await.is_err() {
                reader.abort();
                shared.end(goodbye(None)); // it may have paused, and would never have said so
            }
        });
        Connection {
            outgoing,
            waiting,
            sending: Arc::default(),
            writer: Mutex::new(Some(writer)),
            reader: reading,
        }
    }

    /// Whether requests can be sent, as far as anybody knows.
    pub(crate) fn is_open(&self) -> bool {
        self.waiting.is_open()
    }

    /// Whether the server has hung up because this user or key may not be here any more.
    pub(crate) fn is_dismissed(&self) -> bool {
        self.waiting.is_dismissed()
    }

    /// The requests that wait for their answers and could be stopped.
    pub(crate) fn requests(&self) -> Vec<i64> {
        self.waiting.requests()
    }

    /// Whether a request waits that changes something.
    pub(crate) fn is_writing(&self) -> bool {
        self.waiting.is_writing()
    }

    /// How the connection ended.
    pub(crate) async fn ending(&self) -> ClientError {
        self.waiting.ending().await
    }

    /// Sends a request under `id`; the reply comes through the channel. After an error, nothing was sent.
    pub(crate) async fn send(&self, request: Request, id: i64, kind: Kind) -> Result<Replies, ClientError> {
        // What is aside may come in between.
        let _turn = if kind == Kind::Aside { None } else { Some(self.sending.lock().await) };
        self.send_now(request, id, kind).await
    }

    async fn send_now(&self, request: Request, id: i64, kind: Kind) -> Result<Replies, ClientError> {
        let replies = Waiting::expect(&self.waiting, id, kind)?;
        let frame = Frame::text(Message { request, id: Some(RequestId::Number(id)) }.to_json());
        match self.outgoing.send(frame).await {
            Ok(()) => Ok(replies),
            Err(_) => Err(self.waiting.ending().await),
        }
    }

    /// Sends a request that binary frames follow, and that takes effect with the last of them: no other request goes in
    /// between while the turn is held.
    pub(crate) async fn announce(&self, request: Request, id: i64) -> Result<(Replies, Turn), ClientError> {
        let held = Arc::clone(&self.sending).lock_owned().await;
        let replies = self.send_now(request, id, Kind::Reads).await?;
        Ok((replies, Turn { outgoing: self.outgoing.clone(), _held: held }))
    }

    /// A way to stop a request without waiting.
    pub(crate) fn side_door(&self) -> SideDoor {
        SideDoor { outgoing: self.outgoing.clone() }
    }

    /// Says goodbye, and waits a little for the server's. A server that does not even read is left without.
    pub(crate) async fn close(&self) {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(mut writer) = writer else { return };
        let goodbye = async {
            let _ = self.outgoing.send(Frame::Close(None)).await; // fails only where the connection is gone
            let _ = (&mut writer).await;
        };
        if timeout(GOODBYE, goodbye).await.is_err() {
            writer.abort();
            self.reader.abort();
            self.waiting.end(closed(""));
        }
    }
}

/// The right to send binary frames.
pub(crate) struct Turn {
    outgoing: mpsc::Sender<Frame>,
    _held: OwnedMutexGuard<()>,
}

impl Turn {
    /// Sends a frame, as soon as there is room; false when the connection is gone.
    pub(crate) async fn send(&self, bytes: Vec<u8>) -> bool {
        self.outgoing.send(Frame::binary(bytes)).await.is_ok()
    }
}

/// What a running request keeps of its connection.
pub(crate) struct SideDoor {
    outgoing: mpsc::Sender<Frame>,
}

impl SideDoor {
    /// Stops a request if there is room to say so.
    pub(crate) fn try_cancel(&self, target: RequestId) {
        let cancel = Message::from(Request::Cancel(Cancel { target }));
        let _ = self.outgoing.try_send(Frame::text(cancel.to_json())); // a courtesy, no promise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;
    use tokio_tungstenite::tungstenite::protocol::Role;

    /// A connection, and its other end.
    async fn pair() -> (Connection, WebSocketStream<tokio::io::DuplexStream>) {
        let (here, there) = tokio::io::duplex(1 << 20);
        let here: tls::Stream = Box::new(here);
        let socket = WebSocketStream::from_raw_socket(here, Role::Client, None).await;
        (Connection::start(socket), WebSocketStream::from_raw_socket(there, Role::Server, None).await)
    }

    #[tokio::test]
    async fn whoever_waits_learns_of_the_end_also_where_reading_has_paused() {
        let (connection, mut server) = pair().await;
        let mut replies = connection.send(Request::Ping, 1, Kind::Reads).await.unwrap();
        let start = r#"{"type":"result_start","columns":["X"],"total_count":1,"truncated":false,"execution_time_ms":0,"format":"arrow","id":1}"#;
        server.send(Frame::text(start)).await.unwrap();
        let sending =
            tokio::spawn(async move { while server.send(Frame::binary(vec![0; 1 << 20])).await.is_ok() {} });
        while !connection.waiting.is_full() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        connection.close().await;
        let ended = timeout(Duration::from_secs(30), async {
            loop {
                if let Err(error) = replies.next().await {
                    return error;
                }
            }
        });
        assert!(matches!(ended.await.expect("it is told"), ClientError::Closed { .. }));
        sending.abort();
    }

    #[tokio::test]
    async fn silence_is_an_end() {
        let lost = next(&mut stream::pending(), Duration::from_millis(20)).await.unwrap_err();
        assert!(lost.is_disconnect(), "{lost}");
    }
}
