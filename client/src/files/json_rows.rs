//! The rows of JSON, as lines or as one array: keys are columns.

use super::cells::{self, Cell, has_object};
use super::column_type::Column;
use super::elements::Elements;
use super::epoch::Reading;
use super::error::{FileError, counted, shortened};
use super::format::FileFormat;
use super::infer::Seen;
use super::layout;
use super::lines::{Line, Lines};
use super::options::ReadOptions;
use super::sample::{self, Source, Whole};
use super::skipped::Keep;
use super::table::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde_json::Value as Json;
use std::io::Read;

/// The rows of a file.
pub(super) struct JsonRows {
    name: String,
    texts: Texts<Whole>,
    table: Table,
    columns: Vec<Column>,
    reading: Reading,
}

/// The texts of rows.
enum Texts<R> {
    Lines(Lines<R>),
    Elements(Elements<R>),
}

impl<R: Read> Texts<R> {
    fn new(source: R, name: &str, format: FileFormat) -> Texts<R> {
        match format {
            FileFormat::Json => Texts::Elements(Elements::new(source, name)),
            _ => Texts::Lines(Lines::new(source, name)),
        }
    }

    fn next(&mut self) -> Result<Option<Line>, FileError> {
        match self {
            Texts::Lines(lines) => lines.next(),
            Texts::Elements(elements) => elements.next(),
        }
    }
}

impl JsonRows {
    pub(super) fn open(
        name: &str,
        source: Source,
        format: FileFormat,
        options: &ReadOptions,
    ) -> Result<JsonRows, FileError> {
        let (whole, complete) = sample::look(source).map_err(|error| FileError::new(name, error))?;
        let mut columns = match &options.columns {
            Some(columns) => columns.clone(),
            None => seen_rows(name, sample::beginning(&whole), complete, format),
        };
        layout::retype(name, &mut columns, &options.types)?;
        let (table, texts) = (Table::new(&columns), Texts::new(whole, name, format));
        Ok(JsonRows { name: name.to_owned(), texts, table, columns, reading: options.reading() })
    }

    /// With the lengths of vectors, which the schema does not tell.
    pub(super) fn columns(&self) -> Vec<Column> {
        self.columns.clone()
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.table.schema()
    }

    /// What is good to know about how it was read.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.table.warnings()
    }

    pub(super) fn table(&mut self) -> &mut Table {
        &mut self.table
    }

    pub(super) fn next_batch(&mut self, keep: Keep<'_>) -> Result<Option<RecordBatch>, FileError> {
        let JsonRows { name, texts, table, columns, reading } = self;
        while !table.is_full() {
            let Some((line, json)) = texts.next()? else { break };
            let row = json.and_then(|json| {
                let row = json_row(&json, columns, *reading);
                row.map(|row| table.push(&row)).map_err(|problem| {
                    let error = FileError::at(name, line, problem);
                    if is_nested(&json) { error.help(NESTED) } else { error }
                })
            });
            if let Err(problem) = row {
                keep(problem)?;
            }
        }
        table.take().map_err(|error| FileError::new(name, error))
    }
}

/// The columns of the beginning of a file: the keys of its objects, in the order in which they come.
fn seen_rows(name: &str, beginning: &[u8], complete: bool, format: FileFormat) -> Vec<Column> {
    let is_cut = !complete && format == FileFormat::JsonLines;
    let end = match is_cut {
        true => beginning.iter().rposition(|b| *b == b'\n').unwrap_or(0),
        false => beginning.len(),
    };
    let mut texts = Texts::new(&beginning[..end], name, format);
    let mut seen: Vec<(String, Seen)> = Vec::new();
    let mut note = |key: String, json: &Json| match seen.iter_mut().find(|(known, _)| *known == key) {
        Some((_, seen)) => seen.json(json),
        None => {
            let mut found = Seen::default();
            found.json(json);
            seen.push((key, found));
        }
    };
    // What is wrong is told when it is read; an element of an array may be cut off.
    while let Ok(Some((_, json))) = texts.next() {
        match json {
            Ok(Json::Object(object)) => object.iter().for_each(|(key, json)| note(key.clone(), json)),
            Ok(Json::Array(array)) => {
                array.iter().enumerate().for_each(|(at, json)| note(format!("column_{}", at + 1), json));
            }
            Ok(_) | Err(_) => {}
        }
    }
    seen.into_iter().map(|(name, seen)| Column { name, column_type: seen.column_type() }).collect()
}

/// What can be done about values that have values inside.
const NESTED: &str = "give each value inside a column of its own, or its rows a relation of their own that names this one; \
                      or keep it as text: jq -c 'map_values(if type == \"object\" or type == \"array\" then tojson else . end)'";

/// Whether a row has objects in it.
fn is_nested(row: &Json) -> bool {
    match row {
        Json::Object(object) => object.values().any(has_object),
        Json::Array(array) => array.iter().any(has_object),
        _ => false,
    }
}

/// The cells of an object by its keys, of an array by position; keys that are missing are null.
fn json_row<'j>(json: &'j Json, columns: &[Column], reading: Reading) -> Result<Vec<Cell<'j>>, String> {
    let told = |column: &Column, problem| format!("{}: {problem}", column.name);
    match json {
        Json::Object(object) => {
            if let Some(unknown) = object.keys().find(|key| columns.iter().all(|column| column.name != **key))
            {
                return Err(format!("there is no column `{}`", shortened(unknown)));
            }
            let cell = |column: &Column| match object.get(&column.name) {
                None => Ok(Cell::Null),
                Some(json) => {
                    cells::of_json(json, column.column_type, reading).map_err(|problem| told(column, problem))
                }
            };
            columns.iter().map(cell).collect()
        }
        Json::Array(array) if array.len() == columns.len() => array
            .iter()
            .zip(columns)
            .map(|(json, column)| {
                cells::of_json(json, column.column_type, reading).map_err(|problem| told(column, problem))
            })
            .collect(),
        Json::Array(array) => Err(format!("{}, expected {}", counted(array.len(), "value"), columns.len())),
        _ => Err("expected an object or an array".to_owned()),
    }
}
