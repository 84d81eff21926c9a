//! `Folder`: where the files of one process are, as long as it lasts.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// What marks a folder as that of a process: a file beside it, which the process has locked.
const MARK: &str = "lock";

/// A name that no other process has.
pub(crate) fn new_process() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Whether this may be the name of a process; what has other names is somebody else's.
pub(crate) fn is_process(name: &str) -> bool {
    name.len() == new_process().len() && Uuid::try_parse(name).is_ok()
}

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
        let path = root.join(new_process());
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
        let is_ours = mark.file_stem().and_then(OsStr::to_str).is_some_and(is_process);
        if is_ours && mark.extension().is_some_and(|extension| extension == MARK) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let dead = root.path().join(new_process());
        for path in [&dead, &root.path().join("sales")] {
            fs::create_dir(path).unwrap();
            fs::write(path.with_extension(MARK), "").unwrap();
        }
        let living = Folder::below(root.path()).unwrap();
        let _other = Folder::below(root.path()).unwrap();
        assert!(!dead.exists() && !dead.with_extension(MARK).exists());
        assert!(living.path().exists(), "it is locked");
        assert!(root.path().join("sales").exists() && root.path().join("sales.lock").exists());
    }
}
