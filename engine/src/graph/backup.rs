//! Backups: a copy of a data folder, made while it serves, with the hash of every file in it.
//!
//! A backup has the layout of a data folder and one file more, `backup.json`, which is written last: without it the
//! backup is not whole. Each graph is copied at one version; writes go on meanwhile.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Graph;
use super::library::{GRAPHS, Library, Opened, SYSTEM};
use super::manifest::Manifest;
use super::store::{JOURNAL, RUNS};
use crate::storage::{Disk, Journal, Medium, StorageError, SystemContents, SystemStore, file_hash};

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupSummary {
    /// The version of each knowledge graph.
    pub graphs: BTreeMap<String, u64>,
    /// Each file with length and hash.
    files: BTreeMap<String, CopiedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct CopiedFile {
    bytes: u64,
    xxh3: String,
}

impl BackupSummary {
    /// The length of all files.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }
}

/// The file that makes a backup whole.
const SUMMARY: &str = "backup.json";

struct Copying<'m> {
    medium: &'m dyn Medium,
    target: &'m Path,
    summary: BackupSummary,
}

impl Library {
    /// Copies everything to a folder that is not there yet.
    pub(super) fn back_up(
        &self,
        graphs: &BTreeMap<String, Opened>,
        target: &Path,
    ) -> Result<BackupSummary, StorageError> {
        let medium = self.home.medium.as_ref();
        check_is_free(medium, target)?;
        let mut copying = Copying::new(medium, target);
        let SystemContents { graphs: folders, records, .. } = self.system.contents();
        let mut copied = SystemContents { records, ..SystemContents::default() };
        for (name, opened) in graphs {
            let graph = opened.as_ref().map_err(Clone::clone)?;
            // A graph that was made or dropped meanwhile is not part of this backup.
            let Some(folder) = folders.get(name) else { continue };
            copying.copy_graph(graph, &Path::new(GRAPHS).join(folder))?;
            copied.graphs.insert(name.clone(), folder.clone());
        }
        SystemStore::write(medium, &target.join(SYSTEM), &copied)?;
        copying.note(Path::new(SYSTEM))?;
        copying.finish()
    }
}

impl Copying<'_> {
    fn new<'m>(medium: &'m dyn Medium, target: &'m Path) -> Copying<'m> {
        let summary = BackupSummary { graphs: BTreeMap::new(), files: BTreeMap::new() };
        Copying { medium, target, summary }
    }

    fn copy_graph(&mut self, graph: &Arc<Graph>, folder: &Path) -> Result<(), StorageError> {
        let Some(store) = &graph.store else { return Ok(()) };
        create_folder(self.medium, &self.target.join(folder).join(RUNS))?;
        // No checkpoint removes a file that is still to be copied.
        let _waiting = store.checkpointing.lock();
        let contents = store.journal().contents()?;
        let mut version = 0;
        if let Some(text) = &contents.manifest {
            let manifest: Manifest = serde_json::from_slice(text)
                .map_err(|error| StorageError::unreadable(store.journal().path(), error))?;
            version = manifest.version;
            for record in manifest.runs.values().flatten() {
                let expected = record.expected();
                let path = store.run_path(&expected.name);
                let content = read(store.medium().as_ref(), &path)?;
                if content.len() as u64 != expected.bytes || file_hash(&content) != expected.hash {
                    return Err(StorageError::unreadable(&path, "a checksum does not fit"));
                }
                self.write(&folder.join(RUNS).join(&expected.name), &content)?;
            }
        }
        version = contents.records.last().map_or(version, |record| record.version);
        let journal = folder.join(JOURNAL);
        Journal::write(self.medium, &self.target.join(&journal), &contents)?;
        self.note(&journal)?;
        self.summary.graphs.insert(graph.name().to_owned(), version);
        Ok(())
    }

    fn write(&mut self, path: &Path, content: &[u8]) -> Result<(), StorageError> {
        let target = self.target.join(path);
        write_file(self.medium, &target, content)?;
        self.enter(path, content);
        Ok(())
    }

    /// Enters a file that was written by other means.
    fn note(&mut self, path: &Path) -> Result<(), StorageError> {
        let content = read(self.medium, &self.target.join(path))?;
        self.enter(path, &content);
        Ok(())
    }

    fn enter(&mut self, path: &Path, content: &[u8]) {
        let file = CopiedFile { bytes: content.len() as u64, xxh3: file_hash(content) };
        self.summary.files.insert(path.to_string_lossy().into_owned(), file);
    }

    fn finish(self) -> Result<BackupSummary, StorageError> {
        let path = self.target.join(SUMMARY);
        let text =
            serde_json::to_vec_pretty(&self.summary).map_err(|e| StorageError::unreadable(&path, e))?;
        write_file(self.medium, &path, &text)?;
        Ok(self.summary)
    }
}

/// Makes a data folder of a backup: every file is compared with its hash first, and nothing is written if one differs.
pub fn restore(backup: &Path, target: &Path) -> Result<BackupSummary, StorageError> {
    restore_on(&Disk, backup, target)
}

/// The same, on any medium.
pub fn restore_on(medium: &dyn Medium, backup: &Path, target: &Path) -> Result<BackupSummary, StorageError> {
    let summary = verify(medium, backup)?;
    check_is_free(medium, target)?;
    // The system store comes last: without it, what is there is no data folder yet.
    let (system, others): (Vec<_>, Vec<_>) = summary.files.keys().partition(|path| *path == SYSTEM);
    for path in others.into_iter().chain(system) {
        let to = target.join(path);
        if let Some(folder) = to.parent() {
            create_folder(medium, folder)?;
        }
        write_file(medium, &to, &read(medium, &backup.join(path))?)?;
    }
    Ok(summary)
}

/// Compares every file of a backup with its hash.
fn verify(medium: &dyn Medium, backup: &Path) -> Result<BackupSummary, StorageError> {
    let path = backup.join(SUMMARY);
    let text = read(medium, &path)?;
    let summary: BackupSummary =
        serde_json::from_slice(&text).map_err(|error| StorageError::unreadable(&path, error))?;
    for (name, file) in &summary.files {
        let path = backup.join(name);
        let content = read(medium, &path)?;
        if content.len() as u64 != file.bytes || file_hash(&content) != file.xxh3 {
            return Err(StorageError::unreadable(&path, "a checksum does not fit"));
        }
    }
    Ok(summary)
}

fn check_is_free(medium: &dyn Medium, folder: &Path) -> Result<(), StorageError> {
    let there = medium.list(folder).map_err(|error| StorageError::io(folder, error))?;
    if there.is_empty() {
        create_folder(medium, folder)?;
        medium.close_to_others(folder);
        return Ok(());
    }
    let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the folder is not empty");
    Err(StorageError::io(folder, error))
}

fn create_folder(medium: &dyn Medium, path: &Path) -> Result<(), StorageError> {
    medium.create_folder(path).map_err(|error| StorageError::io(path, error))
}

fn read(medium: &dyn Medium, path: &Path) -> Result<bytes::Bytes, StorageError> {
    medium.read(path).map_err(|error| StorageError::io(path, error))
}

fn write_file(medium: &dyn Medium, path: &Path, content: &[u8]) -> Result<(), StorageError> {
    let write = || {
        let mut file = medium.create(path)?;
        file.write_all(content)?;
        file.finish()
    };
    write().map_err(|error| StorageError::io(path, error))
}
