//! Searches of texts: what a query asks for, and how well the rows of a relation answer it.

mod bm25;
mod phrase;
mod query;

pub use bm25::{Match, Texts};
pub use query::TextQuery;
