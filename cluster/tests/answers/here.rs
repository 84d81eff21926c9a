//! The evaluator that all engines of this suite ask.

use std::sync::{Arc, OnceLock};

use stratalog_cluster::{Evaluator, Settings};
use tempfile::TempDir;

use crate::modes;

/// Small parts, batches and heaps, so that a few rows take every way.
pub(crate) fn evaluator() -> Arc<Evaluator> {
    static EVALUATOR: OnceLock<(Arc<Evaluator>, TempDir)> = OnceLock::new();
    let (evaluator, _) = EVALUATOR.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for a while");
        let settings = Settings {
            partitions: 3,
            batch_rows: 4,
            shared_bytes: 64,
            group_rows: 3,
            group_rows_made: 5,
            small_bytes: 0,
            carried_bytes: 64,
            pool_bytes: 256 << 20,
            ..Settings::new(folder.path(), 2)
        };
        (Arc::new(Evaluator::new(settings).expect("an evaluator")), folder)
    });
    modes::ask(Arc::clone(evaluator) as Arc<dyn stratalog_engine::Elsewhere>);
    Arc::clone(evaluator)
}
