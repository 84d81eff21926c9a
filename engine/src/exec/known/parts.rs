//! `Parts`: a set in parts, whatever stands in it for a row.

use std::any::Any;

use crate::data::{Code, Rows};

/// Candidates of one lane: rows that were not known when it looked.
pub(crate) struct Candidates {
    pub(super) keys: Box<dyn Any + Send>,
    pub(super) len: usize,
}

impl Candidates {
    /// Number of rows, some perhaps more than once.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
}

/// What is asked of rows that are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    /// All of their columns.
    Rows,
    /// None: rows without columns.
    Number,
}

impl Answer {
    /// What is answered of so many rows.
    pub(super) fn of(self, len: usize, rows: impl FnOnce() -> Rows) -> Rows {
        match self {
            Answer::Rows => rows(),
            Answer::Number => Rows { columns: Vec::new(), len },
        }
    }
}

/// A set in parts. Threads first collect candidates that are not known yet, a buffer a part; then each part takes its candidates
/// in, all parts at once, and nothing is shared.
pub(super) trait Parts: Send + Sync {
    /// Empty buffers.
    fn candidates(&self) -> Box<dyn Any + Send>;
    /// Collects those rows that are not known.
    fn collect(&self, columns: &[&[Code]], rows: usize, into: &mut Candidates);
    /// Marks those rows that are known.
    fn mark(&self, columns: &[&[Code]], rows: usize, found: &mut [bool]);
    /// Takes candidates in, in the order of lanes; answers the rows that are new, each once, in pieces, or how many they are.
    fn absorb(&mut self, lanes: Vec<Candidates>, arity: usize, answer: Answer) -> Vec<Rows>;
    /// Takes rows in at once; adds those that are new to `new`.
    fn take_in(&mut self, columns: &[&[Code]], rows: usize, new: &mut Rows);
    /// Bytes held.
    fn memory_bytes(&self) -> usize;
}
