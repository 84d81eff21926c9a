//! `Folder`: where the files of one process are, as long as it lasts.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// What marks a folder as that of a process: a file beside it, which the process has locked.
const MARK: &str = "lock";

/// A folder of a process, which is removed with it; what a process has left that was killed, the next one removes.
#[derive(Debug)]
pub(crate) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// A new one below a folder that processes may share.
    pub(crate) fn below(root: &Path) -> io::Result<Folder> {
        fs::create_dir_all(root)?;
        sweep(root)?;
        let path = root.join(Uuid::new_v4().simple().to_string());
        let lock = File::create(path.with_extension(MARK))?;
        lock.lock()?;
        fs::create_dir(&path)?;
        Ok(Folder { path, _lock: lock })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its name among those of other processes.
    pub(crate) fn name(&self) -> &str {
        self.path.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes what processes have left that are no more.
fn sweep(root: &Path) -> io::Result<()> {
    for entry in fs::read_dir(root)? {
        let mark = entry?.path();
        if mark.extension().is_some_and(|extension| extension == MARK) {
            let Ok(lock) = File::open(&mark) else { continue };
            match lock.try_lock() {
                Ok(()) => remove(&mark.with_extension("")),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }
    Ok(())
}

/// What cannot be removed is in nobody's way.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_ok() || !path.exists() {
        let _ = fs::remove_file(path.with_extension(MARK));
    }
}
