//! Suppositions: changes without a line of their own each, and the query after them.

use super::ast::{Query, Scope, Statement, StatementKind};
use super::error::SyntaxError;
use super::parser::{Parsed, Parser};
use super::token::TokenKind;
use crate::diagnostic::Span;
use crate::limits::Limits;

/// Reads changes, one after the other, and the query after them if there is one, that stand in this part of a program. A line
/// that begins with `+`, `-` or `?` begins one of them.
pub(crate) fn parse_supposed(
    program: &str,
    part: Span,
    limits: &Limits,
) -> Result<(Vec<Statement>, Option<Query>), SyntaxError> {
    let begins = begins(program, part);
    let mut changes = Vec::new();
    for (place, begin) in begins.iter().enumerate() {
        let end = begins.get(place + 1).copied().unwrap_or(part.end as usize);
        let text = program.get(..end).unwrap_or(program);
        let mut parser = Parser::starting_at(text, *begin, limits);
        while !parser.at_end_of_program() {
            if changes.len() >= limits.statements {
                return Err(parser.limit("the number of changes", "max_statements", limits.statements));
            }
            let start = if parser.at(TokenKind::End) { parser.start_statement() } else { parser.span() };
            if parser.eat(TokenKind::Question) {
                let query = parser.query()?;
                if parser.at_end_of_program() && place + 1 == begins.len() {
                    return Ok((changes, Some(query)));
                }
                return Err(parser.unexpected("the end of the query, after which nothing follows"));
            }
            let kind = parser.change()?;
            let span = parser.since(start);
            let further = std::mem::take(&mut parser.further_heads);
            changes.extend(std::iter::once(kind).chain(further).map(|kind| Statement { kind, span }));
        }
    }
    Ok((changes, None))
}

/// Where a part of a program begins, and the lines of it that begin a change or the query.
fn begins(program: &str, part: Span) -> Vec<usize> {
    let text = program.get(part.start as usize..part.end as usize).unwrap_or_default();
    let mut begins = vec![part.start as usize];
    let mut at = part.start as usize;
    for line in text.split_inclusive('\n') {
        if at > part.start as usize && line.trim_start().starts_with(['+', '-', '?']) {
            begins.push(at);
        }
        at += line.len();
    }
    begins
}

impl Parser<'_> {
    fn change(&mut self) -> Parsed<StatementKind> {
        match self.kind() {
            TokenKind::Plus => {
                self.bump();
                self.insertion(Scope::Persistent)
            }
            TokenKind::Minus => {
                self.bump();
                self.deletion()
            }
            TokenKind::Word | TokenKind::Variable => self.insertion(Scope::Session),
            _ => Err(self.unexpected("a change such as `+edge(1, 2)`, or a query after the changes")),
        }
    }
}
