//! `BackupSummary`: what a backup holds, file by file. It is written last: without it a backup is not whole.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::super::data_folder::{GRAPHS, JOURNAL, RUNS, SYSTEM};
use crate::storage::{Moment, StorageError, file_hash, is_plain_name};

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupSummary {
    /// The moment at which everything is as it was; none in backups of earlier releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<Moment>,
    /// The version of each knowledge graph.
    pub graphs: BTreeMap<String, u64>,
    /// The archive that goes on from this backup, named after the moment of its first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<Moment>,
    /// Each file with length and hash, by its path in a data folder.
    pub(super) files: BTreeMap<String, CopiedFile>,
}

/// What a file has to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CopiedFile {
    pub(super) bytes: u64,
    pub(super) xxh3: String,
}

impl CopiedFile {
    pub(super) fn of(content: &[u8]) -> CopiedFile {
        CopiedFile { bytes: content.len() as u64, xxh3: file_hash(content) }
    }
}

/// What stands at a place in a data folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    System,
    Journal,
    Run,
}

impl BackupSummary {
    /// The length of all files.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|file| file.bytes).sum()
    }

    /// Of a backup that has no file yet.
    pub(super) fn at(moment: Moment) -> BackupSummary {
        BackupSummary { moment: Some(moment), graphs: BTreeMap::new(), line: None, files: BTreeMap::new() }
    }

    pub(super) fn enter(&mut self, path: String, file: CopiedFile) {
        self.files.insert(path, file);
    }

    /// As it is written.
    pub(super) fn text(&self, path: &Path) -> Result<Vec<u8>, StorageError> {
        serde_json::to_vec_pretty(self).map_err(|error| StorageError::unreadable(path, error))
    }

    /// Reads a summary. Every file in it has its place in a data folder: a backup may be somebody else's.
    pub(super) fn parse(path: &Path, text: &[u8]) -> Result<BackupSummary, StorageError> {
        let summary: BackupSummary =
            serde_json::from_slice(text).map_err(|error| StorageError::unreadable(path, error))?;
        if let Some(name) = summary.files.keys().find(|name| kind_of(name).is_none()) {
            let message = format!("it has a file `{}`, which is none of a data folder", name.escape_debug());
            return Err(StorageError::unreadable(path, message));
        }
        if !summary.files.contains_key(SYSTEM) {
            return Err(StorageError::unreadable(path, format!("it has no {SYSTEM}")));
        }
        Ok(summary)
    }
}

/// What a path in a data folder is of; `None` if no file of a data folder has it.
pub(super) fn kind_of(path: &str) -> Option<Kind> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts[..] {
        [SYSTEM] => Some(Kind::System),
        [GRAPHS, folder, JOURNAL] if is_plain_name(folder) => Some(Kind::Journal),
        [GRAPHS, folder, RUNS, run] if is_plain_name(folder) && is_plain_name(run) => Some(Kind::Run),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, kind_of};

    #[test]
    fn only_files_of_a_data_folder_have_a_place() {
        assert_eq!(kind_of("system.redb"), Some(Kind::System));
        assert_eq!(kind_of("graphs/lab-1/graph.redb"), Some(Kind::Journal));
        assert_eq!(kind_of("graphs/lab-1/runs/edge-1.parquet"), Some(Kind::Run));
        for path in [
            "",
            "/",
            "/system.redb",
            "./system.redb",
            "../system.redb",
            "graphs",
            "graphs/lab-1",
            "evil",
            "graphs/../graph.redb",
            "graphs//graph.redb",
            "graphs/a/b/graph.redb",
            "graphs/lab-1/runs/..",
            "graphs/lab-1/runs/../../../evil",
            "/graphs/lab-1/graph.redb",
            "graphs\\lab-1\\graph.redb",
            "graphs/lab-1/runs/a\0b",
            "graphs/lab-1/runs/a/b",
            "graphs/lab-1/other",
        ] {
            assert_eq!(kind_of(path), None, "{path:?}");
        }
    }
}
