//! `Limits`: how large a program, a fact, a session or a graph may be.

/// Bounds on what is sent and kept. All are generous, and reaching one is an error that names it: `limit_exceeded`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a program.
    pub program_bytes: usize,
    /// Statements of a program.
    pub statements: usize,
    /// Height of an expression or type. Never more than 500, whatever is set, so that no stack overflows.
    pub nesting: usize,
    /// Literals of one body.
    pub literals: usize,
    /// Arguments of all literals of one body.
    pub body_arguments: usize,
    /// Tuples of one insert or delete.
    pub insert_tuples: usize,
    /// Bytes of one string, written or computed.
    pub string_bytes: usize,
    /// Bytes of the name of a relation, a column or a type.
    pub name_bytes: usize,
    /// Columns of a relation, arguments of an atom; 256 is the most the engine can do.
    pub columns: usize,
    /// Knowledge graphs of an engine.
    pub graphs: usize,
    /// Facts that a session may lay over its graph.
    pub session_facts: usize,
    /// Clauses that a session may lay over its graph.
    pub session_rules: usize,
    /// Bytes of memory that the facts of all knowledge graphs may take.
    pub stored_bytes: u64,
}

impl Limits {
    /// Whatever can be represented: for text that was accepted before.
    pub fn none() -> Limits {
        Limits {
            program_bytes: usize::MAX,
            statements: usize::MAX,
            nesting: usize::MAX,
            literals: usize::MAX,
            body_arguments: usize::MAX,
            insert_tuples: usize::MAX,
            string_bytes: usize::MAX,
            name_bytes: usize::MAX,
            columns: crate::data::MAX_COLUMNS,
            graphs: usize::MAX,
            session_facts: usize::MAX,
            session_rules: usize::MAX,
            stored_bytes: u64::MAX,
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            program_bytes: 16 << 20,
            statements: 100_000,
            nesting: 200,
            literals: 1_000,
            body_arguments: 20_000,
            insert_tuples: 1_000_000,
            string_bytes: 1 << 20,
            name_bytes: 256,
            columns: crate::data::MAX_COLUMNS,
            graphs: 1_000,
            session_facts: 1_000_000,
            session_rules: 1_000,
            stored_bytes: u64::MAX,
        }
    }
}
