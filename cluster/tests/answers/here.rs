//! The place that all engines of this suite ask.

use std::sync::{Arc, OnceLock};

use stratalog_cluster::{Place, Settings};
use tempfile::TempDir;

use crate::modes;

/// Small parts, batches and heaps, so that a few rows take every way.
pub(crate) fn place() -> Arc<Place> {
    static PLACE: OnceLock<(Arc<Place>, TempDir)> = OnceLock::new();
    let (place, _) = PLACE.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder for a while");
        let settings = Settings {
            partitions: 3,
            batch_rows: 4,
            shared_bytes: 64,
            group_rows: 3,
            group_rows_made: 5,
            carried_bytes: 64,
            pool_bytes: 256 << 20,
            ..Settings::new(folder.path(), 2)
        };
        (Arc::new(Place::new(settings).expect("a place")), folder)
    });
    modes::ask(Arc::clone(place) as Arc<dyn stratalog_engine::Elsewhere>);
    Arc::clone(place)
}
