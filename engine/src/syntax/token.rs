//! `Token`: one word or sign of a program, with its place.

use crate::diagnostic::Span;

/// A word or sign. Its text is a slice of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) position: Position,
    pub(super) span: Span,
}

/// Where in its line a token stands: lines that start with a blank continue the line above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// First in a line, at its very start.
    StartsLine,
    /// First in a line, after blanks.
    Indented,
    /// After another token of the line.
    Inside,
}

/// What a token is. The last group is not part of the language: each has an error that says what is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// An identifier with a lower-case or caseless first letter.
    Word,
    /// An identifier with an upper-case letter or `_` first.
    Variable,
    Placeholder,
    /// `$name`
    Parameter,
    Integer,
    Float,
    /// A string without escapes.
    Text,
    /// A string with at least one backslash.
    EscapedText,
    LeftParen,
    RightParen,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Colon,
    Dot,
    Question,
    Bang,
    /// `<-`
    Arrow,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    /// The end of the program.
    End,

    /// `==`
    DoubleEqual,
    /// `:-` or `:=`
    ColonArrow,
    /// `<>`
    Diamond,
    Semicolon,
    /// `'` or a backtick
    WrongQuote,
    /// `&&` or `&`
    And,
    /// `||` or `|`
    Or,
    /// Digits that run into letters, such as `0x1F`.
    BadNumber,
    UnclosedText,
    UnclosedComment,
    /// Any other character.
    Stray,
}

impl TokenKind {
    /// Whether this opens a pair of brackets.
    pub(super) fn opens(self) -> bool {
        matches!(self, TokenKind::LeftParen | TokenKind::LeftBracket | TokenKind::LeftBrace)
    }

    /// Whether this closes a pair of brackets.
    pub(super) fn closes(self) -> bool {
        matches!(self, TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace)
    }
}
