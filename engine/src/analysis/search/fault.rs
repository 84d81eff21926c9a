//! What may be wrong with a search.

use crate::data::DataType;
use crate::diagnostic::Code;

/// Why a search means nothing that could be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SearchFault {
    /// No index has this name.
    #[error("there is no index `{index}`")]
    UnknownIndex {
        /// As written.
        index: String,
        /// Indexes with similar names.
        near: Vec<String>,
    },
    /// The index is not one of near vectors.
    #[error("the index `{index}` is of type {kind}: it finds no nearest vectors")]
    OtherIndex {
        /// Its name.
        index: String,
        /// What it is for.
        kind: &'static str,
    },
    /// The column of the index is gone, or holds something else now.
    #[error("the index `{index}` is over a column that holds no vectors any more")]
    LostColumn {
        /// Its name.
        index: String,
    },
    /// Too many or too few arguments.
    #[error("a search takes 5 or 6 arguments from the name of its index on, found {found}")]
    Arguments {
        /// How many there are.
        found: usize,
    },
    /// `hnsw_nearest_each` without what it is for.
    #[error("`hnsw_nearest_each` begins with the variables for each of whose values there is a search")]
    Each,
    /// An argument that cannot stand there.
    #[error("expected {expected}, found `{found}`")]
    Argument {
        /// What belongs there.
        expected: &'static str,
        /// As written.
        found: String,
    },
    /// A vector that is no vector of the indexed column.
    #[error("the index `{index}` is over {expected}, found {found}")]
    Query {
        /// Its name.
        index: String,
        /// The type of its column.
        expected: DataType,
        /// The type of the vector.
        found: DataType,
    },
    /// What is searched for depends on what is found.
    #[error("nothing but what the search finds binds `{variable}`, from which it is to start")]
    Unbound {
        /// The variable.
        variable: String,
    },
    /// Conditions and start of a search bind more than a row can hold.
    #[error(
        "what the search starts from and its conditions use {found} variables, and at most {most} are possible"
    )]
    Wide {
        /// How many there are.
        found: usize,
        /// How many there may be.
        most: usize,
    },
    /// A search under negation.
    #[error("a search cannot be negated")]
    Negated,
}

impl SearchFault {
    pub(in crate::analysis) fn code(&self) -> Code {
        match self {
            SearchFault::UnknownIndex { .. } => Code::NotFound,
            SearchFault::OtherIndex { .. } | SearchFault::LostColumn { .. } | SearchFault::Query { .. } => {
                Code::TypeMismatch
            }
            SearchFault::Arguments { .. } | SearchFault::Each => Code::ArityMismatch,
            SearchFault::Wide { .. } => Code::LimitExceeded,
            SearchFault::Argument { .. } => Code::InvalidParameter,
            SearchFault::Unbound { .. } | SearchFault::Negated => Code::UnsafeRule,
        }
    }

    pub(in crate::analysis) fn help(&self) -> String {
        match self {
            SearchFault::UnknownIndex { near, .. } if near.is_empty() => {
                "`.index` lists the indexes, `.index create` makes one".into()
            }
            SearchFault::UnknownIndex { near, .. } => format!("did you mean `{}`?", near.join("` or `")),
            SearchFault::OtherIndex { .. } => "create one of type hnsw".into(),
            SearchFault::LostColumn { .. } => {
                "drop the index, and create one over a column of vectors".into()
            }
            SearchFault::Arguments { .. } | SearchFault::Argument { .. } => {
                "write it as in `hnsw_nearest(\"near_docs\", [0.5, 1.0], 10, Id, Distance)`".into()
            }
            SearchFault::Each => {
                "write it as in `hnsw_nearest_each(User, \"near_docs\", [0.5, 1.0], 10, Id, Distance)`".into()
            }
            SearchFault::Query { .. } => "search with a vector of this type".into(),
            SearchFault::Unbound { variable } => {
                format!("bind `{variable}` by a condition on other rows than those that are found")
            }
            SearchFault::Wide { .. } => {
                "put conditions that need many variables in a rule of their own, with a head of few".into()
            }
            SearchFault::Negated => "search in a rule of its own, and negate that".into(),
        }
    }
}
