//! What is wrong with a file, and where.

use std::fmt;

/// Why a file cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file, as it was named.
    pub file: String,
    /// The line, counted from 1; of a binary format, nothing.
    pub line: Option<u64>,
    /// What is wrong there.
    pub problem: String,
    /// What to do, where that is known.
    pub help: Option<String>,
}

impl FileError {
    /// Something is wrong with the file as a whole.
    pub fn new(file: &str, problem: impl fmt::Display) -> FileError {
        FileError { file: file.to_owned(), line: None, problem: problem.to_string(), help: None }
    }

    /// Something is wrong with a line.
    pub(crate) fn at(file: &str, line: u64, problem: impl fmt::Display) -> FileError {
        FileError { line: Some(line), ..FileError::new(file, problem) }
    }

    /// The same with a way out.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> FileError {
        self.help = Some(help.into());
        self
    }
}

/// `1 field`, `2 fields`.
pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

/// At most forty characters, for messages.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.file, self.problem),
            None => write!(f, "{}: {}", self.file, self.problem),
        }
    }
}

impl std::error::Error for FileError {}
