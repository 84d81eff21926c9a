//! `StorageError`: what storage fails with. Every message names the file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnose, Diagnostic};

/// Why something could not be stored or read back. Clones share the cause: one failed sync may fail many commits.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StorageError {
    /// The operating system refused.
    #[error("{}: {cause}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What it said.
        cause: Arc<io::Error>,
    },
    /// What is there is not what was written.
    #[error("{} is damaged: {damage}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that was found.
        damage: Damage,
    },
    /// Written by a later release.
    #[error("{} has format version {found}; this release reads versions up to {}", .path.display(), super::FORMAT_VERSION)]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Another process works on the same folder.
    #[error("{} is in use by another server or program", .path.display())]
    InUse {
        /// The file or folder.
        path: PathBuf,
    },
    /// A sync failed, and whether the change reached the disk cannot be found out.
    #[error("{}: {cause}; whether the change was stored is not known", .path.display())]
    OutcomeUnknown {
        /// The file.
        path: PathBuf,
        /// What failed first.
        cause: Arc<io::Error>,
    },
    /// A sync of the file has failed, or it could not be made anew, so nothing is built on what it holds.
    #[error("{} is not written before it has been made anew, because what it holds may not be on disk: {cause}", .path.display())]
    Abandoned {
        /// The file.
        path: PathBuf,
        /// What failed first.
        cause: Arc<io::Error>,
    },
}

/// How damage was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// A hash does not fit its content.
    #[error("a checksum does not fit")]
    Checksum,
    /// Something that must be there is not.
    #[error("{0} is missing")]
    Missing(String),
    /// The hash fits, and yet the content makes no sense: a foreign file, or a bug of ours.
    #[error("{0}")]
    Unreadable(String),
}

impl StorageError {
    /// The operating system's refusal.
    pub(crate) fn io(path: &Path, cause: io::Error) -> StorageError {
        match cause.kind() {
            io::ErrorKind::ResourceBusy => StorageError::InUse { path: path.to_owned() },
            _ => StorageError::Io { path: path.to_owned(), cause: Arc::new(cause) },
        }
    }

    /// What is there is not what was written.
    pub(crate) fn damaged(path: &Path, damage: Damage) -> StorageError {
        StorageError::Damaged { path: path.to_owned(), damage }
    }

    /// The content makes no sense.
    pub(crate) fn unreadable(path: &Path, what: impl std::fmt::Display) -> StorageError {
        StorageError::damaged(path, Damage::Unreadable(what.to_string()))
    }

    /// What redb says, in our words.
    pub(super) fn database(path: &Path, error: impl Into<redb::Error>) -> StorageError {
        match error.into() {
            redb::Error::Io(cause) => match cause.kind() {
                // Shorter than its own header says, or no database at all.
                io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData => {
                    StorageError::unreadable(path, cause)
                }
                _ => StorageError::io(path, cause),
            },
            redb::Error::DatabaseAlreadyOpen => StorageError::InUse { path: path.to_owned() },
            error
            @ (redb::Error::PreviousIo | redb::Error::DatabaseClosed | redb::Error::LockPoisoned(_)) => {
                StorageError::io(path, io::Error::other(error))
            }
            other => StorageError::unreadable(path, other),
        }
    }

    /// The same failure, where it cannot be found out whether the write took effect.
    pub(crate) fn with_unknown_outcome(self) -> StorageError {
        let (path, cause) = self.into_parts();
        StorageError::OutcomeUnknown { path, cause }
    }

    /// The same failure, for a change that was never written.
    pub(crate) fn as_certain(&self) -> StorageError {
        match self {
            StorageError::OutcomeUnknown { .. } => self.as_abandoned(),
            other => other.clone(),
        }
    }

    /// What is said of a file from then on, as long as no other has taken its place.
    pub(crate) fn as_abandoned(&self) -> StorageError {
        let (path, cause) = self.clone().into_parts();
        StorageError::Abandoned { path, cause }
    }

    fn into_parts(self) -> (PathBuf, Arc<io::Error>) {
        match self {
            StorageError::Io { path, cause }
            | StorageError::OutcomeUnknown { path, cause }
            | StorageError::Abandoned { path, cause } => (path, cause),
            StorageError::Damaged { path, damage } => (path, Arc::new(io::Error::other(damage))),
            StorageError::Version { ref path, .. } | StorageError::InUse { ref path } => {
                (path.clone(), Arc::new(io::Error::other(self.to_string())))
            }
        }
    }
}

impl Diagnose for StorageError {
    fn diagnose(&self) -> Diagnostic {
        let code = match self {
            StorageError::OutcomeUnknown { .. } => Code::OutcomeUnknown,
            _ => Code::StorageUnavailable,
        };
        let help = match self {
            StorageError::Io { cause, .. } => match cause.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "nothing was changed; free some space on the server's disk and try again"
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    "nothing was changed; let the server write to its data folder and try again"
                }
                io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {
                    "nothing was changed; name a folder that is empty or not there yet"
                }
                io::ErrorKind::NotFound => "nothing was changed; look whether the path is right",
                _ => "nothing was changed; look at the server's disk and try again",
            },
            StorageError::Damaged { .. } => {
                "restore the knowledge graph from a backup, or put the undamaged file back and start the server again"
            }
            StorageError::Version { .. } => "start the release that wrote it, or a later one",
            StorageError::InUse { .. } => "stop that one, or use another folder: storage.data_dir",
            StorageError::OutcomeUnknown { .. } => "look whether the change is there before trying again",
            StorageError::Abandoned { .. } => {
                "nothing was changed; look at the server's disk: as soon as it can, the server makes the file anew by itself"
            }
        };
        Diagnostic::error(code, format!("storage failed: {self}")).help(help)
    }
}
