//! What is known of the relations that a stratum derives, so that each row counts once.

mod parts;

mod key_parts;

mod bit_parts;

mod word_set;

mod packed_rows;

mod row_set;

mod best_rows;

mod rows;

pub(crate) use best_rows::BestRows;
pub(crate) use row_set::RowSet;
pub(crate) use rows::{Known, KnownRows, take_in};
