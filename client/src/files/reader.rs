//! `FileReader`: a file as Arrow batches.
//!
//! No more than one batch is held, and of text the few mebibytes at its beginning that decide about the types of columns.

use super::arrow_files::{self, Batches};
use super::column_type::{Column, ColumnType};
use super::compression;
use super::compression::Compression;
use super::delimited_rows::DelimitedRows;
use super::error::FileError;
use super::format::FileFormat;
use super::json_rows::JsonRows;
use super::options::ReadOptions;
use super::rdf::{self, Triples};
use super::sample::{Counted, Source};
use super::skipped::{OnError, Skipped};
use super::table::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file that is read batch by batch. What is wrong with a record of text is told after the rows that came before it.
pub struct FileReader {
    name: String,
    rows: Rows,
    on_error: OnError,
    skipped: Skipped,
    read: Arc<AtomicU64>,
    size: Option<u64>,
    /// What is to be told next.
    fault: Option<FileError>,
    ended: bool,
}

enum Rows {
    Delimited(Box<DelimitedRows>),
    Json(Box<JsonRows>),
    Triples { triples: Box<Triples>, table: Table },
    Batches(Batches),
}

impl Rows {
    /// Where rows of text are collected.
    fn table(&mut self) -> Option<&mut Table> {
        match self {
            Rows::Delimited(rows) => Some(rows.table()),
            Rows::Json(rows) => Some(rows.table()),
            Rows::Triples { table, .. } => Some(table),
            Rows::Batches(_) => None,
        }
    }
}

impl FileReader {
    /// Opens a file; `-` is standard input, whose format has to be told.
    pub fn open(path: &Path, options: &ReadOptions) -> Result<FileReader, FileError> {
        let name = path.display().to_string();
        let format = options.format.or_else(|| FileFormat::of(path)).ok_or_else(|| {
            FileError::new(&name, "what is in it is not known by its name").help(instead(path))
        })?;
        if path == Path::new("-") {
            return FileReader::from_source("<stdin>", Box::new(io::stdin()), None, format, options, None);
        }
        if format.is_binary() && Compression::of(path).is_some() {
            return Err(format.refused_compressed(&name));
        }
        let file = File::open(path).map_err(|error| FileError::new(&name, error))?;
        let size = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
        if matches!(format, FileFormat::Parquet | FileFormat::Arrow) {
            let file = checked(&name, file, format)?;
            let read = Arc::new(AtomicU64::new(0));
            let batches = arrow_files::open(&name, file, format, options)?;
            return Ok(FileReader::new(name, Rows::Batches(batches), options, read, None));
        }
        let scope = rdf::scope(path, &file);
        FileReader::from_source(&name, Box::new(file), size, format, options, scope)
    }

    fn from_source(
        name: &str,
        source: Source,
        size: Option<u64>,
        format: FileFormat,
        options: &ReadOptions,
        scope: Option<u64>,
    ) -> Result<FileReader, FileError> {
        let read = Arc::new(AtomicU64::new(0));
        let source: Source = Box::new(Counted::new(source, &read));
        let failed = |error| FileError::new(name, error);
        let (source, compression) = compression::plain(source).map_err(failed)?;
        if compression.is_some() && format.is_binary() {
            return Err(format.refused_compressed(name));
        }
        let source = match format.is_binary() {
            true => source,
            false => text(name, source)?,
        };
        let source = match options.encoding {
            Some(encoding) if !format.is_binary() => encoding.decoded(source),
            _ => source,
        };
        let rows = match format {
            FileFormat::Csv | FileFormat::Tsv => {
                Rows::Delimited(Box::new(DelimitedRows::open(name, source, format, options)?))
            }
            FileFormat::Json | FileFormat::JsonLines => {
                Rows::Json(Box::new(JsonRows::open(name, source, format, options)?))
            }
            FileFormat::NTriples | FileFormat::Turtle | FileFormat::NQuads => {
                if let Some(column) = options.types.first() {
                    let problem = format!("the types of RDF are its own, and `{}` has no other", column.name);
                    return Err(FileError::new(name, problem));
                }
                let table = Table::new(&Triples::columns(format));
                Rows::Triples { triples: Box::new(Triples::new(name, source, format, scope)?), table }
            }
            FileFormat::Arrow => Rows::Batches(arrow_files::stream(name, source, options)?),
            FileFormat::Parquet => {
                return Err(FileError::new(name, "Parquet cannot be read from a stream").help("name a file"));
            }
        };
        Ok(FileReader::new(name.to_owned(), rows, options, read, size))
    }

    fn new(
        name: String,
        rows: Rows,
        options: &ReadOptions,
        read: Arc<AtomicU64>,
        size: Option<u64>,
    ) -> FileReader {
        let on_error = options.on_error;
        let skipped = Skipped::default();
        FileReader { name, rows, on_error, skipped, read, size, fault: None, ended: false }
    }

    /// Names and types of the columns.
    pub fn schema(&self) -> &SchemaRef {
        match &self.rows {
            Rows::Delimited(rows) => rows.schema(),
            Rows::Json(rows) => rows.schema(),
            Rows::Triples { table, .. } => table.schema(),
            Rows::Batches(batches) => batches.schema(),
        }
    }

    /// The columns with their types.
    pub fn columns(&self) -> Vec<Column> {
        match &self.rows {
            Rows::Delimited(rows) => return rows.columns(),
            Rows::Json(rows) => return rows.columns(),
            Rows::Triples { .. } | Rows::Batches(_) => {}
        }
        let column = |field: &arrow::datatypes::Field| Column {
            name: field.name().clone(),
            column_type: ColumnType::of(field),
        };
        self.schema().fields().iter().map(|field| column(field)).collect()
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The records that were left out so far.
    pub fn skipped(&self) -> &Skipped {
        &self.skipped
    }

    /// What is good to know about how it was read so far.
    pub fn warnings(&self) -> Vec<String> {
        match &self.rows {
            Rows::Delimited(rows) => rows.warnings(),
            Rows::Batches(batches) => batches.warnings(),
            Rows::Json(rows) => rows.warnings(),
            Rows::Triples { .. } => Vec::new(), // each is kept as it is written
        }
    }

    /// How far the file is read, and how long it is, as far as that is known: in bytes, or in rows.
    pub fn progress(&self) -> (u64, Option<u64>) {
        match &self.rows {
            Rows::Batches(batches) => batches.progress(),
            _ => (self.read.load(Ordering::Relaxed), self.size),
        }
    }

    /// Whether progress is counted in rows, not bytes.
    pub fn counts_rows(&self) -> bool {
        matches!(self.rows, Rows::Batches(_))
    }

    /// The next batch; `None` at the end.
    fn next_batch(&mut self) -> Result<Option<RecordBatch>, FileError> {
        let mut keep = |problem: FileError| match self.on_error {
            OnError::Abort => Err(problem),
            OnError::Skip => {
                self.skipped.note(problem);
                Ok(())
            }
        };
        match &mut self.rows {
            Rows::Batches(batches) => batches.next_batch(),
            Rows::Delimited(rows) => rows.next_batch(&mut keep),
            Rows::Json(rows) => rows.next_batch(&mut keep),
            Rows::Triples { triples, table } => {
                while !table.is_full() {
                    match triples.next() {
                        None => break,
                        Some(Ok(row)) => table.push(&row),
                        Some(Err(problem)) => keep(problem)?,
                    }
                }
                table.take().map_err(|error| FileError::new(&self.name, error))
            }
        }
    }
}

impl Iterator for FileReader {
    type Item = Result<RecordBatch, FileError>;

    fn next(&mut self) -> Option<Result<RecordBatch, FileError>> {
        if self.ended {
            return None;
        }
        let next = match self.fault.take() {
            Some(fault) => Some(Err(fault)),
            None => self.next_batch().transpose(),
        };
        if let (Some(Err(fault)), Some(table)) = (&next, self.rows.table())
            && let Ok(Some(before)) = table.take()
        {
            self.fault = Some(fault.clone());
            return Some(Ok(before));
        }
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

/// A file of Arrow data, if it does not begin as something else does.
fn checked(name: &str, mut file: File, format: FileFormat) -> Result<File, FileError> {
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Ok(file);
    }
    let mut beginning = Vec::new();
    let read = file.by_ref().take(BEGINNING).read_to_end(&mut beginning);
    read.and_then(|_| file.rewind()).map_err(|error| FileError::new(name, error))?;
    match (format, FileFormat::told_by(&beginning)) {
        (FileFormat::Parquet, Some("a Parquet file"))
        | (FileFormat::Arrow, Some("an Arrow file"))
        | (_, None) => Ok(file),
        (_, Some(found)) => Err(another(name, found)),
    }
}

/// A source of text, if it does not begin as a file of Arrow data does.
fn text(name: &str, mut source: Source) -> Result<Source, FileError> {
    let mut beginning = Vec::new();
    let read = source.by_ref().take(BEGINNING).read_to_end(&mut beginning);
    read.map_err(|error| FileError::new(name, error))?;
    match FileFormat::told_by(&beginning) {
        Some(found) => Err(another(name, found)),
        None => Ok(Box::new(io::Cursor::new(beginning).chain(source))),
    }
}

/// So many bytes tell what a file is.
const BEGINNING: u64 = 6;

fn another(name: &str, found: &str) -> FileError {
    let help = match found {
        "a Parquet file" => "`--format parquet` reads it",
        "an Arrow file" => "`--format arrow` reads it",
        _ => "decompress it first",
    };
    FileError::new(name, format!("this is {found}, whatever its name says")).help(help)
}

/// What to do about a file of no format that is read.
fn instead(path: &Path) -> String {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match ending.to_ascii_lowercase().as_str() {
        "rdf" | "owl" => {
            "RDF/XML is not read: make it Turtle or N-Triples first, as by `riot --output=nt FILE`".to_owned()
        }
        "xlsx" | "xls" | "ods" => "spreadsheets are not read: save it as CSV".to_owned(),
        _ => format!("name the format: {}", readable()),
    }
}

/// The formats that can be read, for messages.
fn readable() -> String {
    let names: Vec<&str> = FileFormat::all().map(FileFormat::name).collect();
    names.join(", ")
}
