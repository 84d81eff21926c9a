//! `Attachment`: what is remembered of what was attached.

use serde::{Deserialize, Serialize};

use super::places::PlacedFile;

/// The files that a relation's rows are in, as they were when they were attached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The place, as it was written.
    pub place: String,
    /// What the columns of the relation are called in the files.
    pub columns: Vec<String>,
    /// The files.
    pub files: Vec<AttachedFile>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttachedFile {
    /// Which, and what content.
    #[serde(flatten)]
    pub file: PlacedFile,
    /// Its rows, of which some may be equal.
    pub rows: u64,
}

impl Attachment {
    /// The rows of all files, of which some may be equal.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }

    /// An estimate of the bytes that this takes.
    pub fn memory_bytes(&self) -> usize {
        let names = self.columns.iter().map(String::len).sum::<usize>() + self.place.len();
        let files = self.files.iter().map(|AttachedFile { file, .. }| file.name.len() + file.mark.len());
        names + files.sum::<usize>() + size_of_val(self.files.as_slice())
    }
}
