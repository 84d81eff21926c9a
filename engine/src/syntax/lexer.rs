//! Text to tokens, one at a time and without copying: the parser asks for the next.
//!
//! A token knows whether it starts its line, because that is what separates statements. Comments vanish here; a
//! newline inside a string belongs to the string.

use super::token::{Position, Token, TokenKind};
use crate::diagnostic::Span;

/// A place in the text from which tokens are read. A copy looks ahead.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
    position: Position,
    /// A string was not closed, so no later quote closes one either.
    unclosed: bool,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0, position: Position::StartsLine, unclosed: false }
    }

    /// Begins at this byte.
    pub(super) fn starting_at(text: &'a str, at: usize) -> Lexer<'a> {
        Lexer { at, ..Lexer::new(text) }
    }

    /// Goes on at this byte, which must be the end of a line or of the text.
    pub(super) fn seek(&mut self, at: usize) {
        self.at = at;
        self.position = Position::Inside;
    }

    /// The next token; at the end of the text, `End` again and again.
    pub(super) fn next_token(&mut self) -> Token {
        let unclosed = self.skip_blanks();
        let start = self.at;
        let position = std::mem::replace(&mut self.position, Position::Inside);
        let kind = match unclosed {
            Some(comment) => {
                self.at = self.text.len();
                return Token {
                    kind: TokenKind::UnclosedComment,
                    position,
                    span: Span::new(comment, comment + 2),
                };
            }
            None => self.scan(),
        };
        let end = if kind == TokenKind::UnclosedText { start + 1 } else { self.at };
        Token { kind, position, span: Span::new(start, end) }
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    /// Skips blanks and comments. Answers where a comment starts that is never closed.
    fn skip_blanks(&mut self) -> Option<usize> {
        while let Some(&byte) = self.text.as_bytes().get(self.at) {
            match byte {
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\n' => {
                    self.at += 1;
                    self.position = match self.byte(0) {
                        b' ' | b'\t' => Position::Indented,
                        _ => Position::StartsLine,
                    };
                }
                b'/' if self.byte(1) == b'/' => self.skip_line(),
                b'/' if self.byte(1) == b'*' => {
                    let start = self.at;
                    match end_of_comment(self.text, start) {
                        Some(end) => self.at = end,
                        None => return Some(start),
                    }
                }
                b'%' if self.position != Position::Inside => self.skip_line(),
                0x80.. => match self.text[self.at..].chars().next() {
                    Some(c) if c.is_whitespace() || c == '\u{feff}' => self.at += c.len_utf8(),
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }

    fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
    }

    fn scan(&mut self) -> TokenKind {
        let Some(&byte) = self.text.as_bytes().get(self.at) else { return TokenKind::End };
        let (kind, length) = match byte {
            b'0'..=b'9' => return self.scan_number(),
            b'.' if self.byte(1).is_ascii_digit() => return self.scan_number(),
            b'"' => return self.scan_text(),
            b'a'..=b'z' => {
                self.skip_identifier();
                return TokenKind::Word;
            }
            b'A'..=b'Z' => {
                self.skip_identifier();
                return TokenKind::Variable;
            }
            b'_' => {
                let start = self.at;
                self.skip_identifier();
                return if self.at == start + 1 { TokenKind::Placeholder } else { TokenKind::Variable };
            }
            b'$' => {
                self.at += 1;
                let start = self.at;
                if !self.byte(0).is_ascii_digit() {
                    self.skip_identifier();
                }
                return if self.at > start { TokenKind::Parameter } else { TokenKind::Stray };
            }
            0x80.. => return self.scan_unicode(),
            b'(' => (TokenKind::LeftParen, 1),
            b')' => (TokenKind::RightParen, 1),
            b'[' => (TokenKind::LeftBracket, 1),
            b']' => (TokenKind::RightBracket, 1),
            b'{' => (TokenKind::LeftBrace, 1),
            b'}' => (TokenKind::RightBrace, 1),
            b',' => (TokenKind::Comma, 1),
            b'.' => (TokenKind::Dot, 1),
            b'?' => (TokenKind::Question, 1),
            b'+' => (TokenKind::Plus, 1),
            b'-' => (TokenKind::Minus, 1),
            b'*' => (TokenKind::Star, 1),
            b'/' => (TokenKind::Slash, 1),
            b'%' => (TokenKind::Percent, 1),
            b';' => (TokenKind::Semicolon, 1),
            b'\'' | b'`' => (TokenKind::WrongQuote, 1),
            b'!' if self.byte(1) == b'=' => (TokenKind::NotEqual, 2),
            b'!' => (TokenKind::Bang, 1),
            b'=' if self.byte(1) == b'=' => (TokenKind::DoubleEqual, 2),
            b'=' => (TokenKind::Equal, 1),
            b':' if matches!(self.byte(1), b'-' | b'=') => (TokenKind::ColonArrow, 2),
            b':' => (TokenKind::Colon, 1),
            // `X <-5` compares: an arrow is never followed by a number without a blank.
            b'<' if self.byte(1) == b'-' && !matches!(self.byte(2), b'0'..=b'9' | b'.') => {
                (TokenKind::Arrow, 2)
            }
            b'<' if self.byte(1) == b'=' => (TokenKind::LessOrEqual, 2),
            b'<' if self.byte(1) == b'>' => (TokenKind::Diamond, 2),
            b'<' => (TokenKind::Less, 1),
            b'>' if self.byte(1) == b'=' => (TokenKind::GreaterOrEqual, 2),
            b'>' => (TokenKind::Greater, 1),
            b'&' => (TokenKind::And, if self.byte(1) == b'&' { 2 } else { 1 }),
            b'|' => (TokenKind::Or, if self.byte(1) == b'|' { 2 } else { 1 }),
            _ => (TokenKind::Stray, 1),
        };
        self.at += length;
        kind
    }

    fn scan_unicode(&mut self) -> TokenKind {
        let first = self.text[self.at..].chars().next().unwrap_or(' ');
        if !first.is_alphabetic() {
            self.at += first.len_utf8();
            return TokenKind::Stray;
        }
        self.skip_identifier();
        if first.is_uppercase() { TokenKind::Variable } else { TokenKind::Word }
    }

    fn skip_identifier(&mut self) {
        self.at = end_of_identifier(self.text, self.at);
    }

    fn skip_digits(&mut self) {
        while self.byte(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    fn scan_number(&mut self) -> TokenKind {
        let mut kind = TokenKind::Integer;
        self.skip_digits();
        if self.byte(0) == b'.' {
            kind = TokenKind::Float;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(0), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(1), b'+' | b'-'));
            if self.byte(1 + sign).is_ascii_digit() {
                kind = TokenKind::Float;
                self.at += 1 + sign;
                self.skip_digits();
            }
        }
        let end = end_of_identifier(self.text, self.at);
        if end > self.at {
            self.at = end;
            kind = TokenKind::BadNumber;
        }
        kind
    }

    /// A string up to its closing quote. One that is never closed ends with its line, so that the rest is still read.
    fn scan_text(&mut self) -> TokenKind {
        let bytes = self.text.as_bytes();
        let mut kind = TokenKind::Text;
        let mut at = if self.unclosed { bytes.len() } else { self.at + 1 };
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    self.at = at + 1;
                    return kind;
                }
                b'\\' => {
                    kind = TokenKind::EscapedText;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        self.unclosed = true;
        self.skip_line();
        TokenKind::UnclosedText
    }
}

/// The end of the letters, digits and underscores that start here.
pub(super) fn end_of_identifier(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => at += 1,
            0x80.. => match text[at..].chars().next() {
                Some(c) if c.is_alphanumeric() => at += c.len_utf8(),
                _ => break,
            },
            _ => break,
        }
    }
    at
}

/// The end of the block comment that starts here; comments nest.
pub(super) fn end_of_comment(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut depth = 1_usize;
    let mut at = start + 2;
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'/', b'*') => {
                depth += 1;
                at += 2;
            }
            (b'*', b'/') => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use TokenKind::*;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next_token().kind).filter(|kind| *kind != End)).collect()
    }

    fn positions(text: &str) -> Vec<Position> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next_token()).filter(|token| token.kind != End))
            .map(|token| token.position)
            .collect()
    }

    #[test]
    fn numbers_take_all_their_forms() {
        assert_eq!(kinds("1 1.5 .5 5. 1e3 1.e-3 2E+4"), [Integer, Float, Float, Float, Float, Float, Float]);
        assert_eq!(kinds("0x1F 1_000 9abc 1e 5.x"), [BadNumber; 5]);
    }

    #[test]
    fn words_are_told_apart_by_their_first_letter() {
        assert_eq!(
            kinds("edge Edge _x _ żaba Łódź 名前 $p"),
            [Word, Variable, Variable, Placeholder, Word, Variable, Word, Parameter]
        );
    }

    #[test]
    fn comments_vanish_and_strings_are_opaque() {
        assert_eq!(kinds("% all of it\n  // this too\nX % 2 // and this"), [Variable, Percent, Integer]);
        assert_eq!(kinds("/* a /* b */ c */ X /**/ Y"), [Variable, Variable]);
        assert_eq!(
            kinds(
                r#""// no" "a \" b" "a
b""#
            ),
            [Text, EscapedText, Text]
        );
        assert_eq!(kinds("X /* never closed"), [Variable, UnclosedComment]);
    }

    #[test]
    fn an_unclosed_string_ends_with_its_line() {
        assert_eq!(kinds("(\"abc, 1)\nX"), [LeftParen, UnclosedText, Variable]);
        assert_eq!(kinds("\"abc\\"), [UnclosedText]);
    }

    #[test]
    fn an_arrow_is_not_followed_by_a_number() {
        assert_eq!(kinds("<- p"), [Arrow, Word]);
        assert_eq!(kinds("X <-5"), [Variable, Less, Minus, Integer]);
        assert_eq!(kinds("X <- 5"), [Variable, Arrow, Integer]);
    }

    #[test]
    fn a_token_knows_where_in_its_line_it_stands() {
        use Position::*;
        assert_eq!(
            positions("a b\nc\n  d\n\n\te\r\n/* x */ f /*\n*/ g"),
            [StartsLine, Inside, StartsLine, Indented, Indented, StartsLine, Inside]
        );
    }
}
