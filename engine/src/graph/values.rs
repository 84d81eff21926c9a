//! Which values of a graph are in use, and how those that are not come to an end.
//!
//! A value is in use while it stands in a row of the published state, deleted rows of its runs among them, in facts of a
//! session, or in a graph of near vectors. The others are left out of a new dictionary, which the next version has:
//! readers go on with the one that they have, and rows are the same in both. Values that only rows of rules hold are not in
//! use: what is kept of rules is derived anew after a collection, so what it has left behind counts when there is much of it.

use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::{Mutex, RwLock, RwLockReadGuard};

use super::Graph;
use super::change::Change;
use super::overlay::Overlay;
use super::snapshot::{Snapshot, State};
use crate::data::{Code, Codes, Collection, Dictionary, Relation, Rows, Run};
use crate::index::{Hnsw, Paused};

/// Less is not worth a collection.
const LEAST_BYTES: usize = 1 << 20;
/// Nor is less of what was computed: a collection costs whatever is kept.
const LEAST_COMPUTED: usize = 64 << 20;
/// So long a collection waits for those who write.
const PATIENCE: Duration = Duration::from_secs(1);
/// So many rows tell how large the values of many are.
const SAMPLE: usize = 1_024;

/// What is known of the use of values.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// Bytes of values that may be of no use any more, about.
    left: AtomicUsize,
    /// Held by a collection.
    collecting: Mutex<()>,
    /// Written by a collection when it replaces the dictionary; read by sessions that learn values.
    learning: RwLock<()>,
    /// What sessions hold.
    sessions: Mutex<Vec<Weak<State>>>,
}

impl Graph {
    /// Until this is dropped, the dictionary of the published state remains that.
    pub(crate) fn learn(&self) -> RwLockReadGuard<'_, ()> {
        // Who learns may ask for this again on the way.
        self.values.learning.read_recursive()
    }

    /// The values of a session's facts are in use as long as it has these.
    pub(crate) fn use_values_of(&self, overlay: &Overlay) {
        if overlay.fact_count() > 0 {
            let mut sessions = self.values.sessions.lock();
            if sessions.len() == sessions.capacity() {
                sessions.retain(|session| session.strong_count() > 0);
            }
            sessions.push(overlay.weak());
        }
    }

    /// A session has no such facts any more.
    pub(super) fn leave_values_of(&self, overlay: &Overlay) {
        if overlay.fact_count() > 0 {
            self.leave_values(overlay.bytes(self.snapshot().dictionary()));
        }
    }

    /// Values of so many bytes may be of no use any more.
    pub(super) fn leave_values(&self, bytes: usize) {
        self.values.left.fetch_add(bytes, Ordering::Relaxed);
        if let Some(store) = self.store.as_ref().filter(|_| self.is_collection_due()) {
            store.ring();
        }
    }

    fn is_collection_due(&self) -> bool {
        let snapshot = self.snapshot();
        let (left, dictionary) = (self.values.left.load(Ordering::Relaxed), snapshot.dictionary());
        let computed = dictionary.bytes_left();
        (left >= LEAST_BYTES || computed >= LEAST_COMPUTED)
            && left + computed >= dictionary.memory_bytes() / 4
    }

    /// Collects if it may be worth it. `false` if that has to wait.
    pub(super) fn collect_if_due(&self) -> bool {
        !self.is_collection_due() || self.collect()
    }

    /// Makes room for facts where that is scarce, before a transaction begins.
    pub(super) fn collect_if_scarce(&self) {
        let left = self.values.left.load(Ordering::Relaxed);
        if left >= LEAST_BYTES && self.share.scarce().is_some_and(|worth| left as u64 >= worth) {
            self.collect();
        }
    }

    /// Forgets the values that are not in use now, or soon where somebody is in the way.
    pub fn collect_values(&self) {
        if !self.collect() {
            self.leave_values(self.snapshot().dictionary().memory_bytes());
        }
    }

    /// Forgets the values that are not in use. Readers go on; writers wait at the end, while what has come meanwhile is
    /// looked at. `false` if somebody writes or learns for long, or an index is being built: then nothing is done.
    fn collect(&self) -> bool {
        let _only_one = self.values.collecting.lock();
        let left = self.values.left.load(Ordering::Relaxed);
        let before = self.snapshot();
        if pause_indexes(&before).is_none() {
            return false;
        }
        let mut live = Codes::default();
        self.each_use(&before, &|_| true, &mut |codes| codes.iter().for_each(|code| live.set(*code)));
        let old = before.dictionary();
        let mut collection = Collection::keeping(old, &live);
        drop(live);
        let known: HashSet<u64> =
            before.relations().flat_map(|(_, relation)| relation.runs()).map(Run::id).collect();
        // Whatever is learnt for a graph is learnt by the writer, whatever a session learns by those who learn.
        let Some(mut writer) = self.quiet_writer(PATIENCE) else { return false };
        let Some(_nobody_learns) = self.values.learning.try_write_for(PATIENCE) else { return false };
        let latest = self.snapshot();
        let Some(mut indexes) = pause_indexes(&latest) else { return false };
        self.each_use(&latest, &|run| !known.contains(&run.id()), &mut |codes| collection.add(codes));
        let dictionary = Arc::new(collection.finish());
        indexes.iter_mut().for_each(|index| index.go_on_with(&dictionary));
        let next = Arc::new(latest.with_dictionary(dictionary));
        writer.replace(Arc::clone(&next));
        self.publish(next);
        self.values.left.fetch_sub(left, Ordering::Relaxed);
        true
    }

    /// Calls `visit` with all codes in use: of those runs that count, and of all sessions and indexes.
    fn each_use(&self, snapshot: &Snapshot, counts: &dyn Fn(&Run) -> bool, visit: &mut dyn FnMut(&[Code])) {
        let sessions: Vec<Arc<State>> =
            self.values.sessions.lock().iter().filter_map(Weak::upgrade).collect();
        let runs = snapshot.relations().flat_map(|(_, relation)| relation.runs()).filter(|run| counts(run));
        let own = sessions.iter().flat_map(|own| own.relations()).flat_map(|(_, relation)| relation.runs());
        runs.chain(own).flat_map(Run::columns).for_each(&mut *visit);
        for index in snapshot.catalog().indexes() {
            index.hnsw().map(|hnsw| hnsw.codes()).iter().for_each(|codes| visit(codes));
        }
    }
}

/// Keeps the indexes from growing; none if one of them is.
fn pause_indexes(snapshot: &Snapshot) -> Option<Vec<Paused<'_>>> {
    snapshot.catalog().indexes().filter_map(|index| index.hnsw()).map(Hnsw::pause).collect()
}

/// What becomes of the values that a transaction learns, and of those that it leaves behind.
#[derive(Debug)]
pub(super) struct Learnt<'g> {
    graph: &'g Graph,
    dictionary: Arc<Dictionary>,
    bytes_before: usize,
    left: usize,
    is_committed: bool,
}

impl<'g> Learnt<'g> {
    /// Nothing yet, by a transaction that begins with this state.
    pub(super) fn since(graph: &'g Graph, snapshot: &Snapshot) -> Learnt<'g> {
        let dictionary = Arc::clone(snapshot.dictionary());
        let bytes_before = dictionary.memory_bytes();
        Learnt { graph, dictionary, bytes_before, left: 0, is_committed: false }
    }

    /// A change of this state has changed so much.
    pub(super) fn note(&mut self, before: &Snapshot, change: &Change, count: usize) {
        self.left += match change {
            Change::Delete { rows, .. } if count > 0 => {
                // Those rows that were not there left nothing behind.
                (bytes_of_rows(rows, &self.dictionary) as f64 * count as f64 / rows.len as f64) as usize
            }
            Change::DropRelation(name) => {
                before.relation(name).map_or(0, |relation| bytes_of_relation(relation, &self.dictionary))
            }
            _ => 0,
        };
    }

    /// What was learnt is in use.
    pub(super) fn committed(mut self) {
        self.is_committed = true;
    }
}

impl Drop for Learnt<'_> {
    fn drop(&mut self) {
        let learnt = self.dictionary.memory_bytes().saturating_sub(self.bytes_before);
        let left = if self.is_committed { self.left } else { learnt };
        self.graph.leave_values(left);
    }
}

/// Bytes that the values of these rows take, about, if nothing else has them.
fn bytes_of_rows(rows: &Rows, dictionary: &Dictionary) -> usize {
    rows.columns.iter().map(|column| sampled(column, dictionary)).sum()
}

/// The same of a relation.
fn bytes_of_relation(relation: &Relation, dictionary: &Dictionary) -> usize {
    relation.runs().iter().flat_map(Run::columns).map(|column| sampled(column, dictionary)).sum()
}

fn sampled(codes: &[Code], dictionary: &Dictionary) -> usize {
    let step = codes.len() / SAMPLE + 1;
    codes.iter().step_by(step).map(|code| dictionary.entry_bytes(*code)).sum::<usize>() * step
}
