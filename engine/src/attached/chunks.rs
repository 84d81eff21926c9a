//! `Chunks`: a placed file as the reader of Parquet sees it, a part of it in memory.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use bytes::buf::Reader;
use bytes::{Buf, Bytes};
use parking_lot::Mutex;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

use super::error::FilesError;
use super::places::{PlaceError, PlacedFile, Places};
use crate::budget::Budget;

/// The end of a file holds what describes it. Most of these fit so many bytes.
const TAIL: u64 = 64 << 10;
/// The beginning of a page has this length at most, with the least and the greatest value of it.
const PAGE_HEADER: u64 = 1 << 20;

/// A file of which some bytes are in memory. All others are asked for one by one.
#[derive(Debug)]
pub(super) struct Chunks {
    places: Arc<dyn Places>,
    file: PlacedFile,
    budget: Budget,
    /// From where on bytes are held, and these.
    start: u64,
    held: Bytes,
    trouble: Trouble,
}

impl Chunks {
    /// A file with the bytes of a range held.
    pub(super) fn holding(
        places: &Arc<dyn Places>,
        file: &PlacedFile,
        range: Range<u64>,
        budget: &Budget,
    ) -> Result<Chunks, PlaceError> {
        let start = range.start;
        let held = if range.is_empty() { Bytes::new() } else { places.read(file, range, budget)? };
        let (places, file, budget) = (Arc::clone(places), file.clone(), budget.clone());
        Ok(Chunks { places, file, budget, start, held, trouble: Trouble::default() })
    }

    /// What will go wrong with its place.
    pub(super) fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }

    /// What is held from a place on.
    fn held_from(&self, start: u64) -> Option<Bytes> {
        let from = usize::try_from(start.checked_sub(self.start)?).ok()?;
        (from < self.held.len()).then(|| self.held.slice(from..))
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes, ParquetError> {
        if range.end > self.file.bytes {
            return Err(ParquetError::EOF(format!("{} is beyond its end", range.end)));
        }
        let length = (range.end - range.start) as usize;
        match self.held_from(range.start).filter(|held| held.len() >= length) {
            Some(held) => Ok(held.slice(..length)),
            None => self.places.read(&self.file, range, &self.budget).map_err(|error| {
                let said = ParquetError::General(error.to_string());
                *self.trouble.0.lock() = Some(error);
                said
            }),
        }
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.file.bytes
    }
}

impl ChunkReader for Chunks {
    type T = Reader<Bytes>;

    /// What is read from somewhere on is the beginning of a page, or the end of the file.
    fn get_read(&self, start: u64) -> Result<Reader<Bytes>, ParquetError> {
        let end = start.saturating_add(PAGE_HEADER).min(self.file.bytes);
        self.held_from(start).map_or_else(|| self.read(start..end), Ok).map(Buf::reader)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        self.read(start..start.saturating_add(length as u64))
    }
}

/// What describes a file.
pub(super) fn metadata(
    places: &Arc<dyn Places>,
    file: &PlacedFile,
    budget: &Budget,
) -> Result<ArrowReaderMetadata, FilesError> {
    let tail = file.bytes.saturating_sub(TAIL)..file.bytes;
    let chunks = Chunks::holding(places, file, tail, budget)?;
    let trouble = chunks.trouble();
    ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::new()).map_err(|error| trouble.said(file, &error))
}

/// What a place said when it was asked for a part of a file. The reader of Parquet makes text of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Trouble(Arc<Mutex<Option<PlaceError>>>);

impl Trouble {
    /// What went wrong where a file was read: with its place, or else with its content.
    pub(super) fn said(&self, file: &PlacedFile, error: &dyn Error) -> FilesError {
        match self.0.lock().take() {
            Some(error) => FilesError::Place(error),
            None => FilesError::Content { file: file.name.clone(), why: error.to_string() },
        }
    }
}
