//! The rows of JSON lines: keys are columns.

use super::cells::{self, Cell};
use super::column_type::Column;
use super::error::FileError;
use super::infer::Seen;
use super::lines::Lines;
use super::reader::{Keep, ReadOptions};
use super::sample::{self, Source, Whole};
use super::table::Table;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use serde_json::Value as Json;

/// The rows of a file.
pub(super) struct JsonRows {
    name: String,
    lines: Lines<Whole>,
    table: Table,
    columns: Vec<Column>,
}

impl JsonRows {
    pub(super) fn open(name: &str, source: Source, options: &ReadOptions) -> Result<JsonRows, FileError> {
        let (whole, complete) = sample::look(source).map_err(|error| FileError::new(name, error))?;
        let columns = match &options.columns {
            Some(columns) => columns.clone(),
            None => seen_lines(name, sample::beginning(&whole), complete)?,
        };
        let table = Table::new(&columns);
        Ok(JsonRows { name: name.to_owned(), lines: Lines::new(whole, name), table, columns })
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        self.table.schema()
    }

    pub(super) fn table(&mut self) -> &mut Table {
        &mut self.table
    }

    pub(super) fn next_batch(&mut self, keep: Keep<'_>) -> Result<Option<RecordBatch>, FileError> {
        let JsonRows { name, lines, table, columns } = self;
        while !table.is_full() {
            let Some((line, json)) = lines.next()? else { break };
            let row = json.and_then(|json| {
                let row = json_row(&json, columns);
                row.map(|row| table.push(&row)).map_err(|problem| FileError::at(name, line, problem))
            });
            if let Err(problem) = row {
                keep(problem)?;
            }
        }
        table.take().map_err(|error| FileError::new(name, error))
    }
}

/// The columns of the beginning of a file: the keys of its objects, in the order in which they come.
fn seen_lines(name: &str, beginning: &[u8], complete: bool) -> Result<Vec<Column>, FileError> {
    let end =
        if complete { beginning.len() } else { beginning.iter().rposition(|b| *b == b'\n').unwrap_or(0) };
    let mut lines = Lines::new(&beginning[..end], name);
    let mut seen: Vec<(String, Seen)> = Vec::new();
    let mut note = |key: String, json: &Json| match seen.iter_mut().find(|(known, _)| *known == key) {
        Some((_, seen)) => seen.json(json),
        None => {
            let mut found = Seen::default();
            found.json(json);
            seen.push((key, found));
        }
    };
    while let Some((_, json)) = lines.next()? {
        // What is wrong with a line is told when it is read.
        match json {
            Ok(Json::Object(object)) => object.iter().for_each(|(key, json)| note(key.clone(), json)),
            Ok(Json::Array(array)) => {
                array.iter().enumerate().for_each(|(at, json)| note(format!("column_{}", at + 1), json));
            }
            Ok(_) | Err(_) => {}
        }
    }
    Ok(seen.into_iter().map(|(name, seen)| Column { name, column_type: seen.column_type() }).collect())
}

/// The cells of an object by its keys, of an array by position; keys that are missing are null.
fn json_row<'j>(json: &'j Json, columns: &[Column]) -> Result<Vec<Cell<'j>>, String> {
    let told = |column: &Column, problem| format!("{}: {problem}", column.name);
    match json {
        Json::Object(object) => {
            if let Some(unknown) = object.keys().find(|key| columns.iter().all(|column| column.name != **key))
            {
                return Err(format!("there is no column `{}`", cells::shortened(unknown)));
            }
            let cell = |column: &Column| match object.get(&column.name) {
                None => Ok(Cell::Null),
                Some(json) => {
                    cells::of_json(json, column.column_type).map_err(|problem| told(column, problem))
                }
            };
            columns.iter().map(cell).collect()
        }
        Json::Array(array) if array.len() == columns.len() => array
            .iter()
            .zip(columns)
            .map(|(json, column)| {
                cells::of_json(json, column.column_type).map_err(|problem| told(column, problem))
            })
            .collect(),
        Json::Array(array) => Err(format!("{} values, expected {}", array.len(), columns.len())),
        _ => Err("expected an object or an array".to_owned()),
    }
}
