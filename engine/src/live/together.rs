//! `Together`: the answers to several questions of a template, which were found as one.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::answered::Answered;
use super::asked::{Asked, Constants};
use super::due::Due;
use super::present::Present;
use super::query::LiveQuery;
use crate::answer::Rows;
use crate::data::arrow_columns::type_of_codes;
use crate::data::{self, Code, Codec, DataType, Difference, Relation, Run, sorted_run};
use crate::graph::Snapshot;

/// Where the constants of questions stand in the rows of all of them, and which columns are those of an answer.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    pub(super) keys: Vec<usize>,
    pub(super) shown: Vec<usize>,
}

/// The answers to several questions.
pub(super) struct Together {
    pub(super) layout: Layout,
    pub(super) codec: Codec,
    pub(super) asked: Arc<Asked>,
    pub(super) found: Found,
}

/// What was found.
pub(super) enum Found {
    /// All rows.
    Whole(ByConstants),
    /// What tells them from those before.
    Changed(Box<Changes>),
}

/// What has changed of the answers to several questions.
pub(super) struct Changes {
    pub(super) added: ByConstants,
    pub(super) removed: ByConstants,
    pub(super) rows: Relation,
    /// The number of the answer that each question was given before, by that of the question.
    pub(super) given: Arc<HashMap<u64, u64>>,
    /// All rows by their constants, where somebody needs all of theirs.
    pub(super) whole: OnceCell<ByConstants>,
}

/// Rows in the order of their constants.
pub(super) struct ByConstants {
    rows: Run,
    /// Which of its columns each column of an answer is.
    columns: Vec<usize>,
    /// Where those of each question are.
    ranges: HashMap<Constants, Range<usize>>,
}

impl ByConstants {
    pub(super) fn of(mut rows: data::Rows, layout: &Layout) -> ByConstants {
        let Layout { keys, shown } = layout;
        let rest = shown.iter().filter(|column| !keys.contains(column));
        let order: Vec<usize> = keys.iter().chain(rest).copied().collect();
        let columns = order.iter().map(|column| std::mem::take(&mut rows.columns[*column])).collect();
        let (rows, _) = sorted_run(data::Rows { columns, len: rows.len });
        let place = |column: &usize| order.iter().position(|other| other == column).unwrap_or_default();
        let (columns, ranges) = (shown.iter().map(place).collect(), find_ranges(&rows, keys.len()));
        ByConstants { rows, columns, ranges }
    }

    /// Whether there are any of these constants.
    fn has(&self, constants: &Constants) -> bool {
        self.ranges.contains_key(constants)
    }

    /// What an answer has of them, in order.
    fn rows_of(&self, constants: &Constants) -> data::Rows {
        let range = self.ranges.get(constants).cloned().unwrap_or_default();
        let column = |column: &usize| self.rows.column(*column)[range.clone()].to_vec();
        data::Rows { columns: self.columns.iter().map(column).collect(), len: range.len() }
    }
}

/// Where the rows of each constant are, which stand together.
fn find_ranges(rows: &Run, keys: usize) -> HashMap<Constants, Range<usize>> {
    let columns: Vec<&[Code]> = (0..keys).map(|key| rows.column(key)).collect();
    let key_of = |row: usize| columns.iter().map(|column| column[row]).collect::<Constants>();
    let mut ranges = HashMap::new();
    let (mut start, len) = (0, rows.len());
    while start < len {
        let mut end = start + 1;
        while end < len && columns.iter().all(|column| column[end] == column[start]) {
            end += 1;
        }
        ranges.insert(key_of(start), start..end);
        start = end;
    }
    ranges
}

impl Together {
    /// The questions of the list that was asked whose answers have changed; none where it is not known which these are, or
    /// somebody else holds one.
    pub(super) fn concerned<'q>(
        &self,
        list: &'q Arc<[Arc<LiveQuery>]>,
        snapshot: &Snapshot,
    ) -> Option<Vec<Due<'q>>> {
        let Found::Changed(changes) = &self.found else { return None };
        let changed = changes.added.ranges.keys().chain(changes.removed.ranges.keys());
        let places = self.asked.places_of(list, changed)?;
        places.into_iter().map(|place| Due::concerned(&list[place], snapshot)).collect()
    }

    /// Whether the answer to a question is the one before.
    pub(super) fn is_same(&self, query: &LiveQuery, before: &Present) -> bool {
        let Found::Changed(changes) = &self.found else { return false };
        let has_changed = |constants| changes.added.has(constants) || changes.removed.has(constants);
        changes.given.get(&query.number()) == Some(&before.number())
            && self.asked.constants.get(&query.number()).is_some_and(|constants| !has_changed(constants))
    }

    /// The answer to a question, of which the one before is known; nothing if it was not asked.
    pub(super) fn answer_of(&self, query: &LiveQuery, before: &Present) -> Option<Answered> {
        let constants = self.asked.constants.get(&query.number())?;
        let rows = match &self.found {
            Found::Whole(rows) => rows.rows_of(constants),
            Found::Changed(changes) => {
                let Changes { added, removed, rows, given, whole } = &**changes;
                if given.get(&query.number()) == Some(&before.number()) {
                    let [added, removed] = [added, removed].map(|rows| rows.rows_of(constants));
                    let difference = Difference { added, removed };
                    let rest = before.relation().delete(&difference.removed).0;
                    let rows = rest.insert_absent(&difference.added);
                    if before.fits(&difference, &rows, &self.codec) {
                        return Some(Answered::Changed(difference, rows));
                    }
                }
                let whole = whole.get_or_init(|| {
                    ByConstants::of(data::Rows::of_runs(rows.arity(), rows.runs()), &self.layout)
                });
                whole.rows_of(constants)
            }
        };
        Some(Answered::Whole(self.answer_like(before.like(), rows)))
    }

    /// An answer with the columns of another one to the same question; its rows are in order.
    fn answer_like(&self, like: &Rows, rows: data::Rows) -> Rows {
        let types = rows.columns.iter().zip(like.columns()).map(|(codes, column)| {
            match type_of_codes(codes, &self.codec) {
                DataType::Unknown => column.data_type,
                found => found,
            }
        });
        let types: Vec<DataType> = types.collect();
        like.with_rows(&types, Run::of_sorted(rows), self.codec.clone())
    }
}
