//! `Rows`: rows of codes on their way in or out of relations and runs, and the keys that they become to be sorted.

use super::MAX_COLUMNS;
use super::codes::Code;
use super::keys::{Key, with_key};
use super::parallel;

/// Rows of codes on their way in or out, column by column.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    /// The columns, equally long.
    pub columns: Vec<Vec<Code>>,
    /// Their length.
    pub len: usize,
}

impl Rows {
    /// No rows of so many columns.
    pub fn empty(arity: usize) -> Rows {
        Rows { columns: vec![Vec::new(); arity], len: 0 }
    }

    /// Adds rows after those that are here.
    pub fn append(&mut self, more: Rows) {
        self.len += more.len;
        for (column, more) in self.columns.iter_mut().zip(more.columns) {
            column.extend(more);
        }
    }

    /// The columns as slices.
    pub fn slices(&self) -> Vec<&[Code]> {
        self.columns.iter().map(Vec::as_slice).collect()
    }

    /// Each of the rows once.
    pub fn distinct(self) -> Rows {
        let arity = self.columns.len();
        with_key!(arity, K => {
            let keys = sorted_keys::<K>(&self);
            if keys.len() == self.len { self } else { unpack(&keys, arity) }
        })
    }

    /// Bytes that it takes to put so many rows of so many columns into a relation: their keys, and the run they become.
    pub fn bytes_to_store(arity: usize, rows: usize) -> usize {
        with_key!(arity, K => rows.saturating_mul(size_of::<K>() + arity * size_of::<Code>()))
    }
}

/// The keys of rows in order, each once.
pub(super) fn sorted_keys<K: Key>(rows: &Rows) -> Vec<K> {
    let mut keys = Vec::with_capacity(rows.len);
    K::pack(&rows.slices(), 0, rows.len, &mut keys);
    if !keys.is_sorted() {
        parallel::sort_by_key(&mut keys, |key| *key);
    }
    keys.dedup();
    keys
}

/// Keys back to columns.
pub(crate) fn unpack<K: Key>(keys: &[K], arity: usize) -> Rows {
    debug_assert!(arity <= MAX_COLUMNS);
    let columns = (0..arity).map(|position| keys.iter().map(|key| key.code(position)).collect()).collect();
    Rows { columns, len: keys.len() }
}
