//! `FilesError`: why files cannot be attached, or what is attached cannot be read.

use super::places::PlaceError;
use crate::budget::BudgetError;
use crate::data::DictionaryFull;
use crate::diagnostic::{Code, Diagnose, Diagnostic};

/// Why files cannot be attached, or what is attached cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FilesError {
    /// The place, or a file of it.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// What is in a file is no Parquet, or is damaged.
    #[error("`{file}` cannot be read: {why}")]
    Content {
        /// The file.
        file: String,
        /// What the reader says.
        why: String,
    },
    /// A column that has no type here, or another one than in other files.
    #[error("column `{column}` of `{file}` {why}")]
    Column {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What is wrong with it.
        why: String,
    },
    /// A value that is none here.
    #[error("column `{column}` of `{file}`: {why}")]
    Value {
        /// The file.
        file: String,
        /// The column.
        column: String,
        /// What is wrong with it.
        why: String,
    },
    /// Time or memory ran out.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// No code is left for a new value.
    #[error(transparent)]
    Full(#[from] DictionaryFull),
}

/// What whoever writes a relation is told whose rows are in files.
pub(crate) fn read_only(relation: &str) -> Diagnostic {
    let message =
        format!("the rows of `{relation}` are those of attached files: it can be read, and not be written");
    let help = format!("`.rel drop {relation}` forgets the files, which stay as they are");
    Diagnostic::error(Code::AttachedRelation, message).help(help)
}

impl Diagnose for FilesError {
    fn diagnose(&self) -> Diagnostic {
        let told = |code, help: &str| Diagnostic::error(code, self.to_string()).help(help);
        match self {
            FilesError::Place(error) => error.diagnose(),
            FilesError::Content { .. } => told(
                Code::FilesUnavailable,
                "attach Parquet files, compressed by snappy, gzip, lz4 or zstd, or not at all",
            ),
            FilesError::Column { .. } => told(
                Code::TypeMismatch,
                "attach files of the same columns: numbers, strings, booleans, times; convert others, or import them",
            ),
            FilesError::Value { .. } => {
                told(Code::TypeMismatch, "convert the column, to floats or text, and attach the files again")
            }
            FilesError::Budget(error) => error.diagnose(),
            FilesError::Full(full) => full.diagnose(),
        }
    }
}
