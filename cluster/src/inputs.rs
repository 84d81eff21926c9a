//! `Inputs`: what an evaluation by the engine reads, by the names of relations.

use foldhash::HashMap;
use stratalog_engine::data::Run;
use stratalog_engine::exec::Relations;

/// Rows in memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inputs(pub(crate) HashMap<String, Vec<Run>>);

impl Relations for Inputs {
    fn runs(&self, relation: &str) -> Vec<Run> {
        self.0.get(relation).cloned().unwrap_or_default()
    }
}
