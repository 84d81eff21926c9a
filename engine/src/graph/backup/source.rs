//! `Source`: the backup that a data folder is made of. Every file is compared with its hash.

use std::path::Path;

use bytes::Bytes;

use super::super::data_folder::SYSTEM;
use super::read;
use super::summary::{BackupSummary, CopiedFile};
use super::target::Target;
use crate::storage::{Files, StorageError, file_hash};

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
