//! `Table`: what is sent as a result, a query's rows or something small that is made here.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;
use stratalog_engine::{Inserted, Provenance, Rows};
use stratalog_protocol::Failure;

use super::broken;

/// The name of the Arrow column that says where a row comes from.
const PROVENANCE: &str = "_provenance";

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

    /// A name of its own for each column; none where the columns have such names.
    pub(super) fn unique_names(&self) -> Option<Vec<String>> {
        let Table::Rows(rows) = self else { return None };
        let columns = rows.columns();
        let are_unique = columns.iter().all(|column| column.name == column.unique_name);
        (!are_unique).then(|| columns.iter().map(|column| column.unique_name.clone()).collect())
    }

    /// The schema of Arrow frames: where rows come from is a last column there.
    pub(super) fn arrow_schema(&self) -> Arc<Schema> {
        match self {
            Table::Rows(rows) if rows.provenance().is_some() => {
                let provenance = Arc::new(Field::new(PROVENANCE, DataType::Utf8, false));
                let fields = rows.schema().fields().iter().cloned().chain([provenance]).collect::<Vec<_>>();
                Arc::new(Schema::new(fields))
            }
            Table::Rows(rows) => rows.schema(),
            Table::Batch(batch) => batch.schema(),
        }
    }

    /// A batch of Arrow frames.
    pub(super) fn arrow_batch(&self, offset: usize, length: usize) -> Result<RecordBatch, ArrowError> {
        let batch = self.batch(offset, length);
        let Some(provenance) = self.provenance(offset, batch.num_rows()) else { return Ok(batch) };
        let provenance = StringArray::from_iter_values(provenance.iter().map(|origin| origin.as_str()));
        let columns = batch.columns().iter().cloned().chain([Arc::new(provenance) as ArrayRef]).collect();
        RecordBatch::try_new(self.arrow_schema(), columns)
    }

    /// Where the rows `offset..offset + length` come from, if the session has facts or rules of its own.
    pub(super) fn provenance(&self, offset: usize, length: usize) -> Option<&[Provenance]> {
        match self {
            Table::Rows(rows) => {
                rows.provenance().map(|all| all.get(offset..offset + length).unwrap_or_default())
            }
            Table::Batch(_) => None,
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
