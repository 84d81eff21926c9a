//! Rules and queries: heads, bodies, literals, order marks, `limit`.

use super::ast::{
    Atom, Comparison, Limit, Literal, LiteralKind, Name, ProjectionItem, Query, QueryHead, Term, TermKind,
};
use super::error::{SyntaxError, SyntaxFault};
use super::parser::{Parsed, Parser};
use super::token::TokenKind;
use crate::data::Value;
use crate::diagnostic::Span;

const CONDITION: &str = "a condition such as `p(X)`, `!p(X)` or `X > 3`";

/// The conditions read so far.
#[derive(Default)]
struct Body {
    literals: Vec<Literal>,
    /// How many arguments they have together.
    arguments: usize,
}

impl Parser<'_> {
    /// `(term, ..)` of a fact or head: aggregates are possible. `capacity` is a guess at their number.
    pub(super) fn head_arguments(&mut self, capacity: usize) -> Parsed<Vec<Term>> {
        self.expect(TokenKind::LeftParen, "`(`")?;
        let mut terms = Vec::with_capacity(capacity);
        let mut columns = 0;
        while !self.at(TokenKind::RightParen) {
            self.check_columns(columns)?;
            let term = self.head_term()?;
            columns += term.columns();
            self.check_columns(columns.saturating_sub(1))?;
            terms.push(term);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParen, "`,` or `)`")?;
        Ok(terms)
    }

    /// The literals after `<-`. One trailing comma is accepted, also where the next statement follows at once.
    pub(super) fn body(&mut self) -> Parsed<Vec<Literal>> {
        let mut body = Body::default();
        loop {
            let literal = self.literal()?;
            self.check_body(&mut body, &literal)?;
            body.literals.push(literal);
            if !self.another_literal() {
                return Ok(body.literals);
            }
        }
    }

    /// Refuses bodies that are too large to plan: the work grows with the square of their size.
    fn check_body(&self, body: &mut Body, next: &Literal) -> Parsed<()> {
        let limits = self.limits;
        if body.literals.len() == limits.literals {
            let what = "the number of conditions in one body";
            let fault = SyntaxFault::Limit { what, name: "max_literals", limit: limits.literals };
            return Err(SyntaxError::new(fault, next.span));
        }
        body.arguments += match &next.kind {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => atom.terms.len(),
            LiteralKind::Comparison { .. } => 2,
        };
        if body.arguments > limits.body_arguments {
            let what = "the number of arguments in one body";
            let fault = SyntaxFault::Limit { what, name: "max_body_arguments", limit: limits.body_arguments };
            return Err(SyntaxError::new(fault, next.span));
        }
        Ok(())
    }

    /// Takes the comma before another literal; answers whether there is one.
    fn another_literal(&mut self) -> bool {
        self.eat(TokenKind::Comma) && !self.at(TokenKind::End) && !self.at_new_statement()
    }

    fn literal(&mut self) -> Parsed<Literal> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Bang => {
                self.bump();
                let relation = self.name("a relation after `!`")?;
                LiteralKind::Negative(self.atom(relation)?)
            }
            TokenKind::Word if self.token_text() == "not" && self.second() != TokenKind::LeftParen => {
                let fault = SyntaxFault::ForeignOperator { found: "not".into(), help: "write `!p(X)`" };
                return Err(SyntaxError::new(fault, start));
            }
            TokenKind::Word | TokenKind::Variable if self.second() == TokenKind::LeftParen => {
                let name = self.name(CONDITION)?;
                self.atom_or_comparison(name)?
            }
            TokenKind::End => return Err(self.unexpected(CONDITION)),
            _ => {
                let left = self.expression()?;
                self.comparison(left)?
            }
        };
        Ok(Literal { kind, span: self.since(start) })
    }

    /// `name(..)` is an atom, unless an operator follows: then it is a call.
    fn atom_or_comparison(&mut self, name: Name) -> Parsed<LiteralKind> {
        let (terms, height) = self.call_arguments()?;
        match self.kind() {
            TokenKind::End | TokenKind::Comma => {
                let span = self.since(name.span);
                Ok(LiteralKind::Positive(Atom { relation: name, terms, span }))
            }
            kind if comparison_operator(kind).is_some() || is_arithmetic(kind) => {
                let call = self.call_of(name, terms, height)?;
                let left = self.expression_after(call)?;
                self.comparison(left)
            }
            _ => Err(self.unexpected("`,` or the end of the statement")),
        }
    }

    fn comparison(&mut self, left: Term) -> Parsed<LiteralKind> {
        let Some(operator) = comparison_operator(self.kind()) else {
            return Err(self.unexpected("`=`, `!=`, `<`, `<=`, `>` or `>=`"));
        };
        self.bump();
        let right = self.expression()?;
        Ok(LiteralKind::Comparison { operator, left, right })
    }

    fn atom(&mut self, relation: Name) -> Parsed<Atom> {
        let (terms, _) = self.call_arguments()?;
        let span = self.since(relation.span);
        Ok(Atom { relation, terms, span })
    }

    /// A query, after its `?`.
    pub(super) fn query(&mut self) -> Parsed<Query> {
        let projects = self.arrow_follows();
        let head = if projects { self.projection()? } else { self.goal()? };
        let mut body = Body::default();
        let mut limit = None;
        let mut more = projects || self.another_literal();
        while more {
            let literal = self.literal()?;
            match limit_of(&literal)? {
                Some(last) => limit = Some(last),
                None => {
                    self.check_body(&mut body, &literal)?;
                    body.literals.push(literal);
                }
            }
            more = self.another_literal();
        }
        Ok(Query { head, body: body.literals, limit })
    }

    /// `relation(term, term:desc, ..)`
    fn goal(&mut self) -> Parsed<QueryHead> {
        if !self.at_name_and(TokenKind::LeftParen) {
            return Err(self.not_a_goal());
        }
        let relation = self.name("a relation")?;
        self.expect(TokenKind::LeftParen, "`(`")?;
        let mut terms = Vec::new();
        let mut order = Vec::new();
        while !self.at(TokenKind::RightParen) {
            self.check_columns(terms.len())?;
            terms.push(self.expression()?);
            order.push(self.order_mark()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParen, "`,` or `)`")?;
        let span = self.since(relation.span);
        Ok(QueryHead::Goal { atom: Atom { relation, terms, span }, order })
    }

    fn not_a_goal(&self) -> SyntaxError {
        let help = match self.kind() {
            TokenKind::Word | TokenKind::Variable => {
                format!("write `?{}(X, Y)`, with one argument for each column", self.token_text())
            }
            TokenKind::Bang => "put a positive goal first: `?all(X), !some(X)`".into(),
            _ => "write `?edge(X, Y)`, or `?X, Y <- edge(X, Y)`".into(),
        };
        let mut error = self.unexpected("a goal such as `edge(X, Y)` after `?`");
        if let SyntaxFault::Unexpected { help: hint, .. } = &mut error.fault {
            hint.get_or_insert(help);
        }
        error
    }

    /// `H1, H2:desc, ..` and the arrow.
    fn projection(&mut self) -> Parsed<QueryHead> {
        let mut items = Vec::new();
        let mut columns = 0;
        while !self.at(TokenKind::Arrow) || items.is_empty() {
            self.check_columns(columns)?;
            let item = ProjectionItem { term: self.head_term()?, order: self.order_mark()? };
            columns += item.term.columns();
            self.check_columns(columns.saturating_sub(1))?;
            items.push(item);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::Arrow, "`,` or `<-`")?;
        Ok(QueryHead::Projection(items))
    }
}

fn comparison_operator(kind: TokenKind) -> Option<Comparison> {
    match kind {
        TokenKind::Equal => Some(Comparison::Equal),
        TokenKind::NotEqual => Some(Comparison::NotEqual),
        TokenKind::Less => Some(Comparison::Less),
        TokenKind::LessOrEqual => Some(Comparison::LessOrEqual),
        TokenKind::Greater => Some(Comparison::Greater),
        TokenKind::GreaterOrEqual => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}

fn is_arithmetic(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Plus | TokenKind::Minus | TokenKind::Star | TokenKind::Slash | TokenKind::Percent
    )
}

/// Reads `limit(n)` or `limit(n, offset)`, if the literal is one.
fn limit_of(literal: &Literal) -> Parsed<Option<Limit>> {
    let LiteralKind::Positive(atom) = &literal.kind else { return Ok(None) };
    if atom.relation.text != "limit" {
        return Ok(None);
    }
    let (count, offset) = match atom.terms.as_slice() {
        [count] => (number_of_rows(count), Some(0)),
        [count, offset] => (number_of_rows(count), number_of_rows(offset)),
        _ => (None, None),
    };
    match (count, offset) {
        (Some(count), Some(offset)) => Ok(Some(Limit { count, offset, span: literal.span })),
        _ => Err(bad_limit(literal.span)),
    }
}

fn bad_limit(span: Span) -> SyntaxError {
    SyntaxError::new(SyntaxFault::BadLimit, span)
}

fn number_of_rows(term: &Term) -> Option<u64> {
    match &term.kind {
        TermKind::Constant(Value::Int(n)) => u64::try_from(*n).ok(),
        _ => None,
    }
}
