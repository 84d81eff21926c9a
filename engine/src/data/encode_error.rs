//! `EncodeError`: why an Arrow column cannot become facts.

use arrow::datatypes::DataType as ArrowType;

use super::dictionary::DictionaryFull;

/// Why an Arrow column cannot become facts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// No counterpart among our types.
    #[error("a column of Arrow type {found} has no counterpart here")]
    Unsupported {
        /// The Arrow type.
        found: ArrowType,
    },
    /// An unsigned integer above the largest signed one.
    #[error("{value} does not fit a 64-bit signed integer")]
    TooLarge {
        /// The value.
        value: u64,
    },
    /// A string longer than allowed.
    #[error("a string of {length} bytes is longer than the {limit} bytes allowed")]
    StringTooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: usize,
    },
    /// Text in a column of any type that is not the JSON of a value.
    #[error("in a column of any type, `{text}` is not the JSON of a value")]
    NotJson {
        /// The beginning of the text.
        text: String,
    },
    /// The dictionary is full.
    #[error(transparent)]
    Full(#[from] DictionaryFull),
}
