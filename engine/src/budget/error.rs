//! Who stops a request, and why.

use std::time::Duration;

use crate::data::MAX_ROWS;
use crate::diagnostic::{Code, Diagnose, Diagnostic};

/// Who asks a request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Whoever sent it.
    Caller = 1,
    /// An administrator.
    Administrator = 2,
    /// The server, which has too much to do.
    Overload = 3,
}

impl Stop {
    pub(super) const ALL: [Stop; 3] = [Stop::Caller, Stop::Administrator, Stop::Overload];

    pub(super) fn error(self) -> BudgetError {
        match self {
            Stop::Caller => BudgetError::Cancelled,
            Stop::Administrator => BudgetError::Killed,
            Stop::Overload => BudgetError::Overloaded,
        }
    }
}

/// Why a request was stopped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// The deadline passed.
    #[error("the request ran longer than the {} ms it may take, and was stopped", .limit.as_millis())]
    Timeout {
        /// The time it had.
        limit: Duration,
    },
    /// The caller asked to stop.
    #[error("the request was cancelled")]
    Cancelled,
    /// An administrator asked it to stop.
    #[error("an administrator stopped the request")]
    Killed,
    /// Others were in its way for too long.
    #[error("the request takes long, and no place among the long ones became free in time")]
    Overloaded,
    /// All requests together needed more memory than they may have.
    #[error("all running requests together needed more than {} of memory, and this one was stopped", size(*.limit))]
    TotalMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// All requests of one user together needed more memory than they may have.
    #[error("the user's running requests together needed more than {} of memory, and this one was stopped", size(*.limit))]
    UserMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// More memory was needed than the request may have.
    #[error("the request needed more than the {} of memory it may use, and was stopped", size(*.limit))]
    Memory {
        /// The limit in bytes.
        limit: u64,
    },
    /// More had to be put aside on disk than there is room for.
    #[error("the request needed more disk than there is for it, and was stopped: {why}")]
    Disk {
        /// What the system says.
        why: String,
    },
    /// More memory is needed to write a change than the request may have.
    #[error(
        "writing this change takes {} of memory, and the request may use {}",
        size(*.needed), size(*.limit)
    )]
    Write {
        /// What it takes in bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// More rows came about at once than have numbers.
    #[error("{rows} rows came about at once, and {MAX_ROWS} have numbers")]
    Rows {
        /// How many.
        rows: u64,
    },
}

impl BudgetError {
    /// The same, said of a change that takes so many bytes to write.
    pub(crate) fn of_write(self, needed: usize) -> BudgetError {
        match self {
            BudgetError::Memory { limit } => BudgetError::Write { needed: needed as u64, limit },
            other => other,
        }
    }
}

/// `4 MiB`, or bytes where they are no whole number of MiB.
pub(crate) fn size(bytes: u64) -> String {
    if bytes > 0 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}

impl Diagnose for BudgetError {
    fn diagnose(&self) -> Diagnostic {
        match self {
            BudgetError::Timeout { limit } => Diagnostic::error(Code::Timeout, self.to_string())
                .help("bind an argument of the query, bound the recursion, or ask for more time")
                .limit("query_timeout_ms", limit.as_millis().try_into().unwrap_or(u64::MAX)),
            BudgetError::Cancelled | BudgetError::Killed => {
                Diagnostic::error(Code::Cancelled, self.to_string())
            }
            BudgetError::Overloaded => Diagnostic::error(Code::Overloaded, self.to_string())
                .help("try again when the server has less to do"),
            BudgetError::TotalMemory { limit } => Diagnostic::error(Code::Overloaded, self.to_string())
                .help("try again when the server has less to do")
                .limit("total_memory_bytes", *limit),
            BudgetError::UserMemory { limit } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("try again when the others are answered, and their answers are read")
                .limit("user.memory_bytes", *limit),
            BudgetError::Memory { limit } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("look for a cross product or an unbounded recursion, or bind an argument of the query")
                .limit("query_memory_bytes", *limit),
            BudgetError::Disk { .. } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("look for a cross product or an unbounded recursion, or make room where the server puts rows aside"),
            BudgetError::Write { limit, .. } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("nothing was changed; write fewer facts at once, or have limits.query_memory_bytes raised")
                .limit("query_memory_bytes", *limit),
            BudgetError::Rows { .. } => Diagnostic::error(Code::LimitExceeded, self.to_string())
                .help("look for a cross product, or bind an argument of the query")
                .limit("rows_of_a_relation", MAX_ROWS as u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BudgetError, size};
    use crate::diagnostic::{Diagnose, LimitReached};

    #[test]
    fn memory_is_told_as_it_was_set() {
        assert_eq!(size(3 << 20), "3 MiB");
        assert_eq!(size(1_000_000), "1000000 bytes");
        assert_eq!(size(0), "0 bytes");
        let limit = BudgetError::Memory { limit: 17 }.diagnose().limit;
        assert_eq!(limit, Some(LimitReached { name: "query_memory_bytes", value: 17 }));
    }
}
