//! One authenticated socket. Three tasks: this one reads and never waits for a query, one answers requests in their
//! order, one sends.
//!
//! Because reading goes on, `ping` and `cancel` are answered at once, and a client that leaves stops its queries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, Stream, StreamExt};
use stratalog_engine::Budget;
use stratalog_protocol::{Code, Failure, Format, InvalidMessage, Message as Incoming, Request, RequestId};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant as TokioInstant, sleep_until, timeout};
use tokio_tungstenite::tungstenite::{self, Message, Utf8Bytes};

use super::CloseCode;
use super::deltas::Teller;
use super::notify::{Progress, Reader as Subscriber, Since, Stop};
use super::stream::{self, Gone, Outgoing};
use super::upgrade::Socket;
use super::working::telling;
use crate::app::App;
use crate::auth::Ended;
use crate::limits::Rate;
use crate::net::Link;
use crate::queries::{NotRun, Share, off_thread};
use crate::requests::{self, Caller, Job, Next, Tickets, Upload, Work};
use crate::sessions::{OpenSession, Over};

/// How many requests wait at most; reading pauses beyond that.
const QUEUE: usize = 4096;

/// Messages above this size are parsed off the asynchronous threads.
const SMALL: usize = 16 << 10;

/// What a message grows to when it is read, at most about so many times its size: `0,` becomes a whole value.
const GROWTH: usize = 16;

/// Arrow streams that are taken in or wait for their turn, at most.
const UPLOADS: usize = 2;

/// How long the other end may take to answer a close frame.
const FAREWELL: Duration = Duration::from_secs(2);

/// Serves a socket until either end closes it.
pub(super) async fn serve(socket: Socket, caller: Caller, since: Since, link: Link) {
    let app = caller.app.clone();
    let session = Arc::clone(&caller.session);
    let (sink, mut frames) = socket.split();
    let outgoing = stream::start(sink);
    let tickets = Arc::new(Tickets::default());
    let (jobs, queue) = mpsc::channel(QUEUE);
    let (identity, share) = (caller.identity.clone(), caller.share());
    let progress = Arc::new(Progress::default());
    let teller = Teller {
        app: app.clone(),
        identity: identity.clone(),
        subscriptions: caller.subscriptions.clone(),
        progress: progress.clone(),
    };
    let subscriber = Subscriber {
        app: app.clone(),
        identity: identity.clone(),
        session: session.clone(),
        progress: progress.clone(),
    };
    let mut worker = tokio::spawn(work(caller, queue, outgoing.clone(), tickets.clone(), progress));
    let message_bytes = app.limits.message_bytes;
    let reader = Reader {
        app: app.clone(),
        outgoing: outgoing.clone(),
        session: session.clone(),
        tickets: tickets.clone(),
        link: link.clone(),
        jobs,
        rate: Rate::new(app.limits.messages_per_second),
        rate_limit: app.limits.messages_per_second,
        upload: Receiving::Nothing,
        upload_limit: app.limits.query_memory,
        uploads: Arc::new(Semaphore::new(UPLOADS)),
        room: Arc::new(Semaphore::new(shares(message_bytes).saturating_mul(2) as usize)),
        largest: shares(message_bytes),
        share,
    };
    let over = async {
        match session.over().await {
            Over::Idle => farewell(&outgoing, "the session was idle for too long: connect again").await,
            Over::Killed(why) => End::Ended(why),
        }
    };
    let told = async {
        match subscriber.run(since, &outgoing).await {
            Stop::TooSlow => End::TooSlow,
            Stop::Gone(gone) => gone.into(),
        }
    };
    // Each of them is looked at when it is woken itself: what happens mostly is that there is something to tell.
    let mut ends: FuturesUnordered<BoxFuture<'_, End>> = FuturesUnordered::new();
    ends.push(app.stopped().map(|()| End::Shutdown).boxed());
    ends.push(outgoing.closed().map(|()| End::Gone).boxed());
    ends.push(identity.ended().map(End::Ended).boxed());
    ends.push(session.owner().ended().map(End::Ended).boxed());
    ends.push(over.boxed());
    ends.push(reader.read(&mut frames, app.limits.idle, app.limits.lifetime).boxed());
    ends.push(teller.run(&outgoing).map(End::from).boxed());
    ends.push(told.boxed());
    let end = ends.next().await.unwrap_or(End::Gone);
    drop(ends);
    let mut worked = None;
    if let End::Shutdown = end {
        // Requests that are here already may end by themselves.
        worked = timeout(app.limits.shutdown_grace, &mut worker).await.ok();
    }
    tickets.cancel_all();
    if worked.is_none() && matches!(end, End::Ended(_) | End::Shutdown) {
        // The end may come of a request of this very session, whose answer goes first.
        worked = timeout(FAREWELL, &mut worker).await.ok();
    }
    let farewell = async {
        match end {
            End::Shutdown => outgoing.close_after(CloseCode::Away, "the server is shutting down").await,
            End::Close(code, reason) => outgoing.close(code, reason).await,
            End::Ended(why) => {
                outgoing.end(requests::ended(why), "the session was ended: log in again").await;
            }
            End::TooSlow => {
                outgoing.end(requests::too_slow(), "notifications must be read as they come").await;
            }
            End::Overloaded => {
                outgoing.end(requests::too_large_now(), "no memory for the message: try again later").await;
            }
            End::Gone => return,
        }
        link.linger();
        while let Some(Ok(_)) = frames.next().await {}
    };
    let _ = timeout(FAREWELL, farewell).await;
    drop((outgoing, frames));
    // The session ends only when its last request has.
    let worked = match worked {
        Some(worked) => worked,
        None => worker.await,
    };
    if let Err(error) = worked {
        tracing::error!(%error, "the task of a connection panicked");
    }
}

/// Answers requests in their order.
async fn work(
    caller: Caller,
    mut queue: mpsc::Receiver<Job>,
    outgoing: Outgoing,
    tickets: Arc<Tickets>,
    progress: Arc<Progress>,
) {
    while let Some(Job { id, work, ticket, held }) = queue.recv().await {
        progress.begin(&ticket);
        let watched = work.is_watched().then(|| id.clone());
        let reply = requests::answer(&caller, id, work, &ticket);
        let reply = match watched {
            Some(id) => telling(reply, id, &ticket, &outgoing).await,
            None => reply.await,
        };
        drop(held);
        let sent = outgoing.reply(reply, &caller.app.writers, &ticket).await;
        progress.answered();
        caller.subscriptions.begin();
        tickets.close(&ticket);
        if let Err(Gone) = sent {
            return;
        }
    }
}

/// How a connection ends.
enum End {
    /// With a reason from this side.
    Close(CloseCode, &'static str),
    /// Because the server stops.
    Shutdown,
    /// Because its user or key has changed.
    Ended(Ended),
    /// Because the client does not read its notifications.
    TooSlow,
    /// Because all clients together send more than there is memory for.
    Overloaded,
    /// The client closed it, or vanished.
    Gone,
}

impl From<Gone> for End {
    fn from(Gone: Gone) -> End {
        End::Gone
    }
}

/// Whether binary frames are awaited.
enum Receiving {
    /// Not until an insert announces them.
    Nothing,
    /// They belong to this upload.
    Upload(Upload),
    /// They are what is left of an upload that failed, and go nowhere.
    Leftovers,
}

struct Reader {
    app: Arc<App>,
    outgoing: Outgoing,
    session: Arc<OpenSession>,
    tickets: Arc<Tickets>,
    link: Link,
    jobs: mpsc::Sender<Job>,
    rate: Rate,
    rate_limit: u64,
    upload: Receiving,
    upload_limit: u64,
    uploads: Arc<Semaphore>,
    /// What waiting requests may hold together, in KiB.
    room: Arc<Semaphore>,
    largest: u32,
    /// With whose requests these have their turns.
    share: Share,
}

impl Reader {
    async fn read(
        mut self,
        frames: &mut (impl Stream<Item = Result<Message, tungstenite::Error>> + Unpin + Send),
        idle: Duration,
        lifetime: Duration,
    ) -> End {
        let end_of_life = sleep_until(far_or(TokioInstant::now(), lifetime));
        tokio::pin!(end_of_life);
        loop {
            let idle_until = far_or(TokioInstant::now(), idle);
            let frame = tokio::select! {
                biased;
                frame = frames.next() => frame,
                () = sleep_until(idle_until) => {
                    let reason = "the connection was idle for too long: send `ping` now and then";
                    return farewell(&self.outgoing, reason).await;
                }
                () = &mut end_of_life => {
                    let reason = "the connection reached its longest lifetime: connect again";
                    return farewell(&self.outgoing, reason).await;
                }
            };
            let message = match frame {
                Some(Ok(message)) => message,
                Some(Err(_)) if self.link.is_overloaded() => return End::Overloaded,
                Some(Err(error)) => {
                    return problem_of(&error).map_or(End::Gone, |(code, reason)| End::Close(code, reason));
                }
                None => return End::Gone,
            };
            self.session.touch();
            match message.is_text() || message.is_binary() {
                true => self.link.complete(),
                false => self.link.control_frame(message.len()),
            }
            let taken = match message {
                Message::Text(text) => self.take_text(text).await,
                Message::Binary(bytes) => self.take_binary(bytes).await,
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => Ok(()),
            };
            if let Err(gone) = taken {
                return gone.into();
            }
        }
    }

    async fn take_text(&mut self, message: Utf8Bytes) -> Result<(), Gone> {
        let size = message.len();
        if let Err(wait) = self.rate.count(Instant::now()) {
            let id = id_in(message).await;
            return self.outgoing.urgent(requests::error(too_fast(self.rate_limit, wait), id)).await;
        }
        // Small messages are read first: they may be no requests, but a `cancel` that makes room.
        let memory = self.app.queries.incoming(&self.share);
        let room = memory.charge(size.saturating_mul(GROWTH));
        if size > SMALL
            && let Err(full) = room
        {
            self.end_upload();
            return self.queue(id_in(message).await, Work::Refuse(requests::stopped(full)), size, None).await;
        }
        match parse(message).await {
            Ok(Incoming { request: Request::Ping, id }) => self.outgoing.urgent(requests::pong(id)).await,
            Ok(Incoming { request: Request::Cancel(cancel), id }) => {
                let answer = self.tickets.cancel(&cancel.target, id);
                self.outgoing.urgent(answer).await
            }
            Ok(Incoming { request: Request::Insert(insert), id }) if insert.format == Format::Arrow => {
                self.end_upload();
                let place = self.uploads.clone().acquire_owned().await.map_err(|_| Gone)?;
                let ticket = self.tickets.issue(id.clone());
                let (announced, upload) = Upload::announce(
                    insert,
                    self.upload_limit,
                    self.app.queries.incoming(&self.share),
                    self.app.deposits.clone(),
                    ticket.clone(),
                );
                self.upload = Receiving::Upload(upload);
                self.jobs
                    .send(Job { id, work: Work::Insert(announced), ticket, held: (place, None) })
                    .await
                    .map_err(|_| Gone)
            }
            Ok(Incoming { request, id }) => {
                self.end_upload();
                match room {
                    Ok(()) => self.queue(id, Work::Answer(request), size, Some(memory)).await,
                    Err(full) => self.queue(id, Work::Refuse(requests::stopped(full)), size, None).await,
                }
            }
            Err(invalid) => {
                self.end_upload();
                let failure = Failure::new(Code::InvalidMessage, invalid.problem);
                self.queue(invalid.id, Work::Refuse(failure), size, None).await
            }
        }
    }

    async fn take_binary(&mut self, frame: Bytes) -> Result<(), Gone> {
        match std::mem::replace(&mut self.upload, Receiving::Nothing) {
            Receiving::Upload(upload) => {
                self.upload = match upload.feed(frame).await {
                    Next::More(upload) => Receiving::Upload(upload),
                    Next::Complete => Receiving::Nothing,
                    Next::Failed => Receiving::Leftovers,
                };
                Ok(())
            }
            Receiving::Leftovers => {
                self.upload = Receiving::Leftovers;
                Ok(())
            }
            Receiving::Nothing => {
                let failure = Failure::new(Code::InvalidMessage, "a binary frame that no message announced")
                    .help("announce Arrow frames with a message of type `insert` with `format` \"arrow\"");
                self.queue(None, Work::Refuse(failure), frame.len(), None).await
            }
        }
    }

    /// A text message other than `ping` and `cancel` says that no more frames of an upload will come.
    fn end_upload(&mut self) {
        if let Receiving::Upload(upload) = std::mem::replace(&mut self.upload, Receiving::Nothing) {
            upload.break_off();
        }
    }

    /// Puts a request into the queue, as soon as there is room for its size.
    async fn queue(
        &self,
        id: Option<RequestId>,
        work: Work,
        size: usize,
        memory: Option<Budget>,
    ) -> Result<(), Gone> {
        let shares = shares(size).min(self.largest);
        let place = self.room.clone().acquire_many_owned(shares).await.map_err(|_| Gone)?;
        let ticket = self.tickets.issue(id.clone());
        self.jobs.send(Job { id, work, ticket, held: (place, memory) }).await.map_err(|_| Gone)
    }
}

/// Says why a connection that has lasted too long is closed.
async fn farewell(outgoing: &Outgoing, reason: &'static str) -> End {
    let failure = Failure::new(Code::Timeout, reason);
    match outgoing.urgent(requests::error(failure, None)).await {
        Ok(()) => End::Close(CloseCode::Away, reason),
        Err(gone) => gone.into(),
    }
}

/// The room that a message takes in the queue.
fn shares(bytes: usize) -> u32 {
    u32::try_from(bytes / 1024 + 1).unwrap_or(u32::MAX / 2)
}

async fn parse(message: Utf8Bytes) -> Result<Incoming, InvalidMessage> {
    read(message, Incoming::parse)
        .await
        .unwrap_or_else(|not_run| Err(InvalidMessage { id: None, problem: not_run.to_string() }))
}

/// The id of a message that is not read any further.
async fn id_in(message: Utf8Bytes) -> Option<RequestId> {
    read(message, Incoming::id_in).await.ok().flatten()
}

async fn read<T: Send + 'static>(message: Utf8Bytes, read: fn(&str) -> T) -> Result<T, NotRun> {
    let small = message.len() <= SMALL;
    let read = move || read(&message);
    if small { Ok(read()) } else { off_thread(read).await }
}

fn too_fast(limit: u64, wait: Duration) -> Failure {
    let retry = u64::try_from(wait.as_millis()).unwrap_or(1000).max(1);
    Failure::new(Code::LimitExceeded, format!("more than {limit} messages in a second; this one was dropped"))
        .limit("ws_max_messages_per_sec", limit)
        .retry_after_ms(retry)
}

/// So long from now; zero means never, which is a year.
fn far_or(now: TokioInstant, time: Duration) -> TokioInstant {
    let year = Duration::from_secs(365 * 86_400);
    now + if time.is_zero() { year } else { time.min(year) }
}

/// How to close after a failed read; `None` where nobody is there to be told.
pub(super) fn problem_of(error: &tungstenite::Error) -> Option<(CloseCode, &'static str)> {
    match error {
        tungstenite::Error::Capacity(_) => {
            Some((CloseCode::TooLarge, "the message is too large: send it in parts"))
        }
        tungstenite::Error::Utf8(_) => Some((CloseCode::Encoding, "a text frame must be UTF-8")),
        tungstenite::Error::Protocol(tungstenite::error::ProtocolError::ResetWithoutClosingHandshake) => None,
        tungstenite::Error::Protocol(_) => {
            Some((CloseCode::Protocol, "a frame breaks the WebSocket protocol"))
        }
        _ => None,
    }
}
