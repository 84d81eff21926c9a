//! What an editor asks of a program that is being written: its tokens, and whether a statement goes on.

use super::lexer::{Lexer, end_of_comment};
use super::parser;
use super::token::TokenKind;
use crate::diagnostic::Span;

/// What a piece of a program is, for those who show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenClass {
    /// The name of a relation, function or column, or a word.
    Name,
    /// A variable, or `_`.
    Variable,
    /// `$name`.
    Parameter,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A sign.
    Sign,
    /// A comment.
    Comment,
    /// What is no part of the language.
    Wrong,
}

/// The tokens and comments of a text, in order.
pub fn tokens(text: &str) -> Vec<(Span, TokenClass)> {
    let mut lexer = Lexer::new(text);
    let mut found = Vec::new();
    let mut end = 0;
    loop {
        let token = lexer.next_token();
        let start = token.span.start as usize;
        found.extend(comments(text, end, start).map(|span| (span, TokenClass::Comment)));
        if token.kind == TokenKind::End {
            return found;
        }
        end = match token.kind {
            TokenKind::UnclosedComment => text.len(),
            TokenKind::UnclosedText => start + text[start..].find('\n').unwrap_or(text.len() - start),
            _ => token.span.end as usize,
        };
        found.push((Span::new(start, end), class(token.kind)));
    }
}

/// The comments between two tokens: what the lexer skips is blank, or a comment.
fn comments(text: &str, mut at: usize, end: usize) -> impl Iterator<Item = Span> {
    std::iter::from_fn(move || {
        let skipped = text.get(at..end)?;
        let is_blank = |c: char| c.is_whitespace() || c == '\u{feff}';
        let start = end - skipped.trim_start_matches(is_blank).len();
        let rest = &text[start..end];
        at = match rest.starts_with("/*") {
            true => end_of_comment(text, start).unwrap_or(end),
            false => start + rest.find('\n').unwrap_or(rest.len()),
        };
        (start < end).then(|| Span::new(start, start + text[start..at].trim_end().len()))
    })
}

/// Whether the last statement of a text goes on in the next line, wherever that starts: brackets, a string or a comment are
/// open, or the last line ends with `,` or `<-`.
pub fn goes_on(text: &str) -> bool {
    parser::goes_on(text)
}

fn class(kind: TokenKind) -> TokenClass {
    match kind {
        TokenKind::Word => TokenClass::Name,
        TokenKind::Variable | TokenKind::Placeholder => TokenClass::Variable,
        TokenKind::Parameter => TokenClass::Parameter,
        TokenKind::Integer | TokenKind::Float => TokenClass::Number,
        TokenKind::Text | TokenKind::EscapedText | TokenKind::UnclosedText => TokenClass::Text,
        TokenKind::UnclosedComment => TokenClass::Comment,
        TokenKind::LeftParen
        | TokenKind::RightParen
        | TokenKind::LeftBracket
        | TokenKind::RightBracket
        | TokenKind::LeftBrace
        | TokenKind::RightBrace
        | TokenKind::Comma
        | TokenKind::Colon
        | TokenKind::Dot
        | TokenKind::Question
        | TokenKind::Bang
        | TokenKind::Arrow
        | TokenKind::Equal
        | TokenKind::NotEqual
        | TokenKind::Less
        | TokenKind::LessOrEqual
        | TokenKind::Greater
        | TokenKind::GreaterOrEqual
        | TokenKind::Plus
        | TokenKind::Minus
        | TokenKind::Star
        | TokenKind::Slash
        | TokenKind::Percent
        | TokenKind::End => TokenClass::Sign,
        TokenKind::DoubleEqual
        | TokenKind::ColonArrow
        | TokenKind::Diamond
        | TokenKind::Semicolon
        | TokenKind::WrongQuote
        | TokenKind::And
        | TokenKind::Or
        | TokenKind::BadNumber
        | TokenKind::Stray => TokenClass::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_its_class() {
        let text = "?edge(X, $p, 1.5, \"a\") // so\n== /* open";
        let found: Vec<(&str, TokenClass)> = tokens(text)
            .into_iter()
            .map(|(span, class)| (&text[span.start as usize..span.end as usize], class))
            .filter(|(_, class)| *class != TokenClass::Sign)
            .collect();
        assert_eq!(
            found,
            [
                ("edge", TokenClass::Name),
                ("X", TokenClass::Variable),
                ("$p", TokenClass::Parameter),
                ("1.5", TokenClass::Number),
                ("\"a\"", TokenClass::Text),
                ("// so", TokenClass::Comment),
                ("==", TokenClass::Wrong),
                ("/* open", TokenClass::Comment),
            ]
        );
    }

    #[test]
    fn any_text_has_tokens_in_order() {
        for text in ["", "é \"x\n", "\"a\\", "%\n%é", "/* /* */", "a\u{feff}b", "名前(X)\n// 日本"] {
            let mut end = 0;
            for (span, _) in tokens(text) {
                assert!(span.start as usize >= end && span.end > span.start, "{text:?}");
                end = span.end as usize;
                assert!(text.get(span.start as usize..end).is_some(), "{text:?}");
            }
        }
    }

    #[test]
    fn a_finished_statement_does_not_go_on() {
        for program in [
            "",
            "?edge(X, Y)",
            "+edge[(1, 2),\n (2, 3)]",
            "reach(X, Y) <-\n  edge(X, Y)",
            "+note(\"a ( b\")",
            "+note(\"say \\\"hi\\\"\")",
            "?edge(X, Y) // and so on,",
            "/* ( */ ?edge(X, Y)",
            "% a comment (",
            "?edge(X, Y))",
            "+a(1\n?edge(X, Y)",
            "r(X) <- a(X), X < Y",
        ] {
            assert!(!goes_on(program), "{program}");
        }
    }

    #[test]
    fn an_open_statement_goes_on() {
        for program in [
            "+edge[(1, 2)",
            "?edge(X,",
            "reach(X, Y) <-",
            "reach(X, Y) <- edge(X, Z),",
            "reach(X, Y) <- edge(X, Z), // then",
            "+note(\"one\ntwo",
            "+note(\"ends with \\\"",
            "/* /* */ ",
            "r(X) <- a(X), X <-",
        ] {
            assert!(goes_on(program), "{program}");
        }
    }
}
