//! `Run`: an immutable record batch of codes, with what was learnt about it: indexes and estimates, made on first use.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use parking_lot::Mutex;

use super::dictionary::Code;
use super::index::RowIndex;
use super::neighbours::{Neighbours, OrderedNeighbours};
use super::relation::Rows;

/// Rows of a relation, each at most once. Rows deleted since the run was made are masked.
#[derive(Debug, Clone)]
pub struct Run {
    data: Arc<RunData>,
    live: Option<BooleanBuffer>,
    live_count: usize,
}

/// Something that the first to ask builds while others wait.
type Lazy<T> = Arc<OnceLock<Arc<T>>>;

/// The file that a run was written to, or read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    /// Its name.
    pub name: String,
    /// Rows in it, deleted ones among them.
    pub rows: usize,
    /// Its length.
    pub bytes: u64,
    /// Its hash.
    pub hash: String,
    /// Whether its rows stand in the order of the run's.
    pub in_order: bool,
}

#[derive(Debug)]
struct RunData {
    batch: RecordBatch,
    file: Mutex<Option<Arc<RunFile>>>,
    indexes: Mutex<HashMap<Box<[usize]>, Lazy<RowIndex>>>,
    neighbours: Mutex<HashMap<(usize, usize), Lazy<Neighbours>>>,
    ordered: Mutex<HashMap<(usize, usize), Lazy<OrderedNeighbours>>>,
    distinct: Box<[OnceLock<usize>]>,
}

impl Run {
    /// A run of these columns, which are equally long; `rows` tells the length where there are none.
    pub fn new(columns: Vec<Vec<Code>>, rows: usize) -> Run {
        let arity = columns.len();
        let arrays =
            columns.into_iter().map(|column| Arc::new(UInt32Array::from(column)) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        // Columns are equally long and typed as the schema says: both hold by construction.
        let batch = RecordBatch::try_new_with_options(schema(arity), arrays, &options)
            .expect("columns of codes, equally long");
        Run {
            data: Arc::new(RunData {
                batch,
                file: Mutex::new(None),
                indexes: Mutex::new(HashMap::new()),
                neighbours: Mutex::new(HashMap::new()),
                ordered: Mutex::new(HashMap::new()),
                distinct: (0..arity).map(|_| OnceLock::new()).collect(),
            }),
            live: None,
            live_count: rows,
        }
    }

    /// The same rows but for those masked.
    pub fn with_live(&self, live: BooleanBuffer) -> Run {
        let live_count = live.count_set_bits();
        Run { data: Arc::clone(&self.data), live: Some(live), live_count }
    }

    /// All rows, deleted ones among them.
    pub fn batch(&self) -> &RecordBatch {
        &self.data.batch
    }

    /// Which rows still count; all if `None`.
    pub fn live(&self) -> Option<&BooleanBuffer> {
        self.live.as_ref()
    }

    /// Whether this row still counts.
    #[inline]
    pub fn is_live(&self, row: usize) -> bool {
        self.live.as_ref().is_none_or(|live| live.value(row))
    }

    /// Number of rows that count.
    pub fn len(&self) -> usize {
        self.live_count
    }

    /// Whether no row counts.
    pub fn is_empty(&self) -> bool {
        self.live_count == 0
    }

    /// Number of rows, deleted ones among them.
    pub fn stored_len(&self) -> usize {
        self.data.batch.num_rows()
    }

    /// The codes of a column, deleted rows among them.
    pub fn column(&self, column: usize) -> &[Code] {
        codes(&self.data.batch, column)
    }

    /// The codes of all columns.
    pub fn columns(&self) -> Vec<&[Code]> {
        (0..self.data.batch.num_columns()).map(|column| self.column(column)).collect()
    }

    /// A copy of the rows that count.
    pub fn live_rows(&self) -> Rows {
        let copy = |codes: &[Code]| match &self.live {
            None => codes.to_vec(),
            Some(live) => live.set_indices().map(|row| codes[row]).collect(),
        };
        Rows { columns: self.columns().into_iter().map(copy).collect(), len: self.len() }
    }

    /// The rows that count. If nobody else has the run they are not copied.
    pub fn into_rows(self) -> Rows {
        if self.live.is_some() {
            return self.live_rows();
        }
        let len = self.live_count;
        let batch = match Arc::try_unwrap(self.data) {
            Ok(data) => data.batch,
            Err(shared) => shared.batch.clone(),
        };
        let (_, arrays, _) = batch.into_parts();
        Rows { columns: arrays.into_iter().map(into_codes).collect(), len }
    }

    /// The index over these columns, built on first use and then shared. It covers deleted rows too.
    pub fn index(&self, columns: &[usize]) -> Arc<RowIndex> {
        let cell = Arc::clone(self.data.indexes.lock().entry(columns.into()).or_default());
        Arc::clone(cell.get_or_init(|| {
            let keys: Vec<&[Code]> = columns.iter().map(|column| self.column(*column)).collect();
            Arc::new(RowIndex::build(&keys, self.stored_len()))
        }))
    }

    /// The edges from one column to another, put side by side on first use and then shared. They cover deleted rows too.
    pub fn neighbours(&self, from: usize, to: usize) -> Arc<Neighbours> {
        let cell = Arc::clone(self.data.neighbours.lock().entry((from, to)).or_default());
        Arc::clone(cell.get_or_init(|| Arc::new(Neighbours::new(self.index(&[from]), self.column(to)))))
    }

    /// The same in ascending order.
    pub fn ordered_neighbours(&self, from: usize, to: usize) -> Arc<OrderedNeighbours> {
        let cell = Arc::clone(self.data.ordered.lock().entry((from, to)).or_default());
        Arc::clone(
            cell.get_or_init(|| Arc::new(OrderedNeighbours::new(self.index(&[from]), self.column(to)))),
        )
    }

    /// The file that holds all rows of the run, deleted ones among them, if there is one.
    pub fn file(&self) -> Option<Arc<RunFile>> {
        self.data.file.lock().clone()
    }

    /// Says which file holds all rows of the run.
    pub fn set_file(&self, file: RunFile) {
        *self.data.file.lock() = Some(Arc::new(file));
    }

    /// An estimate of the number of distinct codes in a column, from a sample of its rows.
    pub fn distinct(&self, column: usize) -> usize {
        *self.data.distinct[column].get_or_init(|| estimate_distinct(self.column(column)))
    }

    /// Bytes held by columns and indexes.
    pub fn memory_bytes(&self) -> usize {
        let indexes: usize = self
            .data
            .indexes
            .lock()
            .values()
            .filter_map(|cell| cell.get())
            .map(|index| index.memory_bytes())
            .sum();
        let neighbours = self.data.neighbours.lock();
        let neighbours: usize =
            neighbours.values().filter_map(|cell| cell.get()).map(|edges| edges.memory_bytes()).sum();
        let ordered = self.data.ordered.lock();
        let ordered: usize =
            ordered.values().filter_map(|cell| cell.get()).map(|edges| edges.memory_bytes()).sum();
        self.data.batch.get_array_memory_size() + indexes + neighbours + ordered
    }
}

/// The codes of a column of a batch made by [`Run::new`].
fn codes(batch: &RecordBatch, column: usize) -> &[Code] {
    batch.column(column).as_any().downcast_ref::<UInt32Array>().map_or(&[], |array| array.values())
}

/// The same of a column that is not needed any more.
fn into_codes(column: ArrayRef) -> Vec<Code> {
    let Some(array) = column.as_any().downcast_ref::<UInt32Array>().cloned() else { return Vec::new() };
    drop(column);
    let (_, codes, _) = array.into_parts();
    codes.into_inner().into_vec().unwrap_or_else(|shared| shared.typed_data().to_vec())
}

fn schema(arity: usize) -> SchemaRef {
    Arc::new(Schema::new(
        (0..arity).map(|i| Field::new(format!("c{i}"), DataType::UInt32, false)).collect::<Vec<_>>(),
    ))
}

/// The GEE estimator (Charikar, Chaudhuri, Motwani, Narasayya: Towards estimation error guarantees for distinct
/// values, PODS 2000): values seen once in the sample stand for sqrt(rows / sample) values each.
fn estimate_distinct(column: &[Code]) -> usize {
    const SAMPLE: usize = 1_024;
    let step = column.len().div_ceil(SAMPLE).max(1);
    let mut seen: HashMap<Code, bool> = HashMap::with_capacity(SAMPLE);
    let mut sampled = 0_usize;
    // A step that is no divisor of usual strides keeps the sample from hitting one phase of a pattern.
    for row in (0..column.len()).step_by(step) {
        let jitter = (row.wrapping_mul(0x9E37_79B9) >> 7) % step;
        let code = column[(row + jitter).min(column.len() - 1)];
        seen.entry(code).and_modify(|once| *once = false).or_insert(true);
        sampled += 1;
    }
    let once = seen.values().filter(|once| **once).count();
    if once == sampled {
        // Nothing repeats: most likely a key.
        return column.len();
    }
    let scale = (column.len() as f64 / sampled as f64).sqrt();
    let estimate = once as f64 * scale + (seen.len() - once) as f64;
    (estimate as usize).clamp(1, column.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_values_are_estimated_within_a_small_factor() {
        let n = 100_000_u32;
        let few = Run::new(vec![(0..n).map(|i| i % 10).collect()], n as usize);
        let all = Run::new(vec![(0..n).collect()], n as usize);
        assert_eq!(few.distinct(0), 10);
        assert_eq!(all.distinct(0), 100_000);
        assert_eq!(Run::new(vec![vec![]], 0).distinct(0), 0);
    }

    #[test]
    fn rows_are_only_copied_if_somebody_else_has_them() {
        let run = Run::new(vec![vec![1, 2], vec![3, 4]], 2);
        let (shared, place) = (run.clone(), run.column(1).as_ptr());
        let copied = run.into_rows();
        assert_ne!(copied.columns[1].as_ptr(), place);
        let moved = shared.with_live(BooleanBuffer::from(vec![false, true])).into_rows();
        assert_eq!(moved.columns, [[2], [4]]);
        let moved = shared.into_rows();
        assert_eq!(moved.columns[1].as_ptr(), place);
        assert_eq!(moved.columns, copied.columns);
    }

    #[test]
    fn an_index_is_built_once_and_outlives_deletes() {
        let run = Run::new(vec![vec![1, 2, 2]], 3);
        let index = run.index(&[0]);
        let rest = run.with_live(BooleanBuffer::from(vec![true, false, true]));
        assert!(Arc::ptr_eq(&index, &rest.index(&[0])));
        assert_eq!((rest.len(), rest.stored_len(), rest.is_live(1)), (2, 3, false));
    }
}
