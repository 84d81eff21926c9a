//! The connection: frames out, frames in, and every reply to the request that waits for it.
//!
//! Two tasks own the two halves of the socket, so that a server busy sending rows never waits for a client busy
//! sending facts. Replies are told apart by id alone; a frame without one is a notification, or a parting word.

use crate::address::Address;
use crate::errors::ClientError;
use crate::tls::{self, Stream};
use futures_util::{SinkExt, StreamExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use stratalog_protocol::{Authenticated, Message, Reply, Request, RequestId, Response};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig, frame::coding::CloseCode};
use tokio_tungstenite::tungstenite::{self, Message as Frame};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};

pub(crate) type Socket = WebSocketStream<Stream>;
/// What a waiting request receives: the messages of its reply, or why one could not be read.
pub(crate) type Replies = mpsc::UnboundedReceiver<Result<Response, ClientError>>;

/// How long the network and the upgrade may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a login may take; the server makes those wait who fail too often, up to 30 seconds.
const LOGIN: Duration = Duration::from_secs(40);
/// How long to wait for the server's goodbye.
const GOODBYE: Duration = Duration::from_secs(2);
/// The longest frame that is accepted; rows come in chunks of about 1 MiB.
const LONGEST_FRAME: usize = 256 << 20;
/// Frames that may wait to be sent.
const QUEUE: usize = 32;

/// Opens the WebSocket.
pub(crate) async fn open(address: &Address) -> Result<Socket, ClientError> {
    let url = address.to_string();
    let failed = |reason: String| ClientError::Connect { address: url.clone(), reason };
    let config =
        WebSocketConfig::default().max_message_size(Some(LONGEST_FRAME)).max_frame_size(Some(LONGEST_FRAME));
    let opened = timeout(CONNECT, async {
        let stream = tls::connect(address).await?;
        client_async_with_config(&url, stream, Some(config)).await.map_err(|error| reason(&error))
    });
    match opened.await {
        Err(_) => Err(failed(format!("no answer within {} seconds", CONNECT.as_secs()))),
        Ok(Err(reason)) => Err(failed(reason)),
        Ok(Ok((socket, _))) => Ok(socket),
    }
}

/// What a failed upgrade has to say: the message of the server's envelope, where there is one.
fn reason(error: &tungstenite::Error) -> String {
    match error {
        tungstenite::Error::Http(response) => {
            let body = response.body().as_deref().unwrap_or_default();
            let envelope: Option<serde_json::Value> = serde_json::from_slice(body).ok();
            let message =
                envelope.as_ref().and_then(|e| e.pointer("/error/message")).and_then(|m| m.as_str());
            format!(
                "{}: {}",
                response.status(),
                message.unwrap_or("there is no Stratalog server at this path")
            )
        }
        tungstenite::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

/// Says who is there, and waits for the server's word.
pub(crate) async fn log_in(socket: &mut Socket, request: Request) -> Result<Authenticated, ClientError> {
    let closed = |reason: String| ClientError::Closed { code: None, reason };
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
        Err(closed(String::new()))
    });
    answered.await.unwrap_or(Err(ClientError::TimedOut(LOGIN)))
}

pub(crate) fn goodbye(frame: Option<CloseFrame>) -> ClientError {
    match frame {
        Some(frame) => {
            ClientError::Closed { code: Some(frame.code.into()), reason: frame.reason.to_string() }
        }
        None => ClientError::Closed { code: None, reason: String::new() },
    }
}

/// A connection that is logged in. Dropping it says goodbye in the background.
pub(crate) struct Connection {
    outgoing: mpsc::Sender<Frame>,
    waiting: Arc<Waiting>,
    writer: JoinHandle<()>,
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
                match stream.next().await {
                    Some(Ok(Frame::Text(text))) => shared.deliver(&text),
                    Some(Ok(Frame::Close(frame))) => break goodbye(frame),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => break ClientError::Closed { code: None, reason: error.to_string() },
                    None => break goodbye(None),
                }
            };
            shared.end(end);
            while let Some(Ok(_)) = stream.next().await {} // lets the closing handshake finish
        });

        let writer = tokio::spawn(async move {
            while let Some(frame) = queue.recv().await {
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
            }
        });
        Connection { outgoing, waiting, writer }
    }

    /// Sends a request under `id`; the reply comes through the channel.
    pub(crate) async fn send(&self, request: Request, id: i64) -> Result<Replies, ClientError> {
        let replies = self.waiting.expect(id)?;
        let frame = Frame::text(Message { request, id: Some(RequestId::Number(id)) }.to_json());
        match self.outgoing.send(frame).await {
            Ok(()) => Ok(replies),
            Err(_) => Err(self.waiting.ending()),
        }
    }

    /// A way to send a request whose reply nobody waits for, and that may be lost.
    pub(crate) fn side_door(&self) -> SideDoor {
        SideDoor { outgoing: self.outgoing.clone(), waiting: Arc::clone(&self.waiting) }
    }

    /// Says goodbye, and waits a little for the server's.
    pub(crate) async fn close(self) {
        let _ = self.outgoing.send(Frame::Close(None)).await; // fails only where the connection is gone
        let _ = self.writer.await;
    }
}

/// What a running request keeps of its connection.
pub(crate) struct SideDoor {
    outgoing: mpsc::Sender<Frame>,
    waiting: Arc<Waiting>,
}

impl SideDoor {
    /// Sends `request` if there is room for it.
    pub(crate) fn try_send(&self, request: Request) {
        let _ = self.outgoing.try_send(Frame::text(Message::from(request).to_json())); // a courtesy, no promise
    }

    /// Why the connection ended.
    pub(crate) fn ending(&self) -> ClientError {
        self.waiting.ending()
    }
}

/// Who waits for a reply, and how the connection ended.
#[derive(Default)]
struct Waiting {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    requests: HashMap<i64, mpsc::UnboundedSender<Result<Response, ClientError>>>,
    /// What the server said last outside of any reply.
    parting_word: Option<String>,
    ended: Option<ClientError>,
}

impl Waiting {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no code panics while it holds the lock
    }

    fn expect(&self, id: i64) -> Result<Replies, ClientError> {
        let mut state = self.state();
        if let Some(ended) = &state.ended {
            return Err(ended.clone());
        }
        let (sender, replies) = mpsc::unbounded_channel();
        state.requests.insert(id, sender);
        Ok(replies)
    }

    /// Hands a frame to the request that it answers. Frames of types that a later version may push are let go.
    fn deliver(&self, text: &str) {
        let (id, part) = match Reply::parse(text) {
            Ok(Reply { response, id }) => (id, Ok(response)),
            Err(invalid) => (invalid.id, Err(ClientError::protocol(invalid.problem))),
        };
        let mut state = self.state();
        match id {
            Some(RequestId::Number(id)) => {
                let more = matches!(part, Ok(Response::ResultStart(_) | Response::ResultChunk(_)));
                if let Some(request) = state.requests.get(&id) {
                    let _ = request.send(part); // the request may have been dropped
                    if !more {
                        state.requests.remove(&id);
                    }
                }
            }
            Some(RequestId::Text(_)) => {} // none of ours
            None => match part {
                Ok(Response::Error(failure)) if failure.gap.is_none() => {
                    state.parting_word = Some(failure.message);
                }
                Ok(Response::AuthError(error)) => state.parting_word = Some(error.message),
                Ok(_) | Err(_) => {}
            },
        }
    }

    fn end(&self, mut error: ClientError) {
        let mut state = self.state();
        if let ClientError::Closed { reason, .. } = &mut error
            && reason.is_empty()
        {
            *reason = state.parting_word.take().unwrap_or_default();
        }
        state.ended = Some(error);
        state.requests.clear(); // whoever waits learns that nothing more comes
    }

    fn ending(&self) -> ClientError {
        self.state().ended.clone().unwrap_or_else(|| goodbye(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(replies: &mut Replies) -> Result<Response, ClientError> {
        replies.try_recv().unwrap()
    }

    #[test]
    fn replies_find_their_requests_by_id() {
        let waiting = Waiting::default();
        let mut first = waiting.expect(1).unwrap();
        let mut second = waiting.expect(2).unwrap();
        waiting.deliver(r#"{"type":"pong","id":2}"#);
        waiting.deliver(r#"{"type":"persistent_update","seq":9,"relation":"edge"}"#);
        waiting.deliver(r#"{"type":"error","id":1,"code":"timeout","message":"too slow"}"#);
        assert!(matches!(next(&mut second), Ok(Response::Pong)));
        assert!(matches!(next(&mut first), Ok(Response::Error(failure)) if failure.message == "too slow"));
        assert!(first.try_recv().is_err());
    }

    #[test]
    fn an_unreadable_reply_reaches_its_request() {
        let waiting = Waiting::default();
        let mut replies = waiting.expect(1).unwrap();
        waiting.deliver(r#"{"type":"result","id":1,"columns":7}"#);
        assert!(matches!(next(&mut replies), Err(ClientError::Protocol { .. })));
    }

    #[test]
    fn the_end_of_a_connection_carries_the_parting_word() {
        let waiting = Waiting::default();
        let mut replies = waiting.expect(1).unwrap();
        waiting.deliver(r#"{"type":"error","code":"overloaded","message":"idle for too long"}"#);
        waiting.end(goodbye(None));
        assert!(matches!(replies.try_recv(), Err(mpsc::error::TryRecvError::Disconnected)));
        let ClientError::Closed { reason, .. } = waiting.ending() else { panic!("not closed") };
        assert_eq!(reason, "idle for too long");
        assert!(matches!(waiting.expect(2), Err(ClientError::Closed { .. })));
    }
}
