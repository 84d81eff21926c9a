//! Files of this machine.

use std::fmt::Display;
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};

use bytes::Bytes;
use stratalog_engine::attached::{PlaceError, PlacedFile};

use super::location::Location;

/// Whether what a name leads to may be read.
type Check<'c> = &'c dyn Fn(&str) -> Result<(), PlaceError>;

/// The files that a location stands for.
pub(super) fn list(
    location: &Location,
    check: impl Fn(&str) -> Result<(), PlaceError>,
) -> Result<Vec<PlacedFile>, PlaceError> {
    let name = location.name();
    let found = glob::glob(&name).map_err(|error| unreadable(&name, &error.msg))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| unreadable(&error.path().to_string_lossy(), error.error()))?;
        let name = path.to_string_lossy().into_owned();
        // A pattern of folders stands for them, too.
        if !location.holds(name.trim_start_matches('/')) {
            continue;
        }
        if let Some(file) = opened(&name, &check)? {
            let metadata = file.metadata().map_err(|error| unreadable(&name, &error))?;
            files.push(PlacedFile { mark: mark(&metadata), bytes: metadata.len(), name });
        }
    }
    Ok(files)
}

/// Bytes of a file that is what it was.
pub(super) fn read(
    file: &PlacedFile,
    range: Range<u64>,
    check: impl Fn(&str) -> Result<(), PlaceError>,
) -> Result<Bytes, PlaceError> {
    let changed = || PlaceError::Changed { file: file.name.clone() };
    let opened = opened(&file.name, &check)?.ok_or_else(changed)?;
    let length = usize::try_from(range.end - range.start).map_err(|error| unreadable(&file.name, &error))?;
    let mut bytes = vec![0; length];
    let read = opened.read_exact_at(&mut bytes, range.start);
    // Looked at afterwards, it was what it was all the time.
    let metadata = opened.metadata().map_err(|error| unreadable(&file.name, &error))?;
    if metadata.len() != file.bytes || mark(&metadata) != file.mark {
        return Err(changed());
    }
    read.map_err(|error| unreadable(&file.name, &error))?;
    Ok(bytes.into())
}

/// A file, which may be a link to one that may be read as well. Nothing, if it is a folder, or a pipe that would have whoever
/// opens it wait.
fn opened(name: &str, check: Check<'_>) -> Result<Option<File>, PlaceError> {
    let failed = |error: io::Error| unreadable(name, &error);
    let place = fs::canonicalize(name).map_err(failed)?;
    let place_name = place.to_string_lossy();
    if place_name != name {
        check(&place_name)?;
    }
    match fs::metadata(&place).map_err(failed)?.is_file() {
        true => File::open(&place).map(Some).map_err(failed),
        false => Ok(None),
    }
}

/// What changes with the content.
fn mark(metadata: &Metadata) -> String {
    format!("{}-{}.{:09}", metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

fn unreadable(file: &str, why: &dyn Display) -> PlaceError {
    PlaceError::Unreadable { file: file.to_owned(), why: why.to_string() }
}
