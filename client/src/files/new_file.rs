//! `NewFile`: a file that appears under its name when it is complete, and otherwise not at all.
//!
//! Its bytes go to another file of the same folder, which takes the name at the end, and the rights of the file that had the
//! name before. What is no regular file (a device, a pipe) is written to as it is; a link stays a link.

use super::error::FileError;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::{Builder, TempPath};

/// A file that is being written.
pub struct NewFile {
    path: PathBuf,
    /// What takes its name in the end; nothing where the bytes go straight to what is there.
    incomplete: Option<Incomplete>,
}

struct Incomplete {
    partial: TempPath,
    target: PathBuf,
}

/// The partial files of this process.
static PARTIAL: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl NewFile {
    /// Begins a file.
    pub fn create(path: &Path) -> Result<(NewFile, BufWriter<File>), FileError> {
        let (incomplete, file) =
            begin(path).map_err(|error| FileError::new(&path.display().to_string(), error))?;
        Ok((NewFile { path: path.to_owned(), incomplete }, BufWriter::with_capacity(1 << 18, file)))
    }

    /// Gives the file its name.
    pub fn keep(mut self) -> Result<(), FileError> {
        let Some(Incomplete { partial, target }) = self.incomplete.take() else { return Ok(()) };
        let name = partial.to_path_buf();
        // Where that fails, the partial file goes.
        let kept = partial.persist(target);
        forget(&name);
        kept.map_err(|error| FileError::new(&self.path.display().to_string(), error.error))
    }

    /// Removes what is not complete: for a program that is told to end at once, by a signal.
    pub fn remove_partial() {
        for path in partial_files().drain(..) {
            let _ = std::fs::remove_file(path); // it is of no use to anybody
        }
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some(Incomplete { partial, .. }) = self.incomplete.take() {
            forget(&partial);
        }
    }
}

fn forget(partial: &Path) {
    partial_files().retain(|other| other != partial);
}

fn partial_files() -> MutexGuard<'static, Vec<PathBuf>> {
    PARTIAL.lock().unwrap_or_else(PoisonError::into_inner) // no code panics while it holds the lock
}

fn begin(path: &Path) -> io::Result<(Option<Incomplete>, File)> {
    // Whoever redirects to a file, and names the redirection, has a place in that file.
    if ["/dev/std", "/dev/fd/", "/proc/"].iter().any(|names| path.to_string_lossy().starts_with(names)) {
        return Ok((None, OpenOptions::new().append(true).open(path)?));
    }
    // Opened to find out whether it may be written to, and what it is; nothing happens to it yet.
    let (target, mode) = match OpenOptions::new().write(true).open(path) {
        Ok(file) => {
            let found = file.metadata()?;
            if !found.is_file() {
                return Ok((None, file));
            }
            (path.canonicalize()?, Some(found.permissions()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => (end_of_links(path)?, None),
        Err(error) => return Err(error),
    };
    let mut prefix = target.file_name().unwrap_or_default().to_owned();
    prefix.push(".");
    let folder = match target.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    std::fs::metadata(folder)?; // or the partial file would be what is not there
    let mut builder = Builder::new();
    builder.prefix(&prefix).suffix(".partial");
    #[cfg(unix)] // as of every new file; by itself the library lets nobody else in
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let (file, partial) = builder.tempfile_in(folder).map_err(|error| plain(&error))?.into_parts();
    if let Some(mode) = mode {
        file.set_permissions(mode)?;
    }
    partial_files().push(partial.to_path_buf());
    Ok((Some(Incomplete { partial, target }), file))
}

/// Where a link leads that leads to nothing yet.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..40 {
        match path.read_link() {
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links"))
}

/// The error without the name of the partial file.
fn plain(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::io::Write;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn write(path: &Path, text: &str) {
        let (file, mut out) = NewFile::create(path).unwrap();
        out.write_all(text.as_bytes()).unwrap();
        out.flush().unwrap();
        file.keep().unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let names = folder.read_dir().unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn rights_and_links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a"), "old").unwrap();
        std::fs::set_permissions(at("a"), Permissions::from_mode(0o600)).unwrap();
        symlink("a", at("link")).unwrap();
        symlink("b", at("nowhere")).unwrap();
        write(&at("link"), "new");
        write(&at("nowhere"), "begun");
        assert!(at("link").is_symlink() && at("nowhere").is_symlink());
        assert_eq!(std::fs::read_to_string(at("a")).unwrap(), "new");
        assert_eq!(std::fs::read_to_string(at("b")).unwrap(), "begun");
        assert_eq!(at("a").metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(names(folder.path()), ["a", "b", "link", "nowhere"]);
    }

    #[test]
    fn nothing_stays_of_what_is_not_complete() {
        let folder = tempfile::tempdir().unwrap();
        assert!(NewFile::create(folder.path()).is_err());
        let path = folder.path().join("a");
        // Two at once, and a file of the user that has such a name.
        std::fs::write(folder.path().join("a.partial"), "mine").unwrap();
        let (one, _) = NewFile::create(&path).unwrap();
        let (other, _) = NewFile::create(&path).unwrap();
        drop(one);
        other.keep().unwrap();
        assert_eq!(names(folder.path()), ["a", "a.partial"]);
        // What cannot get its name goes, too.
        let (file, _) = NewFile::create(&folder.path().join("b")).unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        assert!(file.keep().is_err());
        assert_eq!(names(folder.path()), ["a", "a.partial", "b"]);
        assert_eq!(std::fs::read_to_string(folder.path().join("a.partial")).unwrap(), "mine");
    }
}
