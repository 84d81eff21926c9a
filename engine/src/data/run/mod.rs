//! `Run`: an immutable record batch of codes, with what was learnt about it: estimates, and what is built of it (`built.rs`).

mod built;
mod live;

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{self, AtomicU64};
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::buffer::ScalarBuffer;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use parking_lot::Mutex;

use self::built::Built;
use super::MAX_ROWS;
use super::codes::{Code, bounds};
use super::dictionary::Dictionary;
use super::keys::{Key, with_key};
use super::rows::Rows;
use super::sample::Sample;

pub use self::built::Pairing;
pub use self::live::LiveRows;

/// Rows of a relation, each at most once. Rows deleted since the run was made are masked.
#[derive(Debug, Clone)]
pub struct Run {
    /// No two runs of different rows have the same.
    number: u64,
    data: Arc<RunData>,
    /// All rows if none.
    live: Option<LiveRows>,
}

/// The least and the largest code of a column, if it has any.
type Bounds = Option<(Code, Code)>;

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
    /// What tells it from every other run of this process.
    id: u64,
    batch: RecordBatch,
    file: Mutex<Option<Arc<RunFile>>>,
    /// For its columns, by their numbers.
    built: Arc<Built>,
    samples: Box<[OnceLock<Arc<Sample>>]>,
    /// Those of several columns.
    joint_samples: Mutex<HashMap<Box<[usize]>, Arc<Sample>>>,
    bounds: Box<[OnceLock<Bounds>]>,
    is_sorted: OnceLock<bool>,
    value_bytes: OnceLock<usize>,
}

impl Run {
    /// A run of these columns, which are equally long; `rows` tells the length where there are none.
    ///
    /// More than [`MAX_ROWS`] are refused where rows come from: here they would be a broken promise.
    pub fn new(columns: Vec<Vec<Code>>, rows: usize) -> Run {
        assert!(rows <= MAX_ROWS, "a run of {rows} rows");
        let arity = columns.len();
        let arrays =
            columns.into_iter().map(|column| Arc::new(UInt32Array::from(column)) as ArrayRef).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        // Columns are equally long and typed as the schema says: both hold by construction.
        let batch = RecordBatch::try_new_with_options(schema(arity), arrays, &options)
            .expect("columns of codes, equally long");
        Run::of_batch(batch, Arc::default())
    }

    fn of_batch(batch: RecordBatch, built: Arc<Built>) -> Run {
        let arity = batch.num_columns();
        Run {
            number: next_number(),
            data: Arc::new(RunData {
                id: next_number(),
                batch,
                file: Mutex::new(None),
                built,
                samples: (0..arity).map(|_| OnceLock::new()).collect(),
                joint_samples: Mutex::default(),
                bounds: (0..arity).map(|_| OnceLock::new()).collect(),
                is_sorted: OnceLock::new(),
                value_bytes: OnceLock::new(),
            }),
            live: None,
        }
    }

    /// A run of rows that are sorted and distinct.
    pub(crate) fn of_sorted(rows: Rows) -> Run {
        let run = Run::new(rows.columns, rows.len);
        run.data.is_sorted.get_or_init(|| true);
        run
    }

    /// The first columns of a sorted run, in which its rows are distinct. They are shared, and so is what is built for them.
    pub(crate) fn of_first_columns(&self, columns: usize) -> Run {
        let first: Vec<usize> = (0..columns).collect();
        let batch = self.data.batch.project(&first).expect("a run has the columns that are asked of it");
        let run = Run { live: self.live.clone(), ..Run::of_batch(batch, Arc::clone(&self.data.built)) };
        run.data.is_sorted.get_or_init(|| true);
        run
    }

    /// The same run with other codes in its last column, by which its rows stay in order. Others are shared.
    pub(crate) fn with_last_column(&self, codes: Vec<Code>) -> Run {
        let mut columns = self.data.batch.columns().to_vec();
        columns.pop();
        columns.push(Arc::new(UInt32Array::from(codes)));
        let batch = RecordBatch::try_new(self.data.batch.schema(), columns).expect("as many codes as rows");
        let run = Run { live: self.live.clone(), ..Run::of_batch(batch, Arc::default()) };
        run.data.is_sorted.get_or_init(|| true);
        run
    }

    /// Whether it has the first columns of another run, or that one those of it.
    pub(crate) fn shares_columns_with(&self, other: &Run) -> bool {
        Arc::ptr_eq(&self.data.built, &other.data.built)
    }

    /// The same rows but for those masked.
    pub fn with_live(&self, live: LiveRows) -> Run {
        Run { number: next_number(), data: Arc::clone(&self.data), live: Some(live) }
    }

    /// Without some of its rows, which are in order.
    pub fn without(&self, dead: &[usize]) -> Run {
        let all = || LiveRows::all(self.stored_len());
        self.with_live(self.live.clone().unwrap_or_else(all).without(dead))
    }

    /// What tells it from every run of other rows, as long as this process runs.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// What tells its rows from those of every other run; the same whichever of them are masked.
    pub fn id(&self) -> u64 {
        self.data.id
    }

    /// All rows, deleted ones among them.
    pub fn batch(&self) -> &RecordBatch {
        &self.data.batch
    }

    /// Which rows still count; all if `None`.
    pub fn live(&self) -> Option<&LiveRows> {
        self.live.as_ref()
    }

    /// Whether this row still counts.
    #[inline]
    pub fn is_live(&self, row: usize) -> bool {
        self.live.as_ref().is_none_or(|live| live.value(row))
    }

    /// The rows that count in this one and not in another one, which has the same rows.
    pub fn live_only_here(&self, other: &Run) -> Vec<usize> {
        let Some(theirs) = other.live() else { return Vec::new() };
        let all = || LiveRows::all(self.stored_len());
        self.live.clone().unwrap_or_else(all).difference(theirs)
    }

    /// Number of rows that count.
    pub fn len(&self) -> usize {
        self.live.as_ref().map_or(self.stored_len(), LiveRows::count)
    }

    /// Whether no row counts.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        let copy = |column| {
            let mut codes = Vec::with_capacity(self.len());
            self.append_live(column, &mut codes);
            codes
        };
        Rows { columns: (0..self.data.batch.num_columns()).map(copy).collect(), len: self.len() }
    }

    /// Appends the codes that the rows that count have in a column.
    pub(super) fn append_live(&self, column: usize, to: &mut Vec<Code>) {
        let codes = self.column(column);
        match &self.live {
            None => to.extend_from_slice(codes),
            Some(live) => live.ranges().for_each(|rows| to.extend_from_slice(&codes[rows])),
        }
    }

    /// Whether rows stand in the order of keys, in which stored relations have them, and each but once.
    pub fn is_sorted(&self) -> bool {
        *self.data.is_sorted.get_or_init(|| {
            let columns = self.columns();
            (1..self.stored_len()).all(|row| {
                let order = |column: &&[Code]| column[row - 1].cmp(&column[row]);
                columns.iter().map(order).find(|order| order.is_ne()) == Some(Ordering::Less)
            })
        })
    }

    /// Whether that was found out, and is so.
    pub(super) fn is_known_to_be_sorted(&self) -> bool {
        self.data.is_sorted.get() == Some(&true)
    }

    /// The rows that begin with these codes, deleted ones among them, where rows are sorted.
    pub fn beginning_with(&self, codes: &[Code]) -> Option<Range<u32>> {
        if !codes.is_empty() && !self.is_sorted() {
            return None;
        }
        let mut rows = 0..self.stored_len();
        for (column, code) in codes.iter().enumerate() {
            let column = &self.column(column)[rows.clone()];
            let start = column.partition_point(|other| other < code);
            let end = start + column[start..].partition_point(|other| other <= code);
            rows = rows.start + start..rows.start + end;
        }
        Some(rows.start as u32..rows.end as u32)
    }

    /// Notes which of these rows, in their order, are in a sorted run.
    pub fn find_sorted(&self, columns: &[&[Code]], found: &mut [bool]) {
        with_key!(columns.len(), K => self.find_sorted_keys::<K>(columns, found));
    }

    fn find_sorted_keys<K: Key>(&self, columns: &[&[Code]], found: &mut [bool]) {
        /// Of so many rows for each that is looked up, all are read.
        const NEAR: usize = 16;
        let mine = self.columns();
        let mut keys = Vec::with_capacity(found.len());
        K::pack(columns, 0, found.len(), &mut keys);
        let (Some(first), Some(last)) = (keys.first(), keys.last()) else { return };
        let key_at = |row: usize| K::of_row(&mine, row);
        let start = partition_point(0, self.stored_len(), |row| key_at(row) < *first);
        let end = partition_point(start, self.stored_len(), |row| key_at(row) <= *last);
        if end - start <= NEAR * keys.len() {
            let mut near = Vec::with_capacity(end - start);
            K::pack(&mine, start, end, &mut near);
            let mut at = 0;
            for (found, key) in found.iter_mut().zip(&keys) {
                while at < near.len() && near[at] < *key {
                    at += 1;
                }
                *found |= near.get(at) == Some(key) && self.is_live(start + at);
            }
            return;
        }
        let mut at = start;
        for (found, key) in found.iter_mut().zip(&keys) {
            at = partition_point(at, end, |row| key_at(row) < *key);
            *found |= at < end && key_at(at) == *key && self.is_live(at);
        }
    }

    /// The file that holds all rows of the run, deleted ones among them, if there is one.
    pub fn file(&self) -> Option<Arc<RunFile>> {
        self.data.file.lock().clone()
    }

    /// Says which file holds all rows of the run.
    pub fn set_file(&self, file: RunFile) {
        *self.data.file.lock() = Some(Arc::new(file));
    }

    /// A sample of some columns, deleted rows among them.
    pub fn sample(&self, columns: &[usize]) -> Arc<Sample> {
        match columns {
            [column] => Arc::clone(self.sample_of(*column)),
            columns => {
                let take = || self.take_sample(columns);
                Arc::clone(self.data.joint_samples.lock().entry(columns.into()).or_insert_with(take))
            }
        }
    }

    /// An estimate of the number of distinct codes in a column, from a sample of its rows.
    pub fn distinct(&self, column: usize) -> usize {
        self.sample_of(column).distinct()
    }

    fn sample_of(&self, column: usize) -> &Arc<Sample> {
        self.data.samples[column].get_or_init(|| self.take_sample(&[column]))
    }

    fn take_sample(&self, columns: &[usize]) -> Arc<Sample> {
        let columns: Vec<&[Code]> = columns.iter().map(|column| self.column(*column)).collect();
        Arc::new(Sample::of(&columns, self.stored_len()))
    }

    /// The least and the largest code of a column, deleted rows among them.
    pub fn bounds(&self, column: usize) -> Bounds {
        *self.data.bounds[column].get_or_init(|| bounds(self.column(column)))
    }

    /// Bytes that hold its values in a dictionary, each value once.
    pub fn value_bytes(&self, dictionary: &Dictionary) -> usize {
        *self.data.value_bytes.get_or_init(|| {
            let codes = self.data.batch.columns().iter();
            let codes = codes.flat_map(|column| column.as_primitive::<UInt32Type>().values().iter().copied());
            dictionary.bytes_of(codes.collect())
        })
    }

    /// Bytes held by columns and indexes.
    pub fn memory_bytes(&self) -> usize {
        self.data.batch.get_array_memory_size() + self.data.built.memory_bytes()
    }

    /// The same, unless somebody else holds them, too.
    pub fn own_memory_bytes(&self) -> usize {
        if Arc::strong_count(&self.data) == 1 { self.memory_bytes() } else { 0 }
    }

    /// What is built of it.
    fn built(&self) -> &Built {
        &self.data.built
    }

    /// The codes of a column, to be shared.
    fn codes(&self, column: usize) -> &ScalarBuffer<Code> {
        codes(&self.data.batch, column)
    }
}

/// The first row of a range for which this does not hold, where it holds for all before that.
pub(super) fn partition_point(
    mut start: usize,
    mut end: usize,
    mut holds: impl FnMut(usize) -> bool,
) -> usize {
    while start < end {
        let middle = start + (end - start) / 2;
        if holds(middle) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, atomic::Ordering::Relaxed) + 1
}

/// The codes of a column of a batch made by [`Run::new`].
fn codes(batch: &RecordBatch, column: usize) -> &ScalarBuffer<Code> {
    batch.column(column).as_primitive::<UInt32Type>().values()
}

fn schema(arity: usize) -> SchemaRef {
    Arc::new(Schema::new(
        (0..arity).map(|i| Field::new(format!("c{i}"), DataType::UInt32, false)).collect::<Vec<_>>(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_rows_are_found_near_and_far() {
        let n = 50_000_u32;
        let run =
            Run::new(vec![(0..n).map(|i| i / 5).collect(), (0..n).map(|i| i % 5 * 2).collect()], n as usize);
        assert!(run.is_sorted());
        assert!(!Run::new(vec![vec![1, 0], vec![0, 1]], 2).is_sorted());
        assert!(!Run::new(vec![vec![1, 1]], 2).is_sorted());
        assert_eq!(run.beginning_with(&[]), Some(0..n));
        assert_eq!(run.beginning_with(&[9]), Some(45..50));
        assert_eq!(run.beginning_with(&[9, 4]), Some(47..48));
        assert_eq!(run.beginning_with(&[9, 5]), Some(48..48));
        assert_eq!(run.beginning_with(&[n, 0]), Some(n..n));
        assert_eq!(Run::new(vec![vec![1, 0]], 2).beginning_with(&[0]), None);
        let run = run.with_live((0..n).map(|i| i % 7 > 0).collect());
        for step in [1, 3, 1_000, 60_000] {
            let rows: Vec<(Code, Code)> =
                (0..n + 100).step_by(step).map(|i| (i / 10, i % 10)).filter(|row| row.0 > 17).collect();
            let (a, b): (Vec<Code>, Vec<Code>) = rows.iter().copied().unzip();
            let mut found = vec![false; rows.len()];
            run.find_sorted(&[&a, &b], &mut found);
            for ((a, b), found) in rows.into_iter().zip(found) {
                let row = a * 5 + b / 2;
                assert_eq!(found, b % 2 == 0 && row < n && row % 7 > 0, "{a} {b}");
            }
        }
    }
}
