//! `Medium`: where files are. `Disk` is the real one; tests bring another, which loses power.
//!
//! What `Disk` makes is for the server's user alone, whatever the umask says: facts stand in it in clear.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use redb::backends::FileBackend;
use redb::{BackendError, StorageBackend};

use super::files::{Files, NewFile};

/// The file operations that storage is made of. What returns `Ok` is durable, where it says so.
pub trait Medium: Files {
    /// The bytes under the redb database in a file, which nobody else may have open.
    fn database(&self, path: &Path) -> io::Result<DatabaseFile>;
}

/// The bytes under a redb database.
#[derive(Debug)]
pub struct DatabaseFile(Box<dyn StorageBackend>, SyncWatch);

impl DatabaseFile {
    /// Wraps any backend.
    pub fn new(backend: impl StorageBackend) -> DatabaseFile {
        DatabaseFile(Box::new(backend), SyncWatch::default())
    }

    /// Tells at any time whether a sync of the file has failed.
    pub(super) fn watch(&self) -> SyncWatch {
        self.1.clone()
    }
}

/// Whether a sync of a file has failed. From then on what is read back may be what never reaches the disk: the
/// operating system has marked those pages clean, and tells nobody again.
#[derive(Debug, Clone, Default)]
pub(super) struct SyncWatch(Arc<AtomicBool>);

impl SyncWatch {
    /// Whether one has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl StorageBackend for DatabaseFile {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data().inspect_err(|_| self.1.0.store(true, Ordering::Release))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.0.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_range(start, end)
    }

    fn try_lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.0.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.0.query_lock_range(start, end)
    }
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

impl Medium for Disk {
    fn database(&self, path: &Path) -> io::Result<DatabaseFile> {
        loop {
            let file = OpenOptions::new().read(true).write(true).open(path)?;
            let opened = file.metadata()?;
            let backend = FileBackend::new(file).map_err(|error| match error {
                redb::DatabaseError::DatabaseAlreadyOpen => io::Error::from(io::ErrorKind::ResourceBusy),
                other => io::Error::other(other),
            })?;
            // Whoever has locked a file that was replaced meanwhile has locked nothing.
            if is_same_file(&opened, &fs::metadata(path)?) {
                return Ok(DatabaseFile::new(backend));
            }
        }
    }
}

impl Files for Disk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>> {
        let mut unfinished = path.as_os_str().to_owned();
        unfinished.push(".unfinished");
        // What a crash has left there may have other rights.
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let file = private_file().write(true).create_new(true).open(&unfinished)?;
        Ok(Box::new(DiskFile { file, unfinished: unfinished.into(), path: path.to_owned() }))
    }

    fn read(&self, path: &Path) -> io::Result<Bytes> {
        fs::read(path).map(Bytes::from)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
            self.create_folder(above)?;
        }
        match private_folder().create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            created => created.and_then(|()| sync_folder_of(path)).inspect_err(|_| {
                // A name that is not durable must not be found and taken for one that is.
                let _ = fs::remove_dir(path);
            }),
        }
    }

    #[cfg(unix)]
    fn close_to_others(&self, path: &Path) {
        use std::os::unix::fs::PermissionsExt;
        const OTHERS: u32 = 0o077;
        let Ok(mode) = fs::metadata(path).map(|found| found.permissions().mode()) else { return };
        if mode & OTHERS == 0 {
            return;
        }
        match fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o7777 & !OTHERS)) {
            Ok(()) => tracing::warn!(
                "{} was open to others (mode {:o}); it is the server's alone now",
                path.display(),
                mode & 0o777
            ),
            Err(error) => tracing::warn!(
                "{} is open to others (mode {:o}), and that cannot be changed: {error}",
                path.display(),
                mode & 0o777
            ),
        }
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.and_then(|()| sync_folder_of(path)),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn is_link(&self, path: &Path) -> io::Result<bool> {
        fs::symlink_metadata(path).map(|found| found.is_symlink())
    }
}

struct DiskFile {
    file: File,
    unfinished: PathBuf,
    path: PathBuf,
}

impl Write for DiskFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl NewFile for DiskFile {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.unfinished, &self.path)?;
        sync_folder_of(&self.path)
    }
}

impl Drop for DiskFile {
    fn drop(&mut self) {
        // A finished file has its name by now, and there is nothing to remove.
        let _ = fs::remove_file(&self.unfinished);
    }
}

#[cfg(unix)]
fn is_same_file(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Elsewhere a file that is open is not replaced.
#[cfg(not(unix))]
fn is_same_file(_: &fs::Metadata, _: &fs::Metadata) -> bool {
    true
}

/// How files are made: for their owner alone.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// How folders are made: for their owner alone.
fn private_folder() -> DirBuilder {
    #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
}

/// A new name is durable when its folder is.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}
