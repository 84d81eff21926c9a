//! Programs of Stratalog for tree-sitter: the language, and how what it finds is coloured.

use tree_sitter_language::LanguageFn;

#[expect(unsafe_code, reason = "the parser is C, as tree-sitter makes it")]
unsafe extern "C" {
    fn tree_sitter_stratalog() -> *const ();
}

/// The language.
#[expect(unsafe_code, reason = "the function is the one that the generated parser defines")]
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_stratalog) };

/// The query that tells what is coloured how.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");

/// The query that finds definitions and uses.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");
