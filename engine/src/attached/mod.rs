//! Attached relations: rows in Parquet files that stay where they are, and are read when a question asks for them.
//!
//! What is attached is the files that a place had at that moment. A file that has become another one since is an error and
//! never an answer, so a version of a graph has one meaning, whether its rows are stored or attached.

/// What can go wrong with files.
mod error;

/// Where files are.
mod places;

/// What is remembered of what was attached.
mod attachment;

/// Several files at once.
mod at_once;

/// A file as the reader of Parquet sees it.
mod chunks;

/// Which columns can be attached, and how they are read.
mod columns;

/// What a place holds.
mod look;

/// Which of its rows a program has a use for.
mod wanted;

/// The rows of an attached relation.
mod row_files;

pub use attachment::{AttachedFile, Attachment};
pub use error::FilesError;
pub(crate) use error::read_only;
pub(crate) use look::{Found, look};
pub use places::{PlaceError, PlacedFile, Places};
pub use row_files::{GroupRows, RowFiles, RowGroup};
pub use wanted::{Bounds, Wanted};
