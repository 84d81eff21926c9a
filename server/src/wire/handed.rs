//! An answer that is handed to a program in the same process: its Arrow batches are made when they are asked for.

use std::fmt;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::error::ArrowError;
use arrow::record_batch::RecordBatch;

use super::table::Table;

/// The bytes that a batch is meant to have.
const AIM: usize = 4 << 20;

/// The most rows of a batch. How wide the next ones are is not known, and what a column of strings holds has a limit of 2 GiB.
const MOST_ROWS: usize = 65_536;

/// The rows of an answer, which take its memory as long as this is there.
#[derive(Clone)]
pub struct HandedRows(Arc<Table>);

impl HandedRows {
    pub(super) fn new(table: Table) -> HandedRows {
        HandedRows(Arc::new(table))
    }

    /// Their columns.
    pub fn schema(&self) -> SchemaRef {
        self.0.arrow_schema()
    }

    /// All of them, from the first on, as batches of some mebibytes.
    pub fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, ArrowError>> + Send + use<> {
        let table = Arc::clone(&self.0);
        let (mut next, mut rows) = (0, 1024);
        std::iter::from_fn(move || {
            let left = table.row_count() - next;
            if left == 0 {
                return None;
            }
            let batch = table.arrow_batch(next, rows.min(left));
            match &batch {
                Ok(batch) if batch.num_rows() > 0 => {
                    next += batch.num_rows();
                    let bytes = batch.get_array_memory_size().max(1);
                    rows = (batch.num_rows() * AIM / bytes).clamp(1, MOST_ROWS);
                }
                // Nothing more is to be had.
                Ok(_) | Err(_) => next = table.row_count(),
            }
            Some(batch)
        })
    }
}

impl fmt::Debug for HandedRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HandedRows({})", self.0.row_count())
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::AsArray;

    use super::HandedRows;
    use crate::wire::table::Table;

    #[test]
    fn the_batches_together_are_all_rows_as_often_as_they_are_asked_for() {
        let texts: Vec<String> = (0..300_000).map(|n| format!("{n:0100}")).collect();
        let rows = HandedRows::new(Table::messages(&texts).unwrap());
        for _ in 0..2 {
            let batches: Vec<_> = rows.batches().map(Result::unwrap).collect();
            assert!(batches.len() > 2, "{}", batches.len());
            let found: Vec<&str> = batches
                .iter()
                .flat_map(|batch| batch.column(0).as_string::<i32>().iter().flatten())
                .collect();
            assert_eq!(found, texts);
        }
        assert_eq!(HandedRows::new(Table::messages(&[]).unwrap()).batches().count(), 0);
    }
}
