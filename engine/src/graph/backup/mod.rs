//! Backups: everything as it was at one moment, copied while the server goes on.
//!
//! A moment is taken where nobody can write to the system store; then each journal is looked at, one after the other,
//! and what is later than the moment is left out. So a backup has every change that was made before the moment, in any
//! file, and none that was made after it: nobody can have a right in it that came after a fact was deleted, beside the
//! fact. Nobody waits for more than the beginning of a read transaction.

mod archive;
mod archive_options;
mod folder;
mod moment;
mod repository;
mod restore;
mod segment;
mod source;
mod summary;
mod target;
mod unarchived;
mod until;

pub(super) use archive::Archive;
pub use archive::ArchiveState;
pub use archive_options::ArchiveOptions;
pub(super) use moment::Pinned;
pub use repository::StoredBackup;
pub use restore::{restore, restore_on, restore_to};
pub use summary::BackupSummary;
pub use until::Until;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::storage::{Disk, Files, StorageError};

/// A folder for backups, on a disk or in an object store.
#[derive(Debug, Clone)]
pub struct BackupPlace {
    /// What it is a folder of.
    pub files: Arc<dyn Files>,
    /// The folder.
    pub folder: PathBuf,
}

impl BackupPlace {
    /// A folder of the file system.
    pub fn on_disk(folder: impl Into<PathBuf>) -> BackupPlace {
        BackupPlace { files: Arc::new(Disk), folder: folder.into() }
    }
}

fn create_folder(files: &dyn Files, path: &Path) -> Result<(), StorageError> {
    files.create_folder(path).map_err(|error| StorageError::io(path, error))
}

fn list(files: &dyn Files, path: &Path) -> Result<Vec<String>, StorageError> {
    files.list(path).map_err(|error| StorageError::io(path, error))
}

fn read(files: &dyn Files, path: &Path) -> Result<Bytes, StorageError> {
    files.read(path).map_err(|error| StorageError::io(path, error))
}

fn write_file(files: &dyn Files, path: &Path, content: &[u8]) -> Result<(), StorageError> {
    let write = || {
        let mut file = files.create(path)?;
        file.write_all(content)?;
        file.finish()
    };
    write().map_err(|error| StorageError::io(path, error))
}

/// A folder that is not there yet, or empty; it is for its owner alone from now on.
fn check_is_free(files: &dyn Files, folder: &Path) -> Result<(), StorageError> {
    if list(files, folder)?.is_empty() {
        if files.exists(folder).map_err(|error| StorageError::io(folder, error))? {
            files.close_to_others(folder);
        }
        return Ok(());
    }
    let error = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "the folder is not empty");
    Err(StorageError::io(folder, error))
}
