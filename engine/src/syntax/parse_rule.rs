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

/// The conditions read so far, those inside of others among them.
#[derive(Default)]
struct Body {
    literals: usize,
    /// How many arguments they have together.
    arguments: usize,
    /// The last `limit(..)`, where there may be one.
    limit: Option<Limit>,
    takes_limit: bool,
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
        let body = self.alternatives(&mut Body::default())?;
        self.check_combinations(&body)?;
        Ok(body)
    }

    /// Refuses alternatives beside alternatives of which each combination is too much to plan.
    fn check_combinations(&self, body: &[Literal]) -> Parsed<()> {
        let limit = self.limits.literals.saturating_mul(10);
        let (combinations, literals) = combinations(body);
        let span = body.iter().map(|literal| literal.span).reduce(Span::to).unwrap_or_default();
        if combinations > 1 && literals > limit {
            let what = "the number of conditions in all combinations of alternatives";
            return Err(SyntaxError::new(SyntaxFault::Limit { what, name: "max_literals", limit }, span));
        }
        Ok(())
    }

    /// `p(..), .. or q(..), ..`: conjunctions. More than one are one literal.
    fn alternatives(&mut self, body: &mut Body) -> Parsed<Vec<Literal>> {
        let start = self.span();
        let first = self.conjunction(body)?;
        if !self.at_or() {
            return Ok(first);
        }
        let mut alternatives = vec![first];
        while self.at_or() {
            self.bump();
            alternatives.push(self.conjunction(body)?);
        }
        let one = Literal { kind: LiteralKind::Disjunction(alternatives), span: self.since(start) };
        Ok(vec![one])
    }

    fn conjunction(&mut self, body: &mut Body) -> Parsed<Vec<Literal>> {
        let mut literals = Vec::new();
        loop {
            self.literal(body, &mut literals)?;
            if !self.another_literal() {
                return Ok(literals);
            }
        }
    }

    /// Refuses bodies that are too large to plan: the work grows with the square of their size.
    fn check_body(&self, body: &mut Body, next: &LiteralKind, span: Span) -> Parsed<()> {
        let limits = self.limits;
        if body.literals == limits.literals {
            let what = "the number of conditions in one body";
            let fault = SyntaxFault::Limit { what, name: "max_literals", limit: limits.literals };
            return Err(SyntaxError::new(fault, span));
        }
        body.literals += 1;
        body.arguments += match next {
            LiteralKind::Positive(atom) | LiteralKind::Negative(atom) => atom.terms.len(),
            _ => 2,
        };
        if body.arguments > limits.body_arguments {
            let what = "the number of arguments in one body";
            let fault = SyntaxFault::Limit { what, name: "max_body_arguments", limit: limits.body_arguments };
            return Err(SyntaxError::new(fault, span));
        }
        Ok(())
    }

    /// Takes the comma before another literal; answers whether there is one.
    fn another_literal(&mut self) -> bool {
        self.eat(TokenKind::Comma)
            && !matches!(self.kind(), TokenKind::End | TokenKind::RightParen)
            && !self.at_new_statement()
    }

    /// Whether `or` comes next. Nothing else may stand there, so capitals do no harm.
    fn at_or(&self) -> bool {
        matches!(self.kind(), TokenKind::Word | TokenKind::Variable)
            && self.token_text().eq_ignore_ascii_case("or")
    }

    /// A literal, or several in parentheses.
    fn literal(&mut self, body: &mut Body, literals: &mut Vec<Literal>) -> Parsed<()> {
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Bang if self.second() == TokenKind::LeftParen => {
                self.bump();
                LiteralKind::NegatedConjunction(self.group(body)?)
            }
            TokenKind::Bang if self.second() == TokenKind::Bang => {
                let help = "write `p(X)`, or `!p(X)` to negate it: two negations are none".into();
                return Err(SyntaxError::new(
                    SyntaxFault::ForeignOperator { found: "!!".into(), help },
                    start,
                ));
            }
            TokenKind::Bang => {
                self.bump();
                let relation = self.name("a relation after `!`")?;
                LiteralKind::Negative(self.atom(relation)?)
            }
            TokenKind::LeftParen if self.at_group() => {
                literals.extend(self.group(body)?);
                return Ok(());
            }
            TokenKind::Word | TokenKind::Variable if self.at_foreign_not() => {
                let (found, help) = (self.token_text().into(), "write `!p(X)`".into());
                return Err(SyntaxError::new(SyntaxFault::ForeignOperator { found, help }, start));
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
        let span = self.since(start);
        match limit_of(&kind, span)? {
            Some(last) if body.takes_limit => body.limit = Some(last),
            _ => {
                if !matches!(kind, LiteralKind::NegatedConjunction(_)) {
                    self.check_body(body, &kind, span)?;
                }
                literals.push(Literal { kind, span });
            }
        }
        Ok(())
    }

    /// Whether `not` comes next, as others negate: a relation may be called so, and `NOT` be a variable.
    fn at_foreign_not(&self) -> bool {
        let text = self.token_text();
        let rest = self.text.get(self.span().end as usize..).unwrap_or_default();
        match self.second() {
            TokenKind::LeftParen => {
                // `not(p(X))`: nothing else has an atom inside.
                let inside = rest.trim_start().trim_start_matches('(').trim_start();
                let behind = inside.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                text.eq_ignore_ascii_case("not") && behind.len() < inside.len() && behind.starts_with('(')
            }
            TokenKind::Word | TokenKind::Variable => text.eq_ignore_ascii_case("not"),
            _ => text == "not",
        }
    }

    /// `(literals)`, in which nothing but conditions may stand.
    fn group(&mut self, body: &mut Body) -> Parsed<Vec<Literal>> {
        let takes_limit = std::mem::take(&mut body.takes_limit);
        self.enter()?;
        self.bump();
        let literals = self.alternatives(body)?;
        self.expect(TokenKind::RightParen, "`,`, `or` or `)`")?;
        self.leave();
        body.takes_limit = takes_limit;
        Ok(literals)
    }

    /// `name(..)` is an atom, unless an operator follows: then it is a call.
    fn atom_or_comparison(&mut self, name: Name) -> Parsed<LiteralKind> {
        let (terms, height) = self.call_arguments()?;
        match self.kind() {
            // A query may follow where the rule is supposed.
            TokenKind::End | TokenKind::Comma | TokenKind::RightParen | TokenKind::Question => {
                let span = self.since(name.span);
                Ok(LiteralKind::Positive(Atom { relation: name, terms, span }))
            }
            _ if self.at_or() => {
                let span = self.since(name.span);
                Ok(LiteralKind::Positive(Atom { relation: name, terms, span }))
            }
            kind if comparison_operator(kind).is_some() || is_arithmetic(kind) || self.at_in() => {
                let call = self.call_of(name, terms, height)?;
                let left = self.expression_after(call)?;
                self.comparison(left)
            }
            _ => Err(self.unexpected("`,`, `or` or the end of the statement")),
        }
    }

    fn comparison(&mut self, left: Term) -> Parsed<LiteralKind> {
        if self.at_in() {
            return self.membership(left);
        }
        let rest = self.text.get(self.span().end as usize..).unwrap_or_default();
        if self.at_word()
            && self.token_text().eq_ignore_ascii_case("not")
            && rest.trim_start().starts_with("in")
        {
            let (found, help) = ("not in".into(), "write `!(X in [..])`".into());
            return Err(SyntaxError::new(SyntaxFault::ForeignOperator { found, help }, self.span()));
        }
        let Some(operator) = comparison_operator(self.kind()) else {
            return Err(self.unexpected("`=`, `!=`, `<`, `<=`, `>`, `>=` or `in`"));
        };
        self.bump();
        let right = self.expression()?;
        Ok(LiteralKind::Comparison { operator, left, right })
    }

    /// Whether `in` comes next.
    fn at_in(&self) -> bool {
        self.at(TokenKind::Word) && self.token_text() == "in"
    }

    /// `X in L`, the same as `X = each(L)`.
    fn membership(&mut self, left: Term) -> Parsed<LiteralKind> {
        let function = Name { text: "each".to_owned(), span: self.span() };
        self.bump();
        // Of numbers, too: nobody means a vector here.
        let list = match self.kind() {
            TokenKind::LeftBracket => self.list_in_brackets()?,
            _ => self.expression()?,
        };
        let height = self.height;
        let right = self.call_of(function, vec![list], height)?;
        Ok(LiteralKind::Comparison { operator: Comparison::Equal, left, right })
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
        let mut body = Body { takes_limit: true, ..Body::default() };
        let literals = match projects {
            true => self.alternatives(&mut body)?,
            false if self.another_literal() => self.conjunction(&mut body)?,
            false => Vec::new(),
        };
        self.check_combinations(&literals)?;
        Ok(Query { head, body: literals, limit: body.limit })
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
            TokenKind::Minus => {
                let asked = self.text.get(self.span().end as usize..).unwrap_or_default();
                let asked = asked.lines().next().unwrap_or_default().trim().trim_end_matches('.');
                let is_short = !asked.is_empty() && asked.len() <= 100;
                format!("leave the `-` away: `?{}`", if is_short { asked } else { "edge(X, Y)" })
            }
            TokenKind::Integer | TokenKind::Float => "give what is computed a name: `?X <- X = 1 + 2`".into(),
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

/// How many conjunctions without alternatives a body stands for, and how many literals they have together.
fn combinations(body: &[Literal]) -> (usize, usize) {
    let of = |literal: &Literal| match &literal.kind {
        LiteralKind::Disjunction(alternatives) => alternatives
            .iter()
            .map(|body| combinations(body))
            .fold((0_usize, 0_usize), |(a, b), (c, d)| (a.saturating_add(c), b.saturating_add(d))),
        LiteralKind::NegatedConjunction(body) => combinations(body),
        _ => (1, 1),
    };
    body.iter().map(of).fold((1, 0), |(a, b): (usize, usize), (c, d): (usize, usize)| {
        (a.saturating_mul(c), b.saturating_mul(c).saturating_add(d.saturating_mul(a)))
    })
}

/// Reads `limit(n)` or `limit(n, offset)`, if the literal is one.
fn limit_of(kind: &LiteralKind, span: Span) -> Parsed<Option<Limit>> {
    let LiteralKind::Positive(atom) = kind else { return Ok(None) };
    if atom.relation.text != "limit" {
        return Ok(None);
    }
    let (count, offset) = match atom.terms.as_slice() {
        [count] => (number_of_rows(count), Some(0)),
        [count, offset] => (number_of_rows(count), number_of_rows(offset)),
        _ => (None, None),
    };
    match (count, offset) {
        (Some(count), Some(offset)) => Ok(Some(Limit { count, offset, span })),
        _ => Err(bad_limit(span)),
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
