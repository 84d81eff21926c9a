//! Commits: one writer at a time makes the next version, many wait together for one sync.
//!
//! A transaction is applied to the *head*, the latest state that was made; readers see the *published* state, the
//! latest that is on disk. Between the two stand the commits that wait for the sync: while one thread writes a group of
//! them, other writers already build on the head. If the sync fails, everything above the published state is undone, and
//! nothing is written before the published state is in a new file.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::change::{Change, ChangeSet, bytes_to_apply, row_count};
use super::events::{Committed, Event, Origin, events};
use super::snapshot::Snapshot;
use super::values::Learnt;
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
        self.collect_if_scarce();
        let mut head = loop {
            if let Some(head) = self.commits.head.try_lock_for(Duration::from_millis(20)) {
                break head;
            }
            budget.check().map_err(Error::Stopped)?;
        };
        if let Some(store) = &self.store {
            // Nothing is promised in a graph of which nobody knows whether the next start finds it.
            store.system().settle()?;
            self.mend()?;
        }
        let era = self.commits.queue.lock().era;
        if head.era != era {
            *head = Head { snapshot: self.snapshot(), era };
        }
        let snapshot = Arc::clone(&head.snapshot);
        Ok(Transaction {
            graph: self,
            head,
            changes: ChangeSet::new(),
            events: Vec::new(),
            learnt: Learnt::since(self, &snapshot),
            snapshot,
            is_compacted: false,
            budget: budget.clone(),
            _uninterrupted: budget.uninterrupted(),
        })
    }

    /// The place of the writer, when all that was committed is on disk and published; none if that takes too long.
    pub(super) fn quiet_writer(&self, patience: Duration) -> Option<QuietWriter<'_>> {
        let deadline = Instant::now() + patience;
        let head = self.commits.head.try_lock_until(deadline)?;
        let mut queue = self.commits.queue.lock();
        while queue.is_writing || !queue.waiting.is_empty() {
            if self.commits.written.wait_until(&mut queue, deadline).timed_out() {
                return None;
            }
        }
        Some(QuietWriter { head, era: queue.era })
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
                // What was made since stands on what failed, and was not written.
                queue.era += 1;
                for waiting in queue.waiting.drain(..) {
                    let _ = waiting.outcome.set(Err(error.as_certain()));
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
                for (.., outcome) in rest {
                    let _ = outcome.set(Err(error.clone()));
                }
                Some(error)
            }
        }
    }

    /// The published state, when no group of commits is on its way to it.
    pub(super) fn settled_snapshot(&self) -> Arc<Snapshot> {
        let mut queue = self.commits.queue.lock();
        while queue.is_writing {
            self.commits.written.wait(&mut queue);
        }
        self.snapshot()
    }
}

/// Keeps everyone else from writing.
pub(super) struct QuietWriter<'g> {
    head: MutexGuard<'g, Head>,
    era: u64,
}

impl QuietWriter<'_> {
    /// The next transaction begins with this state, which is the published one.
    pub(super) fn replace(&mut self, snapshot: Arc<Snapshot>) {
        *self.head = Head { snapshot, era: self.era };
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
    learnt: Learnt<'g>,
    /// What its memory is charged to.
    budget: Budget,
    /// Other writers wait for this one.
    _uninterrupted: Uninterrupted,
}

impl Transaction<'_> {
    /// The state with this transaction's changes.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Applies changes in order; answers how many rows or clauses each one really changed.
    pub fn apply(&mut self, changes: ChangeSet, threads: &Threads) -> Result<Vec<usize>, Error> {
        let _held = self.budget.hold(bytes_to_apply(&changes)).map_err(Error::Stopped)?;
        // However many steps a transaction takes, it makes one version.
        let version = self.head.snapshot.version() + 1;
        let snapshot = &self.snapshot;
        snapshot.check(&changes).map_err(Error::refused)?;
        let (next, counts) = threads.run_on(row_count(&changes), || snapshot.apply(&changes, version));
        let inserts =
            |(change, count): (&Change, &usize)| matches!(change, Change::Insert { .. }) && *count > 0;
        if changes.iter().zip(&counts).any(inserts)
            && let Err(refusal) = self.graph.share.check(next.stored_bytes())
        {
            // Its values are known from now on.
            self.graph.count(&self.graph.snapshot());
            return Err(Error::refused(refusal));
        }
        for (change, count) in changes.iter().zip(&counts) {
            self.learnt.note(&self.snapshot, change, *count);
        }
        self.events.extend(events(&self.snapshot, &next, &changes, &counts));
        self.snapshot = Arc::new(next);
        let effective = changes
            .into_iter()
            .zip(&counts)
            .filter(|(change, count)| **count > 0 || change.may_forget_a_name());
        self.changes.extend(effective.map(|(change, count)| change.without_duplicates(*count)));
        Ok(counts)
    }

    /// Makes the changes durable, and then visible to everyone, at once; listeners hear that it was `origin`.
    /// Answers the version at which they are.
    pub fn commit(mut self, origin: Option<Origin>, threads: &Threads) -> Result<u64, Error> {
        if self.changes.is_empty() && !self.is_compacted {
            return Ok(self.head.snapshot.version());
        }
        let version = self.snapshot.version();
        let graph = self.graph;
        let events = std::mem::take(&mut self.events);
        let Some(store) = &graph.store else {
            self.head.snapshot = Arc::clone(&self.snapshot);
            graph.publish(self.snapshot);
            graph.tell(origin, events);
            self.learnt.committed();
            drop(self.head);
            graph.collect_if_due();
            return Ok(version);
        };
        // Until it is written, the record is in memory.
        let mut held = self.budget.hold(0).map_err(Error::Stopped)?;
        let encode = || record::encode(&self.changes, self.snapshot.dictionary(), &mut held);
        let content = threads.run_on(row_count(&self.changes), encode)?;
        let record = StoredRecord { version, content };
        let committed = graph.committed(origin, events, Arc::clone(&self.snapshot));
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
        self.learnt.committed();
        store.ask_for_checkpoint_if_due();
        Ok(version)
    }

    /// Rewrites what is stored without deleted rows, in one run a relation: a version of its own that changes nothing.
    pub fn compact(&mut self, threads: &Threads) {
        let (snapshot, version) = (&self.snapshot, self.head.snapshot.version() + 1);
        let compacted = threads.run(|| snapshot.compacted(version));
        self.snapshot = Arc::new(compacted);
        self.is_compacted = true;
    }
}
