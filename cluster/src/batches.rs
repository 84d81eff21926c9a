//! Rows of codes as record batches, and back.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, UInt32Array};
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use stratalog_engine::data::{Code, Rows, Run};

/// So many columns of codes.
pub(crate) fn schema(arity: usize) -> SchemaRef {
    named((0..arity).map(|column| format!("c{column}")))
}

/// Columns of codes with these names.
pub(crate) fn named(names: impl Iterator<Item = String>) -> SchemaRef {
    Arc::new(Schema::new(names.map(|name| Field::new(name, DataType::UInt32, false)).collect::<Vec<_>>()))
}

/// The rows of a run that count.
pub(crate) fn of_run(run: &Run) -> RecordBatch {
    let columns: Vec<ArrayRef> = run.batch().columns().to_vec();
    let batch = RecordBatch::try_new(schema(columns.len()), columns).expect("a run has columns of codes");
    if run.live().is_none() {
        return batch;
    }
    let counts: BooleanArray = (0..run.stored_len()).map(|row| Some(run.is_live(row))).collect();
    filter_record_batch(&batch, &counts).expect("a flag a row")
}

/// Rows of at least one column.
pub(crate) fn of_rows(rows: Rows) -> RecordBatch {
    let columns: Vec<ArrayRef> =
        rows.columns.into_iter().map(|codes| Arc::new(UInt32Array::from(codes)) as ArrayRef).collect();
    RecordBatch::try_new(schema(columns.len()), columns).expect("columns of codes, equally long")
}

/// The codes of a column.
pub(crate) fn codes(batch: &RecordBatch, column: usize) -> &[Code] {
    batch.column(column).as_primitive::<UInt32Type>().values()
}

/// Adds the rows of a batch to others.
pub(crate) fn append(rows: &mut Rows, batch: &RecordBatch) {
    rows.len += batch.num_rows();
    for (column, all) in rows.columns.iter_mut().enumerate() {
        all.extend_from_slice(codes(batch, column));
    }
}
