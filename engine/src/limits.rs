//! `Limits`: how large a program, a fact or a graph may be.

use crate::syntax::ParseLimits;

/// Bounds on what is sent and kept. All are generous, and reaching one is an error that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a program.
    pub program_bytes: usize,
    /// Statements of a program.
    pub statements: usize,
    /// Depth of nested parentheses, brackets and expressions.
    pub nesting: usize,
    /// Tuples of an insert statement.
    pub insert_tuples: usize,
    /// Bytes of a string.
    pub string_bytes: usize,
    /// Columns of a relation; 256 is the most the engine can do.
    pub columns: usize,
    /// Knowledge graphs of an engine.
    pub graphs: usize,
    /// Facts that a session may lay over its graph.
    pub session_facts: usize,
    /// Clauses that a session may lay over its graph.
    pub session_rules: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            program_bytes: 16 << 20,
            statements: 100_000,
            nesting: 200,
            insert_tuples: 1_000_000,
            string_bytes: 1 << 20,
            columns: crate::data::MAX_COLUMNS,
            graphs: 1_000,
            session_facts: 1_000_000,
            session_rules: 1_000,
        }
    }
}

impl Limits {
    /// Those that parsing keeps.
    pub(crate) fn parsing(&self) -> ParseLimits {
        ParseLimits {
            program_bytes: self.program_bytes,
            statements: self.statements,
            nesting: self.nesting,
            insert_tuples: self.insert_tuples,
            string_bytes: self.string_bytes,
            columns: self.columns,
            ..ParseLimits::default()
        }
    }
}
