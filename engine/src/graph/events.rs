//! Events: what commits have changed, told to listeners when it is durable, in the order of the commits of a graph.
//!
//! An event is derived from the change set of one statement and the states before and after it, so only what really
//! changed is told.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::ArcSwap;
use parking_lot::RwLock;

use super::Graph;
use super::change::{Change, ChangeSet};
use super::snapshot::Snapshot;
use crate::syntax::ast::Rule;

/// Who made a commit, as listeners are told.
pub type Origin = Arc<str>;

/// One graph as long as this process runs: a later graph of the same name has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GraphId(u64);

impl GraphId {
    /// An id that no graph of this process has had.
    pub(crate) fn new() -> GraphId {
        static LAST: AtomicU64 = AtomicU64::new(0);
        GraphId(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// The graph that a session is bound to, for those who may not wait until its request has ended.
#[derive(Debug, Clone)]
pub struct Binding(Arc<ArcSwap<Graph>>);

impl Binding {
    pub(super) fn new(graph: Arc<Graph>) -> Binding {
        Binding(Arc::new(ArcSwap::new(graph)))
    }

    pub(super) fn set(&self, graph: Arc<Graph>) {
        self.0.store(graph);
    }

    /// The graph at this moment.
    pub fn graph(&self) -> GraphId {
        self.0.load().id()
    }

    /// Its name.
    pub fn name(&self) -> String {
        self.0.load().name().to_owned()
    }
}

/// Something that has become of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Facts are new.
    Inserted {
        /// The relation.
        relation: String,
        /// How many.
        count: usize,
    },
    /// Facts are gone.
    Deleted {
        /// The relation.
        relation: String,
        /// How many.
        count: usize,
    },
    /// An update has deleted and inserted so many facts, perhaps of several relations.
    Updated {
        /// How many.
        count: usize,
    },
    /// A derived relation has more clauses.
    RuleRegistered(String),
    /// A derived relation has fewer clauses, or none any more.
    RuleDropped(String),
    /// A relation or type was declared, or declared anew.
    Declared(String),
    /// A relation is gone.
    RelationDropped(String),
    /// An index was created.
    IndexCreated(String),
    /// An index is gone.
    IndexDropped(String),
    /// The graph exists from now on.
    GraphCreated,
    /// The graph is gone.
    GraphDropped {
        /// Those who could see it to the end, as whoever knows the users calls them.
        witnesses: Vec<String>,
    },
}

/// The events of one commit.
#[derive(Debug, Clone)]
pub struct Committed {
    /// The graph.
    pub graph: GraphId,
    /// Its name.
    pub name: Arc<str>,
    /// Who made it; not known of a commit that was found on disk later than right after a failure.
    pub origin: Option<Origin>,
    /// What it has changed; nothing where rows were only written anew.
    pub events: Vec<Event>,
    /// Whether the graph has indexes since.
    pub is_indexed: bool,
    /// The state of the graph since.
    pub(crate) after: Arc<Snapshot>,
}

/// Somebody who wants to know what commits change.
pub trait Listener: Debug + Send + Sync {
    /// A commit is durable and visible; its maker has not been told yet. Others wait while this runs, so it only takes
    /// a note. It must not panic.
    fn heard(&self, committed: &Committed);
}

/// Those who listen to the graphs of one engine.
#[derive(Debug, Clone, Default)]
pub(super) struct Listeners(Arc<RwLock<Vec<Arc<dyn Listener>>>>);

impl Listeners {
    pub(super) fn add(&self, listener: Arc<dyn Listener>) {
        self.0.write().push(listener);
    }

    pub(super) fn tell(&self, committed: &Committed) {
        self.0.read().iter().for_each(|listener| listener.heard(committed));
    }
}

/// What the changes of one statement come to; `counts` says how much each has changed.
pub(super) fn events(
    before: &Snapshot,
    after: &Snapshot,
    changes: &ChangeSet,
    counts: &[usize],
) -> Vec<Event> {
    let mut events = row_events(changes, counts);
    for (change, count) in changes.iter().zip(counts) {
        match change {
            Change::Define(definition) if *count > 0 => {
                let schema = |state: &Snapshot| {
                    state.catalog().relation(&definition.name).and_then(|known| known.schema.clone())
                };
                let declared = schema(after);
                if declared.is_some() && declared != schema(before) {
                    events.push(Event::Declared(definition.name.clone()));
                }
            }
            Change::DefineType(name, _) if *count > 0 => events.push(Event::Declared(name.clone())),
            Change::DropRelation(name) if before.catalog().knows(name) => {
                events.push(Event::RelationDropped(name.clone()));
            }
            Change::AddRule(rule) => {
                events.extend(rule_event(&rule.head.relation.text, before, after));
            }
            Change::RemoveRules(head) | Change::ClearRules(head) => {
                events.extend(rule_event(head, before, after));
            }
            Change::AddIndex(definition) if *count > 0 => {
                events.push(Event::IndexCreated(definition.name.clone()));
            }
            Change::RemoveIndex(name) if *count > 0 => events.push(Event::IndexDropped(name.clone())),
            Change::Define(_)
            | Change::DefineType(..)
            | Change::DropRelation(_)
            | Change::AddIndex(_)
            | Change::RemoveIndex(_)
            | Change::KeepView(_)
            | Change::DropView(_)
            | Change::UseCluster(_)
            | Change::Insert { .. }
            | Change::Delete { .. } => {}
        }
    }
    // A clause that goes is told by a removal of all, and the return of the others.
    events.dedup();
    events
}

/// A statement that both deletes and inserts is one update.
fn row_events(changes: &ChangeSet, counts: &[usize]) -> Vec<Event> {
    let deletes = changes.iter().any(|change| matches!(change, Change::Delete { .. }));
    let inserts = changes.iter().any(|change| matches!(change, Change::Insert { .. }));
    let mut events = Vec::new();
    let mut updated = 0;
    for (change, count) in changes.iter().zip(counts.iter().copied()).filter(|(_, count)| *count > 0) {
        match change {
            Change::Insert { .. } | Change::Delete { .. } if deletes && inserts => updated += count,
            Change::Insert { relation, .. } => {
                events.push(Event::Inserted { relation: relation.clone(), count });
            }
            Change::Delete { relation, .. } => {
                events.push(Event::Deleted { relation: relation.clone(), count });
            }
            Change::Define(_)
            | Change::DropRelation(_)
            | Change::AddRule(_)
            | Change::RemoveRules(_)
            | Change::ClearRules(_)
            | Change::DefineType(..)
            | Change::AddIndex(_)
            | Change::RemoveIndex(_)
            | Change::KeepView(_)
            | Change::DropView(_)
            | Change::UseCluster(_) => {}
        }
    }
    events.extend((updated > 0).then_some(Event::Updated { count: updated }));
    events
}

fn rule_event(head: &str, before: &Snapshot, after: &Snapshot) -> Option<Event> {
    let (before, after) = (before.catalog(), after.catalog());
    let (had, has) = (before.rules(head).len(), after.rules(head).len());
    if has > had {
        Some(Event::RuleRegistered(head.to_owned()))
    } else if has < had || (before.has_rule(head) && !after.has_rule(head)) {
        Some(Event::RuleDropped(head.to_owned()))
    } else {
        // As many as before, and others.
        let differs = |(a, b): (&Arc<Rule>, &Arc<Rule>)| !Arc::ptr_eq(a, b) && a.to_string() != b.to_string();
        let is_replaced = before.rules(head).iter().zip(after.rules(head).iter()).any(differs);
        is_replaced.then(|| Event::RuleRegistered(head.to_owned()))
    }
}
