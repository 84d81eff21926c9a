//! A segment of the archive: everything that was stored after one moment and until another, in all graphs and in the
//! system store.
//!
//! ```text
//! 8 bytes    length of the header, little endian
//! header     JSON: `Header`
//! records    as they stand in journals, in the order of the header
//! 32 bytes   the hash of all before, in hexadecimal
//! ```
//!
//! Segments follow each other without gaps: one begins where another ends.

use std::io::Write;
use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::storage::{
    Files, HashedFile, Moment, Pieces, StorageError, StoredRecord, SystemEdit, file_hash, is_plain_name,
};

const HASH_BYTES: usize = 32;
const LENGTH_BYTES: usize = 8;

/// What a segment is of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    /// The archive that it is part of.
    pub(super) line: Moment,
    /// What was stored later than this,
    pub(super) after: Moment,
    /// and not later than this.
    pub(super) until: Moment,
    pub(super) graphs: Vec<GraphPart>,
    pub(super) system: Vec<SystemEdit>,
}

/// What was stored of one graph.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GraphPart {
    pub(super) name: String,
    pub(super) folder: String,
    pub(super) records: Vec<RecordPart>,
}

/// A commit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct RecordPart {
    pub(super) version: u64,
    pub(super) moment: Moment,
    bytes: usize,
}

impl RecordPart {
    pub(super) fn of(stored: &StoredRecord, moment: Moment) -> RecordPart {
        RecordPart { version: stored.version, moment, bytes: stored.content.byte_count() }
    }
}

/// The name of the file of a segment that goes to this moment.
pub(super) fn file_name(until: Moment) -> String {
    format!("{:020}.records", until.0)
}

/// The moment to which the segment of this file goes.
pub(super) fn until(name: &str) -> Option<Moment> {
    name.strip_suffix(".records")?.parse().ok().map(Moment)
}

/// Writes a segment, with the records that its header names.
pub(super) fn write(
    files: &dyn Files,
    path: &Path,
    header: &Header,
    records: impl Iterator<Item = Result<StoredRecord, StorageError>>,
) -> Result<(), StorageError> {
    let text = serde_json::to_vec(header).map_err(|error| StorageError::unreadable(path, error))?;
    let io = |error| StorageError::io(path, error);
    let mut file = HashedFile::create(files, path).map_err(io)?;
    file.write_all(&(text.len() as u64).to_le_bytes()).map_err(io)?;
    file.write_all(&text).map_err(io)?;
    for record in records {
        record?.content.iter().try_for_each(|piece| file.write_all(piece)).map_err(io)?;
    }
    let (hash, _) = file.written();
    file.write_all(hash.as_bytes()).map_err(io)?;
    file.finish().map_err(io)
}

/// A segment that was read.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) header: Header,
    records: Bytes,
}

impl Segment {
    /// Reads a segment whose hash fits.
    pub(super) fn decode(path: &Path, bytes: &Bytes) -> Result<Segment, StorageError> {
        let unreadable = |what: &str| StorageError::unreadable(path, what);
        let end = bytes.len().checked_sub(HASH_BYTES).ok_or_else(|| unreadable("it is cut short"))?;
        if file_hash(&bytes[..end]).as_bytes() != &bytes[end..] {
            return Err(unreadable("a checksum does not fit"));
        }
        let (length, rest) =
            bytes[..end].split_first_chunk::<LENGTH_BYTES>().ok_or_else(|| unreadable("it is cut short"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        let text = rest.get(..length).ok_or_else(|| unreadable("it is cut short"))?;
        let header: Header =
            serde_json::from_slice(text).map_err(|error| StorageError::unreadable(path, error))?;
        if let Some(part) = header.graphs.iter().find(|part| !is_plain_name(&part.folder)) {
            return Err(unreadable(&format!("`{}` is no folder's name", part.folder.escape_debug())));
        }
        let records = bytes.slice(LENGTH_BYTES + length..end);
        let named = header.graphs.iter().flat_map(|part| &part.records).map(|record| record.bytes);
        if named.fold(0, usize::saturating_add) != records.len() {
            return Err(unreadable("its records have another length than it says"));
        }
        Ok(Segment { header, records })
    }

    /// The records with the graphs that they are of.
    pub(super) fn records(&self) -> impl Iterator<Item = (&GraphPart, &RecordPart, &[u8])> {
        let parts = self.header.graphs.iter().flat_map(|part| part.records.iter().map(move |r| (part, r)));
        parts.scan(0, move |start: &mut usize, (part, record)| {
            let content = &self.records[*start..*start + record.bytes];
            *start += record.bytes;
            Some((part, record, content))
        })
    }
}

/// A record as a journal takes it.
pub(super) fn stored(version: u64, bytes: &[u8]) -> Result<StoredRecord, std::io::Error> {
    let mut content = Pieces::default();
    content.write_all(bytes)?;
    Ok(StoredRecord { version, content })
}
