//! Terms: constants, variables, arithmetic by precedence, calls, aggregates.

use std::sync::Arc;

use super::ast::{AggregateArgument, Arithmetic, Direction, Name, Term, TermKind};
use super::error::{SyntaxError, SyntaxFault};
use super::foreign;
use super::parser::{Parsed, Parser, shortened};
use super::ranking;
use super::token::TokenKind;
use crate::aggregates::{Ranking, is_aggregate};
use crate::data::{MAX_LIST_DEPTH, Value, time};
use crate::diagnostic::Span;

const TERM: &str = "a variable or a constant";

impl Parser<'_> {
    /// A column of a head or fact: an expression, or one aggregate and nothing else.
    pub(super) fn head_term(&mut self) -> Parsed<Term> {
        let names_one = match self.kind() {
            TokenKind::Word => true,
            // Aggregates are known in any case.
            TokenKind::Variable => is_aggregate(self.token_text()),
            _ => false,
        };
        if names_one && self.second() == TokenKind::Less {
            return self.aggregate();
        }
        self.expression()
    }

    /// `+` and `-`, weakest.
    pub(super) fn expression(&mut self) -> Parsed<Term> {
        let first = self.product()?;
        self.rest_of_expression(first)
    }

    /// What follows a first product.
    fn rest_of_expression(&mut self, mut left: Term) -> Parsed<Term> {
        loop {
            let operator = match self.kind() {
                // Behind a bracket that was left open, `+p(` is rather the next statement.
                TokenKind::Plus | TokenKind::Minus if self.at_new_statement() => return Ok(left),
                TokenKind::Plus => Arithmetic::Add,
                TokenKind::Minus => Arithmetic::Subtract,
                _ => return Ok(left),
            };
            let left_height = self.height;
            self.bump();
            let right = self.product()?;
            left = self.combine(operator, left, left_height, right)?;
        }
    }

    /// `*`, `/` and `%`.
    fn product(&mut self) -> Parsed<Term> {
        let first = self.primary()?;
        self.rest_of_product(first)
    }

    fn rest_of_product(&mut self, mut left: Term) -> Parsed<Term> {
        loop {
            let operator = match self.kind() {
                TokenKind::Star => Arithmetic::Multiply,
                TokenKind::Slash => Arithmetic::Divide,
                TokenKind::Percent => Arithmetic::Remainder,
                _ => return Ok(left),
            };
            let left_height = self.height;
            self.bump();
            let right = self.primary()?;
            left = self.combine(operator, left, left_height, right)?;
        }
    }

    /// An expression whose first primary has been read.
    pub(super) fn expression_after(&mut self, first: Term) -> Parsed<Term> {
        let product = self.rest_of_product(first)?;
        self.rest_of_expression(product)
    }

    /// Long chains make high terms too, so the height is counted, not only the depth of parentheses.
    fn combine(&mut self, operator: Arithmetic, left: Term, left_height: usize, right: Term) -> Parsed<Term> {
        self.height = self.height.max(left_height) + 1;
        self.check_height(self.height)?;
        let span = left.span.to(right.span);
        let kind = TermKind::Arithmetic { operator, left: Box::new(left), right: Box::new(right) };
        Ok(Term { kind, span })
    }

    fn primary(&mut self) -> Parsed<Term> {
        self.height = 1;
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Integer | TokenKind::Float => TermKind::Constant(self.number(start)?),
            TokenKind::Text | TokenKind::EscapedText => TermKind::Constant(Value::Text(self.text_value()?)),
            TokenKind::Variable if self.second() != TokenKind::LeftParen => {
                let name = self.token_text().to_owned();
                self.bump();
                TermKind::Variable(name)
            }
            TokenKind::Word | TokenKind::Variable => return self.word_or_call(),
            TokenKind::Placeholder => {
                self.bump();
                TermKind::Placeholder
            }
            TokenKind::Parameter => {
                let name = self.token_text()[1..].to_owned();
                self.bump();
                TermKind::Parameter(name)
            }
            TokenKind::Plus | TokenKind::Minus => TermKind::Constant(self.signed_number()?),
            TokenKind::LeftBracket => match self.second() {
                TokenKind::Integer
                | TokenKind::Float
                | TokenKind::Plus
                | TokenKind::Minus
                | TokenKind::RightBracket => TermKind::Constant(self.vector()?),
                _ => return self.list_in_brackets(),
            },
            TokenKind::LeftParen => {
                self.enter()?;
                self.bump();
                let mut inner = self.expression()?;
                self.expect(TokenKind::RightParen, "`)`")?;
                self.leave();
                inner.span = self.since(start);
                return Ok(inner);
            }
            _ => return Err(self.unexpected(TERM)),
        };
        Ok(Term { kind, span: self.since(start) })
    }

    fn word_or_call(&mut self) -> Parsed<Term> {
        let span = self.span();
        let word = self.token_text();
        let kind = match word {
            "true" => TermKind::Constant(Value::Bool(true)),
            "false" => TermKind::Constant(Value::Bool(false)),
            "null" => TermKind::Constant(Value::Null),
            "t" if self.text.as_bytes().get(span.end as usize) == Some(&b'"') => return self.time(span),
            _ => match self.second() {
                TokenKind::LeftParen => return self.call(),
                TokenKind::Less if is_aggregate(word) => {
                    let fault = SyntaxFault::MisplacedAggregate { name: word.into() };
                    return Err(SyntaxError::new(fault, span));
                }
                _ => return Err(self.unquoted_word()),
            },
        };
        self.bump();
        Ok(Term { kind, span })
    }

    /// `t"2024-01-05"`, at its `t`.
    fn time(&mut self, start: Span) -> Parsed<Term> {
        self.bump();
        if !matches!(self.kind(), TokenKind::Text | TokenKind::EscapedText) {
            return Err(self.unexpected(TERM));
        }
        let text = self.text_value()?;
        let span = self.since(start);
        match time::read_literal(&text) {
            Ok(time) => Ok(Term { kind: TermKind::Constant(Value::Timestamp(time)), span }),
            Err(problem) => {
                Err(SyntaxError::new(SyntaxFault::BadTime { text: shortened(&text), problem }, span))
            }
        }
    }

    /// A lower-case word where a term should stand.
    fn unquoted_word(&self) -> SyntaxError {
        let word = self.token_text();
        let followed = !matches!(self.second(), TokenKind::Comma | TokenKind::RightParen | TokenKind::End);
        if word == "t" && self.second() == TokenKind::WrongQuote {
            let help = "write times as `t\"2024-01-05\"`, in double quotes".into();
            return SyntaxError::new(SyntaxFault::ForeignOperator { found: "t'".into(), help }, self.span());
        }
        let fault = match foreign::word(word).filter(|_| followed) {
            Some(help) => SyntaxFault::ForeignOperator { found: word.into(), help: help.into() },
            None => SyntaxFault::UnquotedWord { word: shortened(word) },
        };
        SyntaxError::new(fault, self.span())
    }

    fn call(&mut self) -> Parsed<Term> {
        let function = self.name("a function")?;
        self.enter()?;
        let (arguments, height) = self.call_arguments()?;
        self.leave();
        self.call_of(function, arguments, height)
    }

    /// A call whose name and arguments have been read.
    pub(super) fn call_of(&mut self, function: Name, arguments: Vec<Term>, height: usize) -> Parsed<Term> {
        self.height = height + 1;
        self.check_height(self.height)?;
        let span = self.since(function.span);
        // What is written out is a constant: it can be inserted, and looked up.
        if function.text.eq_ignore_ascii_case("list")
            && let Some(elements) = constants(&arguments)
        {
            let list = Value::List(elements);
            if list.as_ref().depth() > MAX_LIST_DEPTH {
                return Err(self.limit("the lists that stand in each other", "list_depth", MAX_LIST_DEPTH));
            }
            return Ok(Term { kind: TermKind::Constant(list), span });
        }
        Ok(Term { kind: TermKind::Call { function, arguments }, span })
    }

    /// `(term, ..)` without aggregates, and the height of the highest.
    pub(super) fn call_arguments(&mut self) -> Parsed<(Vec<Term>, usize)> {
        self.expect(TokenKind::LeftParen, "`(`")?;
        let mut arguments = Vec::new();
        let mut height = 0;
        while !self.at(TokenKind::RightParen) {
            self.check_columns(arguments.len())?;
            arguments.push(self.expression()?);
            height = height.max(self.height);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParen, "`,` or `)`")?;
        Ok((arguments, height))
    }

    /// Refuses one argument more than are allowed.
    pub(super) fn check_columns(&self, so_far: usize) -> Parsed<()> {
        if so_far < self.limits.columns {
            return Ok(());
        }
        Err(self.limit("the number of arguments", "max_columns", self.limits.columns))
    }

    fn aggregate(&mut self) -> Parsed<Term> {
        let function = self.name("an aggregate")?;
        self.expect(TokenKind::Less, "`<`")?;
        let mut arguments = Vec::new();
        loop {
            self.check_columns(arguments.len())?;
            let term = self.expression()?;
            arguments.push(AggregateArgument { term, order: self.order_mark()? });
            if !self.eat(TokenKind::Comma) || self.at(TokenKind::Greater) {
                break;
            }
        }
        self.expect(TokenKind::Greater, "`,` or `>`")?;
        if matches!(
            self.kind(),
            TokenKind::Plus | TokenKind::Minus | TokenKind::Star | TokenKind::Slash | TokenKind::Percent
        ) {
            let fault = SyntaxFault::MisplacedAggregate { name: function.text };
            return Err(SyntaxError::new(fault, function.span));
        }
        self.height = 2;
        let span = self.since(function.span);
        if let Some(ranking) = Ranking::named(&function.text) {
            // Refuses what can never be right: parameters have no value yet.
            ranking::read(ranking, &arguments, span)
                .map_err(|(fault, at)| SyntaxError::new(SyntaxFault::Ranking { ranking, fault }, at))?;
        }
        Ok(Term { kind: TermKind::Aggregate { function, arguments }, span })
    }

    /// `:asc` or `:desc`, if there is one.
    pub(super) fn order_mark(&mut self) -> Parsed<Option<Direction>> {
        if !self.eat(TokenKind::Colon) {
            return Ok(None);
        }
        let direction = match self.token_text() {
            "asc" => Direction::Ascending,
            "desc" => Direction::Descending,
            _ => return Err(self.unexpected("`asc` or `desc`")),
        };
        self.bump();
        Ok(Some(direction))
    }

    fn signed_number(&mut self) -> Parsed<Value> {
        let start = self.span();
        let sign = if self.at(TokenKind::Plus) { '+' } else { '-' };
        if !matches!(self.second(), TokenKind::Integer | TokenKind::Float) {
            let fault = match self.second() {
                TokenKind::BadNumber | TokenKind::End => {
                    self.bump();
                    return Err(self.unexpected("a number"));
                }
                // A statement that begins inside of brackets: these were meant to be closed.
                _ if self.at_new_statement() => return Err(self.unexpected("a number")),
                _ => SyntaxFault::SignBeforeTerm { sign },
            };
            return Err(SyntaxError::new(fault, start));
        }
        self.bump();
        self.number(start)
    }

    /// The number that comes next, with the sign that stands at `start` if that is before it.
    fn number(&mut self, start: Span) -> Parsed<Value> {
        let negative = self.text.as_bytes().get(start.start as usize) == Some(&b'-');
        let text = self.token_text();
        let value = match self.kind() {
            TokenKind::Integer => integer(text, negative),
            _ => None,
        };
        let value = match value {
            Some(integer) => Value::Int(integer),
            None => Value::Float(self.float(text, negative)?),
        };
        self.bump();
        Ok(value)
    }

    fn float(&self, text: &str, negative: bool) -> Parsed<f64> {
        let number: f64 = text.parse().map_err(|_| self.unexpected("a number"))?;
        if !number.is_finite() {
            return Err(self.too_large(text, "64-bit"));
        }
        Ok(if negative { -number } else { number })
    }

    fn too_large(&self, text: &str, kind: &'static str) -> SyntaxError {
        SyntaxError::new(SyntaxFault::NumberTooLarge { text: shortened(text), kind }, self.span())
    }

    /// `["a", X]`, the same as `list("a", X)`.
    pub(super) fn list_in_brackets(&mut self) -> Parsed<Term> {
        let start = self.span();
        self.enter()?;
        self.bump();
        let mut elements = Vec::new();
        let mut height = 0;
        while !self.at(TokenKind::RightBracket) {
            self.check_columns(elements.len())?;
            elements.push(self.expression()?);
            height = height.max(self.height);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBracket, "`,` or `]`")?;
        self.leave();
        let function = Name { text: "list".to_owned(), span: start };
        self.call_of(function, elements, height)
    }

    fn vector(&mut self) -> Parsed<Value> {
        self.bump();
        let mut elements = Vec::new();
        while !self.at(TokenKind::RightBracket) {
            let negative = self.at(TokenKind::Minus);
            if negative || self.at(TokenKind::Plus) {
                self.bump();
            }
            if !matches!(self.kind(), TokenKind::Integer | TokenKind::Float) {
                return Err(self.unexpected("a number, since a vector holds only numbers; lists of other values are written `list(1, X)`"));
            }
            let text = self.token_text();
            let element = self.float(text, negative)? as f32;
            if !element.is_finite() {
                return Err(self.too_large(text, "32-bit"));
            }
            elements.push(element);
            self.bump();
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBracket, "`,` or `]`")?;
        Ok(Value::Vector(elements.into()))
    }

    /// The string that comes next, with its escapes resolved.
    pub(super) fn text_value(&mut self) -> Parsed<Arc<str>> {
        let quoted = self.token_text();
        let inner = &quoted[1..quoted.len() - 1];
        let text: Arc<str> =
            if self.at(TokenKind::EscapedText) { unescape(inner).into() } else { inner.into() };
        if text.len() > self.limits.string_bytes {
            return Err(self.limit("the bytes of a string", "max_string_bytes", self.limits.string_bytes));
        }
        self.bump();
        Ok(text)
    }
}

/// The values of terms, if all are constants.
fn constants(terms: &[Term]) -> Option<Arc<[Value]>> {
    let constant = |term: &Term| match &term.kind {
        TermKind::Constant(value) => Some(value.clone()),
        _ => None,
    };
    terms.iter().map(constant).collect()
}

/// Digits as an integer, if it fits: the smallest integer has no positive partner.
fn integer(digits: &str, negative: bool) -> Option<i64> {
    let mut value = 0_i64;
    for byte in digits.bytes() {
        let digit = i64::from(byte.wrapping_sub(b'0'));
        value = value.checked_mul(10)?.checked_sub(digit)?;
    }
    if negative { Some(value) } else { value.checked_neg() }
}

/// Resolves `\n \t \r \" \\ \uXXXX`; what looks like another escape stays as it is.
fn unescape(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        rest = &rest[at..];
        let (replacement, length) = match rest.as_bytes().get(1) {
            Some(b'n') => ('\n', 2),
            Some(b't') => ('\t', 2),
            Some(b'r') => ('\r', 2),
            Some(b'"') => ('"', 2),
            Some(b'\\') => ('\\', 2),
            Some(b'u') => unicode_escape(rest).unwrap_or(('\\', 1)),
            _ => ('\\', 1),
        };
        result.push(replacement);
        rest = &rest[length..];
    }
    result.push_str(rest);
    result
}

/// The character of `\uXXXX`, or of two of them that are one character in UTF-16, and their length.
fn unicode_escape(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| {
        let digits = text.strip_prefix("\\u")?.get(..4)?;
        let all_hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
        if all_hex { u16::from_str_radix(digits, 16).ok() } else { None }
    };
    let first = unit(text)?;
    if let Some(c) = char::from_u32(u32::from(first)) {
        return Some((c, 6));
    }
    let second = unit(text.get(6..)?)?;
    let c = char::decode_utf16([first, second]).next()?.ok()?;
    Some((c, 12))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    fn term(text: &str) -> Parsed<Term> {
        let limits = Limits::default();
        let mut parser = Parser::new(text, &limits);
        let term = parser.head_term()?;
        parser.expect(TokenKind::End, "the end")?;
        Ok(term)
    }

    fn constant(text: &str) -> Value {
        match term(text).unwrap().kind {
            TermKind::Constant(value) => value,
            other => panic!("{other:?}"),
        }
    }

    fn fault(text: &str) -> SyntaxFault {
        term(text).unwrap_err().fault
    }

    fn printed(text: &str) -> String {
        term(text).unwrap().to_string()
    }

    #[test]
    fn numbers_keep_their_type() {
        assert_eq!(constant("5"), Value::Int(5));
        assert_eq!(constant("-5"), Value::Int(-5));
        assert_eq!(constant("- 4"), Value::Int(-4));
        assert_eq!(constant("+5"), Value::Int(5));
        assert_eq!(constant("5."), Value::Float(5.0));
        assert_eq!(constant("-.5"), Value::Float(-0.5));
        assert_eq!(constant("1e3"), Value::Float(1000.0));
        assert_eq!(constant("-0.0"), Value::Float(-0.0));
    }

    #[test]
    fn integers_at_the_border() {
        assert_eq!(constant("9223372036854775807"), Value::Int(i64::MAX));
        assert_eq!(constant("-9223372036854775808"), Value::Int(i64::MIN));
        assert_eq!(constant("9223372036854775808"), Value::Float(9_223_372_036_854_775_808.0));
        assert_eq!(constant("-9223372036854775809"), Value::Float(-9_223_372_036_854_775_808.0));
    }

    #[test]
    fn numbers_that_are_none_are_refused() {
        assert_eq!(fault("1e400"), SyntaxFault::NumberTooLarge { text: "1e400".into(), kind: "64-bit" });
        assert_eq!(fault("[1e39]"), SyntaxFault::NumberTooLarge { text: "1e39".into(), kind: "32-bit" });
        assert_eq!(fault("0x1F"), SyntaxFault::BadNumber { text: "0x1F".into() });
        assert_eq!(fault("-1_000"), SyntaxFault::BadNumber { text: "1_000".into() });
        assert_eq!(fault("--5"), SyntaxFault::SignBeforeTerm { sign: '-' });
        // At the beginning of a text it would be a statement.
        assert_eq!(fault("(-A)"), SyntaxFault::SignBeforeTerm { sign: '-' });
    }

    #[test]
    fn escapes_are_resolved_and_unknown_ones_kept() {
        assert_eq!(constant(r#""a\nb\t\r\"\\""#), Value::text("a\nb\t\r\"\\"));
        assert_eq!(
            constant(r#""\q \u00e9 \u12 \ud83d\ude00 \ud83d""#),
            Value::text("\\q é \\u12 😀 \\ud83d")
        );
        assert_eq!(constant("\"two\nlines, // no comment\""), Value::text("two\nlines, // no comment"));
    }

    #[test]
    fn vectors_take_a_trailing_comma() {
        assert_eq!(constant("[1, -2.5, 3,]"), Value::Vector([1.0, -2.5, 3.0].into()));
        assert_eq!(constant("[]"), Value::Vector([].into()));
    }

    #[test]
    fn parentheses_remain_only_where_they_matter() {
        assert_eq!(printed("(Y * 2) + 1"), "Y*2+1");
        assert_eq!(printed("Y * (2 + 1)"), "Y*(2+1)");
        assert_eq!(printed("A - (B - C) - D"), "A-(B-C)-D");
        assert_eq!(printed("A / (B * C)"), "A/(B*C)");
        assert_eq!(printed("(A / B) * C % 2"), "A/B*C%2");
        assert_eq!(printed("A - -5"), "A--5");
        assert_eq!(printed("X * 1.0"), "X*1.0");
    }

    #[test]
    fn calls_and_aggregates_are_terms() {
        assert_eq!(printed("abs( Y+1 ,)"), "abs(Y+1)");
        assert_eq!(printed("top_k<2,I,A:desc>"), "top_k<2, I, A:desc>");
        assert_eq!(printed("count<X>"), "count<X>");
        assert_eq!(fault("sum<A>*2"), SyntaxFault::MisplacedAggregate { name: "sum".into() });
        assert_eq!(fault("1+sum<A>"), SyntaxFault::MisplacedAggregate { name: "sum".into() });
    }

    #[test]
    fn lower_case_words_suggest_quotes() {
        assert_eq!(fault("ada"), SyntaxFault::UnquotedWord { word: "ada".into() });
        assert_eq!(constant("null"), Value::Null);
        assert_eq!(constant("true"), Value::Bool(true));
        assert_eq!(term("True").unwrap().kind, TermKind::Variable("True".into()));
    }

    #[test]
    fn nesting_has_a_limit_in_every_direction() {
        let limited = |text: String| matches!(fault(&text), SyntaxFault::Limit { limit: 200, .. });
        assert!(limited(format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000))));
        assert!(limited("f(".repeat(100_000)));
        assert!(limited(format!("1{}", "+1".repeat(100_000))));
        assert!(limited(format!("1{}", "*(1+1)".repeat(100_000))));
        assert!(limited(format!("{}1{}", "(".repeat(150), "+1)".repeat(150).replace("+1)", "+1+1)"))));
        assert!(term(&format!("{}1{}", "(".repeat(190), "+1)".repeat(190))).is_ok());
    }
}
