//! Answers as text or files: forms that a reader can look at, and forms that a program can read.
//!
//! Only data goes through here. Timings, warnings and errors belong to [`crate::notices`] and standard error, so that
//! `stratalog ... > file` holds rows and nothing else. What a program reads is written while it comes; tables are drawn
//! when all rows are known.

mod cells;
mod destination;
mod ending;
mod records;
mod table;

pub(crate) use cells::printable;
pub(crate) use destination::{Destination, Opened};

use std::io::{self, Write};
use stratalog_client::arrow::array::RecordBatch;
use stratalog_client::arrow::datatypes::Schema;
use stratalog_client::files::{FileFormat, FileWriter, WriteOptions, rows_with_times};
use stratalog_client::{Answer, Value};

/// A way to write rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// A drawn table; messages as plain lines
    Box,
    /// The same in ASCII
    Table,
    /// One `column = value` a line
    Line,
    /// A table for Markdown
    Markdown,
    /// Comma-separated, RFC 4180; null is empty and an empty string is ""
    Csv,
    /// Tab-separated; tab, line break and backslash are written \t, \n and \\, null \N
    #[value(alias = "tabs")]
    Tsv,
    /// One array with one object a row
    Json,
    /// One object a line
    Jsonl,
    /// Parquet; to a file or a pipe
    Parquet,
    /// Arrow IPC; to a file, or as a stream to a pipe
    Arrow,
    /// RDF, a triple a line, of three columns
    Nt,
    /// RDF as Turtle, of three columns
    Ttl,
}

impl Format {
    /// The format of a file, where this is one.
    pub(crate) fn of_file(self) -> Option<FileFormat> {
        match self {
            Format::Box | Format::Table | Format::Line | Format::Markdown => None,
            Format::Csv => Some(FileFormat::Csv),
            Format::Tsv => Some(FileFormat::Tsv),
            Format::Json => Some(FileFormat::Json),
            Format::Jsonl => Some(FileFormat::JsonLines),
            Format::Parquet => Some(FileFormat::Parquet),
            Format::Arrow => Some(FileFormat::Arrow),
            Format::Nt => Some(FileFormat::NTriples),
            Format::Ttl => Some(FileFormat::Turtle),
        }
    }

    /// The format that writes such files.
    pub(crate) fn of(file: FileFormat) -> Format {
        match file {
            FileFormat::Csv => Format::Csv,
            FileFormat::Tsv => Format::Tsv,
            FileFormat::Json => Format::Json,
            FileFormat::JsonLines => Format::Jsonl,
            FileFormat::Parquet => Format::Parquet,
            FileFormat::Arrow => Format::Arrow,
            FileFormat::NTriples => Format::Nt,
            FileFormat::Turtle => Format::Ttl,
        }
    }

    /// Whether a terminal cannot show it.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Format::Parquet | Format::Arrow)
    }

    /// Whether a file of it holds one answer, to which no other can be added.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Format::Json | Format::Parquet | Format::Arrow | Format::Ttl)
    }

    /// Whether it is for people at a terminal, who are told what belongs to it.
    pub(crate) fn is_drawn(self) -> bool {
        matches!(self, Format::Box | Format::Table | Format::Line)
    }
}

/// How answers are to look.
#[derive(Debug, Clone)]
pub(crate) struct Style {
    pub format: Format,
    /// False leaves out the line with the column names, where a format has one to leave out.
    pub header: bool,
    /// The word for null; `None` takes the format's own.
    pub null: Option<String>,
    /// Columns of the terminal; `None` is no terminal, and nothing is ever wrapped to fit.
    pub width: Option<u16>,
    /// Write Arrow as a stream.
    pub stream: bool,
}

/// Writes one answer.
pub(crate) struct RowWriter<W: Write + Send> {
    style: Style,
    rows: u64,
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Messages(W),
    Lines(W, Vec<String>),
    Drawn(W, Vec<String>, Vec<Vec<Value>>),
    File(Box<FileWriter<W>>),
}

impl<W: Write + Send> RowWriter<W> {
    /// Begins an answer; the schema has its columns.
    pub(crate) fn begin(out: W, header: &Answer, schema: &Schema, style: Style) -> io::Result<RowWriter<W>> {
        let names = || header.columns.clone();
        let sink = match style.format.of_file() {
            None if header.is_message() => Sink::Messages(out),
            None if style.format == Format::Line => Sink::Lines(out, names()),
            None => Sink::Drawn(out, names(), Vec::new()),
            Some(format) => {
                let options =
                    WriteOptions { header: style.header, null: style.null.clone(), stream: style.stream };
                Sink::File(Box::new(FileWriter::new(out, format, schema, &options)?))
            }
        };
        Ok(RowWriter { style, rows: 0, sink })
    }

    /// Writes some rows.
    pub(crate) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        let before = self.rows;
        self.rows += batch.num_rows() as u64;
        let values = || rows_with_times(batch).map_err(io::Error::other);
        match &mut self.sink {
            Sink::Messages(out) => write_messages(out, &values()?),
            Sink::Lines(out, names) => {
                let null = self.style.null.as_deref().unwrap_or("null");
                records::write(out, names, &values()?, null, before == 0)
            }
            Sink::Drawn(_, _, rows) => {
                rows.extend(values()?);
                Ok(())
            }
            Sink::File(writer) => writer.write(batch),
        }
    }

    /// Completes the answer; how many rows it had.
    pub(crate) fn finish(self) -> io::Result<u64> {
        let null = self.style.null.as_deref().unwrap_or("null");
        match self.sink {
            Sink::Messages(mut out) | Sink::Lines(mut out, _) => out.flush()?,
            Sink::Drawn(mut out, names, rows) => {
                let Style { format, header, width, .. } = self.style;
                match format {
                    Format::Markdown => table::write_markdown(&mut out, &names, &rows, null)?,
                    _ => {
                        let look = table::Look { ascii: format == Format::Table, header, width };
                        table::write(&mut out, &names, &rows, null, look)?;
                    }
                }
                out.flush()?;
            }
            Sink::File(writer) => writer.finish()?,
        }
        Ok(self.rows)
    }
}

/// A command's messages need no frame; their line breaks are meant as such.
fn write_messages(out: &mut dyn Write, rows: &[Vec<Value>]) -> io::Result<()> {
    for cell in rows.iter().flatten() {
        match cell {
            Value::Text(text) => {
                for line in text.lines() {
                    writeln!(out, "{}", printable(line))?;
                }
            }
            other => writeln!(out, "{}", cells::plain(other, "null"))?,
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// Rows written as JSON.
    pub(crate) fn values(rows: serde_json::Value) -> Vec<Vec<Value>> {
        serde_json::from_value(rows).unwrap()
    }

    #[test]
    fn messages_are_plain_lines() {
        let mut out = Vec::new();
        write_messages(&mut out, &values(json!([["inserted 2\nskipped 1"], ["bell \u{7}"]]))).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "inserted 2\nskipped 1\nbell \\u0007\n");
    }

    #[test]
    fn every_format_of_files_is_one_of_these() {
        assert!(FileFormat::all().all(|file| Format::of(file).of_file() == Some(file)));
    }
}
