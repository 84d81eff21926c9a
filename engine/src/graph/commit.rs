//! Commits: one writer at a time makes the next version, many wait together for one sync.
//!
//! A transaction is applied to the *head*, the latest state that was made; readers see the *published* state, the
//! latest that is on disk. Between the two stand the commits that wait for the sync: while one thread writes a group of
//! them, other writers already build on the head. If the sync fails, everything above the published state is undone.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::change::{ChangeSet, row_count};
use super::events::{Committed, Event, Origin, events};
use super::snapshot::Snapshot;
use super::{Graph, record};
use crate::budget::{Budget, Uninterrupted};
use crate::data::Threads;
use crate::error::Error;
use crate::storage::{StorageError, StoredRecord};

/// The latest state that was made, perhaps not on disk yet. Whoever holds it is the writer.
#[derive(Debug)]
pub(super) struct Head {
    snapshot: Arc<Snapshot>,
    /// The group of commits that it continues: see [`Queue::era`].
    era: u64,
}

/// The commits that wait for a sync.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: Vec<Waiting>,
    /// Whether some thread is writing a group.
    is_writing: bool,
    /// Counts the failures: what was made before one does not count after it.
    era: u64,
}

#[derive(Debug)]
struct Waiting {
    record: StoredRecord,
    snapshot: Arc<Snapshot>,
    committed: Committed,
    outcome: Arc<OnceLock<Result<(), StorageError>>>,
}

/// What writers share.
#[derive(Debug)]
pub(super) struct Commits {
    head: Mutex<Head>,
    queue: Mutex<Queue>,
    written: Condvar,
}

impl Commits {
    pub(super) fn new(snapshot: Arc<Snapshot>) -> Commits {
        Commits {
            head: Mutex::new(Head { snapshot, era: 0 }),
            queue: Mutex::default(),
            written: Condvar::new(),
        }
    }
}

impl Graph {
    /// Begins a transaction; waits for the one before it, as long as the budget allows.
    pub fn begin(&self, budget: &Budget) -> Result<Transaction<'_>, Error> {
        let mut head = loop {
            if let Some(head) = self.commits.head.try_lock_for(Duration::from_millis(20)) {
                break head;
            }
            budget.check().map_err(Error::Stopped)?;
        };
        if let Some(store) = &self.store
            && store.journal().is_closed()
        {
            // A failure closed the journal: what is on disk decides what there is.
            let mut queue = self.commits.queue.lock();
            if !queue.is_writing {
                self.revive(&[])?;
                queue.era += 1;
            }
        }
        let era = self.commits.queue.lock().era;
        if head.era != era {
            *head = Head { snapshot: self.snapshot(), era };
        }
        let snapshot = Arc::clone(&head.snapshot);
        Ok(Transaction {
            graph: self,
            head,
            snapshot,
            changes: ChangeSet::new(),
            events: Vec::new(),
            is_compacted: false,
            _uninterrupted: budget.uninterrupted(),
        })
    }

    /// Waits until a commit is on disk. The first to wait writes the commits of all who wait.
    fn wait_for(&self, outcome: &OnceLock<Result<(), StorageError>>) -> Result<(), StorageError> {
        let mut queue = self.commits.queue.lock();
        loop {
            if let Some(outcome) = outcome.get() {
                return outcome.clone();
            }
            if queue.is_writing {
                self.commits.written.wait(&mut queue);
                continue;
            }
            queue.is_writing = true;
            let group = std::mem::take(&mut queue.waiting);
            drop(queue);
            let failed = self.write_group(group);
            queue = self.commits.queue.lock();
            queue.is_writing = false;
            if let Some(error) = failed {
                // What was made since stands on what failed.
                queue.era += 1;
                for waiting in queue.waiting.drain(..) {
                    let _ = waiting.outcome.set(Err(error.clone()));
                }
            }
            self.commits.written.notify_all();
        }
    }

    /// Writes a group of commits with one sync, and publishes the last. Answers a failure that undoes all later ones.
    fn write_group(&self, group: Vec<Waiting>) -> Option<StorageError> {
        let store = self.store.as_ref()?;
        let (mut records, rest): (Vec<_>, Vec<_>) =
            group.into_iter().map(|w| (w.record, (w.snapshot, w.committed, w.outcome))).unzip();
        match store.journal().append(&mut records, store.clock()) {
            Ok(()) => {
                if let Some((snapshot, ..)) = rest.last() {
                    self.publish(Arc::clone(snapshot));
                }
                for (_, committed, outcome) in rest {
                    self.listeners.tell(&committed);
                    let _ = outcome.set(Ok(()));
                }
                store.healed();
                None
            }
            Err(error) => {
                store.failed(&error);
                let origins: Vec<_> = records
                    .iter()
                    .zip(&rest)
                    .map(|(record, (_, committed, _))| (record.version, committed.origin.clone()))
                    .collect();
                let result = match self.revive(&origins) {
                    Ok(()) => error.clone(),
                    Err(_) => error.clone().with_unknown_outcome(),
                };
                let stored = self.snapshot().version();
                for (record, (.., outcome)) in records.iter().zip(rest) {
                    let known = if record.version <= stored { Ok(()) } else { Err(result.clone()) };
                    let _ = outcome.set(known);
                }
                Some(error)
            }
        }
    }

    /// Opens the journal again after a failure, and publishes what it holds beyond the published state: commits whose
    /// sync failed, and which reached the disk all the same. Of some it is known whose they were.
    fn revive(&self, origins: &[(u64, Option<Origin>)]) -> Result<(), StorageError> {
        let Some(store) = &self.store else { return Ok(()) };
        let contents = store.journal().reopen()?;
        let mut snapshot = self.snapshot();
        let mut found = Vec::new();
        for stored in contents.records {
            if stored.version > snapshot.version() {
                let changes = record::decode(&stored.content, self.dictionary())
                    .map_err(|what| StorageError::unreadable(store.journal().path(), what))?;
                let (mut next, counts) = snapshot.apply(&changes);
                next.set_version(stored.version);
                let origin = origins.iter().find(|(version, _)| *version == stored.version);
                let origin = origin.and_then(|(_, origin)| origin.clone());
                found.push((origin, events(&snapshot, &next, &changes, &counts)));
                snapshot = Arc::new(next);
            }
        }
        self.publish(snapshot);
        found.into_iter().for_each(|(origin, events)| self.tell(origin, events));
        Ok(())
    }
}

/// Changes on their way: seen by their maker only, until committed. Dropping it leaves no trace.
#[derive(Debug)]
pub struct Transaction<'g> {
    graph: &'g Graph,
    head: MutexGuard<'g, Head>,
    snapshot: Arc<Snapshot>,
    /// Those that changed something.
    changes: ChangeSet,
    events: Vec<Event>,
    is_compacted: bool,
    /// Other writers wait for this one.
    _uninterrupted: Uninterrupted,
}

impl Transaction<'_> {
    /// The state with this transaction's changes.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Applies changes in order; answers how many rows or clauses each one really changed.
    pub fn apply(&mut self, changes: ChangeSet, threads: &Threads) -> Vec<usize> {
        let snapshot = &self.snapshot;
        let (mut next, counts) = threads.run_on(row_count(&changes), || snapshot.apply(&changes));
        // However many steps a transaction takes, it makes one version.
        next.set_version(self.head.snapshot.version() + 1);
        self.events.extend(events(&self.snapshot, &next, &changes, &counts));
        self.snapshot = Arc::new(next);
        let effective = changes
            .into_iter()
            .zip(&counts)
            .filter(|(change, count)| **count > 0 || change.may_forget_a_name());
        self.changes.extend(effective.map(|(change, _)| change));
        counts
    }

    /// Makes the changes durable, and then visible to everyone, at once; listeners hear that it was `origin`.
    pub fn commit(mut self, origin: Option<Origin>, threads: &Threads) -> Result<(), Error> {
        if self.changes.is_empty() && !self.is_compacted {
            return Ok(());
        }
        let graph = self.graph;
        let events = std::mem::take(&mut self.events);
        let Some(store) = &graph.store else {
            self.head.snapshot = Arc::clone(&self.snapshot);
            graph.publish(self.snapshot);
            graph.tell(origin, events);
            return Ok(());
        };
        let encode = || record::encode(&self.changes, graph.dictionary());
        let content = threads
            .run_on(row_count(&self.changes), encode)
            .map_err(|error| Error::internal("journal", error))?;
        let record = StoredRecord { version: self.snapshot.version(), content };
        let committed = graph.committed(origin, events, &self.snapshot);
        let outcome = Arc::new(OnceLock::new());
        {
            let mut queue = graph.commits.queue.lock();
            if queue.era != self.head.era {
                // The state under this transaction never reached the disk.
                return Err(store.trouble().into());
            }
            queue.waiting.push(Waiting {
                record,
                snapshot: Arc::clone(&self.snapshot),
                committed,
                outcome: Arc::clone(&outcome),
            });
        }
        self.head.snapshot = Arc::clone(&self.snapshot);
        // The next writer goes on while this one waits.
        drop(self.head);
        graph.wait_for(&outcome)?;
        store.ask_for_checkpoint_if_due();
        Ok(())
    }

    /// Rewrites what is stored without deleted rows, in one run a relation: a version of its own that changes nothing.
    pub fn compact(&mut self, threads: &Threads) {
        let snapshot = &self.snapshot;
        let mut compacted = threads.run(|| snapshot.compacted());
        compacted.set_version(self.head.snapshot.version() + 1);
        self.snapshot = Arc::new(compacted);
        self.is_compacted = true;
    }
}
