//! What the user wrote: text to statements, and back.
//!
//! ```
//! use stratalog_engine::{Limits, syntax::parse};
//!
//! let (statements, errors) = parse("+edge[(1, 2), (2, 3)]\n?edge(X, Y), X > 1", &Limits::default());
//! assert!(errors.is_empty());
//! assert_eq!(statements[1].to_string(), "?edge(X, Y), X > 1");
//! ```

pub mod ast;

mod editing;
mod error;
mod explain;
mod foreign;
mod lexer;
mod parse_command;
mod parse_declaration;
mod parse_rule;
mod parse_statement;
mod parse_supposed;
mod parse_term;
mod parser;
mod print;
mod ranking;
mod size;
mod token;

pub use editing::{TokenClass, goes_on, tokens};
pub use error::{SyntaxError, SyntaxFault};
pub(crate) use explain::explain;
pub use parse_statement::parse;
pub(crate) use parse_statement::{MAX_ERRORS, parse_query};
pub(crate) use parse_supposed::parse_supposed;
pub use ranking::RankingFault;
pub(crate) use ranking::{Ranked, read as read_ranking};
