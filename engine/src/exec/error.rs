//! `ExecError`: why an evaluation stopped.

use crate::budget::BudgetError;
use crate::data::DictionaryFull;
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
    /// A function had to stop.
    #[error(transparent)]
    Function(#[from] FunctionError),
}

impl From<ExecError> for Error {
    fn from(error: ExecError) -> Error {
        match error {
            ExecError::Budget(stopped) | ExecError::Function(FunctionError::Budget(stopped)) => {
                Error::Stopped(stopped)
            }
            ExecError::Full(full) => full.into(),
            ExecError::Function(function) => function.into(),
        }
    }
}

impl Diagnose for DictionaryFull {
    fn diagnose(&self) -> Diagnostic {
        Diagnostic::error(Code::LimitExceeded, self.to_string())
            .help("split the data over several knowledge graphs, or make fewer new values")
    }
}
