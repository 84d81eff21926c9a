//! What a place holds: its files, and the columns that all of them have.

use std::sync::Arc;

use parquet::basic::Compression;

use super::at_once::at_once;
use super::attachment::{AttachedFile, Attachment};
use super::chunks::metadata;
use super::columns::type_of;
use super::error::FilesError;
use super::places::{PlacedFile, Places};
use crate::budget::Budget;
use crate::data::DataType;

/// What was found at a place.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) attachment: Attachment,
    /// The types of its columns.
    pub(crate) types: Vec<DataType>,
}

/// Lists a place, and reads what describes its files. All of them have the columns of the first one, in any order.
pub(crate) fn look(place: &str, places: &Arc<dyn Places>, budget: &Budget) -> Result<Found, FilesError> {
    let listed = places.list(place, budget)?;
    let described = at_once(listed, |file| described(places, file, budget));
    let mut described = described.into_iter();
    let first = described
        .next()
        .unwrap_or_else(|| Err(super::PlaceError::Empty { place: place.to_owned() }.into()))?;
    let mut files = vec![first.file];
    for other in described {
        let other = other?;
        check_same(&first.columns, &other)?;
        files.push(other.file);
    }
    let (columns, types) = first.columns.into_iter().unzip();
    Ok(Found { attachment: Attachment { place: place.to_owned(), columns, files }, types })
}

struct Described {
    file: AttachedFile,
    columns: Vec<(String, DataType)>,
}

fn described(places: &Arc<dyn Places>, file: PlacedFile, budget: &Budget) -> Result<Described, FilesError> {
    budget.check()?;
    let metadata = metadata(places, &file, budget)?;
    let mut columns: Vec<(String, DataType)> = Vec::new();
    for field in metadata.schema().fields() {
        let refused =
            |why: String| FilesError::Column { file: file.name.clone(), column: field.name().clone(), why };
        let Some(data_type) = type_of(field) else {
            return Err(refused(format!("is of Arrow type {}, which cannot be attached", field.data_type())));
        };
        if columns.iter().any(|(name, _)| name == field.name()) {
            return Err(refused("is there twice".to_owned()));
        }
        columns.push((field.name().clone(), data_type));
    }
    let mut chunks = metadata.metadata().row_groups().iter().flat_map(|group| group.columns());
    if let Some(compression) = chunks.find_map(|chunk| unknown(chunk.compression())) {
        let why = format!("it is compressed by {compression}");
        return Err(FilesError::Content { file: file.name, why });
    }
    let rows = metadata.metadata().file_metadata().num_rows();
    let rows = u64::try_from(rows).unwrap_or(0);
    Ok(Described { file: AttachedFile { file, rows }, columns })
}

/// The name of a compression that nothing here reads.
fn unknown(compression: Compression) -> Option<&'static str> {
    match compression {
        Compression::UNCOMPRESSED
        | Compression::SNAPPY
        | Compression::GZIP(_)
        | Compression::LZ4
        | Compression::LZ4_RAW
        | Compression::ZSTD(_) => None,
        Compression::BROTLI(_) => Some("Brotli"),
        Compression::LZO => Some("LZO"),
    }
}

/// Whether a file has the columns of the first one.
fn check_same(first: &[(String, DataType)], other: &Described) -> Result<(), FilesError> {
    let refused = |column: &str, why: String| {
        let file = other.file.file.name.clone();
        Err(FilesError::Column { file, column: column.to_owned(), why })
    };
    for (column, data_type) in first {
        match other.columns.iter().find(|(name, _)| name == column) {
            None => return refused(column, "is missing".to_owned()),
            Some((_, found)) if found != data_type => {
                return refused(column, format!("is of type {found}, and {data_type} in the first file"));
            }
            Some(_) => {}
        }
    }
    match other.columns.iter().find(|(name, _)| first.iter().all(|(column, _)| column != name)) {
        Some((column, _)) => refused(column, "is not in the first file".to_owned()),
        None => Ok(()),
    }
}
