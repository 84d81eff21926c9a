//! What the executor may ask of a graph.

use crate::attached::RowFiles;
use crate::data::Run;

/// Stored rows by the name of their relation. A snapshot answers it, and a session laid over one.
pub trait Relations: Sync {
    /// The runs of a relation: disjoint sets of rows. None if nothing is stored under the name.
    fn runs(&self, relation: &str) -> Vec<Run>;

    /// The files that the rows of a relation are in, if they are not stored. They may have been read: then there are runs, too.
    fn files(&self, _relation: &str) -> Option<&RowFiles> {
        None
    }
}
