//! Files of this machine.

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
    let found = glob::glob(&name).map_err(|error| unreadable(&name, error.msg))?;
    let mut files = Vec::new();
    for path in found {
        let path = path.map_err(|error| unreadable(&error.path().to_string_lossy(), error.error()))?;
        let name = path.to_string_lossy().into_owned();
        // A pattern of folders stands for them, too.
        if !location.holds(name.trim_start_matches('/')) {
            continue;
        }
        let (_, metadata) = opened(&name, &check)?;
        if metadata.is_file() {
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
    let (opened, metadata) = opened(&file.name, &check)?;
    if metadata.len() != file.bytes || mark(&metadata) != file.mark {
        return Err(PlaceError::Changed { file: file.name.clone() });
    }
    let length = usize::try_from(range.end - range.start).map_err(|error| unreadable(&file.name, error))?;
    let mut bytes = vec![0; length];
    opened.read_exact_at(&mut bytes, range.start).map_err(|error| unreadable(&file.name, error))?;
    Ok(bytes.into())
}

/// A file, which may be a link to one that may be read as well.
fn opened(name: &str, check: Check<'_>) -> Result<(File, Metadata), PlaceError> {
    let open = || -> io::Result<(String, File, Metadata)> {
        let place = fs::canonicalize(name)?;
        let file = File::open(&place)?;
        let metadata = file.metadata()?;
        Ok((place.to_string_lossy().into_owned(), file, metadata))
    };
    let (place, file, metadata) = open().map_err(|error| unreadable(name, error))?;
    if place != name {
        check(&place)?;
    }
    Ok((file, metadata))
}

/// What changes with the content.
fn mark(metadata: &Metadata) -> String {
    format!("{}-{}.{:09}", metadata.ino(), metadata.mtime(), metadata.mtime_nsec())
}

fn unreadable(file: &str, why: impl ToString) -> PlaceError {
    PlaceError::Unreadable { file: file.to_owned(), why: why.to_string() }
}
