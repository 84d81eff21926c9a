//! `EventLog`: the last notifications, for everybody to read from wherever they are.
//!
//! Nothing is queued for a connection. Each has a place in the one log, and whoever falls behind its beginning has a gap;
//! so nobody who reads slowly costs memory, or holds up those who write.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;
use stratalog_engine::{Committed, Event, GraphId, Listener, Origin};
use stratalog_protocol::{
    Change, Gap, GraphOperation, Notification, Reply, Response, RowOperation, RuleOperation, SchemaOperation,
};
use tokio::sync::Notify;

use super::rounds::{Place, Rounds};

/// How many notifications are read at once.
const BATCH: usize = 64;
/// How many are looked at for that.
const LOOK: usize = 16 * BATCH;

/// How many numbers are reserved at once; when half of them are given, they are about to run out.
pub(super) const BLOCK: u64 = 1 << 16;

/// The relation that an update is about.
const MULTIPLE: &str = "multiple";

/// The notifications of one server.
#[derive(Debug)]
pub(crate) struct EventLog {
    state: Mutex<State>,
    rounds: Rounds,
    capacity: usize,
    /// At most so many bytes are kept, but always the last one.
    capacity_bytes: usize,
    /// Told when numbers are about to run out.
    pub(super) low: Notify,
}

#[derive(Debug)]
struct State {
    /// The last notifications, with consecutive numbers.
    kept: VecDeque<Arc<Notice>>,
    /// What these take.
    bytes: usize,
    /// The last number that was given.
    last: u64,
    /// The last number that may be given: see `numbers`.
    reserved: u64,
    /// Something happened while no number was left.
    is_missing: bool,
}

/// One notification, and whom it concerns.
#[derive(Debug)]
pub(crate) struct Notice {
    /// Its number.
    pub(crate) seq: u64,
    /// The graph that it is about.
    pub(crate) graph: GraphId,
    /// The name of that graph.
    pub(crate) name: Arc<str>,
    /// The session that made the change.
    pub(crate) origin: Option<Origin>,
    /// Whom it concerns.
    pub(crate) audience: Audience,
    /// The message.
    pub(crate) text: String,
}

impl Notice {
    /// Bytes that it takes.
    fn bytes(&self) -> usize {
        let witnesses = match &self.audience {
            Audience::Witnesses(names) => names.iter().map(|name| name.len() + size_of::<String>()).sum(),
            Audience::Bound | Audience::Seeing => 0,
        };
        size_of::<Notice>() + self.text.capacity() + witnesses
    }
}

/// Whom a notification concerns.
#[derive(Debug)]
pub(crate) enum Audience {
    /// Sessions that are bound to the graph, of users who may read it.
    Bound,
    /// Users who see the graph.
    Seeing,
    /// Administrators, and users who saw the graph while it was there.
    Witnesses(Vec<String>),
}

/// What there is after some number.
#[derive(Debug)]
pub(crate) enum Read {
    /// Nothing yet.
    Nothing,
    /// These are not kept any more.
    Gap(Gap),
    /// The next ones that may concern the reader, up to this number.
    Notices { notices: Vec<Arc<Notice>>, to: u64 },
}

impl EventLog {
    /// An empty log that goes on after a number, and keeps so many notifications of so many bytes together.
    pub(super) fn new(last: u64, reserved: u64, capacity: usize, capacity_bytes: usize) -> EventLog {
        EventLog {
            state: Mutex::new(State { kept: VecDeque::new(), bytes: 0, last, reserved, is_missing: false }),
            rounds: Rounds::default(),
            capacity,
            capacity_bytes,
            low: Notify::new(),
        }
    }

    /// The last number that was given.
    pub(crate) fn last(&self) -> u64 {
        self.state.lock().last
    }

    /// How many notifications are kept.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity as u64
    }

    /// A place among those who are told when there is something new to read.
    pub(crate) fn reader(&self) -> Place<'_> {
        self.rounds.join()
    }

    /// Tells readers that there is something new; never ends.
    pub(crate) async fn tell(&self) {
        self.rounds.go().await;
    }

    /// The next notifications after a number, for a session that is bound to a graph.
    pub(crate) fn read(&self, after: u64, bound: GraphId) -> Read {
        let state = self.state.lock();
        if after >= state.last {
            return Read::Nothing;
        }
        let first = state.kept.front().map_or(state.last + 1, |notice| notice.seq);
        if after + 1 < first {
            return Read::Gap(Gap { from: after + 1, to: first - 1 });
        }
        let skipped = (after + 1 - first) as usize;
        let (mut notices, mut to) = (Vec::new(), after);
        for notice in state.kept.range(skipped..).take(LOOK) {
            if notices.len() == BATCH {
                break;
            }
            to = notice.seq;
            // Most are about what goes on elsewhere: nothing is done for these.
            if notice.graph == bound || !matches!(notice.audience, Audience::Bound) {
                notices.push(Arc::clone(notice));
            }
        }
        Read::Notices { notices, to }
    }

    /// Numbers up to this one may be given.
    pub(super) fn extend(&self, reserved: u64) {
        let mut state = self.state.lock();
        state.reserved = reserved;
        if std::mem::take(&mut state.is_missing) {
            // A number that nobody gets, so that everybody has a gap.
            state.last += 1;
            drop(state);
            self.rounds.ring();
        }
    }
}

impl Listener for EventLog {
    fn heard(&self, committed: &Committed) {
        if committed.events.is_empty() {
            return;
        }
        let timestamp_ms = now();
        let mut state = self.state.lock();
        for event in &committed.events {
            if state.last == state.reserved {
                state.is_missing = true;
                state.kept.clear();
                state.bytes = 0;
                break;
            }
            state.last += 1;
            let notice = notice(state.last, timestamp_ms, event, committed);
            state.bytes += notice.bytes();
            state.kept.push_back(Arc::new(notice));
            while state.kept.len() > self.capacity
                || state.bytes > self.capacity_bytes && state.kept.len() > 1
            {
                let Some(oldest) = state.kept.pop_front() else { break };
                state.bytes -= oldest.bytes();
            }
        }
        let left = state.reserved - state.last;
        drop(state);
        self.rounds.ring();
        if left < BLOCK / 2 {
            self.low.notify_one();
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis());
    i64::try_from(since).unwrap_or(i64::MAX)
}

fn notice(seq: u64, timestamp_ms: i64, event: &Event, committed: &Committed) -> Notice {
    let (change, audience) = describe(event, committed.name.to_string());
    let session_id = committed.origin.as_deref().map(str::to_owned);
    let notification = Notification { change, timestamp_ms, seq, session_id };
    Notice {
        seq,
        graph: committed.graph,
        name: Arc::clone(&committed.name),
        origin: committed.origin.clone(),
        audience,
        text: Reply::from(Response::Notification(notification)).to_json(),
    }
}

fn describe(event: &Event, knowledge_graph: String) -> (Change, Audience) {
    let rows = |knowledge_graph, relation: &str, operation, count: usize| Change::PersistentUpdate {
        knowledge_graph,
        relation: relation.to_owned(),
        operation,
        count: count as u64,
    };
    let change = match event {
        Event::Inserted { relation, count } => rows(knowledge_graph, relation, RowOperation::Insert, *count),
        Event::Deleted { relation, count } => rows(knowledge_graph, relation, RowOperation::Delete, *count),
        Event::Updated { count } => rows(knowledge_graph, MULTIPLE, RowOperation::Update, *count),
        Event::RuleRegistered(name) => Change::RuleChange {
            knowledge_graph,
            rule_name: name.clone(),
            operation: RuleOperation::Registered,
        },
        Event::RuleDropped(name) => {
            Change::RuleChange { knowledge_graph, rule_name: name.clone(), operation: RuleOperation::Dropped }
        }
        Event::Declared(name) | Event::IndexCreated(name) => Change::SchemaChange {
            knowledge_graph,
            entity: name.clone(),
            operation: SchemaOperation::Declared,
        },
        Event::RelationDropped(name) | Event::IndexDropped(name) => Change::SchemaChange {
            knowledge_graph,
            entity: name.clone(),
            operation: SchemaOperation::Dropped,
        },
        Event::GraphCreated => {
            let operation = GraphOperation::Created;
            return (Change::KgChange { knowledge_graph, operation }, Audience::Seeing);
        }
        Event::GraphDropped { witnesses } => {
            let operation = GraphOperation::Dropped;
            return (Change::KgChange { knowledge_graph, operation }, Audience::Witnesses(witnesses.clone()));
        }
    };
    (change, Audience::Bound)
}
