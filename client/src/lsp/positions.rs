//! Places in a text as editors count them: lines, and in a line bytes or units of UTF-16.

use lsp_types::{Position, PositionEncodingKind, Range};
use stratalog_engine::Span;

/// How characters of a line are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16,
}

impl Encoding {
    /// Bytes if the editor can count them; all editors count units of UTF-16.
    pub(super) fn chosen(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        match offered.is_some_and(|offered| offered.contains(&PositionEncodingKind::UTF8)) {
            true => Encoding::Utf8,
            false => Encoding::Utf16,
        }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    pub(super) fn length(self, text: &str) -> u32 {
        match self {
            Encoding::Utf8 => text.len() as u32,
            Encoding::Utf16 => text.chars().map(|c| c.len_utf16() as u32).sum(),
        }
    }
}

/// The lines of a text.
#[derive(Debug)]
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn new(text: &'t str, encoding: Encoding) -> Lines<'t> {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Lines { text, starts, encoding }
    }

    /// The byte at a position; the end of its line or of the text if it lies behind.
    pub(super) fn offset(&self, position: Position) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return self.text.len() };
        let line = self.text[start..].split('\n').next().unwrap_or_default();
        let line = line.strip_suffix('\r').unwrap_or(line);
        let mut units = 0;
        for (at, c) in line.char_indices() {
            if units >= position.character {
                return start + at;
            }
            units += self.encoding.length(c.encode_utf8(&mut [0; 4]));
        }
        start + line.len()
    }

    pub(super) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.starts.partition_point(|start| *start <= offset) - 1;
        let character = self.encoding.length(&self.text[self.starts[line]..offset]);
        Position { line: line as u32, character }
    }

    pub(super) fn range(&self, span: Span) -> Range {
        Range { start: self.position(span.start as usize), end: self.position(span.end as usize) }
    }

    pub(super) fn whole(&self) -> Range {
        Range { start: Position::default(), end: self.position(self.text.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, Lines};
    use lsp_types::Position;

    #[test]
    fn places_are_the_same_there_and_back() {
        let text = "a\n\u{1f980}é(X)\r\nlast";
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            let lines = Lines::new(text, encoding);
            for (offset, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
                assert_eq!(lines.offset(lines.position(offset)), offset, "{encoding:?} {offset}");
            }
        }
        let lines = Lines::new(text, Encoding::Utf16);
        assert_eq!(lines.offset(Position { line: 1, character: 2 }), text.find('é').unwrap());
        assert_eq!(lines.offset(Position { line: 1, character: 99 }), text.find('\r').unwrap());
        assert_eq!(lines.offset(Position { line: 9, character: 0 }), text.len());
    }
}
