//! What may be wrong with a search.

use crate::catalog::SearchKind;
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
    /// The index is none for this search.
    #[error("the index `{index}` is of type {kind}: it finds no {}", found_by(*search))]
    OtherIndex {
        /// Its name.
        index: String,
        /// What it is for.
        kind: &'static str,
        /// The search.
        search: SearchKind,
    },
    /// The column of the index is gone, or holds something else now.
    #[error("the index `{index}` is over a column that holds no {} any more", held_for(*search))]
    LostColumn {
        /// Its name.
        index: String,
        /// The search.
        search: SearchKind,
    },
    /// Too many or too few arguments.
    #[error(
        "a search takes {} arguments from the name of its index on, found {found}",
        match search { SearchKind::Nearest => "5 to 7", SearchKind::Text => "5 or 6" }
    )]
    Arguments {
        /// How many there are.
        found: usize,
        /// The search.
        search: SearchKind,
    },
    /// A search for each of something without what that is.
    #[error("`{}` begins with the variables for each of whose values there is a search", search.each_name())]
    Each {
        /// The search.
        search: SearchKind,
    },
    /// An argument that cannot stand there.
    #[error("expected {expected}, found `{found}`")]
    Argument {
        /// What belongs there.
        expected: &'static str,
        /// As written.
        found: String,
        /// The search.
        search: SearchKind,
    },
    /// A query that is nothing to look for in the indexed column.
    #[error("the index `{index}` is over {expected}, found {found}")]
    Query {
        /// Its name.
        index: String,
        /// The type of its column.
        expected: DataType,
        /// The type of the query.
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
            SearchFault::Arguments { .. } | SearchFault::Each { .. } => Code::ArityMismatch,
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
            SearchFault::OtherIndex { search: SearchKind::Nearest, .. } => "create one of type hnsw".into(),
            SearchFault::OtherIndex { search: SearchKind::Text, .. } => "create one of type text".into(),
            SearchFault::LostColumn { search, .. } => {
                format!("drop the index, and create one over a column of {}", held_for(*search))
            }
            SearchFault::Arguments { search, .. } | SearchFault::Argument { search, .. } => {
                format!("write it as in `{}({})`", search.name(), usual_arguments(*search))
            }
            SearchFault::Each { search } => {
                format!("write it as in `{}(User, {})`", search.each_name(), usual_arguments(*search))
            }
            SearchFault::Query { expected: DataType::Text, .. } => {
                "search with a string: words, \"phrases\", +what has to and -what must not be there".into()
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

fn found_by(search: SearchKind) -> &'static str {
    match search {
        SearchKind::Nearest => "nearest vectors",
        SearchKind::Text => "words",
    }
}

fn held_for(search: SearchKind) -> &'static str {
    match search {
        SearchKind::Nearest => "vectors",
        SearchKind::Text => "texts",
    }
}

fn usual_arguments(search: SearchKind) -> &'static str {
    match search {
        SearchKind::Nearest => "\"near_docs\", [0.5, 1.0], 10, Id, Distance",
        SearchKind::Text => "\"about\", \"graph databases\", 10, Id, Score",
    }
}
