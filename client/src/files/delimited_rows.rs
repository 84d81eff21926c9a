//! The rows of CSV and TSV: which field goes to which column, and what types the columns have.

use super::cells::{self, Cell};
use super::column_type::{Column, ColumnType};
use super::delimited::{Record, Records};
use super::epoch::Reading;
use super::error::{FileError, counted};
use super::format::FileFormat;
use super::infer::Seen;
use super::layout::{self, Layout};
use super::options::ReadOptions;
use super::sample::{self, Source, Whole};
use super::skipped::Keep;
use super::table::Table;
use super::text_out::csv_text;
use arrow::array::RecordBatch;
use arrow::datatypes::{Field, SchemaRef};
use serde_json::Value as Json;
use std::sync::Arc;

/// The rows of a file.
pub(super) struct DelimitedRows {
    name: String,
    records: Records<Whole>,
    table: Table,
    /// The type of each column of the row.
    types: Vec<ColumnType>,
    layout: Layout,
    null: String,
    reading: Reading,
}

impl DelimitedRows {
    pub(super) fn open(
        name: &str,
        source: Source,
        format: FileFormat,
        options: &ReadOptions,
    ) -> Result<DelimitedRows, FileError> {
        let (whole, complete) = sample::look(source).map_err(|error| FileError::new(name, error))?;
        let null = options.null.clone();
        let null = null.unwrap_or_else(|| if format == FileFormat::Tsv { "\\N" } else { "" }.to_owned());
        if format == FileFormat::Csv && options.delimiter.is_none() {
            look_for_another_delimiter(name, sample::beginning(&whole))?;
        }
        let (header, seen) = seen_records(name, sample::beginning(&whole), complete, format, options, &null);
        let mut records = Records::new(whole, name, format, options.delimiter);
        if !options.no_header
            && let Some(header) = records.next()?
        {
            header?;
        }
        let (layout, columns) = match options.columns.clone() {
            Some(wanted) => {
                let width = header.as_ref().map_or(seen.len(), Vec::len);
                (Layout::arrange(name, Some(1), header.as_deref(), width, &wanted)?, wanted)
            }
            None => (Layout::as_it_is(seen.len()), guessed(header, &seen)),
        };
        let mut columns = columns;
        layout::retype(name, &mut columns, &options.types)?;
        if columns.len() == 1 {
            records.of_one_column();
        }
        let types = columns.iter().map(|column| column.column_type).collect();
        let table = Table::new(&columns);
        Ok(DelimitedRows {
            name: name.to_owned(),
            records,
            table,
            types,
            layout,
            null,
            reading: options.reading(),
        })
    }

    /// What is good to know about how it was read.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.layout.warning.iter().cloned().chain(self.table.warnings()).collect()
    }

    /// With the lengths of vectors, which the schema does not tell.
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |(field, column_type): (&Arc<Field>, &ColumnType)| Column {
            name: field.name().clone(),
            column_type: *column_type,
        };
        self.schema().fields().iter().zip(&self.types).map(column).collect()
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.table.schema()
    }

    pub(super) fn table(&mut self) -> &mut Table {
        &mut self.table
    }

    pub(super) fn next_batch(&mut self, keep: Keep<'_>) -> Result<Option<RecordBatch>, FileError> {
        let DelimitedRows { name, records, table, types, layout, null, reading } = self;
        while !table.is_full() {
            let Some(record) = records.next()? else { break };
            let row = record.and_then(|record| {
                row(name, &record, &layout.places, types, null, *reading).map(|row| table.push(&row))
            });
            match row {
                Ok(()) => {}
                Err(problem) => keep(problem)?,
            }
        }
        table.take().map_err(|error| FileError::new(name, error))
    }
}

/// Refuses what is one column by commas and several by something else: nobody wants `a;b` as one name.
fn look_for_another_delimiter(name: &str, beginning: &[u8]) -> Result<(), FileError> {
    let mut lines = beginning.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let Some(first) = lines.next().map(<[u8]>::trim_ascii) else { return Ok(()) };
    if first.contains(&b',') {
        return Ok(());
    }
    let second = lines.next();
    let others = [(b';', "--delimiter ';'"), (b'\t', "--delimiter tab"), (b'|', "--delimiter '|'")];
    for (delimiter, option) in others {
        let count = |line: &[u8]| line.iter().filter(|byte| **byte == delimiter).count();
        let is_one =
            first.starts_with(b"\"") && !first.windows(3).any(|part| part == [b'"', delimiter, b'"']);
        if is_one || count(first) == 0 || second.is_some_and(|line| count(line) != count(first)) {
            continue;
        }
        let problem = "no commas here: the fields seem to be separated by something else";
        let help = format!("`{option}` reads them; if it is one column, `--delimiter ,` does");
        return Err(FileError::at(name, 1, problem).help(help));
    }
    Ok(())
}

/// The names in the first record, and what the columns of the beginning of a file hold.
fn seen_records(
    name: &str,
    beginning: &[u8],
    complete: bool,
    format: FileFormat,
    options: &ReadOptions,
    null: &str,
) -> (Option<Vec<String>>, Vec<Seen>) {
    let mut records = Records::new(beginning, name, format, options.delimiter);
    let mut header: Option<Vec<String>> = None;
    let mut seen: Vec<Seen> = Vec::new();
    // The last record is perhaps cut off, so each counts only once there is another one.
    let mut pending: Option<Vec<Option<(String, bool)>>> = None;
    // Quotes tell nothing in a file whose names have some that they do not need; so it is guessed twice.
    let mut unquoted: Vec<Seen> = Vec::new();
    let mut names_quoted = false;
    let mut count = |fields: Vec<Option<(String, bool)>>| {
        let width = seen.len().max(fields.len());
        seen.resize(width, Seen::default());
        unquoted.resize(width, Seen::default());
        for ((seen, unquoted), field) in seen.iter_mut().zip(&mut unquoted).zip(fields) {
            if let Some((field, quoted)) = field {
                seen.text(&field, quoted);
                unquoted.text(&field, false);
            }
        }
    };
    // What is wrong is told when it is read.
    while let Ok(Some(record)) = records.next() {
        let Ok(record) = record else { continue };
        let fields: Vec<Option<(String, bool)>> = record
            .fields(null)
            .map(|field| field.map(|(text, quoted)| (text.into_owned(), quoted)))
            .collect();
        if !options.no_header && header.is_none() {
            let needless = |name: &str| !name.is_empty() && csv_text(name, null) == name;
            names_quoted = fields.iter().flatten().all(|(_, quoted)| *quoted)
                && fields.iter().flatten().any(|(name, _)| needless(name));
            header = Some(fields.into_iter().map(|field| field.unwrap_or_default().0).collect());
        } else if let Some(before) = pending.replace(fields) {
            count(before);
        }
    }
    if let Some(last) = pending.filter(|_| complete) {
        count(last);
    }
    let mut seen = if names_quoted { unquoted } else { seen };
    if let Some(header) = &header {
        seen.resize(header.len(), Seen::default());
    }
    (header, seen)
}

/// The columns by the names of the file, and what was seen in them.
fn guessed(header: Option<Vec<String>>, seen: &[Seen]) -> Vec<Column> {
    let names = header.unwrap_or_else(|| (1..=seen.len()).map(|number| format!("column_{number}")).collect());
    let column = |(name, seen): (String, &Seen)| Column { name, column_type: seen.column_type() };
    names.into_iter().zip(seen).map(column).collect()
}

fn row<'r>(
    name: &str,
    record: &Record<'r>,
    places: &[usize],
    types: &[ColumnType],
    null: &'r str,
    reading: Reading,
) -> Result<Vec<Cell<'r>>, FileError> {
    let (found, expected) = (record.len(), places.len());
    if found != expected {
        let problem = format!("{}, expected {expected}", counted(found, "field"));
        return Err(FileError::at(name, record.line, problem));
    }
    let mut row = vec![Cell::Null; expected];
    for (field, &place) in record.fields(null).zip(places) {
        let column_type = types[place];
        row[place] = match field {
            None => Cell::Null,
            // In a column of any type, quotes tell text from the number that it looks like.
            Some((text, true)) if column_type == ColumnType::Any => Cell::Json(Json::from(text).to_string()),
            Some((text, _)) if text.is_empty() && column_type != ColumnType::Text => Cell::Null,
            Some((text, _)) => cells::of_text(text, column_type, reading)
                .map_err(|problem| FileError::at(name, record.line, problem).help(UNTYPED))?,
        };
    }
    Ok(row)
}

/// What helps where a guess was wrong.
const UNTYPED: &str = "types are those of the relation, or guessed from the beginning of the file: name them by `columns`, \
                       or one by `types`, or leave such records out";
