//! Backups: everything as it was at one moment, copied while the server goes on.
//!
//! A moment is taken where nobody can write to the system store; then each journal is looked at, one after the other,
//! and what is later than the moment is left out. So a backup has every change that was made before the moment, in any
//! file, and none that was made after it: nobody can have a right in it that came after a fact was deleted, beside the
//! fact. Nobody waits for more than the beginning of a read transaction.

mod archive;
mod folder;
mod moment;
mod repository;
mod restore;
mod segment;
mod summary;
mod until;

pub(super) use archive::Archive;
pub use archive::ArchiveOptions;
pub(super) use moment::Pinned;
pub use repository::StoredBackup;
pub use restore::{restore, restore_on, restore_to};
pub use summary::BackupSummary;
pub use until::Until;

use std::path::Path;

use bytes::Bytes;

use crate::storage::{Medium, StorageError};

fn create_folder(medium: &dyn Medium, path: &Path) -> Result<(), StorageError> {
    medium.create_folder(path).map_err(|error| StorageError::io(path, error))
}

fn list(medium: &dyn Medium, path: &Path) -> Result<Vec<String>, StorageError> {
    medium.list(path).map_err(|error| StorageError::io(path, error))
}

fn read(medium: &dyn Medium, path: &Path) -> Result<Bytes, StorageError> {
    medium.read(path).map_err(|error| StorageError::io(path, error))
}

fn write_file(medium: &dyn Medium, path: &Path, content: &[u8]) -> Result<(), StorageError> {
    let write = || {
        let mut file = medium.create(path)?;
        file.write_all(content)?;
        file.finish()
    };
    write().map_err(|error| StorageError::io(path, error))
}

/// A folder that is not there yet, or empty; it is for its owner alone from now on.
fn check_is_free(medium: &dyn Medium, folder: &Path) -> Result<(), StorageError> {
    if list(medium, folder)?.is_empty() {
        if medium.exists(folder).map_err(|error| StorageError::io(folder, error))? {
            medium.close_to_others(folder);
        }
        return Ok(());
    }
    let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the folder is not empty");
    Err(StorageError::io(folder, error))
}
