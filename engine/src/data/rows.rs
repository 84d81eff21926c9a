//! `Rows`: rows of codes on their way in or out of relations and runs, and the keys that they become to be sorted.

use super::MAX_COLUMNS;
use super::codes::Code;
use super::first_codes::by_first_codes;
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
    let mut keys = packed::<K>(&rows.slices(), rows.len);
    if !keys.is_sorted() {
        match by_first_codes(&rows.slices()) {
            Some(columns) => {
                keys = packed(&columns.iter().map(Vec::as_slice).collect::<Vec<_>>(), rows.len);
            }
            None => parallel::sort_by_key(&mut keys, |key| *key),
        }
    }
    keys.dedup();
    keys
}

/// Distinct rows in order.
pub(super) fn sorted(rows: &Rows) -> Rows {
    if let Some(columns) = by_first_codes(&rows.slices()) {
        return Rows { columns, len: rows.len };
    }
    let arity = rows.columns.len();
    with_key!(arity, K => {
        let mut keys = packed::<K>(&rows.slices(), rows.len);
        parallel::sort_by_key(&mut keys, |key| *key);
        unpack(&keys, arity)
    })
}

/// Whether the rows are distinct and in order, found without the keys of all of them.
pub(super) fn is_sorted<K: Key>(rows: &Rows) -> bool {
    const BLOCK: usize = 1 << 12;
    let columns = rows.slices();
    let mut keys = Vec::with_capacity(rows.len.min(BLOCK + 1));
    (0..rows.len).step_by(BLOCK).all(|start| {
        keys.clear();
        // The first one of the next block too.
        K::pack(&columns, start, rows.len.min(start + BLOCK + 1), &mut keys);
        keys.is_sorted_by(|a, b| a < b)
    })
}

fn packed<K: Key>(columns: &[&[Code]], rows: usize) -> Vec<K> {
    let mut keys = Vec::with_capacity(rows);
    K::pack(columns, 0, rows, &mut keys);
    keys
}

/// Keys back to columns.
pub(crate) fn unpack<K: Key>(keys: &[K], arity: usize) -> Rows {
    debug_assert!(arity <= MAX_COLUMNS);
    let columns = (0..arity).map(|position| keys.iter().map(|key| key.code(position)).collect()).collect();
    Rows { columns, len: keys.len() }
}
