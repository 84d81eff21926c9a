//! Sealed runs: the rows of a relation as a Parquet file that any other tool reads.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::columns::{StoredColumns, rows_of};
use super::error::{Damage, StorageError};
use super::files::{Files, HashedFile};
use super::seal::file_hash;
use crate::data::{Dictionary, Rows, RunFile, parallel};

/// Rows that are read by one thread at a time.
const ROW_GROUP: usize = 1 << 18;
/// Bytes after which these are written out: so much is in memory at once, and a little more.
const ROW_GROUP_BYTES: usize = 64 << 20;

/// Writes rows to a new file, durably. `pace` is told of the bytes as they are written.
pub fn write_run(
    files: &dyn Files,
    path: &Path,
    stored: &StoredColumns<'_>,
    pace: &mut dyn FnMut(usize),
) -> Result<RunFile, StorageError> {
    try_write(files, path, stored, pace).map_err(|error| StorageError::io(path, error))
}

fn try_write(
    files: &dyn Files,
    path: &Path,
    stored: &StoredColumns<'_>,
    pace: &mut dyn FnMut(usize),
) -> io::Result<RunFile> {
    let mut sink = HashedFile::create(files, path)?;
    let schema = Arc::clone(stored.schema());
    let mut writer = ArrowWriter::try_new(&mut sink, schema, Some(properties(stored))).map_err(into_io)?;
    let mut before = 0;
    for number in 0..stored.count() {
        writer.write(&stored.batch(number)).map_err(into_io)?;
        pace(writer.bytes_written() - before);
        before = writer.bytes_written();
    }
    writer.close().map_err(into_io)?;
    let (hash, bytes) = sink.written();
    sink.finish()?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(RunFile { name, rows: stored.rows(), bytes, hash, in_order: true })
}

fn properties(stored: &StoredColumns<'_>) -> WriterProperties {
    let all = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP))
        .set_max_row_group_bytes(Some(ROW_GROUP_BYTES))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by("stratalog".to_owned());
    // Their dictionaries have whatever a batch has, and nobody asks for the least and the largest of long values.
    let once = stored.once().map(|name| ColumnPath::new(vec![name.to_owned()]));
    once.fold(all, |all, path| {
        all.set_column_dictionary_page_size_limit(path.clone(), usize::MAX)
            .set_column_statistics_enabled(path, EnabledStatistics::None)
    })
    .build()
}

/// Reads a file back, its rows in the order in which they were written.
pub fn read_run(
    files: &dyn Files,
    path: &Path,
    expected: &RunFile,
    arity: usize,
    dictionary: &Dictionary,
) -> Result<Rows, StorageError> {
    let content = files.read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => StorageError::damaged(path, Damage::Missing("the file".to_owned())),
        _ => StorageError::io(path, error),
    })?;
    if content.len() as u64 != expected.bytes || file_hash(&content) != expected.hash {
        return Err(StorageError::damaged(path, Damage::Checksum));
    }
    let unreadable = |what: String| StorageError::unreadable(path, what);
    let mut all = Rows::empty(arity);
    all.columns.iter_mut().for_each(|column| column.reserve_exact(expected.rows));
    read_groups(&content, dictionary, &mut |part| {
        if part.columns.len() != arity {
            return Err(format!("{} columns", part.columns.len()));
        }
        all.append(part);
        Ok(())
    })
    .map_err(unreadable)?;
    if all.len != expected.rows {
        return Err(unreadable(format!("{} rows instead of {}", all.len, expected.rows)));
    }
    Ok(all)
}

/// Reads as many row groups at once as there are threads, and hands their rows on in order.
fn read_groups(
    content: &Bytes,
    dictionary: &Dictionary,
    take: &mut dyn FnMut(Rows) -> Result<(), String>,
) -> Result<(), String> {
    let groups = ParquetRecordBatchReaderBuilder::try_new(content.clone())
        .map_err(|error| error.to_string())?
        .metadata()
        .num_row_groups();
    let read_group = |group: usize| -> Result<Vec<Rows>, String> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(content.clone())
            .and_then(|builder| builder.with_row_groups(vec![group]).with_batch_size(1 << 16).build())
            .map_err(|error| error.to_string())?;
        let rows = |batch: Result<RecordBatch, _>| {
            rows_of(&batch.map_err(|error: arrow::error::ArrowError| error.to_string())?, dictionary)
        };
        reader.map(rows).collect()
    };
    let groups: Vec<usize> = (0..groups).collect();
    for some in groups.chunks(parallel::thread_count()) {
        for parts in parallel::map(some.to_vec(), read_group) {
            parts?.into_iter().try_for_each(&mut *take)?;
        }
    }
    Ok(())
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    }
}
