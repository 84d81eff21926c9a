//! What an answer comes to, so that a copy that has been kept for long can be compared with a fresh one.

use std::hash::{DefaultHasher, Hash, Hasher};

use arrow::row::{RowConverter, SortField};
use stratalog_engine::{Next, Rows};

/// The number of rows and a sum over them, whatever their order. It follows an answer as rows come and go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Fingerprint {
    rows: usize,
    sum: u64,
}

impl Fingerprint {
    /// Of these rows.
    pub fn of(rows: &Rows) -> Fingerprint {
        const BATCH: usize = 100_000;
        let fields =
            rows.schema().fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
        let converter = RowConverter::new(fields).expect("columns that have an order");
        let mut sum: u64 = 0;
        for offset in (0..rows.row_count()).step_by(BATCH) {
            let batch = rows.batch(offset, BATCH);
            let bytes = converter.convert_columns(batch.columns()).expect("columns of these types");
            for row in &bytes {
                let mut hasher = DefaultHasher::new();
                row.hash(&mut hasher);
                sum = sum.wrapping_add(hasher.finish());
            }
        }
        Fingerprint { rows: rows.row_count(), sum }
    }

    /// After this was told.
    pub fn apply(&mut self, next: &Next) {
        match next {
            Next::Delta { delta, .. } => {
                let (added, removed) = (Fingerprint::of(&delta.added), Fingerprint::of(&delta.removed));
                self.rows = self.rows + added.rows - removed.rows;
                self.sum = self.sum.wrapping_add(added.sum).wrapping_sub(removed.sum);
            }
            Next::Reset { rows, .. } => *self = Fingerprint::of(rows),
            Next::Nothing { .. } | Next::Ended { .. } => {}
        }
    }
}
