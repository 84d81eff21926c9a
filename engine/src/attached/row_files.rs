//! `RowFiles`: the rows of an attached relation, a row group at a time.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::FieldRef;
use parking_lot::Mutex;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::statistics::StatisticsConverter;
use parquet::arrow::arrow_reader::{
    ArrowPredicateFn, ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowFilter,
};

use super::at_once::{at_once, readers};
use super::attachment::Attachment;
use super::chunks::{Chunks, Trouble, metadata};
use super::columns::{Unread, codes, type_of};
use super::error::FilesError;
use super::places::{PlaceError, PlacedFile, Places};
use super::wanted::Wanted;
use crate::budget::{Budget, BudgetError};
use crate::data::lossy::{Loss, LossKind};
use crate::data::{Code, Codec, DataType, EncodeError, MAX_ROWS, Rows};

/// Rows that are read at once.
const BATCH_ROWS: usize = 1 << 14;
/// A row group of up to so many bytes is asked for as a whole.
const AT_ONCE: usize = 256 << 20;

/// The rows of an attached relation, of which some may be equal.
#[derive(Debug, Clone)]
pub struct RowFiles {
    attachment: Arc<Attachment>,
    types: Arc<[DataType]>,
    places: Arc<dyn Places>,
    string_bytes: usize,
    wanted: Arc<Wanted>,
    losses: Arc<Mutex<Losses>>,
    /// Bytes of the query's own values that are accounted for, or were there before.
    charged: Arc<AtomicUsize>,
}

/// By their column: of what kind, how many values, and the first of them.
type Losses = BTreeMap<usize, (LossKind, u64, String)>;

/// Rows of one file that are read together.
#[derive(Debug, Clone)]
pub struct RowGroup {
    file: PlacedFile,
    metadata: ArrowReaderMetadata,
    number: usize,
    /// The place in the file of each column of the relation.
    columns: Arc<[usize]>,
}

impl RowFiles {
    /// The rows of what was attached, as columns of these types; strings have at most so many bytes.
    pub(crate) fn new(
        attachment: Arc<Attachment>,
        types: &[DataType],
        places: Arc<dyn Places>,
        string_bytes: usize,
    ) -> RowFiles {
        let (wanted, losses, charged) = Default::default();
        RowFiles { attachment, types: types.into(), places, string_bytes, wanted, losses, charged }
    }

    /// The same, of which no more need be read than these.
    pub(crate) fn wanting(self, wanted: Wanted) -> RowFiles {
        RowFiles { wanted: Arc::new(wanted), ..self }
    }

    /// Which of them are read.
    pub(crate) fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// What the columns are called in the files.
    pub(crate) fn column_names(&self) -> &[String] {
        &self.attachment.columns
    }

    /// About how many there are: equal ones count.
    pub fn rows(&self) -> u64 {
        self.attachment.rows()
    }

    /// Bytes of so many rows as codes.
    pub fn bytes(&self) -> u64 {
        self.rows() * (self.types.len() * size_of::<Code>()) as u64
    }

    /// What was lost of values on their way here, by the number of its column: of what kind, of how many, and the first one.
    pub fn losses(&self) -> Losses {
        self.losses.lock().clone()
    }

    /// The row groups of all files, in their order. Those are left out that have no row that is wanted, by what their files say
    /// of them.
    pub fn groups(&self, budget: &Budget) -> Result<Vec<RowGroup>, FilesError> {
        self.losses.lock().clear();
        let files: Vec<&PlacedFile> = self.attachment.files.iter().map(|attached| &attached.file).collect();
        let groups = at_once(files, |file| self.groups_of(file, budget));
        let groups: Vec<Vec<RowGroup>> = groups.into_iter().collect::<Result<_, FilesError>>()?;
        Ok(groups.into_iter().flatten().collect())
    }

    fn groups_of(&self, file: &PlacedFile, budget: &Budget) -> Result<Vec<RowGroup>, FilesError> {
        budget.check()?;
        let metadata = metadata(&self.places, file, budget)?;
        budget.charge(metadata.metadata().memory_size())?;
        let fields = metadata.schema().fields();
        let place = |(name, data_type): (&String, &DataType)| {
            let is_it = |field: &FieldRef| field.name() == name && type_of(field) == Some(*data_type);
            // The content is what it was, or it would not have been read.
            fields.iter().position(is_it).ok_or_else(|| PlaceError::Changed { file: file.name.clone() })
        };
        let columns = self.attachment.columns.iter().zip(&*self.types);
        let columns: Arc<[usize]> = columns.map(place).collect::<Result<_, PlaceError>>()?;
        let group = |number| RowGroup {
            file: file.clone(),
            metadata: metadata.clone(),
            number,
            columns: Arc::clone(&columns),
        };
        let groups = (0..metadata.metadata().num_row_groups()).map(group);
        Ok(groups.filter(|group| self.wanted.may_be_within(|column| group.extremes(column))).collect())
    }

    /// The rows of a row group, in codes. What is held of the file counts as long as they are read.
    pub fn read(&self, group: RowGroup, codec: &Codec, budget: &Budget) -> Result<GroupRows, FilesError> {
        budget.check()?;
        let _ =
            self.charged.compare_exchange(0, codec.own_bytes().max(1), Ordering::Relaxed, Ordering::Relaxed);
        let (range, charged) = group.held(budget)?;
        let chunks = Chunks::holding(&self.places, &group.file, range, budget)?;
        let trouble = chunks.trouble();
        let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, group.metadata.clone());
        let mut builder = builder.with_row_groups(vec![group.number]).with_batch_size(BATCH_ROWS);
        if !self.wanted.is_all() {
            builder = builder.with_row_filter(self.filter(&group));
        }
        let batches = builder.build().map_err(|error| trouble.said(&group.file, &error))?;
        Ok(GroupRows { files: self.clone(), group, batches, trouble, codec: codec.clone(), charged })
    }

    /// What lets rows through that are wanted. The columns that it looks at are read first.
    fn filter(&self, group: &RowGroup) -> RowFilter {
        let (wanted, columns) = (Arc::clone(&self.wanted), Arc::clone(&group.columns));
        let mut places: Vec<usize> = wanted.columns().into_iter().map(|column| columns[column]).collect();
        places.sort_unstable();
        let projection = ProjectionMask::roots(group.metadata.parquet_schema(), places.clone());
        let predicate = ArrowPredicateFn::new(projection, move |batch: RecordBatch| {
            let column = |column: usize| {
                let place = places.iter().position(|place| *place == columns[column])?;
                batch.columns().get(place).cloned()
            };
            Ok(wanted.among(batch.num_rows(), column))
        });
        RowFilter::new(vec![Box::new(predicate)])
    }

    /// All rows that are wanted, of which some may be equal, and perhaps others.
    pub fn all(&self, codec: &Codec, budget: &Budget) -> Result<Rows, FilesError> {
        let arity = self.types.len();
        let groups = self.groups(budget)?;
        let mut all = Rows::empty(arity);
        let mut room = Room { budget, arity, rows: 0 };
        if self.wanted.is_all() {
            // Before any of it is read.
            let rows = room.make(groups.iter().map(RowGroup::rows).sum())?;
            all.columns.iter_mut().for_each(|column| column.reserve_exact(rows));
        }
        let mut groups = groups.into_iter();
        loop {
            let some: Vec<RowGroup> = groups.by_ref().take(readers()).collect();
            if some.is_empty() {
                return Ok(all);
            }
            let read = |group| self.read(group, codec, budget)?.collect::<Result<Vec<Rows>, FilesError>>();
            for rows in at_once(some, read) {
                for rows in rows? {
                    if !self.wanted.is_all() {
                        room.make(rows.len as u64)?;
                    }
                    all.append(rows);
                }
            }
        }
    }
}

/// Memory for rows that come.
struct Room<'b> {
    budget: &'b Budget,
    arity: usize,
    rows: u64,
}

impl Room<'_> {
    /// Makes room for some more; answers how many.
    fn make(&mut self, more: u64) -> Result<usize, BudgetError> {
        self.rows += more;
        let all = usize::try_from(self.rows).ok().filter(|rows| *rows <= MAX_ROWS);
        all.ok_or(BudgetError::Rows { rows: self.rows })?;
        let more = more as usize;
        self.budget.charge(Rows::bytes_to_store(self.arity, more))?;
        Ok(more)
    }
}

impl RowGroup {
    /// How many rows it has.
    fn rows(&self) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(self.number).num_rows()).unwrap_or(0)
    }

    /// The least and the greatest value of a column, as far as its file says so, and says it in the order of today.
    fn extremes(&self, column: usize) -> Option<(ArrayRef, ArrayRef)> {
        let (schema, all) = (self.metadata.schema(), self.metadata.metadata());
        let name = schema.field(self.columns[column]).name();
        let converter = StatisticsConverter::try_new(name, schema, self.metadata.parquet_schema()).ok()?;
        let group = all.row_group(self.number);
        let statistics = group.column(converter.parquet_column_index()?).statistics()?;
        if statistics.is_min_max_deprecated() {
            return None;
        }
        Some((converter.row_group_mins([group]).ok()?, converter.row_group_maxes([group]).ok()?))
    }

    /// The part of its file that is held while it is read, if there is memory for it.
    fn held(&self, budget: &Budget) -> Result<(Range<u64>, Charged), FilesError> {
        let Range { start, end } = self.range();
        let bytes = usize::try_from(end - start).ok().filter(|bytes| *bytes <= AT_ONCE);
        match bytes.map(|bytes| Charged::new(budget, bytes)) {
            Some(Ok(charged)) => Ok((start..end, charged)),
            None | Some(Err(BudgetError::Memory { .. })) => Ok((start..start, Charged::new(budget, 0)?)),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Where it is in its file.
    fn range(&self) -> Range<u64> {
        let group = self.metadata.metadata().row_group(self.number);
        let (mut first, mut last) = (self.file.bytes, 0);
        for (start, length) in group.columns().iter().map(|column| column.byte_range()) {
            first = first.min(start);
            last = last.max(start.saturating_add(length).min(self.file.bytes));
        }
        first.min(last)..last
    }
}

/// Memory that is given back when this goes.
struct Charged {
    budget: Budget,
    bytes: usize,
}

impl Charged {
    fn new(budget: &Budget, bytes: usize) -> Result<Charged, BudgetError> {
        let charged = Charged { budget: budget.clone(), bytes };
        budget.charge(bytes)?;
        Ok(charged)
    }
}

impl Drop for Charged {
    fn drop(&mut self) {
        self.budget.release(self.bytes);
    }
}

/// The rows of a row group, some at a time.
pub struct GroupRows {
    files: RowFiles,
    group: RowGroup,
    batches: ParquetRecordBatchReader,
    trouble: Trouble,
    codec: Codec,
    charged: Charged,
}

impl Iterator for GroupRows {
    type Item = Result<Rows, FilesError>;

    fn next(&mut self) -> Option<Result<Rows, FilesError>> {
        let batch = self.batches.next()?;
        let batch = batch.map_err(|error| self.trouble.said(&self.group.file, &error));
        Some(batch.and_then(|batch| self.encoded(&batch)))
    }
}

impl GroupRows {
    fn encoded(&self, batch: &RecordBatch) -> Result<Rows, FilesError> {
        self.charged.budget.check()?;
        let mut columns = Vec::with_capacity(self.group.columns.len());
        for (number, place) in self.group.columns.iter().enumerate() {
            let read = codes(batch.column(*place), &self.codec, self.files.string_bytes);
            let (codes, loss) = read.map_err(|unread| self.unread(number, unread))?;
            if let Some(loss) = loss {
                self.note(number, loss);
            }
            columns.push(codes);
        }
        // The values that are new stay as long as the request.
        let own = self.codec.own_bytes();
        let before = self.files.charged.fetch_max(own, Ordering::Relaxed);
        self.charged.budget.charge(own.saturating_sub(before))?;
        Ok(Rows { columns, len: batch.num_rows() })
    }

    fn unread(&self, number: usize, unread: Unread) -> FilesError {
        let why = match unread {
            Unread::Encode(EncodeError::Full(full)) => return full.into(),
            Unread::Encode(error) => error.to_string(),
            Unread::Arrow(error) => error.to_string(),
        };
        let column = self.files.attachment.columns[number].clone();
        FilesError::Value { file: self.group.file.name.clone(), column, why }
    }

    fn note(&self, number: usize, Loss { kind, count, value, .. }: Loss) {
        let mut losses = self.files.losses.lock();
        losses.entry(number).or_insert((kind, 0, value)).1 += count as u64;
    }
}
