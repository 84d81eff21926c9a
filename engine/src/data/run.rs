//! `Run`: an immutable record batch of codes, with what was learnt about it: indexes and estimates, made on first use.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{self, AtomicU64};
use std::sync::{Arc, OnceLock};

use arrow::array::{ArrayRef, AsArray, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow::buffer::{BooleanBuffer, ScalarBuffer};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt32Type};
use parking_lot::Mutex;

use super::MAX_ROWS;
use super::best_index::{BestIndex, BestOf};
use super::dictionary::{Code, Codec, Dictionary, bounds};
use super::index::RowIndex;
use super::keys::{Key, with_key};
use super::lazy::{GoOn, Lazy, Stopped};
use super::mapping::Mapping;
use super::neighbours::{Neighbours, OrderedNeighbours};
use super::range_index::RangeIndex;
use super::relation::Rows;
use super::sorted::SortedRows;
use super::text::{Language, TextIndex};

/// Rows of a relation, each at most once. Rows deleted since the run was made are masked.
#[derive(Debug, Clone)]
pub struct Run {
    /// No two runs of different rows have the same.
    number: u64,
    data: Arc<RunData>,
    live: Option<BooleanBuffer>,
    live_count: usize,
}

/// How one column may stand beside another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// [`Run::neighbours`].
    Neighbours,
    /// [`Run::ordered_neighbours`].
    Ordered,
    /// [`Run::mapping`].
    Mapping,
}

/// What is built for some columns.
type BuiltFor<C, T> = Mutex<HashMap<C, Arc<Lazy<T>>>>;

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
    indexes: BuiltFor<Box<[usize]>, RowIndex>,
    neighbours: BuiltFor<(usize, usize), Neighbours>,
    ordered: BuiltFor<(usize, usize), OrderedNeighbours>,
    mappings: BuiltFor<(usize, usize), Option<Mapping>>,
    sorted: BuiltFor<usize, SortedRows>,
    ranges: BuiltFor<(Box<[usize]>, usize), Option<RangeIndex>>,
    bests: BuiltFor<BestOf, Option<BestIndex>>,
    texts: BuiltFor<(usize, Language), TextIndex>,
    distinct: Box<[OnceLock<usize>]>,
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
        Run {
            number: next_number(),
            data: Arc::new(RunData {
                id: next_number(),
                batch,
                file: Mutex::new(None),
                indexes: Mutex::new(HashMap::new()),
                neighbours: Mutex::new(HashMap::new()),
                ordered: Mutex::new(HashMap::new()),
                mappings: Mutex::new(HashMap::new()),
                sorted: Mutex::new(HashMap::new()),
                ranges: Mutex::new(HashMap::new()),
                bests: Mutex::new(HashMap::new()),
                texts: Mutex::new(HashMap::new()),
                distinct: (0..arity).map(|_| OnceLock::new()).collect(),
                bounds: (0..arity).map(|_| OnceLock::new()).collect(),
                is_sorted: OnceLock::new(),
                value_bytes: OnceLock::new(),
            }),
            live: None,
            live_count: rows,
        }
    }

    /// A run of rows that are sorted and distinct.
    pub(super) fn of_sorted(rows: Rows) -> Run {
        let run = Run::new(rows.columns, rows.len);
        run.data.is_sorted.get_or_init(|| true);
        run
    }

    /// The same rows but for those masked.
    pub fn with_live(&self, live: BooleanBuffer) -> Run {
        let live_count = live.count_set_bits();
        Run { number: next_number(), data: Arc::clone(&self.data), live: Some(live), live_count }
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

    /// The index over these columns, built on first use and then shared. It covers deleted rows too.
    pub fn index(&self, columns: &[usize], go_on: GoOn<'_>) -> Result<Arc<RowIndex>, Stopped> {
        let cell = Arc::clone(self.data.indexes.lock().entry(columns.into()).or_default());
        cell.get_or_build(go_on, || {
            let keys: Vec<&[Code]> = columns.iter().map(|column| self.column(*column)).collect();
            RowIndex::build(&keys, self.stored_len(), go_on)
        })
    }

    /// The index over some columns in which the rows of a key stand in the order of another column's numbers, if it has
    /// nothing else; built on first use and then shared. It covers deleted rows too.
    pub fn range_index(
        &self,
        columns: &[usize],
        by: usize,
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<Arc<Option<RangeIndex>>, Stopped> {
        let cell = Arc::clone(self.data.ranges.lock().entry((columns.into(), by)).or_default());
        cell.get_or_build(go_on, || {
            let keys: Vec<&[Code]> = columns.iter().map(|column| self.column(*column)).collect();
            RangeIndex::build(&keys, self.column(by), codec, go_on)
        })
    }

    /// The best rows on one side of a number, if the numbers allow it; built on first use and then shared. It covers deleted rows
    /// too.
    pub fn best_index(
        &self,
        of: &BestOf,
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<Arc<Option<BestIndex>>, Stopped> {
        let cell = Arc::clone(self.data.bests.lock().entry(of.clone()).or_default());
        cell.get_or_build(go_on, || BestIndex::build(of, &self.columns(), codec, go_on))
    }

    /// Bytes that it takes to build that, about; none if it is there.
    pub fn best_index_cost(&self, of: &BestOf) -> usize {
        if self.data.bests.lock().get(of).is_some_and(|cell| cell.get().is_some()) {
            return 0;
        }
        let together: Vec<usize> = of.key.iter().chain(&of.group).copied().collect();
        // What is built for ranges, of which numbers and one row each stay, and the groups.
        self.range_index_cost(&together, of.number) + 3 * self.stored_len() * size_of::<u32>()
    }

    /// Bytes that it takes to build that, about; none if it is there.
    pub fn range_index_cost(&self, columns: &[usize], by: usize) -> usize {
        let ranges = self.data.ranges.lock();
        if ranges.get(&(columns.into(), by)).is_some_and(|cell| cell.get().is_some()) {
            return 0;
        }
        drop(ranges);
        // Numbers by row, and both sorted together.
        self.index_cost(columns) + self.stored_len() * 3 * size_of::<f64>()
    }

    /// Bytes that it takes to build the index over these columns, about; none if it is there.
    pub fn index_cost(&self, columns: &[usize]) -> usize {
        if self.data.indexes.lock().get(columns).is_some_and(|cell| cell.get().is_some()) {
            return 0;
        }
        let rows = self.stored_len();
        // Rows in their order, and where those of each key begin.
        let lists = 2 * rows * size_of::<u32>();
        if let [column] = columns
            && let Some((first, last)) = self.bounds(*column)
            && ((last - first) as usize) < rows * 4 + 64
        {
            return lists + (last - first) as usize * size_of::<u32>();
        }
        let keys =
            columns.iter().map(|column| self.distinct(*column)).fold(1, usize::saturating_mul).min(rows);
        // A table is half full, and half of it is there twice while it grows.
        with_key!(columns.len(), K => lists + 3 * keys * size_of::<(K, u32)>())
    }

    /// Bytes that it takes to put one column beside another, about, in one of these ways; none if that is done.
    pub fn beside_cost(&self, from: usize, to: usize, way: Pairing) -> usize {
        let pair = (from, to);
        let (is_there, index) = match way {
            Pairing::Neighbours => (self.has_neighbours(from, to), 0),
            Pairing::Ordered => (
                self.data.ordered.lock().get(&pair).is_some_and(|cell| cell.get().is_some()),
                self.index_cost(&[from]),
            ),
            Pairing::Mapping => (
                self.distinct(from) < self.stored_len()
                    || self.data.mappings.lock().get(&pair).is_some_and(|cell| cell.get().is_some()),
                0,
            ),
        };
        // A place for each code of a dense column, or a table, and the codes beside them.
        if is_there { 0 } else { index + self.stored_len() * 6 * size_of::<Code>() }
    }

    /// Number of distinct keys of the index over these columns, or a little more, if it is built.
    pub fn index_groups(&self, columns: &[usize]) -> Option<usize> {
        self.data.indexes.lock().get(columns).and_then(|cell| cell.get().map(|index| index.groups()))
    }

    /// Whether rows can be looked up by this column without building anything.
    pub fn is_ready_for(&self, column: usize) -> bool {
        let from_column = |built: &BuiltFor<(usize, usize), Neighbours>| {
            built.lock().iter().any(|((from, _), cell)| *from == column && cell.get().is_some())
        };
        self.is_indexed_by(column) || from_column(&self.data.neighbours)
    }

    /// Whether the index over this column is built.
    pub fn is_indexed_by(&self, column: usize) -> bool {
        self.data.indexes.lock().get(&[column] as &[usize]).is_some_and(|cell| cell.get().is_some())
    }

    /// The rows in the order of a column, sorted on first use and then shared. They cover deleted rows too. The codes
    /// are of this dictionary.
    pub fn sorted(
        &self,
        column: usize,
        dictionary: &Arc<Dictionary>,
        go_on: GoOn<'_>,
    ) -> Result<Arc<SortedRows>, Stopped> {
        let cell = Arc::clone(self.data.sorted.lock().entry(column).or_default());
        let codec = || Codec::over(Arc::clone(dictionary));
        cell.get_or_build(go_on, || SortedRows::new(self.column(column), &codec(), go_on))
    }

    /// Whether the rows are sorted by this column.
    pub fn is_sorted_by(&self, column: usize) -> bool {
        self.data.sorted.lock().get(&column).is_some_and(|cell| cell.get().is_some())
    }

    /// Which rows hold which terms of a column's texts, found out on first use and then shared. It covers deleted rows too.
    pub fn texts(
        &self,
        column: usize,
        language: Language,
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<Arc<TextIndex>, Stopped> {
        let cell = Arc::clone(self.data.texts.lock().entry((column, language)).or_default());
        cell.get_or_build(go_on, || TextIndex::build(self.column(column), language, codec, go_on))
    }

    /// Bytes that it takes to find out, about; none if that is done.
    pub fn texts_cost(&self, column: usize, language: Language, codec: &Codec) -> usize {
        match self.texts_bytes(column, language) {
            Some(_) => 0,
            None => TextIndex::cost(self.column(column), codec),
        }
    }

    /// Bytes that are held of it, if that is done.
    pub fn texts_bytes(&self, column: usize, language: Language) -> Option<usize> {
        let texts = self.data.texts.lock();
        texts.get(&(column, language)).and_then(|cell| cell.get()).map(|index| index.memory_bytes())
    }

    /// Bytes held by indexes over this column alone, but for those of texts.
    pub fn index_bytes(&self, column: usize) -> usize {
        let indexes = self.data.indexes.lock();
        let index = indexes.get(&[column] as &[usize]).and_then(|cell| cell.get());
        let sorted = self.data.sorted.lock();
        let sorted = sorted.get(&column).and_then(|cell| cell.get());
        index.map_or(0, |index| index.memory_bytes()) + sorted.map_or(0, |rows| rows.memory_bytes())
    }

    /// Whether [`Run::neighbours`] would answer at once.
    pub fn has_neighbours(&self, from: usize, to: usize) -> bool {
        self.data.neighbours.lock().get(&(from, to)).is_some_and(|cell| cell.get().is_some())
    }

    /// The edges from one column to another, put side by side on first use and then shared. They cover deleted rows too.
    pub fn neighbours(&self, from: usize, to: usize, go_on: GoOn<'_>) -> Result<Arc<Neighbours>, Stopped> {
        let cell = Arc::clone(self.data.neighbours.lock().entry((from, to)).or_default());
        cell.get_or_build(go_on, || {
            let index = self.data.indexes.lock().get([from].as_slice()).and_then(|cell| cell.get().cloned());
            Neighbours::new(self.column(from), codes(&self.data.batch, to), index.as_deref(), go_on)
        })
    }

    /// The same in ascending order.
    pub fn ordered_neighbours(
        &self,
        from: usize,
        to: usize,
        go_on: GoOn<'_>,
    ) -> Result<Arc<OrderedNeighbours>, Stopped> {
        let cell = Arc::clone(self.data.ordered.lock().entry((from, to)).or_default());
        cell.get_or_build(go_on, || {
            OrderedNeighbours::new(self.index(&[from], go_on)?, self.column(to), go_on)
        })
    }

    /// One column as a function of another, if it is one, made on first use and then shared. It covers deleted rows too.
    pub fn mapping(&self, from: usize, to: usize, go_on: GoOn<'_>) -> Result<Arc<Option<Mapping>>, Stopped> {
        let cell = Arc::clone(self.data.mappings.lock().entry((from, to)).or_default());
        cell.get_or_build(go_on, || {
            // A sample tells most columns in which something repeats.
            let may_be = self.distinct(from) == self.stored_len();
            if may_be { Mapping::new(self.column(from), self.column(to), go_on) } else { Ok(None) }
        })
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
        let mut one = Vec::with_capacity(1);
        let mut key_at = |row: usize| {
            one.clear();
            K::pack(&mine, row, row + 1, &mut one);
            one[0]
        };
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

    /// An estimate of the number of distinct codes in a column, from a sample of its rows.
    pub fn distinct(&self, column: usize) -> usize {
        *self.data.distinct[column].get_or_init(|| estimate_distinct(self.column(column)))
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
        let mappings = self.data.mappings.lock();
        let mappings = mappings.values().filter_map(|cell| cell.get());
        let mappings: usize =
            mappings.filter_map(|mapping| mapping.as_ref().as_ref()).map(Mapping::memory_bytes).sum();
        let sorted = self.data.sorted.lock();
        let sorted: usize =
            sorted.values().filter_map(|cell| cell.get()).map(|rows| rows.memory_bytes()).sum();
        let texts = self.data.texts.lock();
        let texts: usize =
            texts.values().filter_map(|cell| cell.get()).map(|index| index.memory_bytes()).sum();
        let ranges = self.data.ranges.lock();
        let ranges = ranges.values().filter_map(|cell| cell.get());
        let ranges: usize =
            ranges.filter_map(|index| index.as_ref().as_ref()).map(RangeIndex::memory_bytes).sum();
        let bests = self.data.bests.lock();
        let bests = bests.values().filter_map(|cell| cell.get());
        let bests: usize =
            bests.filter_map(|index| index.as_ref().as_ref()).map(BestIndex::memory_bytes).sum();
        let own = self.data.batch.get_array_memory_size();
        own + indexes + neighbours + ordered + mappings + sorted + texts + ranges + bests
    }
}

/// The first row of a range for which this does not hold, where it holds for all before that.
fn partition_point(mut start: usize, mut end: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
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

/// The GEE estimator (Charikar, Chaudhuri, Motwani, Narasayya: Towards estimation error guarantees for distinct
/// values, PODS 2000): values seen once in the sample stand for sqrt(rows / sample) values each. Codes that lie close
/// together bound it.
pub(crate) fn estimate_distinct(column: &[Code]) -> usize {
    const SAMPLE: usize = 1_024;
    let step = column.len().div_ceil(SAMPLE).max(1);
    // A step that is no divisor of usual strides keeps the sample from hitting one phase of a pattern.
    let sample = (0..column.len()).step_by(step).map(|row| {
        let jitter = (row.wrapping_mul(0x9E37_79B9) >> 7) % step;
        column[(row + jitter).min(column.len() - 1)]
    });
    let mut sample: Vec<Code> = sample.collect();
    sample.sort_unstable();
    let (mut distinct, mut once) = (0, 0);
    for equal in sample.chunk_by(|a, b| a == b) {
        distinct += 1;
        once += usize::from(equal.len() == 1);
    }
    let sampled = sample.len();
    if once == sampled {
        // Nothing repeats: most likely a key.
        return column.len();
    }
    let scale = (column.len() as f64 / sampled as f64).sqrt();
    let estimate = once as f64 * scale + (distinct - once) as f64;
    // No more than there are codes in the range that the sample shows, which may be a little wider.
    let width = sample[sampled - 1] - sample[0];
    let range = f64::from(width) * (1.0 + 2.0 / sampled as f64) + 1.0;
    (estimate.min(range) as usize).clamp(1, column.len())
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
        let dense = Run::new(vec![(0..n).map(|i| i.wrapping_mul(0x9E37_79B9) % 2_000).collect()], n as usize);
        assert!((1_900..2_100).contains(&dense.distinct(0)), "{}", dense.distinct(0));
        assert_eq!(Run::new(vec![vec![]], 0).distinct(0), 0);
    }

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

    #[test]
    fn an_index_is_built_once_and_outlives_deletes() {
        let run = Run::new(vec![vec![1, 2, 2]], 3);
        let index = run.index(&[0], &|| true).unwrap();
        let rest = run.with_live(BooleanBuffer::from(vec![true, false, true]));
        assert!(Arc::ptr_eq(&index, &rest.index(&[0], &|| true).unwrap()));
        assert_eq!((rest.len(), rest.stored_len(), rest.is_live(1)), (2, 3, false));
    }
}
