//! What is stored: values and their types, ids, columns of codes, relations.

pub mod arrow_columns;
pub mod arrow_lists;
mod best_index;
mod codes;
mod counting_sort;
mod data_type;
mod dictionary;
mod difference;
mod distance;
mod encode_error;
pub(crate) mod equality;
mod first_codes;
pub(crate) mod ids;
mod index;
mod key_ranges;
pub(crate) mod keys;
mod lazy;
pub mod lossy;
mod mapping;
mod neighbours;
pub(crate) mod packing;
pub(crate) mod parallel;
pub(crate) mod preference;
pub(crate) mod priority;
mod range_index;
mod relation;
mod rows;
mod run;
mod sample;
mod schema;
mod sorted;
mod text;
pub mod time;
mod union;
mod value;

pub use best_index::{BestIndex, BestOf};
pub use codes::{Code, Codes, EMPTY, FALSE, INLINE_END, NULL, TRUE, bounds, dense_range, inline_int};
pub use counting_sort::counting_sort;
pub use data_type::DataType;
pub use dictionary::{Codec, Collection, Dictionary, DictionaryFull};
pub(crate) use dictionary::{Computed, Learning};
pub use difference::Difference;
pub use distance::{Metric, Probe};
pub use encode_error::EncodeError;
pub use ids::{RelationId, VariableId};
pub use index::RowIndex;
pub use lazy::{GoOn, Stopped, each_row};
pub use mapping::Mapping;
pub use neighbours::{Bits, MarkedCodes, Neighbours, OrderedNeighbours, intersect};
pub use parallel::Threads;
pub(crate) use priority::run_low;
pub use range_index::RangeIndex;
pub(crate) use relation::merge;
pub use relation::{Relation, sorted_run};
pub use rows::Rows;
pub(crate) use rows::unpack;
pub use run::{LiveRows, Pairing, Run, RunFile};
pub use sample::{Matches, Sample};
pub use schema::{Schema, SchemaColumn};
pub use sorted::SortedRows;
pub use text::{Analyzer, Language, PostingList, Segment, TextIndex};
pub use union::union;
pub use value::{Kind, Value, ValueRef};
pub(crate) use value::{Number, compare_numbers, float_of};

/// The most lists that can stand in each other.
pub const MAX_LIST_DEPTH: usize = 32;

/// The most columns a relation can have.
pub const MAX_COLUMNS: usize = 256;

/// The most rows a run can have: their numbers have 32 bits, of which one marks the end.
pub const MAX_ROWS: usize = u32::MAX as usize - 1;
