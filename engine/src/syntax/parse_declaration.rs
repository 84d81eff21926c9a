//! Schemas and types: `(name: type, ..)` and `type Name: type`.

use super::ast::{ColumnDeclaration, DeclareType, Name, TypeExpression, TypeKind};
use super::error::{SyntaxError, SyntaxFault};
use super::parser::{Parsed, Parser, shortened};
use super::token::TokenKind;

impl Parser<'_> {
    /// `(name: type, ..)`
    pub(super) fn columns(&mut self) -> Parsed<Vec<ColumnDeclaration>> {
        self.bump();
        let mut columns = Vec::new();
        while !self.at(TokenKind::RightParen) {
            self.check_columns(columns.len())?;
            let name = self.name("the name of a column")?;
            self.expect(TokenKind::Colon, "`:` and a type")?;
            columns.push(ColumnDeclaration { name, column_type: self.type_expression()? });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightParen, "`,` or `)`")?;
        Ok(columns)
    }

    /// `type Name: type`
    pub(super) fn type_declaration(&mut self) -> Parsed<DeclareType> {
        self.bump();
        if !self.at(TokenKind::Variable) {
            return Err(self.unexpected("a type name that starts with an upper-case letter"));
        }
        let name = self.name("a type name")?;
        self.expect(TokenKind::Colon, "`:` and a type")?;
        Ok(DeclareType { name, definition: self.type_expression()? })
    }

    fn type_expression(&mut self) -> Parsed<TypeExpression> {
        self.enter()?;
        let start = self.span();
        let kind = match self.kind() {
            TokenKind::Word | TokenKind::Variable => self.named_type()?,
            TokenKind::LeftBrace => {
                self.record()?;
                TypeKind::Any
            }
            _ => return Err(self.unexpected("a type")),
        };
        while self.at(TokenKind::LeftParen) {
            self.skip_refinements()?;
        }
        self.leave();
        Ok(TypeExpression { kind, span: self.since(start) })
    }

    fn named_type(&mut self) -> Parsed<TypeKind> {
        let Name { text: word, span } = self.name("a type")?;
        Ok(match word.to_ascii_lowercase().as_str() {
            "int" => TypeKind::Int,
            "float" => TypeKind::Float,
            "string" => TypeKind::Text,
            "bool" => TypeKind::Bool,
            "timestamp" => TypeKind::Timestamp,
            "any" => TypeKind::Any,
            "vector" | "vec" | "embedding" => TypeKind::Vector(self.length()?),
            "vector_int8" => TypeKind::VectorInt8(self.length()?),
            "list" => {
                if !self.eat(TokenKind::LeftBracket) {
                    return Ok(TypeKind::List);
                }
                self.type_expression()?;
                self.expect(TokenKind::RightBracket, "`]`")?;
                TypeKind::Any
            }
            _ if word.starts_with(char::is_uppercase) => TypeKind::Named(word),
            lower => {
                let fault = SyntaxFault::UnknownType { meant: meant_type(lower), word: shortened(&word) };
                return Err(SyntaxError::new(fault, span));
            }
        })
    }

    /// `(N)` or `[N]` after a vector type.
    fn length(&mut self) -> Parsed<Option<u32>> {
        let close = match self.kind() {
            TokenKind::LeftBracket => TokenKind::RightBracket,
            TokenKind::LeftParen if self.second() == TokenKind::Integer => TokenKind::RightParen,
            _ => return Ok(None),
        };
        self.bump();
        let Ok(length) = self.token_text().parse() else {
            return Err(self.unexpected("the length of the vector"));
        };
        self.bump();
        self.expect(close, if close == TokenKind::RightParen { "`)`" } else { "`]`" })?;
        Ok(Some(length))
    }

    /// `{ field: type, .. }`
    fn record(&mut self) -> Parsed<()> {
        self.bump();
        while !self.at(TokenKind::RightBrace) {
            self.name("the name of a field")?;
            self.expect(TokenKind::Colon, "`:` and a type")?;
            self.type_expression()?;
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBrace, "`,` or `}`")?;
        Ok(())
    }

    /// `(refinement, ..)` after a type has no meaning.
    fn skip_refinements(&mut self) -> Parsed<()> {
        let mut open = 0_usize;
        loop {
            match self.kind() {
                TokenKind::LeftParen => open += 1,
                TokenKind::RightParen => open -= 1,
                TokenKind::End => return Err(self.unexpected("`)`")),
                _ if self.at_new_statement() => return Err(self.unexpected("`)`")),
                _ => {}
            }
            self.bump();
            if open == 0 {
                return Ok(());
            }
        }
    }
}

/// Type names of other languages.
fn meant_type(word: &str) -> Option<&'static str> {
    match word {
        "integer" | "int64" | "i64" | "long" | "bigint" | "number" => Some("int"),
        "double" | "real" | "f64" | "float64" | "decimal" => Some("float"),
        "text" | "str" | "varchar" | "char" | "symbol" => Some("string"),
        "boolean" => Some("bool"),
        "datetime" | "date" | "time" => Some("timestamp"),
        _ => None,
    }
}
