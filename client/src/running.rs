//! `Running`: a request that was sent, until its answer is there.

use crate::answers::{Answer, Assembly};
use crate::connection::{Connection, SideDoor};
use crate::errors::ClientError;
use crate::options::Watcher;
use crate::waiting::{Piece, Replies, goes_on};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stratalog_protocol::{Authenticated, RequestId, Response};

/// What the network may add to the time a request was given.
const GRACE: Duration = Duration::from_secs(5);

/// Where a session is, as far as its client knows.
#[derive(Debug)]
pub(crate) struct Place {
    /// The session as the server described it.
    pub session: Arc<Authenticated>,
    /// The graph that it is bound to now.
    pub graph: String,
    /// Whether it may hold facts or rules of its own.
    pub own: bool,
}

impl Place {
    pub(crate) fn new(session: Arc<Authenticated>) -> Place {
        let graph = session.knowledge_graph.clone();
        Place { session, graph, own: false }
    }

    /// Takes note of where another connection has led, to the same session or a new one. It is an error if that is not where
    /// the client thought to be.
    pub(crate) fn come_back(&mut self, session: Arc<Authenticated>, same: bool) -> Result<(), ClientError> {
        let before = std::mem::replace(self, Place::new(session));
        if before.own && !same {
            return Err(ClientError::SessionLost);
        }
        if same && before.graph != self.graph {
            return Err(ClientError::GraphChanged { graph: self.graph.clone() });
        }
        self.own = before.own;
        Ok(())
    }
}

/// A request that was sent. Dropping it before its answer came stops it.
pub struct Running {
    id: i64,
    replies: Replies,
    side_door: SideDoor,
    sent: Instant,
    time: Option<Duration>,
    writes: bool,
    /// Whether the rows that come are the answer to a query.
    asks: bool,
    place: Arc<Mutex<Place>>,
    /// Who wants to know how far it is.
    watcher: Option<Watcher>,
    /// Nothing is left that could be stopped.
    settled: bool,
}

impl Running {
    pub(crate) fn new(
        id: i64,
        replies: Replies,
        connection: &Connection,
        time: Option<Duration>,
        writes: bool,
        place: &Arc<Mutex<Place>>,
    ) -> Running {
        let (side_door, place) = (connection.side_door(), Arc::clone(place));
        let sent = Instant::now();
        Running {
            id,
            replies,
            side_door,
            sent,
            time,
            writes,
            asks: false,
            place,
            watcher: None,
            settled: false,
        }
    }

    /// The same for a program that asks, or does not.
    pub(crate) fn asking(mut self, asks: bool) -> Running {
        self.asks = asks;
        self
    }

    /// The same, and somebody is told how far it is while its answer is waited for.
    pub(crate) fn watched(mut self, watcher: Option<Watcher>) -> Running {
        self.watcher = watcher;
        self
    }

    /// The id to give to [`Client::cancel`](crate::Client::cancel).
    pub fn id(&self) -> RequestId {
        RequestId::Number(self.id)
    }

    /// Waits for the answer.
    pub async fn answer(mut self) -> Result<Answer, ClientError> {
        let mut assembly = Assembly::default();
        let time = self.time;
        let assembled = async {
            loop {
                if let Some(answer) = assembly.take(self.next_message().await?)? {
                    return Ok(answer);
                }
            }
        };
        let mut answer = match time {
            None => assembled.await?,
            Some(time) => tokio::time::timeout(time.saturating_add(GRACE), assembled)
                .await
                .unwrap_or(Err(ClientError::TimedOut(time)))?,
        };
        answer.round_trip = self.sent.elapsed();
        answer.is_message &= !self.asks;
        self.moved(&answer);
        Ok(answer)
    }

    /// From here on it may take effect.
    pub(crate) fn writes_now(&self) {
        self.replies.writes_now();
    }

    /// How the connection ended, if it has.
    pub(crate) async fn lost(&self) -> Option<ClientError> {
        self.replies.lost().await
    }

    /// How long ago it was sent.
    pub(crate) fn elapsed(&self) -> Duration {
        self.sent.elapsed()
    }

    /// Takes note of the graph that an answer leads to.
    pub(crate) fn moved(&self, answer: &Answer) {
        if let Some(graph) = &answer.switched_graph {
            let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
            place.graph.clone_from(graph);
            place.own = false; // facts and rules of the session do not go along
        }
    }

    /// The next piece of the reply, within the time of the request.
    pub(crate) async fn next_in_time(&mut self) -> Result<Piece, ClientError> {
        let Some(time) = self.time else { return self.next().await };
        let next = tokio::time::timeout(time.saturating_add(GRACE), self.next()).await;
        next.unwrap_or(Err(ClientError::TimedOut(time)))
    }

    /// The next piece of the reply.
    pub(crate) async fn next(&mut self) -> Result<Piece, ClientError> {
        loop {
            let piece = self.replies.next().await;
            if let Some(piece) = self.note(piece) {
                return piece;
            }
        }
    }

    /// A piece of the reply that is there already.
    pub(crate) fn try_next(&mut self) -> Option<Result<Piece, ClientError>> {
        loop {
            let piece = self.replies.try_next()?;
            if let Some(piece) = self.note(piece) {
                return Some(piece);
            }
        }
    }

    /// Takes note of a piece. How far the request is, nobody else gets to see.
    fn note(&mut self, piece: Result<Piece, ClientError>) -> Option<Result<Piece, ClientError>> {
        if let Ok(Piece::Message(Response::Working(working))) = &piece {
            if let Some(watcher) = &self.watcher {
                watcher.tell(working);
            }
            return None;
        }
        self.settled = match &piece {
            Ok(Piece::Frame(_)) => false,
            Ok(Piece::Message(response)) => !goes_on(response),
            Err(_) => true,
        };
        Some(piece.map_err(|error| error.of_sent(self.writes)))
    }

    async fn next_message(&mut self) -> Result<Response, ClientError> {
        match self.next().await? {
            Piece::Message(response) => Ok(response),
            Piece::Frame(_) => Err(ClientError::protocol("a binary frame came that nobody asked for")),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.settled {
            self.side_door.try_cancel(self.id());
        }
    }
}
