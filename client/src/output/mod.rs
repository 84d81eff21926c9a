//! Answers as text or files: forms that a reader can look at, and forms that a program can read.
//!
//! Only data goes through here. Timings, warnings and errors belong to [`crate::notices`] and standard error, so that
//! `stratalog ... > file` holds rows and nothing else. What a program reads is written while it comes; tables are drawn
//! so many rows at a time, so no answer has to fit into memory. A person at a terminal sees a [`Preview`] of a long one.

mod cells;
mod destination;
mod ending;
mod fit;
mod pager;
mod preview;
mod proofs;
mod records;
mod table;

pub(crate) use cells::printable;
pub(crate) use destination::{Destination, Opened};
pub(crate) use pager::Pager;
pub(crate) use preview::{Preview, ROWS, grouped};
pub(crate) use proofs::text as proof_text;

use preview::LeftOut;
use std::io::{self, Write};
use stratalog_client::arrow::array::RecordBatch;
use stratalog_client::arrow::datatypes::Schema;
use stratalog_client::files::{FileFormat, FileWriter, WriteOptions, rows_with_times};
use stratalog_client::{Answer, ProofTree, Value};

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
    /// RDF, a quad a line: the fourth column is the graph
    Nq,
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
            Format::Nq => Some(FileFormat::NQuads),
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
            FileFormat::NQuads => Format::Nq,
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

/// Whether tables are shown one value a line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Expanded {
    /// Where a table would leave too much out.
    #[default]
    Auto,
    On,
    Off,
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
    pub expanded: Expanded,
    /// Whether what goes to a terminal may be coloured.
    pub colour: bool,
    /// How much of an answer is shown; `None` is all of it.
    pub preview: Option<Preview>,
}

/// So many proofs are shown to somebody who has not asked for all.
const PROOFS: u64 = 10;
/// A table is drawn so many rows at a time, or fewer of many columns.
const BLOCK: usize = 10_000;
const BLOCK_CELLS: usize = 60_000;

/// Writes one answer.
pub(crate) struct RowWriter<W: Write + Send> {
    style: Style,
    /// That came.
    rows: u64,
    /// That there are, as the server says.
    total: u64,
    sink: Sink<W>,
}

enum Sink<W: Write + Send> {
    Messages(W),
    Lines(W, Vec<String>),
    Drawn(Box<Drawing<W>>),
    File(Box<FileWriter<W>>),
    Proofs(W, Vec<ProofTree>, Vec<String>),
}

impl<W: Write + Send> RowWriter<W> {
    /// Begins an answer; the schema has its columns.
    pub(crate) fn begin(out: W, header: &Answer, schema: &Schema, style: Style) -> io::Result<RowWriter<W>> {
        let names = || header.columns.clone();
        let sink = match style.format.of_file() {
            None if header.is_message() => Sink::Messages(out),
            // What does not hold is explained in words.
            None if has_words(header) => Sink::Messages(out),
            None | Some(FileFormat::Json | FileFormat::JsonLines) if !header.proofs.is_empty() => {
                Sink::Proofs(out, header.proofs.clone(), names())
            }
            None if style.format == Format::Line && style.preview.is_none() => Sink::Lines(out, names()),
            None => Sink::Drawn(Box::new(Drawing::begin(out, names()))),
            Some(format) => {
                let options = WriteOptions {
                    header: style.header,
                    null: style.null.clone(),
                    quote_text: !style.stream, // what goes to a pipe is cut up there
                    stream: style.stream,
                };
                Sink::File(Box::new(FileWriter::new(out, format, schema, &options)?))
            }
        };
        Ok(RowWriter { style, rows: 0, total: header.total_count, sink })
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
            Sink::Drawn(drawing) => drawing.take(batch, &self.style),
            Sink::File(writer) => writer.write(batch),
            // They say what the rows are.
            Sink::Proofs(..) => Ok(()),
        }
    }

    /// Completes the answer; how many rows were written.
    pub(crate) fn finish(self) -> io::Result<u64> {
        match self.sink {
            Sink::Messages(mut out) | Sink::Lines(mut out, _) => out.flush()?,
            Sink::Drawn(drawing) => {
                let by_server = self.style.preview.is_some_and(|preview| preview.by_server);
                let rows = if by_server { self.total.max(self.rows) } else { self.rows };
                return drawing.finish(&self.style, rows);
            }
            Sink::File(writer) => writer.finish()?,
            Sink::Proofs(out, trees, names) => return write_proofs(out, &trees, &names, &self.style),
        }
        Ok(self.rows)
    }
}

/// Whether the rows of an answer say what its proofs do.
fn has_words(header: &Answer) -> bool {
    !header.proofs.is_empty() && header.columns == ["explanation"]
}

/// Writes the proofs of rows; how many were written.
fn write_proofs<W: Write>(
    mut out: W,
    trees: &[ProofTree],
    names: &[String],
    style: &Style,
) -> io::Result<u64> {
    let most = style.preview.map_or(u64::MAX, |preview| preview.rows.min(PROOFS));
    let shown = usize::try_from(most).unwrap_or(usize::MAX).min(trees.len());
    match style.format {
        Format::Json => {
            serde_json::to_writer_pretty(&mut out, trees)?;
            writeln!(out)?;
        }
        Format::Jsonl => {
            for tree in trees {
                serde_json::to_writer(&mut out, tree)?;
                writeln!(out)?;
            }
        }
        _ => {
            let look = proofs::Look {
                ascii: style.format == Format::Table,
                colour: style.colour,
                width: style.width,
            };
            for (place, tree) in trees[..shown].iter().enumerate() {
                if place > 0 {
                    writeln!(out)?;
                }
                proofs::write(&mut out, tree, names, look)?;
            }
            if let Some(preview) = style.preview
                && let Some(line) = LeftOut::default().line(preview, shown as u64, trees.len() as u64, 0)
            {
                writeln!(out, "{line}")?;
            }
            out.flush()?;
            return Ok(shown as u64);
        }
    }
    out.flush()?;
    Ok(trees.len() as u64)
}

/// A table that is drawn block by block.
struct Drawing<W> {
    out: W,
    names: Vec<String>,
    /// The next block, and how many rows it may have.
    rows: Vec<Vec<Value>>,
    block: usize,
    /// Rows that are drawn or will be.
    shown: u64,
    first: bool,
    left_out: LeftOut,
}

impl<W: Write> Drawing<W> {
    fn begin(out: W, names: Vec<String>) -> Drawing<W> {
        let block = (BLOCK_CELLS / names.len().max(1)).clamp(1, BLOCK);
        Drawing { out, names, rows: Vec::new(), block, shown: 0, first: true, left_out: LeftOut::default() }
    }

    /// Takes what is shown of a batch; the rest is let go.
    fn take(&mut self, batch: &RecordBatch, style: &Style) -> io::Result<()> {
        let most = style.preview.map_or(u64::MAX, |preview| preview.rows);
        let mut at = 0;
        while at < batch.num_rows() && self.shown < most {
            let room =
                usize::try_from(most - self.shown).unwrap_or(usize::MAX).min(self.block - self.rows.len());
            let part = batch.slice(at, room.min(batch.num_rows() - at));
            at += part.num_rows();
            self.shown += part.num_rows() as u64;
            self.rows.extend(rows_with_times(&part).map_err(io::Error::other)?);
            if self.rows.len() == self.block {
                self.draw(style)?;
            }
        }
        Ok(())
    }

    fn draw(&mut self, style: &Style) -> io::Result<()> {
        let rows = std::mem::take(&mut self.rows);
        let null = style.null.as_deref().unwrap_or("null");
        let Style { format, header, width, expanded, .. } = *style;
        let look = table::Look { ascii: format == Format::Table, header, width };
        let turned = format == Format::Line || expanded == Expanded::On;
        let (out, names, first) = (&mut self.out, &self.names, std::mem::take(&mut self.first));
        let left_out = match (format, style.preview) {
            (Format::Markdown, _) => {
                table::write_markdown(out, names, &rows, null, first)?;
                LeftOut::default()
            }
            (_, Some(_)) if turned => records::write_preview(out, names, &rows, null, width, first)?,
            (_, Some(_)) => table::write_preview(out, names, &rows, null, look, expanded == Expanded::Auto)?,
            (_, None) => {
                match turned {
                    true => records::write(out, names, &rows, null, first)?,
                    false => table::write(out, names, &rows, null, look)?,
                }
                LeftOut::default()
            }
        };
        if let Some(shown) = left_out.rows {
            self.shown -= (rows.len() - shown) as u64;
        }
        self.left_out.add(&left_out);
        Ok(())
    }

    /// Draws the last block; how many rows are shown of those that there are.
    fn finish(mut self, style: &Style, rows: u64) -> io::Result<u64> {
        if self.first || !self.rows.is_empty() {
            self.draw(style)?;
        }
        if let Some(preview) = style.preview
            && let Some(line) = self.left_out.line(preview, self.shown, rows, self.names.len())
        {
            writeln!(self.out, "{line}")?;
        }
        self.out.flush()?;
        Ok(self.shown)
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
