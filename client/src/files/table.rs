//! `Table`: rows on their way into a batch.

use super::cells::Cell;
use super::column_type::{Column, ColumnType};
use super::losses::Losses;
use arrow::array::{
    ArrayRef, BooleanBuilder, Float32Builder, Float64Builder, Int8Builder, Int64Builder, ListBuilder,
    RecordBatch, StringBuilder, TimestampMillisecondBuilder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::error::ArrowError;
use std::sync::Arc;

/// A batch is given away at so many rows, or so many bytes.
const ROWS: usize = 1 << 14;
const BYTES: usize = 4 << 20;

/// Collects rows whose cells have the types of the columns.
pub(super) struct Table {
    schema: SchemaRef,
    builders: Vec<Builder>,
    rows: usize,
    bytes: usize,
    losses: Losses,
}

/// The values of one column so far.
pub(super) enum Builder {
    Int(Int64Builder),
    Float(Float64Builder),
    Bool(BooleanBuilder),
    Time(TimestampMillisecondBuilder),
    Text(StringBuilder),
    Vector(ListBuilder<Float32Builder>),
    Bytes(ListBuilder<Int8Builder>),
}

impl Table {
    pub(super) fn new(columns: &[Column]) -> Table {
        let fields: Vec<Field> =
            columns.iter().map(|column| column.column_type.field(&column.name)).collect();
        let builders = columns.iter().map(|column| Builder::new(column.column_type)).collect();
        Table {
            schema: Arc::new(Schema::new(fields)),
            builders,
            rows: 0,
            bytes: 0,
            losses: Losses::default(),
        }
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Adds a row; its cells are in the order of the columns.
    pub(super) fn push(&mut self, row: &[Cell<'_>]) {
        for (column, (builder, cell)) in self.builders.iter_mut().zip(row).enumerate() {
            self.losses.note_cell(self.schema.field(column).name(), cell);
            self.bytes += builder.push(cell);
        }
        self.rows += 1;
    }

    /// What is said of cells that lost something.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.losses.warnings()
    }

    pub(super) fn is_full(&self) -> bool {
        self.rows >= ROWS || self.bytes >= BYTES
    }

    /// The rows so far; `None` where there are none.
    pub(super) fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(None);
        }
        self.bytes = 0;
        let arrays = self.builders.iter_mut().map(Builder::finish).collect();
        RecordBatch::try_new(Arc::clone(&self.schema), arrays).map(Some)
    }
}

impl Builder {
    pub(super) fn new(column_type: ColumnType) -> Builder {
        let item = |data_type| Arc::new(Field::new("item", data_type, false));
        match column_type {
            ColumnType::Int => Builder::Int(Int64Builder::new()),
            ColumnType::Float => Builder::Float(Float64Builder::new()),
            ColumnType::Bool => Builder::Bool(BooleanBuilder::new()),
            ColumnType::Timestamp => Builder::Time(TimestampMillisecondBuilder::new().with_timezone("UTC")),
            ColumnType::Text | ColumnType::List | ColumnType::Any => Builder::Text(StringBuilder::new()),
            ColumnType::Vector(_) => {
                Builder::Vector(ListBuilder::new(Float32Builder::new()).with_field(item(DataType::Float32)))
            }
            ColumnType::VectorInt8(_) => {
                Builder::Bytes(ListBuilder::new(Int8Builder::new()).with_field(item(DataType::Int8)))
            }
        }
    }

    /// Adds a cell, or null where it is of another type; answers how many bytes it takes.
    pub(super) fn push(&mut self, cell: &Cell<'_>) -> usize {
        match (self, cell) {
            (Builder::Int(builder), Cell::Int(number)) => builder.append_value(*number),
            (Builder::Int(builder), _) => builder.append_null(),
            (Builder::Float(builder), Cell::Float(number)) if !number.is_nan() => {
                builder.append_value(*number);
            }
            (Builder::Float(builder), _) => builder.append_null(),
            (Builder::Bool(builder), Cell::Bool(value)) => builder.append_value(*value),
            (Builder::Bool(builder), _) => builder.append_null(),
            (Builder::Time(builder), Cell::Time(time) | Cell::CutTime(time, _)) => {
                builder.append_value(*time);
            }
            (Builder::Time(builder), _) => builder.append_null(),
            (Builder::Text(builder), Cell::Text(text)) => {
                builder.append_value(text);
                return text.len() + 4;
            }
            (Builder::Text(builder), Cell::Json(json)) => {
                builder.append_value(json);
                return json.len() + 4;
            }
            (Builder::Text(builder), _) => builder.append_null(),
            (Builder::Vector(builder), Cell::Vector(elements)) => {
                builder.values().append_slice(elements);
                builder.append(true);
                return 4 * elements.len();
            }
            (Builder::Vector(builder), _) => builder.append(false),
            (Builder::Bytes(builder), Cell::Bytes(elements)) => {
                builder.values().append_slice(elements);
                builder.append(true);
                return elements.len();
            }
            (Builder::Bytes(builder), _) => builder.append(false),
        }
        8
    }

    pub(super) fn finish(&mut self) -> ArrayRef {
        match self {
            Builder::Int(builder) => Arc::new(builder.finish()),
            Builder::Float(builder) => Arc::new(builder.finish()),
            Builder::Bool(builder) => Arc::new(builder.finish()),
            Builder::Time(builder) => Arc::new(builder.finish()),
            Builder::Text(builder) => Arc::new(builder.finish()),
            Builder::Vector(builder) => Arc::new(builder.finish()),
            Builder::Bytes(builder) => Arc::new(builder.finish()),
        }
    }
}
