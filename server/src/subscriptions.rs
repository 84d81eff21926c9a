//! `Subscriptions`: what one connection has subscribed to, which of it may have something to tell, and how far each is told.
//!
//! Nothing waits in a queue: a subscription has a place in the log of its live query, and what is between that and the
//! present is looked up when there is room to send.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use stratalog_engine::{Subscription, Waker};
use stratalog_protocol::Format;
use tokio::sync::Notify;
use uuid::Uuid;

use crate::limits::OfSubscriber;

/// What one connection has subscribed to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    state: Mutex<State>,
    news: Notify,
}

#[derive(Debug, Default)]
struct State {
    last_number: u64,
    /// None while one is being told.
    open: BTreeMap<u64, Option<Feed>>,
    /// Those whose `subscribed` was not sent yet.
    announced: BTreeSet<u64>,
    /// Those that may have something to tell.
    ready: BTreeSet<u64>,
}

/// One subscription.
#[derive(Debug)]
pub(crate) struct Feed {
    /// What it is told of.
    pub(crate) subscription: Subscription,
    /// The version that its client knows; none before all rows were told once.
    pub(crate) at: Option<u64>,
    /// How rows travel.
    pub(crate) format: Format,
    /// Whether each version is told by itself.
    pub(crate) every_version: bool,
    /// Whether it is told how far it is.
    pub(crate) progress: bool,
    /// One of those that its user may have.
    pub(crate) _place: OfSubscriber,
}

impl Feed {
    /// The version up to which everything is told.
    fn told(&self) -> Option<u64> {
        use stratalog_engine::Next;
        let at = self.at?;
        match self.subscription.next(at, true) {
            Ok(Next::Nothing { version }) => Some(version),
            Ok(Next::Delta { .. } | Next::Reset { .. } | Next::Ended { .. }) | Err(_) => Some(at),
        }
    }
}

impl State {
    fn take_ready(&mut self) -> Option<(u64, Feed)> {
        loop {
            let State { announced, ready, .. } = self;
            let may_be_told = |number: &&u64| !announced.contains(number);
            let number = *ready.iter().find(may_be_told)?;
            ready.remove(&number);
            if let Some(feed) = self.open.get_mut(&number).and_then(Option::take) {
                return Some((number, feed));
            }
        }
    }
}

impl Subscriptions {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.state.lock().open.len()
    }

    /// The number of the next one.
    pub(crate) fn number(&self) -> u64 {
        let mut state = self.state.lock();
        state.last_number += 1;
        state.last_number
    }

    /// What wakes the one of a number.
    pub(crate) fn waker(self: &Arc<Self>, number: u64) -> Waker {
        let woken = Arc::downgrade(self);
        Waker::new(move || {
            if let Some(woken) = woken.upgrade() {
                woken.wake(number);
            }
        })
    }

    fn wake(&self, number: u64) {
        if self.state.lock().ready.insert(number) {
            self.news.notify_one();
        }
    }

    /// Adds one. It is told nothing before [`Subscriptions::begin`].
    pub(crate) fn add(&self, number: u64, feed: Feed) {
        let mut state = self.state.lock();
        state.open.insert(number, Some(feed));
        state.announced.insert(number);
    }

    /// What was announced is to be told from now on.
    pub(crate) fn begin(&self) {
        let mut state = self.state.lock();
        let announced = std::mem::take(&mut state.announced);
        if !announced.is_empty() {
            state.ready.extend(announced);
            self.news.notify_one();
        }
    }

    /// Ends one; whether there was one of this number. Nothing is sent of it afterwards.
    pub(crate) fn remove(&self, number: u64) -> bool {
        // What it was told of is let go without the lock.
        let removed = self.state.lock().open.remove(&number);
        removed.is_some()
    }

    /// Does something if the one of this number is open, and while it is.
    pub(crate) fn while_open(&self, number: u64, work: impl FnOnce()) -> bool {
        let state = self.state.lock();
        let is_open = state.open.contains_key(&number);
        if is_open {
            work();
        }
        is_open
    }

    /// The next one that may have something to tell; it has to be [put back](Subscriptions::put_back).
    pub(crate) async fn next(&self) -> (u64, Feed) {
        loop {
            let found = self.state.lock().take_ready();
            match found {
                Some(found) => return found,
                None => self.news.notified().await,
            }
        }
    }

    /// It was told what there was.
    pub(crate) fn put_back(&self, number: u64, feed: Feed) {
        if let Some(place) = self.state.lock().open.get_mut(&number) {
            *place = Some(feed);
        }
    }

    /// It was told something; perhaps there is more.
    pub(crate) fn put_back_for_more(&self, number: u64, feed: Feed) {
        let mut state = self.state.lock();
        if let Some(place) = state.open.get_mut(&number) {
            *place = Some(feed);
            state.ready.insert(number);
        }
    }

    /// The graphs of those that are told how far they are, each with the version up to which all of this connection on it
    /// are told.
    pub(crate) fn progress(&self) -> BTreeMap<String, u64> {
        let state = self.state.lock();
        let mut told: BTreeMap<String, (Option<u64>, bool)> = BTreeMap::new();
        for feed in state.open.values().flatten() {
            let graph = told.entry(feed.subscription.graph().1.to_owned()).or_insert((Some(u64::MAX), false));
            graph.0 = graph.0.min(feed.told());
            graph.1 |= feed.progress;
        }
        let asked = told.into_iter().filter(|(_, (_, is_asked))| *is_asked);
        asked.filter_map(|(graph, (version, _))| Some((graph, version?))).collect()
    }

    /// Whether somebody is told how far everything is.
    pub(crate) fn tells_progress(&self) -> bool {
        self.state.lock().open.values().flatten().any(|feed| feed.progress)
    }
}

/// What a client comes back with: it stands for a question on a graph, and for versions of one history.
pub(crate) fn token(subscription: &Subscription) -> String {
    format!("{}-{}", subscription.lineage().epoch().simple(), question(subscription))
}

/// Whether a version that was told under a token has the rows that it has here.
pub(crate) fn knows(subscription: &Subscription, token: &str, version: u64) -> bool {
    let Some((epoch, asked)) = token.split_once('-') else { return false };
    let holds = |epoch| subscription.lineage().holds(epoch, version);
    asked == question(subscription) && Uuid::parse_str(epoch).is_ok_and(holds)
}

/// Stands for a question as this release answers it: another one may know better.
fn question(subscription: &Subscription) -> String {
    let release = env!("CARGO_PKG_VERSION");
    let hash = Sha256::digest(format!("{release} {}", subscription.text()));
    hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
