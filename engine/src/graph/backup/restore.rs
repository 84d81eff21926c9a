//! Restoring: a data folder is made of a backup.
//!
//! Every file is compared with its hash before anything is written, and again while it is copied. Only paths that a data
//! folder has are written, all below the target; links inside a backup are not followed. What fails leaves nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::super::library::{GRAPHS, SYSTEM};
use super::folder::SUMMARY;
use super::repository::Repository;
use super::summary::{BackupSummary, CopiedFile};
use super::until::{Until, restore_until};
use super::{BackupPlace, check_is_free, create_folder, list, read, write_file};
use crate::storage::{Disk, Files, Medium, StorageError, file_hash};

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

/// A folder with a backup, or with many.
pub(super) struct Source<'m> {
    pub(super) files: &'m dyn Files,
    pub(super) folder: &'m Path,
}

/// Where a file of a data folder is, below the folder with the backup.
type Place<'p> = &'p dyn Fn(&str, &CopiedFile) -> String;

impl Source<'_> {
    /// Reads a file of the backup, unless it is a link, or in a folder that is one.
    pub(super) fn read(&self, path: &str) -> Result<Bytes, StorageError> {
        let mut place = self.folder.to_owned();
        for part in path.split('/') {
            place.push(part);
            if self.files.is_link(&place).map_err(|error| StorageError::io(&place, error))? {
                return Err(StorageError::unreadable(&place, "it is a link, and a backup has none"));
            }
        }
        read(self.files, &place)
    }

    /// Reads a file that is what the backup says.
    pub(super) fn checked(&self, path: &str, file: &CopiedFile) -> Result<Bytes, StorageError> {
        let content = self.read(path)?;
        if content.len() as u64 != file.bytes || file_hash(&content) != file.xxh3 {
            return Err(StorageError::unreadable(&self.folder.join(path), "a checksum does not fit"));
        }
        Ok(content)
    }

    pub(super) fn verify(&self, summary: &BackupSummary, place: Place<'_>) -> Result<(), StorageError> {
        summary.files.iter().try_for_each(|(path, file)| self.checked(&place(path, file), file).map(drop))
    }

    pub(super) fn copy_all_but_system(
        &self,
        summary: &BackupSummary,
        target: &Target<'_>,
        place: Place<'_>,
    ) -> Result<(), StorageError> {
        let mut others = summary.files.iter().filter(|(path, _)| *path != SYSTEM);
        others.try_for_each(|(path, file)| target.write(path, &self.checked(&place(path, file), file)?))
    }
}

/// A folder that is being filled. Nothing is left of it unless it is kept.
pub(super) struct Target<'m> {
    medium: &'m dyn Medium,
    pub(super) folder: &'m Path,
    /// The topmost folder that was not there before.
    made: Option<PathBuf>,
    is_kept: bool,
}

impl<'m> Target<'m> {
    pub(super) fn begin(medium: &'m dyn Medium, folder: &'m Path) -> Result<Target<'m>, StorageError> {
        let mut made = None;
        for above in folder.ancestors().take_while(|above| !above.as_os_str().is_empty()) {
            if medium.exists(above).map_err(|error| StorageError::io(above, error))? {
                break;
            }
            made = Some(above.to_owned());
        }
        let target = Target { medium, folder, made, is_kept: false };
        create_folder(medium, folder)?;
        Ok(target)
    }

    /// Writes a file whose path was found to be one of a data folder.
    pub(super) fn write(&self, path: &str, content: &[u8]) -> Result<(), StorageError> {
        let place = self.folder.join(path);
        if let Some(above) = place.parent() {
            create_folder(self.medium, above)?;
        }
        write_file(self.medium, &place, content)
    }

    pub(super) fn keep(mut self) {
        self.is_kept = true;
    }
}

impl Drop for Target<'_> {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        let removed = match &self.made {
            Some(made) => self.medium.remove_folder(made),
            None => self.medium.remove_folder(&self.folder.join(GRAPHS)).and_then(|()| {
                let files = list(self.medium, self.folder).unwrap_or_default();
                files.iter().try_for_each(|file| self.medium.remove(&self.folder.join(file)))
            }),
        };
        if let Err(error) = removed {
            tracing::warn!("cannot remove what is left in {}: {error}", self.folder.display());
        }
    }
}
