//! Sessions by their id: each lives as long as some socket is on it, and a grace time longer, so that a client that lost
//! its connection finds it again.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use stratalog_engine::{Binding, Caller, Origin, Session};
use stratalog_protocol::{Code, Failure};
use tokio::sync::{OwnedMutexGuard, watch};
use uuid::Uuid;

use crate::auth::{Ended, Identity};
use crate::config::Limits;
use crate::metrics::SessionCounts;
use crate::queries::{NotRun, Ticket, UserMemory};

/// The sessions of one server.
#[derive(Debug)]
pub(crate) struct Sessions {
    by_id: Mutex<HashMap<Uuid, Arc<OpenSession>>>,
    limit: usize,
    grace: Duration,
    idle: Option<Duration>,
    /// What facts and rules of sessions take.
    memory: UserMemory,
}

/// One session.
#[derive(Debug)]
pub(crate) struct OpenSession {
    id: Uuid,
    name: Origin,
    owner: Identity,
    session: Arc<tokio::sync::Mutex<Session>>,
    binding: Binding,
    facts: AtomicUsize,
    rules: AtomicUsize,
    presence: Mutex<Presence>,
    over: watch::Sender<Option<Over>>,
}

/// Why a session ended, beside what becomes of its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// Nobody has used it for too long.
    Idle,
    /// Somebody has ended it.
    Killed(Ended),
}

/// The session is another user's.
#[derive(Debug)]
pub(crate) struct Foreign;

/// What is told about a session.
#[derive(Debug)]
pub(crate) struct Listed {
    pub(crate) id: Uuid,
    pub(crate) user: String,
    /// The label of the key that opened it.
    pub(crate) key: Option<String>,
    pub(crate) graph: String,
    pub(crate) sockets: usize,
    pub(crate) silent: Duration,
}

#[derive(Debug)]
struct Presence {
    sockets: usize,
    /// The last frame of a client, or when the last socket left.
    last_sign: Instant,
}

impl Sessions {
    /// As the configuration says.
    pub(crate) fn new(limits: &Limits) -> Sessions {
        Sessions {
            by_id: Mutex::default(),
            limit: limits.sessions,
            grace: limits.session_grace,
            idle: Some(limits.session_idle).filter(|time| !time.is_zero()),
            memory: UserMemory::new(or_unlimited(limits.session_memory), limits.user.session_memory),
        }
    }

    /// Takes a new session in. If there are too many, the one that was left longest ago makes room.
    pub(crate) fn open(
        self: &Arc<Sessions>,
        id: Uuid,
        mut session: Session,
        owner: Identity,
    ) -> Result<Attached, Failure> {
        session.hold(self.memory.of(&owner.share()));
        let binding = session.binding().clone();
        let opened = Arc::new(OpenSession {
            id,
            name: id.to_string().into(),
            owner,
            session: Arc::new(tokio::sync::Mutex::new(session)),
            binding,
            facts: AtomicUsize::new(0),
            rules: AtomicUsize::new(0),
            presence: Mutex::new(Presence { sockets: 1, last_sign: Instant::now() }),
            over: watch::Sender::new(None),
        });
        let mut by_id = self.by_id.lock();
        let mut removed = None;
        if self.limit > 0 && by_id.len() >= self.limit {
            let left = by_id.values().filter_map(|session| Some((session.left_at()?, session.id)));
            let Some((_, oldest)) = left.min() else {
                let message = format!("there are {} sessions already", self.limit);
                let failure = Failure::new(Code::LimitExceeded, message).help("try again later");
                return Err(failure.limit("max_sessions", self.limit as u64));
            };
            removed = by_id.remove(&oldest);
        }
        by_id.insert(id, Arc::clone(&opened));
        drop(by_id);
        removed.iter().for_each(|session| session.end(Over::Idle));
        Ok(Attached { session: opened, sessions: Arc::clone(self) })
    }

    /// Whether there is such a session.
    pub(crate) fn has(&self, id: Uuid) -> bool {
        self.by_id.lock().get(&id).is_some_and(|session| !self.is_due(session, Instant::now()))
    }

    /// Puts another socket on a session, of somebody who may with this owner's. Who may not leaves no trace: the session
    /// ends when it would have ended.
    pub(crate) fn attach(
        self: &Arc<Sessions>,
        id: Uuid,
        may: impl FnOnce(&Identity) -> bool,
    ) -> Option<Result<Attached, Foreign>> {
        let by_id = self.by_id.lock();
        let session = by_id.get(&id).filter(|session| !self.is_due(session, Instant::now()))?;
        if !may(&session.owner) {
            return Some(Err(Foreign));
        }
        session.presence.lock().sockets += 1;
        session.touch();
        Some(Ok(Attached { session: Arc::clone(session), sessions: Arc::clone(self) }))
    }

    /// The sessions that somebody may know of, by their owners.
    pub(crate) fn list(&self, may: impl Fn(&Identity) -> bool) -> Vec<Listed> {
        let now = Instant::now();
        let by_id = self.by_id.lock();
        let seen = by_id.values().filter(|session| !self.is_due(session, now) && may(&session.owner));
        let mut listed: Vec<Listed> = seen.map(|session| session.listed(now)).collect();
        drop(by_id);
        listed.sort_by(|a, b| (&a.user, a.id).cmp(&(&b.user, b.id)));
        listed
    }

    /// Ends a session, if its owner's may be ended; answers who that is.
    pub(crate) fn kill(&self, id: Uuid, why: impl FnOnce(&Identity) -> Option<Ended>) -> Option<String> {
        let mut by_id = self.by_id.lock();
        let session = by_id.get(&id).filter(|session| !self.is_due(session, Instant::now()))?;
        let (why, user) = (why(&session.owner)?, session.owner.username().to_owned());
        let killed = by_id.remove(&id);
        drop(by_id);
        killed.iter().for_each(|session| session.end(Over::Killed(why)));
        Some(user)
    }

    /// How many there are, without waiting for any.
    pub(crate) fn counts(&self) -> SessionCounts {
        let by_id = self.by_id.lock();
        let start = SessionCounts { bytes: self.memory.whole().used(), ..SessionCounts::default() };
        by_id.values().fold(start, |counts, session| {
            let facts = session.facts.load(Ordering::Relaxed);
            let rules = session.rules.load(Ordering::Relaxed);
            SessionCounts {
                total: counts.total + 1,
                dirty: counts.dirty + usize::from(facts + rules > 0),
                facts: counts.facts + facts,
                rules: counts.rules + rules,
                ..counts
            }
        })
    }

    /// Ends the sessions that nobody came back to, and those that are idle for too long; never ends itself.
    pub(crate) async fn keep(&self) {
        let shortest = [Some(self.grace), self.idle].into_iter().flatten().min().unwrap_or_default();
        let every = (shortest / 4).clamp(Duration::from_millis(20), Duration::from_secs(15));
        loop {
            tokio::time::sleep(every).await;
            let now = Instant::now();
            self.remove(|session| self.is_due(session, now));
        }
    }

    fn remove(&self, is_due: impl Fn(&OpenSession) -> bool) {
        let mut over = Vec::new();
        self.by_id.lock().retain(|_, session| {
            let stays = !is_due(session);
            if !stays {
                over.push(Arc::clone(session));
            }
            stays
        });
        // What sessions hold takes time to free, so not under the lock.
        over.iter().for_each(|session| session.end(Over::Idle));
    }

    fn is_due(&self, session: &OpenSession, now: Instant) -> bool {
        let (sockets, last_sign) = {
            let presence = session.presence.lock();
            (presence.sockets, presence.last_sign)
        };
        let silent = now.saturating_duration_since(last_sign);
        let is_idle = self.idle.is_some_and(|idle| silent >= idle);
        session.owner.is_ended() || is_idle || (sockets == 0 && silent >= self.grace)
    }
}

fn or_unlimited(bytes: u64) -> u64 {
    if bytes == 0 { u64::MAX } else { bytes }
}

impl OpenSession {
    /// Its id.
    pub(crate) fn id(&self) -> Uuid {
        self.id
    }

    /// Its id, as events name it.
    pub(crate) fn name(&self) -> &Origin {
        &self.name
    }

    /// Who opened it.
    pub(crate) fn owner(&self) -> &Identity {
        &self.owner
    }

    /// The graph that it is bound to.
    pub(crate) fn binding(&self) -> &Binding {
        &self.binding
    }

    /// A client has given a sign of life.
    pub(crate) fn touch(&self) {
        self.presence.lock().last_sign = Instant::now();
    }

    /// Waits until the session was idle for too long, or somebody has ended it.
    pub(crate) async fn over(&self) -> Over {
        let mut over = self.over.subscribe();
        // The sender lives as long as `self`.
        over.wait_for(Option::is_some).await.ok().and_then(|why| *why).unwrap_or(Over::Idle)
    }

    fn listed(&self, now: Instant) -> Listed {
        let presence = self.presence.lock();
        Listed {
            id: self.id,
            user: self.owner.username().to_owned(),
            key: self.owner.key().map(str::to_owned),
            graph: self.binding.name(),
            sockets: presence.sockets,
            silent: now.saturating_duration_since(presence.last_sign),
        }
    }

    /// Waits until no other request has the session; `who` acts in it from then on.
    pub(crate) async fn turn(
        self: &Arc<OpenSession>,
        who: Arc<dyn Caller>,
        ticket: &Ticket,
    ) -> Result<Turn, NotRun> {
        let mut session = tokio::select! {
            biased;
            who = ticket.until_stopped() => return Err(who.into()),
            session = Arc::clone(&self.session).lock_owned() => session,
        };
        session.act_as(who);
        Ok(Turn { session, of: Arc::clone(self) })
    }

    fn end(&self, why: Over) {
        self.over.send_if_modified(|over| over.is_none().then(|| *over = Some(why)).is_some());
    }

    /// When the last socket left it, if none is on it.
    fn left_at(&self) -> Option<Instant> {
        let presence = self.presence.lock();
        (presence.sockets == 0).then_some(presence.last_sign)
    }
}

/// The session in the hands of one request.
pub(crate) struct Turn {
    session: OwnedMutexGuard<Session>,
    of: Arc<OpenSession>,
}

impl Deref for Turn {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Turn {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (facts, rules) = self.session.ephemeral();
        self.of.facts.store(facts, Ordering::Relaxed);
        self.of.rules.store(rules, Ordering::Relaxed);
    }
}

/// A session with a socket on it, as long as this is kept.
#[derive(Debug)]
pub(crate) struct Attached {
    session: Arc<OpenSession>,
    sessions: Arc<Sessions>,
}

impl Deref for Attached {
    type Target = Arc<OpenSession>;

    fn deref(&self) -> &Arc<OpenSession> {
        &self.session
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        {
            let mut presence = self.session.presence.lock();
            presence.sockets -= 1;
            presence.last_sign = Instant::now();
        }
        let now = Instant::now();
        let mut by_id = self.sessions.by_id.lock();
        if self.sessions.is_due(&self.session, now) {
            let removed = by_id.remove(&self.session.id);
            drop(by_id);
            removed.into_iter().for_each(|session| session.end(Over::Idle));
        }
    }
}
