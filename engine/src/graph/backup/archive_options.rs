//! `ArchiveOptions`: what an archive is told.

use std::time::Duration;

use super::BackupPlace;

/// Where backups are kept and how often they are made.
#[derive(Debug, Clone)]
pub struct ArchiveOptions {
    /// The folder of backups. It is made if it is not there.
    pub place: BackupPlace,
    /// The time from one backup to the next.
    pub interval: Duration,
    /// How many are kept.
    pub keep: usize,
}
