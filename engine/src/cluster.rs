//! What is evaluated by a cluster, and not in the memory of this process.

use std::sync::Arc;

use crate::catalog::ClusterUse;
use crate::exec::Elsewhere;

/// The cluster of an engine, and when questions go there.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Who evaluates.
    pub evaluator: Arc<dyn Elsewhere>,
    /// Questions that read more bytes of stored rows go there at once, where their graph uses the cluster.
    pub over_bytes: u64,
    /// What graphs do that do not say.
    pub default_use: ClusterUse,
}

/// Where somebody wants a question to be evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EvaluationPlace {
    /// Where it fits.
    #[default]
    Auto,
    /// In the memory of this process.
    Here,
    /// By the cluster.
    Cluster,
}
