//! `GraphStore`: the folder of one graph, and how its storage is doing.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::bell::Bell;
use super::data_folder::RUNS;
use super::home::Home;
use super::pins::Pins;
use crate::storage::{Clock, Journal, Medium, StorageError, SystemStore};

/// Where one graph is stored.
#[derive(Debug)]
pub(super) struct GraphStore {
    folder: PathBuf,
    medium: Arc<dyn Medium>,
    /// What says that the folder is a graph's.
    system: Arc<SystemStore>,
    journal: Journal,
    /// The number of the next run's file.
    next_file: AtomicU64,
    /// Held by a checkpoint.
    pub(super) checkpointing: Mutex<()>,
    /// The latest failure, until something succeeds.
    trouble: Mutex<Option<StorageError>>,
    /// Journal bytes that make a checkpoint due.
    checkpoint_bytes: u64,
    bell: Bell,
    clock: Arc<Clock>,
    pins: Arc<Pins>,
    archived: AtomicU64,
}

impl GraphStore {
    pub(super) fn new(
        folder: PathBuf,
        home: &Home,
        journal: Journal,
        next_file: u64,
        archived: u64,
    ) -> GraphStore {
        let Home { medium, system, checkpoint_bytes, bell, clock, pins, .. } = home.clone();
        GraphStore {
            folder,
            medium,
            system,
            journal,
            next_file: AtomicU64::new(next_file),
            checkpointing: Mutex::new(()),
            trouble: Mutex::new(None),
            checkpoint_bytes,
            bell,
            clock,
            pins,
            archived: AtomicU64::new(archived),
        }
    }

    /// Tells when something is stored.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// What holds files in their place.
    pub(super) fn pins(&self) -> &Pins {
        &self.pins
    }

    /// The version up to which the journal may forget its records. An archive that keeps copies has those.
    pub(super) fn archived(&self) -> &AtomicU64 {
        &self.archived
    }

    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(super) fn system(&self) -> &SystemStore {
        &self.system
    }

    pub(super) fn medium(&self) -> &Arc<dyn Medium> {
        &self.medium
    }

    pub(super) fn next_file(&self) -> &AtomicU64 {
        &self.next_file
    }

    /// Remembers a failure, for those who ask how storage is doing.
    pub(super) fn failed(&self, error: &StorageError) {
        tracing::error!(folder = %self.folder.display(), "storage failed: {error}");
        *self.trouble.lock() = Some(error.clone());
        self.ask_for_checkpoint_if_due();
    }

    /// Something was stored: whatever was wrong is over.
    pub(super) fn healed(&self) {
        if let Some(error) = self.trouble.lock().take() {
            tracing::info!(folder = %self.folder.display(), "storage works again after: {error}");
        }
    }

    /// Takes note of what came of writing.
    pub(super) fn noting(&self, written: Result<(), StorageError>) -> Result<(), StorageError> {
        match &written {
            Ok(()) => self.healed(),
            Err(error) => self.failed(error),
        }
        written
    }

    /// The latest failure, if nothing has succeeded since.
    pub(super) fn current_trouble(&self) -> Option<StorageError> {
        self.trouble.lock().clone()
    }

    /// Why the state under a transaction is gone.
    pub(super) fn trouble(&self) -> StorageError {
        self.current_trouble().unwrap_or_else(|| {
            StorageError::io(
                self.journal.path(),
                std::io::Error::other("an earlier commit failed; try again"),
            )
        })
    }

    /// Whether the journal has grown enough for a checkpoint, or takes no records before the next one.
    pub(super) fn is_checkpoint_due(&self) -> bool {
        self.journal.bytes() >= self.checkpoint_bytes || self.journal.is_abandoned()
    }

    /// Wakes the thread that makes checkpoints, if there is work for it.
    pub(super) fn ask_for_checkpoint_if_due(&self) {
        if self.is_checkpoint_due() {
            self.bell.ring();
        }
    }

    /// Wakes the thread that makes checkpoints.
    pub(super) fn ring(&self) {
        self.bell.ring();
    }

    /// The path of a run's file.
    pub(super) fn run_path(&self, name: &str) -> PathBuf {
        self.folder.join(RUNS).join(name)
    }

    /// A file name that was never used: part of the relation's name for people, and a number.
    pub(super) fn new_run_name(&self, relation: &str) -> String {
        let readable: String =
            relation.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(60).collect();
        format!("{readable}-{}.parquet", self.next_file.fetch_add(1, Ordering::Relaxed))
    }

    /// Removes run files that the manifest does not name. One that stays is tried again next time.
    pub(super) fn remove_all_but(&self, files: &BTreeSet<String>) {
        let folder = self.folder.join(RUNS);
        let there = self.medium.list(&folder).unwrap_or_default();
        for name in there.iter().filter(|name| !files.contains(*name)) {
            if let Err(error) = self.medium.remove(&folder.join(name)) {
                tracing::warn!("cannot remove {}: {error}", folder.join(name).display());
            }
        }
    }
}
