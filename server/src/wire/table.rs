//! `Table`: what is sent as a result, a query's rows or something small that is made here.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::{Field, Schema};
use arrow::record_batch::RecordBatch;
use stratalog_engine::{Inserted, Rows};
use stratalog_protocol::Failure;

use super::broken;

/// Where rows come from.
pub(crate) enum Table {
    /// A query's answer, decoded piece by piece.
    Rows(Rows),
    /// A small table made here.
    Batch(RecordBatch),
}

impl Table {
    /// One row a message.
    pub(super) fn messages(messages: &[String]) -> Result<Table, Failure> {
        Table::of(vec![("message", Arc::new(StringArray::from_iter_values(messages)))])
    }

    /// The outcome of an insert.
    pub(super) fn inserted(relation: &str, inserted: &Inserted) -> Result<Table, Failure> {
        let count = |n: u64| Arc::new(Int64Array::from(vec![i64::try_from(n).unwrap_or(i64::MAX)]));
        Table::of(vec![
            ("relation", Arc::new(StringArray::from(vec![relation]))),
            ("inserted", count(inserted.inserted)),
            ("duplicates", count(inserted.duplicates)),
        ])
    }

    pub(super) fn of(columns: Vec<(&str, ArrayRef)>) -> Result<Table, Failure> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, column)| Field::new(*name, column.data_type().clone(), true))
            .collect();
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
            .map(Table::Batch)
            .map_err(|error| broken(&error.to_string()))
    }

    pub(super) fn columns(&self) -> Vec<String> {
        match self {
            Table::Rows(rows) => rows.columns().iter().map(|column| column.name.clone()).collect(),
            Table::Batch(batch) => {
                batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
            }
        }
    }

    pub(super) fn schema(&self) -> Arc<Schema> {
        match self {
            Table::Rows(rows) => rows.schema(),
            Table::Batch(batch) => batch.schema(),
        }
    }

    pub(super) fn row_count(&self) -> usize {
        match self {
            Table::Rows(rows) => rows.row_count(),
            Table::Batch(batch) => batch.num_rows(),
        }
    }

    pub(super) fn total_count(&self) -> usize {
        match self {
            Table::Rows(rows) => rows.total_count(),
            Table::Batch(batch) => batch.num_rows(),
        }
    }

    pub(super) fn truncated(&self) -> bool {
        match self {
            Table::Rows(rows) => rows.truncated(),
            Table::Batch(_) => false,
        }
    }

    /// Rows `offset..offset + length`, fewer at the end.
    pub(super) fn batch(&self, offset: usize, length: usize) -> RecordBatch {
        match self {
            Table::Rows(rows) => rows.batch(offset, length),
            Table::Batch(batch) => {
                let offset = offset.min(batch.num_rows());
                batch.slice(offset, length.min(batch.num_rows() - offset))
            }
        }
    }
}
