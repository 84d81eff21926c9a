//! The manifest: what a checkpoint leaves in the journal. Which files hold which rows, and all definitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::record::ChangeRecord;
use super::snapshot::Changed;
use crate::data::RunFile;
use crate::storage::is_plain_name;

/// A graph at the version of a checkpoint.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub(super) version: u64,
    /// The number of the next run's file.
    pub(super) next_file: u64,
    pub(super) definitions: Vec<ChangeRecord>,
    /// The files of each stored relation, oldest rows first.
    pub(super) runs: BTreeMap<String, Vec<FileRecord>>,
    /// When what was changed last; earlier releases did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changed: Option<Changed>,
}

impl Default for Manifest {
    /// That of a graph without a checkpoint.
    fn default() -> Manifest {
        Manifest { version: 0, next_file: 1, definitions: Vec::new(), runs: BTreeMap::new(), changed: None }
    }
}

impl Manifest {
    /// Reads a manifest, whose files are all in the folder of runs: it may come from a backup that somebody else made.
    pub(super) fn parse(text: &[u8]) -> Result<Manifest, String> {
        let manifest: Manifest = serde_json::from_slice(text).map_err(|error| error.to_string())?;
        match manifest.runs.values().flatten().find(|run| !is_plain_name(&run.file)) {
            Some(run) => Err(format!("`{}` is no file's name", run.file.escape_debug())),
            None => Ok(manifest),
        }
    }
}

/// A [`RunFile`] as it is stored.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FileRecord {
    pub(super) file: String,
    rows: usize,
    bytes: u64,
    xxh3: String,
}

impl From<&RunFile> for FileRecord {
    fn from(file: &RunFile) -> FileRecord {
        FileRecord { file: file.name.clone(), rows: file.rows, bytes: file.bytes, xxh3: file.hash.clone() }
    }
}

impl FileRecord {
    /// What to expect of the file.
    pub(super) fn expected(&self) -> RunFile {
        RunFile {
            name: self.file.clone(),
            rows: self.rows,
            bytes: self.bytes,
            hash: self.xxh3.clone(),
            in_order: false,
        }
    }
}
