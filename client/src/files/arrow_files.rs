//! Files that hold Arrow data already: Parquet, and Arrow IPC as a file or a stream.

use super::column_type::{Column, ColumnType};
use super::conversion::Conversion;
use super::error::FileError;
use super::format::FileFormat;
use super::layout::{self, Layout};
use super::losses::Losses;
use super::options::ReadOptions;
use super::sample::Source;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::metadata::ParquetMetaData;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

/// So many rows, or bytes, are given away at once.
const ROWS: usize = 1 << 14;
const BYTES: usize = 4 << 20;
/// What an Arrow file begins with, and a stream does not.
const MAGIC: &[u8] = b"ARROW1";

type Found = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The batches of a file.
pub(super) struct Batches {
    name: String,
    schema: SchemaRef,
    source: Found,
    /// The column of the file for each of the schema, and what becomes of it.
    columns: Vec<(usize, Conversion)>,
    warning: Option<String>,
    losses: Losses,
    /// What is left of a batch that is too long, and how many of its rows are given away at once.
    rest: Option<(RecordBatch, usize)>,
    read: u64,
    total: Option<u64>,
}

/// Opens a file of one of these formats.
pub(super) fn open(
    name: &str,
    mut file: File,
    format: FileFormat,
    options: &ReadOptions,
) -> Result<Batches, FileError> {
    let failed = |error: ArrowError| FileError::new(name, error);
    if format == FileFormat::Parquet {
        let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| failed(error.into()))?;
        let total = u64::try_from(builder.metadata().file_metadata().num_rows()).ok();
        let (schema, rows) = (Arc::clone(builder.schema()), rows_at_once(builder.metadata()));
        let reader = builder.with_batch_size(rows).build().map_err(|error| failed(error.into()))?;
        return Batches::new(name, &schema, Box::new(reader), total, options);
    }
    let mut magic = [0; MAGIC.len()];
    let is_file = file.read_exact(&mut magic).is_ok() && magic == MAGIC;
    file.seek(SeekFrom::Start(0)).map_err(|error| FileError::new(name, error))?;
    if !is_file {
        return stream(name, Box::new(file), options);
    }
    let reader = FileReader::try_new_buffered(file, None).map_err(failed)?;
    let schema = reader.schema();
    Batches::new(name, &schema, Box::new(reader), None, options)
}

/// Reads an Arrow stream.
pub(super) fn stream(name: &str, source: Source, options: &ReadOptions) -> Result<Batches, FileError> {
    let reader = StreamReader::try_new_buffered(source, None).map_err(|error| FileError::new(name, error))?;
    let schema = reader.schema();
    Batches::new(name, &schema, Box::new(reader), None, options)
}

/// So many rows of a Parquet file are read at once that the widest of them take no more than some bytes.
fn rows_at_once(metadata: &ParquetMetaData) -> usize {
    let groups = metadata.row_groups().iter();
    let widths = groups.map(|group| group.total_byte_size() / group.num_rows().max(1));
    let width = widths.max().and_then(|width| usize::try_from(width).ok()).unwrap_or(0);
    (BYTES / width.max(1)).clamp(1, ROWS)
}

impl Batches {
    fn new(
        name: &str,
        schema: &Schema,
        source: Found,
        total: Option<u64>,
        options: &ReadOptions,
    ) -> Result<Batches, FileError> {
        let wanted = options.columns.as_deref();
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let layout = match wanted {
            Some(wanted) => Layout::arrange(name, None, Some(&names), names.len(), wanted)?,
            None => Layout::as_it_is(names.len()),
        };
        // Of the columns that nobody has named, some may have types all the same.
        let named_as = |at: usize| wanted.map_or(names[at].as_str(), |wanted| wanted[at].name.as_str());
        let mut types: Vec<Column> = (0..names.len())
            .map(|at| Column { name: named_as(at).to_owned(), column_type: ColumnType::Any })
            .collect();
        let untyped = types.clone();
        layout::retype(name, &mut types, &options.types)?;
        let mut columns = Vec::with_capacity(names.len());
        for place in 0..names.len() {
            // Each place is taken by one column.
            let from = layout.places.iter().position(|to| *to == place).unwrap_or(place);
            let is_typed = options.types.iter().any(|column| column.name == types[place].name)
                || types[place] != untyped[place];
            let wanted = match is_typed {
                true => Some(types[place].column_type),
                false => wanted.map(|wanted| wanted[place].column_type),
            };
            let conversion = Conversion::new(schema.field(from), wanted, options.reading());
            columns.push((from, conversion.map_err(|problem| FileError::new(name, problem))?));
        }
        let named = |(place, (_, conversion)): (usize, &(usize, Conversion))| -> Field {
            let field = conversion.target().clone();
            match wanted {
                Some(wanted) => field.with_name(&wanted[place].name),
                None => field,
            }
        };
        let schema = Schema::new(columns.iter().enumerate().map(named).collect::<Vec<Field>>());
        Ok(Batches {
            name: name.to_owned(),
            schema: Arc::new(schema),
            source,
            columns,
            warning: layout.warning,
            losses: Losses::default(),
            rest: None,
            read: 0,
            total,
        })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    pub(super) fn progress(&self) -> (u64, Option<u64>) {
        (self.read, self.total)
    }

    /// What is good to know about how it was read.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warning.iter().cloned().chain(self.losses.warnings()).collect()
    }

    pub(super) fn next_batch(&mut self) -> Result<Option<RecordBatch>, FileError> {
        loop {
            if let Some((batch, at_once)) = self.rest.take() {
                let rows = batch.num_rows().min(at_once);
                if rows < batch.num_rows() {
                    self.rest = Some((batch.slice(rows, batch.num_rows() - rows), at_once));
                }
                self.read += rows as u64;
                return Ok(Some(batch.slice(0, rows)));
            }
            let Some(batch) = self.source.next() else { return Ok(None) };
            let batch = batch.map_err(|error| FileError::new(&self.name, error))?;
            if batch.num_rows() > 0 {
                let batch = self.adapted(&batch)?;
                let at_once = (BYTES * batch.num_rows() / bytes(&batch).max(1)).clamp(1, ROWS);
                self.rest = Some((batch, at_once));
            }
        }
    }

    /// The batch in the types of the schema.
    fn adapted(&mut self, batch: &RecordBatch) -> Result<RecordBatch, FileError> {
        let mut arrays = Vec::with_capacity(self.columns.len());
        for (from, conversion) in &self.columns {
            let array = conversion.apply(batch.column(*from), &mut self.losses).map_err(|fault| {
                let (row, column) = (self.read + fault.row as u64 + 1, conversion.target().name());
                FileError::new(&self.name, format!("row {row}, column `{column}`: {}", fault.problem))
                    .help("types can be named by `columns` or `types`: `string` keeps every value as it is")
            })?;
            arrays.push(array);
        }
        RecordBatch::try_new(Arc::clone(&self.schema), arrays)
            .map_err(|error| FileError::new(&self.name, error))
    }
}

fn bytes(batch: &RecordBatch) -> usize {
    batch.columns().iter().map(|array| array.to_data().get_slice_memory_size().unwrap_or(0)).sum()
}
