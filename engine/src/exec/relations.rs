//! What the executor may ask of a graph.

use crate::data::Run;

/// Stored rows by the name of their relation. A snapshot answers it, and a session laid over one.
pub trait Relations: Sync {
    /// The runs of a relation: disjoint sets of rows. None if nothing is stored under the name.
    fn runs(&self, relation: &str) -> Vec<Run>;
}
