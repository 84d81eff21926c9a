//! `Files`: folders and files, on a disk or in an object store. Each file is written once, and is there whole or not at all.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

use bytes::Bytes;

use super::seal::FileHasher;

/// What can be done with files that are never changed. What returns `Ok` is durable, where it says so.
pub trait Files: fmt::Debug + Send + Sync + 'static {
    /// Begins a file, which replaces one of the same name. Nothing of it is there before [`NewFile::finish`].
    fn create(&self, path: &Path) -> io::Result<Box<dyn NewFile>>;
    /// The whole content of a file.
    fn read(&self, path: &Path) -> io::Result<Bytes>;
    /// Removes a file; it may come back after a loss of power.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Creates a folder and those above it, durably. It may exist. If that fails, what was made of it is gone again.
    fn create_folder(&self, path: &Path) -> io::Result<()>;
    /// Takes the rights of everybody but the owner away from a folder that was there before. Where that cannot be done, it
    /// is told and nothing else.
    fn close_to_others(&self, _path: &Path) {}
    /// Removes a folder with everything in it; it may be gone already.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// The names of the files and folders in a folder, sorted; none where there is no such folder.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Whether there is such a file or folder.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Whether this very name is that of a link to somewhere else.
    fn is_link(&self, path: &Path) -> io::Result<bool> {
        let _ = path;
        Ok(false)
    }
}

/// Whether a name leads to an entry of a folder, and nowhere else.
pub fn is_plain_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..") && !name.contains(['/', '\\', '\0'])
}

/// A file that is being written.
pub trait NewFile: Write + Send {
    /// Makes the file be there, whole and durably.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A file whose hash is taken as it is written.
pub struct HashedFile {
    file: Box<dyn NewFile>,
    hasher: FileHasher,
    bytes: u64,
}

impl HashedFile {
    /// Begins one.
    pub fn create(files: &dyn Files, path: &Path) -> io::Result<HashedFile> {
        Ok(HashedFile { file: files.create(path)?, hasher: FileHasher::default(), bytes: 0 })
    }

    /// The hash of what is written so far, as [`file_hash`](super::file_hash), and its length.
    pub fn written(&self) -> (String, u64) {
        (self.hasher.finish(), self.bytes)
    }

    /// Makes the file be there, whole and durably.
    pub fn finish(self) -> io::Result<()> {
        self.file.finish()
    }
}

impl Write for HashedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
