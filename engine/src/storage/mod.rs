//! What survives a crash. redb is the journal and the catalogue, Parquet the bulk.
//!
//! ```text
//! DATA_DIR/
//!   system.redb               which graphs there are, and the server's accounts
//!   graphs/FOLDER/
//!     graph.redb              the journal of commits since the last checkpoint, definitions, manifest of runs
//!     runs/edge-12.parquet    a sealed run of the relation `edge`
//! ```
//!
//! The promise: what [`Journal::append`] has answered with `Ok` is on disk, and everything that is read back is first
//! compared with its hash. Byte layouts: `docs/storage-format.md`.

mod clock;
mod columns;
mod database;
mod error;
mod files;
mod history;
mod journal;
mod journal_contents;
mod layout;
mod medium;
mod mixed;
mod pieces;
mod pinned;
mod run_file;
mod seal;
mod shadow;
mod system;
mod system_change;
mod types;

pub use clock::{Clock, Moment};
pub use columns::{StoredColumns, has_marks, rows_of};
pub use error::{Damage, StorageError};
pub use files::{Files, HashedFile, NewFile, is_plain_name};
pub use history::SystemEdit;
pub use journal::Journal;
pub use journal_contents::{JournalContents, StoredRecord};
pub use layout::Form;
pub use medium::{DatabaseFile, Disk, Medium};
pub use pieces::Pieces;
pub use pinned::{PinnedJournal, Records};
pub use run_file::{read_run, write_run};
pub use seal::file_hash;
pub use system::{SystemContents, SystemStore};
pub use system_change::{RecordChange, SystemChange};
pub use types::{type_from_name, type_name};

/// The version of everything in a data folder. A higher one is refused, a lower one is read.
pub const FORMAT_VERSION: u32 = 2;
