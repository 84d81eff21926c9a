//! `Places`: who can list and read files. The engine has no network and decides nothing about files; whoever embeds it does.

use std::fmt;
use std::ops::Range;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::budget::{Budget, BudgetError};
use crate::diagnostic::{Code, Diagnose, Diagnostic};

/// Folders and buckets of which files may be attached. Whoever asks waits, as long as the request may go on.
pub trait Places: fmt::Debug + Send + Sync {
    /// The files of a place, sorted by name: `/folder/*.parquet`, `s3://bucket/prefix/*.parquet`, or one file. At least one.
    fn list(&self, place: &str, budget: &Budget) -> Result<Vec<PlacedFile>, PlaceError>;

    /// Bytes of a file, if it still is the one that was listed.
    fn read(&self, file: &PlacedFile, range: Range<u64>, budget: &Budget) -> Result<Bytes, PlaceError>;
}

/// A file as it was listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedFile {
    /// Its whole name, as places have it.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// What tells its content from any other that may come to stand under its name.
    pub mark: String,
}

/// Why a place cannot be listed, or a file not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// No place at all.
    #[error("`{place}` is no place of files: {why}")]
    Unknown {
        /// What was written.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// Nobody may attach files of it.
    #[error("files of `{place}` may not be attached here")]
    Closed {
        /// The place.
        place: String,
    },
    /// There are no files.
    #[error("there is no file at `{place}`")]
    Empty {
        /// The place.
        place: String,
    },
    /// Another content stands under the name.
    #[error("`{file}` has changed since it was attached")]
    Changed {
        /// The file.
        file: String,
    },
    /// The request had to stop while it waited.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// It cannot be asked, or does not answer.
    #[error("`{file}` cannot be read: {why}")]
    Unreadable {
        /// The file or place.
        file: String,
        /// What the system says.
        why: String,
    },
}

impl Diagnose for PlaceError {
    fn diagnose(&self) -> Diagnostic {
        let told = |code, help: &str| Diagnostic::error(code, self.to_string()).help(help);
        match self {
            PlaceError::Unknown { .. } => told(
                Code::InvalidParameter,
                "write a path from the root, `/folder/*.parquet`, or `s3://bucket/prefix/*.parquet`",
            ),
            PlaceError::Closed { .. } => {
                told(Code::AccessDenied, "whoever runs the server says what may be attached: `attach.places`")
            }
            PlaceError::Empty { .. } => told(
                Code::NotFound,
                "all files of a folder are `/folder/*.parquet`, where `*` stands for no `/`",
            ),
            PlaceError::Changed { .. } => told(
                Code::FilesUnavailable,
                "attach the relation again, to read what is there now: .rel attach",
            ),
            PlaceError::Budget(error) => error.diagnose(),
            PlaceError::Unreadable { .. } => {
                told(Code::FilesUnavailable, "look whether the file is still there, and who may read it")
            }
        }
    }
}
