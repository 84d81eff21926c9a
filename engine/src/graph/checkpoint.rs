//! Checkpoints: runs become Parquet files, and the journal starts anew.
//!
//! Files first, each durable before the next step; then one transaction that switches the manifest and drops the
//! records that it covers; then files that nothing names any more are removed. A crash in between leaves files that the
//! next start removes. Nobody waits: readers and writers go on, on snapshots of their own.
//!
//! After a failed sync a checkpoint is also what mends a graph: the published state goes to files and a new journal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::manifest::{FileRecord, Manifest};
use super::snapshot::Snapshot;
use super::store::GraphStore;
use super::{Graph, record};
use crate::data::{Codec, Run};
use crate::storage::{Form, JournalContents, StorageError, StoredColumns, StoredRecord, write_run};

/// How much of the time a checkpoint in the background may spend writing.
const SHARE: f64 = 0.5;

/// Slows writing down to a share of the time.
pub(super) struct Pace {
    worked_since: Instant,
    /// No slowing down: somebody waits for the checkpoint.
    at_once: bool,
}

impl Pace {
    /// In the background.
    pub(super) fn gentle() -> Pace {
        Pace { worked_since: Instant::now(), at_once: false }
    }

    /// As fast as it goes.
    pub(super) fn at_once() -> Pace {
        Pace { worked_since: Instant::now(), at_once: true }
    }

    fn rest(&mut self) {
        if !self.at_once {
            std::thread::sleep(self.worked_since.elapsed().mul_f64(1.0 / SHARE - 1.0));
        }
        self.worked_since = Instant::now();
    }
}

/// A state whose rows are in files.
struct Sealed {
    version: u64,
    manifest: Vec<u8>,
    /// As in [`JournalContents`].
    deleted: BTreeMap<String, Vec<u8>>,
    files: BTreeSet<String>,
}

impl Graph {
    /// Writes what is not in files yet, and shortens the journal. Does nothing for a graph in memory.
    pub(super) fn checkpoint(&self, mut pace: Pace) -> Result<(), StorageError> {
        let Some(store) = &self.store else { return Ok(()) };
        let _only_one = store.checkpointing.lock();
        if store.journal().is_abandoned() {
            return self.write_anew(store);
        }
        // All of it is on disk: that is what published means.
        let sealed = self.seal(store, &self.snapshot(), &mut pace)?;
        let archived = store.archived().load(Ordering::Acquire);
        let switching = store.pins().switch();
        store.journal().checkpoint(&sealed.manifest, &sealed.deleted, sealed.version, archived)?;
        if switching.may_remove() {
            store.remove_all_but(&sealed.files);
        }
        Ok(())
    }

    /// Writes the published state to a new journal if the one that is there was abandoned.
    pub(super) fn mend(&self) -> Result<(), StorageError> {
        let Some(store) = &self.store else { return Ok(()) };
        if !store.journal().is_abandoned() {
            return Ok(());
        }
        let _only_one = store.checkpointing.lock();
        if !store.journal().is_abandoned() {
            return Ok(());
        }
        store.noting(self.write_anew(store))
    }

    /// The published state, in files and a new journal. Nothing joins it meanwhile, as nothing can be committed.
    fn write_anew(&self, store: &GraphStore) -> Result<(), StorageError> {
        let sealed = self.seal(store, &self.settled_snapshot(), &mut Pace::at_once())?;
        let contents = JournalContents {
            graph: self.name.to_string(),
            manifest: Some(sealed.manifest),
            lineage: Some(self.lineage.text()),
            deleted: sealed.deleted,
            records: self.unarchived_records(store, sealed.version)?,
        };
        let switching = store.pins().switch();
        store.journal().renew(&contents)?;
        if switching.may_remove() {
            store.remove_all_but(&sealed.files);
        }
        Ok(())
    }

    /// What an archive still needs of the journal that was abandoned. If that cannot be had, the archive ends here: it has
    /// no gap that nobody knows of, and another one begins with a backup.
    fn unarchived_records(
        &self,
        store: &GraphStore,
        version: u64,
    ) -> Result<Vec<StoredRecord>, StorageError> {
        let found = store.journal().salvage(store.archived().load(Ordering::Acquire), version);
        if let Ok(Some(records)) = found {
            return Ok(records);
        }
        let why = found.err().map_or("they are not there".to_owned(), |error| error.to_string());
        tracing::warn!(graph = %self.name, "the archive ends: commits that it lacks cannot be read: {why}");
        store.system().end_archive()?;
        store.archived().fetch_max(version, Ordering::AcqRel);
        Ok(Vec::new())
    }

    /// Makes a checkpoint in the background if the journal has grown enough. `false` if it failed.
    pub(super) fn checkpoint_if_due(&self) -> bool {
        let Some(store) = self.store.as_ref().filter(|store| store.is_checkpoint_due()) else { return true };
        store.noting(self.checkpoint(Pace::gentle())).is_ok()
    }

    fn seal(&self, store: &GraphStore, snapshot: &Snapshot, pace: &mut Pace) -> Result<Sealed, StorageError> {
        let mut runs = BTreeMap::new();
        let mut deleted = BTreeMap::new();
        for (name, relation) in snapshot.relations() {
            let mut files = Vec::new();
            for run in relation.runs() {
                let known = run.file().filter(|file| file.in_order || run.live().is_none());
                let file = match known {
                    Some(file) => file,
                    None => {
                        self.write_run(store, snapshot, name, run, pace)?;
                        let Some(file) = run.file() else { continue };
                        file
                    }
                };
                if let Some(live) = run.live() {
                    let bits = !&live.to_buffer();
                    deleted.insert(file.name.clone(), bits.sliced().to_vec());
                }
                files.push(FileRecord::from(file.as_ref()));
            }
            runs.insert(name.to_owned(), files);
        }
        let manifest = Manifest {
            version: snapshot.version(),
            next_file: store.next_file().load(Ordering::Relaxed),
            definitions: record::definitions(snapshot.catalog()),
            runs,
            changed: Some(snapshot.changed().clone()),
        };
        let files = manifest.runs.values().flatten().map(|run| run.file.clone()).collect();
        let text = serde_json::to_vec(&manifest)
            .map_err(|error| StorageError::unreadable(store.journal().path(), error))?;
        Ok(Sealed { version: manifest.version, manifest: text, deleted, files })
    }

    fn write_run(
        &self,
        store: &GraphStore,
        snapshot: &Snapshot,
        relation: &str,
        run: &Run,
        pace: &mut Pace,
    ) -> Result<(), StorageError> {
        let names = snapshot.catalog().relation(relation).map(|definition| definition.column_names());
        let names = names.unwrap_or_default();
        let codec = Codec::over(Arc::clone(snapshot.dictionary()));
        let path = store.run_path(&store.new_run_name(relation));
        let columns = run.columns();
        let stored = StoredColumns::of(&columns, run.stored_len(), &names, &codec, Form::Run);
        let file = write_run(store.medium().as_ref(), &path, &stored, &mut |_| pace.rest())?;
        run.set_file(file);
        Ok(())
    }
}
