//! Who waits for which reply, and how the connection ended.
//!
//! Replies are told apart by id alone; a frame without one is a notification, a parting word, or what a live query is told.
//! That and binary frames belong to the answer that has begun last. Reading pauses while many of them wait to be taken, unless
//! another request waits behind them.

use crate::errors::ClientError;
use crate::goodbye::{GOODBYE, goodbye};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use stratalog_protocol::{Code, Format, Reply, RequestId, Response};
use tokio::sync::{Notify, mpsc};
use tokio::time::timeout;

/// Bytes of an answer that may wait to be taken before reading pauses.
const BACKLOG: usize = 8 << 20;

/// A piece of a reply, or why it could not be read.
type Part = Result<Piece, ClientError>;

/// The same on its way, with the bytes that it has of the backlog.
type Sent = (Part, usize);

/// A part of a reply.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "each is moved once, from who reads to who waits")]
pub(crate) enum Piece {
    /// A text frame.
    Message(Response),
    /// A binary frame.
    Frame(Bytes),
}

/// The reply to a request, piece by piece.
pub(crate) struct Replies {
    id: i64,
    pieces: mpsc::UnboundedReceiver<Sent>,
    waiting: Arc<Waiting>,
}

impl Replies {
    /// The next piece; how the connection ended if there is none.
    pub(crate) async fn next(&mut self) -> Part {
        match self.pieces.recv().await {
            Some(piece) => self.taken(piece),
            None => Err(self.waiting.ending().await),
        }
    }

    /// A piece that is there already.
    pub(crate) fn try_next(&mut self) -> Option<Part> {
        self.pieces.try_recv().ok().map(|piece| self.taken(piece))
    }

    /// How the connection ended, if it has.
    pub(crate) async fn lost(&self) -> Option<ClientError> {
        if self.waiting.is_open() { None } else { Some(self.waiting.ending().await) }
    }

    /// From here on the request may take effect.
    pub(crate) fn writes_now(&self) {
        if let Some(request) = self.waiting.state().requests.get_mut(&self.id) {
            request.kind = Kind::Writes;
        }
    }

    fn taken(&self, (piece, bytes): Sent) -> Part {
        if bytes > 0 {
            self.waiting.backlog.fetch_sub(bytes, Ordering::Relaxed);
            self.waiting.changed.notify_waiters();
        }
        piece
    }
}

impl Drop for Replies {
    fn drop(&mut self) {
        self.waiting.state().requests.remove(&self.id);
        while self.try_next().is_some() {}
        self.waiting.changed.notify_waiters();
    }
}

/// Whether more comes in answer to the same request.
pub(crate) fn goes_on(response: &Response) -> bool {
    matches!(response, Response::Working(_) | Response::ResultStart(_) | Response::ResultChunk(_))
}

/// Who waits for a reply, and how the connection ended.
#[derive(Default)]
pub(crate) struct Waiting {
    state: Mutex<State>,
    /// Bytes of what nobody has taken yet, of answers that are read while they come.
    backlog: AtomicUsize,
    /// Told whenever reading may go on, or has ended.
    changed: Notify,
}

/// What a request is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It changes something.
    Writes,
    /// It does not.
    Reads,
    /// It is about the connection or another request, and answered at once.
    Aside,
}

/// A request that waits.
struct Request {
    kind: Kind,
    parts: mpsc::UnboundedSender<Sent>,
}

#[derive(Default)]
struct State {
    requests: HashMap<i64, Request>,
    /// The request whose answer binary frames belong to. A live query has a connection of its own, so what is told of
    /// it is for this one, too.
    streaming: Option<i64>,
    /// What the server said last outside of any reply.
    parting_word: Option<String>,
    dismissed: bool,
    ended: Option<ClientError>,
}

impl Waiting {
    /// Whether requests can be sent, as far as anybody knows.
    pub(crate) fn is_open(&self) -> bool {
        self.state().ended.is_none()
    }

    /// Whether the server has hung up because this user or key may not be here any more.
    pub(crate) fn is_dismissed(&self) -> bool {
        self.state().dismissed
    }

    /// The requests that wait and could be stopped.
    pub(crate) fn requests(&self) -> Vec<i64> {
        let state = self.state();
        let stoppable = state.requests.iter().filter(|(_, request)| request.kind != Kind::Aside);
        stoppable.map(|(id, _)| *id).collect()
    }

    /// Whether a request waits that changes something.
    pub(crate) fn is_writing(&self) -> bool {
        self.state().requests.values().any(|request| request.kind == Kind::Writes)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner) // no code panics while it holds the lock
    }

    pub(crate) fn expect(waiting: &Arc<Waiting>, id: i64, kind: Kind) -> Result<Replies, ClientError> {
        let (parts, pieces) = mpsc::unbounded_channel();
        let mut state = waiting.state();
        if let Some(ended) = &state.ended {
            return Err(ended.clone());
        }
        state.requests.insert(id, Request { kind, parts });
        drop(state);
        waiting.changed.notify_waiters();
        Ok(Replies { id, pieces, waiting: Arc::clone(waiting) })
    }

    /// Hands a frame to the request that it answers. Frames of types that a later version may push are let go.
    pub(crate) fn deliver(&self, text: &str) {
        let (id, part) = match Reply::parse(text) {
            Ok(Reply { response, id }) => (id, Ok(response)),
            Err(invalid) => (invalid.id, Err(ClientError::protocol(invalid.problem))),
        };
        let mut state = self.state();
        match id {
            Some(RequestId::Number(id)) => {
                let begins = match &part {
                    Ok(Response::ResultStart(start)) => start.format == Some(Format::Arrow),
                    Ok(Response::Subscribed(_)) => true,
                    _ => false,
                };
                let more = begins || part.as_ref().is_ok_and(goes_on);
                if begins {
                    state.streaming = Some(id);
                } else if !more && state.streaming == Some(id) {
                    state.streaming = None;
                }
                if let Some(request) = state.requests.get(&id) {
                    let _ = request.parts.send((part.map(Piece::Message), 0)); // it may have been dropped
                    if !more {
                        state.requests.remove(&id);
                    }
                }
            }
            Some(RequestId::Text(_)) => {} // none of ours
            None => match part {
                Ok(Response::Error(failure)) if failure.gap.is_none() => {
                    state.dismissed = failure.code == Code::AccessDenied;
                    state.parting_word = Some(failure.message);
                }
                Ok(Response::AuthError(error)) => state.parting_word = Some(error.message),
                Ok(told @ (Response::Delta(_) | Response::Progress(_) | Response::Unsubscribed(_))) => {
                    self.push(&state, Piece::Message(told), text.len() + size_of::<Sent>());
                }
                Ok(_) | Err(_) => {}
            },
        }
    }

    pub(crate) fn deliver_frame(&self, bytes: Bytes) {
        let length = bytes.len();
        self.push(&self.state(), Piece::Frame(bytes), length);
    }

    fn push(&self, state: &State, piece: Piece, bytes: usize) {
        if let Some(request) = state.streaming.and_then(|id| state.requests.get(&id)) {
            self.backlog.fetch_add(bytes, Ordering::Relaxed);
            if request.parts.send((Ok(piece), bytes)).is_err() {
                self.backlog.fetch_sub(bytes, Ordering::Relaxed); // the request has been dropped
            }
        }
    }

    /// Waits while much lies unread and no other request waits behind it.
    pub(crate) async fn room(&self) {
        loop {
            let mut changed = std::pin::pin!(self.changed.notified());
            changed.as_mut().enable();
            let alone = self.state().requests.len() == 1;
            if !alone || !self.is_full() {
                return;
            }
            changed.await;
        }
    }

    /// Whether much lies unread.
    pub(crate) fn is_full(&self) -> bool {
        self.backlog.load(Ordering::Relaxed) >= BACKLOG
    }

    /// Notes how the connection ended. What is said first counts.
    pub(crate) fn end(&self, mut error: ClientError) {
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        if let ClientError::Closed { reason, .. } = &mut error
            && reason.is_empty()
        {
            *reason = state.parting_word.take().unwrap_or_default();
        }
        state.ended = Some(error);
        state.requests.clear(); // whoever waits learns that nothing more comes
        drop(state);
        self.changed.notify_waiters();
    }

    /// How the connection ended; it may take a moment until that is known.
    pub(crate) async fn ending(&self) -> ClientError {
        let known = async {
            loop {
                let mut changed = std::pin::pin!(self.changed.notified());
                changed.as_mut().enable();
                if let Some(ended) = self.state().ended.clone() {
                    return ended;
                }
                changed.await;
            }
        };
        timeout(GOODBYE, known).await.unwrap_or_else(|_| goodbye(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn next(replies: &mut Replies) -> Result<Response, ClientError> {
        match replies.try_next() {
            Some(Ok(Piece::Message(response))) => Ok(response),
            Some(Err(error)) => Err(error),
            other => panic!("no message: {other:?}"),
        }
    }

    pub(crate) fn expect(waiting: &Arc<Waiting>, id: i64) -> Replies {
        Waiting::expect(waiting, id, Kind::Reads).unwrap()
    }

    #[test]
    fn replies_find_their_requests_by_id() {
        let waiting = Arc::default();
        let mut first = expect(&waiting, 1);
        let mut second = expect(&waiting, 2);
        waiting.deliver(r#"{"type":"pong","id":2}"#);
        waiting.deliver(r#"{"type":"persistent_update","seq":9,"relation":"edge"}"#);
        waiting.deliver(r#"{"type":"error","id":1,"code":"timeout","message":"too slow"}"#);
        assert!(matches!(next(&mut second), Ok(Response::Pong)));
        assert!(matches!(next(&mut first), Ok(Response::Error(failure)) if failure.message == "too slow"));
        assert!(first.try_next().is_none());
    }

    #[test]
    fn an_unreadable_reply_reaches_its_request() {
        let waiting = Arc::default();
        let mut replies = expect(&waiting, 1);
        waiting.deliver(r#"{"type":"result","id":1,"columns":7}"#);
        assert!(matches!(next(&mut replies), Err(ClientError::Protocol { .. })));
    }

    #[tokio::test]
    async fn the_end_of_a_connection_carries_the_parting_word() {
        let waiting = Arc::default();
        let mut replies = expect(&waiting, 1);
        waiting.deliver(r#"{"type":"error","code":"overloaded","message":"idle for too long"}"#);
        waiting.end(goodbye(None));
        let Err(ClientError::Closed { reason, .. }) = replies.next().await else { panic!("not closed") };
        assert_eq!(reason, "idle for too long");
        assert!(matches!(Waiting::expect(&waiting, 2, Kind::Reads), Err(ClientError::Closed { .. })));
    }

    const START: &str = r#"{"type":"result_start","columns":["X"],"total_count":1,"truncated":false,"execution_time_ms":0,"format":"arrow","id":1}"#;

    #[tokio::test]
    async fn reading_pauses_until_frames_are_taken_or_another_request_waits() {
        let waiting: Arc<Waiting> = Arc::default();
        let mut stream = expect(&waiting, 1);
        waiting.deliver(START);
        waiting.deliver_frame(Bytes::from(vec![0; BACKLOG]));
        let soon = Duration::from_millis(50);
        assert!(timeout(soon, waiting.room()).await.is_err());
        let other = expect(&waiting, 2);
        timeout(soon, waiting.room()).await.expect("another request waits");
        drop(other);
        assert!(timeout(soon, waiting.room()).await.is_err());
        assert!(matches!(stream.next().await, Ok(Piece::Message(Response::ResultStart(_)))));
        assert!(matches!(stream.next().await, Ok(Piece::Frame(_))));
        timeout(soon, waiting.room()).await.expect("the frame is taken");
    }

    #[tokio::test]
    async fn what_a_live_query_is_told_is_counted_too() {
        let waiting: Arc<Waiting> = Arc::default();
        let progress = r#"{"type":"progress","knowledge_graph":"default","version":1}"#;
        waiting.deliver(progress); // nobody has asked
        let mut live = expect(&waiting, 1);
        waiting.deliver(
            r#"{"type":"subscribed","subscription":1,"columns":[],"knowledge_graph":"default","version":0,"resumed":false,"token":"t","id":1}"#,
        );
        let is_paused = async || timeout(Duration::from_millis(50), waiting.room()).await.is_err();
        while !waiting.is_full() {
            assert!(timeout(Duration::ZERO, waiting.room()).await.is_ok());
            waiting.deliver(progress);
        }
        assert!(is_paused().await);
        assert!(matches!(next(&mut live), Ok(Response::Subscribed(_))));
        assert!(is_paused().await);
        assert!(matches!(next(&mut live), Ok(Response::Progress(_))));
        assert!(!is_paused().await);
    }

    #[tokio::test]
    async fn frames_of_a_request_that_is_gone_are_let_go() {
        let waiting: Arc<Waiting> = Arc::default();
        let stream = expect(&waiting, 1);
        waiting.deliver(START);
        waiting.deliver_frame(Bytes::from(vec![0; BACKLOG]));
        drop(stream);
        waiting.deliver_frame(Bytes::from(vec![0; BACKLOG]));
        assert_eq!(waiting.backlog.load(Ordering::Relaxed), 0);
    }
}
