//! Where something stands in the text of a program.

/// A range of bytes in the program as it was sent: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end`.
    pub fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A [`Span`] as a person counts: lines and columns from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Length in bytes.
    pub length: usize,
    /// Offset of the first byte.
    pub offset: usize,
}

/// Finds the line and column of spans in one text.
#[derive(Debug, Clone)]
pub struct SourceMap<'a> {
    text: &'a str,
    line_starts: Vec<usize>,
}

impl<'a> SourceMap<'a> {
    /// Reads the text once and remembers where its lines begin.
    pub fn new(text: &'a str) -> Self {
        let mut line_starts = vec![0];
        line_starts.extend(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1));
        SourceMap { text, line_starts }
    }

    /// Line, column, length and offset of a span.
    pub fn place(&self, span: Span) -> Place {
        let offset = (span.start as usize).min(self.text.len());
        let end = (span.end as usize).clamp(offset, self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let before = self.text.get(self.line_starts[line - 1]..offset).unwrap_or("");
        Place { line, column: before.chars().count() + 1, length: end - offset, offset }
    }

    /// The whole text.
    pub fn text(&self) -> &'a str {
        self.text
    }
}
