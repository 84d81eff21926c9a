//! Parquet files as relations: how the tests write them, and how an engine of theirs reads them.

use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;
use stratalog_engine::Budget;
use stratalog_engine::attached::{PlaceError, PlacedFile, Places};

/// Any folder of this machine: `/folder/*`.
#[derive(Debug)]
pub struct Folders;

impl Places for Folders {
    fn list(&self, place: &str, _: &Budget) -> Result<Vec<PlacedFile>, PlaceError> {
        let unreadable =
            |error: std::io::Error| PlaceError::Unreadable { file: place.to_owned(), why: error.to_string() };
        let folder = place.strip_suffix("/*").unwrap_or(place);
        let mut files = Vec::new();
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let path = entry.map_err(unreadable)?.path();
            let bytes = fs::metadata(&path).map_err(unreadable)?.len();
            files.push(PlacedFile { name: path.to_string_lossy().into_owned(), bytes, mark: String::new() });
        }
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(files)
    }

    fn read(&self, file: &PlacedFile, range: Range<u64>, _: &Budget) -> Result<Bytes, PlaceError> {
        let unreadable = |error: std::io::Error| PlaceError::Unreadable {
            file: file.name.clone(),
            why: error.to_string(),
        };
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let opened = File::open(&file.name).map_err(unreadable)?;
        opened.read_exact_at(&mut bytes, range.start).map_err(unreadable)?;
        Ok(bytes.into())
    }
}

/// Writes rows to a file, a few to a row group.
pub fn write(path: &Path, batch: &RecordBatch, rows_of_a_group: usize) {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(rows_of_a_group)).build();
    let file = File::create(path).expect("a file");
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).expect("a writer");
    writer.write(batch).expect("rows are written");
    writer.close().expect("the file is whole");
}

/// The same rows in a folder of two files, some in both of them, the columns of the second in another order.
pub fn write_apart(folder: &Path, batch: &RecordBatch) {
    fs::create_dir(folder).expect("a folder");
    let rows = batch.num_rows();
    let first = rows.div_ceil(2);
    let again = (first / 2).min(rows);
    write(&folder.join("1.parquet"), &batch.slice(0, first), 3);
    let reversed: Vec<usize> = (0..batch.num_columns()).rev().collect();
    let second = batch.slice(again, rows - again).project(&reversed).expect("columns of the batch");
    write(&folder.join("2.parquet"), &second, 2);
}

/// Whether a batch has no columns but those that can be attached.
pub fn can_be_attached(schema: &Schema) -> bool {
    let is_plain = |found: &DataType| {
        matches!(
            found,
            DataType::Int64
                | DataType::Float64
                | DataType::Boolean
                | DataType::Utf8
                | DataType::Timestamp(..)
        )
    };
    !schema.fields().is_empty() && schema.fields().iter().all(|field| is_plain(field.data_type()))
}

/// For engines of tests.
pub fn places() -> Option<Arc<dyn Places>> {
    Some(Arc::new(Folders))
}
