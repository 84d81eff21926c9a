//! Notifications on their way to one socket: read from the log in order, and sent at the pace of the client.
//!
//! Whether somebody may know of a change is asked when there is room to send it, not when it happened.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use stratalog_engine::{Caller as _, Need};
use stratalog_protocol::Gap;
use tokio::sync::watch;

use super::stream::{Gone, Outgoing};
use crate::app::App;
use crate::auth::{Identity, Role};
use crate::events::{Audience, Notice, Read};
use crate::queries::Ticket;
use crate::requests;
use crate::sessions::OpenSession;

/// How far the requests of a connection are.
#[derive(Debug, Default)]
pub(super) struct Progress {
    begun: AtomicU64,
    answered: watch::Sender<u64>,
    /// The one that is being answered.
    current: Mutex<Option<Arc<Ticket>>>,
}

impl Progress {
    /// A request begins.
    pub(super) fn begin(&self, ticket: &Arc<Ticket>) {
        *self.current.lock() = Some(Arc::clone(ticket));
        self.begun.fetch_add(1, Ordering::AcqRel);
    }

    /// Its answer was handed over.
    pub(super) fn answered(&self) {
        *self.current.lock() = None;
        self.answered.send_modify(|answered| *answered += 1);
    }

    /// Waits until no request that may change something has begun and is not answered.
    pub(super) async fn written(&self) {
        let mut answered = self.answered.subscribe();
        while self.current.lock().as_ref().is_some_and(|ticket| ticket.writes()) {
            if answered.changed().await.is_err() {
                return;
            }
        }
    }

    /// Waits until every request that has begun is answered.
    async fn caught_up(&self) {
        let begun = self.begun.load(Ordering::Acquire);
        // The sender lives as long as `self`.
        let _ = self.answered.subscribe().wait_for(|answered| *answered >= begun).await;
    }
}

/// Where somebody begins to read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Since {
    /// With what comes after this number, which was the last at login.
    Login(u64),
    /// With what comes after the last that they have seen.
    Seen(u64),
}

/// Somebody who is told of changes.
pub(super) struct Reader {
    pub(super) app: Arc<App>,
    pub(super) identity: Identity,
    pub(super) session: Arc<OpenSession>,
    pub(super) progress: Arc<Progress>,
}

/// Why nothing more is told.
pub(super) enum Stop {
    /// More was missed than is ever kept.
    TooSlow,
    /// The client is gone.
    Gone(Gone),
}

impl From<Gone> for Stop {
    fn from(gone: Gone) -> Stop {
        Stop::Gone(gone)
    }
}

impl Reader {
    /// Sends what happens, for as long as the client takes it.
    pub(super) async fn run(self, since: Since, outgoing: &Outgoing) -> Stop {
        match self.send_all(since, outgoing).await {
            Err(stop) => stop,
            Ok(never) => match never {},
        }
    }

    async fn send_all(&self, since: Since, outgoing: &Outgoing) -> Result<std::convert::Infallible, Stop> {
        let log = &self.app.events;
        let place = log.reader();
        let mut at = self.begin(since, outgoing).await?;
        let (mut missed, mut is_slow) = (0, false);
        loop {
            match log.read(at, self.session.binding().graph()) {
                Read::Nothing => {
                    is_slow = false;
                    place.woken().await;
                }
                Read::Gap(gap) => {
                    outgoing.room().await?.send(requests::gap(gap));
                    at = gap.to;
                    // What was missed while away, or because too much happened at once, is not the client's fault.
                    missed += if is_slow { gap.to - gap.from + 1 } else { 0 };
                    if missed > log.capacity() {
                        return Err(Stop::TooSlow);
                    }
                }
                Read::Notices { notices, to } => {
                    for notice in notices {
                        is_slow |= outgoing.is_full();
                        self.tell(&notice, outgoing).await?;
                    }
                    at = to;
                }
            }
        }
    }

    /// The number to begin after.
    async fn begin(&self, since: Since, outgoing: &Outgoing) -> Result<u64, Gone> {
        let last = self.app.events.last();
        match since {
            Since::Login(number) => Ok(number),
            Since::Seen(seen) if seen > last => {
                outgoing.room().await?.send(requests::gap(Gap { from: last + 1, to: seen }));
                Ok(last)
            }
            Since::Seen(seen) => Ok(seen),
        }
    }

    async fn tell(&self, notice: &Notice, outgoing: &Outgoing) -> Result<(), Gone> {
        if !self.concerns(notice) {
            return Ok(());
        }
        if notice.origin.as_ref() == Some(self.session.name()) {
            // Nobody hears of their own change before its answer.
            self.progress.caught_up().await;
        }
        let room = outgoing.room().await?;
        if self.concerns(notice) {
            room.send(notice.text.clone());
        }
        Ok(())
    }

    fn concerns(&self, notice: &Notice) -> bool {
        match &notice.audience {
            Audience::Bound => {
                self.session.binding().graph() == notice.graph
                    && self.identity.allows(Need::Read, &notice.name).is_ok()
            }
            Audience::Seeing => {
                self.app.engine.graph_id(&notice.name) == Some(notice.graph)
                    && self.identity.sees(&notice.name)
            }
            Audience::Witnesses(witnesses) => {
                let is_witness = witnesses.iter().any(|witness| witness == self.identity.username());
                !self.identity.is_ended() && (is_witness || self.identity.role() == Some(Role::Admin))
            }
        }
    }
}
