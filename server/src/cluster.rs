//! What evaluates questions that do not fit memory, where the executable has it.

use std::sync::Arc;

use stratalog_engine::{Cluster, Elsewhere};

use crate::config::{ClusterSettings, Config};

/// Makes what evaluates with these settings, on so many threads; or says why it cannot.
pub type MakeCluster = fn(&ClusterSettings, usize) -> Result<Arc<dyn Elsewhere>, String>;

/// The cluster of a server.
pub(crate) fn cluster(config: &Config, make: MakeCluster) -> Result<Cluster, String> {
    let settings = config.cluster();
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    Ok(Cluster {
        evaluator: make(&settings, config.threads.unwrap_or_else(cores))?,
        over_bytes: settings.over_bytes,
        default_use: settings.default_use,
    })
}
