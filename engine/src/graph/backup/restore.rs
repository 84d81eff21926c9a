//! Restoring: a data folder is made of a backup.
//!
//! Every file is compared with its hash before anything is written, and again while it is copied. Only paths that a data
//! folder has are written, all below the target; links inside a backup are not followed. What fails leaves nothing.

use std::path::Path;
use std::sync::Arc;

use super::super::data_folder::SYSTEM;
use super::folder::SUMMARY;
use super::repository::Repository;
use super::source::Source;
use super::summary::{BackupSummary, CopiedFile};
use super::target::Target;
use super::until::{Until, restore_until};
use super::{BackupPlace, check_is_free};
use crate::storage::{Disk, Medium, StorageError};

/// Makes a data folder of a backup, or of the latest in a folder of backups with what is archived after it: every file is
/// compared with its hash first, and nothing is written if one differs.
pub fn restore(backup: &Path, target: &Path) -> Result<BackupSummary, StorageError> {
    let medium: Arc<dyn Medium> = Arc::new(Disk);
    restore_to(&BackupPlace::on_disk(backup), &medium, target, &Until::End)
}

/// The same as it was at some moment, from any place to any medium.
pub fn restore_to(
    backup: &BackupPlace,
    medium: &Arc<dyn Medium>,
    target: &Path,
    until: &Until,
) -> Result<BackupSummary, StorageError> {
    if Repository::is_one(backup)? {
        return restore_until(backup, medium, target, until);
    }
    let BackupPlace { files, folder } = backup;
    match until {
        Until::End => restore_one(&Source { files: files.as_ref(), folder }, medium.as_ref(), target),
        Until::Moment(_) | Until::Version { .. } => {
            let what = "it is one backup and no folder of backups: there is one moment to restore to";
            Err(StorageError::unreadable(folder, what))
        }
    }
}

/// Makes a data folder of one backup on the same medium.
pub fn restore_on(medium: &dyn Medium, backup: &Path, target: &Path) -> Result<BackupSummary, StorageError> {
    restore_one(&Source { files: medium, folder: backup }, medium, target)
}

fn restore_one(
    source: &Source<'_>,
    medium: &dyn Medium,
    target: &Path,
) -> Result<BackupSummary, StorageError> {
    check_is_free(medium, target)?;
    let summary = BackupSummary::parse(&source.folder.join(SUMMARY), &source.read(SUMMARY)?)?;
    let place = |path: &str, _: &CopiedFile| path.to_owned();
    source.verify(&summary, &place)?;
    let target = Target::begin(medium, target)?;
    source.copy_all_but_system(&summary, &target, &place)?;
    // The system store comes last: without it, what is there is no data folder yet.
    target.write(SYSTEM, &source.checked(SYSTEM, &summary.files[SYSTEM])?)?;
    target.keep();
    Ok(summary)
}
