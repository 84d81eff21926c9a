//! Texts as terms: how a text is cut into them, and which rows hold which of them.

mod analyzer;
mod index;
mod language;
mod segment;

pub use analyzer::Analyzer;
pub use index::TextIndex;
pub use language::Language;
pub use segment::{PostingList, Segment};
