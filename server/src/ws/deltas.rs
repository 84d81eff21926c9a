//! Live queries on their way to one socket: read from their logs, and sent at the pace of the client.
//!
//! Whether somebody may know of a row is asked when there is room to send it, not when it came.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use stratalog_engine::{Caller as _, Error, Need, Next, graph_not_found};
use stratalog_protocol::{Failure, Progress as ProgressMessage, Reply, Response, Unsubscribed};
use tokio::time::{Instant, sleep_until};

use super::notify::Progress;
use super::stream::{Gone, Outgoing};
use crate::app::App;
use crate::auth::Identity;
use crate::subscriptions::{Feed, Subscriptions};
use crate::wire::{self, DeltaFrames, FEW_ROWS};

/// How often it is told how far everything is, at most, and when nothing happens.
const OFTEN: Duration = Duration::from_millis(250);
const SELDOM: Duration = Duration::from_secs(5);

/// Tells one connection what it has subscribed to.
pub(super) struct Teller {
    pub(super) app: Arc<App>,
    pub(super) identity: Identity,
    pub(super) subscriptions: Arc<Subscriptions>,
    pub(super) progress: Arc<Progress>,
}

/// What is to be done with a subscription that was looked at.
enum Told {
    Nothing,
    Something,
    Over,
}

/// Why the parts of a delta are not all sent.
enum Halt {
    Gone,
    Unsubscribed,
    Refused(Box<Failure>),
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Halt {
        Halt::Refused(Box::new(failure))
    }
}

impl From<Gone> for Halt {
    fn from(Gone: Gone) -> Halt {
        Halt::Gone
    }
}

impl Teller {
    /// Sends what happens, for as long as the client takes it.
    pub(super) async fn run(self, outgoing: &Outgoing) -> Gone {
        match self.tell_all(outgoing).await {
            Err(gone) => gone,
            Ok(never) => match never {},
        }
    }

    async fn tell_all(&self, outgoing: &Outgoing) -> Result<std::convert::Infallible, Gone> {
        let (mut last, mut told_at) = (BTreeMap::new(), Instant::now());
        loop {
            tokio::select! {
                biased;
                () = self.progress_is_due(told_at) => {
                    told_at = Instant::now();
                    self.tell_progress(&mut last, outgoing).await?;
                }
                (number, mut feed) = self.subscriptions.next() => {
                    match self.tell(number, &mut feed, outgoing).await? {
                        Told::Nothing => self.subscriptions.put_back(number, feed),
                        Told::Something => self.subscriptions.put_back_for_more(number, feed),
                        Told::Over => drop(self.subscriptions.remove(number)),
                    }
                }
            }
        }
    }

    /// Waits until it is time to tell how far everything is; for ever where nobody has asked for it.
    async fn progress_is_due(&self, told_at: Instant) {
        match self.subscriptions.tells_progress() {
            true => sleep_until(told_at + OFTEN).await,
            false => std::future::pending().await,
        }
    }

    /// Tells how far everything is, where that is further than before, or was told long ago.
    async fn tell_progress(
        &self,
        last: &mut BTreeMap<String, (u64, Instant)>,
        outgoing: &Outgoing,
    ) -> Result<(), Gone> {
        for (graph, version) in self.subscriptions.progress() {
            if last.get(&graph).is_none_or(|(told, at)| *told < version || at.elapsed() >= SELDOM) {
                let message = ProgressMessage { knowledge_graph: graph.clone(), version };
                outgoing.room().await?.send(Reply::from(Response::Progress(message)).to_json());
                last.insert(graph, (version, Instant::now()));
            }
        }
        Ok(())
    }

    /// Sends what there is to tell of one subscription.
    async fn tell(&self, number: u64, feed: &mut Feed, outgoing: &Outgoing) -> Result<Told, Gone> {
        // What is looked up when there is room is the latest there is.
        drop(outgoing.room().await?);
        let next = match feed.at {
            None => {
                let begun = feed.subscription.begun();
                Ok(Next::Reset { version: begun.version, rows: Arc::clone(&begun.rows) })
            }
            Some(at) => feed.subscription.next(at, feed.every_version),
        };
        let is_reset = matches!(next, Ok(Next::Reset { .. }));
        let (version, frames) = match next {
            Ok(Next::Nothing { .. }) => return Ok(Told::Nothing),
            Ok(Next::Delta { version, delta }) => {
                let (from, rendered) = (feed.at.unwrap_or_default(), &self.app.rendered);
                match DeltaFrames::since(from, number, version, &delta, feed.format, rendered) {
                    Ok(frames) => (version, frames),
                    Err(failure) => return self.end(number, Some(version), failure, outgoing).await,
                }
            }
            Ok(Next::Reset { version, rows }) => {
                (version, DeltaFrames::reset(number, version, &rows, feed.format))
            }
            Ok(Next::Ended { version, error }) => {
                let failure = wire::failure(&error, feed.subscription.text());
                return self.end(number, Some(version), failure, outgoing).await;
            }
            Err(error) => return self.end(number, None, wire::failure(&error, ""), outgoing).await,
        };
        // Nobody is told of their own change before its answer.
        self.progress.written().await;
        match self.send(number, feed, frames, outgoing).await {
            Ok(()) => {
                if feed.at.is_some() {
                    self.app.metrics.count_delta(is_reset);
                }
                feed.at = Some(version);
                feed.subscription.forget_begun();
                Ok(Told::Something)
            }
            Err(Halt::Gone) => Err(Gone),
            Err(Halt::Unsubscribed) => Ok(Told::Over),
            Err(Halt::Refused(failure)) => self.end(number, Some(version), *failure, outgoing).await,
        }
    }

    async fn send(
        &self,
        number: u64,
        feed: &Feed,
        mut frames: DeltaFrames,
        outgoing: &Outgoing,
    ) -> Result<(), Halt> {
        loop {
            let part = if frames.rows_left() <= FEW_ROWS {
                frames.next()
            } else {
                let make = self.app.writers.run(move || {
                    let part = frames.next();
                    (frames, part)
                });
                let (rest, part) = make.await.map_err(Failure::from)?;
                frames = rest;
                part
            };
            let Some(part) = part? else { return Ok(()) };
            let room = outgoing.room().await?;
            self.check(feed)?;
            if !self.subscriptions.while_open(number, || room.send_part(part)) {
                return Err(Halt::Unsubscribed);
            }
        }
    }

    /// Whether its user may still know of the graph, which must still be the same.
    fn check(&self, feed: &Feed) -> Result<(), Failure> {
        let (id, name) = feed.subscription.graph();
        let allowed = match self.app.engine.graph_id(name) {
            Some(found) if found == id => self.identity.allows(Need::Read, name),
            Some(_) | None => Err(graph_not_found(name)),
        };
        allowed.map_err(|refusal| wire::failure(&Error::refused(refusal), ""))
    }

    async fn end(
        &self,
        number: u64,
        version: Option<u64>,
        error: Failure,
        outgoing: &Outgoing,
    ) -> Result<Told, Gone> {
        let message = Unsubscribed { subscription: number, version, error: Some(Box::new(error)) };
        let text = Reply::from(Response::Unsubscribed(message)).to_json();
        let room = outgoing.room().await?;
        self.subscriptions.while_open(number, || room.send(text));
        Ok(Told::Over)
    }
}
