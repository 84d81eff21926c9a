//! `FileWriter`: Arrow batches to a file, or to anything that takes bytes, while they come.

use super::column_type::ColumnType;
use super::format::FileFormat;
use super::rdf_out::TripleWriter;
use super::text_out::Marked;
use super::values::rows_with_times;
use super::{json_out, text_out};
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, Schema};
use arrow::error::ArrowError;
use arrow::ipc::writer::{FileWriter as IpcFile, StreamWriter as IpcStream};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use std::io::{self, Write};

/// How rows are to be written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// Whether CSV and TSV begin with the names of the columns.
    pub header: bool,
    /// The word for null in CSV and TSV, where it is neither nothing (CSV) nor `\N` (TSV).
    pub null: Option<String>,
    /// In CSV and TSV, put strings into quotes that would be guessed to be something else, so that they come back as strings.
    pub quote_text: bool,
    /// Write Arrow as a stream, which can be read while it comes, and not as a file.
    pub stream: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions { header: true, null: None, quote_text: true, stream: false }
    }
}

/// Writes batches of one schema.
pub struct FileWriter<W: Write + Send> {
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Text(Text<W>),
    Parquet(Box<ArrowWriter<W>>),
    IpcFile(Box<IpcFile<W>>),
    IpcStream(Box<IpcStream<W>>),
    Triples(Box<TripleWriter<W>>),
}

struct Text<W> {
    out: W,
    format: FileFormat,
    null: String,
    keys: Vec<String>,
    /// What quotes tell in each column.
    marked: Vec<Marked>,
    rows: u64,
}

impl<W: Write + Send> FileWriter<W> {
    /// Begins to write; the columns are named as the schema's fields.
    pub fn new(
        out: W,
        format: FileFormat,
        schema: &Schema,
        options: &WriteOptions,
    ) -> io::Result<FileWriter<W>> {
        let sink = match format {
            FileFormat::Csv | FileFormat::Tsv | FileFormat::Json | FileFormat::JsonLines => {
                Sink::Text(Text::begin(out, format, schema, options)?)
            }
            FileFormat::Parquet => {
                let compression = Compression::ZSTD(ZstdLevel::default());
                let properties = WriterProperties::builder().set_compression(compression).build();
                let writer = ArrowWriter::try_new(out, schema.clone().into(), Some(properties));
                Sink::Parquet(Box::new(writer.map_err(of_parquet)?))
            }
            FileFormat::Arrow if options.stream => {
                Sink::IpcStream(Box::new(IpcStream::try_new(out, schema).map_err(failed)?))
            }
            FileFormat::Arrow => Sink::IpcFile(Box::new(IpcFile::try_new(out, schema).map_err(failed)?)),
            FileFormat::NTriples | FileFormat::Turtle | FileFormat::NQuads => {
                Sink::Triples(Box::new(TripleWriter::new(out, format)))
            }
        };
        Ok(FileWriter { sink })
    }

    /// Writes a batch.
    pub fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        match &mut self.sink {
            Sink::Text(text) => text.write(batch),
            Sink::Parquet(writer) => {
                writer.write(batch).map_err(of_parquet)?;
                // A row group is held until it is complete.
                if writer.in_progress_size() > ROW_GROUP {
                    writer.flush().map_err(of_parquet)?;
                }
                Ok(())
            }
            Sink::IpcFile(writer) => writer.write(batch).map_err(failed),
            Sink::IpcStream(writer) => writer.write(batch).map_err(failed),
            Sink::Triples(writer) => {
                rows_with_times(batch).map_err(failed)?.iter().try_for_each(|row| writer.write(row))
            }
        }
    }

    /// Writes what comes at the end.
    pub fn finish(self) -> io::Result<()> {
        match self.sink {
            Sink::Text(text) => text.finish(),
            Sink::Parquet(mut writer) => {
                writer.finish().map_err(of_parquet)?;
                writer.inner_mut().flush()
            }
            Sink::IpcFile(mut writer) => {
                writer.finish().map_err(failed)?;
                writer.get_mut().flush()
            }
            Sink::IpcStream(mut writer) => {
                writer.finish().map_err(failed)?;
                writer.get_mut().flush()
            }
            Sink::Triples(writer) => writer.finish()?.flush(),
        }
    }
}

/// Bytes of a row group of Parquet in memory.
const ROW_GROUP: usize = 32 << 20;

impl<W: Write> Text<W> {
    fn begin(mut out: W, format: FileFormat, schema: &Schema, options: &WriteOptions) -> io::Result<Text<W>> {
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let own = if format == FileFormat::Tsv { "\\N" } else { "" };
        let null = options.null.clone().unwrap_or_else(|| own.to_owned());
        if null.contains([',', '\t', '"', '\n', '\r']) {
            let problem = "the word for null has a separator or a quote in it";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        match format {
            FileFormat::Csv if options.header => text_out::write_csv_header(&mut out, &names, &null)?,
            FileFormat::Tsv if options.header => text_out::write_tsv_header(&mut out, &names, &null)?,
            FileFormat::Json => out.write_all(b"[")?,
            _ => {}
        }
        let mark = |field: &Field| match ColumnType::of(field) {
            _ if ColumnType::may_hold_any(field) => Marked::Any,
            ColumnType::Text if options.quote_text => Marked::Text,
            ColumnType::List => Marked::List,
            _ => Marked::Nothing,
        };
        let marked = schema.fields().iter().map(|field| mark(field)).collect();
        Ok(Text { out, format, null, keys: json_out::keys(&names), marked, rows: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let out = &mut self.out;
        for row in rows_with_times(batch).map_err(failed)? {
            match self.format {
                FileFormat::Csv => text_out::write_csv_row(out, &row, &self.null, &self.marked)?,
                FileFormat::Tsv => text_out::write_tsv_row(out, &row, &self.null, &self.marked)?,
                FileFormat::Json => {
                    out.write_all(if self.rows == 0 { "\n  " } else { ",\n  " }.as_bytes())?;
                    json_out::write_row(out, &self.keys, &row, &self.marked)?;
                }
                _ => {
                    json_out::write_row(out, &self.keys, &row, &self.marked)?;
                    out.write_all(b"\n")?;
                }
            }
            self.rows += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> io::Result<()> {
        if self.format == FileFormat::Json {
            self.out.write_all(if self.rows == 0 { "]\n" } else { "\n]\n" }.as_bytes())?;
        }
        self.out.flush()
    }
}

fn failed(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

/// What went wrong below Parquet keeps its kind: a broken pipe is a reader who has seen enough.
fn of_parquet(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => {
            cause.downcast::<io::Error>().map_or_else(io::Error::other, |cause| *cause)
        }
        other => io::Error::other(other),
    }
}
