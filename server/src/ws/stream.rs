//! The sending side of a socket: one task owns it, and everybody else hands frames over.
//!
//! Only a few frames are ever queued, so an answer is made no faster than the client takes it.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{Sink, SinkExt};
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::tungstenite::Message;

use super::CloseCode;
use crate::queries::{NotRun, Ticket, Writers};
use crate::requests;
use crate::wire::{Frame, Part, Reply, TableStream};

/// How many messages wait at most.
const QUEUE: usize = 4;

/// How many answers to `ping` and `cancel` wait at most.
const URGENT_QUEUE: usize = 64;

/// How often the server pings.
const PING: Duration = Duration::from_secs(30);

/// How long a client may take for a few frames. Where the system sees whether a client takes anything (`net::prepare`), one
/// that does so slowly may take its time.
const LONGEST_SEND: Duration = Duration::from_secs(if cfg!(target_os = "linux") { 86_400 } else { 300 });

/// Where frames are handed over.
#[derive(Debug, Clone)]
pub(super) struct Outgoing {
    replies: mpsc::Sender<Parcel>,
    urgent: mpsc::Sender<Message>,
}

/// A message, and the frame that nothing may come before.
type Parcel = (Message, Option<Message>);

/// Room for one message.
pub(super) struct Room<'a>(mpsc::Permit<'a, Parcel>);

impl Room<'_> {
    /// Sends a text.
    pub(super) fn send(self, text: String) {
        self.0.send((Message::text(text), None));
    }

    /// Sends a text with the frame that belongs to it.
    pub(super) fn send_part(self, part: Part) {
        self.0.send((Message::text(part.text), part.frame.map(Message::binary)));
    }
}

/// The client is gone.
#[derive(Debug)]
pub(super) struct Gone;

/// Starts the task that sends. It ends with the last [`Outgoing`], with a close frame, or with the client.
pub(super) fn start(sink: impl Sink<Message> + Unpin + Send + 'static) -> Outgoing {
    let (replies, reply_queue) = mpsc::channel(QUEUE);
    let (urgent, urgent_queue) = mpsc::channel(URGENT_QUEUE);
    tokio::spawn(write(sink, reply_queue, urgent_queue));
    Outgoing { replies, urgent }
}

async fn write(
    mut sink: impl Sink<Message> + Unpin,
    mut replies: mpsc::Receiver<Parcel>,
    mut urgent: mpsc::Receiver<Message>,
) {
    let mut pings = interval_at(Instant::now() + PING, PING);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let (message, frame) = tokio::select! {
            biased;
            Some(message) = urgent.recv() => (message, None),
            parcel = replies.recv() => match parcel {
                Some(parcel) => parcel,
                None => return,
            },
            _ = pings.tick() => (Message::Ping(Bytes::new()), None),
        };
        let mut last = message.is_close();
        let sent = timeout(LONGEST_SEND, async {
            feed(&mut sink, message, frame).await?;
            // What waits goes with it, as each write to a socket has its price.
            for _ in 0..QUEUE {
                let waiting = urgent.try_recv().map(|message| (message, None));
                match waiting.or_else(|_| replies.try_recv()) {
                    Ok((message, frame)) if !last => {
                        last = message.is_close();
                        feed(&mut sink, message, frame).await?;
                    }
                    Ok(_) | Err(_) => break,
                }
            }
            sink.flush().await
        });
        match sent.await {
            Ok(Ok(())) if !last => {}
            Ok(_) | Err(_) => return,
        }
    }
}

async fn feed<S: Sink<Message> + Unpin>(
    sink: &mut S,
    message: Message,
    frame: Option<Message>,
) -> Result<(), S::Error> {
    sink.feed(message).await?;
    match frame {
        Some(frame) => sink.feed(frame).await,
        None => Ok(()),
    }
}

impl Outgoing {
    /// Sends an answer out of turn.
    pub(super) async fn urgent(&self, text: String) -> Result<(), Gone> {
        self.urgent.send(Message::text(text)).await.map_err(|_| Gone)
    }

    /// Sends something out of turn that is old by the time that there is room for it, if there is none now.
    pub(super) fn in_passing(&self, text: String) {
        let _ = self.urgent.try_send(Message::text(text));
    }

    /// Says why, and ends the sending side.
    pub(super) async fn close(&self, code: CloseCode, reason: &'static str) {
        // A client that is gone already needs no reason.
        let _ = self.urgent.send(code.frame(reason)).await;
    }

    /// Says why after the answers that wait, and ends the sending side.
    pub(super) async fn close_after(&self, code: CloseCode, reason: &'static str) {
        // A client that is gone already needs no reason.
        let _ = self.replies.send((code.frame(reason), None)).await;
    }

    /// Says why the client has to go, after all that waits to be sent, and ends the sending side.
    pub(super) async fn end(&self, error: String, reason: &'static str) {
        let close = CloseCode::Policy.frame(reason);
        for message in [Message::text(error), close] {
            // A client that is gone already needs no reason.
            let _ = self.replies.send((message, None)).await;
        }
    }

    /// Waits for room for one more frame, after which nothing stands between it and the socket but a few others.
    pub(super) async fn room(&self) -> Result<Room<'_>, Gone> {
        self.replies.reserve().await.map(Room).map_err(|_| Gone)
    }

    /// Whether frames wait because the client does not read.
    pub(super) fn is_full(&self) -> bool {
        self.replies.capacity() == 0
    }

    /// Waits until nothing can be sent any more.
    pub(super) async fn closed(&self) {
        self.replies.closed().await;
    }

    /// Sends the whole reply to a request, at the pace of the client.
    pub(super) async fn reply(&self, reply: Reply, writers: &Writers, ticket: &Ticket) -> Result<(), Gone> {
        match reply {
            Reply::Whole(text) => self.send(Frame::Text(text)).await,
            Reply::Stream(stream) => self.stream(stream, writers, ticket).await,
        }
    }

    /// Frames are made while those before them are sent.
    async fn stream(
        &self,
        mut stream: Box<TableStream>,
        writers: &Writers,
        ticket: &Ticket,
    ) -> Result<(), Gone> {
        let id = stream.id();
        let mut frames = Vec::new();
        loop {
            let make = writers.run(move || {
                let frames = stream.next_frames();
                (stream, frames)
            });
            let (sent, made) = match ticket.stopped() {
                Some(who) => (Ok(()), Err(NotRun::from(who))),
                None => tokio::join!(self.send_all(frames), make),
            };
            sent?;
            let failure = match made {
                Ok((_, Ok(last))) if last.is_empty() => return Ok(()),
                Ok((rest, Ok(next))) => {
                    (stream, frames) = (rest, next);
                    continue;
                }
                Ok((_, Err(failure))) => failure,
                Err(not_run) => not_run.into(),
            };
            return self.send(Frame::Text(requests::error(failure, id))).await;
        }
    }

    async fn send_all(&self, frames: Vec<Frame>) -> Result<(), Gone> {
        for frame in frames {
            self.send(frame).await?;
        }
        Ok(())
    }

    async fn send(&self, frame: Frame) -> Result<(), Gone> {
        let message = match frame {
            Frame::Text(text) => Message::text(text),
            Frame::Binary(bytes) => Message::binary(bytes),
        };
        self.replies.send((message, None)).await.map_err(|_| Gone)
    }
}
