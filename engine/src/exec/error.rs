//! `ExecError`: why an evaluation stopped.

use std::time::Duration;

use crate::attached::{FilesError, PlaceError};
use crate::budget::BudgetError;
use crate::data::{DataType, DictionaryFull, Value};
use crate::diagnostic::{Code, Diagnose, Diagnostic};
use crate::error::Error;
use crate::functions::FunctionError;

/// Why an evaluation stopped.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ExecError {
    /// Time, memory or patience ran out.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// No code is left for a new value.
    #[error(transparent)]
    Full(#[from] DictionaryFull),
    /// Files cannot be read that rows are in.
    #[error(transparent)]
    Files(FilesError),
    /// A function had to stop.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// Something that was to spare work takes more than that.
    #[error("it takes more than it spares")]
    NotWorth,
    /// More rows are asked for than there are to begin with: to derive all of them may take less.
    #[error("more is asked for than there is")]
    AsksMuch {
        /// How long it took to find that out.
        after: Duration,
    },
    /// A search that starts from something else than its column holds.
    #[error("a search of a column of type {expected} cannot start from {found}")]
    SearchType {
        /// The type of the column.
        expected: DataType,
        /// That of the value.
        found: DataType,
    },
    /// The evaluation elsewhere failed.
    #[error("{why}")]
    Elsewhere {
        /// Why.
        why: String,
    },
    /// A value that is no rank where ranks are put together.
    #[error("`rrf` puts ranks together, integers from 1, found {found}")]
    NoRank {
        /// The value.
        found: Value,
    },
}

impl From<FilesError> for ExecError {
    fn from(error: FilesError) -> ExecError {
        match error {
            FilesError::Budget(stopped) | FilesError::Place(PlaceError::Budget(stopped)) => {
                ExecError::Budget(stopped)
            }
            FilesError::Full(full) => ExecError::Full(full),
            other => ExecError::Files(other),
        }
    }
}

impl From<ExecError> for Error {
    fn from(error: ExecError) -> Error {
        match error {
            ExecError::Budget(stopped) | ExecError::Function(FunctionError::Budget(stopped)) => {
                Error::Stopped(stopped)
            }
            ExecError::Full(full) => full.into(),
            ExecError::Files(error) => error.into(),
            ExecError::NotWorth => Error::internal("an auxiliary relation", error),
            ExecError::AsksMuch { .. } => Error::internal("what is asked for", error),
            ExecError::Function(function) => function.into(),
            ExecError::Elsewhere { .. } => Error::internal("an evaluation elsewhere", error),
            ExecError::SearchType { expected, .. } => {
                let help = match expected {
                    DataType::Text => "search with strings",
                    _ => "search with vectors of the length and kind of the indexed column",
                };
                Error::refused(Diagnostic::error(Code::TypeMismatch, error.to_string()).help(help))
            }
            ExecError::NoRank { .. } => {
                Error::refused(Diagnostic::error(Code::TypeMismatch, error.to_string()).help(
                    "a search numbers what it finds: `text_search(\"about\", Query, 10, Id, Score, Rank)`",
                ))
            }
        }
    }
}

impl Diagnose for DictionaryFull {
    fn diagnose(&self) -> Diagnostic {
        Diagnostic::error(Code::LimitExceeded, self.to_string())
            .help("split the data over several knowledge graphs, or make fewer new values")
    }
}
