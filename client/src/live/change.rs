//! `LiveChange`: the rows that came and went. It comes in parts, each an Arrow stream of its own.

use crate::errors::ClientError;
use crate::stream::undecodable;
use arrow::array::{AsArray, BooleanArray, Int8Array, RecordBatch};
use arrow::buffer::Buffer;
use arrow::compute::filter_record_batch;
use arrow::datatypes::{DataType, Int8Type};
use arrow::error::ArrowError;
use arrow::ipc::reader::StreamDecoder;
use bytes::Bytes;

/// The first column of what travels: 1 for a row that came, -1 for one that went.
const DIFF: &str = "_diff";

/// The rows that came and went, as of a [`Live`](crate::Live) query.
///
/// Columns are typed by the values of a change, so the next one may have other types: an `int` column has text, the JSON of
/// each value, once there are strings beside. [`files::rows`](crate::files::rows) makes the same values of both.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct LiveChange {
    /// The version of the graph at which the answer is what it is now.
    pub version: u64,
    /// Whether `added` are all rows, and those of before are of no use.
    pub reset: bool,
    /// The names of the columns.
    pub columns: Vec<String>,
    /// Rows that were not there.
    pub added: Vec<RecordBatch>,
    /// Rows that are not there any more.
    pub removed: Vec<RecordBatch>,
}

impl LiveChange {
    /// Adds the rows of a part.
    pub(super) fn take(&mut self, frame: Bytes) -> Result<(), ClientError> {
        self.read(frame).map_err(|error| undecodable(&error))
    }

    fn read(&mut self, frame: Bytes) -> Result<(), ArrowError> {
        let mut frame = Buffer::from(frame);
        let mut decoder = StreamDecoder::new();
        while !frame.is_empty() {
            if let Some(batch) = decoder.decode(&mut frame)? {
                self.split(&batch)?;
            }
        }
        decoder.finish()
    }

    fn split(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        let is_diff = batch.schema().fields().first().is_some_and(|field| {
            (field.name().as_str(), field.data_type(), field.is_nullable()) == (DIFF, &DataType::Int8, false)
        });
        if !is_diff {
            return Err(ArrowError::SchemaError(format!("the first column is not `{DIFF}`")));
        }
        let diffs = batch.column(0).as_primitive::<Int8Type>();
        let rows = batch.project(&(1..batch.num_columns()).collect::<Vec<_>>())?;
        for (into, is_meant) in
            [(&mut self.added, is_added as fn(i8) -> bool), (&mut self.removed, is_removed)]
        {
            let found = which(diffs, is_meant);
            match found.true_count() {
                0 => {}
                all if all == rows.num_rows() => into.push(rows.clone()),
                _ => into.push(filter_record_batch(&rows, &found)?),
            }
        }
        Ok(())
    }
}

fn is_added(diff: i8) -> bool {
    diff > 0
}

fn is_removed(diff: i8) -> bool {
    diff < 0
}

fn which(diffs: &Int8Array, is_meant: fn(i8) -> bool) -> BooleanArray {
    diffs.values().iter().map(|diff| Some(is_meant(*diff))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array};
    use arrow::datatypes::{Field, Schema};
    use arrow::ipc::writer::StreamWriter;
    use std::sync::Arc;

    fn part(name: &str, diffs: &[i8], rows: &[i64]) -> Bytes {
        let fields = vec![Field::new(name, DataType::Int8, false), Field::new("X", DataType::Int64, true)];
        let schema = Arc::new(Schema::new(fields));
        let columns: Vec<ArrayRef> =
            vec![Arc::new(Int8Array::from(diffs.to_vec())), Arc::new(Int64Array::from(rows.to_vec()))];
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        writer.into_inner().unwrap().into()
    }

    fn numbers(batches: &[RecordBatch]) -> Vec<i64> {
        let of = |batch: &RecordBatch| {
            batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().values().to_vec()
        };
        batches.iter().flat_map(of).collect()
    }

    #[test]
    fn rows_that_came_are_told_from_those_that_went() {
        let mut change = LiveChange::default();
        change.take(part(DIFF, &[-1, 1, -1], &[1, 2, 3])).unwrap();
        change.take(part(DIFF, &[1, 1], &[4, 5])).unwrap();
        change.take(part(DIFF, &[], &[])).unwrap();
        assert_eq!(numbers(&change.added), [2, 4, 5]);
        assert_eq!(numbers(&change.removed), [1, 3]);
        assert_eq!(change.added[0].schema().fields().len(), 1);
    }

    #[test]
    fn what_is_no_part_is_refused() {
        let whole = part(DIFF, &[1], &[1]);
        let cut = whole.slice(..whole.len() / 2);
        for frame in [part("X", &[1], &[1]), cut, Bytes::from_static(b"not arrow")] {
            let error = LiveChange::default().take(frame).unwrap_err();
            assert!(matches!(error, ClientError::Protocol { .. }), "{error}");
        }
    }
}
