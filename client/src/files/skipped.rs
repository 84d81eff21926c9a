//! Records that do not fit: whether they end the reading, or are left out and counted.

use super::error::FileError;

/// What becomes of records that do not fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnError {
    /// The first one ends the reading.
    #[default]
    Abort,
    /// They are left out and counted.
    Skip,
}

/// What becomes of a record that does not fit: an error ends the reading.
pub(super) type Keep<'a> = &'a mut dyn FnMut(FileError) -> Result<(), FileError>;

/// Records that were left out.
#[derive(Debug, Clone, Default)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// What is wrong with the first of them.
    pub first: Vec<FileError>,
}

/// So many of the problems of a file are kept.
const KEPT: usize = 10;

impl Skipped {
    pub(super) fn note(&mut self, problem: FileError) {
        self.count += 1;
        if self.first.len() < KEPT {
            self.first.push(problem);
        }
    }
}
