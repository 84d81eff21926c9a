//! What is built of a run on first use, for its columns, and then shared: indexes, edges, orders. Each of them covers deleted rows,
//! too, as it belongs to the rows whichever of them are masked.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::Run;
use crate::data::best_index::{BestIndex, BestOf};
use crate::data::codes::Code;
use crate::data::dictionary::{Codec, Dictionary};
use crate::data::index::RowIndex;
use crate::data::keys::with_key;
use crate::data::lazy::{GoOn, Lazy, Stopped};
use crate::data::mapping::Mapping;
use crate::data::neighbours::{Neighbours, OrderedNeighbours};
use crate::data::range_index::RangeIndex;
use crate::data::sorted::SortedRows;
use crate::data::text::{Language, TextIndex};

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

/// All that is built of a run.
#[derive(Debug, Default)]
pub(super) struct Built {
    indexes: BuiltFor<Box<[usize]>, RowIndex>,
    neighbours: BuiltFor<(usize, usize), Neighbours>,
    ordered: BuiltFor<(usize, usize), OrderedNeighbours>,
    mappings: BuiltFor<(usize, usize), Option<Mapping>>,
    sorted: BuiltFor<usize, SortedRows>,
    ranges: BuiltFor<(Box<[usize]>, usize), Option<RangeIndex>>,
    bests: BuiltFor<BestOf, Option<BestIndex>>,
    texts: BuiltFor<(usize, Language), TextIndex>,
    /// How many keys were found by the order of rows.
    bisected: AtomicUsize,
}

impl Built {
    /// Bytes held.
    pub(super) fn memory_bytes(&self) -> usize {
        held(&self.indexes, RowIndex::memory_bytes)
            + held(&self.neighbours, Neighbours::memory_bytes)
            + held(&self.ordered, OrderedNeighbours::memory_bytes)
            + held(&self.mappings, |mapping| mapping.as_ref().map_or(0, Mapping::memory_bytes))
            + held(&self.sorted, SortedRows::memory_bytes)
            + held(&self.ranges, |index| index.as_ref().map_or(0, RangeIndex::memory_bytes))
            + held(&self.bests, |index| index.as_ref().map_or(0, BestIndex::memory_bytes))
            + held(&self.texts, TextIndex::memory_bytes)
    }
}

/// The bytes of what is there.
fn held<C, T>(built: &BuiltFor<C, T>, bytes: impl Fn(&T) -> usize) -> usize {
    built.lock().values().filter_map(|cell| cell.get()).map(|built| bytes(built)).sum()
}

impl Run {
    /// Whether so many more keys of these columns are to be found by the order of rows: the columns stand first, and those that
    /// were found so have not taken the time in which an index is made.
    pub fn bisects(&self, columns: &[usize], keys: usize) -> bool {
        /// So many rows come into an index while one key is found.
        const ROWS: usize = 32;
        let bisected = &self.built().bisected;
        let is_first = || columns.iter().enumerate().all(|(place, column)| place == *column);
        let is_indexed = || self.built().indexes.lock().get(columns).is_some_and(|cell| cell.get().is_some());
        let spent = ROWS * (bisected.load(Ordering::Relaxed) + keys);
        let bisects = spent < self.stored_len() && is_first() && self.is_sorted() && !is_indexed();
        if bisects {
            bisected.fetch_add(keys, Ordering::Relaxed);
        }
        bisects
    }

    /// The index over these columns, built on first use and then shared. It covers deleted rows too.
    pub fn index(&self, columns: &[usize], go_on: GoOn<'_>) -> Result<Arc<RowIndex>, Stopped> {
        self.index_paid(columns, |_| Ok(()), go_on)
    }

    /// The same; who builds it pays for so many bytes, about, before.
    pub fn index_paid(
        &self,
        columns: &[usize],
        pay: impl FnOnce(usize) -> Result<(), Stopped>,
        go_on: GoOn<'_>,
    ) -> Result<Arc<RowIndex>, Stopped> {
        let cell = Arc::clone(self.built().indexes.lock().entry(columns.into()).or_default());
        cell.get_or_build(go_on, || {
            pay(self.index_cost(columns))?;
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
        let cell = Arc::clone(self.built().ranges.lock().entry((columns.into(), by)).or_default());
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
        let cell = Arc::clone(self.built().bests.lock().entry(of.clone()).or_default());
        cell.get_or_build(go_on, || BestIndex::build(of, &self.columns(), codec, go_on))
    }

    /// Bytes that it takes to build that, about; none if it is there.
    pub fn best_index_cost(&self, of: &BestOf) -> usize {
        if self.built().bests.lock().get(of).is_some_and(|cell| cell.get().is_some()) {
            return 0;
        }
        let together: Vec<usize> = of.key.iter().chain(&of.group).copied().collect();
        // What is built for ranges, of which numbers and one row each stay, and the groups.
        self.range_index_cost(&together, of.number) + 3 * self.stored_len() * size_of::<u32>()
    }

    /// Bytes that it takes to build that, about; none if it is there.
    pub fn range_index_cost(&self, columns: &[usize], by: usize) -> usize {
        let ranges = self.built().ranges.lock();
        if ranges.get(&(columns.into(), by)).is_some_and(|cell| cell.get().is_some()) {
            return 0;
        }
        drop(ranges);
        // Numbers by row, and both sorted together.
        self.index_cost(columns) + self.stored_len() * 3 * size_of::<f64>()
    }

    /// Bytes that it takes to build the index over these columns, about; none if it is there.
    pub fn index_cost(&self, columns: &[usize]) -> usize {
        if self.built().indexes.lock().get(columns).is_some_and(|cell| cell.get().is_some()) {
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
                self.built().ordered.lock().get(&pair).is_some_and(|cell| cell.get().is_some()),
                self.index_cost(&[from]),
            ),
            Pairing::Mapping => (
                self.distinct(from) < self.stored_len()
                    || self.built().mappings.lock().get(&pair).is_some_and(|cell| cell.get().is_some()),
                0,
            ),
        };
        // A place for each code of a dense column, or a table, and the codes beside them.
        if is_there { 0 } else { index + self.stored_len() * 6 * size_of::<Code>() }
    }

    /// Number of distinct keys of the index over these columns, or a little more, if it is built.
    pub fn index_groups(&self, columns: &[usize]) -> Option<usize> {
        self.built().indexes.lock().get(columns).and_then(|cell| cell.get().map(|index| index.groups()))
    }

    /// Whether rows can be looked up by this column without building anything.
    pub fn is_ready_for(&self, column: usize) -> bool {
        let from_column = |built: &BuiltFor<(usize, usize), Neighbours>| {
            built.lock().iter().any(|((from, _), cell)| *from == column && cell.get().is_some())
        };
        self.is_indexed_by(column) || from_column(&self.built().neighbours)
    }

    /// How many rows hold a code in a column, deleted ones among them, where that can be told without building anything.
    pub fn holding(&self, column: usize, code: Code) -> Option<usize> {
        let indexes = self.built().indexes.lock();
        if let Some(index) = indexes.get(&[column] as &[usize]).and_then(|cell| cell.get()) {
            return Some(index.range(code).len());
        }
        drop(indexes);
        let neighbours = self.built().neighbours.lock();
        let from_column =
            neighbours.iter().find_map(|((from, _), cell)| cell.get().filter(|_| *from == column));
        if let Some(neighbours) = from_column {
            return Some(neighbours.of(code).len());
        }
        drop(neighbours);
        if column > 0 || !self.is_known_to_be_sorted() {
            return None;
        }
        self.beginning_with(&[code]).map(|rows| rows.len())
    }

    /// Whether the index over this column is built.
    pub fn is_indexed_by(&self, column: usize) -> bool {
        self.built().indexes.lock().get(&[column] as &[usize]).is_some_and(|cell| cell.get().is_some())
    }

    /// The rows in the order of a column, sorted on first use and then shared. They cover deleted rows too. The codes
    /// are of this dictionary.
    pub fn sorted(
        &self,
        column: usize,
        dictionary: &Arc<Dictionary>,
        go_on: GoOn<'_>,
    ) -> Result<Arc<SortedRows>, Stopped> {
        let cell = Arc::clone(self.built().sorted.lock().entry(column).or_default());
        let codec = || Codec::over(Arc::clone(dictionary));
        cell.get_or_build(go_on, || SortedRows::new(self.column(column), &codec(), go_on))
    }

    /// Whether the rows are sorted by this column.
    pub fn is_sorted_by(&self, column: usize) -> bool {
        self.built().sorted.lock().get(&column).is_some_and(|cell| cell.get().is_some())
    }

    /// Which rows hold which terms of a column's texts, found out on first use and then shared. It covers deleted rows too.
    pub fn texts(
        &self,
        column: usize,
        language: Language,
        codec: &Codec,
        go_on: GoOn<'_>,
    ) -> Result<Arc<TextIndex>, Stopped> {
        let cell = Arc::clone(self.built().texts.lock().entry((column, language)).or_default());
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
        let texts = self.built().texts.lock();
        texts.get(&(column, language)).and_then(|cell| cell.get()).map(|index| index.memory_bytes())
    }

    /// Bytes held by indexes over this column alone, but for those of texts.
    pub fn index_bytes(&self, column: usize) -> usize {
        let indexes = self.built().indexes.lock();
        let index = indexes.get(&[column] as &[usize]).and_then(|cell| cell.get());
        let sorted = self.built().sorted.lock();
        let sorted = sorted.get(&column).and_then(|cell| cell.get());
        index.map_or(0, |index| index.memory_bytes()) + sorted.map_or(0, |rows| rows.memory_bytes())
    }

    /// Whether [`Run::neighbours`] would answer at once.
    pub fn has_neighbours(&self, from: usize, to: usize) -> bool {
        self.built().neighbours.lock().get(&(from, to)).is_some_and(|cell| cell.get().is_some())
    }

    /// The edges from one column to another, put side by side on first use and then shared. They cover deleted rows too.
    pub fn neighbours(&self, from: usize, to: usize, go_on: GoOn<'_>) -> Result<Arc<Neighbours>, Stopped> {
        let cell = Arc::clone(self.built().neighbours.lock().entry((from, to)).or_default());
        cell.get_or_build(go_on, || {
            let index =
                self.built().indexes.lock().get([from].as_slice()).and_then(|cell| cell.get().cloned());
            Neighbours::new(self.column(from), self.codes(to), index.as_deref(), go_on)
        })
    }

    /// The same in ascending order.
    pub fn ordered_neighbours(
        &self,
        from: usize,
        to: usize,
        go_on: GoOn<'_>,
    ) -> Result<Arc<OrderedNeighbours>, Stopped> {
        let cell = Arc::clone(self.built().ordered.lock().entry((from, to)).or_default());
        cell.get_or_build(go_on, || {
            OrderedNeighbours::new(self.index(&[from], go_on)?, self.column(to), go_on)
        })
    }

    /// One column as a function of another, if it is one, made on first use and then shared. It covers deleted rows too.
    pub fn mapping(&self, from: usize, to: usize, go_on: GoOn<'_>) -> Result<Arc<Option<Mapping>>, Stopped> {
        let cell = Arc::clone(self.built().mappings.lock().entry((from, to)).or_default());
        cell.get_or_build(go_on, || {
            // A sample tells most columns in which something repeats.
            let may_be = self.distinct(from) == self.stored_len();
            if may_be { Mapping::new(self.column(from), self.column(to), go_on) } else { Ok(None) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_the_order_of_rows_until_an_index_had_been_made_in_that_time() {
        let run = Run::new(vec![(0..3_200).collect(), vec![1; 3_200]], 3_200);
        assert!(!run.bisects(&[1], 1), "the second column alone has no order");
        assert!(run.bisects(&[0], 40) && run.bisects(&[0, 1], 40) && !run.bisects(&[0], 40));
        assert!(run.bisects(&[0], 19));
        run.index(&[0], &|| true).unwrap();
        assert!(!run.bisects(&[0], 0) && run.bisects(&[0, 1], 0));
        assert!(!Run::new(vec![(0..3_200).rev().collect()], 3_200).bisects(&[0], 1));
    }

    #[test]
    fn an_index_is_built_once_and_outlives_deletes() {
        let run = Run::new(vec![vec![1, 2, 2]], 3);
        let index = run.index(&[0], &|| true).unwrap();
        let rest = run.without(&[1]);
        assert!(Arc::ptr_eq(&index, &rest.index(&[0], &|| true).unwrap()));
        assert_eq!((rest.len(), rest.stored_len(), rest.is_live(1)), (2, 3, false));
    }
}
