//! The conditions that search an index, by their names.

use crate::syntax::ast;

/// What a search goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchKind {
    /// How near a vector is.
    Nearest,
    /// How well a text answers a query.
    Text,
}

impl SearchKind {
    /// All of them.
    pub const ALL: [SearchKind; 2] = [SearchKind::Nearest, SearchKind::Text];

    /// The name of the condition.
    pub fn name(self) -> &'static str {
        match self {
            SearchKind::Nearest => "hnsw_nearest",
            SearchKind::Text => "text_search",
        }
    }

    /// The name of the one that searches for each value of the variables that it begins with.
    pub fn each_name(self) -> &'static str {
        match self {
            SearchKind::Nearest => "hnsw_nearest_each",
            SearchKind::Text => "text_search_each",
        }
    }

    /// What an atom searches by, if it is called as a search is.
    pub fn of(atom: &ast::Atom) -> Option<SearchKind> {
        let is_it = |name: &str| atom.relation.text.eq_ignore_ascii_case(name);
        SearchKind::ALL.into_iter().find(|kind| is_it(kind.name()) || is_it(kind.each_name()))
    }
}

/// Whether an atom is called as a search is.
pub fn is_search(atom: &ast::Atom) -> bool {
    SearchKind::of(atom).is_some()
}
