//! What the user wrote: text to statements, and back.
//!
//! ```
//! use stratalog_engine::syntax::{ParseLimits, parse};
//!
//! let (statements, errors) = parse("+edge[(1, 2), (2, 3)]\n?edge(X, Y), X > 1", &ParseLimits::default());
//! assert!(errors.is_empty());
//! assert_eq!(statements[1].to_string(), "?edge(X, Y), X > 1");
//! ```

pub mod ast;

mod error;
mod lexer;
mod parse_command;
mod parse_declaration;
mod parse_rule;
mod parse_statement;
mod parse_term;
mod parser;
mod print;
mod ranking;
mod token;

pub use error::{SyntaxError, SyntaxFault};
pub use parse_statement::parse;
pub use ranking::RankingFault;
pub(crate) use ranking::{Ranked, read as read_ranking};

/// What a program may be at most. Beyond it: `limit_exceeded`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseLimits {
    /// Bytes of a program.
    pub program_bytes: usize,
    /// Statements of a program.
    pub statements: usize,
    /// Height of an expression or type. Never more than 500, whatever is set, so that no stack overflows.
    pub nesting: usize,
    /// Tuples of one insert or delete.
    pub insert_tuples: usize,
    /// Bytes of one string.
    pub string_bytes: usize,
    /// Arguments of an atom, columns of a declaration.
    pub columns: usize,
    /// Literals of one body.
    pub literals: usize,
    /// Arguments of all literals of one body.
    pub arguments: usize,
}

impl ParseLimits {
    /// Whatever can be represented: for text that was accepted before.
    pub fn none() -> ParseLimits {
        ParseLimits {
            program_bytes: usize::MAX,
            statements: usize::MAX,
            nesting: usize::MAX,
            insert_tuples: usize::MAX,
            string_bytes: usize::MAX,
            columns: crate::data::MAX_COLUMNS,
            literals: usize::MAX,
            arguments: usize::MAX,
        }
    }
}

impl Default for ParseLimits {
    fn default() -> ParseLimits {
        ParseLimits {
            program_bytes: 16 << 20,
            statements: 100_000,
            nesting: 200,
            insert_tuples: 1_000_000,
            string_bytes: 1 << 20,
            columns: 256,
            literals: 1_000,
            arguments: 20_000,
        }
    }
}
