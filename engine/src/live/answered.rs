//! `Answered`: what an evaluation of a live query has come to, and what tells that from the answer before it.

use super::delta::Delta;
use super::present::Present;
use crate::answer::Rows;
use crate::data::{DataType, Difference, Relation};
use crate::error::Error;

/// What an evaluation has come to.
pub(super) enum Answered {
    /// All rows, in order of their codes.
    Whole(Rows),
    /// What tells them from those before, and all of them.
    Changed(Difference, Relation),
}

impl Answered {
    /// So many rows have to be compared with those before, to find what has changed.
    pub(super) fn rows_to_compare(&self) -> usize {
        match self {
            Answered::Whole(rows) => rows.row_count(),
            Answered::Changed(..) => 0,
        }
    }

    /// The answer, and what tells it from the one before it; nothing where it has other columns, or values look otherwise there.
    pub(super) fn since(self, before: &Present) -> Result<(Present, Option<Delta>), Error> {
        match self {
            Answered::Whole(rows) => {
                let rows = rows.with_types_if_empty(before.like()).sharing_codec_of(before.like());
                let delta = compare(before, &rows)?;
                Ok((Present::whole(rows), delta))
            }
            Answered::Changed(difference, rows) => {
                let (present, delta) = before.next(difference, rows);
                Ok((present, Some(delta)))
            }
        }
    }
}

/// What tells an answer from the one before it; nothing where it has other columns, or values look otherwise there.
fn compare(before: &Present, after: &Rows) -> Result<Option<Delta>, Error> {
    let columns = before.like().columns();
    let has_same_columns = after.columns().len() == columns.len()
        && after
            .columns()
            .iter()
            .zip(columns)
            .all(|(a, b)| a.unique_name == b.unique_name && looks_alike(a.data_type, b.data_type));
    if !has_same_columns {
        return Ok(None);
    }
    let old = before.relation_in(after.coded().1)?;
    Ok(Some(Delta::between(before.like(), &old, after)?))
}

/// Whether a value is written in the same way in columns of both types. A time among values of other types is a number,
/// and whoever keeps rows would not find it again.
fn looks_alike(a: DataType, b: DataType) -> bool {
    let is_plain =
        |data_type| matches!(data_type, DataType::Int | DataType::Bool | DataType::Text | DataType::Any);
    a == b || a == DataType::Unknown || b == DataType::Unknown || is_plain(a) && is_plain(b)
}
