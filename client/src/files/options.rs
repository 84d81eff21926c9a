//! `ReadOptions`: how a file is to be read.

use super::column_type::Column;
use super::encoding::TextEncoding;
use super::epoch::{Epoch, Reading};
use super::format::FileFormat;
use super::skipped::OnError;
use std::num::NonZeroU64;

/// How a file is to be read.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    /// What it holds, where its name does not say so.
    pub format: Option<FileFormat>,
    /// The columns of the relation: those of the file that have the same names, or else the same places, are of these
    /// types. Where there are none, types are guessed from the beginning of the file.
    pub columns: Option<Vec<Column>>,
    /// Types of some columns, by name: whatever is guessed of them, or known.
    pub types: Vec<Column>,
    /// Numbers that become times are of this unit.
    pub epoch: Option<Epoch>,
    /// Times that are finer than milliseconds, and decimals that no float holds, are refused. Otherwise times are cut to
    /// milliseconds, and decimals become the nearest floats, which
    /// [`FileReader::warnings`](crate::files::FileReader::warnings) tells.
    pub exact: bool,
    /// How text is encoded, where it is not UTF-8.
    pub encoding: Option<TextEncoding>,
    /// The first record of CSV and TSV holds data, and no names.
    pub no_header: bool,
    /// What separates the fields of CSV.
    pub delimiter: Option<u8>,
    /// The word for null, where it is neither nothing (CSV) nor `\N` (TSV).
    pub null: Option<String>,
    /// What becomes of records that do not fit.
    pub on_error: OnError,
    /// An import is one commit for so many rows, and not one for the whole file.
    pub commit_every: Option<NonZeroU64>,
}

impl ReadOptions {
    pub(super) fn reading(&self) -> Reading {
        Reading { epoch: self.epoch, exact: self.exact }
    }
}
