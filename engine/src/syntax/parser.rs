//! `Parser`: where the parser stands, what may come next, and how it goes on after an error.
//!
//! A statement ends before a token that starts its line, unless brackets are open or the line above ended with `,` or
//! `<-`. That rule lives in [`Cursor::advance`]; the grammar in the `parse_*` files only ever sees [`TokenKind::End`].

use super::ast::{Name, StatementKind};
use super::error::{SyntaxError, SyntaxFault};
use super::foreign;
use super::lexer::{Lexer, end_of_identifier};
use super::token::{Position, Token, TokenKind};
use crate::diagnostic::Span;
use crate::limits::Limits;

/// The result of parsing something.
pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// A place between two tokens.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    lexer: Lexer<'a>,
    token: Token,
    /// The kind of `token`, or `End` where it belongs to the next statement.
    kind: TokenKind,
    /// The last token taken.
    previous: Token,
    /// Brackets that are open.
    open: Vec<Span>,
}

impl<'a> Cursor<'a> {
    fn new(mut lexer: Lexer<'a>) -> Cursor<'a> {
        let token = lexer.next_token();
        Cursor { lexer, token, kind: token.kind, previous: token, open: Vec::new() }
    }

    /// Steps over the current token.
    fn advance(&mut self) {
        if self.token.kind.opens() {
            self.open.push(self.token.span);
        } else if self.token.kind.closes() {
            self.open.pop();
        }
        self.previous = self.token;
        self.token = self.lexer.next_token();
        self.kind = if self.token.position == Position::StartsLine && !self.continues() {
            TokenKind::End
        } else {
            self.token.kind
        };
    }

    /// Whether the statement goes on in the next line, wherever that starts.
    fn continues(&self) -> bool {
        !self.open.is_empty() || matches!(self.previous.kind, TokenKind::Comma | TokenKind::Arrow)
    }
}

/// A recursive descent over the tokens of a program.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) limits: &'a Limits,
    cursor: Cursor<'a>,
    /// How deep the descent is.
    nesting: usize,
    /// The height of the term parsed last.
    pub(super) height: usize,
    /// The rules of the statement parsed last, but for that of its first head.
    pub(super) further_heads: Vec<StatementKind>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, limits: &'a Limits) -> Parser<'a> {
        Parser::starting_at(text, 0, limits)
    }

    /// A parser that begins at this byte.
    pub(super) fn starting_at(text: &'a str, at: usize, limits: &'a Limits) -> Parser<'a> {
        let cursor = Cursor::new(Lexer::starting_at(text, at));
        Parser { text, limits, cursor, nesting: 0, height: 0, further_heads: Vec::new() }
    }

    /// What comes next; `End` at the end of the statement.
    pub(super) fn kind(&self) -> TokenKind {
        self.cursor.kind
    }

    /// Whether this comes next.
    pub(super) fn at(&self, kind: TokenKind) -> bool {
        self.cursor.kind == kind
    }

    /// What comes after the next token.
    pub(super) fn second(&self) -> TokenKind {
        let Cursor { mut lexer, token, ref open, .. } = self.cursor;
        let second = lexer.next_token();
        let still_open =
            if token.kind.closes() { open.len() > 1 } else { token.kind.opens() || !open.is_empty() };
        let continues = still_open || matches!(token.kind, TokenKind::Comma | TokenKind::Arrow);
        if second.position == Position::StartsLine && !continues { TokenKind::End } else { second.kind }
    }

    /// Whether `(identifier :` comes next.
    pub(super) fn at_columns(&self) -> bool {
        let mut lexer = self.cursor.lexer;
        self.at(TokenKind::LeftParen)
            && matches!(lexer.next_token().kind, TokenKind::Word | TokenKind::Variable)
            && lexer.next_token().kind == TokenKind::Colon
    }

    /// Whether `, name(` comes next, or `, +name(` where that may stand.
    pub(super) fn at_further_head(&self, may_be_signed: bool) -> bool {
        let mut lexer = self.cursor.lexer;
        let mut next = lexer.next_token().kind;
        if may_be_signed && next == TokenKind::Plus {
            next = lexer.next_token().kind;
        }
        self.at(TokenKind::Comma)
            && matches!(next, TokenKind::Word | TokenKind::Variable)
            && lexer.next_token().kind == TokenKind::LeftParen
    }

    /// The place of the next token.
    pub(super) fn span(&self) -> Span {
        self.cursor.token.span
    }

    /// The text of the next token.
    pub(super) fn token_text(&self) -> &'a str {
        self.slice(self.span())
    }

    /// The text of a place.
    pub(super) fn slice(&self, span: Span) -> &'a str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    /// From here to the last token taken.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.cursor.previous.span)
    }

    /// Whether a word comes next, wherever it stands.
    pub(super) fn at_word(&self) -> bool {
        matches!(self.cursor.token.kind, TokenKind::Word | TokenKind::Variable)
    }

    /// Takes the next token, whatever it is.
    pub(super) fn bump(&mut self) -> Span {
        let span = self.cursor.token.span;
        self.cursor.advance();
        span
    }

    /// Takes the next token if it is this one.
    pub(super) fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.at(kind);
        if found {
            self.cursor.advance();
        }
        found
    }

    /// Takes this token or complains.
    pub(super) fn expect(&mut self, kind: TokenKind, expected: &str) -> Parsed<Span> {
        if self.at(kind) { Ok(self.bump()) } else { Err(self.unexpected(expected)) }
    }

    /// Takes an identifier that names something.
    pub(super) fn name(&mut self, expected: &str) -> Parsed<Name> {
        match self.kind() {
            TokenKind::Word | TokenKind::Variable => {
                if self.token_text().len() > self.limits.name_bytes {
                    return Err(self.limit("the bytes of a name", "max_name_bytes", self.limits.name_bytes));
                }
                let text = self.token_text().to_owned();
                Ok(Name { text, span: self.bump() })
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Whether an identifier and `second` come next.
    pub(super) fn at_name_and(&self, second: TokenKind) -> bool {
        matches!(self.kind(), TokenKind::Word | TokenKind::Variable) && self.second() == second
    }

    /// Goes down one level of nesting; [`Parser::leave`] comes up again.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.nesting += 1;
        self.check_height(self.nesting)
    }

    pub(super) fn leave(&mut self) {
        self.nesting -= 1;
    }

    /// Refuses terms and types that are too high.
    pub(super) fn check_height(&self, height: usize) -> Parsed<()> {
        let limit = self.limits.nesting.min(500);
        if height > limit {
            Err(self.limit("the nesting of an expression or type", "max_nesting", limit))
        } else {
            Ok(())
        }
    }

    /// A limit was reached at the next token.
    pub(super) fn limit(&self, what: &'static str, name: &'static str, limit: usize) -> SyntaxError {
        SyntaxError::new(SyntaxFault::Limit { what, name, limit }, self.span())
    }

    /// Whether the next token begins a statement for certain, although an open bracket or a comma stands before it.
    pub(super) fn at_new_statement(&self) -> bool {
        self.cursor.token.position == Position::StartsLine
            && starts_statement(&self.text[self.span().start as usize..])
    }

    /// Whether an arrow follows in this statement, outside of brackets.
    pub(super) fn arrow_follows(&self) -> bool {
        let mut ahead = Parser { cursor: self.cursor.clone(), further_heads: Vec::new(), ..*self };
        loop {
            match ahead.kind() {
                TokenKind::End => return false,
                TokenKind::Arrow if ahead.cursor.open.is_empty() => return true,
                _ if ahead.at_new_statement() => return false,
                _ => ahead.cursor.advance(),
            }
        }
    }

    /// Whether the parenthesis that comes next holds conditions and not the beginning of an expression: what follows it
    /// tells.
    pub(super) fn at_group(&self) -> bool {
        let mut ahead = Parser { cursor: self.cursor.clone(), further_heads: Vec::new(), ..*self };
        let depth = ahead.cursor.open.len();
        loop {
            match ahead.kind() {
                TokenKind::End => return false,
                _ if ahead.at_new_statement() => return false,
                _ => ahead.cursor.advance(),
            }
            if ahead.cursor.open.len() == depth {
                break;
            }
        }
        match ahead.kind() {
            TokenKind::End | TokenKind::Comma | TokenKind::RightParen => true,
            TokenKind::Word | TokenKind::Variable => ahead.token_text().eq_ignore_ascii_case("or"),
            _ => ahead.at_new_statement(),
        }
    }

    /// Whether nothing is left of the program.
    pub(super) fn at_end_of_program(&self) -> bool {
        self.cursor.token.kind == TokenKind::End
    }

    /// Makes the next token the first of a statement.
    pub(super) fn start_statement(&mut self) -> Span {
        self.cursor.open.clear();
        self.cursor.kind = self.cursor.token.kind;
        self.nesting = 0;
        self.span()
    }

    /// After an error: goes to where the next statement starts, at least one token past `start`.
    pub(super) fn recover(&mut self, start: Span) {
        if self.span() == start && !self.at_end_of_program() {
            self.cursor.advance();
        }
        while !self.at(TokenKind::End) && !self.at_new_statement() {
            self.cursor.advance();
        }
    }

    /// Goes on after text that was read without tokens up to `last`, at an end of line.
    pub(super) fn seek(&mut self, last: Span, end_of_line: usize) {
        self.cursor.lexer.seek(end_of_line);
        self.cursor.previous.span = last;
        self.cursor.token = self.cursor.lexer.next_token();
        self.cursor.kind = TokenKind::End;
    }

    /// The next token is not what was expected: says so, or what is really wrong.
    pub(super) fn unexpected(&self, expected: &str) -> SyntaxError {
        SyntaxError::new(self.fault(expected), self.span())
    }

    fn fault(&self, expected: &str) -> SyntaxFault {
        let token = self.cursor.token;
        let text = self.token_text();
        let word = foreign::word(text);
        let foreign = |help: &str| SyntaxFault::ForeignOperator { found: text.into(), help: help.into() };
        if let Some(opened) = self.cursor.open.last()
            && (token.kind == TokenKind::End || self.at_new_statement())
        {
            let bracket = self.slice(*opened).chars().next().unwrap_or('(');
            return SyntaxFault::UnclosedBracket { bracket, opened: *opened, found: self.found() };
        }
        if self.at(TokenKind::End) {
            return SyntaxFault::Unexpected { expected: expected.into(), found: self.found(), help: None };
        }
        match token.kind {
            TokenKind::UnclosedText => SyntaxFault::UnclosedText,
            TokenKind::UnclosedComment => SyntaxFault::UnclosedComment,
            TokenKind::BadNumber => SyntaxFault::BadNumber { text: shortened(text) },
            TokenKind::WrongQuote => SyntaxFault::WrongQuote { text: self.quoted() },
            TokenKind::DoubleEqual => foreign("write `=`"),
            TokenKind::RightParen | TokenKind::RightBracket | TokenKind::RightBrace
                if self.cursor.open.is_empty() =>
            {
                SyntaxFault::Unopened { bracket: text.into() }
            }
            TokenKind::ColonArrow => {
                foreign("write `<-` between head and body, `=` to give a variable a value")
            }
            TokenKind::Diamond => foreign("write `!=`"),
            TokenKind::Semicolon => foreign(
                "write `,` between conditions, `or` between alternatives; a statement ends with its line",
            ),
            TokenKind::And => foreign("write `,` between conditions that must all hold"),
            TokenKind::Or if self.slice(self.cursor.open.last().copied().unwrap_or_default()) == "[" => {
                foreign("the first of a list is `element(L, 0)`, the others are `slice(L, 1, len(L))`")
            }
            TokenKind::Or => foreign("write `or` between alternatives"),
            TokenKind::Dot if self.second() == TokenKind::End => SyntaxFault::TrailingPeriod,
            TokenKind::Word | TokenKind::Variable if word.is_some() => foreign(word.unwrap_or_default()),
            TokenKind::Greater if self.follows("=") => SyntaxFault::ForeignOperator {
                found: "=>".into(),
                help: "write `>=`; the conclusion of a rule stands in front: `p(X) <- q(X)`".into(),
            },
            TokenKind::Minus if self.second() == TokenKind::Greater => SyntaxFault::ForeignOperator {
                found: "->".into(),
                help: "the conclusion stands in front: `p(X) <- q(X)`".into(),
            },
            TokenKind::Less if self.follows("=") => {
                SyntaxFault::ForeignOperator { found: "=<".into(), help: "write `<=`".into() }
            }
            TokenKind::Minus if self.follows("-") => {
                SyntaxFault::ForeignOperator { found: "--".into(), help: OTHER_COMMENTS.into() }
            }
            _ => SyntaxFault::Unexpected {
                expected: expected.into(),
                found: self.found(),
                help: self.hint(token, text),
            },
        }
    }

    /// What is wrong where a comment was meant that begins at an error or right before it: `% x` or `-- x` behind a statement.
    pub(super) fn comment_meant(&self, error: Span) -> Option<SyntaxFault> {
        let (before, after) = self.text.split_at_checked(error.start as usize)?;
        let line = before.rsplit('\n').next().unwrap_or_default();
        let is_apart = |text: &str| text.is_empty() || text.ends_with([' ', '\t']);
        let begins = |sign: &str| {
            is_apart(line) && after.strip_prefix(sign).is_some_and(|rest| rest.starts_with([' ', '\t']))
        };
        let is_behind = |sign: &str| {
            let first = line.trim_end().strip_suffix(sign);
            first.is_some_and(is_apart) && is_apart(line) && after.starts_with(char::is_alphabetic)
        };
        let halves = line.strip_suffix('-').is_some_and(is_apart) && after.starts_with("- ");
        let unexpected = |expected: &str, found: &str| SyntaxFault::Unexpected {
            expected: expected.into(),
            found: format!("`{}`", shortened(found)),
            help: Some(LATE_COMMENTS.into()),
        };
        let word = || self.slice(error);
        match () {
            () if begins("%") => Some(unexpected("the end of the statement", "%")),
            () if is_behind("%") => Some(unexpected("what `%` divides by", word())),
            () if begins("--") || halves => {
                Some(SyntaxFault::ForeignOperator { found: "--".into(), help: OTHER_COMMENTS.into() })
            }
            () => None,
        }
    }

    /// What stands between the quotation marks of another language that come next.
    fn quoted(&self) -> String {
        let rest = &self.text[self.span().start as usize..];
        let mut characters = rest.chars();
        let quote = characters.next();
        let line = characters.as_str().split('\n').next().unwrap_or_default();
        match line.split_once(|c| Some(c) == quote) {
            Some((text, _)) if !text.contains('"') => shortened(text),
            _ => "text".into(),
        }
    }

    /// Whether the text right before the next token ends so.
    fn follows(&self, text: &str) -> bool {
        self.text.get(..self.span().start as usize).is_some_and(|before| before.ends_with(text))
    }

    /// Whether a name or a bracket stands right before the next token.
    fn follows_name(&self) -> bool {
        let before = self.text.get(..self.span().start as usize).unwrap_or_default();
        before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'))
    }

    /// Whether an operator between two terms may stand here.
    fn at_comparison(&self) -> bool {
        let before = self.text.get(..self.span().start as usize).unwrap_or_default().trim_end();
        before.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ')' | '=' | '"'))
    }

    /// A guess at what was meant.
    fn hint(&self, token: Token, text: &str) -> Option<String> {
        let indented = token.position == Position::Indented;
        match token.kind {
            TokenKind::Plus | TokenKind::Minus | TokenKind::Question | TokenKind::Dot | TokenKind::Word
                if indented =>
            {
                Some(
                    "a line that starts with a blank continues the line above; start statements without"
                        .into(),
                )
            }
            TokenKind::Word | TokenKind::Variable if text.eq_ignore_ascii_case("or") => Some(
                "after a goal, alternatives stand in parentheses: `?p(X), (q(X) or r(X))`; after `?X <-` they need none"
                    .into(),
            ),
            TokenKind::Text if self.follows("T") => {
                Some("write times as `t\"2024-01-05\"`, with a small `t`".into())
            }
            TokenKind::LeftBracket if self.follows_name() => {
                Some("elements of a list are `element(L, 0)`, a part of it is `slice(L, 1, 3)`".into())
            }
            TokenKind::LeftBrace => {
                Some("there are no maps: a relation with a column for the key is one".into())
            }
            TokenKind::Colon if self.second() == TokenKind::Colon => {
                Some("write `to_int(X)`, `to_float(X)` or `to_string(X)`".into())
            }
            TokenKind::Stray if text == "^" => Some("write `pow(X, 2)`".into()),
            TokenKind::Star if self.follows("*") => Some("write `pow(X, 2)`".into()),
            TokenKind::Stray if text == "~" && self.at_comparison() => {
                Some("write `regex_match(X, \"a.*\")` as a condition".into())
            }
            TokenKind::Arrow => Some("one `<-` separates the head of a rule from its body".into()),
            TokenKind::Stray if matches!(text, "~" | "\\" | "¬") => Some("write `!p(X)` to negate".into()),
            TokenKind::Stray if text == "#" => Some(OTHER_COMMENTS.into()),
            TokenKind::Dot if self.second() == TokenKind::Percent => {
                Some(format!("leave the period away; {LATE_COMMENTS}"))
            }
            _ => None,
        }
    }

    /// The next token in words.
    pub(super) fn found(&self) -> String {
        if self.at_end_of_program() {
            "the end of the program".into()
        } else if self.at(TokenKind::End) {
            "the end of the statement".into()
        } else {
            format!("`{}`", shortened(self.token_text()))
        }
    }
}

const OTHER_COMMENTS: &str = "comments start with `//` or `%`";
const LATE_COMMENTS: &str =
    "behind a statement comments start with `//`; one with `%` stands on a line of its own";

/// Whether the last statement of a text goes on in the next line, wherever that starts.
pub(super) fn goes_on(text: &str) -> bool {
    let mut cursor = Cursor::new(Lexer::new(text));
    loop {
        match cursor.token.kind {
            TokenKind::End => return cursor.continues(),
            TokenKind::UnclosedText | TokenKind::UnclosedComment => return true,
            _ => {}
        }
        if cursor.token.position == Position::StartsLine
            && starts_statement(&text[cursor.token.span.start as usize..])
        {
            cursor.open.clear();
        }
        cursor.advance();
    }
}

/// Whether a line can only be the start of a statement: `?`, `.`, `+name(`, `-name`.
pub(super) fn starts_statement(line: &str) -> bool {
    match line.as_bytes().first() {
        Some(b'?') => true,
        Some(b'.') => !line.as_bytes().get(1).is_some_and(u8::is_ascii_digit),
        Some(sign @ (b'+' | b'-')) => {
            let end = end_of_identifier(line, 1);
            let is_name = end > 1 && !line.as_bytes()[1].is_ascii_digit();
            let after = line[end..].trim_start_matches([' ', '\t', '\r']).as_bytes().first();
            is_name
                && (matches!(after, Some(b'(' | b'['))
                    || *sign == b'-' && matches!(after, None | Some(b'\n')))
        }
        _ => false,
    }
}

/// At most forty characters of a text, for messages.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
